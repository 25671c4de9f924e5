package job

import (
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job/jobreason"
)

// Most rounds of a controller with many jobs find nothing to do: pods run, and everything else is
// accounted for. planQuiet recognizes such rounds by one look at each value, without the lists and
// tables of planRound. planRound makes the same plan, but takes 2 to 4 times as long for 100 pods,
// and 1.3 to 1.5 times as long for 1,000. From 10,000 pods on, both take the same time
// (BenchmarkSteady, BenchmarkSteadyHalfDone). For an Indexed job, both find out whether each pod
// has an index of its own, which takes as long as counting the pods (BenchmarkSteadyIndexed).

// planQuiet plans a round if it has nothing to do. Otherwise ok is false.
func (p *Planner) planQuiet(s *Snapshot) (plan *Plan, ok bool) {
	spec, status := &s.Job.Spec, &s.Job.Status
	if !isPlain(spec, &s.Options) || !isCalm(&s.Job, &s.Memory) {
		return nil, false
	}

	due := deadline(spec, status.StartTime)
	switch {
	case status.StartTime.After(s.Now),
		isOver(due, s.Now),
		!isRunning(spec, status),
		!p.agrees(s):
		return nil, false
	}

	plan = p.plan.reset()
	if spec.isIndexed() && !p.isListed(s, plan) {
		return nil, false
	}
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
	b.Progress = p.indexes.progress(status, spec)

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

// isPlain reports whether the plan depends only on the numbers of the job's pods and on their
// indexes. No failures are judged, no restarts are counted, and no option is set.
func isPlain(spec *Spec, o *Options) bool {
	switch {
	case hasUnknownMode(spec),
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
	case m.JobUID != "" && m.JobUID != j.UID:
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
// ended. Each active pod of an Indexed job has an index of its own.
func (p *Planner) agrees(s *Snapshot) bool {
	var pods plain
	status, short := &s.Job.Status, shortcuts{active: true, accounted: true}
	if s.Job.Spec.isIndexed() {
		active := &p.census.activeIndexes
		active.Reset()
		pods = countPlainIndexed(s.Pods, short, indexLimit(&s.Job.Spec), active)
		pods.done = 0 // a smaller job has dropped indexes, whose pods are rightly uncounted
	} else {
		pods = countPlain(s.Pods, short)
	}

	switch {
	case pods.pods < len(s.Pods),
		int(status.Active) != pods.active,
		!isAt(status.Ready, int32(pods.ready)),
		!isAt(status.Terminating, 0):
		return false
	}
	return pods.done <= int(status.Succeeded)+int(status.Failed)
}

// isListed reports whether the index lists of an Indexed job agree with its counter, need not be
// written again, and do not end the job. It fills p.indexes from the lists.
func (p *Planner) isListed(s *Snapshot, plan *Plan) bool {
	spec, status, x := &s.Job.Spec, &s.Job.Status, &p.indexes
	x.find(s, &census{}, nil, (*noteList)(&plan.Notes))

	completed, failed := x.completed.Len(), x.failed.Len()
	switch {
	case len(plan.Notes) > 0,
		completed != x.completedSame || failed != x.failedSame,
		completed != int(status.Succeeded),
		spec.limitsIndexes() != (status.FailedIndexes != nil):
		return false
	}

	t := tally{succeeded: int64(completed), failedIndexes: int64(failed)}
	success := meetsSuccessPolicy(spec, t, &x.completed, &x.spare)
	return !success.decided() && !pastIndexLimits(spec, t).decided()
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
