package mirror_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/internal/intact"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobstatus"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/kubernetes/mirror"
)

// TestNothingIsShared: no function changes its arguments, which may be in a cache.
func TestNothingIsShared(t *testing.T) {
	public := intact.Functions{
		Of:     []any{mirror.Part, mirror.Aggregate, mirror.AggregateFunc, mirror.CheckServed, mirror.Finish},
		Shares: map[string]string{"Part": "*", "Aggregate": "*", "AggregateFunc": "*", "Finish": "*"}, // parts that the functions do not change
	}
	start := metav1.NewTime(time.Unix(0, 0))
	status := batchv1.JobStatus{
		StartTime: &start, Failed: 1, Ready: value.To[int32](0), CompletedIndexes: "0,2", FailedIndexes: value.To("1"),
		Conditions:              []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}},
		UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{},
	}
	indexed := batchv1.IndexedCompletion
	spec := batchv1.JobSpec{Completions: value.To[int32](3), CompletionMode: &indexed, BackoffLimitPerIndex: value.To[int32](1)}
	var pool intact.Pool
	pool.Add(status, batchv1.Job{Spec: spec}, batchv1.Job{Spec: spec, Status: status}, time.Unix(9, 0), release.V136())
	pool.Add([]jobstatus.Part{mirror.Part("a", &status)}, jobstatus.Words(jobstatus.JoinFailures))
	pool.Add(job.Verdict{Type: job.ConditionFailureTarget}, job.Verdict{Type: job.ConditionSuccessCriteriaMet})
	public.Check(t, &pool)
	public.AllCalled(t)
}
