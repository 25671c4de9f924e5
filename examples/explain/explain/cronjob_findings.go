package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/schedule"
)

// findSpec reports what the API server would refuse, and what the schedule holds ready.
func (l *cronLook) findSpec() {
	if l.snapshot.Schedule.Problem != "" {
		l.find(Error, "NoSchedule", "no run starts: %s", l.snapshot.Schedule.Message)
	} else if err := l.snapshot.CronJob.Validate(); err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			l.find(Error, "InvalidSpec", "an API server refuses the CronJob: %s", line)
		}
	}
	if l.spec.TimeZone == nil && l.snapshot.Schedule.Problem == "" {
		l.fact("zone", "timeZone is not set: the zone of the kube-controller-manager counts, taken to be UTC here")
	}
	for _, n := range l.plan.Notes {
		l.find(Warning, "Contradiction", "%s %s: %s", strings.TrimPrefix(n.Field, "cronJob."), n.Value, n.Message)
	}
	if l.snapshot.Schedule.Problem != "" {
		return
	}
	for _, f := range l.snapshot.Schedule.Schedule.Lint(schedule.Circumstances{
		From: l.now, StartingDeadlineSeconds: l.spec.StartingDeadlineSeconds, WakeUpLag: 10 * time.Second,
	}) {
		l.find(Warning, string(f.Kind), "%s", f.Message)
	}
}

// findMissed reports runs that will not start any more.
func (l *cronLook) findMissed() {
	m := l.plan.Missed
	if m.Count == 0 {
		return
	}
	var runs []string
	for _, r := range m.Runs {
		runs = append(runs, l.moment(r))
	}
	why := "a later run takes their place" + l.heldBy(m.Runs[0])
	if m.TooLate {
		why = l.whyTooLate()
	}
	l.find(Warning, "RunsMissed", "%s since %s did not start and will not start any more, the latest first: %s: %s",
		count(int64(m.Count), "run"), l.base(), list(runs), why)
}

func (l *cronLook) whyTooLate() string {
	why := "they were not started in time"
	if d := l.spec.StartingDeadlineSeconds; d != nil {
		why = fmt.Sprintf("startingDeadlineSeconds, %d, passed before", *d)
	}
	if n := len(l.active()); n > 0 && l.spec.ConcurrencyPolicy == cronjob.Forbid {
		why += "; concurrencyPolicy is Forbid, and " + l.activeJobs()
	}
	return why
}

// findHeld reports a run that is due and does not start.
func (l *cronLook) findHeld() {
	if !l.closing.IsZero() {
		l.find(Error, "NamespaceEnds", "namespace %s is being deleted since %s: the API server refuses new Jobs", l.cron.Namespace, l.closing.UTC().Format("15:04:05"))
	}
	for _, w := range l.plan.Waits {
		switch w.Reason {
		case cronjob.WaitActive:
			l.find(Warning, "RunHeld", "the run of %s, due %s, does not start: concurrencyPolicy is Forbid, and %s", l.moment(w.Run), l.at(w.Run), l.activeJobs())
		case cronjob.WaitNameTaken:
			l.find(Error, "NameTaken", "the run of %s does not start: a Job of another owner has its name, %s", l.moment(w.Run), w.Name)
		}
	}
	for _, c := range l.plan.Create {
		if late := l.now.Sub(c.ScheduledTime); late > slack && !l.cron.IsManifest && len(l.theirs.Create) > 0 {
			l.find(Error, "ControllerBehind", "the run of %s was due %s and should have started at once: the controller does not run, or its writes are refused (quota, webhook, permissions)",
				l.moment(c.ScheduledTime), l.at(c.ScheduledTime))
			l.out.Findings[len(l.out.Findings)-1].Inferred = true
		}
	}
}

// findDifference reports that Kubernetes 1.36 decides otherwise than the schedule says.
func (l *cronLook) findDifference() {
	switch {
	case len(l.plan.Create) > 0 && len(l.theirs.Create) == 0:
		l.find(Error, "RunLost", "the run of %s is due, and Kubernetes 1.36 does not start it: it takes the distance between the first two missed runs for the distance of all, and this schedule is irregular; the next run, %s, starts again",
			l.moment(l.plan.Create[0].ScheduledTime), l.moment(l.plan.NextRun))
	case !l.plan.NextRun.Equal(l.theirs.NextRun) && l.theirs.NextRun.IsZero():
		l.find(Warning, "KubernetesDiffers", "the schedule runs next at %s, and Kubernetes 1.36 finds no run at all within five years", l.moment(l.plan.NextRun))
	case !l.plan.NextRun.Equal(l.theirs.NextRun):
		l.find(Warning, "KubernetesDiffers", "the schedule runs next at %s, and Kubernetes 1.36 runs it at %s", l.moment(l.plan.NextRun), l.moment(l.theirs.NextRun))
	}
}

// findHistory reports limits of the history that finished jobs pass at once.
func (l *cronLook) findHistory() {
	active := int64(len(l.active()))
	check := func(field string, limit *int32, how string) {
		if limit != nil && active > int64(*limit) && *limit > 0 {
			l.find(Warning, "HistoryTooShort", "%s is %d and %s active: if all of them %s, all but %d are deleted at once, logs included",
				field, *limit, count(active, "Job is", "Jobs are"), how, *limit)
		}
	}
	check("failedJobsHistoryLimit", l.spec.FailedJobsHistoryLimit, "fail")
	check("successfulJobsHistoryLimit", l.spec.SuccessfulJobsHistoryLimit, "succeed")
}

func (l *cronLook) findEvents() {
	for _, e := range lastWarnings(l.events) {
		switch e.Reason {
		case "FailedCreate", "FailedDelete", "FailedGet", "UnexpectedJob":
			l.find(Error, e.Reason, "the controller reported %s, last %s: %s", times(e.Count), l.at(e.Last), brief(e.Message))
		case "TooManyMissedTimes", "MissSchedule":
			l.find(Warning, e.Reason, "the controller reported %s, last %s: %s", times(e.Count), l.at(e.Last), brief(e.Message))
		}
	}
}
