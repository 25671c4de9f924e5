package rounds

import (
	"iter"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchplan/batchplan/internal/specgen"
)

// smaller yields the snapshot without some of its pods: without a half, without a quarter, and so
// on down to one pod. Then it yields the snapshot with one thing less or simpler.
func (s *Snapshot) smaller() iter.Seq[subject] {
	return func(yield func(subject) bool) {
		for size := (len(s.Pods) + 1) / 2; size > 0; size /= 2 {
			for i := 0; i < len(s.Pods); i += size {
				out := *s
				out.Pods = slices.Delete(slices.Clone(s.Pods), i, min(i+size, len(s.Pods)))
				if !yield(&out) {
					return
				}
			}
		}
		before := s.String()
		for _, change := range append(withoutFields(), simpler...) {
			out := s.clone()
			change(out)
			if out.String() != before && !yield(out) {
				return
			}
		}
	}
}

func (s *Snapshot) clone() *Snapshot {
	out := *s
	out.Job, out.Pods = s.Job.DeepCopy(), nil
	for _, p := range s.Pods {
		out.Pods = append(out.Pods, p.DeepCopy())
	}
	return &out
}

// simpler are changes that make a snapshot simpler.
var simpler = []func(*Snapshot){
	func(s *Snapshot) { s.Faults = Faults{} },
	func(s *Snapshot) { s.Faults.Job = "" },
	func(s *Snapshot) { s.Faults.Groups = nil },
	func(s *Snapshot) { s.Groups.PodGroups = nil },
	func(s *Snapshot) { s.Groups.Workloads, s.Groups.PodGroups = nil, nil },
	func(s *Snapshot) { s.Job.Annotations, s.Groups.Template = nil, nil },
	func(s *Snapshot) { s.Patch = nil },
	func(s *Snapshot) { s.Delete = nil },
	func(s *Snapshot) { s.Create = nil },
	func(s *Snapshot) { s.Status = nil },
	func(s *Snapshot) { s.Memory = Memory{} },
	func(s *Snapshot) { s.Untracking = nil },
	func(s *Snapshot) { s.Failures = 0 },
	func(s *Snapshot) { s.Creations, s.Deletions, s.Age = 0, 0, 0 },
	func(s *Snapshot) { s.Job.DeletionTimestamp = nil },
	func(s *Snapshot) { s.Job.Status.Conditions = nil },
	func(s *Snapshot) { s.Job.Status.UncountedTerminatedPods = nil },
	func(s *Snapshot) { s.Job.Status.CompletedIndexes, s.Job.Status.Succeeded = "", 0 },
	func(s *Snapshot) { s.Job.Status.FailedIndexes = nil },
	func(s *Snapshot) { s.Job.Status.Failed = 0 },
	func(s *Snapshot) { s.Job.Spec.Template.Annotations, s.Job.Spec.Template.Finalizers = nil, nil },
	func(s *Snapshot) { each(s, func(p *corev1.Pod) { p.Status.Conditions = nil }) },
	func(s *Snapshot) { each(s, func(p *corev1.Pod) { p.DeletionTimestamp = nil }) },
	func(s *Snapshot) {
		s.Job.Spec.Template.Spec.InitContainers = nil
		each(s, func(p *corev1.Pod) { p.Spec.InitContainers, p.Status.InitContainerStatuses = nil, nil })
	},
	func(s *Snapshot) { each(s, func(p *corev1.Pod) { p.Status.ContainerStatuses = nil }) },
}

// withoutFields returns changes that each remove a field of the spec which a controller does not
// require.
func withoutFields() (changes []func(*Snapshot)) {
	required := []string{"parallelism", "completions", "completionMode", "backoffLimit", "template", "selector"}
	for _, field := range specgen.JobFields() {
		if !slices.Contains(required, field) {
			changes = append(changes, func(s *Snapshot) {
				spec := specgen.Decode[specgen.Object](s.Job.Spec)
				delete(spec, field)
				s.Job.Spec = specgen.Decode[batchv1.JobSpec](spec)
			})
		}
	}
	return changes
}

func each(s *Snapshot, change func(*corev1.Pod)) {
	for _, p := range s.Pods {
		change(p)
	}
}
