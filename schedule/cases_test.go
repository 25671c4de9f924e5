package schedule_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

// calendarCase is a schedule, an instant, and the next runs: the exact ones, and those of the
// reference if they differ. The latter are the answers of robfig/cron v3.0.1.
type calendarCase struct {
	name, spec, zone, from string
	exact, reference       []string // reference nil: the same; "none": no run
}

const none = "none"

var calendarCases = []calendarCase{
	{"D1 a time in a gap does not run", "30 2 * * *", "America/New_York", "2026-03-07T12:00-05:00",
		[]string{"2026-03-09T02:30-04:00", "2026-03-10T02:30-04:00"}, nil},
	{"D2 a time in an overlap runs twice", "30 1 * * *", "America/New_York", "2026-10-31T12:00-04:00",
		[]string{"2026-11-01T01:30-04:00", "2026-11-01T01:30-05:00", "2026-11-02T01:30-05:00"}, nil},
	{"D3 hourly keeps its distance", "0 * * * *", "America/New_York", "2026-03-08T00:30-05:00",
		[]string{"2026-03-08T01:00-05:00", "2026-03-08T03:00-04:00", "2026-03-08T04:00-04:00"}, nil},
	{"D4 two o'clock twice in Berlin", "0 2 * * *", "Europe/Berlin", "2023-10-28T12:00+02:00",
		[]string{"2023-10-29T02:00+02:00", "2023-10-29T02:00+01:00", "2023-10-30T02:00+01:00"}, nil},
	{"D5 Saturday stays Saturday", "0 9 * * 6", "America/Santiago", "2026-09-05T09:00-04:00",
		[]string{"2026-09-12T09:00-03:00"}, []string{"2026-09-06T09:00-03:00"}},
	{"D6 a Friday that begins at one", "0 12 * * 5", "Africa/Cairo", "2026-04-17T12:00+02:00",
		[]string{"2026-04-24T12:00+03:00"}, []string{"2026-05-01T12:00+03:00"}},
	{"D7 a midnight that does not exist", "0 0 * * *", "Africa/Cairo", "2026-04-23T12:00+02:00",
		[]string{"2026-04-25T00:00+03:00"}, nil},
	{"D8 half an hour of gap", "0 3 * * *", "Australia/Lord_Howe", "2026-10-03T12:00+10:30",
		[]string{"2026-10-04T03:00+11:00"}, []string{"2026-10-05T03:00+11:00"}},
	{"D9 a month that begins at one", "0 12 1 10 *", "America/Asuncion", "2023-09-15T00:00-04:00",
		[]string{"2023-10-01T12:00-03:00"}, []string{"2024-10-01T12:00-04:00"}},
	{"D10 a gap from a quarter to three", "45 2 * * *", "Pacific/Chatham", "2026-09-26T02:45+12:45",
		[]string{"2026-09-28T02:45+13:45"}, []string{"2026-09-27T03:45+13:45"}},
	// robfig/cron never returns here; option Kubernetes gives the exact answer.
	{"D11 a date that does not exist", "0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00-10:00",
		[]string{"2012-12-30T12:00+14:00"}, nil},
	{"D12 two hours of overlap", "30 1 * * *", "Antarctica/Troll", "2026-10-24T12:00+02:00",
		[]string{"2026-10-25T01:30+02:00", "2026-10-25T01:30Z", "2026-10-26T01:30Z"}, nil},
	{"the second of two runs, with a long pause after it", "59 2 * 9 *", "Europe/Vaduz", "1984-09-30T02:00+02:00",
		[]string{"1984-09-30T02:59+02:00", "1984-09-30T02:59+01:00", "1985-09-01T02:59+02:00"}, nil},

	{"Y1 leap days", "0 0 29 2 *", "UTC", "2026-01-01T00:00Z",
		[]string{"2028-02-29T00:00Z", "2032-02-29T00:00Z"}, nil},
	{"Y2 no leap day in 2100", "0 0 29 2 *", "UTC", "2096-03-01T00:00Z",
		[]string{"2104-02-29T00:00Z"}, []string{none}},
	{"Y3 months with 31 days", "0 0 31 * *", "UTC", "2026-01-31T00:00Z",
		[]string{"2026-03-31T00:00Z", "2026-05-31T00:00Z", "2026-07-31T00:00Z"}, nil},
	{"Y4 30 February", "0 0 30 2 *", "UTC", "2026-01-01T00:00Z", []string{none}, nil},
	{"Y5 the 13th or a Friday", "0 0 13 * 5", "UTC", "2026-02-10T00:00Z",
		[]string{"2026-02-13T00:00Z", "2026-02-20T00:00Z", "2026-02-27T00:00Z", "2026-03-06T00:00Z"}, nil},
	{"Y6 a step is not a star", "0 0 */2 * 1", "UTC", "2026-02-01T00:00Z",
		[]string{"2026-02-02T00:00Z", "2026-02-03T00:00Z", "2026-02-05T00:00Z", "2026-02-07T00:00Z"}, nil},
}

