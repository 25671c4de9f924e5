package job

import (
	"slices"

	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/release"
)

// withoutGates returns the snapshot without the fields that belong to feature gates in
// Options.Without. Nothing in the snapshot itself is written to.
func (s *Snapshot) withoutGates() *Snapshot {
	seen, off := *s, s.Options.Without
	ignoreFields(&seen.Job.Spec, off)

	if off.Has(release.SidecarContainers) {
		seen.Pods = slices.Clone(s.Pods)
		for i := range seen.Pods {
			withoutSidecars(&seen.Pods[i])
		}
	}
	return &seen
}

// ignoreFields clears the fields of a spec that belong to gates that are off. managedBy stays,
// because [ManagerOf] checks the gate. Rules with FailIndex stay, so that other rules keep their
// places. Without backoffLimitPerIndex they match nothing (J21).
func ignoreFields(spec *Spec, off release.Gates) {
	if off.Has(release.JobPodReplacementPolicy) {
		spec.PodReplacementPolicy = ""
	}
	if off.Has(release.JobSuccessPolicy) {
		spec.SuccessPolicy = nil
	}
	if off.Has(release.JobBackoffLimitPerIndex) {
		spec.BackoffLimitPerIndex, spec.MaxFailedIndexes = nil, nil
	}
}

// untimedSidecar is the kind of a restartable init container whose finish time is ignored.
const untimedSidecar jobpod.Kind = 255

// withoutSidecars makes the planner ignore the finish times of a pod's restartable init containers
// (J32). Their restarts still affect the order of deletions (J29).
func withoutSidecars(pod *Pod) {
	isSidecar := func(c jobpod.Container) bool { return c.Kind == jobpod.RestartableInit }
	if pod.Detail == nil || !slices.ContainsFunc(pod.Detail.Containers, isSidecar) {
		return
	}

	detail := *pod.Detail
	detail.Containers = slices.Clone(detail.Containers)
	for i := range detail.Containers {
		if c := &detail.Containers[i]; isSidecar(*c) {
			c.Kind = untimedSidecar
		}
	}
	pod.Detail = &detail
}
