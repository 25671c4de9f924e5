package e2e

import (
	"context"
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/kubernetes/backend"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// things is a client of the objects of a cluster-scoped kind.
type things struct{ dynamic.ResourceInterface }

type thing = unstructured.Unstructured

func (t things) Get(ctx context.Context, name string, o metav1.GetOptions) (*thing, error) {
	return t.ResourceInterface.Get(ctx, name, o)
}

func (t things) Create(ctx context.Context, object *thing, o metav1.CreateOptions) (*thing, error) {
	object.SetGroupVersionKind(scoped.WithKind("Film"))
	return t.ResourceInterface.Create(ctx, object, o)
}

func (t things) UpdateStatus(ctx context.Context, object *thing, o metav1.UpdateOptions) (*thing, error) {
	return t.ResourceInterface.UpdateStatus(ctx, object, o)
}

func (t things) Delete(ctx context.Context, name string, o metav1.DeleteOptions) error {
	return t.ResourceInterface.Delete(ctx, name, o)
}

var scoped = schema.GroupVersion{Group: "scope.example.com", Version: "v1"}

// define defines a cluster-scoped kind, and waits until the server has it.
func (p *place) define(client dynamic.Interface, kind, plural string) things {
	p.Helper()
	definitions := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	_, err := definitions.Create(p.Context(), &thing{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": plural + "." + scoped.Group},
		"spec": map[string]any{
			"group": scoped.Group, "scope": "Cluster", "names": map[string]any{"kind": kind, "plural": plural},
			"versions": []any{map[string]any{
				"name": scoped.Version, "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}, metav1.CreateOptions{})
	must.OK(p, err)
	out := things{client.Resource(scoped.WithResource(plural))}
	p.until("the server has "+plural, func() bool {
		_, err := out.List(p.Context(), metav1.ListOptions{})
		return err == nil
	})
	return out
}

// part decodes a field of an object.
func part[V any](o *thing, field string) *V {
	out := new(V)
	if object, found, _ := unstructured.NestedMap(o.Object, field); found {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, out); err != nil {
			panic(err)
		}
	}
	return out
}

func setPart[V any](o *thing, field string, v V) {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&v)
	if err != nil {
		panic(err)
	}
	o.Object[field] = object
}

// season is the spec of a Season, which starts Films.
type season struct {
	Schedule string          `json:"schedule"`
	Film     batchv1.JobSpec `json:"film"`
}

// testScope: objects of a cluster-scoped kind start objects of another such kind, whose pods have a
// namespace.
func testScope(t *testing.T, c *cluster) {
	p := c.newPlace(t)
	client, err := dynamic.NewForConfig(c.Config)
	must.OK(t, err)
	films, seasons := p.define(client, "Film", "films"), p.define(client, "Season", "seasons")

	filmKind := controller.Kind[*thing]{
		GroupVersionKind: scoped.WithKind("Film"),
		Spec:             func(o *thing) *batchv1.JobSpec { return part[batchv1.JobSpec](o, "spec") },
		Status:           func(o *thing) *batchv1.JobStatus { return part[batchv1.JobStatus](o, "status") },
		SetStatus:        func(o *thing, s batchv1.JobStatus) { setPart(o, "status", s) },
		Namespace:        func(*thing) string { return p.namespace },
		Objects:          func(string) backend.OwnerClient[*thing] { return films },
	}
	seasonKind := controller.Cron[*thing, *thing]{
		Parent: scoped.WithKind("Season"), Child: scoped.WithKind("Film"),
		Spec: func(o *thing) cronjob.Spec {
			return cronjob.Spec{Schedule: part[season](o, "spec").Schedule, ConcurrencyPolicy: cronjob.Forbid}
		},
		Status:    func(o *thing) cronjob.Status { return *part[cronjob.Status](o, "status") },
		SetStatus: func(o *thing, s cronjob.Status) { setPart(o, "status", s) },
		New: func(o *thing) *thing {
			out := &thing{Object: map[string]any{}}
			setPart(out, "spec", part[season](o, "spec").Film)
			return out
		},
		Ended: func(o *thing, c *cronjob.Child) {
			for _, condition := range part[batchv1.JobStatus](o, "status").Conditions {
				if condition.Type == batchv1.JobComplete {
					c.Finished, c.FinishTime = cronjob.Complete, condition.LastTransitionTime.Time
				}
			}
		},
		Parents:  func(string) backend.ParentClient[*thing] { return seasons },
		Children: func(string) backend.ChildClient[*thing] { return films },
	}

	ctx, cancel := context.WithCancel(t.Context())
	objects, pods := dynamicinformer.NewDynamicSharedInformerFactory(client, 0), informers.NewSharedInformerFactory(c, 0)
	filmCache := objects.ForResource(scoped.WithResource("films")).Informer()
	seasonCache := objects.ForResource(scoped.WithResource("seasons")).Informer()
	podCache := pods.Core().V1().Pods().Informer()
	common := controller.Common{Events: controller.NewRecorder(ctx, c, nil, "scope"), Namespace: func(namespace string) bool {
		return namespace == p.namespace || namespace == ""
	}}

	filmKind.PodClient, filmKind.ObjectInformer, filmKind.PodInformer = c, filmCache, podCache
	seasonKind.ParentInformer, seasonKind.ChildInformer = seasonCache, filmCache

	jobs, err := controller.NewJobs(filmKind, controller.JobOptions{Common: common})
	must.OK(t, err)
	orphans, err := controller.NewOrphans(filmKind, controller.OrphanOptions{Common: common})
	must.OK(t, err)
	ttl, err := controller.NewTTL(filmKind, controller.TTLOptions{Common: common})
	must.OK(t, err)
	crons, err := controller.NewCronJobs(seasonKind, controller.CronJobOptions{Common: common})
	must.OK(t, err)

	objects.Start(ctx.Done())
	pods.Start(ctx.Done())
	ended := make(chan error, 1)
	go func() { ended <- controller.Run(ctx, jobs, orphans, ttl, crons) }()
	t.Cleanup(func() {
		cancel()
		must.OK(t, <-ended)
		objects.Shutdown()
		pods.Shutdown()
	})

	film := jobOf("", "0", func(s *batchv1.JobSpec) {
		s.ManagedBy, s.Completions, s.TTLSecondsAfterFinished = nil, pointTo(int32(2)), pointTo(int32(1))
	}).Spec
	object := &thing{Object: map[string]any{}}
	object.SetGroupVersionKind(scoped.WithKind("Season"))
	object.SetName("s")
	setPart(object, "spec", season{"@every 2s", film})
	_, err = seasons.ResourceInterface.Create(t.Context(), object, metav1.CreateOptions{}) // the kind is a Season
	must.OK(t, err)

	parent := func() *thing {
		o, err := seasons.Get(t.Context(), "s", metav1.GetOptions{})
		must.OK(t, err)
		return o
	}
	isComplete := func(o *thing) bool {
		s := part[batchv1.JobStatus](o, "status")
		return s.Succeeded == 2 && len(s.Conditions) > 1
	}
	p.until("two films are complete and expire", func() bool {
		list, err := films.List(t.Context(), metav1.ListOptions{})
		must.OK(t, err)
		n := 0
		for i := range list.Items {
			o := &list.Items[i]
			if o.GetNamespace() != "" || !metav1.IsControlledBy(o, parent()) {
				t.Fatalf("a film %v", o.Object["metadata"])
			}
			if isComplete(o) && o.GetDeletionTimestamp() != nil {
				n++
			}
		}
		return n >= 2
	})

	if s := part[cronjob.Status](parent(), "status"); s.LastScheduleTime.IsZero() || s.LastSuccessfulTime.IsZero() {
		t.Errorf("the season has the status %+v", s)
	}
	for _, pod := range p.pods("") {
		if ref := metav1.GetControllerOf(&pod); ref == nil || ref.Kind != "Film" {
			t.Errorf("pod %s is of %v", pod.Name, ref)
		}
	}

	p.until("events of both kinds", func() bool {
		list, err := c.CoreV1().Events(corev1.NamespaceDefault).List(t.Context(), metav1.ListOptions{})
		must.OK(t, err)
		seen := map[string]bool{}
		for _, e := range list.Items {
			seen[fmt.Sprint(e.InvolvedObject.Kind, " ", e.Reason)] = true
		}
		return seen["Film SuccessfulCreate"] && seen["Film Completed"] && seen["Season SuccessfulCreate"]
	})
}
