package expectations

// Sight is a pod as a watch has shown it; from these the records of its job are kept. Method Sight
// of job.Pod makes one.
type Sight struct {
	UID UID
	// Foreign is true for a pod that the job does not own.
	Foreign bool
	// Deleting is true once the pod is being deleted.
	Deleting bool
	// Untracked is true once the pod has no finalizer.
	Untracked bool
}

// Observe takes off what a notification shows of a pod: the pod as it was shown before and as it is
// now, each nil for none. A pod of the job that comes into sight is a creation. A deletion is seen
// once: when it begins or, if that was not shown, when the pod is gone (E1).
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

// Observe is for the handlers of a watch, and all that a handler has to call (E1, E4). It takes
// what a notification shows of a pod off the record of key. Argument old is the pod as the watch
// has shown it before, nil for a new one, and now is the pod as it is, nil if it is gone.
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
