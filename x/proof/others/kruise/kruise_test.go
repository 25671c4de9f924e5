// Package kruise tests the AdvancedCronJobs of OpenKruise, unmodified, with x/blackbox.
package kruise

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/openkruise/kruise/apis/apps/v1alpha1"
	"github.com/openkruise/kruise/pkg/controller/advancedcronjob"
	"github.com/openkruise/kruise/pkg/util/fieldindex"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
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

// subject is the controller of AdvancedCronJobs whose children are Jobs, as its own manager starts
// it: with its watches, its indexes and three workers.
var subject = blackbox.Cron{Program: blackbox.Program{
	Resources: []blackbox.Resource{
		{GroupVersionKind: v1alpha1.SchemeGroupVersion.WithKind("AdvancedCronJob"), Plural: "advancedcronjobs", Status: true},
		{GroupVersionKind: v1alpha1.SchemeGroupVersion.WithKind("BroadcastJob"), Plural: "broadcastjobs", Status: true},
		{GroupVersionKind: v1alpha1.SchemeGroupVersion.WithKind("ImagePullJob"), Plural: "imagepulljobs", Status: true},
		blackbox.Jobs(),
	},
	Parent: v1alpha1.SchemeGroupVersion.WithKind("AdvancedCronJob"),
	Child:  blackbox.JobKind,
	Start: func(ctx context.Context, config *rest.Config) error {
		mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme.Scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
		if err != nil {
			return err
		}
		if err := mgr.GetFieldIndexer().IndexField(ctx, &batchv1.Job{}, fieldindex.IndexNameForController, owner); err != nil {
			return err
		}
		if err := advancedcronjob.Add(mgr); err != nil {
			return err
		}
		return mgr.Start(ctx)
	},
	Off: map[blackbox.Check]string{
		blackbox.NotInRetrospect: "the controller follows Kubernetes, which starts the latest run that was missed",
		blackbox.ReportsPassed:   "it writes no event about a run that it skips, only a line in its log",
		blackbox.ReportsLate:     "nor about one that is too late",
	},
},
	New: func(s blackbox.CronSettings) any {
		return &v1alpha1.AdvancedCronJob{Spec: v1alpha1.AdvancedCronJobSpec{
			Schedule: s.Schedule, ConcurrencyPolicy: v1alpha1.ConcurrencyPolicy(s.Policy), StartingDeadlineSeconds: s.StartingDeadlineSeconds,
			SuccessfulJobsHistoryLimit: s.KeepSucceeded, FailedJobsHistoryLimit: s.KeepFailed, Paused: &s.Suspend,
			Template: v1alpha1.CronJobTemplate{JobTemplate: &batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "true"}},
				}},
			}}},
		}}
	},
	Run: func(child blackbox.Object) time.Time {
		return child.Time("metadata", "annotations", "apps.kruise.io/scheduled-at")
	},
	Active: blackbox.ActiveUIDs,
	Times: func(o blackbox.Object) []time.Time {
		return []time.Time{o.Time("status", "lastScheduleTime")}
	},
	Known: known(),
}

// owner indexes Jobs by the name of the AdvancedCronJob that controls them. OpenKruise's own index
// can be registered only once in a process.
func owner(o client.Object) []string {
	ref := metav1.GetControllerOf(o)
	if ref == nil || ref.APIVersion != v1alpha1.GroupVersion.String() || ref.Kind != "AdvancedCronJob" {
		return nil
	}
	return []string{ref.Name}
}

// TestSearch plays the known findings, and as many lives as the flags ask for.
func TestSearch(t *testing.T) { subject.Test(t, search) }

// known are the findings of docs/blackbox.md.
func known() []blackbox.Known[blackbox.CronSettings] {
	daily := blackbox.CronSettings{Schedule: "30 2 * * *", Policy: "Allow"}
	every := blackbox.CronSettings{Schedule: "* * * * *", Policy: "Replace"}
	none := blackbox.CronSettings{Schedule: "* * * * *", Policy: "Allow", KeepSucceeded: new(int32(0))}
	begin := 10*time.Hour + 2*time.Minute + 10*time.Second
	return []blackbox.Known[blackbox.CronSettings]{
		{Check: blackbox.ActiveList, What: "a job that has started is not in status.active", Life: blackbox.CronLife{Settings: daily, Begin: begin}},
		{Check: blackbox.NoRunTwice, What: "with successfulJobsHistoryLimit 0 a run that has ended is started again", Life: blackbox.CronLife{Settings: none, Begin: begin}},
		{Check: blackbox.KeepsTimes, What: "status.lastScheduleTime vanishes with the last job", Life: blackbox.CronLife{Settings: none, Begin: begin}},
		{Check: blackbox.Starts, What: "once its only job is deleted nothing starts any more", Life: blackbox.CronLife{Settings: every, Begin: begin,
			Steps: []blackbox.Step{{Do: blackbox.Wait, For: 2 * time.Hour}, {Do: blackbox.Remove}}}},
		{Check: blackbox.Retries},                             // the same after a suspension of more than 100 runs
		{Check: blackbox.History}, {Check: blackbox.Replaces}, // their plays depend on the order of goroutines; the plain tests do not
	}
}
