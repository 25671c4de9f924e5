package job

import "time"

// overdue are pods that the options give up (Options.PendingTimeout,
// Options.TerminatingTimeout), and when the next one is.
type overdue struct {
	pending []int32
	next    time.Time
}

// watchPending notes a pod that does not start. Deleting it takes two rounds: in
// this one it is deleted, in the next one it counts as failed, so that a crash in
// between loses nothing.
func (p *Planner) watchPending(place int32, pod *Pod) {
	if due := startDue(pod, &p.snap.Options); !due.IsZero() && p.isOver(due) {
		p.overdue.pending = append(p.overdue.pending, place)
	}
}

// startDue is when a pod that has not started is given up, or zero: it has
// started, or pods may stay pending.
func startDue(pod *Pod, o *Options) time.Time {
	if o.PendingTimeout == 0 || pod.Phase != PodPending {
		return time.Time{}
	}
	return pod.detail().CreationTimestamp.Add(o.PendingTimeout)
}

// givenUp reports whether a terminating pod that must end before it is replaced
// is not waited for any longer: it never started, or it has outstayed its time.
func (p *Planner) givenUp(pod *Pod) bool {
	o := &p.snap.Options
	if due := startDue(pod, o); !due.IsZero() && p.isOver(due) {
		return true
	}
	return o.TerminatingTimeout > 0 && p.isOver(pod.Deletion.Timestamp.Add(o.TerminatingTimeout))
}

// isOver reports whether the time has come, and keeps the earliest that has not.
func (p *Planner) isOver(at time.Time) bool {
	if !p.snap.Now.Before(at) {
		return true
	}
	if p.overdue.next.IsZero() || at.Before(p.overdue.next) {
		p.overdue.next = at
	}
	return false
}

// deletePending deletes the pods that have not started in time.
func (p *Planner) deletePending() {
	p.sortPlaces(p.overdue.pending, p.byWorth)
	for _, i := range p.overdue.pending[:min(len(p.overdue.pending), maxPodWrites)] {
		p.delete(i, DeletePending)
	}
}
