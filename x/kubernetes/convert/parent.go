package convert

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/internal/batch"
)

// Parent returns the planner's value of an object, of any kind, that starts other objects on a
// schedule.
func Parent(o metav1.Object, spec cronjob.Spec, status cronjob.Status) cronjob.CronJob {
	version, _ := strconv.ParseInt(o.GetResourceVersion(), 10, 64)
	return cronjob.CronJob{
		Version:           version,
		Namespace:         o.GetNamespace(),
		Name:              o.GetName(),
		UID:               job.UID(o.GetUID()),
		CreationTimestamp: batch.Time(o.GetCreationTimestamp()),
		DeletionTimestamp: batch.TimeAt(o.GetDeletionTimestamp()),
		SpecChanged:       specChanged(o.GetManagedFields()),
		Spec:              spec,
		Status:            status,
	}
}

// ChildOf returns the planner's value of a child of any kind, from its metadata (C1). The child
// counts as started when it was created. Objects of other namespaces are Foreign.
func ChildOf(of *cronjob.CronJob, o metav1.Object, owner types.UID, options *cronjob.Options) cronjob.Child {
	child := cronjob.Child{
		Name:              o.GetName(),
		UID:               job.UID(o.GetUID()),
		Foreign:           owner == "" || job.UID(owner) != of.UID || o.GetNamespace() != of.Namespace,
		CreationTimestamp: batch.Time(o.GetCreationTimestamp()),
		DeletionTimestamp: batch.TimeAt(o.GetDeletionTimestamp()),
		StartTime:         batch.Time(o.GetCreationTimestamp()),
	}
	if ref := metav1.GetControllerOfNoCopy(o); ref != nil {
		hasName := ref.Name == of.Name && o.GetNamespace() == of.Namespace
		child.Misnamed = hasName == child.Foreign
	}
	child.ScheduledTime, child.Backfilled = options.ReadMarks(of.Name, child.Name, o.GetLabels(), o.GetAnnotations())
	return child
}

// Ending fills in the start and the end of a job from its status.
func Ending(o *batchv1.Job, c *cronjob.Child) {
	s := job.Status{Conditions: batch.Each(o.Status.Conditions, batch.Condition)}
	c.StartTime, c.CompletionTime = batch.TimeAt(o.Status.StartTime), batch.TimeAt(o.Status.CompletionTime)
	if c.Finished = s.Finished(); c.Finished != "" {
		c.FinishTime = s.Condition(c.Finished).LastTransitionTime
	}
}
