package explain

import (
	"cmp"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// snapshotOf returns the snapshot from which a controller would plan. The controller's memory is
// inferred from the pods that still exist.
func (e *Explainer) snapshotOf(j *read.Job) job.Snapshot {
	s := job.Snapshot{Job: j.Object, Now: e.options.At, Options: job.Kubernetes(release.Newest()), Consistent: true}
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

// lookAt runs the planner, and assumes that all writes of the plan succeed.
func (e *Explainer) lookAt(j *read.Job) (l *look, err error) {
	l = &look{
		words: e.words, job: j, pods: e.pods[j.UID], snapshot: e.snapshotOf(j),
		events: e.objects.EventsOf("Job", &j.Meta), closing: e.objects.Closing[j.Namespace],
		workload: e.objects.Workloads[j.UID], gone: e.goneOf(j), e: e,
	}

	l.spec, l.status = &l.snapshot.Job.Spec, &l.snapshot.Job.Status
	if l.plan, err = job.Reconcile(l.snapshot); err != nil {
		return l, err
	}
	if l.found, err = job.Inspect(l.snapshot); err != nil {
		return l, err
	}

	l.after = l.plan.Conclude(allDone(&l.plan)).Status
	l.gang = gangSize(l.snapshot.Job, l.now)
	l.podsRead = l.status.Active == 0 || len(e.objects.Pods) > 0 || e.objects.Complete["pods"]
	l.changed = l.lastChange()

	for i, p := range l.pods {
		l.podEvents = append(l.podEvents, e.objects.EventsOf("Pod", &p.Meta))
		l.doing = append(l.doing, activityOf(p, &l.snapshot.Pods[i], l.templateNames(), l.now))
	}
	return l, nil
}

func (e *Explainer) job(j *read.Job) Explanation {
	out := Explanation{Kind: "Job", Namespace: j.Namespace, Name: j.Name, UID: j.UID, Source: j.At.String()}
	if j.IsManifest {
		out.UID = ""
		if is, exists := e.existingOf("Job", &j.Meta).(*read.Job); exists && len(j.Refused) == 0 {
			if over, ok := e.jobOver(j, is); ok {
				return over
			}
		}
	}

	l, err := e.lookAt(j)
	if err != nil && len(j.Refused) > 0 {
		return refused(out, invalidFindings(j.Unknown, j.Refused, nil, l.again("correct the field")))
	}
	if err != nil {
		return broken(out, err, inspect("look at the object", kubectl(j.Namespace, "get", "job", j.Name, "-o", "yaml")))
	}

	troubles := l.podTroubles()
	out.Findings = l.findings(troubles)
	out.State, out.Summary = l.state(out.Findings)
	out.Summary = sentence(out.Summary)
	isFine := out.State == Complete || out.State == Running && l.works() == l.found.Active
	isRun := out.State == Complete && j.Controller().Kind == "CronJob" // the CronJob says it
	if says := isFine && !isRun && l.podsRead; says && !IsWrong(out.Findings) && !hasDoubts(out.Findings) {
		out.Summary += cmp.Or(l.unexplained(), nothingWrong)
	}
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

// nothingWrong ends the summary of an object without an error or a warning.
const nothingWrong = " Nothing wrong was found."

// broken explains an object that the planner refuses.
func broken(out Explanation, err error, r *Remedy) Explanation {
	out.State, out.Summary = Broken, sentence("the planner cannot use the object: "+err.Error())
	out.Findings = oneFinding(Error, "BrokenObject",
		"the object contradicts itself, so that nothing can be said about it", r)
	return out
}

// refused explains a manifest that both the planner and an API server refuse.
func refused(out Explanation, findings []Finding) Explanation {
	out.State, out.Summary, out.Findings = Broken, "A manifest that a server would refuse.", findings
	return out
}