func TestS4_CalendarCases(t *testing.T) {
	for _, c := range calendarCases {
		t.Run(c.name, func(t *testing.T) {
			want := c.reference
			if want == nil {
				want = c.exact
			}
			checkRuns(t, mustParse(t, c.spec, schedule.WithTimeZone(c.zone)), c.from, c.exact)
			checkRuns(t, mustParse(t, c.spec, schedule.WithTimeZone(c.zone), schedule.Kubernetes(release.Newest())), c.from, want)
		})
	}
	t.Run("Y7 there is no weekday 7", func(t *testing.T) {
		for _, opts := range [][]schedule.Option{nil, {schedule.Kubernetes(release.Newest())}} {
			if _, err := schedule.Parse("0 0 * * 7", opts...); err == nil {
				t.Error("accepted")
			}
		}
	})
}

// checkRuns compares the runs, as instants and as wall-clock times.
func checkRuns(t *testing.T, s schedule.Schedule, from string, want []string) {
	t.Helper()
	got := slices.Collect(s.NextN(instant(t, from), len(want)))
	if want[0] == none {
		if len(got) > 0 {
			t.Errorf("after %s: got %v, want no run", from, got)
		}
		return
	}
	var texts []string
	for _, run := range got {
		texts = append(texts, run.Format("2006-01-02T15:04Z07:00"))
	}
	if fmt.Sprint(texts) != fmt.Sprint(want) {
		t.Errorf("after %s: got %v, want %v", from, texts, want)
	}
}

// TestS4_PrevInOverlap: Prev finds both runs of an overlap, and the run long before them.
func TestS4_PrevInOverlap(t *testing.T) {
	s := mustParse(t, "30 2 25 10 *", schedule.WithTimeZone("Europe/Berlin"))
	at := instant(t, "2027-01-01T00:00Z")
	for _, want := range []string{"2026-10-25T02:30+01:00", "2026-10-25T02:30+02:00", "2025-10-25T02:30+02:00"} {
		if at = s.Prev(at); !at.Equal(instant(t, want)) {
			t.Fatalf("got %v, want %s", at, want)
		}
	}
}

// TestS4_HoursOfADay: an hourly schedule has 23 or 25 runs on days when clocks change (D3).
func TestS4_HoursOfADay(t *testing.T) {
	s := mustParse(t, "0 * * * *", schedule.WithTimeZone("America/New_York"))
	for _, c := range []struct {
		from, to string
		want     int
	}{
		{"2026-03-07T23:59-05:00", "2026-03-08T23:59-04:00", 23},
		{"2026-10-31T23:59-04:00", "2026-11-01T23:59-05:00", 25},
		{"2026-07-01T23:59-04:00", "2026-07-02T23:59-04:00", 24},
	} {
		if got := s.Count(instant(t, c.from), instant(t, c.to)); got != c.want {
			t.Errorf("(%s, %s]: got %d, want %d", c.from, c.to, got, c.want)
		}
	}
}

