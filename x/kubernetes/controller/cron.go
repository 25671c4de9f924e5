package controller

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/schedule"
	"github.com/batchplan/batchplan/x/kubernetes/backend"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

// Cron describes a kind of objects, P, that start objects of another kind, C, on a schedule:
// CronJobs and their jobs, or resources of your own. SetStatus and Report get copies and may change
// them. The other functions must not change the objects that they get.
type Cron[P, C Object] struct {
	// Parent and Child are the two kinds.
	Parent, Child schema.GroupVersionKind
	// Spec returns the spec to plan. Only the schedule is required. Without a concurrency policy,
	// runs overlap; without limits, all children are kept.
	Spec func(P) cronjob.Spec
	// Status returns the status that a parent stores, and SetStatus sets it in a copy of the
	// parent. LastScheduleTime is required. A kind need not store the list of active children, or
	// the time of the last success: if Status does not return what SetStatus has set, the
	// controller computes it from the children (cronjob.Options.ActiveFromChildren and
	// SuccessFromChildren).
	Status    func(P) cronjob.Status
	SetStatus func(P, cronjob.Status)
	// Report, if set, fills in the rest of the status in a copy of the parent: conditions, a phase,
	// observedGeneration. It is called after SetStatus when a round writes the status, unless an
	// earlier write of the round has failed. At the end of each round it is called again, and its
	// changes are written as well. The same report must always lead to the same status, so Report
	// must not read the clock.
	Report func(P, *CronReport)
	// Check, if set, returns why a parent cannot be served, for example because a server would
	// refuse its template. After such an error, nothing is started, stopped or recorded, an event
	// has the reason, and Report gets the error.
	Check func(P) error
	// New returns a new child from the parent's template. The controller adds the name, the
	// namespace, the owner, and the labels and annotations of the run.
	New func(P) C
	// Ended sets Finished and FinishTime of a child that has ended; all other children count as running.
	// CompletionTime of a Complete child defaults to FinishTime, and StartTime to the creation.
	Ended func(C, *cronjob.Child)
	// Schedule, if set, returns the options to add to CronJobOptions.Schedule for a parent.
	Schedule func(P) []schedule.Option
	// OwnerLabel is the label of a child that holds the UID of its parent. If it is empty, a child
	// has a controller reference instead, and the garbage collector deletes it after its parent.
	OwnerLabel string
	// Namespace returns the namespace of a parent's children. It is for parents that have no
	// namespace themselves, and must be nil for others. Its result for a parent must not change. If
	// it is nil, the children of such a parent have no namespace either.
	Namespace func(P) string
	// Parents and Children return the clients of a namespace, which is empty for objects without
	// one. Typed clients of client-go are such clients.
	Parents  func(namespace string) backend.ParentClient[P]
	Children func(namespace string) backend.ChildClient[C]
	// ParentInformer and ChildInformer cache the parents and the children.
	ParentInformer, ChildInformer cache.SharedIndexInformer
}

// BatchCronJobs returns the CronJobs of batch/v1 and their jobs, with the factory's informers. If
// the factory is nil, set the informers.
func BatchCronJobs(
	client kubernetes.Interface, factory informers.SharedInformerFactory,
) Cron[*batchv1.CronJob, *batchv1.Job] {
	kind := Cron[*batchv1.CronJob, *batchv1.Job]{
		Parent:    batchv1.SchemeGroupVersion.WithKind("CronJob"),
		Child:     batchv1.SchemeGroupVersion.WithKind("Job"),
		Spec:      func(o *batchv1.CronJob) cronjob.Spec { return convert.CronJob(o).Spec },
		Status:    func(o *batchv1.CronJob) cronjob.Status { return convert.CronJob(o).Status },
		SetStatus: func(o *batchv1.CronJob, s cronjob.Status) { o.Status = convert.CronJobStatus(s) },
		New: func(o *batchv1.CronJob) *batchv1.Job {
			return &batchv1.Job{Spec: *o.Spec.JobTemplate.Spec.DeepCopy()}
		},
		Ended: convert.Ending,
		Parents: func(namespace string) backend.ParentClient[*batchv1.CronJob] {
			return client.BatchV1().CronJobs(namespace)
		},
		Children: func(namespace string) backend.ChildClient[*batchv1.Job] { return client.BatchV1().Jobs(namespace) },
	}
	if factory != nil {
		kind.ParentInformer = factory.Batch().V1().CronJobs().Informer()
		kind.ChildInformer = factory.Batch().V1().Jobs().Informer()
	}
	return kind
}

