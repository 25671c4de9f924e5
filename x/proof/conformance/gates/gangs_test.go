//go:build !before137

package gates

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/dynamic/dynamicinformer"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	theirjob "k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/features"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
	"github.com/batchplan/batchplan/x/proof/conformance/theirs"
)

func init() { theirs.Quiet() }

var (
	workloads = schedulingv1beta1.SchemeGroupVersion.WithResource("workloads")
	podGroups = schedulingv1beta1.SchemeGroupVersion.WithResource("podgroups")
)

// world is the state from which both controllers start, and what happens to it.
type world struct {
	job       *batchv1.Job
	workloads []*schedulingv1beta1.Workload
	podGroups []*schedulingv1beta1.PodGroup
	// edit changes the job after five seconds.
	edit func(*batchv1.Job)
	// fail makes a verb on a resource fail, for example "create podgroups".
	fail string
	// late is a resource whose changes no cache shows after the start.
	late string
}

// TestJ44_Gangs lets both controllers start jobs with the gate on. Workloads, pod groups, pods,
// events and statuses must be the same.
func TestJ44_Gangs(t *testing.T) {
	featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{
		features.GenericWorkload: true, features.WorkloadWithJob: true,
	})

	const gang = `"scheduling":{"schedulingPolicy":{"gang":{"minCount":2}},"disruptionMode":{"all":{}},"schedulingConstraints":{"topology":[{"key":"rack"}]},"resourceClaims":[{"name":"c","resourceClaimName":"r"}]},`
	const elastic = `"scheduling":{"schedulingPolicy":{"gang":{}}},`
	parallel := func(n int32) func(*batchv1.Job) {
		return func(j *batchv1.Job) { j.Spec.Parallelism = &n }
	}
	owned := func(j *batchv1.Job, o metav1.Object) {
		o.SetNamespace("default")
		o.SetUID(types.UID("uid-" + o.GetName()))
		o.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(j, batchv1.SchemeGroupVersion.WithKind("Job"))})
	}

	policy := func(size int32) schedulingv1beta1.PodGroupSchedulingPolicy {
		if size == 0 {
			return schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}}
		}
		return schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: size}}
	}
	workload := func(w *world, name string, sizes ...int32) *schedulingv1beta1.Workload {
		out := &schedulingv1beta1.Workload{ObjectMeta: metav1.ObjectMeta{Name: name}}
		owned(w.job, out)
		out.Spec.ControllerRef = &schedulingv1beta1.TypedLocalObjectReference{APIGroup: "batch", Kind: "Job", Name: w.job.Name}
		for i, size := range sizes {
			out.Spec.PodGroupTemplates = append(out.Spec.PodGroupTemplates, schedulingv1beta1.PodGroupTemplate{
				Name: fmt.Sprintf("t%d", i), SchedulingPolicy: policy(size), PriorityClassName: "urgent",
			})
		}
		w.workloads = append(w.workloads, out)
		return out
	}
	group := func(w *world, name, of string, size int32) *schedulingv1beta1.PodGroup {
		out := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name}}
		owned(w.job, out)
		out.Spec = schedulingv1beta1.PodGroupSpec{
			WorkloadRef:      &schedulingv1beta1.WorkloadReference{WorkloadName: of, TemplateName: "t0"},
			SchedulingPolicy: policy(size),
		}
		w.podGroups = append(w.podGroups, out)
		return out
	}

	lend := func(w *world, template string) {
		isController := true
		w.job.OwnerReferences = []metav1.OwnerReference{{APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet", Name: "set", UID: "uid-set", Controller: &isController}}
		w.job.Annotations = map[string]string{jobgroup.TemplateAnnotation: template}
	}
	lent := func(w *world, sizes ...int32) {
		out := workload(w, "theirs", sizes...)
		out.OwnerReferences = nil
		out.Spec.ControllerRef = &schedulingv1beta1.TypedLocalObjectReference{APIGroup: "jobset.x-k8s.io", Kind: "JobSet", Name: "set"}
	}

	for _, test := range []struct {
		name, spec string
		change     func(*world)
	}{
		{"no policy", ``, nil},
		{"basic", `"scheduling":{"schedulingPolicy":{"basic":{}}},`, nil},
		{"a gang with all that it may have", gang, nil},
		{"a gang of the size of parallelism", elastic, nil},
		{"an Indexed job", elastic + `"completionMode":"Indexed",`, nil},
		{"a priority class", elastic, func(w *world) { w.job.Spec.Template.Spec.PriorityClassName = "urgent" }},
		{"a gang grows", elastic, func(w *world) { w.edit = parallel(4) }},
		{"a gang shrinks", elastic, func(w *world) { w.edit = parallel(1) }},
		{"a gang of nothing", elastic, func(w *world) { w.edit = parallel(0) }},
		{"a gang of a fixed size grows", gang, func(w *world) { w.edit = parallel(4) }},
		{"suspended", elastic + `"suspend":true,`, nil},
		{"suspended and resumed", elastic + `"suspend":true,`, func(w *world) {
			w.edit = func(j *batchv1.Job) { j.Spec.Suspend = new(bool) }
		}},
		{"the template names a group", elastic, func(w *world) {
			name := "mine"
			w.job.Spec.Template.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &name}
		}},
		{"a job that has started", elastic, func(w *world) { w.job.Status.StartTime = &metav1.Time{Time: time.Unix(1, 0)} }},
		{"a job that has a success", elastic, func(w *world) { w.job.Status.Succeeded = 1 }},
		{"a workload that the job has", elastic, func(w *world) { workload(w, "w", 3) }},
		{"a workload of another size", elastic, func(w *world) { workload(w, "w", 2); group(w, "g", "w", 5) }},
		{"both, and a job that has started", elastic, func(w *world) {
			workload(w, "w", 3)
			group(w, "g", "w", 3)
			w.job.Status.StartTime = &metav1.Time{Time: time.Unix(1, 0)}
		}},
		{"a workload that is no gang", elastic, func(w *world) { workload(w, "w", 0); group(w, "g", "w", 0) }},
		{"a workload of nobody", elastic, func(w *world) { workload(w, "w", 3).OwnerReferences = nil }},
		{"a group of nobody", elastic, func(w *world) { workload(w, "w", 3); group(w, "g", "w", 3).OwnerReferences = nil }},
		{"a workload of an earlier job of the name", elastic, func(w *world) { workload(w, "w", 3).OwnerReferences[0].UID = "uid-earlier" }},
		{"a workload for another kind of the name", elastic, func(w *world) { workload(w, "w", 3).Spec.ControllerRef.Kind = "CronJob" }},
		{"two workloads", elastic, func(w *world) { workload(w, "w", 3); workload(w, "v", 3) }},
		{"two groups", elastic, func(w *world) { workload(w, "w", 3); group(w, "g", "w", 3); group(w, "h", "w", 3) }},
		{"two templates", elastic, func(w *world) { workload(w, "w", 3, 3) }},
		{"a group of the name, of nobody", elastic, func(w *world) {
			workload(w, "w", 3)
			group(w, "w-t0-"+"566fcfb6f8", "v", 3).OwnerReferences = nil
		}},
		{"a controller that leaves nothing to the job", elastic, func(w *world) { lend(w, ""); w.job.Annotations = nil; lent(w, 3) }},
		{"a template is lent", ``, func(w *world) { lend(w, "t1"); lent(w, 3, 2) }},
		{"the first template is lent", ``, func(w *world) { lend(w, ""); lent(w, 3, 2) }},
		{"a template is lent that is not there", ``, func(w *world) { lend(w, "t2"); lent(w, 3) }},
		{"no workload is lent", ``, func(w *world) { lend(w, "t0") }},
		{"a lent template of another size", ``, func(w *world) { lend(w, "t0"); lent(w, 2); group(w, "g", "theirs", 3) }},
		{"a job that is being deleted", elastic, func(w *world) {
			w.job.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			w.job.Finalizers = []string{metav1.FinalizerDeleteDependents}
		}},
		{"a gang that grows while the job is being deleted", elastic, func(w *world) {
			w.edit = func(j *batchv1.Job) {
				parallel(4)(j)
				j.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
				j.Finalizers = []string{metav1.FinalizerDeleteDependents}
			}
		}},
		{"the pods are seen before their group", elastic, func(w *world) { w.late = "podgroups"; w.edit = parallel(4) }},
		{"the pods are seen before their workload", elastic, func(w *world) { w.late = "workloads"; w.edit = parallel(4) }},
		{"no workload can be created", elastic, func(w *world) { w.fail = "create workloads" }},
		{"no group can be created", elastic, func(w *world) { w.fail = "create podgroups" }},
		{"a workload cannot be resized", elastic, func(w *world) { w.fail = "patch workloads"; w.edit = parallel(4) }},
		{"a group cannot be resized", elastic, func(w *world) { w.fail = "patch podgroups"; w.edit = parallel(1) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			made := func() *world {
				w := &world{job: newJob(t, test.spec)}
				if test.change != nil {
					test.change(w)
				}
				return w
			}

			var got, want string
			synctest.Test(t, func(t *testing.T) { want = playTheirs(t, made()) })
			synctest.Test(t, func(t *testing.T) { got = playOurs(t, made()) })
			if diff := gocmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("theirs, ours:\n%s", diff)
			}
			if !strings.Contains(want, "Job") {
				t.Errorf("nothing to compare:\n%s", want)
			}
		})
	}
}