// TestS4_Policies checks the options at the gaps and overlaps of the cases above.
func TestS4_Policies(t *testing.T) {
	gapEnd, first, last := schedule.RunSkippedAtGapEnd(), schedule.RunRepeatedFirst(), schedule.RunRepeatedLast()

	for _, c := range []struct {
		name       string
		opt        schedule.Option
		spec, zone string
		from       string
		want       []string
	}{
		{"D1 at the end of the gap", gapEnd, "30 2 * * *", "America/New_York", "2026-03-07T12:00-05:00",
			[]string{"2026-03-08T03:00-04:00", "2026-03-09T02:30-04:00"}},
		{"one run for all times of a gap", gapEnd, "*/15 2-3 * * *", "America/New_York", "2026-03-08T00:00-05:00",
			[]string{"2026-03-08T03:00-04:00", "2026-03-08T03:15-04:00"}},
		{"D11 a whole day of gap", gapEnd, "0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00-10:00",
			[]string{"2011-12-31T00:00+14:00", "2012-12-30T12:00+14:00"}},
		{"gap end leaves overlaps alone", gapEnd, "30 1 * * *", "America/New_York", "2026-10-31T12:00-04:00",
			[]string{"2026-11-01T01:30-04:00", "2026-11-01T01:30-05:00"}},
		{"D2 only first", first, "30 1 * * *", "America/New_York", "2026-10-31T12:00-04:00",
			[]string{"2026-11-01T01:30-04:00", "2026-11-02T01:30-05:00"}},
		{"D2 only last", last, "30 1 * * *", "America/New_York", "2026-10-31T12:00-04:00",
			[]string{"2026-11-01T01:30-05:00", "2026-11-02T01:30-05:00"}},
		{"D12 only first", first, "30 1 * * *", "Antarctica/Troll", "2026-10-24T12:00+02:00",
			[]string{"2026-10-25T01:30+02:00", "2026-10-26T01:30Z"}},
		{"D12 only last", last, "30 1 * * *", "Antarctica/Troll", "2026-10-24T12:00+02:00",
			[]string{"2026-10-25T01:30Z", "2026-10-26T01:30Z"}},
		{"once leaves gaps alone", first, "30 2 * * *", "America/New_York", "2026-03-07T12:00-05:00",
			[]string{"2026-03-09T02:30-04:00"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkRuns(t, mustParse(t, c.spec, schedule.WithTimeZone(c.zone), c.opt), c.from, c.want)
		})
	}
}

// TestB1_DueRuns checks the CronJob cases. In CJ1 to CJ3 the estimate of Kubernetes overlooks the
// due run. With option Kubernetes, Next is the time at which Kubernetes wakes up. That time differs
// from the exact next run in only one case.
func TestB1_DueRuns(t *testing.T) {
	for _, c := range []struct {
		name, spec, after, now string
		due                    string
		missed                 int
		next, reference        string // the next run, exact and in Kubernetes
	}{
		{"CJ1", "*/5 9 * * *", "2026-01-02T08:00Z", "2026-01-02T20:00Z", "2026-01-02T09:55Z", 12, "2026-01-03T09:00Z", "2026-01-03T09:00Z"},
		{"CJ2", "0 9,10 * * 1", "2026-01-01T00:00Z", "2026-01-08T00:00Z", "2026-01-05T10:00Z", 2, "2026-01-12T09:00Z", "2026-01-12T09:00Z"},
		{"CJ3", "30 6-16/4 * * 1-5", "2026-01-02T05:58:30Z", "2026-01-05T04:00Z", "2026-01-02T14:30Z", 3, "2026-01-05T06:30Z", "2026-01-05T06:30Z"},
		{"CJ4", "* * * * *", "0001-01-01T00:00Z", "2026-01-05T04:00:30Z", "2026-01-05T04:00Z", 1065053040, "2026-01-05T04:01Z", "2026-01-05T04:01Z"},
		{"CJ5", "0 0 29 2 *", "2096-02-29T00:00Z", "2101-01-01T00:00Z", none, 0, "2104-02-29T00:00Z", "2104-02-29T00:00Z"},
		{"CJ5 at the last run", "0 0 29 2 *", "2092-02-29T00:00Z", "2096-02-29T00:00Z", "2096-02-29T00:00Z", 1, "2104-02-29T00:00Z", none},
	} {
		t.Run(c.name, func(t *testing.T) {
			after, now := instant(t, c.after), instant(t, c.now)
			exact, preset := mustParse(t, c.spec), mustParse(t, c.spec, schedule.Kubernetes(release.Newest()))

			checkRuns(t, exact, c.now, []string{c.next})
			checkRuns(t, preset, c.now, []string{c.reference})

			for _, s := range []schedule.Schedule{exact, preset} {
				due := none
				if run, ok := s.Latest(after, now); ok {
					due = run.Format("2006-01-02T15:04Z07:00")
				}
				if n := s.Count(after, now); due != c.due || n != c.missed {
					t.Errorf("Latest: got %s, want %s; Count: got %d, want %d", due, c.due, n, c.missed)
				}
			}
		})
	}
}
