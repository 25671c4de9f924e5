// Package broadcastjob tests the BroadcastJobs of OpenKruise, unmodified, with x/blackbox. It is a
// package of its own because its build needs the scheduler of Kubernetes.
package broadcastjob

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/openkruise/kruise/apis/apps/defaults"
	"github.com/openkruise/kruise/apis/apps/v1alpha1"
	"github.com/openkruise/kruise/pkg/controller/broadcastjob"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/batchplan/batchplan/x/blackbox"
)

var search = blackbox.Search{Seed: 1}

func init() {
	search.Flags(flag.CommandLine)
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	if err := v1alpha1.AddToScheme(scheme.Scheme); err != nil { // its clients use this one
		panic(err)
	}
}

// subject is the controller of BroadcastJobs, as its own manager starts it: with its watches and
// three workers. The kit plays the kubelets of four nodes, and the job selects as many nodes as
// pods are wanted.
func subject(t *testing.T) *blackbox.Batch {
	nodes := make([]any, 4)
	for i := range nodes {
		node := &corev1.Node{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i), Labels: map[string]string{}},
			Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110")}},
		}
		for n := i + 1; n <= len(nodes); n++ {
			node.Labels[oneOf(n)] = "true"
		}
		nodes[i] = node
	}

	return &blackbox.Batch{
		Program: blackbox.Program{
			Resources: []blackbox.Resource{
				definition(t, "broadcastjobs", defaulted), blackbox.Pods(),
				{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Node"), Plural: "nodes", ClusterScoped: true, Status: true},
			},
			Parent: v1alpha1.SchemeGroupVersion.WithKind("BroadcastJob"),
			Child:  blackbox.PodKind,
			Start: func(ctx context.Context, config *rest.Config) error {
				if err := forget(ctx); err != nil {
					return err
				}
				mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme.Scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
				if err != nil {
					return err
				}
				if err := broadcastjob.Add(mgr); err != nil {
					return err
				}
				return mgr.Start(ctx)
			},
			Objects: nodes,
			Without: map[blackbox.Action]string{
				blackbox.Several: "what it remembers of a job outlives the process here, and forget knows one name",
				blackbox.Delete:  "the same",
			},
			Off: map[blackbox.Check]string{
				blackbox.NothingRuns: "a BroadcastJob that is paused starts nothing, and lets its pods run",
				blackbox.CountedOnce: "the status counts the pods that there are, also when a user deletes one",
			},
		},
		New: func(s blackbox.BatchSettings) any {
			return &v1alpha1.BroadcastJob{Spec: v1alpha1.BroadcastJobSpec{
				Parallelism: new(intstr.FromInt32(s.AtOnce)), Paused: s.Suspend,
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					NodeSelector:  map[string]string{oneOf(int(s.Wanted)): "true"},
					RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "true"}},
				}},
			}}
		},
		Edit: func(o blackbox.Object, s blackbox.BatchSettings) {
			o.Set(float64(s.AtOnce), "spec", "parallelism")
			o.Set(s.Suspend, "spec", "paused")
		},
		Tally: func(o blackbox.Object) blackbox.Tally {
			succeeded, _ := o.Get("status", "succeeded").(float64)
			failed, _ := o.Get("status", "failed").(float64)
			ended := func(how string) bool {
				return slices.ContainsFunc(o.List("status", "conditions"), func(c blackbox.Object) bool { return c.Text("type") == how && c.Text("status") == "True" })
			}
			return blackbox.Tally{Succeeded: int32(succeeded), Failed: int32(failed), Ended: ended("Complete") || ended("Failed"), Success: ended("Complete")}
		},
		Index: nodeOf,
		// Pods have random names.
		RandomNames: true,
		// The policy is FailFast, the default: one failed pod fails the job.
		Settings: []blackbox.BatchSettings{
			{Wanted: 1, AtOnce: 1}, {Wanted: 2, AtOnce: 2}, {Wanted: 3, AtOnce: 1}, {Wanted: 3, AtOnce: 3}, {Wanted: 4, AtOnce: 2},
			{Wanted: 2, AtOnce: 2, Suspend: true},
		},
		Known: known(),
	}
}

// oneOf returns the label that the first n nodes have.
func oneOf(n int) string { return fmt.Sprintf("one-of-%d", n) }

// nodeOf returns the node that the affinity of a pod names.
func nodeOf(o blackbox.Object) string {
	for _, term := range o.List("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms") {
		for _, field := range term.List("matchFields") {
			return fmt.Sprint(field.Get("values"))
		}
	}
	return ""
}

// definition returns the resource of a CRD in the subject's module.
func definition(t *testing.T, plural string, defaults func(blackbox.Object)) blackbox.Resource {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/openkruise/kruise").Output()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "config/crd/bases/apps.kruise.io_"+plural+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := blackbox.FromCRD(data)
	if err != nil {
		t.Fatal(err)
	}
	r.Default = defaults
	return r
}

// defaulted sets the defaults as OpenKruise's webhook does.
func defaulted(o blackbox.Object) {
	var job v1alpha1.BroadcastJob
	data, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(data, &job)
	}
	if err == nil {
		defaults.SetDefaultsBroadcastJob(&job, false)
		data, err = json.Marshal(job)
	}
	var next blackbox.Object
	if err == nil {
		err = json.Unmarshal(data, &next)
	}
	if err != nil {
		panic(err) // it was admitted before
	}
	o["spec"] = next["spec"]
}

// forget makes the controller forget its expectations, as in a new process. The controller keeps
// them in a variable of its package, and drops them when it looks at a BroadcastJob that is gone.
func forget(ctx context.Context) error {
	r := &broadcastjob.ReconcileBroadcastJob{Client: fake.NewClientBuilder().WithScheme(scheme.Scheme).Build()}
	_, err := r.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "subject"}})
	return err
}

// TestSearch plays the known findings, and as many lives as the flags ask for.
func TestSearch(t *testing.T) { subject(t).Test(t, search) }

// known are the findings of docs/blackbox.md.
func known() []blackbox.Known[blackbox.BatchSettings] {
	one, two := blackbox.BatchSettings{Wanted: 1, AtOnce: 1}, blackbox.BatchSettings{Wanted: 2, AtOnce: 2}
	wait := blackbox.Step{Do: blackbox.Wait, For: time.Minute}
	refuse := blackbox.Step{Do: blackbox.Break, Fault: blackbox.Refuse, Nth: 1}
	life := func(settings blackbox.BatchSettings, steps ...blackbox.Step) blackbox.BatchLife {
		return blackbox.BatchLife{Settings: settings, Begin: 10 * time.Hour, Steps: steps}
	}
	return []blackbox.Known[blackbox.BatchSettings]{
		{Check: blackbox.Ends, What: "the status of the end is refused", Life: life(one, wait, refuse, blackbox.Step{Do: blackbox.Succeed})},
		{Check: blackbox.NothingLeft, What: "a deletion is refused when it fails", Life: life(two, wait, refuse, blackbox.Step{Do: blackbox.Fail})},
		{Check: blackbox.EndsRightly, What: "a pod that is being deleted counts as done",
			Life: life(two, wait, blackbox.Step{Do: blackbox.Remove}, blackbox.Step{Do: blackbox.Succeed})},
		{Check: blackbox.EndsOnce}, // its play depends on the order of goroutines; the plain test does not
	}
}
