package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// lookAtCron runs the planner twice: once with the default options, and once with the options of
// Kubernetes 1.37.
func (e *Explainer) lookAtCron(c *read.CronJob) (l *cronLook, err error) {
	object := c.Object
	if c.IsManifest && object.CreationTimestamp.IsZero() {
		object.CreationTimestamp = e.options.At
	}

	l = &cronLook{
		words:    e.words,
		cron:     c,
		events:   e.objects.EventsOf("CronJob", &c.Meta),
		closing:  e.objects.Closing[c.Namespace],
		jobs:     make(map[job.UID]*read.Job),
		jobsRead: len(e.objects.Jobs) > 0 || e.objects.Complete["jobs"] || c.IsManifest,
		podsRead: len(e.objects.Pods) > 0 || e.objects.Complete["pods"],
		lookOf:   e.remembered(),
		e:        e,
	}

	for _, j := range e.children[c.UID] {
		child := cronjob.ChildOf(&object, &j.Object, j.Controller().UID, j.Annotations)
		child.Misnamed = child.Foreign == (j.Controller().Name == c.Name)
		l.children = append(l.children, child)
		l.jobs[j.UID] = j
	}
	if !l.jobsRead { // the status names the active Jobs
		for _, ref := range object.Status.Active {
			l.children = append(l.children, cronjob.Child{
				Name:              ref.Name,
				UID:               ref.UID,
				CreationTimestamp: object.Status.LastScheduleTime,
				StartTime:         object.Status.LastScheduleTime,
			})
		}
	}

	l.snapshot = cronjob.Snapshot{
		CronJob: object, Children: l.children, Now: e.options.At, Schedule: cronjob.Compile(&object), Consistent: true,
	}

	l.theirSnapshot = l.snapshot
	l.theirSnapshot.Schedule = cronjob.Compile(&object, schedule.Kubernetes(release.Newest()))
	l.theirSnapshot.Options = cronjob.Kubernetes(release.Newest())
	l.spec, l.status = &l.snapshot.CronJob.Spec, &l.snapshot.CronJob.Status

	if l.plan, err = cronjob.Reconcile(l.snapshot); err != nil {
		return l, err
	}
	l.theirs, err = cronjob.Reconcile(l.theirSnapshot)
	return l, err
}

// remembered returns a function that looks at a Job once. It returns nil if there is no Job, or if the
// planner refuses it.
func (e *Explainer) remembered() func(*read.Job) *look {
	seen := make(map[*read.Job]*look)
	return func(j *read.Job) *look {
		l, ok := seen[j]
		if !ok && j != nil {
			var err error
			if l, err = e.lookAt(j); err != nil {
				l = nil
			}
			seen[j] = l
		}
		return l
	}
}

// troubleOf returns the worst finding about a Job, or nil if there are no errors and no warnings. That a
// Job is suspended counts as trouble.
func (l *cronLook) troubleOf(j *read.Job) *Finding {
	k := l.lookOf(j)
	if k == nil {
		return nil
	}
	f := worst(k.findings(k.podTroubles()))
	if f != nil && (f.Severity != Note || f.Code == "Suspended") {
		return f
	}
	return nil
}

func (e *Explainer) cronJob(c *read.CronJob) Explanation {
	out := Explanation{Kind: "CronJob", Namespace: c.Namespace, Name: c.Name, UID: c.UID, Source: c.At.String()}
	if c.IsManifest {
		out.UID = ""
		if is, exists := e.existingOf("CronJob", &c.Meta).(*read.CronJob); exists && len(c.Refused) == 0 {
			if over, ok := e.cronJobOver(c, is); ok {
				return over
			}
		}
	}

	l, err := e.lookAtCron(c)
	if err != nil && len(c.Refused) > 0 {
		return refused(out, l.specFindings())
	}
	if err != nil {
		return broken(out, err,
			inspect("look at the object", kubectl(c.Namespace, "get", "cronjob", c.Name, "-o", "yaml")))
	}

	out.Schedule = l.schedule()
	out.Findings = l.findings()
	out.State, out.Summary = l.state(out.Schedule, out.Findings)
	out.Summary = sentence(out.Summary)
	isRead, isWrong := l.jobsRead && l.podsRead && !c.IsManifest, IsWrong(out.Findings) || hasDoubts(out.Findings)
	for _, child := range l.active() {
		isWrong = isWrong || l.troubleOf(l.jobs[child.UID]) != nil
	}
	if out.State == Scheduled && isRead && !isWrong {
		out.Summary += cmp.Or(l.unexplained(), nothingWrong)
	}
	out.Next = l.next()
	out.Facts = l.facts()

	if e.options.Timeline {
		out.Timeline = l.timeline(out.Schedule)
	}
	if e.options.Plan {
		out.Plan = l.plan.String()
	}
	if e.options.For > 0 {
		out.Forecast = l.forecast(e.options.For)
		if out.Timeline != nil {
			out.Timeline.addForecast(out.Forecast)
		}
	}
	return out
}

