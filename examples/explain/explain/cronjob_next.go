package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
)

// base names the moment since which runs count.
func (l *cronLook) base() string {
	if t := l.status.LastScheduleTime; !t.IsZero() {
		return "the last recorded run, " + l.moment(t)
	}
	return "its creation, " + l.moment(l.snapshot.CronJob.CreationTimestamp)
}

// explainNext says what the controller will do.
func (l *cronLook) explainNext() {
	for _, d := range l.plan.Delete {
		text, _, _ := strings.Cut(d.Reason.String(), " (C")
		l.next("Delete", time.Time{}, "the controller deletes Job %s now: %s", d.Name, text)
	}
	for _, c := range l.plan.Create {
		if len(l.theirs.Create) == 0 {
			l.next("Lost", time.Time{}, "Kubernetes 1.36 starts nothing now, although the run of %s is due; an exact controller would create Job %s", l.moment(c.ScheduledTime), c.Name)
			continue
		}
		text, _, _ := strings.Cut(c.Reason.String(), " (C")
		l.next("Create", time.Time{}, "the controller creates Job %s now, for the run of %s: %s", c.Name, l.moment(c.ScheduledTime), text)
	}
	for _, w := range l.plan.Waits {
		l.nextWait(&w)
	}
}

func (l *cronLook) next(reason string, at time.Time, format string, args ...any) {
	l.out.Next = append(l.out.Next, Step{At: at, Reason: reason, Text: sentence(fmt.Sprintf(format, args...))})
}

func (l *cronLook) nextWait(w *cronjob.Wait) {
	switch w.Reason {
	case cronjob.WaitNextRun:
		l.next("NextRun", w.Until.UTC(), "%s%s: the next run is due, as Job %s%s", l.at(w.Until), l.inZone(w.Until),
			cronjob.JobName(l.cron.Name, w.Until), l.overlap())
	case cronjob.WaitNever:
		l.next("Never", time.Time{}, "the schedule has no further run: no date matches %q", l.spec.Schedule)
	case cronjob.WaitActive:
		l.next("Active", time.Time{}, "the run of %s starts when %s ended: concurrencyPolicy is Forbid, and %s", l.moment(w.Run),
			verb(int64(w.Jobs), "the active Job has", "the active Jobs have"), l.activeJobs())
	case cronjob.WaitStartDeadline:
		l.next("StartDeadline", w.Until.UTC(), "%s: the run of %s is given up, since startingDeadlineSeconds is %d", l.at(w.Until), l.moment(w.Run), *l.spec.StartingDeadlineSeconds)
	case cronjob.WaitNameTaken:
		l.next("NameTaken", time.Time{}, "the run of %s never starts: Job %s exists and belongs to another owner", l.moment(w.Run), w.Name)
	case cronjob.WaitSuspended:
		l.next("Suspended", time.Time{}, "the controller starts no run as long as spec.suspend is true")
	case cronjob.WaitNoSchedule:
		l.next("NoSchedule", time.Time{}, "the controller starts no run until the schedule is mended")
	case cronjob.WaitClock:
		l.next("Clock", w.Run.UTC(), "the last recorded run, %s, lies in the future: no run starts before it has passed", l.moment(w.Run))
	case cronjob.WaitDeleted:
		l.next("Deleted", time.Time{}, "the controller starts no run, since the CronJob is being deleted")
	default:
		l.next("Wait", w.Until, "%s", w.String())
	}
}

// overlap says what active jobs mean for the next run.
func (l *cronLook) overlap() string {
	if len(l.active()) == 0 {
		return ""
	}
	switch l.spec.ConcurrencyPolicy {
	case cronjob.Forbid:
		return "; it does not start while " + l.activeJobs()
	case cronjob.Replace:
		return "; it replaces the active Jobs: " + l.activeJobs()
	}
	return ""
}

// active are the jobs of the CronJob that have not ended.
func (l *cronLook) active() (active []*cronjob.Child) {
	for i := range l.children {
		if c := &l.children[i]; !c.Foreign && c.Finished == "" {
			active = append(active, c)
		}
	}
	return active
}

func (l *cronLook) activeJobs() string {
	var names []string
	for _, c := range l.active() {
		since := c.StartTime
		if since.IsZero() {
			since = c.CreationTimestamp
		}
		names = append(names, fmt.Sprintf("%s is active for %s", c.Name, l.since(since)))
	}
	if len(names) == 0 {
		names = []string{fmt.Sprintf("%d of its Jobs are active by its status", len(l.status.Active))}
	}
	return list(names)
}
