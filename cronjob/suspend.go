package cronjob

import (
	"fmt"
	"strings"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// noRuns returns the reason why no run of the schedule can start (C6): the CronJob is being deleted
// or suspended, or has no schedule that ever runs. It returns zero if runs can start.
func noRuns(s *Snapshot) cronjobreason.Wait {
	c, compiled := &s.CronJob, &s.Schedule
	switch {
	case c.isDeleted():
		return cronjobreason.WaitDeleted
	case compiled.Problem == cronjobreason.ProblemUnknownTimeZone:
		return cronjobreason.WaitNoSchedule
	case c.isSuspended():
		return cronjobreason.WaitSuspended
	case compiled.Problem != 0:
		return cronjobreason.WaitNoSchedule
	case compiled.Schedule.Never() && !s.Options.Quirks.Has(cronjobquirk.Estimate):
		// A schedule that never has a run gets here only without quirk Estimate. With the quirk,
		// estimateDue decides, because Kubernetes may find a run.
		return cronjobreason.WaitNever
	}
	return 0
}

// aboutSchedule returns the events about problems of the schedule. There are none if the CronJob is
// deleted or suspended.
func aboutSchedule(s *Snapshot, why cronjobreason.Wait) (events []job.Event) {
	switch why {
	case cronjobreason.WaitDeleted, cronjobreason.WaitSuspended:
		return nil
	}

	compiled, text := &s.Schedule, s.CronJob.Spec.Schedule
	if compiled.Problem != cronjobreason.ProblemUnknownTimeZone && namesZone(text) {
		// A zone in the schedule overrides timeZone. Current API servers refuse such a schedule.
		events = append(events, event(job.EventWarning, "UnsupportedSchedule", fmt.Sprintf(
			"CRON_TZ or TZ used in schedule %q is not officially supported, see "+
				"https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details", text)))
	}

	switch why {
	case cronjobreason.WaitNoSchedule:
		message := compiled.Message
		if compiled.Problem == cronjobreason.ProblemUnknownTimeZone {
			message += "; correct the name"
			if strings.Contains(message, "unknown time zone") {
				// The machine may lack a correct name: old names such as CET moved to a package of
				// their own.
				message += ", or give the controller the zones of time/tzdata by importing it"
			}
		}
		events = append(events, event(job.EventWarning, compiled.Problem.String(), message))
	case cronjobreason.WaitNever:
		events = append(events,
			event(job.EventWarning, "InvalidSchedule", "invalid schedule: "+text+" : it never runs"))
	}
	return events
}
