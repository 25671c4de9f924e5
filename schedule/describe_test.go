package schedule_test

import (
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/schedule"
)

func TestDescribe(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"*/15 8-18 * * 1-5", "every 15 minutes from 08:00 to 18:45 on weekdays"},
		{"* * * * *", "every minute"},
		{"*/5 * * * *", "every 5 minutes"}, {"*/30 * * * *", "every 30 minutes"}, {"0 */12 * * *", "at 00:00 and 12:00 every day"},
		{"0 * * * *", "every hour"},
		{"1 * * * *", "at 1 minute past every hour"},
		{"5,20 * * * *", "at 5 and 20 minutes past every hour"},
		{"5,6 * * * *", "at 5 and 6 minutes past every hour"},
		{"0-10 * * * *", "at 0 to 10 minutes past every hour"},
		{"*/7 * * * *", "at every 7th minute from 0 to 56 of every hour"},
		{"1-59/2 * * * *", "at every 2nd minute from 1 to 59 of every hour"},
		{"1-59/2 1,5,9 * * *", "at every 2nd minute from 1 to 59 of the hours 1, 5 and 9 every day"},
		{"*/15 0-18/6 * * *", "every 15 minutes of the hours 0, 6, 12 and 18"},
		{"* */2 * * *", "every minute of every 2nd hour from 0 to 22"},
		{"0-10 9 * * *", "at 0 to 10 minutes past the hour 9 every day"},
		{"0 8 * 6-8 1", "at 08:00 on Mondays from June to August"},
		{"0 8 * 6-8 *", "at 08:00 every day from June to August"},
		{"0 0 , * 5", "at 00:00 on Fridays"}, {"0 0 13 * ,", "at 00:00 on the 13th of every month"},
		{"* 9 * * *", "every minute from 09:00 to 09:59"},
		{"30 * * * 0,6", "at 30 minutes past every hour on weekends"},
		{"0 */2 * * *", "every 2 hours from 00:00 to 22:00"},
		{"30 6-16/4 * * 1-5", "at 06:30, 10:30 and 14:30 on weekdays"},
		{"0 9-17 * * *", "every hour from 09:00 to 17:00"},
		{"0 9,17 * * *", "at 09:00 and 17:00 every day"},
		{"5 9 * * 1", "at 09:05 on Mondays"},
		{"5 9 * * 1,3", "at 09:05 on Mondays and Wednesdays"},
		{"5 9 * * 2-5", "at 09:05 on Tuesdays to Fridays"},
		{"0 0,2,3,6 * * *", "at 00:00, 02:00, 03:00 and 06:00 every day"},
		{"0 1,2,5,8,13,20 * * *", "at 01:00, 02:00, 05:00, 08:00, 13:00 and 20:00 every day"},
		{"0 0 1,2 * *", "at 00:00 on the 1st and 2nd of every month"},
		{"0,7,30 1-5 * * *", "at 0, 7 and 30 minutes past the hours 1 to 5 every day"},
		{"*/10 1,5 * * *", "every 10 minutes of the hours 1 and 5"},
		{"5,6,9 1,5,8 * * *", "at 5, 6 and 9 minutes past the hours 1, 5 and 8 every day"},
		{"0 0 1 * *", "at 00:00 on the 1st of every month"},
		{"0 0 2,3,22,23 * *", "at 00:00 on the 2nd, 3rd, 22nd and 23rd of every month"},
		{"0 0 11-13 * *", "at 00:00 from the 11th to the 13th of every month"},
		{"0 0 1,15 * *", "at 00:00 on the 1st and 15th of every month"},
		{"0 0 1-7 6-8 *", "at 00:00 from the 1st to the 7th of every month from June to August"},
		{"0 0 29 2 *", "at 00:00 on the 29th of February"},
		{"0 0 1-7/2 * *", "at 00:00 on the 1st, 3rd, 5th and 7th of every month"},
		{"0 0 1-9/2 * *", "at 00:00 on every 2nd day from the 1st to the 9th of every month"},
		{"0 8 * 6,7 1,2", "at 08:00 on Mondays and Tuesdays in June and July"}, {"0 8 * * 1-3", "at 08:00 on Mondays to Wednesdays"},
		{"0,7,14,21 * * * *", "at 0, 7, 14 and 21 minutes past every hour"}, {"0-28/7 * * * *", "at every 7th minute from 0 to 28 of every hour"},
		{"0 0,6,12 * * *", "at 00:00, 06:00 and 12:00 every day"}, {"0 0-18/6 * * *", "every 6 hours from 00:00 to 18:00"},
		{"* 0-6/2 * * *", "every minute of the hours 0, 2, 4 and 6"}, {"* 0-8/2 * * *", "every minute of every 2nd hour from 0 to 8"},
		{"0 0 1,2,4,8,16 * *", "at 00:00 on the 1st, 2nd, 4th, 8th and 16th of every month"},
		{"0 0 1-31 * 1", "at 00:00 every day"}, {"0 0 1-31 6 1", "at 00:00 every day in June"},
		{"0 0 */2 * ?", "at 00:00 on every 2nd day from the 1st to the 31st of every month"},
		{"0 0 13 * 5", "at 00:00 on the 13th of every month and on Fridays"},
		{"0 0 22 1,7 5", "at 00:00 on the 22nd of January and July and on Fridays in January and July"},
		{"0 0 * 1 *", "at 00:00 every day in January"},
		{"*/5 * * 12 1", "every 5 minutes on Mondays in December"},
		{"0 0 13 * 0-6", "at 00:00 every day"},
		{"@yearly", "at 00:00 on the 1st of January"},
		{"@every 90m", "every 90 minutes"}, {"@every 1h", "every hour"}, {"@every 36h", "every 36 hours"},
		{"@every 1m30s", "every 90 seconds"}, {"@every 1ns", "every second"},
		{"0 0 31 2 *", "never (no such date)"}, {"0 , * * *", "never (no such time of day)"},
	} {
		if got := mustParse(t, c.spec).Describe(); got != c.want {
			t.Errorf("%q: got %q, want %q", c.spec, got, c.want)
		}
	}
}

