package schedule_test

import (
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/batchplan/batchplan/schedule"
)

// The oracle is deliberately simple: it looks at every minute of a span, or at every second,
// on a real clock of the zone and compares what the clock shows with the fields.

type dstPolicy int

const (
	exact dstPolicy = iota
	gapEnd
	first
	last
	numPolicies
)

func (p dstPolicy) options() []schedule.Option {
	switch p {
	case gapEnd:
		return []schedule.Option{schedule.RunSkippedAtGapEnd()}
	case first:
		return []schedule.Option{schedule.RunRepeatedFirst()}
	case last:
		return []schedule.Option{schedule.RunRepeatedLast()}
	}
	return nil
}

// clock matches wall-clock times. The location of t must be the zone of the schedule.
type clock struct {
	matches func(t time.Time) bool
	seconds bool // the schedule has seconds
}

// clockOf returns a clock that matches the times of main and of the schedules in also, except for
// those of the schedules in except.
func clockOf(main string, also, except []string) clock {
	var wanted, unwanted []fields
	for _, spec := range append([]string{main}, also...) {
		wanted = append(wanted, fieldsOf(spec))
	}
	for _, spec := range except {
		unwanted = append(unwanted, fieldsOf(spec))
	}
	return clock{func(t time.Time) bool {
		match := func(f fields) bool { return f.shows(t) }
		return slices.ContainsFunc(wanted, match) && !slices.ContainsFunc(unwanted, match)
	}, hasSeconds(main)}
}

func hasSeconds(spec string) bool { return len(strings.Fields(spec)) == 6 }

// theirs is robfig's parser with an optional field of seconds.
var theirs = cron.NewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// fields are the fields as robfig's parser read them. The special days, which that parser does not
// know, are kept apart.
type fields struct {
	*cron.SpecSchedule
	days, weekdays []string
}

func fieldsOf(spec string) (f fields) {
	texts := strings.Fields(spec)
	without := func(field *string, letters string) (special []string) {
		var others []string
		for part := range strings.SplitSeq(*field, ",") {
			if strings.ContainsAny(part, letters) {
				special = append(special, part)
			} else {
				others = append(others, part)
			}
		}
		if *field = strings.Join(others, ","); *field == "" {
			*field = ","
		}
		return special
	}
	if n := len(texts); n > 1 {
		f.days, f.weekdays = without(&texts[n-3], "LW"), without(&texts[n-1], "L#")
	}

	parsed, err := theirs.Parse(strings.Join(texts, " "))
	if err != nil {
		panic(err)
	}
	f.SpecSchedule = parsed.(*cron.SpecSchedule)
	return f
}

// shows reports whether the clock of t matches the fields.
func (f fields) shows(t time.Time) bool {
	has := func(set uint64, v int) bool { return set>>v&1 == 1 }
	hour, minute, second := t.Clock()
	if !has(f.Second, second) || !has(f.Minute, minute) || !has(f.Hour, hour) {
		return false
	}
	_, month, day := t.Date()
	if !has(f.Month, int(month)) {
		return false
	}
	isDay := func(special string) bool { return isSpecialDay(special, t) }
	dom := has(f.Dom, day) || slices.ContainsFunc(f.days, isDay)
	dow := has(f.Dow, int(t.Weekday())) || slices.ContainsFunc(f.weekdays, isDay)
	if has(f.Dom, 63) || has(f.Dow, 63) {
		return dom && dow
	}
	return dom || dow
}

// isSpecialDay looks at all days of the month of t.
func isSpecialDay(special string, t time.Time) bool {
	year, month, today := t.Date()
	weekdayOf := func(day int) time.Weekday { return time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Weekday() }
	last := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()

	if text, nth, counted := strings.Cut(strings.TrimSuffix(special, "L"), "#"); counted || text != special && text != "" {
		weekday, err := strconv.Atoi(text)
		if err != nil {
			weekday = strings.Index("sunmontuewedthufrisat", strings.ToLower(text)) / 3
		}
		var all []int
		for day := 1; day <= last; day++ {
			if weekdayOf(day) == time.Weekday(weekday) {
				all = append(all, day)
			}
		}
		if !counted {
			return today == all[len(all)-1]
		}
		n, _ := strconv.Atoi(nth)
		return n <= len(all) && today == all[n-1]
	}

	text, working := strings.CutSuffix(special, "W")
	day, _ := strconv.Atoi(strings.TrimPrefix(text, "L-"))
	if text[0] == 'L' {
		day = last - day
	}
	if !working || day < 1 || day > last {
		return today == day
	}

	best := 0
	for other := 1; other <= last; other++ {
		isFree := weekdayOf(other) == time.Saturday || weekdayOf(other) == time.Sunday
		if !isFree && (best == 0 || max(other-day, day-other) < max(best-day, day-best)) {
			best = other
		}
	}
	return today == best
}

