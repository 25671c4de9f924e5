package rounds

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// kind holds the common properties of the pods of a snapshot, some in percent.
type kind struct {
	phases             []corev1.PodPhase
	tracked, deleted   int
	strange, equalTime int
}

var phases = []corev1.PodPhase{
	corev1.PodPending,
	corev1.PodRunning,
	corev1.PodRunning,
	corev1.PodSucceeded,
	corev1.PodFailed,
}

// kindOf draws the common properties of the pods.
func (d *draw) kindOf() kind {
	k := kind{
		phases:    phases,
		tracked:   90,
		deleted:   15,
		strange:   pick(d, 0, 0, 10, 30),
		equalTime: pick(d, 0, 0, 30, 100),
	}
	switch d.IntN(6) {
	case 0:
		k.phases = []corev1.PodPhase{corev1.PodFailed}
	case 1:
		k.phases = []corev1.PodPhase{corev1.PodSucceeded, corev1.PodSucceeded, corev1.PodFailed}
	case 2:
		k.phases = []corev1.PodPhase{corev1.PodPending, corev1.PodRunning}
	case 3:
		k.phases = append(phases, corev1.PodUnknown)
	}
	if d.chance(30) {
		k.deleted = pick(d, 0, 50)
	}
	return k
}

func (d *draw) pod(of *batchv1.Job, k *kind, number int) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: fmt.Sprintf("p%d", number), UID: types.UID(fmt.Sprintf("u%04d", number)),
			ResourceVersion: "1", CreationTimestamp: d.ago(2*number + d.IntN(2)),
			Labels: map[string]string{labelKey: labelValue}, Annotations: map[string]string{},
		},
		Spec: corev1.PodSpec{
			InitContainers: of.Spec.Template.Spec.InitContainers,
			Containers:     of.Spec.Template.Spec.Containers,
		},
		Status: corev1.PodStatus{Phase: pick(d, k.phases...)},
	}

	ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	if ended && d.chance(k.equalTime) {
		p.CreationTimestamp = d.ago(90) // running pods must differ: the real controller breaks ties by chance
	} else if ended && d.chance(50) {
		p.CreationTimestamp = d.ago(2*d.age() + 1)
	}

	if d.chance(k.tracked) {
		p.Finalizers = append(p.Finalizers, batchv1.JobTrackingFinalizer)
	}
	if d.chance(5) {
		p.Finalizers = append(p.Finalizers, "example.com/other")
	}

	if d.chance(k.deleted) {
		at := d.ago(pick(d, -30, -1, 0, 1, d.age()))
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, maybe[int64](d, 0, 5, 30)
	}
	if p.Status.Phase != corev1.PodPending || d.chance(30) {
		p.Spec.NodeName = "node"
	}

	d.index(of, p, k)
	d.owner(of, p, k)
	d.conditions(p)
	d.containers(p)

	if p.Status.Phase == corev1.PodFailed && d.chance(1) { // without times, as in a store other than Kubernetes
		p.CreationTimestamp, p.Status.Conditions, p.Status.ContainerStatuses = metav1.Time{}, nil, nil
	}
	return p
}

// index draws the completion index and the failures of the index.
func (d *draw) index(of *batchv1.Job, p *corev1.Pod, k *kind) {
	if mode := of.Spec.CompletionMode; mode == nil || *mode != batchv1.IndexedCompletion {
		return
	}

	below := int(*of.Spec.Completions) + 1
	if d.chance(k.strange) {
		if text := pick(d, "", "x", "-1", "1.5", "2147483647", "+1", "01", fmt.Sprint(below+d.IntN(3))); text != "" {
			p.Annotations[batchv1.JobCompletionIndexAnnotation] = text
		}
	} else {
		p.Annotations[batchv1.JobCompletionIndexAnnotation] = fmt.Sprint(min(d.IntN(below), d.IntN(below)))
	}

	counts := map[string][]string{
		batchv1.JobIndexFailureCountAnnotation:                {"", "0", "0", "1", "2", "3"},
		"batch.kubernetes.io/job-index-ignored-failure-count": {"", "", "0", "1", "4"},
	}
	for _, key := range [...]string{
		batchv1.JobIndexFailureCountAnnotation,
		"batch.kubernetes.io/job-index-ignored-failure-count",
	} {
		text := pick(d, counts[key]...)
		if d.chance(k.strange / 4) {
			text = pick(d, "x", "-1", "99999999999", "100")
		}
		if text != "" && (of.Spec.BackoffLimitPerIndex != nil || d.chance(k.strange)) {
			p.Annotations[key] = text
		}
	}
}

func (d *draw) owner(of *batchv1.Job, p *corev1.Pod, k *kind) {
	ref := *metav1.NewControllerRef(of, batchv1.SchemeGroupVersion.WithKind("Job"))
	switch {
	case !d.chance(k.strange):
	case d.chance(40): // an orphan
		if d.chance(80) {
			return
		}
		p.Labels = map[string]string{labelKey: "another"}
		return
	case d.chance(60): // the labels were changed
		p.Labels = map[string]string{labelKey: "another"}
	case d.chance(50):
		ref.UID, ref.Name = "another", "another"
	}
	p.OwnerReferences = []metav1.OwnerReference{ref}
}

func (d *draw) conditions(p *corev1.Pod) {
	if d.chance(60) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodReady,
			Status: pick(d, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionFalse,
				corev1.ConditionUnknown),
		})
		if d.chance(85) {
			p.Status.Conditions[0].LastTransitionTime = d.ago(d.age())
		}
	}
	if p.Status.Phase == corev1.PodFailed && d.chance(30) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
			Type:   pick(d, corev1.DisruptionTarget, "ConfigIssue"),
			Status: pick(d, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionFalse),
		})
	}
}

// containers draws the states of the containers: all, some or none of them.
func (d *draw) containers(p *corev1.Pod) {
	if d.chance(15) {
		return
	}
	for _, c := range p.Spec.Containers {
		if d.chance(95) {
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, d.container(p, c.Name))
		}
	}
	for _, c := range p.Spec.InitContainers {
		if d.chance(85) {
			p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, d.container(p, c.Name))
		}
	}
}

func (d *draw) container(p *corev1.Pod, name string) corev1.ContainerStatus {
	s := corev1.ContainerStatus{Name: name, RestartCount: pick[int32](d, 0, 0, 0, 1, 2)}
	ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	switch {
	case ended && d.chance(85) || d.chance(10):
		s.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: pick[int32](d, 0, 1, 1, 2, 42, 137)}
		if p.Status.Phase == corev1.PodSucceeded {
			s.State.Terminated.ExitCode = 0
		}
		if d.chance(95) {
			s.State.Terminated.FinishedAt = d.ago(d.age())
		}
	case d.chance(70):
		s.State.Running = &corev1.ContainerStateRunning{}
	case d.chance(80):
		s.State.Waiting = &corev1.ContainerStateWaiting{}
	}
	return s
}
