package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// FindingKind is a kind of surprise in a schedule.
type FindingKind string

// The kinds of findings, in the order in which Lint reports them.
const (
	// NeverRuns: no date matches, as with 31 February (S3).
	NeverRuns FindingKind = "NeverRuns"
	// EitherDay: day of month and day of week are both restricted, so either
	// matches; many expect both to be required (S2).
	EitherDay FindingKind = "EitherDay"
	// EachMinute: the minutes are a star, although the hours or days are single values or a step,
	// as in "* 3 * * *", which runs sixty times from 03:00 to 03:59; "0 3 * * *" runs once. The
	// same goes for a star of seconds. A range of hours or days, as in "* 9-17 * * *", is not
	// reported.
	EachMinute FindingKind = "EachMinute"
	// RareDate: some years have no matching date.
	RareDate FindingKind = "RareDate"
	// MissingDay: some months of the schedule lack a day, such as the 31st, and have no run for it.
	MissingDay FindingKind = "MissingDay"
	// UnevenStep: a step that does not divide its field, such as "*/7" minutes, so that the last
	// interval has another length.
	UnevenStep FindingKind = "UnevenStep"
	// SkippedTime: a run falls into a gap within ten years and is left out (S4). Schedules that run
	// in every hour of the day are not reported, neither here nor under RepeatedTime.
	SkippedTime FindingKind = "SkippedTime"
	// RepeatedTime: a run falls into an overlap within ten years and happens
	// twice (S4).
	RepeatedTime FindingKind = "RepeatedTime"
	// ZoneSign: a zone such as Etc/GMT+5, which is five hours behind UTC: the sign is the opposite
	// of the usual one.
	ZoneSign FindingKind = "ZoneSign"
	// DeadlineTooShort: a run can be past its starting deadline before the
	// controller sees it (C7).
	DeadlineTooShort FindingKind = "DeadlineTooShort"
	// RoundedInterval: an "@every" interval is less than a second, or has a fraction of a second.
	RoundedInterval FindingKind = "RoundedInterval"
	// NameCollision: an "@every" interval is less than a minute, or several seconds of a minute
	// match. Jobs are named after the minute of their run, so only one run in a minute gets a job
	// (C13).
	NameCollision FindingKind = "NameCollision"
)

// Finding is one surprising thing about a schedule.
type Finding struct {
	Kind    FindingKind
	Message string // a sentence for people; its wording may change
	// Instead is the schedule that was probably meant, or "".
	Instead string
}

// String returns the kind and the message.
func (f Finding) String() string { return string(f.Kind) + ": " + f.Message }

// Circumstances holds what Lint needs besides the schedule. Each field is optional: without it,
// Lint leaves out the findings that depend on it.
type Circumstances struct {
	// From is the time from which to look for gaps, overlaps and rare dates. The
	// zero Time means the beginning of 2026.
	From time.Time
	// StartingDeadlineSeconds is the CronJob's field of that name; nil if unset.
	StartingDeadlineSeconds *int64
	// WakeUpLag is the longest time until the controller notices that a run is due. The
	// documentation of Kubernetes mentions 10 seconds.
	WakeUpLag time.Duration
	// NameSeconds is true if jobs are named after the second of their run, or have other names that
	// differ for all runs.
	NameSeconds bool
}

// Lint reports what may be surprising about the schedule.
func (s Schedule) Lint(c Circumstances) []Finding {
	if c.From.IsZero() {
		c.From = time.Unix(yearBegins(2026), 0)
	}

	var found []Finding
	add := func(kind FindingKind, message string) {
		if message != "" {
			found = append(found, Finding{Kind: kind, Message: message})
		}
	}

	if s.Never() {
		add(NeverRuns, s.lintNever())
		return found
	}

	add(EitherDay, s.lintEitherDay())
	if message, once := s.lintEachMinute(); message != "" {
		found = append(found, Finding{EachMinute, message, once})
	}
	rare := s.lintRareDate(c.From)
	add(RareDate, rare)
	if rare == "" {
		add(MissingDay, s.lintMissingDay())
	}
	add(UnevenStep, s.lintUnevenStep())
	add(SkippedTime, s.lintTransitions(c.From, skippedAt))
	add(RepeatedTime, s.lintTransitions(c.From, repeatedAt))
	add(ZoneSign, s.lintZone())
	add(DeadlineTooShort, c.lintDeadline())
	add(RoundedInterval, s.lintRounding())
	add(NameCollision, c.lintNames(s))
	return found
}

func (s Schedule) lintNever() string {
	if s.plan != nil && s.plan.boundsAreEmpty() {
		return fmt.Sprintf("%q has no run%s: it never runs", s.String(), s.plan.boundsText())
	}
	if s.plan != nil && s.plan.table.combined != nil {
		return fmt.Sprintf("%q leaves no time: it never runs", s.String())
	}
	return fmt.Sprintf("%q matches no date: it never runs", s.String())
}