// TestDescribe_TellsApart: schedules with the same description run at the same times, and no
// description lists evenly spaced numbers one by one.
func TestDescribe_TellsApart(t *testing.T) {
	r := rand.New(rand.NewSource(14))
	field := func(i int) string {
		low, high := [...]int{0, 0, 1, 1, 0, 0}[i], [...]int{59, 23, 31, 12, 6, 59}[i]
		if r.Intn(3) == 0 {
			return "*"
		}
		return pick(r, randomField(r, low, high), randomField(r, low, high)+","+randomField(r, low, high))
	}

	begin := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	seen := map[string]schedule.Schedule{}

	for range oracleCases(t) {
		var fields [6]string // the seconds last, as their range is the same as the minutes'
		for i := range fields {
			fields[i] = field(i)
		}
		if r.Intn(2) == 0 {
			fields[5] = "0"
		}

		i := r.Intn(6) // the two schedules differ at most in this field
		for range 2 {
			s := mustParse(t, fields[5]+" "+strings.Join(fields[:5], " "), schedule.WithSeconds())
			fields[i] = field(i)

			text := s.Describe()
			if strings.Contains(text, "  ") || strings.Contains(text, "the  of") {
				t.Fatalf("%q: %q", s, text)
			}

			other, ok := seen[text]
			seen[text] = s
			if !ok || s.Never() && other.Never() {
				continue
			}

			end := begin.AddDate(400, 0, 0)
			if s.Count(begin, end) != other.Count(begin, end) || !slices.Equal(slices.Collect(s.NextN(begin, 300)), slices.Collect(other.NextN(begin, 300))) {
				t.Fatalf("%q and %q: %q", s, other, text)
			}
		}
	}
}

