//go:build !before137

package rounds

import corev1 "k8s.io/api/core/v1"

// setGroup lets a new pod name a group.
func setGroup(p *corev1.Pod, name string) {
	if name != "" {
		p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &name}
	}
}

// groupOf describes the group that a pod names.
func groupOf(p *corev1.Pod) string {
	if g := p.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil {
		return " in " + *g.PodGroupName
	}
	return ""
}
