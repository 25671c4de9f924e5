package job

import (
	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// Conclusion is what is left of a round when its writes are over.
type Conclusion struct {
	// Outcome is what became of the plan's writes.
	Outcome Outcome
	// Status is the last status that was written, or the snapshot's if none was.
	Status Status
	// Synced is true when the round planned the job, as job_syncs_total counts it. It is
	// false if the job has ended or is not ours, or if the snapshot is stale.
	Synced bool
	// Memory goes into the next snapshot of the job.
	Memory Memory
	// Events are all events of the round, including the plan's (J41).
	Events  []Event
	Metrics Metrics
	// Requeue is when to plan again although nothing happened. It is the plan's, or sooner if
	// the next round builds on what this one has written (L9). "At once" is the time of the
	// snapshot.
	Requeue Requeue
	// Retry is true when a write failed or was not tried, and so exactly when
	// jobapply.Executor.Apply returns an error: plan again soon, after
	// backoff.Retry().Delay of the failures in a row (J43).
	Retry bool
}

// Conclude returns what to remember, to report and to do next. It is the chain of
// [Plan.Record], [Recording.Settle] and [Settlement.Conclude] in one step, for writes
// that are over.
func (p *Plan) Conclude(o Outcome) Conclusion {
	recording := p.Record(o.Writes)
	settlement := recording.Settle(o.Recorded, o.Untracked)
	return settlement.Conclude(o.Settled)
}

// Conclude returns what to remember, to report and to do next. The argument is what
// became of writing the status; without a status to write, it does not matter.
func (s *Settlement) Conclude(settled Result) (c Conclusion) {
	r, p := &s.recording, s.recording.plan
	if p == nil {
		p = new(Plan)
		r = &Recording{plan: p}
	}
	if !s.Write {
		settled = ResultNotTried
	}
	o := Outcome{Writes: r.writes, Recorded: s.recorded, Untracked: s.untracked, Settled: settled}
	recorded := r.isWritten(s.recorded)
	complete := recorded && (!s.Write || settled == ResultDone)
	final := &p.basis.Status
	switch {
	case complete:
		final = &s.Status
	case recorded:
		final = &r.Status
	}
	// A pod that was to be adopted and is gone changes the plan: there is nothing to repeat.
	gone := !p.hasClaimed(&r.writes) && r.writes.Claimed == ResultGone
	retry := !gone && (!complete || p.hasUnfinished(&o, r))
	c.Outcome, c.Status, c.Synced, c.Retry = o, *final, p.basis.Action != "", retry
	c.Memory = p.remember(&o, r, recorded, final)
	c.Events = p.report(&o, &r.Status, final)
	c.Metrics = p.metrics(&o, r, recorded, final, retry)
	c.Requeue = p.again(&o, r, retry)
	return c
}

// hasUnfinished reports whether any write except the status writes is to be repeated.
// A refused creation is not.
func (p *Plan) hasUnfinished(o *Outcome, r *Recording) bool {
	for i := range p.Delete {
		if !value.At(o.Deleted, i).Result.isDone() {
			return true
		}
	}
	for i := range p.Create {
		if result := value.At(o.Created, i).Result; result != ResultDone && result != ResultRefused {
			return true
		}
	}
	for i := range r.Untrack {
		if !value.At(o.Untracked, i).isDone() {
			return true
		}
	}
	return false
}

// remember makes the next memory (B5).
func (p *Plan) remember(o *Outcome, r *Recording, recorded bool, final *Status) Memory {
	b := &p.basis
	if b.JobUID == "" {
		return b.Memory // the job is not ours (J3, J5)
	}
	ended := b.Status.finished() != "" || b.Memory.Finished || final.finished() != ""
	m := Memory{
		JobUID:  b.JobUID,
		Backoff: b.Memory.Backoff,
		rest: remembered{
			Untimed:  b.Untimed,
			Ignored:  b.Memory.rest.Ignored,
			Handled:  p.handled(o, r, recorded),
			Reported: p.reportedNext(o, r, recorded, final),
		},
	}
	if !b.Consistent {
		m.Expectations = p.expect(o)
		m.Untracking = p.untracking(o, r)
		m.Written = b.Memory.Written
		m.Finished = ended && b.Status.finished() == ""
	}
	if recorded && !b.isStopped() {
		if r.Write || !b.Quirks.Has(jobquirk.EarlierFailure) {
			// The pods behind the record are in the uncounted lists now and will not
			// count as new again.
			m.Backoff = b.Backoff
		}
		m.rest.Ignored = clamp32(int64(b.Memory.rest.Ignored) + int64(b.newlyIgnored(r.Untrack)))
	}
	if ended {
		m.Backoff, m.rest.Untimed = backoff.Record{}, nil // a job that has ended needs no delay
	}
	return m
}

// expect returns the writes that the next snapshot may not show yet (E1, E3). A
// write that failed is not expected (E2), nor is the deletion of a pod that was
// gone already. The deletions that end a job are not expected either: they go
// ahead whatever is still to be seen, and must not replace the record of that.
func (p *Plan) expect(o *Outcome) expectations.Counts {
	next := expectations.Counts{At: p.basis.Now}
	if !p.Verdict.decided() {
		for i := range p.Delete {
			if value.At(o.Deleted, i).Result == ResultDone {
				next.Deletions++
			}
		}
	}
	next.Creations = p.Expected(o.Created)
	switch {
	case next.Creations+next.Deletions > 0:
		return next
	case p.basis.Satisfied:
		return expectations.Counts{}
	}
	return p.basis.Memory.Expectations
}

// untracking returns the removals of finalizers that the next snapshot may not
// show yet (E4).
func (p *Plan) untracking(o *Outcome, r *Recording) expectations.UIDs {
	var uids []UID
	for i := range r.Untrack {
		if value.At(o.Untracked, i).isDone() {
			uids = append(uids, r.Untrack[i].UID)
		}
	}
	for i := range p.Delete {
		if p.Delete[i].UntrackFirst && value.At(o.Deleted, i).Result.isDone() {
			uids = append(uids, p.Delete[i].UID)
		}
	}
	if uids == nil {
		return p.basis.Untracking
	}
	return p.basis.Untracking.With(uids...)
}

// report makes the events of the round (J41). What did not happen is not
// reported: a condition counts once it is written.
func (p *Plan) report(o *Outcome, recorded, final *Status) []Event {
	var events []Event
	if n := len(p.Events) + len(p.Delete) + len(p.Create); n > 0 {
		events = append(make([]Event, 0, n+2), p.Events...) // the plan's own list is not appended to
	}
	add := func(t EventType, reason, message string) {
		events = append(events, Event{Type: t, Reason: reason, Message: message})
	}
	wrote := func(t EventType, reason, message string) {
		events = append(events, Event{Type: t, Reason: reason, Message: message, PodWrite: true})
	}
	for i := range p.Delete {
		switch e := value.At(o.Deleted, i); e.Result {
		case ResultDone:
			wrote(EventNormal, "SuccessfulDelete", "Deleted pod: "+p.Delete[i].Name)
		case ResultUnsuccessful:
			wrote(EventWarning, "FailedDelete", "Error deleting: "+e.Error)
		}
	}
	for i := range p.Create {
		switch e := value.At(o.Created, i); e.Result {
		case ResultDone:
			wrote(EventNormal, "SuccessfulCreate", "Created pod: "+e.Pod.Name)
		case ResultUnsuccessful:
			wrote(EventWarning, "FailedCreate", "Error creating: "+e.Error)
		}
	}
	if b := &p.basis; b.Quirks.Has(jobquirk.EarlyEvents) {
		reportSuspension(&b.Status, recorded, add)
	} else {
		reportSuspension(&b.Status, final, add)
	}
	p.reportEnd(final, add)
	return events
}

func reportSuspension(before, after *Status, add func(t EventType, reason, message string)) {
	was, is := before.find(ConditionSuspended), after.find(ConditionSuspended)
	switch {
	case is == was, is != nil && was != nil && equalCondition(*is, *was):
	case is != nil && is.Status == ConditionTrue:
		add(EventNormal, "Suspended", "Job suspended")
	default:
		add(EventNormal, "Resumed", "Job resumed")
	}
}

func (p *Plan) reportEnd(final *Status, add func(t EventType, reason, message string)) {
	b := &p.basis
	turned := func(t ConditionType) bool {
		return final.isTrue(t) && !b.Status.isTrue(t)
	}
	if turned(ConditionComplete) {
		if b.Completions != nil && final.Succeeded > *b.Completions {
			add(EventWarning, "TooManySucceededPods", "Too many succeeded pods running after completion count reached")
		}
		add(EventNormal, "Completed", "Job completed")
	}
	if turned(ConditionFailed) {
		c := final.Condition(ConditionFailed)
		add(EventWarning, c.Reason, c.Message)
	}
}
