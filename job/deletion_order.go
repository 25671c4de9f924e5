package job

import (
	"cmp"
	"time"

	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// worth returns the order in which a job deletes surplus pods, the least valuable first (J29).
func worth(quirks jobquirk.Set) func(a, b *Pod) int {
	if quirks.Has(jobquirk.SidecarsUnranked) {
		return byWorthOfApps
	}
	return byWorth
}

func byWorth(a, b *Pod) int { return compareWorth(a, b, true) }

func byWorthOfApps(a, b *Pod) int { return compareWorth(a, b, false) }

// compareWorth compares the worth of two pods. The restarts of sidecars are compared only if
// sidecars is true.
func compareWorth(a, b *Pod, sidecars bool) int {
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

	for _, kind := range [...]jobpod.Kind{jobpod.App, jobpod.RestartableInit} {
		if kind == jobpod.RestartableInit && !sidecars {
			continue
		}
		if c := cmp.Compare(mostRestarts(y.Containers, kind), mostRestarts(x.Containers, kind)); c != 0 {
			return c
		}
	}

	if c := newerFirst(x.CreationTimestamp, y.CreationTimestamp); c != 0 {
		return c
	}
	return cmp.Compare(a.UID, b.UID)
}

// newerFirst orders times from the newest to the oldest. A missing time counts as the newest.
func newerFirst(a, b time.Time) int {
	if a.IsZero() != b.IsZero() {
		return falseFirst(b.IsZero())
	}
	return b.Compare(a)
}

// mostRestarts returns the greatest restart count of one container of the kind.
func mostRestarts(containers []jobpod.Container, kind jobpod.Kind) int32 {
	var most int32
	for i := range containers {
		if c := &containers[i]; c.Kind == kind || kind == jobpod.RestartableInit && c.Kind == untimedSidecar {
			most = max(most, c.Restarts)
		}
	}
	return most
}