// cronKind is a [Cron] with any type arguments.
type cronKind interface {
	parent() schema.GroupVersionKind
	childKind() string
	// value returns a parent as a CronJob, in the namespace of its children.
	value(Object) cronjob.CronJob
	// namespace returns the namespace of a parent's children. ownNamespace returns the namespace of
	// the parents whose children are in a namespace.
	namespace(parent Object) string
	ownNamespace(ofChildren string) string
	child(of *cronjob.CronJob, o Object, options *cronjob.Options) cronjob.Child
	// owner returns the UID of a child's parent, and the parent's name if the child holds it.
	owner(child Object) (uid types.UID, name string)
	schedule(Object) (options []schedule.Option, ok bool)
	// check returns why a parent cannot be served.
	check(Object) error
	// newBackend returns the backend of a plan. The backend keeps the report up to date.
	newBackend(parent Object, report *CronReport) writer
	// reports reports whether the kind has a Report.
	reports() bool
	// tell writes the report into the status of a parent, if that changes anything.
	tell(ctx context.Context, parent Object, report *CronReport) error
	// says replaces the words CronJob and job in a sentence of the planner by the names of the two
	// kinds.
	says(text string) string
	// logKey is the key of a parent in the log.
	logKey() string
}

// writer is the backend of a plan; written returns the parent after its last write, or nil.
type writer interface {
	cronjobapply.Observer
	// reread reads the parent from the server.
	reread(ctx context.Context) (Object, error)
	written() Object
}

func (k *Cron[P, C]) parent() schema.GroupVersionKind { return k.Parent }
func (k *Cron[P, C]) childKind() string               { return k.Child.Kind }

// says implements [cronKind]. The planner's sentences are about a CronJob and its jobs.
func (k *Cron[P, C]) says(text string) string {
	child := cronjob.Kind{Kind: k.Child.Kind}.String()
	return strings.NewReplacer("the CronJob ", "the "+k.Parent.Kind+" ", "an active job ", "an active "+child+" ",
		"successful jobs ", "successful "+child+"s ", "failed jobs ", "failed "+child+"s ").Replace(text)
}

func (k *Cron[P, C]) logKey() string {
	if k.Parent.Kind == "CronJob" {
		return "cronJob"
	}
	return strings.ToLower(k.Parent.Kind)
}

func (k *Cron[P, C]) value(o Object) cronjob.CronJob {
	parent := o.(P)
	value := convert.Parent(parent, k.Spec(parent), k.Status(parent))
	value.Namespace = k.namespace(o)
	return value
}

func (k *Cron[P, C]) namespace(parent Object) string {
	if k.Namespace != nil {
		return k.Namespace(parent.(P))
	}
	return parent.GetNamespace()
}

func (k *Cron[P, C]) ownNamespace(ofChildren string) string {
	if k.Namespace != nil {
		return ""
	}
	return ofChildren
}

func (k *Cron[P, C]) child(of *cronjob.CronJob, o Object, options *cronjob.Options) cronjob.Child {
	uid, _ := k.owner(o)
	child := convert.ChildOf(of, o, uid, options)
	k.Ended(o.(C), &child)
	if child.Finished == cronjob.Complete && child.CompletionTime.IsZero() {
		child.CompletionTime = child.FinishTime
	}
	return child
}

func (k *Cron[P, C]) owner(child Object) (uid types.UID, name string) {
	if k.OwnerLabel != "" {
		return types.UID(child.GetLabels()[k.OwnerLabel]), ""
	}
	if ref := metav1.GetControllerOfNoCopy(child); ref != nil && ref.Kind == k.Parent.Kind {
		return ref.UID, ref.Name
	}
	return "", ""
}

func (k *Cron[P, C]) schedule(o Object) (options []schedule.Option, ok bool) {
	if k.Schedule == nil {
		return nil, false
	}
	return k.Schedule(o.(P)), true
}

func (k *Cron[P, C]) check(o Object) error {
	if k.Check == nil {
		return nil
	}
	return k.Check(o.(P))
}

func (k *Cron[P, C]) reports() bool { return k.Report != nil }

func (k *Cron[P, C]) tell(ctx context.Context, o Object, report *CronReport) error {
	if k.Report == nil {
		return nil
	}
	told := o.DeepCopyObject().(P)
	k.Report(told, report)
	if isStoredAs(told, o) {
		return nil
	}
	_, err := k.Parents(o.GetNamespace()).UpdateStatus(ctx, told, metav1.UpdateOptions{})
	return err
}