func TestLint(t *testing.T) {
	seconds := func(n int64) *int64 { return &n }
	from := instant(t, "2026-02-01T00:00Z")
	const lag = 10 * time.Second
	each := []schedule.FindingKind{schedule.EachMinute}
	uneven, missing := []schedule.FindingKind{schedule.UnevenStep}, []schedule.FindingKind{schedule.MissingDay}

	for _, c := range []struct {
		spec, zone string
		opts       []schedule.Option
		deadline   *int64
		want       []schedule.FindingKind
	}{
		{"0 9 * * 1-5", "Europe/Berlin", nil, nil, nil},
		{"*/15 * * * *", "Europe/Berlin", nil, nil, nil}, // runs in every hour
		{"30 2 * * *", "UTC", nil, nil, nil},
		{"30 2 * * *", "Europe/Berlin", nil, nil, []schedule.FindingKind{schedule.SkippedTime, schedule.RepeatedTime}},
		{"0 3 * * *", "Europe/Berlin", nil, nil, nil},  // clocks go forward to 03:00, and back from it
		{"30 2 * * 1", "Europe/Berlin", nil, nil, nil}, // clocks change on Sundays
		{"30 2 * 6 *", "Europe/Berlin", nil, nil, nil},
		{"30 2 * 3 *", "Europe/Berlin", nil, nil, []schedule.FindingKind{schedule.SkippedTime}},
		{"30 2 * * *", "Europe/Berlin", []schedule.Option{schedule.RunSkippedAtGapEnd(), schedule.RunRepeatedFirst()}, nil, nil},
		{"30 1 * * *", "America/New_York", nil, nil, []schedule.FindingKind{schedule.RepeatedTime}},
		{"0 0 31 2 *", "Europe/Berlin", nil, nil, []schedule.FindingKind{schedule.NeverRuns}},
		{"0 0 13 * 5", "UTC", nil, nil, []schedule.FindingKind{schedule.EitherDay}},
		{"0 0 */2 * 1", "UTC", nil, nil, []schedule.FindingKind{schedule.EitherDay, schedule.UnevenStep}},
		{"0 0 29 2 *", "UTC", nil, nil, []schedule.FindingKind{schedule.RareDate}},
		{"0 0 29 2 ?", "America/Santiago", nil, nil, []schedule.FindingKind{schedule.RareDate}},
		{"* 3 * * *", "UTC", nil, nil, each}, {"* */3 * * *", "UTC", nil, nil, each}, {"* 3,15 * * *", "UTC", nil, nil, each}, {"? 8-18/2 * * *", "UTC", nil, nil, each},
		{"*/1 3 * * *", "UTC", nil, nil, each}, {"* * 1 * *", "UTC", nil, nil, each}, {"* * * * 1", "UTC", nil, nil, each},
		{"*/2 3 * * *", "UTC", nil, nil, nil}, {"0-59 3 * * *", "UTC", nil, nil, nil}, {"0 3 * * *", "UTC", nil, nil, nil},
		{"* 9-17 * * *", "UTC", nil, nil, nil}, {"* 3,9-17 * * *", "UTC", nil, nil, nil}, {"* * * * 1-5", "UTC", nil, nil, nil}, {"* * * 6 *", "UTC", nil, nil, nil}, {"* * * * *", "UTC", nil, nil, nil},
		{"0 3 * * *", "Etc/GMT+5", nil, nil, []schedule.FindingKind{schedule.ZoneSign}}, {"0 3 * * *", "Etc/GMT-14", nil, nil, []schedule.FindingKind{schedule.ZoneSign}},
		{"0 3 * * *", "Etc/GMT+0", nil, nil, nil}, {"0 3 * * *", "Etc/GMT", nil, nil, nil}, {"@every 1h", "Etc/GMT+5", nil, nil, nil},
		{"*/7 * * * *", "UTC", nil, nil, uneven}, {"*/40 * * * *", "UTC", nil, nil, uneven}, {"5/25 * * * *", "UTC", nil, nil, uneven},
		{"*/90 * * * *", "UTC", nil, nil, uneven}, {"0 */5 * * *", "UTC", nil, nil, uneven}, {"0 8/4 * * *", "UTC", nil, nil, uneven},
		{"0 0 */2 * *", "UTC", nil, nil, uneven}, {"0 0 1 */5 *", "UTC", nil, nil, uneven}, {"0 0 * * */2", "UTC", nil, nil, uneven},
		{"*/7 9 * * *", "UTC", nil, nil, nil}, {"0 */5 * * 1", "UTC", nil, nil, nil}, {"0 0 */2 6 *", "UTC", nil, nil, nil}, // the next hour, day or month does not match
		{"0 0 ?/2 * *", "UTC", nil, nil, uneven}, {"0 0 */2 1,12 *", "UTC", nil, nil, uneven}, {"0 0 */2 1,3 *", "UTC", nil, nil, nil},
		{"*/25 0,23 * * *", "UTC", nil, nil, uneven}, {"*/25 0,22 * * *", "UTC", nil, nil, nil}, // from 23 to 0
		{"0-59/7 * * * *", "UTC", nil, nil, uneven}, {"3-59/7 * * * *", "UTC", nil, nil, nil},
		{"1-59/2 * * * *", "UTC", nil, nil, nil}, {"3-59/20 * * * *", "UTC", nil, nil, nil}, {"0 8-20/4 * * *", "UTC", nil, nil, nil},
		{"*/60 * * * *", "UTC", nil, nil, nil}, {"0 */12 * * *", "UTC", nil, nil, nil}, {"0 0 1 */3 *", "UTC", nil, nil, nil},
		{"0 0 31 * *", "UTC", nil, nil, missing}, {"0 0 15,30 * *", "UTC", nil, nil, missing}, {"0 0 29 1-3 *", "UTC", nil, nil, missing}, {"0 0 29/1 * *", "UTC", nil, nil, nil},
		{"0 0 31 1,2 *", "UTC", nil, nil, missing}, {"0 0 29-31 * *", "UTC", nil, nil, missing},
		{"0 0 31 1,3 *", "UTC", nil, nil, nil}, {"0 0 30 4-6 *", "UTC", nil, nil, nil}, {"0 0 28-31 * *", "UTC", nil, nil, nil}, {"0 0 28 2 *", "UTC", nil, nil, nil},
		{"0 9 * * *", "UTC", nil, seconds(5), []schedule.FindingKind{schedule.DeadlineTooShort}},
		{"0 9 * * *", "UTC", nil, seconds(10), nil},
		{"0 9 * * *", "UTC", nil, seconds(1 << 62), nil},
		{"@every 90s", "Europe/Berlin", nil, nil, nil},
		{"@every 60s", "UTC", nil, nil, nil},
		{"@every 59s", "UTC", nil, nil, []schedule.FindingKind{schedule.NameCollision}},
		{"@every 30s", "UTC", nil, nil, []schedule.FindingKind{schedule.NameCollision}},
		{"@every 1.5h", "UTC", nil, nil, nil},
		{"@every 90500ms", "UTC", nil, nil, []schedule.FindingKind{schedule.RoundedInterval}},
		{"@every -1s", "UTC", nil, nil, []schedule.FindingKind{schedule.RoundedInterval, schedule.NameCollision}},
	} {
		s := mustParse(t, c.spec, append(c.opts, schedule.WithTimeZone(c.zone))...)
		found := s.Lint(schedule.Circumstances{From: from, StartingDeadlineSeconds: c.deadline, WakeUpLag: lag})
		if !slices.Equal(kindsOf(found), c.want) {
			t.Errorf("%q in %s: got %v, want %v", c.spec, c.zone, found, c.want)
		}
	}
}