func (s Schedule) lintEitherDay() string {
	if s.isInterval() {
		return ""
	}
	main := &s.plan.table.pattern
	all := []pattern{*main}
	if c := main.combined; c != nil {
		all = slices.Concat(all, c.also, c.except)
	}

	for i := range all {
		if p := &all[i]; !p.anyDom && !p.anyDow {
			return "day-of-month and day-of-week are both restricted, so a day that matches either runs: " + p.text()
		}
	}
	return ""
}

func (s Schedule) lintRareDate(from time.Time) string {
	if s.isInterval() {
		return ""
	}
	for kind := range yearKinds {
		if s.plan.table.hasTimes(kind) {
			continue
		}
		message := "some years have no such date"
		if run, ok := s.plan.next(from.Unix()); ok {
			message += "; the next one is " + s.plan.instant(run, true).Format(time.DateOnly)
		}
		return message
	}
	return ""
}

// lintTransitions applies a check to each transition of the coming ten years
// and returns its first message.
func (s Schedule) lintTransitions(from time.Time, check func(*timetable, stretch, stretch) string) string {
	t := &s.plan.table
	if s.isInterval() || t.isHourly() {
		return ""
	}
	begin, until := span(from, from.AddDate(10, 0, 0))
	begin, until = max(begin, s.plan.after), min(until, s.plan.until)
	if begin >= until {
		return ""
	}

	for a := t.zone.at(begin); a.end <= until; {
		b := t.zone.at(a.end)
		if message := check(t, a, b); message != "" {
			return message
		}
		a = b
	}
	return ""
}

// isHourly reports whether the main schedule or one of Also runs in every hour.
func (p *pattern) isHourly() bool {
	hourly := func(p pattern) bool { return p.hours == 1<<24-1 }
	return hourly(*p) || p.combined != nil && slices.ContainsFunc(p.combined.also, hourly)
}

func skippedAt(t *timetable, a, b stretch) string {
	from, to := civilAt(a.end, a.offset), civilAt(b.start, b.offset)
	c := t.from(from)

	if t.gapEnd || c >= to {
		return ""
	}
	return fmt.Sprintf("%s does not exist in %s, where clocks go from %s to %s: no run for it",
		c.text(), t.zone.location, from.format("15:04"), to.format("15:04"))
}

func repeatedAt(t *timetable, a, b stretch) string {
	from, to := civilAt(b.start, b.offset), civilAt(a.end, a.offset)
	c := t.from(from)

	if t.repeated != repeatedBoth || c >= to {
		return ""
	}
	return fmt.Sprintf("%s comes twice in %s, where clocks go from %s back to %s: two runs",
		c.text(), t.zone.location, to.format("15:04"), from.format("15:04"))
}

// lintZone reports the zones of Etc, whose names have the opposite sign, as in POSIX.
func (s Schedule) lintZone() string {
	name := s.Location().String()
	offset, isOffset := strings.CutPrefix(name, "Etc/GMT")
	hours := strings.TrimLeft(offset, "+-")
	isSigned := isOffset && hours != offset && hours != "0"
	if s.isInterval() || !isSigned {
		return ""
	}

	means := "+"
	if offset[0] == '+' {
		means = "-"
	}
	return fmt.Sprintf("%s is UTC%s%s: the sign in these names is the opposite of the usual one",
		name, means, hours)
}

func (c Circumstances) lintDeadline() string {
	if c.StartingDeadlineSeconds == nil {
		return ""
	}

	// Compared in seconds: a huge deadline overflows a Duration.
	deadline := *c.StartingDeadlineSeconds
	if float64(deadline) >= c.WakeUpLag.Seconds() {
		return ""
	}

	return fmt.Sprintf("startingDeadlineSeconds %d is shorter than the wake-up lag of %v: "+
		"runs can be missed without any outage", deadline, c.WakeUpLag)
}

func (s Schedule) lintRounding() string {
	asked, ok := askedInterval(s.plan.spec) // not ok for a schedule of fields
	rounded := time.Duration(s.plan.every.seconds) * time.Second
	if !ok || asked == rounded {
		return ""
	}
	return fmt.Sprintf("%q runs every %v: intervals are whole seconds, at least one", s.plan.spec, rounded)
}

func (c Circumstances) lintNames(s Schedule) string {
	if c.NameSeconds || s.DistinctMinutes() {
		return ""
	}
	return fmt.Sprintf("%q runs several times a minute, but jobs are named by the minute of their run: "+
		"only one of them is created", s.plan.spec)
}
