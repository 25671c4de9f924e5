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

// Observe returns the record less the creation and the deletion that a notification about a pod
// shows. Argument old is the pod as it was shown before, nil for a new pod; now is the pod as it
// is, nil if it is gone. A new pod of the job is a creation. A deletion is observed once: when it
// begins or, if that was not shown, when the pod is gone (E1).
func (c Counts) Observe(old, now *Sight) Counts {
	last := now
	if last == nil {
		last = old
	}
	if last == nil || last.Foreign {
		return c
	}

	creations, deletions := 0, 0
	if old == nil {
		creations = 1
	}
	wasLeaving := old != nil && old.Deleting
	isLeaving := now == nil || now.Deleting
	if isLeaving && !wasLeaving {
		deletions = 1
	}
	return c.Lower(creations, deletions)
}

// Observe lowers the record of key after a notification about a pod, see [Counts.Observe] (E1, E4).
// A watch handler has to call no other method. Argument old is the pod as the watch showed it
// before, nil for a new pod; now is the pod as it is, nil if it is gone.
func (t *Tracker[K]) Observe(key K, old, now *Sight) {
	t.update(key, func(e tracked) tracked {
		e.counts = e.counts.Observe(old, now)
		switch {
		case now == nil && old != nil:
			delete(e.uids, old.UID)
		case now != nil && now.Untracked:
			delete(e.uids, now.UID)
		}
		return e
	})
}
