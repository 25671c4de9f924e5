//go:build !before137

package rounds

import corev1 "k8s.io/api/core/v1"

// setGroup makes a new pod a member of the pod group with this name, unless the name is empty.
func setGroup(p *corev1.Pod, name string) {
	if name != "" {
		p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &name}
	}
}

// groupOf describes the pod group to which a pod belongs.
func groupOf(p *corev1.Pod) string {
	if g := p.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil {
		return " in " + *g.PodGroupName
	}
	return ""
}
