package convert_test

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

// FuzzTrim: for any job, a trimmed pod converts to the same value as the whole pod. A pod whose
// controller is of another kind keeps its finalizers, its phase and its owners.
func FuzzTrim(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var o struct {
			Pod corev1.Pod
			Job batchv1.Job
		}
		fill(data, &o)

		kind := "Job"
		if ref := metav1.GetControllerOf(&o.Pod); ref != nil {
			kind = ref.Kind
		}

		of, before := convert.Job(&o.Job), o.Pod.DeepCopy()
		trimmed := trim(t, &o.Pod, kind)
		if diff := cmp.Diff(convert.Pod(&of, before), convert.Pod(&of, trimmed)); diff != "" {
			t.Fatalf("(-whole +trimmed):\n%s", diff)
		}
		if !equality.Semantic.DeepEqual(before, &o.Pod) {
			t.Fatal("the object was written to")
		}

		if again := trim(t, trimmed, kind); !equality.Semantic.DeepEqual(trimmed, again) {
			t.Fatal("trimming twice is not the same as once")
		}
		if foreign := trim(t, &o.Pod, "another "+kind); metav1.GetControllerOf(&o.Pod) != nil {
			if !equality.Semantic.DeepEqual(o.Pod.Finalizers, foreign.Finalizers) || foreign.Status.Phase != o.Pod.Status.Phase ||
				!equality.Semantic.DeepEqual(foreign.OwnerReferences, o.Pod.OwnerReferences) {
				t.Fatalf("a pod of others lacks what the controllers read: %+v", foreign)
			}
		}
	})
}

func trim(t *testing.T, o *corev1.Pod, kinds ...string) *corev1.Pod {
	t.Helper()
	out, err := convert.Trim(kinds...)(o)
	must.OK(t, err)
	return out.(*corev1.Pod)
}

// TestTrim_Foreign: of a pod of another kind of controller, a cache keeps only what tells whose it
// is, and whether it has ended.
func TestTrim_Foreign(t *testing.T) {
	yes := true
	whole := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "p", Namespace: "ns", UID: "u", ResourceVersion: "7", Labels: map[string]string{"a": "b"},
			Annotations:     map[string]string{batchv1.JobCompletionIndexAnnotation: "1"},
			OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "r", UID: "uid-of-r", Controller: &yes}},
			Finalizers:      []string{"batch.kubernetes.io/job-tracking"}, CreationTimestamp: metav1.Unix(1, 0),
		},
		Spec: corev1.PodSpec{NodeName: "n", InitContainers: []corev1.Container{{Name: "i"}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodFailed, Conditions: []corev1.PodCondition{{Type: corev1.PodReady}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "c"}},
		},
	}
	want := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "p", Namespace: "ns", UID: "u", ResourceVersion: "7",
			OwnerReferences: whole.OwnerReferences, Finalizers: whole.Finalizers,
		},
		Status: corev1.PodStatus{Phase: corev1.PodFailed},
	}
	if diff := cmp.Diff(want, trim(t, whole, "Job")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTrim_Others: other objects lose only their managed fields.
func TestTrim_Others(t *testing.T) {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}}}
	out, err := convert.Trim("Job")(j)
	must.OK(t, err)
	if got := out.(*batchv1.Job); got.Name != "j" || got.ManagedFields != nil {
		t.Errorf("got %+v", got)
	}
}

// TestTrim_Labels: a trimmed pod has all labels of the whole pod.
func TestTrim_Labels(t *testing.T) {
	yes := true
	owner := []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: "uid-of-j", Controller: &yes}}
	for _, labels := range []map[string]string{
		nil, {"a": "b"}, {"a": "b", batchv1.JobNameLabel: "j", batchv1.ControllerUidLabel: "uid-of-j", "c": "uid-of-another"},
	} {
		for _, owners := range [][]metav1.OwnerReference{nil, owner} {
			p := trim(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: labels, OwnerReferences: owners}}, "Job")
			if diff := cmp.Diff(labels, p.Labels); diff != "" {
				t.Errorf("with %d owners (-whole +trimmed):\n%s", len(owners), diff)
			}
		}
	}
}

// TestTrim_Shares: pods share common words and flags; labels share the name and UID of the owner.
func TestTrim_Shares(t *testing.T) {
	trimmed := func() (*corev1.Pod, *metav1.OwnerReference) {
		yes, no := true, false
		p := trim(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: strings.Clone("batch/v1"), Kind: strings.Clone("Job"), Name: "j", UID: "uid-of-j", Controller: &yes, BlockOwnerDeletion: &no,
			}},
			Labels: map[string]string{
				strings.Clone(batchv1.JobNameLabel): strings.Clone("j"), strings.Clone(batchv1.ControllerUidLabel): strings.Clone("uid-of-j"),
			},
		}}, "Job")
		return p, &p.OwnerReferences[0]
	}

	addresses := func(labels map[string]string) (out [2]*byte) {
		for i, label := range [...]string{batchv1.JobNameLabel, batchv1.ControllerUidLabel} {
			for name := range labels {
				if name == label {
					out[i] = unsafe.StringData(name)
				}
			}
		}
		return out
	}

	p, a := trimmed()
	q, b := trimmed()
	if unsafe.StringData(a.APIVersion) != unsafe.StringData(b.APIVersion) || unsafe.StringData(a.Kind) != unsafe.StringData(b.Kind) ||
		a.Controller != b.Controller || a.BlockOwnerDeletion != b.BlockOwnerDeletion {
		t.Error("each pod has a copy of what all references have in common")
	}
	if addresses(p.Labels) != addresses(q.Labels) {
		t.Error("each pod has a copy of the names of its labels")
	}
	if unsafe.StringData(p.Labels[batchv1.JobNameLabel]) != unsafe.StringData(a.Name) ||
		unsafe.StringData(p.Labels[batchv1.ControllerUidLabel]) != unsafe.StringData(string(a.UID)) {
		t.Error("the labels have copies of the owner's name and UID")
	}
}
