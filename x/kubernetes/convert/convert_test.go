package convert_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

func toJSON(t testing.TB, object any) []byte {
	t.Helper()
	data, err := json.Marshal(object)
	must.OK(t, err)
	return data
}

// same compares the results of a decoder and of a conversion.
func same[T any](t *testing.T, decoded T, err error, converted T) {
	t.Helper()
	must.OK(t, err)
	if diff := cmp.Diff(decoded, converted, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("(-decoded +converted):\n%s", diff)
	}
}

// FuzzJob: a job converts to the same value as through JSON, and its status back to the same status.
func FuzzJob(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var o batchv1.Job
		fill(data, &o)
		o.TypeMeta = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}
		before := o.DeepCopy()
		converted := convert.Job(&o)
		decoded, err := job.DecodeJob(toJSON(t, &o))
		same(t, decoded, err, converted)
		if got, end := convert.IsFinished(&o), converted.Status.Finished(); got != (end != "") {
			t.Fatalf("finished %t, the end is %q", got, end)
		}

		var status batchv1.JobStatus
		must.OK(t, json.Unmarshal(toJSON(t, converted.Status), &status))
		if got := convert.JobStatus(converted.Status); !equality.Semantic.DeepEqual(status, got) {
			t.Fatalf("status by JSON %+v\nconverted %+v", status, got)
		}
		if !equality.Semantic.DeepEqual(before, &o) {
			t.Fatal("the object was written to")
		}
	})
}

// FuzzPod: a pod converts to the same value as through JSON, for any job.
func FuzzPod(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var o struct {
			Pod corev1.Pod
			Job batchv1.Job
		}
		fill(data, &o)
		o.Pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		of := convert.Job(&o.Job)
		converted := convert.Pod(&of, &o.Pod)
		decoded, err := job.DecodePod(&of, toJSON(t, &o.Pod))
		same(t, decoded, err, converted)
	})
}

// FuzzCronJob: the same as FuzzJob, for a CronJob and a child.
func FuzzCronJob(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var o struct {
			CronJob batchv1.CronJob
			Child   batchv1.Job
		}
		fill(data, &o)
		o.CronJob.TypeMeta = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "CronJob"}
		o.Child.TypeMeta = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}
		converted := convert.CronJob(&o.CronJob)
		decoded, err := cronjob.DecodeCronJob(toJSON(t, &o.CronJob))
		same(t, decoded, err, converted)

		child := convert.Child(&converted, &o.Child)
		decodedChild, err := cronjob.DecodeChild(&converted, toJSON(t, &o.Child))
		same(t, decodedChild, err, child)

		var status batchv1.CronJobStatus
		must.OK(t, json.Unmarshal(toJSON(t, converted.Status), &status))
		if got := convert.CronJobStatus(converted.Status); !equality.Semantic.DeepEqual(status, got) {
			t.Fatalf("status by JSON %+v\nconverted %+v", status, got)
		}
	})
}

// TestPod_Untyped: values that the decoder refuses, and values that JSON cannot hold.
func TestPod_Untyped(t *testing.T) {
	o := &corev1.Pod{}
	o.CreationTimestamp.Time = at(0).Add(1)
	o.Status.Phase = "Hibernating"
	long := int64(1 << 40)
	o.DeletionTimestamp, o.DeletionGracePeriodSeconds = &metav1.Time{Time: at(1)}, &long
	p := convert.Pod(&job.Job{}, o)
	if p.Phase != job.PodUnknown {
		t.Errorf("phase %s", p.Phase)
	}
	if got := p.Detail.CreationTimestamp; !got.Equal(at(0).Add(1)) {
		t.Errorf("created at %s: the fraction is lost", got)
	}
	if got := p.Deletion.GracePeriodSeconds; got != long {
		t.Errorf("grace period %d", got)
	}
}

// TestPod_Counts: the conversion keeps the failure count of a pod's index, and the pod's conditions
// with their times.
func TestPod_Counts(t *testing.T) {
	p := convert.Pod(&job.Job{}, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{batchv1.JobIndexFailureCountAnnotation: "2"}},
		Spec:       corev1.PodSpec{InitContainers: []corev1.Container{{Name: "init"}}},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Time{Time: at(3)}},
		}, InitContainerStatuses: []corev1.ContainerStatus{{Name: "init"}}},
	})
	if c := p.Detail.Containers; len(c) != 1 || c[0].Kind != jobpod.Init {
		t.Errorf("a container without a policy is %+v", c)
	}
	if d := p.Detail; d.FailureCount != 2 || len(d.Conditions) != 1 || !d.ReadyTransition.Equal(at(3)) {
		t.Errorf("detail %+v", d)
	}
}

// TestPod_Bounds: a negative grace period is 0, and without conditions or containers the lists are nil.
func TestPod_Bounds(t *testing.T) {
	grace, now := int64(-5), metav1.Now()
	p := convert.Pod(&job.Job{}, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now, DeletionGracePeriodSeconds: &grace}})
	if p.Deletion == nil || p.Deletion.GracePeriodSeconds != 0 {
		t.Errorf("deletion %+v", p.Deletion)
	}
	if p.Detail.Conditions != nil || p.Detail.Containers != nil {
		t.Errorf("lists of what the pod does not have: %#v", p.Detail)
	}
}

// TestChildOf: a Child is computed from the metadata of an object. Its StartTime is the object's
// creation.
func TestChildOf(t *testing.T) {
	o := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprint("c-", at(0).Unix()/60), Namespace: "ns", UID: "p", CreationTimestamp: metav1.Time{Time: at(1)},
	}}
	got := convert.ChildOf(&cronjob.CronJob{Namespace: "ns", Name: "c", UID: "u"}, o, "u", &cronjob.Options{Marks: cronjob.Marks{TimeIn: cronjob.InName}})
	want := cronjob.Child{Name: o.Name, UID: "p", CreationTimestamp: at(1), StartTime: at(1), ScheduledTime: at(0)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// Another CronJob of that name controls it.
	yes := true
	o.OwnerReferences = []metav1.OwnerReference{{Name: "c", UID: "other", Controller: &yes}}
	if got := convert.ChildOf(&cronjob.CronJob{Namespace: "ns", Name: "c", UID: "u"}, o, "other", &cronjob.Options{}); !got.Foreign || !got.Misnamed {
		t.Errorf("got %+v", got)
	}
}
