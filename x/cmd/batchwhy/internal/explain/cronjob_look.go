package explain

import (
	"fmt"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// cronLook is everything that is known about one CronJob. lookAtCron makes it, and nothing changes
// it after that.
type cronLook struct {
	words
	cron     *read.CronJob
	spec     *cronjob.Spec
	status   *cronjob.Status
	children []cronjob.Child
	snapshot cronjob.Snapshot
	plan     cronjob.Plan
	// theirs is the plan of Kubernetes 1.37, quirks included.
	theirs cronjob.Plan
	// theirSnapshot is the snapshot from which theirs is planned.
	theirSnapshot cronjob.Snapshot
	events        []read.Event
	closing       time.Time
	// jobsRead is false if the input has no Jobs.
	jobsRead bool
	// podsRead is false if the input has no pods.
	podsRead bool
	// jobs has the Jobs of the input by their UID.
	jobs map[job.UID]*read.Job
	// lookOf returns what is known about a Job, or nil.
	lookOf func(*read.Job) *look
	// e has the other objects of the input.
	e *Explainer
}

func (l *cronLook) isSuspended() bool { return l.spec.Suspend != nil && *l.spec.Suspend }

// isLost reports whether a run is due that Kubernetes 1.37 does not start.
func (l *cronLook) isLost() bool { return len(l.plan.Create) > 0 && len(l.theirs.Create) == 0 }

// inZone returns the time of day in the schedule's zone, to be written after the time in UTC.
func (l *cronLook) inZone(t time.Time) string {
	zone := l.snapshot.Schedule.Schedule.Location()
	if zone == time.UTC || zone.String() == "UTC" {
		return ""
	}
	return t.In(zone).Format(", 15:04 MST")
}

// moment returns the time of a run in UTC, with the date unless it is today.
func (l *cronLook) moment(t time.Time) string {
	if t.UTC().Format(time.DateOnly) == l.now.UTC().Format(time.DateOnly) {
		return t.UTC().Format("15:04")
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// childOf returns the Job of a run, or nil.
func (l *cronLook) childOf(run time.Time) *cronjob.Child {
	name := l.snapshot.Options.Naming.JobName(l.cron.Name, run)
	for i := range l.children {
		if c := &l.children[i]; c.Name == name || !c.Foreign && c.ScheduledTime.Equal(run) {
			return c
		}
	}
	return nil
}

// idles reports whether an active Job is known to do nothing: it is suspended, or no container that does
// the work has started.
func (l *cronLook) idles(c *cronjob.Child) bool {
	k := l.lookOf(l.jobs[c.UID])
	return k != nil && (k.isSuspended() || !k.hasBegun())
}

// runsSince returns the time at which a Job started, or else was created.
func runsSince(c *cronjob.Child) time.Time {
	if c.StartTime.IsZero() {
		return c.CreationTimestamp
	}
	return c.StartTime
}

func outcomeOf(c *cronjob.Child) string {
	switch c.Finished {
	case job.ConditionComplete:
		return "complete"
	case job.ConditionFailed:
		return "failed"
	}
	return "active"
}

// active returns the Jobs of the CronJob that have not ended.
func (l *cronLook) active() (active []*cronjob.Child) {
	for i := range l.children {
		if c := &l.children[i]; !c.Foreign && c.Finished == "" {
			active = append(active, c)
		}
	}
	return active
}

// holding returns the active Jobs that can hold back a run. It leaves out Jobs that were started by
// hand, unless the status names them.
func (l *cronLook) holding() []*cronjob.Child {
	return slices.DeleteFunc(l.active(), func(c *cronjob.Child) bool {
		isListed := slices.ContainsFunc(l.status.Active, func(r cronjob.Reference) bool { return r.UID == c.UID })
		return !isListed && l.isByHand(c)
	})
}

// isByHand reports whether a Job was created from the CronJob by hand, as kubectl create job --from
// does.
func (l *cronLook) isByHand(c *cronjob.Child) bool {
	j := l.jobs[c.UID]
	return j != nil && c.ScheduledTime.IsZero() && !c.Foreign
}

func (l *cronLook) activeJobs() string {
	var names []string
	for _, c := range l.holding() {
		names = append(names, fmt.Sprintf("%s is active for %s", c.Name, l.since(runsSince(c))))
	}
	if len(names) == 0 {
		n := len(l.status.Active)
		names = []string{fmt.Sprintf("%d of its Jobs %s active by its status", n, verb(int64(n), "is", "are"))}
	}
	return list(names)
}

// base describes the time after which the controller looks for due runs.
func (l *cronLook) base() string {
	if t := l.status.LastScheduleTime; !t.IsZero() {
		return "the last recorded run (" + l.moment(t) + ")"
	}
	return "its creation, " + l.moment(l.snapshot.CronJob.CreationTimestamp)
}

// staleHolder returns the name of a Job that does not exist and yet holds back runs under Forbid,
// because status.active names it. It returns "" if there is no such Job.
func (l *cronLook) staleHolder() string {
	switch {
	case !l.jobsRead, l.cron.IsManifest, l.spec.ConcurrencyPolicy != cronjob.Forbid:
		return ""
	case l.plan.Missed.Count == 0, l.isSuspended():
		return ""
	}

	for _, ref := range l.status.Active {
		if !slices.ContainsFunc(l.children, func(c cronjob.Child) bool { return c.UID == ref.UID }) {
			return ref.Name
		}
	}
	return ""
}

func (l *cronLook) ttl() *int32 {
	if l.cron.Jobs == nil {
		return nil
	}
	return l.cron.Jobs.TTLSecondsAfterFinished
}

func (l *cronLook) whyTooLate() string {
	why := "they were not started in time"
	if d := l.spec.StartingDeadlineSeconds; d != nil {
		why = fmt.Sprintf("startingDeadlineSeconds, %d, passed before", *d)
	}
	if n := len(l.holding()); n > 0 && l.spec.ConcurrencyPolicy == cronjob.Forbid {
		why += "; concurrencyPolicy is Forbid, and " + l.activeJobs()
	}
	return why
}

// heldBy says which Job was active when a run was due, so that the run was held back under Forbid.
func (l *cronLook) heldBy(run time.Time) string {
	if l.spec.ConcurrencyPolicy != cronjob.Forbid {
		return ""
	}
	for i := range l.children {
		c := &l.children[i]
		wasActive := c.CreationTimestamp.Before(run) && (c.Finished == "" || c.FinishTime.After(run))
		if !c.Foreign && !l.isByHand(c) && wasActive {
			return fmt.Sprintf(", since concurrencyPolicy is Forbid and %s was active", c.Name)
		}
	}
	return ""
}

// outcome describes how a run whose Job exists has ended, in a word and as a text.
func (l *cronLook) outcome(c *cronjob.Child) (outcome, text string) {
	if c.Foreign {
		return "taken", fmt.Sprintf("did not start: a Job of another owner has the name %s", c.Name)
	}

	since := runsSince(c)
	late := ""
	if d := c.CreationTimestamp.Sub(c.ScheduledTime); !c.ScheduledTime.IsZero() && d >= time.Minute {
		late = fmt.Sprintf(", started %s late", span(d))
	}

	switch outcomeOf(c) {
	case "complete":
		return "complete", fmt.Sprintf("succeeded after %s%s", span(c.FinishTime.Sub(since)), late)
	case "failed":
		return "failed", fmt.Sprintf("failed after %s%s", span(c.FinishTime.Sub(since)), late)
	}
	if k := l.lookOf(l.jobs[c.UID]); k != nil && k.isSuspended() {
		return "active", "suspended, and neither runs nor ends" + late
	}
	return "active", fmt.Sprintf("active for %s%s", l.since(since), late)
}
