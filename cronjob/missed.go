package cronjob

import "github.com/batchplan/batchplan/schedule"

// missed returns the runs after t.base that were due and will not start any more: those before the
// due run or, if no run is due, those past the deadline. due.go decides which run is due.
func missed(s schedule.Schedule, t *timing, b *buffers) Missed {
	after, until := t.base, t.due.Add(-1)
	if t.due.IsZero() {
		until = t.earliest
	}
	if t.quiet || !after.Before(until) {
		return Missed{}
	}
	latest, ok := s.Latest(after, until)
	if !ok {
		return Missed{}
	}

	b.runs = b.runs[:0]
	for run := latest; run.After(after) && len(b.runs) < maxMissedRuns; run = s.Prev(run) {
		b.runs = append(b.runs, run)
	}
	return Missed{Count: s.Count(after, until), Runs: b.runs, TooLate: t.due.IsZero()}
}
