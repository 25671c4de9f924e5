package schedule_test

import (
	"errors"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

// These are chosen cases of S6; TestS6_BruteForce has random ones.
func TestS6_Runs(t *testing.T) {
	for _, c := range []struct {
		name, days, from string
		want             []string // days at noon
	}{
		{"the last day", "L * *", "2027-12-31", []string{"2027-12-31", "2028-01-31", "2028-02-29", "2028-03-31", "2028-04-30"}},
		{"the last day of February", "L 2 *", "2099-01-01", []string{"2099-02-28", "2100-02-28", "2101-02-28"}},
		{"a day before the last", "L-1 * *", "2027-01-31", []string{"2027-02-27", "2027-03-30", "2027-04-29"}},
		{"the first day of long months", "L-30 * *", "2027-01-01", []string{"2027-01-01", "2027-03-01", "2027-05-01"}},
		{"leap years", "L-28 2 *", "2027-01-01", []string{"2028-02-01", "2032-02-01"}},
		{"a working day", "15W * *", "2026-06-01", []string{"2026-06-15", "2026-07-15", "2026-08-14", "2026-09-15", "2026-10-15", "2026-11-16"}},
		{"a Saturday that is the 1st", "1W * *", "2026-08-01", []string{"2026-08-03", "2026-09-01", "2026-10-01", "2026-11-02"}},
		{"a Sunday that is the last day", "31W * *", "2026-05-01", []string{"2026-05-29", "2026-07-31", "2026-08-31"}},
		{"no 31st in June", "31W 6-7 *", "2026-06-01", []string{"2026-07-31", "2027-07-30"}},
		{"the last working day", "LW * *", "2026-01-01", []string{"2026-01-30", "2026-02-27", "2026-03-31", "2026-04-30", "2026-05-29"}},
		{"a working day before the last", "L-2W 5 *", "2026-01-01", []string{"2026-05-29", "2027-05-28"}},
		{"the first Monday", "* * 1#1", "2026-06-01", []string{"2026-06-01", "2026-07-06", "2026-08-03"}},
		{"the second Friday", "* * 5#2", "2026-05-02", []string{"2026-05-08", "2026-06-12"}},
		{"the fifth Friday", "? * FRI#5", "2026-01-01", []string{"2026-01-30", "2026-05-29", "2026-07-31"}},
		{"the last Friday", "* * friL", "2026-01-01", []string{"2026-01-30", "2026-02-27", "2026-03-27"}},
		{"every other week of the first four", "* * 5#1,5#3", "2026-01-01", []string{"2026-01-02", "2026-01-16", "2026-02-06"}},
		{"with other days", "1,L 2 *", "2026-01-01", []string{"2026-02-01", "2026-02-28"}},
		{"with other weekdays", "* 2 6#1,mon", "2026-01-01", []string{"2026-02-02", "2026-02-07", "2026-02-09", "2026-02-16", "2026-02-23"}},
		{"either field", "L 2 5#2", "2026-01-01", []string{"2026-02-13", "2026-02-28", "2027-02-12", "2027-02-28"}},
		{"a weekday that is the last day", "L * 1-5", "2026-05-27", []string{"2026-05-27", "2026-05-28", "2026-05-29", "2026-05-31"}},
		{"five Mondays in February", "* 2 1#5", "2026-01-01", []string{"2044-02-29", "2072-02-29", "2112-02-29"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var want []int64
			for _, day := range c.want {
				want = append(want, instant(t, day+"T00:00Z").Add(12*time.Hour).Unix())
			}
			s := mustParse(t, "0 12 "+c.days, schedule.WithSpecialDays())
			if problem := compare(s, instant(t, c.from+"T00:00Z").Unix(), want[len(want)-1], want); problem != "" {
				t.Errorf("want %v: %s", c.want, problem)
			}
		})
	}
}

// TestS6_BruteForce compares all answers about some years with those of a search through each day.
func TestS6_BruteForce(t *testing.T) {
	r := rand.New(rand.NewSource(16))
	runs := 0
	for range oracleCases(t) / 10 {
		spec := "30 12 " + randomSpecial(r)
		var except []string
		if r.Intn(4) == 0 {
			except = []string{"* * " + randomSpecial(r)}
		}

		begin := time.Date(1+r.Intn(9990), time.Month(1+r.Intn(12)), 1+r.Intn(31), r.Intn(24), 0, 0, 0, time.UTC)
		end := begin.AddDate(r.Intn(6), 1+r.Intn(12), r.Intn(31))
		oracle := clockOf(spec, nil, except)
		var want []int64
		for noon := begin.Truncate(24 * time.Hour).Add(12*time.Hour + 30*time.Minute); !noon.After(end); noon = noon.AddDate(0, 0, 1) {
			if noon.After(begin) && oracle.matches(noon) {
				want = append(want, noon.Unix())
			}
		}

		s := mustParse(t, spec, schedule.WithSpecialDays(), schedule.Except(except...))
		if problem := compare(s, begin.Unix(), end.Unix(), want); problem != "" {
			t.Fatalf("%q, %v to %v: %s", s, begin, end, problem)
		}
		runs += len(want)
	}
	t.Logf("%d runs", runs)
}

// TestS6_CountCountsBetween: for the 800 years of two calendar cycles, Count returns the number of
// runs that Between and Prev visit.
func TestS6_CountCountsBetween(t *testing.T) {
	begin, end := instant(t, "1990-01-01T00:00Z"), instant(t, "2790-01-01T00:00Z")
	for _, spec := range []string{"0 0 L * *", "0 0 31W * *", "0 0 * * 5#5", "0 0 L-28 2 *", "0 0 LW 2 0#5", "0 0 * 2 1#5"} {
		s := mustParse(t, spec, schedule.WithSpecialDays())
		forwards, backwards := 0, 0
		for range s.Between(begin, end) {
			forwards++
		}
		for run := s.Prev(end.Add(1)); run.After(begin); run = s.Prev(run) {
			backwards++
		}
		if n := s.Count(begin, end); n != forwards || n != backwards || n == 0 {
			t.Errorf("%q: Count %d, forwards %d, backwards %d", spec, n, forwards, backwards)
		}
	}
}

func TestS6_ErrorsSayWhatToWrite(t *testing.T) {
	date, weekday := ": want L, L-1 to L-30, ", ": want the 1st to the 5th of a weekday, "
	for _, c := range []struct{ days, want string }{
		{"L-0 * *", `day-of-month "L-0": "L-0"` + date}, {"L-31 * *", `day-of-month "L-31": "L-31"` + date}, {"L-31W * *", `day-of-month "L-31W": "L-31W"` + date},
		{"0W * *", `day-of-month "0W": "0W"` + date}, {"32W * *", `day-of-month "32W": "32W"` + date},
		{"L- * *", `day-of-month "L-": "L-"` + date}, {"W * *", `day-of-month "W": "W"` + date}, {"WL * *", `day-of-month "WL": "WL"` + date},
		{"1,L/2 * *", `day-of-month "1,L/2": "L/2"` + date}, {"1-15W * *", `day-of-month "1-15W": "1-15W"` + date}, {"15L * *", `day-of-month "15L": "15L"` + date},
		{"L,32 * *", `day-of-month "32": must be from 1 to 31`}, {"l * *", `day-of-month "l": must be a number from 1 to 31`},
		{"* * 5#0", `day-of-week "5#0": "5#0"` + weekday}, {"* * 5#6", `day-of-week "5#6": "5#6"` + weekday}, {"* * 5#", `day-of-week "5#": "5#"` + weekday},
		{"* * 5#fri", `day-of-week "5#fri": "5#fri"` + weekday}, {"* * 5#L", `day-of-week "5#L": "5#L"` + weekday}, {"* * 5L#2", `day-of-week "5L#2": "5L#2": must be from 0 to 6, or a name`},
		{"* * L", `day-of-week "L": "L"` + weekday}, {"* * #2", `day-of-week "#2": "#2"` + weekday}, {"* * *#2", `day-of-week "*#2": "*#2"` + weekday},
		{"* * 7#2", `day-of-week "7#2": "7#2": Sunday is 0; write 0 or sun`}, {"* * 1,8L", `day-of-week "1,8L": "8L": must be from 0 to 6`},
		{"* * 1-5L", `day-of-week "1-5L": "1-5L": must be from 0 to 6`}, {"* * fridayL", `day-of-week "fridayL": "fridayL": names have three letters; write fri`},
		{"+5W * *", `day-of-month "+5W": "+5W"` + date}, {"L-+3 * *", `day-of-month "L-+3": "L-+3"` + date},
		{"* * 5#+2", `day-of-week "5#+2": "5#+2"` + weekday}, {"* * +5L", `day-of-week "+5L": "+5L"` + weekday},
		{"* * 5#2/2", `day-of-week "5#2/2": "5#2/2"` + weekday},
		{"5#2 * *", `day-of-month "5#2": must be a number`}, {"* L *", `month "L": must be from 1 to 12`}, {"* * 5W", `day-of-week "5W": must be from 0 to 6`},
		{"L * * *", `fields "0 12 L * * *": want 5 fields`}, {"1 L * *", `fields "0 12 1 L * *": want 5 fields`},
	} {
		var problem *schedule.ParseError
		_, err := schedule.Parse("0 12 "+c.days, schedule.WithSpecialDays())
		if want := `schedule "0 12 ` + c.days + `": ` + c.want; !errors.As(err, &problem) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", c.days, err, want)
		}
	}

	_, want := schedule.Parse("@x 0 L * *")
	if _, err := schedule.Parse("@x 0 L * *", schedule.WithSpecialDays()); err == nil || err.Error() != want.Error() {
		t.Errorf("a descriptor of five words: got %v, want %v", err, want)
	}

	for _, opt := range []schedule.Option{schedule.Also("0 12 L-31 * *"), schedule.Except("* * * * L")} {
		if _, err := schedule.Parse("0 12 * * *", schedule.WithSpecialDays(), opt); err == nil {
			t.Error("a combined schedule with a wrong day is accepted")
		}
	}
}

