package sim

import "github.com/batchplan/batchplan/cronjob"

// childChanged is called after each change of a job that a CronJob has started.
func (e *engine) childChanged(js *jobState) {
	cs := js.cron
	child := cronjob.Child{
		Name:              js.truth.Name,
		UID:               js.truth.UID,
		CreationTimestamp: js.truth.CreationTimestamp,
		DeletionTimestamp: js.truth.DeletionTimestamp,
		StartTime:         js.truth.Status.StartTime,
		Finished:          js.truth.Status.Finished(),
		CompletionTime:    js.truth.Status.CompletionTime,
		ScheduledTime:     js.run,
	}
	if child.Finished != "" {
		child.FinishTime = js.truth.Status.Condition(child.Finished).LastTransitionTime
	}

	if !e.view.immediate {
		e.seeChildLater(cs, js, child)
		return
	}
	e.seeChild(cs, js, &child)
}

// seeChildLater delivers the change after the delay of the watch. It is a separate function, since
// its closure moves the Child to the heap.
func (e *engine) seeChildLater(cs *cronState, js *jobState, child cronjob.Child) {
	e.lagged(delivery{cron: func() { e.seeChild(cs, js, &child) }})
}

func (e *engine) seeChild(cs *cronState, js *jobState, child *cronjob.Child) {
	switch {
	case js.child < 0:
		js.child = int32(len(cs.jobs))
		cs.jobs = append(cs.jobs, js)
		cs.snap.Children = append(cs.snap.Children, *child)
	case cs.snap.Children[js.child] == *child:
		e.enqueueCron(cs) // the job has changed, but nothing that the planner sees
		return
	default:
		cs.snap.Children[js.child] = *child
	}
	e.snapshotChanged(cs)
}

func (e *engine) hideChild(cs *cronState, js *jobState) {
	last := len(cs.jobs) - 1
	moved := cs.jobs[last]
	cs.jobs[js.child], cs.snap.Children[js.child] = moved, cs.snap.Children[last]
	moved.child = js.child
	cs.jobs[last] = nil
	cs.jobs, cs.snap.Children = cs.jobs[:last], cs.snap.Children[:last]
	e.snapshotChanged(cs)
}