// newJob returns a job of three pods, as a server has stored it.
func newJob(t *testing.T, fields string) *batchv1.Job {
	const manifest = `{"metadata":{"name":"j","namespace":"default","uid":"job-1","labels":{"l":"j"}},"spec":{%s"parallelism":3,"completions":3,"backoffLimit":6,
		"selector":{"matchLabels":{"batch.kubernetes.io/controller-uid":"job-1"}},"podReplacementPolicy":"TerminatingOrFailed",
		"template":{"metadata":{"labels":{"batch.kubernetes.io/controller-uid":"job-1"}},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"i"}]}}}}`
	var j batchv1.Job
	must.OK(t, json.Unmarshal([]byte(fmt.Sprintf(manifest, fields)), &j))
	mode := batchv1.NonIndexedCompletion
	j.Spec.CompletionMode, j.Spec.Suspend = cmp.Or(j.Spec.CompletionMode, &mode), cmp.Or(j.Spec.Suspend, new(bool))
	return &j
}

// number gives created objects names and UIDs, as a server does. It also refuses the request that
// w.fail names, and hides the changes of the resource that w.late names.
func number(f *clienttesting.Fake, w *world) {
	n := 0
	if w.late != "" {
		f.PrependWatchReactor(w.late, func(clienttesting.Action) (bool, watch.Interface, error) {
			return true, watch.NewFake(), nil
		})
	}

	f.PrependReactor("*", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if a.GetVerb()+" "+a.GetResource().Resource == w.fail {
			return true, nil, fmt.Errorf("the API server is down")
		}
		if create, ok := a.(clienttesting.CreateAction); ok && a.GetVerb() == "create" {
			if o, err := meta.Accessor(create.GetObject()); err == nil && o.GetUID() == "" {
				n++
				if o.GetName() == "" {
					o.SetName(fmt.Sprintf("%s%d", o.GetGenerateName(), n))
				}
				o.SetUID(types.UID("uid of " + o.GetName()))
			}
		}
		return false, nil, nil
	})
}

