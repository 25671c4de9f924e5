package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// look is everything that is known about one Job. lookAt makes it, and nothing changes it after
// that.
type look struct {
	words
	job      *read.Job
	spec     *job.Spec
	status   *job.Status
	pods     []*read.Pod
	snapshot job.Snapshot
	found    job.Inspection
	plan     job.Plan
	// after is the status after the plan has been carried out.
	after job.Status
	// gang is the number of pods that start together, or 0.
	gang   int64
	events []read.Event
	// podEvents has the events about each pod, in the order of pods.
	podEvents [][]read.Event
	// doing describes what each pod does, in the order of pods.
	doing []activity
	// closing is the time at which the deletion of the namespace began, or zero.
	closing time.Time
	// changed is the latest time at which anything about the Job is known to have changed.
	changed time.Time
	// podsRead is false if the input has no pods, although the status counts some.
	podsRead bool
	workload read.Workload
	// gone are failed or deleted pods that occur only in events.
	gone []gonePod
	// e has the other objects of the input.
	e *Explainer
}

// lastChange returns the latest time at which the Job or one of its pods is known to have
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
			see(d.Begun())
		}
	}
	return last
}

func (l *look) created() time.Time { return l.snapshot.Job.CreationTimestamp }

func (l *look) isSuspended() bool { return l.spec.Suspend != nil && *l.spec.Suspend }

func (l *look) isIndexed() bool { return l.spec.CompletionMode == job.Indexed }

func (l *look) isFinished() bool { return l.status.Finished() != "" }

// isElsewhere reports whether another controller manages the Job.
func (l *look) isElsewhere() bool { return l.waits(jobreason.WaitManagedBy) != nil }

// fails reports whether the plan decides that the Job fails, before the status shows an end.
func (l *look) fails() bool {
	return !l.isFinished() && l.plan.Verdict.Type == job.ConditionFailureTarget
}

// start returns the time at which the Job started, or else was created.
func (l *look) start() time.Time {
	if !l.status.StartTime.IsZero() {
		return l.status.StartTime
	}
	return l.created()
}

func (l *look) endTime() time.Time {
	return l.status.Condition(l.status.Finished()).LastTransitionTime
}

// succeeded returns the number of successes that are counted, or will be counted in this round. Pods
// of a Job that has ended are not counted any more.
func (l *look) succeeded() int64 {
	if l.isFinished() {
		return int64(l.status.Succeeded)
	}
	return l.found.Succeeded
}

// failures returns the number of failures that are counted, or will be counted in this round.
func (l *look) failures() int64 {
	if l.isFinished() {
		return int64(l.status.Failed)
	}
	return l.found.Failed
}

// works returns the number of pods that do their work.
func (l *look) works() (n int64) {
	if !l.podsRead {
		return int64(l.status.Active)
	}
	for i, d := range l.doing {
		if d.working && l.snapshot.Pods[i].Owner != jobpod.Foreign && !l.isOnLostNode(i) {
			n++
		}
	}
	return n
}

// hasBegun reports whether a container of the Job other than an init container has ever run.
func (l *look) hasBegun() bool {
	if l.failures()+l.succeeded() > 0 || !l.podsRead {
		return true
	}
	for _, p := range l.pods {
		for _, c := range p.Containers {
			hasRun := c.Running || c.Ended || c.Last != nil
			if hasRun && !c.Init {
				return true
			}
		}
	}
	return false
}

// waits returns the plan's wait for a reason, or nil.
func (l *look) waits(reason jobreason.Wait) *job.Wait {
	for i := range l.plan.Waits {
		if l.plan.Waits[i].Reason == reason {
			return &l.plan.Waits[i]
		}
	}
	return nil
}

// templateNames returns the names of the containers of the Job's template. If a pod has other
// containers, they were injected.
func (l *look) templateNames() map[string]bool {
	names := make(map[string]bool)
	for _, c := range l.job.Template.Containers {
		names[c.Name] = true
	}
	return names
}

// isOnLostNode reports whether the node of a pod is known not to be ready.
func (l *look) isOnLostNode(i int) bool { return l.pods[i].Node != "" && !l.lostSince(i).IsZero() }

// lostSince returns the time since when the node of a pod is not ready, or zero.
func (l *look) lostSince(i int) time.Time {
	p := l.pods[i]
	if n, known := l.e.objects.Nodes[p.Node]; known {
		return n.NotReady
	}

	lost, back := lastEvent(l.podEvents[i], "NodeNotReady"), lastEvent(l.podEvents[i], "NodeReady")
	isBack := lost != nil && back != nil && !back.Last.Before(lost.Last)
	if lost != nil && !isBack && p.Condition("Ready").Status != "True" {
		return lost.Last
	}
	return time.Time{}
}

func (l *look) countFailed() (n int) {
	for _, found := range l.found.Pods {
		if found.Failed && found.Counts {
			n++
		}
	}
	return n
}

// queue returns the name of the Kueue queue that the Job belongs to, or "".
func (l *look) queue() string {
	const label = "kueue.x-k8s.io/queue-name"
	if name := l.job.Labels[label]; name != "" {
		return name
	}
	for _, p := range l.pods {
		if name := p.Labels[label]; name != "" {
			return name
		}
	}
	return ""
}

// heldSince returns the time since when a suspended Job is held back. If a user resumes a Job that waits for
// quota, Kueue suspends it again, and only the workload shows since when it waits.
func (l *look) heldSince() time.Time {
	since := l.created()
	if c := l.status.Condition(job.ConditionSuspended); c.Status == job.ConditionTrue {
		since = c.LastTransitionTime
	}
	if w := l.workload.Since; !w.IsZero() && w.Before(since) {
		return w
	}
	return since
}

// isQueued reports whether Kueue manages the Job.
func (l *look) isQueued() bool { return l.queue() != "" || l.workload.Name != "" }

// endOf describes how the containers of a pod ended.
func (l *look) endOf(place int) string {
	p := l.pods[place]
	var parts []string
	for _, c := range p.Containers {
		if c.Ended && c.ExitCode != 0 {
			parts = append(parts, exit(c.ExitCode, c.Reason))
		}
	}

	switch {
	case len(parts) > 0 && p.Reason != "":
		return parts[0] + " (" + p.Reason + ")"
	case len(parts) > 0 && p.Condition("DisruptionTarget").Reason != "":
		return parts[0] + " (" + disruptionText(p.Condition("DisruptionTarget").Reason) + ")"
	case len(parts) > 0:
		return strings.Join(parts, " and ")
	case p.Reason != "":
		return "the reason " + p.Reason
	case p.Condition("DisruptionTarget").Status == "True":
		return "no exit code (" + disruptionText(p.Condition("DisruptionTarget").Reason) + ")"
	case p.Object.Deletion != nil:
		return "a deletion"
	}
	return "no exit code"
}

// successes describes how many completions are done.
func (l *look) successes() string {
	n := l.succeeded()
	switch {
	case l.spec.Completions == nil && n > 0:
		return "the work queue has " + count(n, "success", "successes")
	case l.spec.Completions == nil:
		return "the work queue has no success yet"
	case l.isIndexed():
		return fmt.Sprintf("%d of %s done", n, count(int64(*l.spec.Completions), "index", "indexes"))
	}
	return fmt.Sprintf("%d of %s done", n, count(int64(*l.spec.Completions), "completion"))
}
