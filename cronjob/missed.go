package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/schedule"
)

// missedSpan is a span (after, until] with at least one run, all of which were due and
// will not start any more.
type missedSpan struct{ after, until, latest time.Time }

// findMissed finds the runs before the run that is due, or, if the deadlines of all have
// passed, all of them.
func findMissed(s schedule.Schedule, t *timing) (span missedSpan, ok bool) {
	if t.quiet {
		return missedSpan{}, false
	}

	span = missedSpan{after: t.base, until: t.due.Add(-1)}
	if t.due.IsZero() {
		span.until = t.earliest
	}
	if !span.after.Before(span.until) {
		return missedSpan{}, false
	}
	span.latest, ok = s.Latest(span.after, span.until)
	return span, ok
}

// missed describes the runs between the last one handled and the one that is due.
func missed(s schedule.Schedule, t *timing, b *buffers) Missed {
	span, ok := findMissed(s, t)
	if !ok {
		return Missed{}
	}

	b.runs = latestRuns(b.runs[:0], s, span)
	return Missed{Count: s.Count(span.after, span.until), Runs: b.runs, TooLate: t.due.IsZero()}
}

// latestRuns appends the latest missed runs, newest first.
func latestRuns(runs []time.Time, s schedule.Schedule, span missedSpan) []time.Time {
	for run := span.latest; run.After(span.after) && len(runs) < maxMissedRuns; run = s.Prev(run) {
		runs = append(runs, run)
	}
	return runs
}