// newChild returns the child that a creation describes.
func (k *Cron[P, C]) newChild(parent P, c *cronjob.Creation) C {
	child := k.New(parent)
	child.SetName(c.Name)
	child.SetNamespace(k.namespace(parent))
	child.SetLabels(merged(child.GetLabels(), c.Labels))
	child.SetAnnotations(merged(child.GetAnnotations(), c.Annotations))

	if k.OwnerLabel != "" {
		child.SetLabels(merged(child.GetLabels(), map[string]string{k.OwnerLabel: string(parent.GetUID())}))
		return child
	}
	child.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(parent, k.Parent)})
	return child
}

// merged returns the entries of both maps, with the value of b for a key in both. It does not
// change the maps.
func merged(a, b map[string]string) map[string]string {
	if len(a) == 0 {
		return b
	}
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

func (k *Cron[P, C]) newBackend(parent Object, report *CronReport) writer {
	w := &cronWriter[P, C]{report: report, reports: k.Report != nil}
	w.Cron = backend.Cron[P, C]{
		Parents:  k.Parents(parent.GetNamespace()),
		Children: k.Children(k.namespace(parent)),
		Kind:     k.Child,
		New:      k.newChild,
		SetStatus: func(o P, s cronjob.Status) {
			k.SetStatus(o, s)
			if k.Report != nil && !report.hasFailed() {
				k.Report(o, report)
			}
		},
		Owner:  func(c C) types.UID { uid, _ := k.owner(c); return uid },
		Object: parent.(P),
		Wrote:  func(o P) { w.last = o },
	}
	return w
}

type cronWriter[P, C Object] struct {
	backend.Cron[P, C]
	report  *CronReport
	reports bool
	last    Object
}

// Executed implements [cronjobapply.Observer].
func (w *cronWriter[P, C]) Executed(writes cronjob.Writes) {
	w.report.Writes = writes
	if w.reports {
		w.report.Status = w.report.Plan.Settle(writes).Status
	}
}

func (w *cronWriter[P, C]) written() Object { return w.last }

func (w *cronWriter[P, C]) reread(ctx context.Context) (Object, error) {
	return w.Parents.Get(ctx, w.Object.GetName(), metav1.GetOptions{})
}

// complete returns an error if a field is missing. It sets the options that depend on the kind of
// the children and on what the status stores.
func (k *Cron[P, C]) complete(o *CronJobOptions) error {
	for _, f := range []struct {
		name string
		is   bool
	}{
		{"Parent", k.Parent.Kind != ""},
		{"Child", k.Child.Kind != ""},
		{"Spec", k.Spec != nil},
		{"Status", k.Status != nil},
		{"SetStatus", k.SetStatus != nil},
		{"New", k.New != nil},
		{"Ended", k.Ended != nil},
		{"Parents", k.Parents != nil},
		{"Children", k.Children != nil},
		{"ParentInformer", k.ParentInformer != nil},
		{"ChildInformer", k.ChildInformer != nil},
	} {
		if !f.is {
			return fmt.Errorf("cron controller of %s: Cron.%s is required", k.Parent.Kind, f.name)
		}
	}

	active := cronjob.Reference{
		Kind:       k.Child.Kind,
		APIVersion: k.Child.GroupVersion().String(),
		Namespace:  "ns",
		Name:       "name",
		UID:        "uid",
	}
	probe := cronjob.Status{
		Active:             []cronjob.Reference{active},
		LastScheduleTime:   time.Unix(1_000_000_000, 0),
		LastSuccessfulTime: time.Unix(1_000_000_001, 0),
	}
	object := newObject[P]()
	k.SetStatus(object, probe)
	stored := k.Status(object)
	if !stored.LastScheduleTime.Equal(probe.LastScheduleTime) {
		return fmt.Errorf("cron controller of %s: Status does not return the LastScheduleTime that SetStatus has set: "+
			"without it, a run would start again once its %s is gone", k.Parent.Kind, k.Child.Kind)
	}

	storesActive := slices.Equal(stored.Active, probe.Active)
	storesSuccess := stored.LastSuccessfulTime.Equal(probe.LastSuccessfulTime)
	o.Planner.ActiveFromChildren = o.Planner.ActiveFromChildren || !storesActive
	o.Planner.SuccessFromChildren = o.Planner.SuccessFromChildren || !storesSuccess
	if o.Planner.ChildKind == (cronjob.Kind{}) && k.Child != batchv1.SchemeGroupVersion.WithKind("Job") {
		o.Planner.ChildKind = cronjob.Kind{Kind: k.Child.Kind, APIVersion: k.Child.GroupVersion().String()}
	}
	return nil
}

// newObject returns an empty object. T is a type of pointers.
func newObject[T Object]() T {
	object := reflect.New(reflect.TypeFor[T]().Elem()).Interface()
	if u, ok := object.(*unstructured.Unstructured); ok {
		u.Object = map[string]any{}
	}
	return object.(T)
}
