package conformance

import (
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
)

// scriptRules are the rules of validation and defaults.
var scriptRules = []rule[*script.Script]{
	{"J1", func(s *script.Script) bool {
		if s.Job == nil {
			return false
		}
		given := specOf[job.Spec](s.Job)
		job.Default(&given)
		return text(given) != text(specOf[job.Spec](s.Job))
	}},
	{"J2 refused", func(s *script.Script) bool { return s.Job != nil && validate(release.Newest(), s) != nil }},
	{"J2 taken", func(s *script.Script) bool { return s.Job != nil && validate(release.Newest(), s) == nil }},
	{"C1 refused", func(s *script.Script) bool { return s.CronJob != nil && validate(release.Newest(), s) != nil }},
	{"C1 taken", func(s *script.Script) bool { return s.CronJob != nil && validate(release.Newest(), s) == nil }},
	{"S1 fields", func(s *script.Script) bool { return startsWith(s, "") }},
	{"S1 descriptor", func(s *script.Script) bool { return startsWith(s, "@") && !startsWith(s, "@every") }},
	{"S1 @every", func(s *script.Script) bool { return startsWith(s, "@every") }},
}

func startsWith(s *script.Script, prefix string) bool {
	return s.CronJob != nil && validate(release.Newest(), s) == nil && strings.HasPrefix(s.CronJob.Schedule, prefix)
}

// cronRound is a round of a CronJob, and its result.
type cronRound struct {
	*cronjob.Snapshot
	plan       *cronjob.Plan
	outcome    cronjob.Outcome
	settlement cronjob.Settlement
	end        cronjob.Conclusion
	// rescheduled is true if the round before had another schedule.
	rescheduled bool
}

func newCronRound(s *cronjob.Snapshot, p *cronjob.Plan, o cronjob.Outcome) *cronRound {
	settlement := p.Settle(o.Writes)
	return &cronRound{s, p, o, settlement, settlement.Conclude(o.Settled), false}
}

// cronRules are the rules of CronJobs and their schedules.
var cronRules = []rule[*cronRound]{
	{"C1 foreign child", func(r *cronRound) bool {
		return slices.ContainsFunc(r.Children, func(c cronjob.Child) bool { return c.Foreign })
	}},
	{"C2 successful", func(r *cronRound) bool { return r.deletes(cronjobreason.DeleteSuccessful) }},
	{"C2 failed", func(r *cronRound) bool { return r.deletes(cronjobreason.DeleteFailed) }},
	{"C3", func(r *cronRound) bool { return r.reports("UnexpectedJob") }},
	{"C4 finished", func(r *cronRound) bool { return r.reports("SawCompletedJob") }},
	{"C4 succeeded", func(r *cronRound) bool {
		return r.settlement.Status.LastSuccessfulTime.After(r.CronJob.Status.LastSuccessfulTime)
	}},
	{"C5", func(r *cronRound) bool { return r.reports("MissingJob") }},
	{"C6 suspended", func(r *cronRound) bool { return r.waits(cronjobreason.WaitSuspended) }},
	{"C6 deleted", func(r *cronRound) bool { return r.waits(cronjobreason.WaitDeleted) }},
	{"C7 due", func(r *cronRound) bool { return r.createsFor(cronjobreason.CreateDue) }},
	{"C7 latest", func(r *cronRound) bool { return r.createsFor(cronjobreason.CreateLatest) }},
	{"C7 later", func(r *cronRound) bool { return r.waits(cronjobreason.WaitNextRun) }},
	{"C8", func(r *cronRound) bool { return r.reports("TooManyMissedTimes") }},
	{"C9", func(r *cronRound) bool { return r.plan.Missed.TooLate }},
	{"C10", func(r *cronRound) bool { return r.hasStarted() }},
	{"C11", func(r *cronRound) bool { return r.reports("JobAlreadyActive") }},
	{"C12", func(r *cronRound) bool { return r.deletes(cronjobreason.DeleteReplaced) }},
	{"C12 failed", func(r *cronRound) bool {
		return r.deletes(cronjobreason.DeleteReplaced) && !r.plan.MayCreate(r.outcome.Writes)
	}},
	{"C13", func(r *cronRound) bool { return r.created(cronjobreason.ResultDone) }},
	{"C13 annotated", func(r *cronRound) bool {
		return slices.ContainsFunc(r.plan.Create,
			func(c cronjob.Creation) bool { return len(c.Annotations) > 1 && len(c.Labels) > 0 })
	}},
	{"C14 created", func(r *cronRound) bool { return r.created(cronjobreason.ResultDone) }},
	{"C14 ours", func(r *cronRound) bool { return r.created(cronjobreason.ResultAlreadyExists) }},
	{"C14 taken", func(r *cronRound) bool { return r.created(cronjobreason.ResultNameTaken) }},
	{"C14 failed", func(r *cronRound) bool { return r.created(cronjobreason.ResultUnsuccessful) }},
	{"C15 written", func(r *cronRound) bool { return r.settlement.Write }},
	{"C15 unchanged", func(r *cronRound) bool { return !r.settlement.Write }},
	{"C16", func(r *cronRound) bool { return len(r.end.Metrics.CreationSkews) > 0 }},
	{"C17", func(r *cronRound) bool { return r.rescheduled }},

	{"S2 both days", func(r *cronRound) bool { return r.created(cronjobreason.ResultDone) && r.restrictsDays() == 2 }},
	{"S2 one", func(r *cronRound) bool { return r.created(cronjobreason.ResultDone) && r.restrictsDays() == 1 }},
	{"S3", func(r *cronRound) bool { return r.Schedule.Schedule.Never() }},
	{"S4 gap", func(r *cronRound) bool { return r.turns() > 0 }},
	{"S4 overlap", func(r *cronRound) bool { return r.turns() < 0 }},
	{"S5", func(r *cronRound) bool {
		return r.created(cronjobreason.ResultDone) && r.Schedule.Zone != "" && r.Schedule.Zone != "Etc/UTC"
	}},
}

