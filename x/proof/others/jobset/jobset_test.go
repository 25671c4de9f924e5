// Package jobset tests the controller of JobSets, unmodified, with x/blackbox.
package jobset

import (
	"context"
	"encoding/json"
	"flag"
	"testing"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers"
	"sigs.k8s.io/jobset/pkg/webhooks"

	"github.com/batchplan/batchplan/x/blackbox"
)

var search = blackbox.Search{Seed: 1}

var scheme = runtime.NewScheme()

func init() {
	search.Flags(flag.CommandLine)
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	for _, add := range []func(*runtime.Scheme) error{jobsetv1.AddToScheme, clientgoscheme.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
}

// subject is the controller as its command starts it. The kit plays the Job controller, and
// JobSet's webhook sets the defaults.
var subject = blackbox.Batch{
	Program: blackbox.Program{
		Resources: []blackbox.Resource{
			{GroupVersionKind: jobsetv1.SchemeGroupVersion.WithKind("JobSet"), Plural: "jobsets", Status: true, Default: withDefaults},
			blackbox.Jobs(), blackbox.Pods(),
			{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Service"), Plural: "services", Status: true, Type: func() any { return corev1.Service{} }},
		},
		Parent: jobsetv1.SchemeGroupVersion.WithKind("JobSet"),
		Child:  blackbox.JobKind,
		Start: func(ctx context.Context, restConfig *rest.Config) error {
			skip := true
			mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
				Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: &skip},
			})
			if err != nil {
				return err
			}
			if err := controllers.SetupJobSetIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
				return err
			}
			if err := controllers.NewJobSetReconciler(mgr.GetClient(), mgr.GetScheme(), mgr.GetEventRecorderFor("jobset")).SetupWithManager(mgr); err != nil {
				return err
			}
			return mgr.Start(ctx)
		},
		Without: map[blackbox.Action]string{blackbox.Edit: "all Jobs of a JobSet run together"},
		Off:     map[blackbox.Check]string{blackbox.CountedOnce: "the status counts the Jobs that there are, also when a user deletes one after the end"},
	},
	New: func(s blackbox.BatchSettings) any {
		one := int32(1)
		return &jobsetv1.JobSet{Spec: jobsetv1.JobSetSpec{
			Suspend:       &s.Suspend,
			FailurePolicy: &jobsetv1.FailurePolicy{MaxRestarts: s.Retries},
			ReplicatedJobs: []jobsetv1.ReplicatedJob{{Name: "workers", Replicas: s.Wanted, Template: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
				Parallelism: &one, Completions: &one,
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "true"}}}},
			}}}},
		}}
	},
	Edit:  func(o blackbox.Object, s blackbox.BatchSettings) { o.Set(s.Suspend, "spec", "suspend") },
	Tally: tally,
	Index: func(o blackbox.Object) string { return o.Text("metadata", "labels", jobsetv1.JobIndexKey) },
	Settings: []blackbox.BatchSettings{
		{Wanted: 1, AtOnce: 1}, {Wanted: 2, AtOnce: 2}, {Wanted: 2, AtOnce: 2, Retries: 1}, {Wanted: 3, AtOnce: 3, Retries: 3},
		{Wanted: 2, AtOnce: 2, Retries: 3, Suspend: true},
	},
	Known: known(),
}

// known are the findings of docs/blackbox.md.
func known() []blackbox.Known[blackbox.BatchSettings] {
	begin := 10 * time.Hour
	refused := blackbox.BatchLife{Settings: blackbox.BatchSettings{Wanted: 1, AtOnce: 1}, Begin: begin, Steps: []blackbox.Step{
		{Do: blackbox.Wait, For: 30 * time.Second}, {Do: blackbox.Break, Fault: blackbox.Refuse, Nth: 1}, {Do: blackbox.Succeed},
	}}
	expires := blackbox.BatchLife{Settings: blackbox.BatchSettings{Wanted: 2, AtOnce: 2, Retries: 1}, Begin: begin, Lag: 10 * time.Second,
		Steps: []blackbox.Step{{Do: blackbox.Expire, For: 2 * time.Second}}}
	return []blackbox.Known[blackbox.BatchSettings]{
		{Check: blackbox.Ends, What: "the status of the end is refused", Life: refused},
		{Check: blackbox.EndsOnce, What: "jobs that have expired are created again after the end", Life: expires},
	}
}

// withDefaults sets the defaults as JobSet's webhook does.
func withDefaults(o blackbox.Object) {
	webhook, err := webhooks.NewJobSetWebhook(nil)
	var js jobsetv1.JobSet
	if err == nil {
		err = convert(o, &js)
	}
	if err == nil {
		err = webhook.Default(context.Background(), &js)
	}
	var next blackbox.Object
	if err == nil {
		err = convert(js, &next)
	}
	if err != nil {
		panic(err) // it was admitted before
	}
	o["spec"] = next["spec"]
}

func convert(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}

// tally reads the status. Its field restarts is the number of failed attempts. The successes are
// counted from 0 again in each attempt, so tally reads them only at the end.
func tally(o blackbox.Object) blackbox.Tally {
	var t blackbox.Tally
	restarts, _ := o.Get("status", "restarts").(float64)
	t.Failed = int32(restarts)
	for _, c := range o.List("status", "conditions") {
		if c.Text("status") == "True" && (c.Text("type") == "Completed" || c.Text("type") == "Failed") {
			t.Ended, t.Success = true, c.Text("type") == "Completed"
		}
	}
	if t.Success {
		for _, s := range o.List("status", "replicatedJobsStatus") {
			n, _ := s.Get("succeeded").(float64)
			t.Succeeded += int32(n)
		}
	}
	return t
}

// TestSearch plays the known findings, and as many lives as the flags ask for.
func TestSearch(t *testing.T) { subject.Test(t, search) }

const exampleJobSet = `
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
spec:
  failurePolicy: {maxRestarts: 2}
  replicatedJobs:
  - name: workers
    replicas: 2
    template: {spec: {parallelism: 1, completions: 1, template: {spec: {containers: [{name: main, image: "true"}]}}}}
`

// operator is the same controller, for a kit that knows nothing about it.
var operator = blackbox.Operator{
	Program: blackbox.Program{Resources: subject.Resources[:1], Parent: subject.Parent, Start: subject.Start},
	Parents: []any{exampleJobSet},
}

// TestOperator plays as many lives as the flags ask for.
func TestOperator(t *testing.T) { operator.Test(t, search) }
