package expectations

// Sight is a pod as a watch shows it, reduced to the facts that the records of its job need. Method
// Sight of job.Pod returns one.
type Sight struct {
	UID UID
	// Foreign is true for a pod that the job does not own.
	Foreign bool
	// Deleting is true once the pod is being deleted.
	Deleting bool
	// Untracked is true once the pod has no finalizer.
	Untracked bool
}

// Observe subtracts from the record the creation and the deletion that a notification about a pod
// shows, and returns the result. Argument before is the pod as it was last shown, nil for a new
// pod. Argument after is the pod as it is, nil if it is gone. A new pod of the job is a creation. A
// deletion is observed once: when it begins or, if that was not shown, when the pod is gone (E1).
func (c Counts) Observe(before, after *Sight) Counts {
	last := after
	if last == nil {
		last = before
	}
	if last == nil || last.Foreign {
		return c
	}

	creations, deletions := 0, 0
	if before == nil {
		creations = 1
	}
	wasLeaving := before != nil && before.Deleting
	isLeaving := after == nil || after.Deleting
	if isLeaving && !wasLeaving {
		deletions = 1
	}
	return c.Lower(creations, deletions)
}

// Observe lowers the record of key after a notification about a pod, see [Counts.Observe] (E1, E4).
// A watch handler has to call no other method. Argument before is the pod as the watch showed it
// last, nil for a new pod; after is the pod as it is, nil if it is gone.
func (t *Tracker[K]) Observe(key K, before, after *Sight) {
	t.update(key, func(e tracked) tracked {
		e.counts = e.counts.Observe(before, after)
		switch {
		case after == nil && before != nil:
			delete(e.uids, before.UID)
		case after != nil && after.Untracked:
			delete(e.uids, after.UID)
		}
		return e
	})
}
