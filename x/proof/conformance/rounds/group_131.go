//go:build before137

package rounds

import corev1 "k8s.io/api/core/v1"

// Before 1.37 there is no gate WorkloadWithJob, and pods belong to no groups.
func setGroup(*corev1.Pod, string) {}

func groupOf(*corev1.Pod) string { return "" }
