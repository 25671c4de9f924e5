package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/backend"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

// Object is an object of any kind.
type Object = backend.Object

// Kind describes objects whose pods the planner of jobs runs: jobs, or a resource of your own.
// SetStatus and Report get copies and may change them. The other functions must not change the
// objects that they get.
type Kind[T Object] struct {
	schema.GroupVersionKind
	// Spec returns the job's spec that is in an object. Its template is required. Fields that a
	// server defaults for a job are defaulted (J1), and a spec that a server would refuse is
	// reported with an event (J2). Without a selector, the pods get the label
	// batch.kubernetes.io/controller-uid with the object's UID and are selected by it, as the pods
	// of a job are. So another object of the same name does not adopt them.
	Spec func(T) *batchv1.JobSpec
	// Status returns the job's status that an object stores, and SetStatus sets it in a copy of the
	// object. SetStatus may be nil if Status returns a pointer to a field of the object.
	Status    func(T) *batchv1.JobStatus
	SetStatus func(T, batchv1.JobStatus)
	// Report, if set, fills in the rest of the status in a copy of the object: conditions of its
	// own, a phase, observedGeneration. It is called after SetStatus when a round writes the
	// status, unless an earlier write of the round has failed. At the end of each round it is
	// called again, and its changes are written as well. The same report must always lead to the
	// same status, so Report must not read the clock. A job that has ended has no rounds.
	Report func(T, *JobReport)
	// Check, if set, returns why an object cannot be served. It checks the fields that are not part
	// of the spec that Spec returns.
	Check func(T) error
	// Namespace returns the namespace of an object's pods. It is required for a kind whose objects
	// have no namespace of their own, and must be nil for others. Its result must never change.
	Namespace func(T) string
	// Objects returns the client of a namespace, which is empty for objects without one. The typed
	// clients of client-go are such clients.
	Objects func(namespace string) backend.OwnerClient[T]
	// PodClient writes the pods.
	PodClient kubernetes.Interface
	// ObjectInformer and PodInformer cache the objects and the pods. NewTTL needs no PodInformer.
	ObjectInformer, PodInformer cache.SharedIndexInformer

	isBatch bool // of batch/v1: a server has defaulted and validated the spec
}

// BatchJobs returns the kind of jobs of batch/v1, with the informers of jobs and pods of the
// factory. If the factory is nil, set the informers; NewTTL alone needs only ObjectInformer.
func BatchJobs(client kubernetes.Interface, factory informers.SharedInformerFactory) Kind[*batchv1.Job] {
	kind := Kind[*batchv1.Job]{
		GroupVersionKind: batchv1.SchemeGroupVersion.WithKind("Job"),
		Spec:             func(o *batchv1.Job) *batchv1.JobSpec { return &o.Spec },
		Status:           func(o *batchv1.Job) *batchv1.JobStatus { return &o.Status },
		Objects: func(namespace string) backend.OwnerClient[*batchv1.Job] {
			return client.BatchV1().Jobs(namespace)
		},
		PodClient: client,
		isBatch:   true,
	}
	if factory != nil {
		kind.ObjectInformer = factory.Batch().V1().Jobs().Informer()
		kind.PodInformer = factory.Core().V1().Pods().Informer()
	}
	return kind
}

// ownerKind is a [Kind] with any type argument.
type ownerKind interface {
	gvk() schema.GroupVersionKind
	// value returns an object as a job, in the namespace of its pods.
	value(Object) job.Job
	// namespace returns the namespace of an object's pods. ownNamespace returns the namespace of
	// the objects whose pods are in a namespace.
	namespace(Object) string
	ownNamespace(ofPods string) string
	// check returns why an object cannot be served. The job is what value returns for the object.
	check(Object, *job.Job) error
	template(Object) *corev1.PodTemplateSpec
	get(ctx context.Context, key types.NamespacedName) (Object, error)
	// writeStatus replaces the status on condition of the object's version, and annotate sets an
	// annotation on condition of its UID. Both return the object as the write left it.
	writeStatus(ctx context.Context, o Object, s job.Status, report *JobReport) (Object, error)
	// reports reports whether the kind has a Report.
	reports() bool
	// tell writes the report into an object's status. It returns the written object, or nil if
	// nothing changed.
	tell(ctx context.Context, o Object, report *JobReport) (Object, error)
	annotate(ctx context.Context, o Object, annotation, value string) (Object, error)
	remove(ctx context.Context, key types.NamespacedName, o metav1.DeleteOptions) error
	// says replaces the word Job in a sentence of the planner by the kind's name.
	says(text string) string
	// decides replaces the word job in a line of a plan by the kind's name.
	decides(line string) string
	// managedBy returns the ManagedBy of a controller, or its default if name is empty.
	managedBy(name string, planner *job.Options) (string, error)
	// controller returns the full name of one of the kind's controllers. For jobs of batch/v1, the
	// full name is the short name.
	controller(short string) string
}

