// Package argo tests the CronWorkflows of Argo Workflows, unmodified, with x/blackbox.
package argo

import (
	"context"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/pkg/client/clientset/versioned"
	"github.com/argoproj/argo-workflows/v3/util/telemetry"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	"github.com/argoproj/argo-workflows/v3/workflow/controller/informer"
	"github.com/argoproj/argo-workflows/v3/workflow/cron"
	"github.com/argoproj/argo-workflows/v3/workflow/events"
	"github.com/argoproj/argo-workflows/v3/workflow/metrics"
	"github.com/sirupsen/logrus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/batchplan/batchplan/x/blackbox"
)

var search = blackbox.Search{Seed: 1}

func init() {
	search.Flags(flag.CommandLine)
	logrus.SetOutput(io.Discard)
	time.Local = time.UTC // schedules are in the machine's zone
}

var measures = func() *metrics.Metrics {
	m, err := metrics.New(context.Background(), telemetry.TestScopeName, telemetry.TestScopeName, &telemetry.Config{}, metrics.Callbacks{})
	if err != nil {
		panic(err)
	}
	return m
}()

// start starts the controller with clients of a server.
func start(ctx context.Context, config *rest.Config) error {
	client, err := versioned.NewForConfig(config)
	if err != nil {
		return err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return run(ctx, client, objects, core)
}

// run runs the controller until the context ends, as the workflow controller does.
func run(ctx context.Context, client versioned.Interface, objects dynamic.Interface, core kubernetes.Interface) error {
	const resync = 20 * time.Minute
	templates := informer.NewTolerantWorkflowTemplateInformer(objects, resync, "")
	clusterTemplates := informer.NewTolerantClusterWorkflowTemplateInformer(objects, resync)
	for _, i := range []cache.SharedIndexInformer{templates.Informer(), clusterTemplates.Informer()} {
		go i.Run(ctx.Done())
		if !cache.WaitForCacheSync(ctx.Done(), i.HasSynced) {
			return ctx.Err()
		}
	}
	cron.NewCronController(ctx, client, objects, "argo", "", "", measures, events.NewEventRecorderManager(core), 8, templates, clusterTemplates, nil).Run(ctx)
	return nil
}

// subject is the controller of CronWorkflows. The kit plays the controller of Workflows.
func subject(t *testing.T) *blackbox.Cron {
	phase := func(o blackbox.Object, phases ...v1alpha1.WorkflowPhase) bool {
		return slices.Contains(phases, v1alpha1.WorkflowPhase(o.Text("status", "phase")))
	}
	ended := func(o blackbox.Object) bool { return phase(o, v1alpha1.WorkflowSucceeded, v1alpha1.WorkflowFailed) }

	end := func(o blackbox.Object, succeeded bool) {
		is := v1alpha1.WorkflowFailed
		if succeeded {
			is = v1alpha1.WorkflowSucceeded
		}
		o.Set(string(is), "status", "phase")
		o.Set(time.Now().UTC().Format(time.RFC3339), "status", "finishedAt")
		o.Set("true", "metadata", "labels", common.LabelKeyCompleted)
	}

	return &blackbox.Cron{
		Program: blackbox.Program{
			Resources: []blackbox.Resource{
				definition(t, "cronworkflows", nil), definition(t, "workflowtemplates", nil), definition(t, "clusterworkflowtemplates", nil),
				// Replace asks a Workflow to shut down. Such a Workflow fails immediately.
				definition(t, "workflows", func(o blackbox.Object) {
					if o.Text("spec", "shutdown") != "" && !ended(o) {
						end(o, false)
					}
				}),
			},
			Parent: v1alpha1.SchemeGroupVersion.WithKind("CronWorkflow"),
			Child:  v1alpha1.SchemeGroupVersion.WithKind("Workflow"),
			Start:  start,
			Ended:  ended,
			End:    end,
			Off: map[blackbox.Check]string{
				blackbox.NotInRetrospect: "the latest run that was missed starts within startingDeadlineSeconds, as documented",
				blackbox.ReportsPassed:   "it writes no events about runs",
				blackbox.ReportsLate:     "nor about late ones",
			},
		},
		New: func(s blackbox.CronSettings) any {
			return &v1alpha1.CronWorkflow{Spec: v1alpha1.CronWorkflowSpec{
				Schedules: []string{s.Schedule}, ConcurrencyPolicy: v1alpha1.ConcurrencyPolicy(s.Policy), Suspend: s.Suspend,
				StartingDeadlineSeconds: s.StartingDeadlineSeconds, SuccessfulJobsHistoryLimit: s.KeepSucceeded, FailedJobsHistoryLimit: s.KeepFailed,
				WorkflowSpec: v1alpha1.WorkflowSpec{Entrypoint: "main", Templates: []v1alpha1.Template{{Name: "main", Container: &corev1.Container{Image: "true"}}}},
			}}
		},
		Run: func(child blackbox.Object) time.Time {
			return child.Time("metadata", "annotations", common.AnnotationKeyCronWfScheduledTime)
		},
		Active: blackbox.ActiveUIDs,
		Times: func(o blackbox.Object) []time.Time {
			return []time.Time{o.Time("status", "lastScheduledTime")}
		},
		Known: known(),
	}
}

// definition returns the resource of a CRD in the subject's module.
func definition(t *testing.T, plural string, defaults func(blackbox.Object)) blackbox.Resource {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/argoproj/argo-workflows/v3").Output()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "manifests/base/crds/minimal/argoproj.io_"+plural+".yaml"))
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

// TestSearch plays the known findings, and as many lives as the flags ask for.
func TestSearch(t *testing.T) { subject(t).Test(t, search) }

// known are the findings of docs/blackbox.md.
func known() []blackbox.Known[blackbox.CronSettings] {
	const begin = 10*time.Hour + 2*time.Minute + 10*time.Second
	wait := func(d time.Duration) blackbox.Step { return blackbox.Step{Do: blackbox.Wait, For: d} }
	return []blackbox.Known[blackbox.CronSettings]{
		{Check: blackbox.NoRunTwice, What: "a run that was not recorded starts again once its Workflow is deleted", Life: blackbox.CronLife{
			Settings: blackbox.CronSettings{Schedule: "0 * * * *", Policy: "Allow", StartingDeadlineSeconds: new(int64(3600)), KeepSucceeded: new(int32(0))},
			Begin:    begin,
			// The first write makes the Workflow, the second one records it.
			Steps: []blackbox.Step{wait(time.Hour), {Do: blackbox.Succeed}, wait(57*time.Minute + 40*time.Second), {Do: blackbox.Break, Fault: blackbox.Refuse, Nth: 2},
				wait(time.Minute), {Do: blackbox.Succeed}, wait(time.Minute)},
		}},
		{Check: blackbox.Starts, What: "after a crash behind a creation nothing starts for twenty minutes", Life: blackbox.CronLife{
			Settings: blackbox.CronSettings{Schedule: "* * * * *", Policy: "Allow", StartingDeadlineSeconds: new(int64(600))},
			Begin:    begin,
			Steps:    []blackbox.Step{wait(100 * time.Second), {Do: blackbox.Break, Fault: blackbox.CrashAfter, Nth: 1}, wait(30 * time.Second)},
		}},
		{Check: blackbox.Forbids, What: "a Workflow that was not recorded does not count until the first sync", Life: blackbox.CronLife{
			Settings: blackbox.CronSettings{Schedule: "* * * * *", Policy: "Forbid"},
			Begin:    begin,
			Steps: []blackbox.Step{{Do: blackbox.Break, Fault: blackbox.CrashAfter, Nth: 1}, wait(53 * time.Second), {Do: blackbox.Restart, For: 55 * time.Second},
				wait(10 * time.Second)},
		}},
	}
}