// hasStarted reports whether the latest run up to now is the recorded one, and the round does not
// start it again (C10).
func (r *cronRound) hasStarted() bool {
	last := r.CronJob.Status.LastScheduleTime
	if last.IsZero() || last.After(r.Now) {
		return false
	}
	return len(r.plan.Create) == 0 && r.Schedule.Schedule.Next(last).After(r.Now)
}

// restrictsDays returns how many of the two fields of days are restricted.
func (r *cronRound) restrictsDays() (n int) {
	fields := strings.Fields(r.Schedule.Source)
	if len(fields) != 5 {
		return 0
	}
	for _, i := range [...]int{2, 4} {
		if fields[i] != "*" {
			n++
		}
	}
	return n
}

// turns returns by how much the zone's offset has grown since the last run, if the round starts a
// run. It is not 0 if daylight saving time has begun or ended.
func (r *cronRound) turns() time.Duration {
	last := r.CronJob.Status.LastScheduleTime
	if last.IsZero() || !r.created(cronjobreason.ResultDone) {
		return 0
	}
	zone := r.Schedule.Schedule.Location()
	_, before := last.In(zone).Zone()
	_, after := r.Now.In(zone).Zone()
	return time.Duration(after - before)
}

func (r *cronRound) deletes(reason cronjobreason.Delete) bool {
	return slices.ContainsFunc(r.plan.Delete, func(d cronjob.Deletion) bool { return d.Reason == reason })
}

func (r *cronRound) createsFor(reason cronjobreason.Create) bool {
	return slices.ContainsFunc(r.plan.Create, func(c cronjob.Creation) bool { return c.Reason == reason })
}

func (r *cronRound) created(result cronjobreason.Result) bool {
	return slices.ContainsFunc(r.outcome.Created, func(e cronjob.Effect) bool { return e.Result == result })
}

func (r *cronRound) waits(reason cronjobreason.Wait) bool {
	return slices.ContainsFunc(r.plan.Waits, func(w cronjob.Wait) bool { return w.Reason == reason })
}

func (r *cronRound) reports(reason string) bool {
	return slices.ContainsFunc(r.end.Events, func(e job.Event) bool { return e.Reason == reason })
}
