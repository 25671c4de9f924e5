package mirror_test

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/job/jobstatus"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/kubernetes/mirror"
)

// A job runs in two clusters. It fails in one, and ends when no pod is left in the other.
func Example() {
	start := metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	running := batchv1.JobStatus{StartTime: &start, Active: 1}
	failed := batchv1.JobStatus{StartTime: &start, Failed: 7, Conditions: []batchv1.JobCondition{
		{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded", Message: "too many pods have failed"},
	}}
	stopped := batchv1.JobStatus{StartTime: &start}

	job, server := &batchv1.Job{}, release.Newest()
	for minute, reports := range []map[string]batchv1.JobStatus{
		{"member1": running},
		{"member1": running, "member2": failed},
		{"member1": stopped, "member2": failed},
	} {
		var parts []jobstatus.Part
		for _, cluster := range []string{"member1", "member2"} {
			report := reports[cluster] // empty until the cluster reports
			parts = append(parts, mirror.Part(cluster, &report))
		}

		at := start.Add(time.Duration(minute) * time.Minute)
		next := mirror.Aggregate(job, parts, at, server)
		if err := mirror.CheckServed(job, &next, server); err != nil {
			fmt.Println(err)
			return
		}
		job.Status = next // as the server would store it

		fmt.Println(next.Active, "active,", next.Failed, "failed")
		for _, c := range next.Conditions {
			fmt.Printf("  %s: %s, %s\n", c.Type, c.Reason, c.Message)
		}
	}
	// Output:
	// 1 active, 0 failed
	// 1 active, 7 failed
	//   FailureTarget: BackoffLimitExceeded, member2: too many pods have failed
	// 0 active, 7 failed
	//   FailureTarget: BackoffLimitExceeded, member2: too many pods have failed
	//   Failed: BackoffLimitExceeded, member2: too many pods have failed
}
