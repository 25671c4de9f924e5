package batchtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/internal/value"
)

// Condition is a condition that [Cluster.Wait] waits for.
type Condition struct {
	// Job is the name of the job, or "namespace/name".
	Job string
	// What describes the condition in messages, such as "Complete" in "is not Complete".
	What string
	// Is reports whether the condition holds. The job is nil if it does not exist.
	Is func(*batchv1.Job) bool
	// Lost reports whether the condition can no longer hold, which ends the wait. It may be nil.
	Lost func(*batchv1.Job) bool
}

// Complete waits for a job to complete. A job that fails ends the wait.
func Complete(job string) Condition {
	return Condition{job, "Complete", has(batchv1.JobComplete), has(batchv1.JobFailed)}
}

// Failed waits for a job to fail. A job that completes ends the wait.
func Failed(job string) Condition {
	return Condition{job, "Failed", has(batchv1.JobFailed), has(batchv1.JobComplete)}
}

// FailedFor waits for a job to fail for a reason, such as batchv1.JobReasonBackoffLimitExceeded. Any
// other end ends the wait.
func FailedFor(job, reason string) Condition {
	is := func(j *batchv1.Job) bool {
		c := conditionOf(j, batchv1.JobFailed)
		return c != nil && c.Reason == reason
	}
	return Condition{job, "Failed for " + reason, is, finished}
}

// Finished waits for a job to end in either way.
func Finished(job string) Condition { return Condition{Job: job, What: "finished", Is: finished} }

// Suspended waits for a job to have no pods and the condition Suspended.
func Suspended(job string) Condition {
	is := func(j *batchv1.Job) bool { return has(batchv1.JobSuspended)(j) && j.Status.Active == 0 }
	return Condition{job, "Suspended", is, finished}
}

// ReadyPods waits for the job to count n ready pods.
func ReadyPods(job string, n int32) Condition {
	is := func(j *batchv1.Job) bool { return j != nil && j.Status.Ready != nil && *j.Status.Ready == n }
	return Condition{job, value.Count(n, "pod") + " ready", is, finished}
}

// Gone waits until there is no job of the name.
func Gone(job string) Condition {
	return Condition{Job: job, What: "gone", Is: func(j *batchv1.Job) bool { return j == nil }}
}

func has(of batchv1.JobConditionType) func(*batchv1.Job) bool {
	return func(j *batchv1.Job) bool { return conditionOf(j, of) != nil }
}

func finished(j *batchv1.Job) bool {
	return conditionOf(j, batchv1.JobComplete) != nil || conditionOf(j, batchv1.JobFailed) != nil
}

// conditionOf returns a condition that is true, or nil.
func conditionOf(j *batchv1.Job, of batchv1.JobConditionType) *batchv1.JobCondition {
	if j == nil {
		return nil
	}
	for i, c := range j.Status.Conditions {
		if c.Type == of && c.Status == corev1.ConditionTrue {
			return &j.Status.Conditions[i]
		}
	}
	return nil
}

// Wait waits until the condition holds, and returns the job from the server. If it does not hold
// within the [Patience], or can no longer hold, the test ends with an explanation of the job.
func (c *Cluster) Wait(t T, condition Condition) *batchv1.Job {
	t.Helper()
	key := c.key(condition.Job)
	j, problem := c.wait(key, condition)
	if problem != "" {
		t.Fatalf("job %s is not %s %s\n%s", key, condition.What, problem, c.Explain(condition.Job))
	}
	return j
}

// wait returns the job, or the reason why the wait has ended.
func (c *Cluster) wait(key types.NamespacedName, condition Condition) (j *batchv1.Job, problem string) {
	ctx, cancel := context.WithTimeout(context.Background(), c.options.patience)
	defer cancel()
	for {
		if why := c.unserved(key.Namespace); why != "" {
			return nil, "and will not be: " + why
		}
		changed := c.changes.wait()
		cached := c.cachedJob(key)
		lost := condition.Lost != nil && condition.Lost(cached)
		if lost || condition.Is(cached) {
			// The cache may not show yet what the test has just written.
			fresh, err := c.freshJob(ctx, key)
			switch {
			case err != nil:
				return nil, "as far as can be seen: " + err.Error()
			case condition.Is(fresh):
				return fresh, ""
			case condition.Lost != nil && condition.Lost(fresh):
				return nil, "and cannot be any more"
			}
		}

		select {
		case <-changed:
		case <-c.stopped:
		case <-ctx.Done():
			return nil, fmt.Sprintf("after %v", c.options.patience)
		}
	}
}

