package job

import (
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobreason"
)

// Conclusion is the result of a round when its writes are over. It stays valid after the plan has
// become invalid. It may share memory with the outcome that was passed in and with the snapshot: do
// not write to its lists.
type Conclusion struct {
	// Outcome holds the results of the plan's writes.
	Outcome Outcome `json:"outcome"`
	// Status is the last status that was written, or the snapshot's if none was.
	Status Status `json:"status"`
	// Memory goes into the next snapshot of the job.
	Memory Memory `json:"memory"`
	// Events are all events of the round, including the plan's (J41).
	Events []Event `json:"events,omitempty"`
	// Metrics are what the round adds to the metrics of a controller (J42).
	Metrics Metrics `json:"metrics"`
	// Requeue is the time to plan again even if nothing happens. It is Plan.Requeue, or earlier if
	// the next round builds on the writes of this one (L9). The time of the snapshot means
	// immediately.
	Requeue Requeue `json:"requeue,omitzero"`
	// Retry is true when a write failed or was not tried. In exactly these cases,
	// jobapply.Executor.Apply returns an error. Plan again soon: after the delay of backoff.Retry()
	// for the number of failures in a row (J43).
	Retry bool `json:"retry,omitempty"`
}

// Conclude returns what to remember, to report and to do next. It calls [Plan.Record],
// [Recording.Settle] and [Settlement.Conclude] in one step, for writes that are over.
func (p *Plan) Conclude(o Outcome) Conclusion {
	if p.hasNoNews(&o) {
		return p.concludeUnchanged(&o)
	}

	recording := p.Record(o.Writes)
	settlement := recording.Settle(o.Recorded, o.Untracked)
	return settlement.Conclude(o.Settled)
}

// hasNoNews reports whether the round has nothing to write, to report or to count. Most rounds of a
// large cluster are like that.
func (p *Plan) hasNoNews(o *Outcome) bool {
	b := &p.basis
	known := &b.Carried.Memory.rest.Reported
	switch {
	case !b.Course.Idle,
		b.Course.Capped,
		len(p.Events)+len(o.Deleted)+len(o.Created) > 0,
		!b.Facts.Quirks.IsZero(),
		b.Carried.Memory.Finished:
		return false
	case !known.Known:
		return true
	}
	now := reportedOf(&b.Facts.Status)
	return known.equal(&now)
}

// concludeUnchanged concludes a round without news. Record, Settle and Conclude would give the same
// result.
func (p *Plan) concludeUnchanged(o *Outcome) Conclusion {
	f, c := &p.basis.Facts, &p.basis.Carried
	end := Conclusion{
		Outcome: Outcome{Writes: o.Writes, Untracked: o.Untracked},
		Status:  f.Status,
		Memory: Memory{JobUID: f.JobUID, Backoff: c.Backoff, rest: remembered{
			Untimed: c.Untimed, Ignored: c.Memory.rest.Ignored, Handled: c.Handled, Reported: p.basis.reported(),
		}},
		Metrics: Metrics{CompletionMode: NonIndexed, Action: p.basis.Course.Action, PerIndex: f.PerIndex},
		Requeue: p.Requeue,
	}

	if f.Indexed {
		end.Metrics.CompletionMode = Indexed
	}

	if !f.Consistent {
		end.Memory.Untracking, end.Memory.Written = c.Untracking, c.Memory.Written
		if !c.Satisfied {
			end.Memory.Expectations = c.Memory.Expectations
		}
	}

	end.Status.UncountedTerminatedPods = withoutRoom(f.Status.UncountedTerminatedPods)
	return end
}

// Conclude returns what to remember, to report and to do next. The argument is the result of
// writing the settlement's status. It is ignored if there was nothing to write.
func (s *Settlement) Conclude(settled Reply) (c Conclusion) {
	r, p := &s.recording, s.recording.plan
	if p == nil {
		p = new(Plan)
		r = &Recording{plan: p}
	}

	if !s.Write {
		settled = Reply{}
	}

	c.Outcome = Outcome{Writes: r.writes, Recorded: s.recorded, Untracked: s.untracked, Settled: settled}
	b := &p.basis
	a := aftermath{
		basis:    b,
		plan:     p,
		outcome:  &c.Outcome,
		untrack:  r.Untrack,
		toRecord: r.Write,
		recorded: r.isWritten(s.recorded),
		final:    &b.Facts.Status,
	}

	complete := a.recorded && (!s.Write || settled.Result == jobreason.ResultDone)
	switch {
	case complete:
		a.final = &s.Status
	case a.recorded:
		a.final = &r.Status
	}
	before, after := b.reported(), reportedOf(a.final)

	// If a pod to adopt is gone, the next plan does without it, so there is nothing to retry.
	gone := !hasClaimed(p, &r.writes) && r.writes.Claimed.Result == jobreason.ResultGone
	retry := !gone && (!complete || a.hasUnfinished())

	c.Status, c.Retry = *a.final, retry
	c.Status.UncountedTerminatedPods = withoutRoom(a.final.UncountedTerminatedPods)
	c.Memory = a.remember(&before, &after)
	c.Events = a.events(&r.Status)
	c.Metrics = a.metrics(&r.Status, retry, &before, &after)
	c.Requeue = a.requeue(retry)
	return c
}

// aftermath computes the conclusion of a round from the results of its writes.
type aftermath struct {
	*basis
	plan    *Plan
	outcome *Outcome
	// untrack are the finalizers that the recording asked to remove.
	untrack []Untracking
	// toRecord is true when the recording had a status to write. recorded is true when the status
	// holds everything that the recording asked for.
	toRecord, recorded bool
	// final is the last status that was written, or the snapshot's.
	final *Status
}

// hasUnfinished reports whether any write except the status writes must be retried. A refused
// creation is not retried.
func (a *aftermath) hasUnfinished() bool {
	for i := range a.plan.Delete {
		if !isDone(value.At(a.outcome.Deleted, i).Result) {
			return true
		}
	}

	for i := range a.plan.Create {
		switch value.At(a.outcome.Created, i).Result {
		case jobreason.ResultDone, jobreason.ResultRefused:
		default:
			return true
		}
	}

	return !isUntracked(a.untrack, a.outcome.Untracked)
}