// TestS6_FieldsStayWhatTheyAre: the option does not change schedules without special days. Special
// days are refused without the option.
func TestS6_FieldsStayWhatTheyAre(t *testing.T) {
	r := rand.New(rand.NewSource(17))
	for range 1000 {
		spec := randomSpec(r)
		for _, opt := range []schedule.Option{schedule.RunRepeatedFirst(), schedule.Kubernetes(release.Newest())} {
			if a, b := mustParse(t, spec, opt), mustParse(t, spec, opt, schedule.WithSpecialDays()); !a.Equal(b) || a.Describe() != b.Describe() {
				t.Fatalf("%q: %s, with the option %s", spec, a.Describe(), b.Describe())
			}
		}
		special := withSpecial(r, spec)
		if s, err := schedule.Parse(special); err == nil {
			t.Fatalf("%q without the option: %s", special, s.Describe())
		}
		s := mustParse(t, special, schedule.WithSpecialDays())
		if preset := mustParse(t, special, schedule.WithSpecialDays(), schedule.Kubernetes(release.Newest())); !preset.Equal(s) || s.String() != special {
			t.Fatalf("%q: %s", special, preset)
		}
	}
	for _, spec := range []string{"@daily", "@every 1h", "TZ=Europe/Berlin 0 9 * * *", "0 9 *-0W * *", "0 9 ?-L,5 * *", "0 9 * * *-5#9", "0 9 * * ?-L"} {
		if !mustParse(t, spec, schedule.WithSpecialDays()).Equal(mustParse(t, spec)) {
			t.Errorf("%q is changed by the option", spec)
		}
	}
}