func (c *Cluster) cachedJob(key types.NamespacedName) *batchv1.Job {
	if o, found, err := c.jobs.GetIndexer().GetByKey(key.String()); err == nil && found {
		return o.(*batchv1.Job)
	}
	return nil
}

// freshJob reads the job from the server. It returns nil if there is none.
func (c *Cluster) freshJob(ctx context.Context, key types.NamespacedName) (*batchv1.Job, error) {
	j, err := c.client.BatchV1().Jobs(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return j, nil
}

// WaitRuns waits until the cluster has seen at least n jobs of a CronJob, and returns their names
// in the order of creation. Jobs that the history limits have deleted count. Jobs of an earlier
// CronJob of the same name do not. The test fails if this takes longer than the [Patience].
func (c *Cluster) WaitRuns(t T, cronJob string, n int) []string {
	t.Helper()
	key := c.key(cronJob)
	give := time.NewTimer(c.options.patience)
	defer give.Stop()
	for {
		changed := c.changes.wait()
		uid := c.uidOf(key)
		names := c.started.by(uid)
		if len(names) >= n && c.isPresent(key, uid) {
			return names
		}

		problem := c.unserved(key.Namespace)
		if problem == "" {
			select {
			case <-changed:
				continue
			case <-c.stopped:
				continue
			case <-give.C:
				problem = fmt.Sprintf("after %v", c.options.patience)
			}
		}
		t.Fatalf("CronJob %s has started %s, want %d: %s\n%s",
			key, value.Count(len(names), "job"), n, problem, c.explainCronJob(key))
		return nil
	}
}

// uidOf returns the UID of a CronJob, or "" if there is none.
func (c *Cluster) uidOf(key types.NamespacedName) types.UID {
	if o, found, err := c.cronJobs.GetIndexer().GetByKey(key.String()); err == nil && found {
		return o.(*batchv1.CronJob).UID
	}
	return ""
}

// isPresent reports whether the server has a CronJob with this UID. It is true as well if the
// server does not answer. The cache may still show a CronJob that the test has deleted.
func (c *Cluster) isPresent(key types.NamespacedName, uid types.UID) bool {
	ctx, cancel := context.WithTimeout(context.Background(), c.options.patience)
	defer cancel()
	object, err := c.client.BatchV1().CronJobs(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	if err != nil {
		return !apierrors.IsNotFound(err)
	}
	return object.UID == uid
}

// runsStarted records the jobs that CronJobs have started, including jobs that are gone.
type runsStarted struct {
	mu   sync.Mutex
	runs map[types.UID]map[types.UID]startedRun // by CronJob and job
}

type startedRun struct {
	name    string
	created time.Time
}

// saw notes an object if it is a job of a CronJob.
func (r *runsStarted) saw(o any) {
	j, ok := o.(*batchv1.Job)
	if !ok {
		return
	}
	ref := metav1.GetControllerOf(j)
	if ref == nil || ref.Kind != "CronJob" {
		return
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runs == nil {
		r.runs = map[types.UID]map[types.UID]startedRun{}
	}
	if r.runs[ref.UID] == nil {
		r.runs[ref.UID] = map[types.UID]startedRun{}
	}
	r.runs[ref.UID][j.UID] = startedRun{j.Name, j.CreationTimestamp.Time}
}

// by returns the names of the jobs of a CronJob, in the order of creation.
func (r *runsStarted) by(cronJob types.UID) (names []string) {
	r.mu.Lock()
	runs := slices.Collect(maps.Values(r.runs[cronJob]))
	r.mu.Unlock()

	slices.SortFunc(runs, func(a, b startedRun) int {
		return cmp.Or(a.created.Compare(b.created), strings.Compare(a.name, b.name))
	})
	for _, run := range runs {
		names = append(names, run.name)
	}
	return names
}
