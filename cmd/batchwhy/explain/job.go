package explain

import (
	"fmt"
	"time"

	"github.com/batchplan/batchplan/cmd/batchwhy/read"
	"github.com/batchplan/batchplan/job"
)

// look is everything that is known about one Job. It is made once, by lookAt, and only read
// after that.
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
	// podEvents are the events about each pod.
	podEvents [][]read.Event
	// doing says of each pod whether it gets on with its work.
	doing []activity
	// closing is since when the namespace is being deleted.
	closing time.Time
	// changed is the latest time at which anything about the Job is known to have changed.
	changed time.Time
	// podsRead is false if the input has no pods, although the status counts some.
	podsRead  bool
	workload  read.Workload
	nodesLost map[string]time.Time
	// gone are failed or deleted pods that only events still name.
	gone []gonePod
	// nodeEvents returns the events about a node.
	nodeEvents func(node string) []read.Event
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

// lookAt asks the planner, and supposes that all writes of the plan succeed.
func (e *Explainer) lookAt(j *read.Job) (l *look, err error) {
	l = &look{
		words: e.words, job: j, pods: e.pods[j.UID], snapshot: e.snapshotOf(j),
		events: e.objects.EventsOf("Job", &j.Meta), closing: e.objects.Closing[j.Namespace],
		workload: e.objects.Workloads[j.UID], nodesLost: e.objects.NotReady,
		gone: e.goneOf(j), nodeEvents: e.objects.NodeEvents,
	}
	l.spec, l.status = &l.snapshot.Job.Spec, &l.snapshot.Job.Status
	if l.plan, err = job.Reconcile(l.snapshot); err != nil {
		return l, err
	}
	if l.found, err = job.Inspect(l.snapshot); err != nil {
		return l, err
	}
	l.after = l.plan.Conclude(allDone(&l.plan)).Status
	l.podsRead = l.status.Active == 0 || len(e.objects.Pods) > 0 || e.objects.Complete["pods"]
	l.changed = l.lastChange()
	for i, p := range l.pods {
		l.podEvents = append(l.podEvents, e.objects.EventsOf("Pod", &p.Meta))
		l.doing = append(l.doing, activityOf(p, &l.snapshot.Pods[i], l.templateNames(), l.now))
	}
	return l, nil
}

// job explains one Job.
func (e *Explainer) job(j *read.Job) Explanation {
	out := Explanation{Kind: "Job", Namespace: j.Namespace, Name: j.Name, UID: j.UID, Source: j.At.String()}
	if j.IsManifest {
		out.UID = ""
	}
	l, err := e.lookAt(j)
	if err != nil {
		return broken(out, err, inspect("look at the object", kubectl(j.Namespace, "get", "job", j.Name, "-o", "yaml")))
	}
	troubles := l.podTroubles()
	out.Findings = l.findings(troubles)
	out.State, out.Summary = l.state(out.Findings)
	out.Summary = sentence(out.Summary)
	out.Next = l.next()
	out.Facts = l.facts(out.State)
	out.Pods, out.MorePods = l.listPods(e.options.PodsFrom, e.options.Pods, troubles)
	if e.options.Timeline {
		out.Timeline = l.timeline(out.State, out.Summary)
	}
	if e.options.Plan {
		out.Plan = l.plan.String()
	}
	if e.options.For > 0 && l.podsRead {
		out.Forecast = e.forecastJob(l)
		if out.Timeline != nil {
			out.Timeline.addForecast(out.Forecast)
		}
	}
	return out
}

// broken explains an object that the planner refuses.
func broken(out Explanation, err error, r Remedy) Explanation {
	out.State, out.Summary = Broken, sentence("the planner cannot use the object: "+err.Error())
	out.Findings = []Finding{finding(Error, "BrokenObject", "the object contradicts itself, so that nothing can be said about it", r)}
	return out
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

func (l *look) isFinished() bool { return l.status.Finished() != "" }

// isElsewhere reports whether another controller manages the Job.
func (l *look) isElsewhere() bool { return l.waits(job.WaitManagedBy) != nil }

// fails reports whether it is decided that the Job fails, and nothing else has happened yet.
func (l *look) fails() bool {
	return !l.isFinished() && l.plan.Verdict.Type == job.ConditionFailureTarget
}

// start is when the Job started, or when it was created.
func (l *look) start() time.Time {
	if !l.status.StartTime.IsZero() {
		return l.status.StartTime
	}
	return l.created()
}

func (l *look) endTime() time.Time {
	return l.status.Condition(l.status.Finished()).LastTransitionTime
}

// succeeded is how many successes are counted, or will be in this round. What is found on the
// pods of a Job that has ended is not added any more.
func (l *look) succeeded() int64 {
	if l.isFinished() {
		return int64(l.status.Succeeded)
	}
	return l.found.Succeeded
}

// failures is how many failures are counted, as succeeded.
func (l *look) failures() int64 {
	if l.isFinished() {
		return int64(l.status.Failed)
	}
	return l.found.Failed
}

// works is the number of pods that get on with their work.
func (l *look) works() (n int64) {
	if !l.podsRead {
		return int64(l.status.Active)
	}
	for i, d := range l.doing {
		if d.working && l.snapshot.Pods[i].Owner != job.Foreign && !l.isOnLostNode(i) {
			n++
		}
	}
	return n
}

// hasBegun reports whether a container of the Job, init containers apart, has ever run.
func (l *look) hasBegun() bool {
	if l.failures()+l.succeeded() > 0 || !l.podsRead {
		return true
	}
	for _, p := range l.pods {
		for _, c := range p.Containers {
			if !c.Init && (c.Running || c.Ended || c.Last != nil) {
				return true
			}
		}
	}
	return false
}

// waits returns the plan's wait for a reason, or nil.
func (l *look) waits(reason job.WaitReason) *job.Wait {
	for i := range l.plan.Waits {
		if l.plan.Waits[i].Reason == reason {
			return &l.plan.Waits[i]
		}
	}
	return nil
}

// templateNames are the names of the containers that the Job's template has. Others were
// injected.
func (l *look) templateNames() map[string]bool {
	names := make(map[string]bool)
	for _, c := range l.job.Template.Containers {
		names[c.Name] = true
	}
	return names
}