// TestLint_Instead: the schedule that is proposed instead of a star has one run in each matching
// hour or day.
func TestLint_Instead(t *testing.T) {
	for _, c := range []struct {
		spec, message string
		opts          []schedule.Option
	}{
		{"* */3 * * *", `"* */3 * * *" runs 60 times in each of its hours; "0 */3 * * *" runs once`, nil},
		{"* * 1 * *", `"* * 1 * *" runs 1440 times on each of its days; "0 0 1 * *" runs once`, nil},
		{"* * * * 0", `"* * * * 0" runs 1440 times on each of its days; "0 0 * * 0" runs once`, nil},
		{"* 0 3 * * *", `"* 0 3 * * *" runs 60 times in each of its minutes; "0 0 3 * * *" runs once`, []schedule.Option{schedule.WithSeconds()}},
		{"* * 3 * * *", `"* * 3 * * *" runs 3600 times in each of its hours; "0 0 3 * * *" runs once`, []schedule.Option{schedule.WithSeconds()}},
	} {
		found := mustParse(t, c.spec, c.opts...).Lint(schedule.Circumstances{NameSeconds: true})
		if len(found) != 1 || found[0].Message != c.message {
			t.Errorf("%q: got %v, want %s", c.spec, found, c.message)
			continue
		}
		if again := mustParse(t, found[0].Instead, c.opts...).Lint(schedule.Circumstances{}); len(again) > 0 {
			t.Errorf("%q instead of %q: %v", found[0].Instead, c.spec, again)
		}
	}
}