func playTheirs(t *testing.T, w *world) string {
	objects := []runtime.Object{w.job}
	for _, o := range w.workloads {
		objects = append(objects, o)
	}
	for _, o := range w.podGroups {
		objects = append(objects, o)
	}
	client := fake.NewSimpleClientset(objects...)
	number(&client.Fake, w)
	factory := informers.NewSharedInformerFactory(client, 0)
	ctx, cancel := context.WithCancel(t.Context())
	groups := factory.Scheduling().V1beta1()
	c, err := theirjob.NewController(ctx, client, factory.Core().V1().Pods(), factory.Batch().V1().Jobs(), groups.Workloads(), groups.PodGroups())
	must.OK(t, err)
	factory.Start(ctx.Done())
	go c.Run(ctx, 1)
	live(t, client, w)

	allWorkloads, _ := client.SchedulingV1beta1().Workloads("").List(ctx, metav1.ListOptions{})
	allPodGroups, _ := client.SchedulingV1beta1().PodGroups("").List(ctx, metav1.ListOptions{})
	var found []any
	for i := range allWorkloads.Items {
		found = append(found, &allWorkloads.Items[i])
	}
	for i := range allPodGroups.Items {
		found = append(found, &allPodGroups.Items[i])
	}
	var events []string
	for _, a := range client.Actions() {
		if create, ok := a.(clienttesting.CreateAction); ok && a.GetResource().Resource == "events" {
			e := create.GetObject().(*corev1.Event)
			events = append(events, e.Reason+" "+e.Message)
		}
	}
	cancel()
	factory.Shutdown()
	synctest.Wait()
	return show(t, client, found, events)
}

