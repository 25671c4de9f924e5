package cronjob

import (
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
)

// Conclusion is what is left of a round when its writes are over.
type Conclusion struct {
	// Memory goes into the next snapshot of the CronJob.
	Memory Memory
	// Events are all events of the round, those of the plan included.
	Events  []Event
	Metrics Metrics
	// Triggered are the triggers that need no more: take them out of the next snapshot.
	Triggered []string
	// Backfills are those that got on. Store each in the place of that with its ID
	// before the next round, and drop it if it is complete.
	Backfills []Backfill
	// Requeue is that of the plan, or at once when what happened has made room for
	// more.
	Requeue Requeue
	// Retry is true when a write failed or was not tried: plan again soon, with a
	// growing delay.
	Retry bool
}

// Metrics are the figures of a round behind the metrics of a CronJob controller.
type Metrics struct {
	// Created is the number of jobs created.
	Created int
	// CreationSkew is how long after its time the run of the schedule was created:
	// cronjob_controller_job_creation_skew_duration_seconds (C16).
	CreationSkew time.Duration
	// Missed is the number of runs that will not start any more, each counted in one
	// round alone: a counter can add it up.
	Missed int
}

// Conclude returns what to remember, report and retry. The outcome must hold all
// results.
func (p *Plan) Conclude(o Outcome) Conclusion {
	settlement := p.Settle(o)
	settled := !settlement.Write || o.Settled == Done
	end := Conclusion{
		Memory:  Memory{kept: p.remember(&o, &settlement, settled)},
		Events:  p.report(&o),
		Metrics: p.metrics(&o),
		Retry:   !settled || p.hasUnfinished(&o) || p.basis.Stale,
	}
	if settled {
		end.Triggered = p.triggered(&o)
		end.Backfills = p.backfills(&o)
	}
	moved := settlement.Write || len(end.Triggered)+len(end.Backfills) > 0 || p.hasLearned(&o, &end.Memory.kept)
	end.Requeue = p.again(&o, settled && moved)
	return end
}

// remember makes the next memory (B5).
func (p *Plan) remember(o *Outcome, s *Settlement, settled bool) memory {
	m := p.basis.Memory
	if s.Write && settled && s.Status.LastScheduleTime.After(m.Recorded) {
		m.Recorded = s.Status.LastScheduleTime
	}
	for i := range p.Create {
		if c := &p.Create[i]; c.Reason == CreateOldest && effectAt(o.Created, i).Result == NameTaken {
			m.Since = c.ScheduledTime // or the later runs would never get their turn
		}
	}
	m.Started, m.Replaced = p.remembered(o, settled), p.leaving(o)
	return m
}

// hasLearned reports whether the next round decides from another memory: runs were
// passed, or jobs that it waited for are gone or on their way out. One that was perhaps created does not
// count: its creation may fail each time (M9).
func (p *Plan) hasLearned(o *Outcome, m *memory) bool {
	for i := range p.Verify {
		if p.Verify[i].UID != "" && resultAt(o.Verified, i) == Gone {
			return true
		}
	}
	for i := range p.Delete {
		if p.Delete[i].Foreground && isDeleted(effectAt(o.Deleted, i).Result) {
			return true
		}
	}
	return m.Since.After(p.basis.Since)
}

// hasUnfinished reports whether something other than the status write is to be
// repeated. A refused creation, or one whose name is taken, is not; the reference
// fails on these.
func (p *Plan) hasUnfinished(o *Outcome) bool {
	for i := range p.Verify {
		if r := resultAt(o.Verified, i); r != Done && r != Gone {
			return true
		}
	}
	for i := range p.Delete {
		if !isDeleted(effectAt(o.Deleted, i).Result) && !p.isEager(i) {
			return true
		}
	}
	for i := range p.Create {
		r := effectAt(o.Created, i).Result
		if r == NotTried || r == Unsuccessful || r != Done && p.basis.Quirks.Has(cronjobquirk.BlindCreate) {
			return true
		}
	}
	return false
}

