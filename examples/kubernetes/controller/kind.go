package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/batchplan/batchplan/examples/kubernetes/convert"
	"github.com/batchplan/batchplan/job"
)

// Object is an object of a [Kind].
type Object interface {
	runtime.Object
	metav1.Object
}

// Kind is a resource whose pods the planner of jobs runs: jobs, or a resource of your own.
type Kind struct {
	schema.GroupVersionKind
	// Value returns the planner's value of an object, which is not written to.
	Value func(Object) job.Job
	// Check, if set, says why an object, with that value, cannot be served. The planner checks
	// the value; this is for what the value does not hold.
	Check func(Object, *job.Job) error
	// Template is what the object's pods are made from.
	Template func(Object) *corev1.PodTemplateSpec
	// Get reads an object from the server.
	Get func(ctx context.Context, namespace, name string) (Object, error)
	// WriteStatus replaces the status on condition of the object's version, and returns the
	// object as the write left it. The object that it is given is not written to.
	WriteStatus func(ctx context.Context, o Object, s job.Status) (Object, error)
	// Annotate sets an annotation on condition of the object's UID, and returns the object as
	// the write left it. It is needed for [JobOptions.MemoryAnnotation] alone.
	Annotate func(ctx context.Context, o Object, annotation, value string) (Object, error)
}

// BatchJobs returns the kind of jobs of batch/v1.
func BatchJobs(client kubernetes.Interface) Kind {
	return Kind{
		GroupVersionKind: batchv1.SchemeGroupVersion.WithKind("Job"),
		Value:            func(o Object) job.Job { return convert.Job(o.(*batchv1.Job)) },
		Check: func(o Object, value *job.Job) error {
			return checkSelector(value, o.(*batchv1.Job).Spec.Template.Labels)
		},
		Template: func(o Object) *corev1.PodTemplateSpec { return &o.(*batchv1.Job).Spec.Template },
		Get: func(ctx context.Context, namespace, name string) (Object, error) {
			return client.BatchV1().Jobs(namespace).Get(ctx, name, metav1.GetOptions{})
		},
		WriteStatus: func(ctx context.Context, o Object, s job.Status) (Object, error) {
			object := *o.(*batchv1.Job)
			object.Status = convert.JobStatus(s)
			return client.BatchV1().Jobs(object.Namespace).UpdateStatus(ctx, &object, metav1.UpdateOptions{})
		},
		Annotate: func(ctx context.Context, o Object, annotation, value string) (Object, error) {
			patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
				"uid": o.GetUID(), "annotations": map[string]string{annotation: value},
			}})
			if err != nil {
				return nil, err // unreachable
			}
			return client.BatchV1().Jobs(o.GetNamespace()).Patch(ctx, o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
		},
	}
}

// checkSelector refuses what servers refuse, but may have stored: without a selector, a job would
// adopt every pod of its namespace that nobody controls; with one that its own pods do not match,
// it would release each of them and create another.
func checkSelector(value *job.Job, labels map[string]string) error {
	switch {
	case value.Spec.Selector == nil:
		return errors.New("job.spec.selector: is required")
	case !value.Spec.Selector.Matches(labels):
		return fmt.Errorf("job.spec.template.metadata.labels: %v: do not match the selector", labels)
	}
	return nil
}
