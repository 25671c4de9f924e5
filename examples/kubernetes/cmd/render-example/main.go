// Render-example is a controller of a resource of its own: a Render has frames, and runs one
// pod for each, with the retries, counters and events of an Indexed job. Its definition is in
// crd.yaml.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/batchplan/batchplan/examples/kubernetes/controller"
	"github.com/batchplan/batchplan/examples/kubernetes/convert"
	"github.com/batchplan/batchplan/job"
)

var group = schema.GroupVersion{Group: "example.com", Version: "v1"}

// render is the resource. It has the status of a job.
type render struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Frames   int32                  `json:"frames"`
		Template corev1.PodTemplateSpec `json:"template"`
	} `json:"spec"`
	Status batchv1.JobStatus `json:"status"`
}

func read(o controller.Object) (r render) {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.(*unstructured.Unstructured).Object, &r); err != nil {
		return render{} // has no UID, which the planner refuses
	}
	r.Spec.Template.Labels = maps.Collect(maps.All(r.Spec.Template.Labels))
	r.Spec.Template.Labels["render"] = r.Name
	return r
}

// toJob returns the job whose pods a Render runs.
func toJob(r render) job.Job {
	by := group.String()
	out := convert.Job(&batchv1.Job{ObjectMeta: r.ObjectMeta, Status: r.Status, Spec: batchv1.JobSpec{
		Completions: &r.Spec.Frames, Parallelism: &r.Spec.Frames, ManagedBy: &by,
		CompletionMode: new(batchv1.IndexedCompletion), Template: r.Spec.Template,
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"render": r.Name}},
	}})
	job.Default(&out.Spec)
	return out
}

func renders(client dynamic.NamespaceableResourceInterface) controller.Kind {
	return controller.Kind{
		GroupVersionKind: group.WithKind("Render"),
		Value:            func(o controller.Object) job.Job { return toJob(read(o)) },
		Template:         func(o controller.Object) *corev1.PodTemplateSpec { r := read(o); return &r.Spec.Template },
		Get: func(ctx context.Context, namespace, name string) (controller.Object, error) {
			return client.Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		},
		WriteStatus: func(ctx context.Context, o controller.Object, s job.Status) (controller.Object, error) {
			object, status := o.(*unstructured.Unstructured).DeepCopy(), convert.JobStatus(s)
			fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&status)
			if err != nil {
				return nil, err
			}
			object.Object["status"] = fields
			return client.Namespace(o.GetNamespace()).UpdateStatus(ctx, object, metav1.UpdateOptions{})
		},
	}
}

func run(ctx context.Context, client kubernetes.Interface, dynamicClient dynamic.Interface) error {
	objects := dynamicClient.Resource(group.WithResource("renders"))
	own, pods := dynamicinformer.NewDynamicSharedInformerFactory(dynamicClient, 0), informers.NewSharedInformerFactory(client, 0)
	i, p := own.ForResource(group.WithResource("renders")).Informer(), pods.Core().V1().Pods().Informer()
	c, err := controller.NewJobsOf(renders(objects), client, i, p, controller.JobOptions{ManagedBy: group.String()})
	if err != nil {
		return err
	}
	orphans, err := controller.NewOrphansOf(renders(objects), client, i, p, controller.OrphanOptions{ManagedBy: group.String()})
	if err != nil {
		return err
	}
	own.Start(ctx.Done())
	pods.StartWithContext(ctx)
	defer own.Shutdown()
	defer pods.Shutdown()
	return controller.Run(ctx, c, orphans)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err == nil {
		err = run(ctx, kubernetes.NewForConfigOrDie(config), dynamic.NewForConfigOrDie(config))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "render-example:", err)
		os.Exit(1)
	}
}
