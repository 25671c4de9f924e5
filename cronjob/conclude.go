package cronjob

import (
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// Conclusion is the result of a round after its writes: what to remember, report and retry. It stays
// valid when its plan is gone. It may share memory with the outcome that was passed in and with the
// snapshot: do not write to its lists.
type Conclusion struct {
	// Outcome holds the results of the plan's reads and writes.
	Outcome Outcome `json:"outcome"`
	// Status is the status of the Settlement or, if the status write failed or was not tried, the
	// status of the snapshot.
	Status Status `json:"status"`
	// Memory goes into the next snapshot of the CronJob.
	Memory Memory `json:"memory"`
	// Events are all events of the round: the plan's, unless the writes have made them untrue, and
	// those about the writes.
	Events []job.Event `json:"events,omitempty"`
	// Metrics are what the round adds to the metrics of a controller.
	Metrics Metrics `json:"metrics"`
	// Triggered lists the IDs of completed triggers: remove them from the next snapshot.
	Triggered []string `json:"triggered,omitempty"`
	// Backfills are the backfills that made progress in this round. Before the next round, store
	// each of them in place of the backfill with its ID. If it is complete, remove that backfill
	// instead.
	Backfills []Backfill `json:"backfills,omitempty"`
	// Requeue is the time of the next round, by default the plan's Requeue. It is now if more can
	// be done immediately, and soon if something waits for a snapshot with the controller's own
	// writes (CI15). If the next round follows immediately, plan it from Status: a cache may still
	// show the old status.
	Requeue Requeue `json:"requeue,omitzero"`
	// Retry is true if a read or a write failed or was not tried. In exactly these cases,
	// cronjobapply.Executor.Apply returns an error. Plan again after backoff.Retry().Delay, for the
	// number of failures in a row.
	Retry bool `json:"retry,omitempty"`
	// Unstarted are the runs that will not start any more, by reason. Each run is in the conclusion
	// of only one round, as long as the memory is kept.
	Unstarted []Unstarted `json:"unstarted,omitempty"`
}

// Metrics are a round's contributions to the metrics of a CronJob controller.
type Metrics struct {
	// Created is the number of jobs created.
	Created int `json:"created,omitempty"`
	// CreationSkews holds, for each created job of the schedule, the time from its run to its
	// creation: cronjob_controller_job_creation_skew_duration_seconds (C16). Other jobs have none.
	CreationSkews []time.Duration `json:"creationSkews,omitempty"`
	// Unstarted is the number of runs in Conclusion.Unstarted, to be added to a counter.
	Unstarted int `json:"unstarted,omitempty"`
}

// Conclude returns what to remember, report and retry. It is [Plan.Settle] and
// [Settlement.Conclude] in one step, for a plan that was executed elsewhere.
func (p *Plan) Conclude(o Outcome) Conclusion {
	settlement := p.Settle(o.Writes)
	return settlement.Conclude(o.Settled)
}

// Conclude returns what to remember, report and retry. Argument written is the result of writing
// the status; it is ignored if there was no status to write.
func (s *Settlement) Conclude(written Reply) Conclusion {
	p, w := s.plan, &s.writes
	if p == nil {
		p = new(Plan)
	}
	if !s.Write {
		written = Reply{}
	}
	wrote := written.Result == cronjobreason.ResultDone
	settled := wrote || !s.Write

	end := Conclusion{
		Outcome: Outcome{Writes: s.writes, Settled: written},
		Status:  p.basis.Before,
		Memory:  Memory{kept: p.remember(s, settled, wrote)},
		Retry:   !settled || p.hasUnfinished(w),
	}
	end.Unstarted = p.unstarted(w)
	end.Events = p.report(w, end.Unstarted[len(p.Unstarted):])
	end.Metrics = p.metrics(w, end.Unstarted)

	if !settled {
		end.Requeue = p.again(w, false, s.Write)
		return end
	}

	end.Status = s.Status
	end.Triggered = p.triggered(w)
	end.Backfills = p.backfills(w)
	moved := s.Write || len(end.Triggered)+len(end.Backfills) > 0 || p.hasLearned(w, &end.Memory.kept)
	end.Requeue = p.again(w, moved, s.Write)
	return end
}

// hasLearned reports whether the new memory can change the decisions of the next round. Either its
// field Since has moved past some runs, or jobs that a run waited for are gone or being deleted. A
// job that was perhaps created does not count, because its creation may fail each time (M9).
func (p *Plan) hasLearned(w *Writes, m *memory) bool {
	for range p.foundGone(w) {
		return true
	}

	// With quirk Stale, the next round deletes the same jobs again.
	if p.basis.Consistent || !p.basis.Quirks.Has(cronjobquirk.Stale) {
		for d := range p.removed(w) {
			if d.Foreground {
				return true
			}
		}
	}
	return m.Since.After(p.basis.Since)
}

// hasUnfinished reports whether a read or a write other than the status write must be repeated. A
// creation that was refused, or whose name is taken, is repeated only with Kubernetes' quirks.
func (p *Plan) hasUnfinished(w *Writes) bool {
	for i := range p.Verify {
		switch value.At(w.Verified, i).Result {
		case cronjobreason.ResultDone, cronjobreason.ResultGone:
		default:
			return true
		}
	}

	for i := range p.Delete {
		if !isDeleted(value.At(w.Deleted, i).Result) && !p.isEager(&p.Delete[i]) {
			return true
		}
	}

	for i := range p.Create {
		isRepeated := false
		switch value.At(w.Created, i).Result {
		case cronjobreason.ResultNotTried, cronjobreason.ResultUnsuccessful:
			isRepeated = true
		case cronjobreason.ResultRefused:
			isRepeated = p.basis.Quirks.Has(cronjobquirk.BlindCreate)
		case cronjobreason.ResultAlreadyExists, cronjobreason.ResultNameTaken:
			isRepeated = p.basis.Quirks.Has(cronjobquirk.NoNamespace)
		}
		if isRepeated {
			return true
		}
	}
	return false
}

// isEager reports whether the history limits caused a deletion and cronjobquirk.EagerHistory is
// set. Such a deletion comes before everything else, and is not repeated if it fails.
func (p *Plan) isEager(d *Deletion) bool {
	switch d.Reason {
	case cronjobreason.DeleteSuccessful, cronjobreason.DeleteFailed:
		return p.basis.Quirks.Has(cronjobquirk.EagerHistory)
	}
	return false
}

// again returns the time of the next round. It is earlier than the plan's time in three cases:
//
//   - The plan has left something to the next round (Unfinished).
//   - A run waits for active jobs, and now there is room for it.
//   - A newer snapshot is needed.
//
// The next round is immediate only if moved is true, that is, if the next snapshot or memory
// differs. Otherwise there would be a hot loop (M9).
func (p *Plan) again(w *Writes, moved, wrote bool) Requeue {
	// Quirk: if the name is taken, Kubernetes does not plan another round.
	isLeft := func(e Effect) bool { return e.Result == cronjobreason.ResultNameTaken }
	if p.basis.Quirks.Has(cronjobquirk.BlindCreate) && slices.ContainsFunc(w.Created, isLeft) {
		return Requeue{}
	}

	switch {
	case !moved:
	case p.basis.Unfinished:
		return Requeue{At: p.basis.Now, Reason: p.Requeue.Reason}
	case p.isFree(w):
		return Requeue{At: p.basis.Now, Reason: cronjobreason.WaitVerify}
	case p.basis.Blocked && p.madeRoom(w):
		return Requeue{At: p.basis.Now, Reason: cronjobreason.WaitActive}
	}

	look := p.basis.Look
	if p.basis.Unshown && !wrote {
		look = sooner(look, lookAgain(p.basis.Now, p.basis.Memory.Behind))
	}
	if at := sooner(p.Requeue.At, look); !at.Equal(p.Requeue.At) {
		return Requeue{At: at, Reason: cronjobreason.WaitStale}
	}
	return p.Requeue
}

// isFree reports whether a run waits for active jobs, and one of them is gone.
func (p *Plan) isFree(w *Writes) bool {
	isGone := func(r Reply) bool { return r.Result == cronjobreason.ResultGone }
	return p.basis.Blocked && slices.ContainsFunc(w.Verified, isGone)
}

// madeRoom reports whether fewer jobs are active than the plan counted: a job was replaced, or a
// creation was refused or its name was taken.
func (p *Plan) madeRoom(w *Writes) bool {
	for d := range p.removed(w) {
		if d.Reason == cronjobreason.DeleteReplaced {
			return true
		}
	}
	for i := range p.Create {
		switch value.At(w.Created, i).Result {
		case cronjobreason.ResultNameTaken, cronjobreason.ResultRefused:
			return true
		}
	}
	return false
}

// report returns the events of the round.
func (p *Plan) report(w *Writes, unstarted []Unstarted) []job.Event {
	events := slices.Concat(p.current(w),
		unstartedEvents(unstarted, p.Missed.TooLate, p.basis.Quirks, p.basis.Child))
	child := p.basis.Child.String()
	add := func(t job.EventType, reason, message string) { events = append(events, event(t, reason, message)) }

	wasActive := memberOf(p.basis.Status.Active, len(p.Verify))
	for ref := range p.foundGone(w) {
		if wasActive(ref.UID, ref.Name) {
			add(job.EventNormal, "MissingJob", activeMissing(p.basis.Child, ref.Name))
		}
	}

	for i := range p.Delete {
		switch e := value.At(w.Deleted, i); e.Result {
		case cronjobreason.ResultDone:
			add(job.EventNormal, "SuccessfulDelete", "Deleted "+child+" "+p.Delete[i].Name)
		case cronjobreason.ResultUnsuccessful:
			add(job.EventWarning, "FailedDelete", "Deleted "+child+": "+e.Error)
		}
	}

	for i := range p.Create {
		switch e := value.At(w.Created, i); e.Result {
		case cronjobreason.ResultDone:
			add(job.EventNormal, "SuccessfulCreate", "Created "+child+" "+p.Create[i].Name)
		case cronjobreason.ResultUnsuccessful:
			if e.Error != "" {
				add(job.EventWarning, "FailedCreate", "Error creating "+child+": "+e.Error)
			}
		case cronjobreason.ResultNameTaken:
			events = appendTaken(events, p.basis.Quirks, p.basis.Child, p.Create[i].Name)
		}
	}
	return events
}

// current returns the plan's events that are still true after the writes.
func (p *Plan) current(w *Writes) []job.Event {
	free := p.isFree(w) // the next round follows immediately and starts the run
	if !free && !p.basis.Quirks.Has(cronjobquirk.EagerHistory) {
		return p.Events
	}

	// Quirk: Kubernetes deletes finished jobs before it checks the active list, so it does not
	// report that these jobs have ended.
	unseen := map[string]bool{}
	for d := range p.removed(w) {
		if p.isEager(d) {
			unseen[sawCompleted(p.basis.Child, d.Name)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(p.Events), func(e job.Event) bool {
		if e.Reason == "JobAlreadyActive" {
			return free
		}
		saw, _, _ := strings.Cut(e.Message, ",")
		return unseen[saw]
	})
}

// metrics counts the created jobs (C16) and the runs that will not start.
func (p *Plan) metrics(w *Writes, unstarted []Unstarted) (m Metrics) {
	for i := range p.Create {
		c, e := &p.Create[i], value.At(w.Created, i)
		if e.Result != cronjobreason.ResultDone {
			continue
		}
		m.Created++
		if c.isScheduled() && !e.CreationTimestamp.IsZero() {
			m.CreationSkews = append(m.CreationSkews, e.CreationTimestamp.Sub(c.ScheduledTime))
		}
	}

	for i := range unstarted {
		m.Unstarted += unstarted[i].Count
	}
	return m
}

// triggered returns the IDs of the completed triggers.
func (p *Plan) triggered(w *Writes) []string {
	ids := slices.Clone(p.Triggered)
	for i := range p.Create {
		if id := p.Create[i].Trigger; id != "" && isSettled(value.At(w.Created, i).Result) {
			ids = append(ids, id)
		}
	}
	return ids
}

// unstarted returns the runs that the plan gives up. It adds the runs that cannot start because of
// the results of the writes: a name is taken, or a job that was perhaps created does not exist.
func (p *Plan) unstarted(w *Writes) []Unstarted {
	all := slices.Clip(p.Unstarted)
	for i := range p.Create {
		if c := &p.Create[i]; c.isPassed(value.At(w.Created, i).Result) {
			all = append(all, Unstarted{cronjobreason.UnstartedNameTaken, 1, c.ScheduledTime})
		}
	}

	why := cronjobreason.UnstartedForLater
	if p.Missed.TooLate {
		why = cronjobreason.UnstartedTooLate
	}

	gone := p.lostNames(w, cronjobreason.ResultGone)
	for i := range p.basis.Memory.Started {
		if s := &p.basis.Memory.Started[i]; gone[s.Name] && s.isAccountedLost(p.basis.Memory.Accounted) {
			all = append(all, Unstarted{why, 1, s.ScheduledTime})
		}
	}
	return all
}
