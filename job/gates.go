package job

import (
	"slices"

	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/release"
)

// withoutGates returns the snapshot as a controller sees it whose feature gates
// Options.Without are off: without the fields that belong to them. Nothing in the snapshot
// itself is written to.
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

// ignoreFields clears the fields of a spec that a controller ignores, except managedBy, which
// [ManagerOf] reads. Rules with FailIndex stay, so that the others keep their places: without a
// limit, they match nothing (J21).
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

// untimedSidecar is a restartable init container that tells no finish time.
const untimedSidecar jobpod.Kind = 255

// withoutSidecars keeps the restartable init containers of a pod from telling a finish time
// (J32). Their restarts rank the pod as before (J29).
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