// stepOf returns one minute, or one second if the zone has a transition between two
// whole minutes of the span.
func stepOf(loc *time.Location, from, to int64) int64 {
	for u := from; u <= to; {
		t := time.Unix(u, 0).In(loc)
		_, offset := t.Zone()
		_, ends := t.ZoneBounds()
		if offset%60 != 0 || !ends.IsZero() && ends.Unix()%60 != 0 {
			return 1
		}
		if ends.IsZero() {
			return 60
		}
		if ends.Unix() > u {
			u = ends.Unix()
		} else {
			u += 86400 // ZoneBounds errs on the last day of a leap year
		}
	}
	return 60
}

// stepOf returns the step of the zone, or one second if the schedule has seconds.
func (c clock) stepOf(loc *time.Location, from, to int64) int64 {
	if c.seconds {
		return 1
	}
	return stepOf(loc, from, to)
}

// oracle lists the runs in (after, until] as Unix times.
func oracle(spec string, loc *time.Location, policy dstPolicy, after, until int64) []int64 {
	return clockOf(spec, nil, nil).oracle(loc, policy, after, until)
}

func (c clock) oracle(loc *time.Location, policy dstPolicy, after, until int64) []int64 {
	if policy != exact {
		return c.oracleWithPolicy(loc, policy, after, until)
	}
	var runs []int64
	step := c.stepOf(loc, after, until)
	for u := (after/step - 1) * step; u <= until; u += step {
		if u > after && c.matches(time.Unix(u, 0).In(loc)) {
			runs = append(runs, u)
		}
	}
	return runs
}

// oracleWithPolicy looks at the span and at more than a day on both sides of it. It records the
// wall-clock time of each step.
func (c clock) oracleWithPolicy(loc *time.Location, policy dstPolicy, after, until int64) []int64 {
	const margin = 26 * 3600
	step := c.stepOf(loc, after-margin, until+margin)
	var instants, walls []int64
	firstSeen, lastSeen := map[int64]int64{}, map[int64]int64{}

	for u := ((after-margin)/step - 1) * step; u <= until+margin; u += step {
		t := time.Unix(u, 0).In(loc)
		wall := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC).Unix()
		instants, walls = append(instants, u), append(walls, wall)
		if _, seen := firstSeen[wall]; !seen {
			firstSeen[wall] = u
		}
		lastSeen[wall] = u
	}

	var runs []int64
	for i, u := range instants {
		if u <= after || u > until || i == 0 {
			continue
		}

		run := c.matches(time.Unix(u, 0).In(loc))

		switch policy {
		case first:
			run = run && firstSeen[walls[i]] == u
		case last:
			run = run && lastSeen[walls[i]] == u
		case gapEnd:
			for w := walls[i-1] + step; w < walls[i]; w += step {
				run = run || c.matches(time.Unix(w, 0).UTC())
			}
		}
		if run {
			runs = append(runs, u)
		}
	}
	return runs
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.Intn(len(list))] }

func randomField(r *rand.Rand, low, high int) string {
	a := low + r.Intn(high-low+1)
	b := a + r.Intn(high-a+1)
	switch r.Intn(7) {
	case 0:
		return "*"
	case 1:
		return fmt.Sprintf("*/%d", 1+r.Intn(high))
	case 2:
		return fmt.Sprintf("%d-%d", a, b)
	case 3:
		return fmt.Sprintf("%d-%d/%d", a, b, 1+r.Intn(5))
	case 4:
		return fmt.Sprintf("%d,%d", a, b)
	case 5:
		return fmt.Sprintf("%d/%d", a, 1+r.Intn(20))
	}
	return strconv.Itoa(a)
}

