package schedule

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/job/release"
)

// Option changes how Parse compiles a schedule. An Option can be passed to many calls.
type Option func(*settings)

type settings struct {
	zone     *zone
	zoneName string // to be loaded, when zone is nil
	anchor   int64
	// afterAnchor adds a run a second after the anchor.
	afterAnchor bool
	gapEnd      bool
	repeated    repeated
	kubernetes  bool
	seconds     bool
	specialDays bool
	// notBefore and notAfter are the bounds; zero means none.
	notBefore, notAfter time.Time
	// also and except are the schedules that Also and Except were called with.
	also, except []string
}

// WithLocation sets the zone (S5). It does not read the machine's zone database. nil means UTC, as
// in package time.
//
// WithLocation compiles the zone, which takes about a tenth of a millisecond and ten kilobytes. For
// many schedules in one zone, call it once and pass the Option to each Parse: they share the
// compiled zone.
func WithLocation(loc *time.Location) Option {
	if loc == nil {
		loc = time.UTC
	}
	z := compileZone(loc)
	return func(s *settings) { s.zone = z }
}

// WithTimeZone sets the zone by its name in the zone database, as in
// "Europe/Berlin" (S5). Parse looks the name up on this machine, returns an error
// for an unknown one, and compiles the zone each time; see WithLocation.
func WithTimeZone(name string) Option {
	return func(s *settings) { s.zone, s.zoneName = nil, name }
}

// WithSeconds accepts a field of seconds before the five others, as in "*/10 * * * * *": a run is
// an instant whose wall clock shows a matching minute and a matching second. Five fields and
// descriptors have the same meaning as without the option. Parse returns an error if Also or Except
// is used with a field of seconds other than "0".
func WithSeconds() Option {
	return func(s *settings) { s.seconds = true }
}

// WithSpecialDays accepts days that depend on the length or on the weekdays of the month (S6). They
// can be mixed with plain values in a list, but a range or a step cannot contain them:
//
//	L     in day-of-month: the last day of the month; L-3 is three days before it
//	15W   in day-of-month: the working day, Monday to Friday, nearest to the 15th in the same month
//	LW    in day-of-month: the working day nearest to the last day; L-3W is the one nearest to L-3
//	fri#2 in day-of-week, or 5#2: the second Friday of the month, up to the fifth
//	friL  in day-of-week, or 5L: the last Friday of the month
//
// If a month lacks the day, as a month of 30 days does for 31W, there is no run for it in that
// month; Lint reports this. A field with special days counts as restricted (S2). The option applies
// to Also and Except as well. Everything else has the same meaning as without the option.
// robfig/cron has no special days, so option Kubernetes has no effect on a schedule with them.
func WithSpecialDays() Option {
	return func(s *settings) { s.specialDays = true }
}

// NotBefore removes the runs earlier than t, and NotAfter the runs later than t. All methods work
// as if the removed runs did not exist. The zero Time means no bound. Parse returns an error if the
// end is before the start; a schedule without a run between them never runs (S3).
func NotBefore(t time.Time) Option {
	return func(s *settings) { s.notBefore = t }
}

// NotAfter removes the runs later than t: see NotBefore.
func NotAfter(t time.Time) Option {
	return func(s *settings) { s.notAfter = t }
}

// WithAnchor sets the instant, truncated to seconds, from which "@every" counts forwards and
// backwards. The default is 1970-01-01T00:00:00Z, so that all programs agree on the runs, no matter
// when they started.
func WithAnchor(t time.Time) Option {
	return func(s *settings) { s.anchor = min(max(t.Unix(), firstUnix), lastUnix) }
}

// RunAfterAnchor adds one run, a second after the anchor (C20). cronjob.Compile sets the anchor to
// the creation of the CronJob, so with this option a CronJob's first run follows its creation. A
// schedule whose fields never match does not get this run.
func RunAfterAnchor() Option {
	return func(s *settings) { s.afterAnchor = true }
}

// RunSkippedAtGapEnd lets a time in a gap run at the gap's end, the first instant
// after it (S4). All times in one gap make one run. If the gap's end matches too,
// it is still one run. The option is meant for schedules that run at a few times of
// the day.
func RunSkippedAtGapEnd() Option {
	return func(s *settings) { s.gapEnd = true }
}

// RunRepeatedFirst is for times in an overlap, which the clock shows twice. Such a time runs only
// when it is shown for the first time (S4). A schedule that runs every few minutes then pauses for
// the length of the overlap.
func RunRepeatedFirst() Option {
	return func(s *settings) { s.repeated = repeatedFirst }
}

// RunRepeatedLast is for times in an overlap, which the clock shows twice. Such a time runs only
// when it is shown for the last time (S4). A schedule that runs every few minutes then pauses for
// the length of the overlap.
func RunRepeatedLast() Option {
	return func(s *settings) { s.repeated = repeatedLast }
}

// Also adds the times of other schedules, which use the same zone and the same policies. A time
// that several schedules share is one run.
//
// Also and Except combine wall-clock times, before the zone applies. They take five fields or a
// descriptor. Parse returns an error if one of these schedules has a zone of its own, and for
// "@every", which is not on the wall clock. Answers are exact and take two to four times as long as
// for a plain schedule, no matter how many schedules there are and how long the span is. Parse
// takes about half a millisecond for them, and the result takes about 35 kilobytes. If Except
// leaves no time, the schedule never runs (S3). robfig/cron has no such schedules, so option
// Kubernetes has no effect on them.
func Also(specs ...string) Option {
	specs = slices.Clone(specs)
	return func(s *settings) { s.also = append(s.also, specs...) }
}

// Except removes the times of other schedules, including times that Also adds. With Except("* * 25
// 12 *") nothing runs on the 25th of December. [Also] describes how schedules are combined.
func Except(specs ...string) Option {
	specs = slices.Clone(specs)
	return func(s *settings) { s.except = append(s.except, specs...) }
}

// Kubernetes makes Next, NextN and Between give the answers of the robfig/cron that a release of
// Kubernetes uses, including wrong ones (S4). That is v3.0.1 in all releases from 1.31 to 1.37, so
// the argument makes no difference so far. Around unusual transitions robfig/cron runs on wrong
// days or not at all, it finds no run after the fifth year from t (so rare dates may have no next
// run), and "@every d" is d after t. Policies for gaps and overlaps have no effect on it.
//
// robfig/cron never returns when its search meets a date that a zone skipped (30 December 2011 in
// Pacific/Apia). In the years before such a date, and if the search panics, Next is exact instead.
// If t is before NotBefore, the search starts at NotBefore.
//
// robfig/cron has no Prev, Latest or Count. They stay exact with this option.
func Kubernetes(r release.Release) Option {
	return func(s *settings) { s.kubernetes = true }
}