// isEager reports whether a deletion is one of the history with cronjobquirk.EagerHistory:
// before anything else, and not repeated if it fails.
func (p *Plan) isEager(i int) bool {
	reason := p.Delete[i].Reason
	return p.basis.Quirks.Has(cronjobquirk.EagerHistory) && (reason == DeleteSuccessful || reason == DeleteFailed)
}

// again brings the next round forward: when more is to do after the status was
// written or after the memory has passed a run that cannot start, and when what
// waits for active jobs has room now. Moved says that the next snapshot is another
// one, so there is no hot loop (M9).
func (p *Plan) again(o *Outcome, moved bool) Requeue {
	switch {
	case !moved:
		return p.Requeue
	case p.basis.Unfinished:
		return Requeue{At: p.basis.Now, Reason: p.Requeue.Reason}
	case p.basis.Blocked && slices.Contains(o.Verified, Gone):
		return Requeue{At: p.basis.Now, Reason: WaitVerify}
	case p.basis.Blocked && p.madeRoom(o):
		return Requeue{At: p.basis.Now, Reason: WaitActive}
	}
	return p.Requeue
}

// madeRoom reports whether fewer jobs are active than the plan counted: some were
// replaced, or a creation came to nothing.
func (p *Plan) madeRoom(o *Outcome) bool {
	for i := range p.Delete {
		if p.Delete[i].Reason == DeleteReplaced && isDeleted(effectAt(o.Deleted, i).Result) {
			return true
		}
	}
	for i := range p.Create {
		if r := effectAt(o.Created, i).Result; r == NameTaken || r == Refused {
			return true
		}
	}
	return false
}

// report makes the events of the round.
func (p *Plan) report(o *Outcome) []Event {
	events := slices.Clip(p.current(o))
	add := func(t job.EventType, reason, message string) {
		events = append(events, Event{Type: t, Reason: reason, Message: message})
	}
	wasActive := memberOf(p.basis.Status.Active, len(p.Verify))
	for i := range p.Verify {
		if r := &p.Verify[i]; r.UID != "" && resultAt(o.Verified, i) == Gone && wasActive(r.UID, r.Name) {
			add(job.Normal, "MissingJob", "Active job went missing: "+r.Name)
		}
	}
	for i := range p.Delete {
		switch e := effectAt(o.Deleted, i); e.Result {
		case Done:
			add(job.Normal, "SuccessfulDelete", "Deleted job "+p.Delete[i].Name)
		case Unsuccessful:
			add(job.Warning, "FailedDelete", "Deleted job: "+e.Error)
		}
	}
	for i := range p.Create {
		switch e := effectAt(o.Created, i); e.Result {
		case Done:
			add(job.Normal, "SuccessfulCreate", "Created job "+p.Create[i].Name)
		case Unsuccessful:
			add(job.Warning, "FailedCreate", "Error creating job: "+e.Error)
		}
	}
	return events
}

// current are the events of the plan that the outcome has not made untrue.
func (p *Plan) current(o *Outcome) []Event {
	// What seemed to run is gone: the next round, at once, starts the run.
	free := p.basis.Blocked && slices.Contains(o.Verified, Gone)
	// Quirk: what is deleted is not in the list any more when that is looked at.
	var unseen map[string]bool
	for i := range p.Delete {
		if p.isEager(i) && isDeleted(effectAt(o.Deleted, i).Result) {
			if unseen == nil {
				unseen = make(map[string]bool)
			}
			unseen[sawCompleted(p.Delete[i].Name)] = true
		}
	}
	if !free && unseen == nil {
		return p.Events
	}
	return slices.DeleteFunc(slices.Clone(p.Events), func(e Event) bool {
		saw, _, _ := strings.Cut(e.Message, ",")
		return free && e.Reason == "JobAlreadyActive" || unseen[saw]
	})
}

func (p *Plan) metrics(o *Outcome) Metrics {
	f := Metrics{Missed: p.basis.Missed}
	for i := range p.Create {
		e := effectAt(o.Created, i)
		if e.Result != Done {
			continue
		}
		f.Created++
		if c := &p.Create[i]; !e.CreationTimestamp.IsZero() && c.Trigger == "" && c.Backfill == "" {
			f.CreationSkew = e.CreationTimestamp.Sub(c.ScheduledTime)
		}
	}
	return f
}
