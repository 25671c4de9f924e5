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
			l.find(Error, "NameTaken", "the run of %s does not start: its name, %s, is that of a Job of another owner", l.moment(w.Run), w.Name)
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
		l.find(Error, "RunLost", "the run of %s is due, and Kubernetes 1.36 does not start it: it takes the distance between the first two missed runs for that of all, and this schedule is irregular; the next run, %s, starts again",
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
