package job

import (
	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
)

// remember returns the next memory (B5). Argument before holds the figures that the metrics of
// earlier rounds have reported. Argument after holds the figures of the final status.
func (a *aftermath) remember(before, after *reported) Memory {
	c := &a.Carried
	if a.Facts.JobUID == "" {
		return c.Memory // the job is not ours (J3, J5)
	}

	hadEnded := a.Facts.Status.finished() != ""
	ended := hadEnded || c.Memory.Finished || a.final.finished() != ""
	m := Memory{
		JobUID:  a.Facts.JobUID,
		Backoff: c.Memory.Backoff,
		rest: remembered{
			Untimed:  c.Untimed,
			Ignored:  c.Memory.rest.Ignored,
			Handled:  a.handled(),
			Reported: a.reportedNext(before, after),
		},
	}

	if !a.Facts.Consistent {
		m.Expectations = a.expect()
		m.Untracking = a.untracking()
		m.Written = max(c.Memory.Written, a.outcome.Recorded.version(), a.outcome.Settled.version())
		m.Finished = ended && !hadEnded
	}

	if a.recorded && !a.isStopped() {
		if a.toRecord || !a.Facts.Quirks.Has(jobquirk.EarlierFailure) {
			// The failures in the backoff record are in the uncounted lists now, and will not look
			// new again.
			m.Backoff = c.Backoff
		}
		m.rest.Ignored = clamp32(int64(c.Memory.rest.Ignored) + int64(newlyIgnored(a.untrack, &c.Memory)))
	}

	switch {
	case hadEnded, ended && !a.Facts.Quirks.Has(jobquirk.UnseenEnd):
		m.Backoff, m.rest.Untimed = backoff.Record{}, nil // a job that has ended needs no delay
	}
	return m
}

// expect returns the writes that the next snapshot may not show yet (E1, E3). It leaves out writes
// that failed (E2), and deletions of pods that were gone already. The deletions that end a job are
// not expected either: they do not wait for earlier writes to be seen, and must not replace the
// record of these earlier writes.
func (a *aftermath) expect() expectations.Counts {
	next := expectations.Counts{At: a.Facts.Now}

	if !a.plan.Verdict.decided() {
		for i := range a.plan.Delete {
			if value.At(a.outcome.Deleted, i).Result == jobreason.ResultDone {
				next.Deletions++
			}
		}
	}

	next.Creations = a.plan.Expected(a.outcome.Created)
	switch {
	case next.Creations+next.Deletions > 0:
		return next
	case a.Carried.Satisfied:
		return expectations.Counts{}
	}
	return a.Carried.Memory.Expectations
}

// untracking returns the removals of finalizers that the next snapshot may not
// show yet (E4).
func (a *aftermath) untracking() expectations.UIDs {
	var uids []UID
	for i := range a.untrack {
		if isDone(value.At(a.outcome.Untracked, i).Result) {
			uids = append(uids, a.untrack[i].UID)
		}
	}

	for i := range a.plan.Delete {
		if d := &a.plan.Delete[i]; d.UntrackFirst && isDone(value.At(a.outcome.Deleted, i).Result) {
			uids = append(uids, d.UID)
		}
	}

	if uids == nil {
		return a.Carried.Untracking
	}
	return a.Carried.Untracking.With(uids...)
}

// handled returns the pods that the podFailurePolicy ignores and that still have their finalizer.
func (a *aftermath) handled() expectations.UIDs {
	var kept, gone []UID
	for i := range a.untrack {
		u := &a.untrack[i]
		switch {
		case u.As != jobreason.NotCounted:
		case isDone(value.At(a.outcome.Untracked, i).Result):
			gone = append(gone, u.UID)
		case a.recorded && u.Policy != "":
			kept = append(kept, u.UID)
		}
	}
	return a.Carried.Handled.With(kept...).Without(gone...)
}

// newlyIgnored counts the pods that the podFailurePolicy ignores for the first time.
func newlyIgnored(untrack []Untracking, memory *Memory) (n int32) {
	for i := range untrack {
		if untrack[i].Policy == IgnoreFailure && !memory.rest.Handled.Has(untrack[i].UID) {
			n++
		}
	}
	return n
}