// complete checks that the fields that a controller needs are set, including those for pods if
// ofPods is set.
func (k *Kind[T]) complete(ofPods bool) error {
	for _, f := range []struct {
		name string
		is   bool
	}{
		{"GroupVersionKind", k.Kind != ""},
		{"Spec", k.Spec != nil},
		{"Status", k.Status != nil},
		{"Objects", k.Objects != nil},
		{"ObjectInformer", k.ObjectInformer != nil},
		{"PodInformer", k.PodInformer != nil || !ofPods},
		{"PodClient", k.PodClient != nil || !ofPods},
	} {
		if !f.is {
			return fmt.Errorf("controller of %T: Kind.%s is required", newObject[T](), f.name)
		}
	}

	one, at := int32(1), metav1.Unix(1_000_000_000, 0)
	probe := batchv1.JobStatus{
		Conditions:       []batchv1.JobCondition{{Type: "Probe", Status: corev1.ConditionTrue}},
		StartTime:        &at,
		CompletionTime:   &at,
		Active:           1,
		Succeeded:        2,
		Failed:           3,
		Terminating:      &one,
		Ready:            &one,
		CompletedIndexes: "1",
		FailedIndexes:    &[]string{"2"}[0],
		UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{
			Succeeded: []types.UID{"s"},
			Failed:    []types.UID{"f"},
		},
	}
	object := newObject[T]()
	k.setStatus(object, probe)
	if stored := k.Status(object); stored == nil || !equality.Semantic.DeepEqual(*stored, probe) {
		return fmt.Errorf("controller of %s: Status does not return what SetStatus has set: "+
			"a job needs all fields of its status", k.Kind)
	}
	return nil
}

func (k *Kind[T]) gvk() schema.GroupVersionKind { return k.GroupVersionKind }

func (k *Kind[T]) controller(short string) string {
	switch {
	case k.isBatch:
		return short
	case short == "job":
		return strings.ToLower(k.Kind)
	}
	return strings.ToLower(k.Kind) + "-" + short
}

func (k *Kind[T]) managedBy(name string, planner *job.Options) (string, error) {
	switch other := planner.ControllerName; {
	case other != "" && other != name:
		return "", fmt.Errorf("Planner.ControllerName: %q: is not ManagedBy, %q", other, name)
	case name != "":
		return name, nil
	case k.isBatch:
		return "", errors.New("ManagedBy is required: the spec.managedBy of the jobs to take")
	}
	return job.ControllerName, nil
}

func (k *Kind[T]) value(o Object) job.Job {
	object := o.(T)
	spec := k.Spec(object)
	value := convert.JobOf(object, spec, k.Status(object))
	value.Namespace = k.namespace(o)
	if k.isBatch {
		return value
	}

	job.Default(&value.Spec)
	if spec.Selector == nil {
		value.Spec.Selector = &job.Selector{MatchLabels: uidLabel(object)}
	}
	for i := range value.Status.Conditions { // not shared with the object
		if c := &value.Status.Conditions[i]; isAboutJob(c.Type) {
			c.Message = replaced(c.Message, k.Kind, "Job")
		}
	}
	return value
}

func (k *Kind[T]) namespace(o Object) string {
	if k.Namespace != nil {
		return k.Namespace(o.(T))
	}
	return o.GetNamespace()
}

func (k *Kind[T]) ownNamespace(ofPods string) string {
	if k.Namespace != nil {
		return ""
	}
	return ofPods
}

// uidLabel returns the label that an object's pods have and by which they are selected.
func uidLabel(o Object) map[string]string {
	return map[string]string{batchv1.ControllerUidLabel: string(o.GetUID())}
}

