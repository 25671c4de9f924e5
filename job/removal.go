package job

import (
	"cmp"
	"slices"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
)

// activePods appends the places of the active pods of the job.
func activePods(dst []int32, s *Snapshot) []int32 {
	for i := range s.Pods {
		if isActive(&s.Pods[i], &s.Job) {
			dst = append(dst, int32(i))
		}
	}
	return dst
}

func isActive(pod *Pod, j *Job) bool {
	switch {
	case pod.isTerminal(), pod.Deletion != nil:
		return false
	case pod.Owner == jobpod.Orphan:
		return !j.isDeleted()
	}
	return pod.Owner == jobpod.Owned
}

// appendAll adds the deletions of all active pods, the least valuable first. There may be more than
// 500 deletions.
func appendAll(deletions []Deletion, s *Snapshot, active []int32, reason jobreason.Delete) []Deletion {
	sortPlaces(s.Pods, active, worth(s.Options.Quirks))
	for _, i := range active {
		deletions = append(deletions, deletionOf(&s.Pods[i], reason, s.Options.Quirks))
	}
	return deletions
}

// appendEnding adds the deletions of all active pods of a job that ends. There can be more than 500
// deletions. The pods keep their finalizer until they are accounted for (J27).
func appendEnding(deletions []Deletion, s *Snapshot, buf *scratch) []Deletion {
	buf.active = activePods(buf.active[:0], s)
	return appendAll(deletions, s, buf.active, jobreason.DeleteEnding)
}

// appendSurplus adds the deletions of all pods of an Indexed job that have no index of their own.
// Then it adds the least valuable of the other pods, until there are as many deletions as argument
// atLeast. There are at most 500 deletions in all (J29). Pods that have not started in time are in
// the list already.
func appendSurplus(deletions []Deletion, s *Snapshot, active []int32, atLeast int64, spare *indexset.Set) []Deletion {
	active = slices.DeleteFunc(active, func(i int32) bool { return isLate(&s.Pods[i], &s.Options, s.Now) })
	sortPlaces(s.Pods, active, worth(s.Options.Quirks))

	if s.Job.Spec.isIndexed() {
		var misplaced []int32
		active, misplaced = separateMisplaced(s, active, spare)
		for _, i := range misplaced {
			reason := misplacement(&s.Pods[i], *s.Job.Spec.Completions)
			deletions = append(deletions, deletionOf(&s.Pods[i], reason, s.Options.Quirks))
		}
	}

	for _, i := range active {
		if int64(len(deletions)) >= atLeast {
			break
		}
		deletions = append(deletions, deletionOf(&s.Pods[i], jobreason.DeleteSurplus, s.Options.Quirks))
	}
	return deletions[:min(len(deletions), s.Options.podWrites())]
}

// hasMisplaced reports whether some active pod of an Indexed job shares its index or has
// none.
func hasMisplaced(spec *Spec, c *census) bool {
	return spec.isIndexed() && c.active != int64(c.activeIndexes.Len())
}

// separateMisplaced separates the pods without an index of their own from the others. Argument
// active must be in order of worth. Of several pods with the same index, the last one stays. If
// more pods are misplaced than a round deletes, those with the lowest indexes come first. The spare
// set is overwritten.
func separateMisplaced(s *Snapshot, active []int32, spare *indexset.Set) (rest, misplaced []int32) {
	spare.Reset()
	for _, i := range slices.Backward(active) {
		if pod := &s.Pods[i]; hasIndexBelow(pod, *s.Job.Spec.Completions) && spare.Add(pod.index()) {
			rest = append(rest, i)
		} else {
			misplaced = append(misplaced, i)
		}
	}

	slices.Reverse(rest)
	slices.Reverse(misplaced) // the least valuable first

	if len(misplaced) > s.Options.podWrites() {
		slices.SortStableFunc(misplaced, func(a, b int32) int {
			return cmp.Compare(s.Pods[a].index(), s.Pods[b].index())
		})
	}
	return rest, misplaced
}

// misplacement returns the reason to delete a pod that has no index of its own.
func misplacement(pod *Pod, completions int32) jobreason.Delete {
	switch {
	case pod.index() < 0:
		return jobreason.DeleteNoIndex
	case pod.index() >= completions:
		return jobreason.DeleteIndexOutOfRange
	}
	return jobreason.DeleteDuplicateIndex
}

// deletionOf returns the deletion of a pod. A pod that is not going to be counted loses its
// finalizer first.
func deletionOf(pod *Pod, reason jobreason.Delete, quirks jobquirk.Set) Deletion {
	counted := reason == jobreason.DeleteEnding || reason == jobreason.DeletePending
	d := Deletion{
		PodRef:       pod.ref(),
		Reason:       reason,
		UntrackFirst: !counted && carriesFinalizer(pod),
		Ready:        pod.Ready,
	}

	if quirks.Has(jobquirk.UncheckedUntrack) {
		d.ResourceVersion = "" // the removal is unconditional (JI9)
	}
	return d
}
