package job

import "time"

// finishTime is when a pod finished: the latest finish of its containers if all
// of them have finished; else when Ready turned False; else the deletion less
// its grace period; else the creation (J32). Init containers that do not restart
// are over before and do not matter.
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

func lastContainer(containers []Container) (latest time.Time, all bool) {
	for i := range containers {
		c := &containers[i]
		if c.Kind == InitContainer {
			continue
		}
		if c.State != ContainerTerminated || c.FinishedAt.IsZero() {
			return time.Time{}, false
		}
		if c.FinishedAt.After(latest) {
			latest = c.FinishedAt
		}
	}
	return latest, !latest.IsZero()
}
