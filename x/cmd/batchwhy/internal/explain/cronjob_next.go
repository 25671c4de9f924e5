package explain

import (
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
)

// next returns what the controller will do.
func (l *cronLook) next() (all []Step) {
	if len(l.cron.Refused) > 0 {
		return nil // no server accepts the manifest
	}

	for _, d := range l.plan.Delete {
		all = append(all, step("Delete", time.Time{}, "the controller deletes Job %s now: %s", d.Name,
			withoutRule(d.Reason.String())))
	}

	for _, c := range l.plan.Create {
		switch why := withoutRule(c.Reason.String()); {
		case l.isLost():
			all = append(all, step("Lost", time.Time{},
				"Kubernetes 1.37 starts nothing now; an exact controller would create Job %s", c.Name))
		case refusal(l.events, l.now) != nil || !l.closing.IsZero():
			all = append(all, step("Create", time.Time{}, "the controller tries again and again to create Job %s, "+
				"for the run of %s, until the API server accepts it", c.Name, l.moment(c.ScheduledTime)))
		case l.staleHolder() != "":
			all = append(all, step("Create", time.Time{}, "the controller would create Job %s, for the run of %s, "+
				"once Job %s is off the list of active Jobs", c.Name, l.moment(c.ScheduledTime), l.staleHolder()))
		case len(l.lateFindings()) > 0:
			all = append(all, step("Create", time.Time{}, "the controller would create Job %s now, if it ran, for "+
				"the run of %s: %s", c.Name, l.moment(c.ScheduledTime), why))
		default:
			all = append(all, step("Create", time.Time{},
				"the controller creates Job %s now, for the run of %s: %s", c.Name, l.moment(c.ScheduledTime), why))
		}
	}

	for i := range l.plan.Waits {
		all = append(all, l.nextWait(&l.plan.Waits[i])...)
	}
	return all
}

func (l *cronLook) nextWait(w *cronjob.Wait) []Step {
	switch w.Reason {
	case cronjobreason.WaitNextRun:
		return steps("NextRun", w.Until, "%s%s: the next run is due, as Job %s%s", l.at(w.Until), l.inZone(w.Until),
			l.snapshot.Options.Naming.JobName(l.cron.Name, w.Until), l.overlap())
	case cronjobreason.WaitNever:
		return steps("Never", time.Time{}, "nothing will happen: no date matches %q", l.spec.Schedule)
	case cronjobreason.WaitActive:
		return steps("Active", time.Time{}, "the run of %s starts when %s ended", l.moment(w.Run),
			verb(int64(w.Jobs), "the active Job has", "the active Jobs have"))
	case cronjobreason.WaitStartDeadline:
		return steps("StartDeadline", w.Until, "%s: the run of %s is given up, since startingDeadlineSeconds is %d",
			l.at(w.Until), l.moment(w.Run), *l.spec.StartingDeadlineSeconds)
	case cronjobreason.WaitNameTaken:
		return steps("NameTaken", time.Time{}, "the run of %s does not start while Job %s exists", l.moment(w.Run),
			w.Name)
	case cronjobreason.WaitSuspended:
		return steps("Suspended", time.Time{}, "the controller starts no run as long as spec.suspend is true")
	case cronjobreason.WaitNoSchedule:
		return steps("NoSchedule", time.Time{}, "the controller starts no run until the schedule is valid")
	case cronjobreason.WaitClock:
		return steps("Clock", w.Run,
			"the last recorded run, %s, lies in the future: no run starts before it has passed", l.moment(w.Run))
	case cronjobreason.WaitDeleted:
		return steps("Deleted", time.Time{}, "the controller starts no run, since the CronJob is being deleted")
	}
	return steps("Wait", w.Until, "%s", w.String())
}

// overlap describes how active Jobs affect the next run.
func (l *cronLook) overlap() string {
	n := int64(len(l.holding()))
	if n == 0 {
		return ""
	}
	switch l.spec.ConcurrencyPolicy {
	case cronjob.Forbid:
		return "; it does not start while a Job is active"
	case cronjob.Replace:
		return "; it replaces " + count(n, "active Job") + ", which " + verb(n, "is", "are") + " deleted then"
	}
	return ""
}
