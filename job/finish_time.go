package job

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Sighting is a failed pod whose finish time nothing tells, and when it was first seen.
type Sighting struct {
	UID string    `json:"uid"`
	At  time.Time `json:"at"`
}

// findUntimed finds the failed pods whose finish time nothing tells. They count as
// finished when a round first sees them. Without that there would be no backoff at
// all, and with the time of each round the backoff of an index would never end.
func (p *Planner) findUntimed() {
	seen := p.pods.untimed[:0]
	sets := [...][]int32{p.pods.failed, p.pods.recorded}
	if !p.job.limitsIndexes() {
		sets[1] = nil // the record has them
	}
	for _, places := range sets {
		for _, i := range places {
			pod := &p.snap.Pods[i]
			if pod.Phase == PodSucceeded || !finishTime(pod).IsZero() {
				continue
			}
			earlier, ok := sighting(p.plan.Basis.Memory.Untimed, pod.UID)
			if !ok {
				earlier = Sighting{pod.UID, p.snap.Now}
				p.noteUntimed(pod)
			}
			seen = append(seen, earlier)
		}
	}
	slices.SortFunc(seen, func(a, b Sighting) int { return cmp.Compare(a.UID, b.UID) })
	p.pods.untimed = seen
	if !slices.Equal(seen, p.plan.Basis.Memory.Untimed) {
		p.plan.Basis.Untimed = slices.Clone(seen)
	}
}

func (p *Planner) noteUntimed(pod *Pod) {
	message := "is unknown, and so are the creation and all other times; the backoff counts from now"
	for _, c := range pod.detail().Containers {
		if c.State != ContainerTerminated && !c.FinishedAt.IsZero() {
			message = fmt.Sprintf("does not count, since the state of container %q is not Terminated; the backoff counts from now", c.Name)
		}
	}
	p.note(podField(pod, "containers.finishedAt"), `""`, message)
}

func sighting(seen []Sighting, uid string) (Sighting, bool) {
	i, ok := slices.BinarySearchFunc(seen, uid, func(s Sighting, uid string) int { return cmp.Compare(s.UID, uid) })
	if !ok {
		return Sighting{}, false
	}
	return seen[i], true
}

// finishedAt is when a pod finished, or was first seen if nothing tells (J32).
func (p *Planner) finishedAt(pod *Pod) time.Time {
	at := finishTime(pod)
	if at.IsZero() {
		s, _ := sighting(p.pods.untimed, pod.UID)
		at = s.At
	}
	return at
}

// finishTime is when a pod finished: the time its containers tell; else when Ready
// turned False; else the deletion less its grace period; else the creation (J32).
// It is zero if nothing is known.
func finishTime(pod *Pod) time.Time {
	detail := pod.detail()
	if latest, all := lastContainer(detail.Containers); all {
		return latest
	}
	if !pod.Ready && !detail.ReadyTransition.IsZero() {
		return detail.ReadyTransition
	}
	if d := pod.Deletion; d != nil {
		return d.Timestamp.Add(-time.Duration(d.GracePeriodSeconds) * time.Second)
	}
	return detail.CreationTimestamp
}

// lastContainer is the latest finish of the app containers and the sidecars, which
// are the restartable init containers. App containers that have not all finished
// tell nothing, and the sidecars alone decide. A sidecar that has not finished
// leaves the time open. Other init containers finish earlier and do not matter.
func lastContainer(containers []Container) (latest time.Time, ok bool) {
	apps, _ := latestFinish(containers, AppContainer)
	sidecars, all := latestFinish(containers, RestartableInitContainer)
	if !all {
		return time.Time{}, false
	}
	if sidecars.After(apps) {
		apps = sidecars
	}
	return apps, !apps.IsZero()
}

// latestFinish is the latest finish of the containers of a kind, or zero with false
// when one of them has not finished.
func latestFinish(containers []Container, kind ContainerKind) (latest time.Time, all bool) {
	for i := range containers {
		c := &containers[i]
		switch {
		case c.Kind != kind:
		case c.State != ContainerTerminated || c.FinishedAt.IsZero():
			return time.Time{}, false
		case c.FinishedAt.After(latest):
			latest = c.FinishedAt
		}
	}
	return latest, true
}
