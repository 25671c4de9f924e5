package jobcheck

import (
	"maps"
	"slices"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobreason"
)

// History holds what no controller can see: every pod that ever existed, how it ended and was
// counted, and the faults so far. The owner of the source of truth keeps it. The zero value is the
// history of a job that was just created.
type History struct {
	// Pods are all pods, in the order of their creation.
	Pods []Life

	// MaxParallelism is the greatest parallelism so far.
	MaxParallelism int32
	// Late is set when the controller sees its objects late, through a watch.
	Late bool
	// LostCreates counts the creations whose reply was lost: a controller that sees its
	// objects late cannot know of those pods.
	LostCreates int64
	// LostStatus is set when the reply to a status write was lost: a controller that sees
	// the job late cannot know that it has ended.
	LostStatus bool
	// Restarted is set once the controller has lost its memory. Traveled is set once it has
	// restarted with an older list than before. After either, fewer invariants are checked.
	Restarted, Traveled bool
	// Edited is set once the spec has changed. After that, succeeded of an Indexed job may fall.
	Edited bool
	// Ungrouped is set once another client has removed a pod group: a controller that sees the
	// removal late still creates pods for that group.
	Ungrouped bool
	// Lagged is set once expectations have timed out before the controller saw its writes.
	Lagged bool

	// at maps UIDs to places in Pods, in a long history only.
	at map[job.UID]int
}

// Life is the history of one pod.
type Life struct {
	UID job.UID
	// Index is -1 if the pod has none, or if it is not known.
	Index int32
	// Ended is PodSucceeded or PodFailed once the pod has ended.
	Ended job.PodPhase
	// Counted is the counter to which the UID was moved: CountedSucceeded or
	// CountedFailed.
	Counted jobreason.Counted
	// Removed is set when the pod lost its finalizer in order to be deleted.
	Removed bool
}

// short is the greatest length of a history that is searched without a map.
const short = 32

// Clone returns an independent copy.
func (h *History) Clone() History {
	c := *h
	c.Pods = slices.Clone(h.Pods)
	c.at = maps.Clone(h.at)
	return c
}

// Of returns the life of a pod, or nil if it was never seen.
func (h *History) Of(uid job.UID) *Life {
	if h.at != nil {
		if i, ok := h.at[uid]; ok {
			return &h.Pods[i]
		}
		return nil
	}
	for i := len(h.Pods) - 1; i >= 0; i-- {
		if h.Pods[i].UID == uid {
			return &h.Pods[i]
		}
	}
	return nil
}

// Born notes a new pod.
func (h *History) Born(p *job.Pod) {
	h.Pods = append(h.Pods, Life{UID: p.UID, Index: p.Index.Int32()})

	switch n := len(h.Pods); {
	case h.at != nil:
		h.at[p.UID] = n - 1
	case n > short:
		h.index()
	}
}

// index makes the map for a history that has become long.
func (h *History) index() {
	h.at = make(map[job.UID]int)
	for i := range h.Pods {
		h.at[h.Pods[i].UID] = i
	}
}

// Ended notes that a pod has ended.
func (h *History) Ended(p *job.Pod) { h.Of(p.UID).Ended = p.Phase }

// Recorded notes the UIDs that a status write has moved from the uncounted lists into
// the counters.
func (h *History) Recorded(before, after *job.Status) {
	was, is := value.Of(before.UncountedTerminatedPods), value.Of(after.UncountedTerminatedPods)
	h.moved(was.Succeeded, is.Succeeded, jobreason.CountedSucceeded)
	h.moved(was.Failed, is.Failed, jobreason.CountedFailed)
}

func (h *History) moved(was, is []job.UID, as jobreason.Counted) {
	for _, uid := range was {
		if slices.Contains(is, uid) {
			continue
		}
		if l := h.Of(uid); l != nil {
			l.Counted = as
		}
	}
}

// countedAs returns how a UID was counted, or NotCounted.
func (h *History) countedAs(uid job.UID) jobreason.Counted {
	if l := h.Of(uid); l != nil {
		return l.Counted
	}
	return jobreason.NotCounted
}

// succeeded returns the indexes that have a succeeded pod.
func (h *History) succeeded() (indexes indexset.Set) {
	for i := range h.Pods {
		if l := &h.Pods[i]; l.Ended == job.PodSucceeded && l.Index >= 0 {
			indexes.Add(l.Index)
		}
	}
	return indexes
}
