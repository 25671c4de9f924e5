package expectations

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Tracker keeps [Counts] and [UIDs] for many jobs, each under a key such as the job's UID or its
// namespaced name. It is for adapters that learn of their writes from notifications. Any number of
// goroutines may use a Tracker concurrently. The zero value is ready for use; a Tracker must not be
// copied.
//
// A key for which nothing is expected takes no memory.
type Tracker[K comparable] struct {
	mu   sync.Mutex
	jobs map[K]tracked
}

type tracked struct {
	counts Counts
	// uids is changed in place: hundreds are observed one by one, and copying the set each time
	// would take quadratic time.
	uids map[UID]struct{}
}

// Expect records that creations and deletions of pods are about to be written for key, at now. It
// replaces the former record and renews its time (E3). Call it before the writes, because
// notifications may arrive before the writes return.
func (t *Tracker[K]) Expect(key K, creations, deletions int, now time.Time) {
	t.update(key, func(e tracked) tracked {
		// Lower(0, 0) replaces negative numbers by zero, and an empty record by the zero value.
		e.counts = Counts{Creations: creations, Deletions: deletions, At: now}.Lower(0, 0)
		return e
	})
}

// Lower lowers the record of key by writes that failed or were skipped, and will never be observed
// (E2). It does not renew the time.
func (t *Tracker[K]) Lower(key K, creations, deletions int) {
	t.update(key, func(e tracked) tracked {
		e.counts = e.counts.Lower(creations, deletions)
		return e
	})
}

// Satisfied reports whether pods of key may be created and deleted at now, see [Counts.Satisfied].
// Finalizer removals in flight do not matter here: they only keep a pod from being counted twice.
func (t *Tracker[K]) Satisfied(key K, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.jobs[key].counts.Satisfied(now)
}

// ExpectUntracked adds pods of key that are about to lose their finalizer (E4), and
// returns those that were not expected before. Call it before the writes.
func (t *Tracker[K]) ExpectUntracked(key K, uids ...UID) (added []UID) {
	t.update(key, func(e tracked) tracked {
		if e.uids == nil {
			e.uids = make(map[UID]struct{}, len(uids))
		}
		for _, uid := range uids {
			if _, known := e.uids[uid]; !known {
				added = append(added, uid)
				e.uids[uid] = struct{}{}
			}
		}
		return e
	})
	return added
}

// LowerUntracked removes pods from the record of key. These pods keep their finalizer, because the
// only write to remove it failed or was skipped (E4). Pods that were not expected are ignored.
func (t *Tracker[K]) LowerUntracked(key K, uids ...UID) {
	t.update(key, func(e tracked) tracked {
		for _, uid := range uids {
			delete(e.uids, uid)
		}
		return e
	})
}

// Snapshot returns what is recorded for key: the values to plan with. Later
// calls do not change them.
func (t *Tracker[K]) Snapshot(key K) (Counts, UIDs) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.jobs[key]
	return e.counts, UIDs{slices.Sorted(maps.Keys(e.uids))}
}

// Forget drops everything recorded for key: the job is gone (E4).
func (t *Tracker[K]) Forget(key K) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.jobs, key)
}

// Of returns a Writer for the record of key. The Writer records all of its writes with the time
// now. It implements jobapply.Expectations, so the executor of a round can report its writes to it.
func (t *Tracker[K]) Of(key K, now time.Time) Writer[K] { return Writer[K]{t, key, now} }

// Writer records the writes for one key in a [Tracker].
type Writer[K comparable] struct {
	tracker *Tracker[K]
	key     K
	now     time.Time
}

// Expect is [Tracker.Expect] for the key.
func (w Writer[K]) Expect(creations, deletions int) {
	w.tracker.Expect(w.key, creations, deletions, w.now)
}

// Lower is [Tracker.Lower] for the key.
func (w Writer[K]) Lower(creations, deletions int) { w.tracker.Lower(w.key, creations, deletions) }

// ExpectUntracked is [Tracker.ExpectUntracked] for the key.
func (w Writer[K]) ExpectUntracked(uids ...UID) (added []UID) {
	return w.tracker.ExpectUntracked(w.key, uids...)
}

// LowerUntracked is [Tracker.LowerUntracked] for the key.
func (w Writer[K]) LowerUntracked(uids ...UID) { w.tracker.LowerUntracked(w.key, uids...) }

func (t *Tracker[K]) update(key K, change func(tracked) tracked) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := change(t.jobs[key])

	if e.counts == (Counts{}) && len(e.uids) == 0 {
		delete(t.jobs, key)
		return
	}

	if t.jobs == nil {
		t.jobs = make(map[K]tracked)
	}
	t.jobs[key] = e
}
