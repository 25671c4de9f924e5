package schedule_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/golden"
	"github.com/batchplan/batchplan/schedule"
)

// TestAnswers compares the answers and texts of drawn schedules with recorded hashes. The zones
// follow rules, so the result does not depend on the zone database.
func TestAnswers(t *testing.T) {
	zones := []testZone{{"UTC", time.UTC, schedule.WithLocation(time.UTC)}}
	for _, rule := range []string{"XXX-1YYY,M3.5.0,M10.5.0/3", "XXX3YYY,M10.3.0/0,M2.3.0/0", "XXX-10:30YYY-11,M10.1.0,M4.1.0", "XXX-5:45"} {
		loc := namedZone(t, "Test/"+rule, rule)
		zones = append(zones, testZone{rule, loc, schedule.WithLocation(loc)})
	}

	golden.Hashes(t, "testdata/answers.golden", 1000, func(t *rapid.T, add func(...any)) {
		s := drawSubject(t, zones)
		deadline := rapid.Int64Range(0, 200).Draw(t, "deadline")
		from, lag := drawInstant(t, s.zone.loc, "from").In(s.zone.loc), time.Duration(rapid.IntRange(0, 60).Draw(t, "lag"))*time.Second
		add(s.String(), s.Describe(), s.Never(), s.DistinctMinutes(), s.Equal(s.Schedule))
		for _, c := range []schedule.Circumstances{{}, {NameSeconds: true}, {From: from, StartingDeadlineSeconds: &deadline, WakeUpLag: lag}} {
			for _, f := range s.Lint(c) {
				add(f.String())
			}
		}

		until := from.Add(time.Duration(rapid.Int64Range(-1, 1e16).Draw(t, "length")))
		times := []time.Time{{}, from, until, s.Next(from), s.Prev(from), s.Next(until)}
		for _, at := range slices.Clone(times) {
			times = append(times, at.Add(-1), at.Add(1))
		}
		for _, at := range times {
			latest, ok := s.Latest(from, at)
			add(fmt.Sprint(s.Next(at), s.Prev(at), latest, ok, s.Count(from, at), s.Count(at, until)))
		}
		add(fmt.Sprint(slices.Collect(s.NextN(from, 3)), slices.Collect(s.PrevN(from, 3))))

		// One character is replaced: most of these schedules are refused.
		text, other := []byte(s.String()), rapid.SampledFrom([]byte("0123456789*,-/?@ LWa#")).Draw(t, "other")
		text[rapid.IntRange(0, len(text)-1).Draw(t, "place")] = other
		wrong, err := schedule.Parse(string(text), schedule.WithLocation(time.UTC))
		add(fmt.Sprint(err))
		if err == nil {
			add(wrong.String(), fmt.Sprint(wrong.Next(from)))
		}
	})
}