// state returns the state in a word and in a sentence. The word agrees with the findings.
func (l *cronLook) state(s *Schedule, findings []Finding) (State, string) {
	switch {
	case !l.snapshot.CronJob.DeletionTimestamp.IsZero():
		return Deleting, "being deleted: no run starts any more"
	case l.snapshot.Schedule.Problem != 0:
		if l.snapshot.Schedule.Problem == cronjobreason.ProblemUnknownTimeZone {
			return Broken, fmt.Sprintf("no run of %q starts: the time zone %q cannot be used (%s)", l.spec.Schedule,
				*l.spec.TimeZone, l.snapshot.Schedule.Problem)
		}
		return Broken, fmt.Sprintf("no run starts: schedule %q cannot be used (%s)", l.spec.Schedule,
			l.snapshot.Schedule.Problem)
	case len(l.cron.Refused) > 0:
		return Broken, fmt.Sprintf("a manifest that a server would refuse: %s (%s)", runs(s.Sentence), s.Zone)
	case l.isSuspended():
		return Suspended, "suspended: no run starts; " + l.ifResumed()
	}

	sentence := fmt.Sprintf("%s (%s)", runs(s.Sentence), s.Zone)
	for _, w := range l.plan.Waits {
		if w.Reason == cronjobreason.WaitActive || w.Reason == cronjobreason.WaitNameTaken {
			return Held, sentence + ": the run of " + l.moment(w.Run) + " is due and does not start"
		}
	}

	if strings.HasPrefix(s.Sentence, "never") {
		return Broken, sentence
	}
	if name := l.staleHolder(); name != "" && len(l.plan.Create) > 0 {
		return Held, fmt.Sprintf("%s: the run of %s is due and does not start as long as status.active names Job %s",
			sentence, l.moment(l.plan.Create[0].ScheduledTime), name)
	}

	if last := l.lastRun(s); last != "" {
		sentence += "; the last run, " + last
	}
	sentence += "; " + l.nextRun()

	if f := worst(findings); f != nil && f.Severity == Error {
		if f.Code == "RunsFail" || f.Code == "ReplaceKills" || f.Code == "NoSuccess" {
			return Failing, sentence
		}
		if f.Code == "UnknownField" || f.Code == "InvalidSpec" {
			return Broken, sentence
		}
		return Held, sentence
	}
	return Scheduled, sentence
}

// lastRun returns the outcome of the latest run that was due.
func (l *cronLook) lastRun(s *Schedule) string {
	if len(s.Last) == 0 {
		return ""
	}
	r := s.Last[0]
	local := ""
	if at := r.At.In(l.snapshot.Schedule.Schedule.Location()); at.Format("-0700") != "+0000" {
		local = at.Format(" (15:04 MST)")
	}
	return l.moment(r.At) + local + ": " + strings.TrimSuffix(lower(r.Text), ".")
}

func (l *cronLook) nextRun() string {
	if l.plan.NextRun.IsZero() {
		return "no further run is going to come"
	}
	return "the next run is due " + l.at(l.plan.NextRun) + l.inZone(l.plan.NextRun)
}

// ifResumed describes what would happen if spec.suspend became false now.
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
		return fmt.Sprintf("%s have come due since %s, and if it were resumed now, the run of %s would start "+
			"immediately and the other %d never",
			count(int64(plan.Missed.Count+1), "run"), l.base(), l.moment(plan.Create[0].ScheduledTime),
			plan.Missed.Count)
	case len(plan.Create) > 0:
		return fmt.Sprintf("1 run has come due since %s, and if it were resumed now, the run of %s would start "+
			"immediately", l.base(), l.moment(plan.Create[0].ScheduledTime))
	case plan.Missed.Count > 0:
		return fmt.Sprintf("%s have come due since %s and would not start any more",
			count(int64(plan.Missed.Count), "run"), l.base())
	}
	return "no run has come due since " + l.base()
}
