package job

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/batchplan/batchplan/job/jobpod"
)

// sighting is a failed pod without a known finish time, and the time at which a round first saw it.
type sighting struct {
	UID UID       `json:"uid"`
	At  time.Time `json:"at"`
}

// findUntimed finds the failed pods without a known finish time, sorted by UID. They count as
// finished at the time of the round that first sees them. Without a time there would be no backoff
// at all. With the time of the current round, the backoff of an index would never end. It reuses
// buf.
func findUntimed(buf []sighting, s *Snapshot, c *census, earlier []sighting, notes *noteList) []sighting {
	seen := buf[:0]
	lists := [...][]int32{c.failed, c.recorded}
	if !s.Job.Spec.limitsIndexes() {
		lists[1] = nil // the backoff record has these already
	}

	for _, places := range lists {
		for _, i := range places {
			pod := &s.Pods[i]
			if pod.Phase == PodSucceeded || !finishTime(pod).IsZero() {
				continue
			}

			first, ok := sightingOf(earlier, pod.UID)
			if !ok {
				first = sighting{pod.UID, s.Now}
				notes.add(podField(pod, "containers.finishedAt"), `""`, whyUntimed(pod))
			}
			seen = append(seen, first)
		}
	}

	slices.SortFunc(seen, func(a, b sighting) int { return cmp.Compare(a.UID, b.UID) })
	return seen
}

// whyUntimed explains why the finish time of the pod is unknown.
func whyUntimed(pod *Pod) string {
	for _, c := range slices.Backward(pod.detail().Containers) {
		if c.State != jobpod.Terminated && !c.FinishedAt.IsZero() {
			return fmt.Sprintf("does not count, since the state of container %q is not Terminated; "+
				"the backoff counts from now", c.Name)
		}
	}
	return "is unknown, and so are the creation and all other times; the backoff counts from now"
}

func sightingOf(seen []sighting, uid UID) (sighting, bool) {
	i, ok := slices.BinarySearchFunc(seen, uid, func(s sighting, uid UID) int { return cmp.Compare(s.UID, uid) })
	if !ok {
		return sighting{}, false
	}
	return seen[i], true
}

// timeFinished returns the time at which a pod finished or, if that is unknown, was first seen
// (J32).
func timeFinished(pod *Pod, untimed []sighting) time.Time {
	if at := finishTime(pod); !at.IsZero() {
		return at
	}
	sighting, _ := sightingOf(untimed, pod.UID)
	return sighting.At
}

// finishTime returns the time at which a pod finished (J32). It is the latest finish of its
// containers; else the time at which Ready turned False; else the deletion time less the grace
// period; else the creation time. It is zero if none of these is known.
func finishTime(pod *Pod) time.Time {
	detail := pod.detail()
	if latest, all := lastContainer(detail.Containers); all {
		return latest
	}
	if !pod.Ready && !detail.ReadyTransition.IsZero() {
		return detail.ReadyTransition
	}
	if d := pod.Deletion; d != nil {
		return d.Begun()
	}
	return detail.CreationTimestamp
}

// lastContainer returns the latest finish of the app containers and the sidecars, which are the
// restartable init containers. If an app container has not finished, only the sidecars count. If a
// sidecar has not finished, ok is false. Other init containers finish earlier and do not matter.
func lastContainer(containers []jobpod.Container) (latest time.Time, ok bool) {
	apps, _ := latestFinish(containers, jobpod.App)
	sidecars, all := latestFinish(containers, jobpod.RestartableInit)
	if !all {
		return time.Time{}, false
	}
	if sidecars.After(apps) {
		apps = sidecars
	}
	return apps, !apps.IsZero()
}

// latestFinish returns the latest finish of the containers of a kind. If one of them has not
// finished, all is false.
func latestFinish(containers []jobpod.Container, kind jobpod.Kind) (latest time.Time, all bool) {
	for i := range containers {
		c := &containers[i]
		switch {
		case c.Kind != kind:
		case c.State != jobpod.Terminated || c.FinishedAt.IsZero():
			return time.Time{}, false
		case c.FinishedAt.After(latest):
			latest = c.FinishedAt
		}
	}
	return latest, true
}