// events are the events of our controller. They leave out the events about a snapshot without a
// plan: there the real controller only returns an error.
type events []string

func (e *events) Event(_ runtime.Object, _, reason, message string) {
	if reason != "InvalidJob" {
		*e = append(*e, reason+" "+message)
	}
}

func playOurs(t *testing.T, w *world) string {
	client := fake.NewSimpleClientset(w.job)
	number(&client.Fake, w)

	var objects []runtime.Object
	add := func(kind string, o any) {
		tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		must.OK(t, err)
		u := &unstructured.Unstructured{Object: tree}
		u.SetGroupVersionKind(schedulingv1beta1.SchemeGroupVersion.WithKind(kind))
		objects = append(objects, u)
	}

	for _, o := range w.workloads {
		add("Workload", o)
	}
	for _, o := range w.podGroups {
		add("PodGroup", o)
	}

	groups := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		workloads: "WorkloadList", podGroups: "PodGroupList",
	}, objects...)
	number(&groups.Fake, w)

	factory, dynamics := informers.NewSharedInformerFactory(client, 0), dynamicinformer.NewDynamicSharedInformerFactory(groups, 0)
	var reported events
	jobs, err := controller.NewJobs(controller.BatchJobs(client, factory), controller.JobOptions{
		Common: controller.Common{Events: &reported, Workers: 1}, ManagedBy: job.ControllerName,
		Planner: job.Kubernetes(gated(t, true)), Parallel: 1, Groups: controller.NewGroups(groups, dynamics),
	})
	must.OK(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	factory.Start(ctx.Done())
	dynamics.Start(ctx.Done())
	done := make(chan error, 1)
	go func() { done <- jobs.Start(ctx) }()
	live(t, client, w)

	var found []any
	for _, r := range []schema.GroupVersionResource{workloads, podGroups} {
		list, err := groups.Resource(r).List(ctx, metav1.ListOptions{})
		must.OK(t, err)
		for i := range list.Items {
			found = append(found, list.Items[i].Object)
		}
	}

	cancel()
	<-done
	factory.Shutdown()
	dynamics.Shutdown()
	synctest.Wait()
	return show(t, client, found, reported)
}

// live waits for five seconds, makes the edit, and waits for five more.
func live(t *testing.T, client *fake.Clientset, w *world) {
	time.Sleep(5 * time.Second)
	synctest.Wait()
	if w.edit == nil {
		return
	}
	j, err := client.BatchV1().Jobs("default").Get(t.Context(), "j", metav1.GetOptions{})
	must.OK(t, err)
	j = j.DeepCopy()
	w.edit(j)
	j.Generation++
	if _, err := client.BatchV1().Jobs("default").Update(t.Context(), j, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Second)
	synctest.Wait()
}

// show prints the state of a job, in lines that do not depend on the order of concurrent writes.
func show(t *testing.T, client *fake.Clientset, groups []any, events []string) string {
	var lines []string
	for _, o := range groups {
		data, err := json.Marshal(o)
		must.OK(t, err)
		var tree map[string]any
		must.OK(t, json.Unmarshal(data, &tree))
		metadata := tree["metadata"].(map[string]any)
		data, _ = json.Marshal(withoutNull(map[string]any{
			"name": metadata["name"], "owners": metadata["ownerReferences"], "spec": tree["spec"],
		}))
		lines = append(lines, string(data))
	}

	ctx := context.Background()
	pods, _ := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	for _, p := range pods.Items {
		data, _ := json.Marshal([]any{p.OwnerReferences, p.Spec.SchedulingGroup, p.DeletionTimestamp != nil})
		lines = append(lines, "pod "+string(data))
	}
	jobs, _ := client.BatchV1().Jobs("").List(ctx, metav1.ListOptions{})
	for _, j := range jobs.Items {
		status := convert.Job(&j).Status
		lines = append(lines, fmt.Sprint("Job ", status))
	}

	for _, e := range events {
		if strings.HasPrefix(e, "Successful") {
			e, _, _ = strings.Cut(e, ":") // not the name of the pod
		}
		lines = append(lines, "event "+e)
	}

	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
}

func withoutNull(tree any) any {
	switch tree := tree.(type) {
	case map[string]any:
		for field, value := range tree {
			if value == nil {
				delete(tree, field)
			} else {
				tree[field] = withoutNull(value)
			}
		}
	case []any:
		for i := range tree {
			tree[i] = withoutNull(tree[i])
		}
	}
	return tree
}
