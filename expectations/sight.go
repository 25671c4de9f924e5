package expectations

// Sight is a pod as a watch has shown it: what the records of its job go by. Method Sight of job.Pod makes one.
type Sight struct {
	UID UID
	// Foreign is true for a pod that the job does not own.
	Foreign bool
	// Deleting is true once the pod is being deleted.
	Deleting bool
	// Untracked is true once the pod has no finalizer.
	Untracked bool
}

// See takes off what a notification shows of a pod: the pod as it was shown before and as it is, nil for not at all.
// A pod of the job that comes into sight is a creation. Its deletion is seen when it begins, or when the pod is gone
// without that, and only once (E1).
func (c Counts) See(old, now *Sight) Counts {
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
	return c.Observe(creations, deletions)
}

// Observe is for the handlers of a watch: it takes off the record of key what a notification shows of a pod. The pod is
// as the watch has shown it before, nil for one that is new, and as it is, nil for one that is gone. It is all that a
// handler has to call (E1, E4).
func (t *Tracker[K]) Observe(key K, old, now *Sight) {
	t.update(key, func(e tracked) tracked {
		e.counts = e.counts.See(old, now)
		switch {
		case now == nil && old != nil:
			delete(e.uids, old.UID)
		case now != nil && now.Untracked:
			delete(e.uids, now.UID)
		}
		return e
	})
}
