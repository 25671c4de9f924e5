package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/examples/explain/read"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
)

// cronLook is everything that is known about one CronJob.
type cronLook struct {
	words
	cron     *read.CronJob
	spec     *cronjob.Spec
	status   *cronjob.Status
	children []cronjob.Child
	snapshot cronjob.Snapshot
	plan     cronjob.Plan
	// theirs is the plan of Kubernetes 1.36, quirks included.
	theirs cronjob.Plan
	// theirSnapshot is what that plan was made from.
	theirSnapshot cronjob.Snapshot
	events        []read.Event
	closing       time.Time
	out           Explanation
}

func (e *Explainer) cronJob(c *read.CronJob) Explanation {
	l := &cronLook{words: e.words, cron: c, events: e.objects.Events[c.UID], closing: e.objects.Closing[c.Namespace]}
	object := c.Object
	if c.IsManifest && object.CreationTimestamp.IsZero() {
		object.CreationTimestamp = e.options.At
	}
	for _, j := range e.children[c.UID] {
		l.children = append(l.children, cronjob.ChildOf(&object, &j.Object, j.Controller().UID, j.Annotations))
	}
	l.snapshot = cronjob.Snapshot{
		CronJob: object, Children: l.children, Now: e.options.At, Schedule: cronjob.Compile(&object), Consistent: true,
	}
	l.theirSnapshot = l.snapshot
	l.theirSnapshot.Schedule, l.theirSnapshot.Options = cronjob.Compile(&object, schedule.Kubernetes136()), cronjob.Kubernetes136()
	l.spec, l.status = &l.snapshot.CronJob.Spec, &l.snapshot.CronJob.Status
	l.out = Explanation{Kind: "CronJob", Namespace: c.Namespace, Name: c.Name, UID: c.UID, Source: c.At.String()}
	if c.IsManifest {
		l.out.UID = ""
	}
	if err := l.decide(); err != nil {
		l.out.State, l.out.Summary = Broken, sentence("the planner cannot use the object: "+err.Error())
		l.find(Error, "BrokenObject", "%v", err)
		return l.out
	}
	l.explainSchedule()
	l.describe()
	l.explainNext()
	l.findSpec()
	l.findMissed()
	l.findHeld()
	l.findDifference()
	l.findHistory()
	l.findEvents()
	if e.options.Timeline {
		l.out.Timeline = l.timeline()
	}
	if e.options.Plan {
		l.out.Plan = l.plan.String()
	}
	if e.options.For > 0 {
		l.out.Forecast = l.forecast(e.options.For)
		if l.out.Timeline != nil {
			l.out.Timeline.addForecast(l.out.Forecast)
		}
	}
	return l.out
}

func (l *cronLook) decide() (err error) {
	if l.plan, err = cronjob.Reconcile(l.snapshot); err != nil {
		return err
	}
	l.theirs, err = cronjob.Reconcile(l.theirSnapshot)
	return err
}

func (l *cronLook) fact(topic, format string, args ...any) {
	l.out.Facts = append(l.out.Facts, Fact{Topic: topic, Text: sentence(fmt.Sprintf(format, args...))})
}

func (l *cronLook) find(s Severity, code, format string, args ...any) {
	l.out.Findings = append(l.out.Findings, Finding{Severity: s, Code: code, Text: sentence(fmt.Sprintf(format, args...))})
}

func (l *cronLook) isSuspended() bool { return l.spec.Suspend != nil && *l.spec.Suspend }

// describe says the state in a sentence.
func (l *cronLook) describe() {
	l.out.State, l.out.Summary = l.state()
	l.out.Summary = sentence(l.out.Summary)
}

func (l *cronLook) state() (State, string) {
	switch {
	case !l.snapshot.CronJob.DeletionTimestamp.IsZero():
		return Deleting, "being deleted: no run starts any more"
	case l.snapshot.Schedule.Problem != "":
		return Broken, fmt.Sprintf("no run starts: %s (%s)", l.snapshot.Schedule.Message, l.snapshot.Schedule.Problem)
	case l.isSuspended():
		return Suspended, "suspended: no run starts; " + l.ifResumed()
	}
	sentence := fmt.Sprintf("runs %s (%s)", l.out.Schedule.Sentence, l.out.Schedule.Zone)
	for _, w := range l.plan.Waits {
		if w.Reason == cronjob.WaitActive || w.Reason == cronjob.WaitNameTaken {
			return Held, sentence + ": the run of " + l.moment(w.Run) + " is due and does not start"
		}
	}
	if last := l.lastRun(); last != "" {
		sentence += "; the last run, " + last
	}
	return Scheduled, sentence + "; " + l.nextRun()
}

// lastRun says what became of the latest run that has come due.
func (l *cronLook) lastRun() string {
	if len(l.out.Schedule.Last) == 0 {
		return ""
	}
	r := l.out.Schedule.Last[0]
	return l.moment(r.At) + ": " + strings.TrimSuffix(lower(r.Text), ".")
}

func lower(text string) string { return strings.ToLower(text[:1]) + text[1:] }

func (l *cronLook) nextRun() string {
	if l.plan.NextRun.IsZero() {
		return "no further run is going to come"
	}
	return "the next run is due " + l.at(l.plan.NextRun) + l.inZone(l.plan.NextRun)
}

// inZone adds the wall clock of the schedule's zone.
func (l *cronLook) inZone(t time.Time) string {
	zone := l.snapshot.Schedule.Schedule.Location()
	if zone == time.UTC || zone.String() == "UTC" {
		return ""
	}
	return t.In(zone).Format(", 15:04 MST")
}

// moment names a run, with its day unless it is today.
func (l *cronLook) moment(t time.Time) string {
	if t.UTC().Format(time.DateOnly) == l.now.UTC().Format(time.DateOnly) {
		return t.UTC().Format("15:04")
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// ifResumed says what would happen if spec.suspend became false now.
func (l *cronLook) ifResumed() string {
	s := l.snapshot
	resumed := false
	s.CronJob.Spec.Suspend = &resumed
	plan, err := cronjob.Reconcile(s)
	if err != nil {
		return ""
	}
	switch {
	case len(plan.Create) > 0 && plan.Missed.Count > 0:
		return fmt.Sprintf("%s have come due since %s, and if it were resumed now, the run of %s would start at once and the other %d never",
			count(int64(plan.Missed.Count+1), "run"), l.base(), l.moment(plan.Create[0].ScheduledTime), plan.Missed.Count)
	case len(plan.Create) > 0:
		return fmt.Sprintf("1 run has come due since %s, and if it were resumed now, the run of %s would start at once", l.base(), l.moment(plan.Create[0].ScheduledTime))
	case plan.Missed.Count > 0:
		return fmt.Sprintf("%s have come due since %s and would not start any more", count(int64(plan.Missed.Count), "run"), l.base())
	}
	return "no run has come due since " + l.base()
}

// childOf returns the job of a run, or nil.
func (l *cronLook) childOf(run time.Time) *cronjob.Child {
	name := cronjob.JobName(l.cron.Name, run)
	for i := range l.children {
		if c := &l.children[i]; c.Name == name || !c.Foreign && c.ScheduledTime.Equal(run) {
			return c
		}
	}
	return nil
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
