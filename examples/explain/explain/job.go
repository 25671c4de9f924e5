package explain

import (
	"fmt"
	"time"

	"github.com/batchplan/batchplan/examples/explain/read"
	"github.com/batchplan/batchplan/job"
)

// look is everything that is known about one Job.
type look struct {
	words
	job      *read.Job
	spec     *job.Spec
	status   *job.Status
	pods     []*read.Pod
	snapshot job.Snapshot
	found    job.Inspection
	plan     job.Plan
	// after is the status once the plan is carried out.
	after  job.Status
	events []read.Event
	// closing is since when the namespace is being deleted.
	closing time.Time
	// changed is the latest time at which anything about the Job is known to have changed.
	changed time.Time
	out     Explanation
}

// snapshotOf is what a controller would plan from. What it holds in memory is inferred from
// the pods that still exist.
func (e *Explainer) snapshotOf(j *read.Job) job.Snapshot {
	s := job.Snapshot{Job: j.Object, Now: e.options.At, Options: job.Kubernetes136(), Consistent: true}
	if j.IsManifest && s.Job.CreationTimestamp.IsZero() {
		s.Job.CreationTimestamp = e.options.At
	}
	for _, p := range e.pods[j.UID] {
		pod := p.Object
		pod.Owner = job.OwnerOf(&s.Job, p.Controller().UID, p.Labels)
		s.Pods = append(s.Pods, pod)
	}
	s.Memory = job.Memory{JobUID: s.Job.UID, Backoff: job.InferBackoff(s)}
	return s
}

// job explains one Job.
func (e *Explainer) job(j *read.Job) Explanation {
	l := &look{
		words: e.words, job: j, pods: e.pods[j.UID], snapshot: e.snapshotOf(j),
		events: e.objects.Events[j.UID], closing: e.objects.Closing[j.Namespace],
	}
	l.spec, l.status = &l.snapshot.Job.Spec, &l.snapshot.Job.Status
	l.out = Explanation{Kind: "Job", Namespace: j.Namespace, Name: j.Name, UID: j.UID, Source: j.At.String()}
	if j.IsManifest {
		l.out.UID = ""
	}
	if err := l.decide(); err != nil {
		l.out.State, l.out.Summary = Broken, sentence("the planner cannot use the object: "+err.Error())
		l.find(Error, "BrokenObject", "%v", err)
		return l.out
	}
	l.changed = l.lastChange()
	l.describe()
	l.explainNext()
	l.explainLimits()
	l.explainPolicy()
	l.explainFailures()
	l.findSpec()
	l.findProgress()
	l.findPods()
	l.findCounters()
	l.findEvents()
	l.listPods(e.options.PodsFrom, e.options.Pods)
	if e.options.Timeline {
		l.out.Timeline = l.timeline()
	}
	if e.options.Plan {
		l.out.Plan = l.plan.String()
	}
	if e.options.For > 0 {
		l.out.Forecast = e.forecastJob(l)
		if l.out.Timeline != nil {
			l.out.Timeline.addForecast(l.out.Forecast)
		}
	}
	return l.out
}

// decide asks the planner, and supposes that all writes of the plan succeed.
func (l *look) decide() (err error) {
	if l.plan, err = job.Reconcile(l.snapshot); err != nil {
		return err
	}
	if l.found, err = job.Inspect(l.snapshot); err != nil {
		return err
	}
	l.after = l.plan.Conclude(allDone(&l.plan)).Status
	return nil
}

// allDone is the outcome of a plan whose writes all succeed.
func allDone(plan *job.Plan) job.Outcome {
	o := job.Outcome{Recorded: job.ResultDone, Settled: job.ResultDone}
	o.Claimed = job.ResultDone
	for range plan.Delete {
		o.Deleted = append(o.Deleted, job.Effect{Result: job.ResultDone})
	}
	for i := range plan.Create {
		ref := job.PodRef{Name: plan.Create[i].NamePrefix, UID: job.UID(fmt.Sprintf("new %d", i))}
		o.Created = append(o.Created, job.Effect{Result: job.ResultDone, Pod: ref})
	}
	recording := plan.Record(o.Writes)
	for range recording.Untrack {
		o.Untracked = append(o.Untracked, job.ResultDone)
	}
	return o
}

func (l *look) fact(topic, format string, args ...any) {
	l.out.Facts = append(l.out.Facts, Fact{Topic: topic, Text: sentence(fmt.Sprintf(format, args...))})
}

func (l *look) infer(topic, format string, args ...any) {
	l.out.Facts = append(l.out.Facts, Fact{Topic: topic, Text: sentence(fmt.Sprintf(format, args...)), Inferred: true})
}

func (l *look) find(s Severity, code, format string, args ...any) {
	l.out.Findings = append(l.out.Findings, Finding{Severity: s, Code: code, Text: sentence(fmt.Sprintf(format, args...))})
}

// lastChange is the latest time at which the Job or one of its pods is known to have
// changed.
func (l *look) lastChange() (last time.Time) {
	see := func(t time.Time) {
		if t.After(last) && !t.After(l.now) {
			last = t
		}
	}
	see(l.snapshot.Job.CreationTimestamp)
	see(l.status.StartTime)
	for _, c := range l.status.Conditions {
		see(c.LastTransitionTime)
	}
	for i, p := range l.pods {
		see(p.CreationTimestamp)
		see(l.found.Pods[i].FinishTime)
		if d := p.Object.Deletion; d != nil {
			see(d.Timestamp.Add(-time.Duration(d.GracePeriodSeconds) * time.Second))
		}
	}
	return last
}

func (l *look) created() time.Time { return l.snapshot.Job.CreationTimestamp }

func (l *look) isSuspended() bool { return l.spec.Suspend != nil && *l.spec.Suspend }

func (l *look) isIndexed() bool { return l.spec.CompletionMode == job.Indexed }

// start is when the Job started, or when it was created.
func (l *look) start() time.Time {
	if !l.status.StartTime.IsZero() {
		return l.status.StartTime
	}
	return l.created()
}