func (k *Kind[T]) template(o Object) *corev1.PodTemplateSpec {
	spec := k.Spec(o.(T))
	if spec.Selector != nil {
		return &spec.Template
	}
	template := spec.Template // a shallow copy: the labels of the cache's template are not written to
	template.Labels = merged(spec.Template.Labels, uidLabel(o))
	return &template
}

func (k *Kind[T]) check(o Object, value *job.Job) error {
	if value.Namespace == "" {
		return errors.New("metadata.namespace: is missing, and Kind.Namespace names none for the pods")
	}
	if k.Check != nil {
		if err := k.Check(o.(T)); err != nil {
			return err
		}
	}
	if !k.isBatch {
		if err := job.Validate(value.Spec); err != nil {
			return err
		}
	}

	// Even a stored job may be invalid. Without a selector, a job would adopt every pod of its
	// namespace that nobody controls. With a selector that its own pods do not match, it would
	// release each of them and create another.
	switch labels := k.template(o).Labels; {
	case value.Spec.Selector == nil:
		return errors.New("job.spec.selector: is required")
	case !value.Spec.Selector.Matches(labels):
		return fmt.Errorf("job.spec.template.metadata.labels: %v: do not match the selector", labels)
	}
	return nil
}

func (k *Kind[T]) get(ctx context.Context, key types.NamespacedName) (Object, error) {
	return k.Objects(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
}

func (k *Kind[T]) writeStatus(ctx context.Context, o Object, s job.Status, report *JobReport) (Object, error) {
	status := convert.JobStatus(s)
	if k.isBatch {
		shallow := *o.(*batchv1.Job) // the template is not copied
		o = &shallow
	} else {
		o = o.DeepCopyObject().(Object)
		for i := range status.Conditions {
			if c := &status.Conditions[i]; isAboutJob(job.ConditionType(c.Type)) {
				c.Message = k.says(c.Message)
			}
		}
	}
	k.setStatus(o.(T), status)
	if k.Report != nil && !report.hasFailed() {
		k.Report(o.(T), report)
	}
	return k.Objects(o.GetNamespace()).UpdateStatus(ctx, o.(T), metav1.UpdateOptions{})
}

func (k *Kind[T]) reports() bool { return k.Report != nil }

func (k *Kind[T]) tell(ctx context.Context, o Object, report *JobReport) (Object, error) {
	if k.Report == nil {
		return nil, nil
	}
	told := o.DeepCopyObject().(T)
	k.Report(told, report)
	if isStoredAs(told, o) {
		return nil, nil
	}
	return k.Objects(o.GetNamespace()).UpdateStatus(ctx, told, metav1.UpdateOptions{})
}

func (k *Kind[T]) setStatus(o T, s batchv1.JobStatus) {
	if k.SetStatus != nil {
		k.SetStatus(o, s)
	} else if status := k.Status(o); status != nil {
		*status = s
	}
}

func (k *Kind[T]) annotate(ctx context.Context, o Object, annotation, value string) (Object, error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": o.GetUID(), "annotations": map[string]string{annotation: value},
	}})
	if err != nil {
		return nil, err // unreachable
	}
	return k.Objects(o.GetNamespace()).Patch(ctx, o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
}

func (k *Kind[T]) remove(ctx context.Context, key types.NamespacedName, o metav1.DeleteOptions) error {
	return k.Objects(key.Namespace).Delete(ctx, key.Name, o)
}

// says implements [ownerKind]. It replaces the word Job at the beginning of a sentence.
func (k *Kind[T]) says(text string) string { return replaced(text, "Job", k.Kind) }

func (k *Kind[T]) decides(line string) string {
	if k.isBatch {
		return line
	}
	return strings.NewReplacer("the job ", "the "+k.Kind+" ", ": Job ", ": "+k.Kind+" ").Replace(line)
}

// replaced returns a sentence with another subject, if it begins with the given subject.
func replaced(text, subject, by string) string {
	if rest, has := strings.CutPrefix(text, subject+" "); has {
		return by + " " + rest
	}
	return text
}

// isAboutJob reports whether the planner's messages of a condition can begin with "Job".
func isAboutJob(t job.ConditionType) bool {
	return t == job.ConditionSuspended || t == job.ConditionFailed || t == job.ConditionFailureTarget
}
