package job

import (
	"cmp"
	"slices"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
)

// The default limits of one round (J30, J35).
const (
	// maxPodWrites limits the creations of a round, and its deletions of surplus pods.
	maxPodWrites = 500
	// maxUncounted limits the sum of the UIDs in the uncounted lists and the new completed indexes.
	maxUncounted = 500
)

// dueUntracking is a finalizer that is removed if this round has room for its pod.
type dueUntracking struct {
	Untracking
	place int32
	// takesRoom is true when the status has to record something new about the pod.
	takesRoom bool
	// withEnd and withoutEnd tell whether there is room in a round that declares the
	// end of the job, and in one that does not.
	withEnd, withoutEnd bool
}

// appendFitting adds the finalizers for which the round has room, and reports whether some are left
// over. A round records at most 500 UIDs and new indexes (J35). Further pods keep their finalizer
// until a later round. The pods of an Indexed job come in the order of their indexes. All new
// completed indexes are written in this round, even those of pods that are left over, so progress
// is not late and the list has no needless gaps.
//
// Some finalizers are removed only if the end is declared, which depends on the results of the
// deletions. If the end is not declared, other pods get their room (J37). Argument spare is
// overwritten.
func appendFitting(
	untrack []Untracking, due []dueUntracking, s *Snapshot, lists *backlog, spare *indexset.Set,
) (out []Untracking, capped bool) {
	if len(due) == 0 {
		return untrack, false
	}

	room := s.Options.uncounted() - len(lists.left.Succeeded) - len(lists.left.Failed)
	spare.Reset()
	if spec := &s.Job.Spec; len(due) >= room && spec.isIndexed() {
		sortByIndex(due, s.Pods)
		spare.AddText(s.Job.Status.CompletedIndexes, *spec.Completions)
	}

	for i := range due {
		due[i].takesRoom = takesRoom(&due[i], s.Pods, spare)
	}

	stops := s.Options.Quirks.Has(jobquirk.FullRound)
	capped = markFitting(due, room, true, stops)
	markFitting(due, room, false, stops)

	for i := range due {
		due[i].UnlessEnd = !due[i].withEnd
		if due[i].withEnd || due[i].withoutEnd {
			untrack = append(untrack, due[i].Untracking)
		}
	}
	return untrack, capped
}

// markFitting marks the finalizers for which a round has room, and reports whether some are left
// over. Argument end tells whether the round declares the end. If argument stops is true,
// markFitting stops at the pod that fills the round, as Kubernetes does.
func markFitting(due []dueUntracking, room int, end, stops bool) (capped bool) {
	for i := range due {
		d := &due[i]
		switch {
		case d.OnEnd && !end:
			continue
		case d.takesRoom && room <= 0 && !stops:
			capped = true
			continue
		case d.takesRoom:
			room--
		}

		if end {
			d.withEnd = true
		} else {
			d.withoutEnd = true
		}

		if stops && room <= 0 {
			return true
		}
	}
	return capped
}

// takesRoom reports whether the status has to record something new about the pod. Argument written
// holds the indexes that the status lists already.
func takesRoom(d *dueUntracking, pods []Pod, written *indexset.Set) bool {
	switch d.As {
	case jobreason.CountedIndex:
		return !written.Has(pods[d.place].index())
	case jobreason.CountedSucceeded, jobreason.CountedFailed:
		return true
	}
	return false
}

// sortByIndex sorts the finalizers by the index of their pods. Pods without one come first.
func sortByIndex(due []dueUntracking, pods []Pod) {
	slices.SortFunc(due, func(a, b dueUntracking) int {
		x, y := &pods[a.place], &pods[b.place]
		if x.index() != y.index() {
			return cmp.Compare(x.index(), y.index())
		}
		return byAge(x, y)
	})
}
