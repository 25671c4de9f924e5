package job

import (
	"cmp"
	"slices"
	"time"

	"github.com/batchplan/batchplan/job/jobquirk"
)

// deleteActive deletes all active pods. The pods of a suspended job are not
// going to be counted: their finalizer goes first (J28). Those of a job that
// ends keep it until they are accounted for (J27). Neither is limited to 500.
func (p *Planner) deleteActive(reason DeleteReason) {
	active := p.activePods()
	p.sortPlaces(active, p.byWorth)
	for _, i := range active {
		p.delete(i, reason)
	}
}

// deleteSurplus deletes at least that many pods, and every pod of an Indexed job
// that has no index of its own; at most 500 (J29).
func (p *Planner) deleteSurplus(atLeast int64) {
	if atLeast == 0 && !p.mayHaveMisplaced() {
		return
	}
	active := p.activePods()
	p.sortPlaces(active, p.byWorth)
	if p.job.isIndexed() {
		active = p.deleteMisplaced(active)
	}
	for _, i := range active {
		if int64(len(p.plan.Delete)) >= atLeast {
			break
		}
		if !p.isPlanned(i) {
			p.delete(i, DeleteSurplus)
		}
	}
	p.plan.Delete = p.plan.Delete[:min(len(p.plan.Delete), maxPodWrites)]
}

// isPlanned reports whether the pod is deleted for not having started.
func (p *Planner) isPlanned(place int32) bool {
	due := startDue(&p.snap.Pods[place], &p.snap.Options)
	return !due.IsZero() && !p.snap.Now.Before(due)
}

// mayHaveMisplaced reports whether some active pod shares its index or has none.
func (p *Planner) mayHaveMisplaced() bool {
	return p.job.isIndexed() && p.counts.active != int64(p.activeIndexes.Len())
}

// deleteMisplaced deletes the pods without an index of their own and returns the
// others. The pods come in order of worth: of those with one index, the last stays. Of
// more than a round deletes, those of the lowest indexes go first.
func (p *Planner) deleteMisplaced(active []int32) (rest []int32) {
	p.activeIndexes.Reset()
	var misplaced []int32
	for n := len(active) - 1; n >= 0; n-- {
		pod := &p.snap.Pods[active[n]]
		switch {
		case p.isPlanned(active[n]):
		case !p.hasValidIndex(pod), !p.activeIndexes.Add(pod.Index):
			misplaced = append(misplaced, active[n])
		default:
			rest = append(rest, active[n])
		}
	}
	slices.Reverse(rest)
	slices.Reverse(misplaced) // the least valuable first
	if len(misplaced) > maxPodWrites {
		slices.SortStableFunc(misplaced, func(a, b int32) int { return cmp.Compare(p.snap.Pods[a].Index, p.snap.Pods[b].Index) })
	}
	for _, i := range misplaced {
		p.delete(i, p.misplacement(i))
	}
	return rest
}

// misplacement is why a pod has no index of its own.
func (p *Planner) misplacement(place int32) DeleteReason {
	switch pod := &p.snap.Pods[place]; {
	case pod.Index < 0:
		return DeleteNoIndex
	case !p.hasValidIndex(pod):
		return DeleteIndexOutOfRange
	}
	return DeleteDuplicateIndex
}

func (p *Planner) delete(place int32, reason DeleteReason) {
	pod := &p.snap.Pods[place]
	p.plan.Delete = append(p.plan.Delete, Deletion{
		PodRef:          pod.ref(),
		Reason:          reason,
		UntrackFirst:    reason != DeleteEnding && reason != DeletePending && (pod.Tracked || pod.Owner == Orphan),
		Ready:           pod.Ready,
		ResourceVersion: p.condition(pod),
	})
}

// condition is the version that a finalizer is removed on (JI9).
func (p *Planner) condition(pod *Pod) string {
	if p.snap.Options.Quirks.Has(jobquirk.UncheckedUntrack) {
		return ""
	}
	return pod.detail().ResourceVersion
}

// activePods returns the active pods of the job.
func (p *Planner) activePods() []int32 {
	p.pods.active = p.pods.active[:0]
	for i := range p.snap.Pods {
		if pod := &p.snap.Pods[i]; p.isActive(pod) {
			p.pods.active = append(p.pods.active, int32(i))
		}
	}
	p.sortPlaces(p.pods.active, p.byAge)
	return p.pods.active
}

func (p *Planner) isActive(pod *Pod) bool {
	owned := pod.Owner == Owned || pod.Owner == Orphan && !p.job.isDeleted()
	return owned && !pod.isTerminal() && pod.Deletion == nil
}

// byWorth orders pods so that the least valuable come first (J29).
func (p *Planner) byWorth(a, b *Pod) int {
	if a.Assigned != b.Assigned {
		return falseFirst(a.Assigned)
	}
	if c := cmp.Compare(a.Phase, b.Phase); c != 0 {
		return c
	}
	if a.Ready != b.Ready {
		return falseFirst(a.Ready)
	}
	x, y := a.detail(), b.detail()
	if a.Ready {
		if c := newerFirst(x.ReadyTransition, y.ReadyTransition); c != 0 {
			return c
		}
	}
	for _, kind := range [...]ContainerKind{AppContainer, RestartableInitContainer} {
		if c := cmp.Compare(mostRestarts(y.Containers, kind), mostRestarts(x.Containers, kind)); c != 0 {
			return c
		}
	}
	if c := newerFirst(x.CreationTimestamp, y.CreationTimestamp); c != 0 {
		return c
	}
	return compareStrings(a.UID, b.UID)
}

func falseFirst(a bool) int {
	if a {
		return 1
	}
	return -1
}

// newerFirst compares times the other way round; a time that is missing counts
// as the newest.
func newerFirst(a, b time.Time) int {
	if a.IsZero() != b.IsZero() {
		return falseFirst(b.IsZero())
	}
	return b.Compare(a)
}

// mostRestarts is the greatest restart count of one container of the kind.
func mostRestarts(containers []Container, kind ContainerKind) int32 {
	var most int32
	for i := range containers {
		if c := &containers[i]; c.Kind == kind {
			most = max(most, c.Restarts)
		}
	}
	return most
}