// randomSpec prefers early hours, because clocks change then. It prefers stars, so that short spans
// contain runs.
func randomSpec(r *rand.Rand) string {
	starOr := func(percent, low, high int) string {
		if r.Intn(100) < percent {
			return "*"
		}
		return randomField(r, low, high)
	}
	hour := starOr(20, 0, 23)
	if r.Intn(3) == 0 {
		hour = pick(r, "0", "1", "2", "3", "0-3", "1,2,23", "*/2", "22-23")
	}
	minute := pick(r, "0", "30", "*/15", "45", "59", randomField(r, 0, 59))
	return minute + " " + hour + " " + starOr(70, 1, 31) + " " + starOr(80, 1, 12) + " " + starOr(70, 0, 6)
}

// randomSpecial returns the fields of the days and the month, with special days.
func randomSpecial(r *rand.Rand) string {
	day := pick(r, "L", "LW", fmt.Sprintf("L-%d", 1+r.Intn(30)), fmt.Sprintf("%dW", 1+r.Intn(31)), fmt.Sprintf("L-%dW", 1+r.Intn(30)))
	weekday := pick(r, fmt.Sprintf("%d#%d", r.Intn(7), 1+r.Intn(5)), fmt.Sprintf("%dL", r.Intn(7)), "Fri#2", "monL")
	return pick(r, day+" "+pick(r, "*", "*", "2", "1-11")+" *", "* * "+weekday, day+" * "+weekday,
		day+",1,L * *", "*/20,"+day+" * *", "*,"+day+" * "+weekday, "* * 1,"+weekday+",sunL", day+" 2,6 1-5")
}

// withSpecial replaces the days of a schedule.
func withSpecial(r *rand.Rand, spec string) string {
	texts := strings.Fields(spec)
	return strings.Join(texts[:len(texts)-3], " ") + " " + randomSpecial(r)
}

// randomSeconds returns a field of seconds, often with few values.
func randomSeconds(r *rand.Rand) string {
	return pick(r, "0", "*", "30", "59", "*/10", "*/7", "0,30", "5,6", ",", randomField(r, 0, 59))
}

// randomSpecs returns up to two schedules.
func randomSpecs(r *rand.Rand) []string {
	var all []string
	for range r.Intn(3) {
		all = append(all, randomSpec(r))
	}
	return all
}

// borders are the start and the end of the supported years, and the end of a zone's listed
// transitions.
var borders = []int64{-62135596800, 4102444800, 253402300799}

// randomSpan returns a span, most often across a transition of the zone or a border.
func randomSpan(r *rand.Rand, loc *time.Location, longest int64) (after, until int64) {
	years := [][2]int{{1970, 2040}, {1970, 2040}, {1970, 2040}, {1850, 1970}, {2040, 2500}, {2, 9990}}
	y := years[r.Intn(len(years))]
	u := time.Date(y[0]+r.Intn(y[1]-y[0]), 1, 1+r.Intn(366), 0, 0, 0, 0, time.UTC).Unix()
	if r.Intn(5) > 0 {
		if _, ends := time.Unix(u, 0).In(loc).ZoneBounds(); !ends.IsZero() && ends.Year() < 9990 {
			u = ends.Unix()
		}
	}
	if r.Intn(20) == 0 {
		u = borders[r.Intn(len(borders))]
	}

	length := 1 + r.Int63n(longest)
	after = u - r.Int63n(length+1) + int64(r.Intn(3)-1)
	return max(after, borders[0]), min(after+length, borders[len(borders)-1])
}

// oracleCases returns the number of cases: small by default, or set by the environment.
func oracleCases(t *testing.T) int {
	text := os.Getenv("SCHEDULE_ORACLE_CASES")
	if text == "" {
		return 3000
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("SCHEDULE_ORACLE_CASES: %v", err)
	}
	return n
}