func TestS6_Equal(t *testing.T) {
	parse := func(days string) schedule.Schedule { return mustParse(t, "0 12 "+days, schedule.WithSpecialDays()) }
	for _, c := range []struct {
		a, b  string
		equal bool
	}{
		{"L * *", "L,L * ?", true}, {"* * fri#2", "* * 5#2", true}, {"15W,L * *", "L,15W * *", true},
		{"L * *", "L-1 * *", false}, {"L * *", "LW * *", false}, {"15 * *", "15W * *", false}, {"L-3W * *", "L-3 * *", false},
		{"* * 5#2", "* * 5#3", false}, {"* * 5#2", "* * 4#2", false}, {"* * 5L", "* * 5#5", false}, {"* * 5", "* * 5,5L", false},
	} {
		if got := parse(c.a).Equal(parse(c.b)); got != c.equal {
			t.Errorf("%q and %q: equal is %v", c.a, c.b, got)
		}
	}
}

func TestS6_Describe(t *testing.T) {
	for _, c := range []struct{ days, want string }{
		{"L * *", "on the last day of every month"},
		{"L-3,L-1 * *", "on the 1st day before the last and the 3rd day before the last of every month"},
		{"15W * *", "on the weekday nearest to the 15th of every month"},
		{"LW 2,6 *", "on the weekday nearest to the last day of February and June"},
		{"L-3W 1-3 *", "on the weekday nearest to the 3rd day before the last of every month from January to March"},
		{"1,15,L * *", "on the 1st and 15th of every month and on the last day of every month"},
		{"* * 5#2", "on the 2nd Friday of every month"},
		{"* 6 5L,1#1", "on the last Friday and the 1st Monday of June"},
		{"* 6-8 1,5L", "on Mondays from June to August and on the last Friday of every month from June to August"},
		{"L * 5#2", "on the last day of every month and on the 2nd Friday of every month"},
		{"1-31,L * 5#2", "every day"}, {"L * 0-6,5#2", "every day"}, {"*,L * 5#2", "on the 2nd Friday of every month"},
		{", * 5#2", "on the 2nd Friday of every month"},
	} {
		if got := mustParse(t, "0 12 "+c.days, schedule.WithSpecialDays()).Describe(); got != "at 12:00 "+c.want {
			t.Errorf("%q: got %q, want %q", c.days, got, c.want)
		}
	}
	for _, spec := range []string{"0 12 L-30 2 *", "0 12 31W 4,6 *", "0 12 L-30 4 ?"} {
		if s := mustParse(t, spec, schedule.WithSpecialDays()); !s.Never() || s.Describe() != "never (no such date)" || !s.Next(time.Time{}).IsZero() {
			t.Errorf("%q: %s", spec, s.Describe())
		}
	}
}

