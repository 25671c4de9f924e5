package job

import "time"

// finishTime is when a pod finished: the time its containers tell; else when Ready
// turned False; else the deletion less its grace period; else the creation (J32).
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