// TestS4_BruteForce compares Latest, Count, Prev, Next and Between with the oracle on random
// schedules, zones, spans and policies. SCHEDULE_ORACLE_CASES sets the number of cases, and
// SCHEDULE_ORACLE_SEED repeats a test.
func TestS4_BruteForce(t *testing.T) {
	seed, err := strconv.ParseInt(os.Getenv("SCHEDULE_ORACLE_SEED"), 10, 64)
	if err != nil {
		seed = 1
	}

	zones := zonesOf(t)
	r := rand.New(rand.NewSource(seed))
	cases, withRuns, runs := oracleCases(t), 0, 0

	for i := range cases {
		zone := zones[r.Intn(len(zones))]
		policy := exact
		longest := int64(3 * 24 * 3600)
		if r.Intn(8) == 0 {
			policy = dstPolicy(1 + r.Intn(int(numPolicies)-1))
			longest = 24 * 3600
		}

		spec := randomSpec(r)
		var also, except []string
		opts := []schedule.Option{zone.option, schedule.WithSpecialDays()}
		special := r.Intn(4) == 0
		if special {
			spec = withSpecial(r, spec)
		}

		switch i % 3 {
		case 0:
			also, except = randomSpecs(r), randomSpecs(r)
			if special {
				except = append(except, withSpecial(r, randomSpec(r)))
			}
			opts = append(opts, schedule.Also(also...), schedule.Except(except...))
		case 1:
			spec, longest = randomSeconds(r)+" "+spec, 2*3600
			opts = append(opts, schedule.WithSeconds())
		}

		after, until := randomSpan(r, zone.loc, longest)
		oracle := clockOf(spec, also, except)
		if oracle.stepOf(zone.loc, after-100000, until+100000) == 1 {
			// Stepping by the second is slow, most of all with a policy.
			until = min(until, after+2*3600)
			if r.Intn(50) > 0 {
				policy = exact
			}
		}

		want := oracle.oracle(zone.loc, policy, after, until)
		s := mustParse(t, spec, opts...)

		if r.Intn(8) == 0 && !s.Never() {
			anchor := after + r.Int63n(until-after+1)
			opts = append(opts, schedule.WithAnchor(time.Unix(anchor, 0)), schedule.RunAfterAnchor())
			if i, found := slices.BinarySearch(want, anchor+1); !found && anchor < until {
				want = slices.Insert(want, i, anchor+1)
			}
		}
		if r.Intn(8) == 0 {
			var bounds []schedule.Option
			bounds, want = randomBounds(r, after, until, want)
			opts = append(opts, bounds...)
		}

		s = mustParse(t, spec, append(opts, policy.options()...)...)
		if problem := compare(s, after, until, want); problem != "" {
			t.Fatalf("seed %d: %q in %s, policy %d, (%d, %d]: %s", seed, s, zone.name, policy, after, until, problem)
		}

		runs += len(want)
		if len(want) > 0 {
			withRuns++
		}
	}

	t.Logf("%d cases, %d of them with runs, %d runs", cases, withRuns, runs)
}

// randomBounds returns bounds within or around a span, and the runs within the bounds.
func randomBounds(r *rand.Rand, after, until int64, runs []int64) (bounds []schedule.Option, left []int64) {
	begin := after + r.Int63n(until-after+1)
	end := begin + r.Int63n(until-begin+100)
	bounds = []schedule.Option{schedule.NotBefore(time.Unix(begin, 0)), schedule.NotAfter(time.Unix(end, r.Int63n(1e9)))}
	for _, run := range runs {
		if begin <= run && run <= end {
			left = append(left, run)
		}
	}
	return bounds, left
}

// compare checks that all methods agree with the given runs of a span.
func compare(s schedule.Schedule, after, until int64, want []int64) string {
	from, to := time.Unix(after, 0), time.Unix(until, 0)
	var got []int64
	for run := range s.Between(from, to) {
		got = append(got, run.Unix())
	}

	if !slices.Equal(got, want) {
		return fmt.Sprintf("Between: got %d, want %d", got, want)
	}
	if n := s.Count(from, to); n != len(want) {
		return fmt.Sprintf("Count: got %d, want %d", n, len(want))
	}

	run, ok := s.Latest(from, to)
	if ok != (len(want) > 0) || ok && run.Unix() != want[len(want)-1] {
		return fmt.Sprintf("Latest: got %v %v, want the last of %d", run, ok, want)
	}

	var back []int64
	for run := range s.PrevN(to.Add(1), len(want)+1) {
		if run.After(from) {
			back = append(back, run.Unix())
		}
	}
	slices.Reverse(back)
	if !slices.Equal(back, want) {
		return fmt.Sprintf("Prev: got %d, want %d", back, want)
	}
	return ""
}

func instants(t testing.TB, texts []string) (all []int64) {
	t.Helper()
	for _, text := range texts {
		all = append(all, instant(t, text).Unix())
	}
	return all
}