func TestS6_Lint(t *testing.T) {
	for _, c := range []struct {
		spec string
		want []string
	}{
		{"0 12 L * *", nil}, {"0 12 28W,LW * *", nil}, {"0 12 * * 5#4,5L", nil}, {"0 12 L-27 * *", nil},
		{"0 12 L * 5#2", []string{"EitherDay: day-of-month and day-of-week are both restricted, so a day that matches either runs: " +
			"at 12:00 on the last day of every month and on the 2nd Friday of every month"}},
		{"* * L-3 * *", []string{`EachMinute: "* * L-3 * *" runs 1440 times on each of its days; "0 0 L-3 * *" runs once`}},
		{"* * * * 5#2", []string{`EachMinute: "* * * * 5#2" runs 1440 times on each of its days; "0 0 * * 5#2" runs once`}},
		{"0 12 L-28 2,3 *", []string{`MissingDay: February has no 29th of most years: no run for "L-28" there`}},
		{"0 12 29W * *", []string{`MissingDay: February has no 29th of most years: no run for "29W" there`}},
		{"0 12 L-29W * *", []string{`MissingDay: February has no 30th: no run for "L-29W" there`}},
		{"0 12 * * fri#5", []string{`MissingDay: some months have no 5th Friday: no run for "fri#5" there`}},
		{"0 12 * * 05#05", []string{`MissingDay: some months have no 5th Friday: no run for "05#05" there`}},
		{"0 12 * 2 1#5", []string{"RareDate: some years have no such date; the next one is 2044-02-29"}},
		{"*/35 */5 L-1,L * *", []string{`UnevenStep: hour "*/5" is uneven: from 20 to the next 0 it is 4, not 5`}},
		{"0 */5 L * *", nil}, // the next day does not match
	} {
		var got []string
		for _, f := range mustParse(t, c.spec, schedule.WithSpecialDays()).Lint(schedule.Circumstances{}) {
			got = append(got, f.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.spec, got, c.want)
		}
	}
}
