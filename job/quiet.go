package job

import (
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job/jobreason"
)

// Most rounds of a controller with many jobs find nothing to do: pods run, and everything else is
// accounted for. planQuiet recognizes such rounds by one look at each value, without the lists and
// tables of planRound. planRound makes the same plan, but takes 2 to 4 times as long for 100 pods,
// 1.3 to 1.5 times for 1,000, and as long from 10,000 on (BenchmarkSteady,
// BenchmarkSteadyHalfDone).

// planQuiet plans a round that has nothing to do, and reports whether it is one.
func (p *Planner) planQuiet(s *Snapshot) (plan *Plan, ok bool) {
	spec, status := &s.Job.Spec, &s.Job.Status
	if !isPlain(spec, &s.Options) || !isCalm(&s.Job, &s.Memory) {
		return nil, false
	}

	due := deadline(spec, status.StartTime)
	pods := countPlain(s.Pods, shortcuts{active: true, accounted: true})
	switch {
	case status.StartTime.After(s.Now),
		isOver(due, s.Now),
		pods.pods < len(s.Pods),
		!agrees(status, pods),
		!isRunning(spec, status):
		return nil, false
	}

	plan = p.plan.reset()
	plan.JobUID = s.Job.UID
	plan.Waits = appendQuietWaits(plan.Waits, due, status.Active)
	plan.Requeue = requeueOf(plan.Waits, s.Now, s.Options.Quirks)

	b := &plan.basis
	b.Facts.learn(s)
	b.Counts = counts{
		Active:           status.Active,
		Ready:            *status.Ready,
		Succeeded:        status.Succeeded,
		CountedSucceeded: status.Succeeded,
		CountedFailed:    status.Failed,
	}

	recall(&b.Carried.Memory, s)
	b.Carried.carryOn(b.Carried.Memory.Untracking)
	b.Carried.Satisfied = true
	b.Course = course{Action: tracking, Managed: true, Idle: true}
	return plan, true
}

// appendQuietWaits adds the waits of a job in a quiet round: its deadline, if there is one, and its
// pods.
func appendQuietWaits(waits []Wait, deadline time.Time, active int32) []Wait {
	if !deadline.IsZero() {
		waits = append(waits, Wait{Reason: jobreason.WaitDeadline, Until: deadline})
	}
	return append(waits, Wait{Reason: jobreason.WaitPods, Pods: int64(active)})
}

// isPlain reports whether the plan depends only on the numbers of the job's pods. That is so if
// there are no indexes, no policies, no restarts to count, and no options.
func isPlain(spec *Spec, o *Options) bool {
	switch {
	case spec.isIndexed(),
		hasUnknownMode(spec),
		spec.Template.RestartPolicy == RestartOnFailure,
		spec.PodFailurePolicy != nil,
		spec.ManagedBy != nil,
		spec.Scheduling != nil,
		spec.isSuspended(),
		*o != Options{}:
		return false
	}
	return true
}

// isCalm reports whether nothing is under way: the job is not ending, no own write is in flight,
// and no pod is half accounted for.
func isCalm(j *Job, m *Memory) bool {
	status, lists := &j.Status, j.Status.uncounted()
	switch {
	case j.isDeleted(),
		len(status.Conditions) > 0,
		status.StartTime.IsZero(),
		len(lists.Succeeded)+len(lists.Failed) > 0,
		m.problem != "":
		return false
	case m.JobUID != j.UID:
		return true // a memory of an earlier job counts as empty
	case m.Expectations != expectations.Counts{},
		m.Untracking.Len() > 0,
		m.rest.Handled.Len() > 0,
		len(m.rest.Untimed) > 0,
		isStale(j, m):
		return false
	}
	return true
}

// agrees reports whether the status has the same figures as the pods, and counts all pods that have
// ended.
func agrees(status *Status, pods plain) bool {
	switch {
	case int(status.Active) != pods.active,
		!isAt(status.Ready, int32(pods.ready)),
		!isAt(status.Terminating, 0):
		return false
	}
	return pods.done <= int(status.Succeeded)+int(status.Failed)
}

// isRunning reports whether the job goes on, and has the wanted number of active pods, at least
// one.
func isRunning(spec *Spec, status *Status) bool {
	t := tally{
		active:    int64(status.Active),
		succeeded: int64(status.Succeeded),
		failed:    int64(status.Failed),
	}
	switch {
	case t.active == 0,
		t.active != wantedActive(spec, t),
		pastBackoffLimit(spec, t).decided(),
		completionsReached(spec.Completions, t.succeeded):
		return false
	}
	return true
}