// TestLint_TenYears: Lint looks ten years ahead. Clocks in Berlin go forward on 31 March in 2030
// and 2041.
func TestLint_TenYears(t *testing.T) {
	s := mustParse(t, "30 2 31 3 *", schedule.WithTimeZone("Europe/Berlin"))
	for from, want := range map[string][]schedule.FindingKind{
		"2030-03-31T00:59:59Z": {schedule.SkippedTime}, "2030-03-31T01:00:00Z": nil,
		"2031-03-31T00:59:59Z": nil, "2031-03-31T01:00:00Z": {schedule.SkippedTime},
	} {
		if found := s.Lint(schedule.Circumstances{From: instant(t, from)}); !slices.Equal(kindsOf(found), want) {
			t.Errorf("from %s: got %v, want %v", from, found, want)
		}
	}
}

// TestLint_AnyClock: Lint and Describe accept any time.
func TestLint_AnyClock(t *testing.T) {
	rare, ended := "some years have no such date; the next one is ", "some years have no such date"
	for from, want := range map[time.Time]string{
		{}: rare + "2028-02-29", time.Unix(-1<<62, 0): rare + "0004-02-29", time.Unix(1<<62, 0): ended, time.Unix(math.MaxInt64, 0): ended,
		instant(t, "9996-02-29T01:29Z"): rare + "9996-02-29", instant(t, "9996-02-29T01:30Z"): ended, instant(t, "9999-12-31T00:00Z"): ended,
	} {
		s := mustParse(t, "30 2 29 2 *", schedule.WithTimeZone("Europe/Berlin"))
		if found := s.Lint(schedule.Circumstances{From: from}); len(found) == 0 || found[0].Message != want {
			t.Errorf("from %v: got %v, want %q", from, found, want)
		}
	}
}

// TestLint_Texts compares whole messages.
func TestLint_Texts(t *testing.T) {
	from := instant(t, "2026-02-01T00:00Z")

	for spec, want := range map[string]string{
		"0 0 */2 * *":   `day-of-month "*/2" is uneven: it begins again on the 1st of each month, whatever day comes before`,
		"0 */5 * * *":   `hour "*/5" is uneven: from 20 to the next 0 it is 4, not 5`,
		"0 0 13 * 5":    "day-of-month and day-of-week are both restricted, so a day that matches either runs: at 00:00 on the 13th of every month and on Fridays",
		"0 0 30 2 *":    `"0 0 30 2 *" matches no date: it never runs`,
		"0 0 29 2 *":    "some years have no such date; the next one is 2028-02-29",
		"0 0 29 2,4 *":  `February has no 29th of most years: no run for "29" there`,
		"0 0 30 2,4 *":  `February has no 30th: no run for "30" there`,
		"0 0 31 * *":    `February, April, June, September and November have no 31st: no run for "31" there`,
		"@every 1500ms": `"@every 1500ms" runs every 1s: intervals are whole seconds, at least one`,
		"@every 30s":    `"@every 30s" runs several times a minute, but jobs are named by the minute of their run: only one of them is created`,
	} {
		var texts []string
		for _, f := range mustParse(t, spec).Lint(schedule.Circumstances{From: from}) {
			texts = append(texts, f.Message)
		}

		if !slices.Contains(texts, want) {
			t.Errorf("%s: %q, want %q", spec, texts, want)
		}
		if found := mustParse(t, spec).Lint(schedule.Circumstances{}); len(found) != len(texts) || found[0].Message != texts[0] {
			t.Errorf("%s: without a time, %q, want %q", spec, found, texts)
		}
	}
}

// TestLint_TextOfARepeatedTime compares the whole message.
func TestLint_TextOfARepeatedTime(t *testing.T) {
	s := mustParse(t, "30 2 * 10 *", schedule.WithTimeZone("Europe/Berlin"))
	want := "02:30 on 2026-10-25 comes twice in Europe/Berlin, where clocks go from 03:00 back to 02:00: two runs"
	for _, from := range []time.Time{{}, instant(t, "2026-02-01T00:00Z")} {
		if found := s.Lint(schedule.Circumstances{From: from}); len(found) != 1 || found[0].Message != want {
			t.Errorf("from %v: got %v, want %q", from, found, want)
		}
	}
}

func kindsOf(found []schedule.Finding) (kinds []schedule.FindingKind) {
	for _, f := range found {
		kinds = append(kinds, f.Kind)
	}
	return kinds
}
