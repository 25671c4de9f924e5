// Package velero tests the schedules of Velero, unmodified, with x/blackbox.
package velero

import (
	"context"
	"flag"
	"io"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/controller"
	"github.com/vmware-tanzu/velero/pkg/metrics"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/batchplan/batchplan/x/blackbox"
)

var search = blackbox.Search{Seed: 1}

var (
	scheme   = runtime.NewScheme()
	logger   = logrus.New()
	measures = metrics.NewServerMetrics()
)

func init() {
	search.Flags(flag.CommandLine)
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	logger.SetOutput(io.Discard)
	logrus.SetOutput(io.Discard) // its builder of backups logs here
	for _, add := range []func(*runtime.Scheme) error{velerov1.AddToScheme, clientgoscheme.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
}

const namespace = "velero"

// kind returns a resource of Velero. Neither of the two that are used has a status subresource.
func kind(name, plural string) blackbox.Resource {
	return blackbox.Resource{GroupVersionKind: velerov1.SchemeGroupVersion.WithKind(name), Plural: plural}
}

// subject is the controller of schedules, as Velero's server starts it.
var subject = schedules(kind("Backup", "backups"))

func schedules(backups blackbox.Resource) *blackbox.Cron {
	return &blackbox.Cron{
		Program: blackbox.Program{
			Resources: []blackbox.Resource{kind("Schedule", "schedules"), backups},
			Parent:    velerov1.SchemeGroupVersion.WithKind("Schedule"),
			Child:     backups.GroupVersionKind,
			Start: func(ctx context.Context, restConfig *rest.Config) error {
				skip := true
				mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
					Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
					Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
					Controller: config.Controller{SkipNameValidation: &skip},
				})
				if err != nil {
					return err
				}
				if err := controller.NewScheduleReconciler(namespace, logger, mgr.GetClient(), measures, false).SetupWithManager(mgr); err != nil {
					return err
				}
				return mgr.Start(ctx)
			},
			Owned: func(parent, child blackbox.Object) bool {
				return child.Text("metadata", "labels", velerov1.ScheduleNameLabel) == parent.Name()
			},
			Ended: func(o blackbox.Object) bool {
				phase := o.Text("status", "phase")
				return phase == string(velerov1.BackupPhaseCompleted) || phase == string(velerov1.BackupPhaseFailed)
			},
			End: func(o blackbox.Object, succeeded bool) {
				phase := velerov1.BackupPhaseFailed
				if succeeded {
					phase = velerov1.BackupPhaseCompleted
				}
				o.Set(string(phase), "status", "phase")
			},
			Off: map[blackbox.Check]string{
				blackbox.NotInRetrospect: "a run that was missed while the schedule was paused starts, unless skipImmediately is set, as documented",
				blackbox.ReportsPassed:   "it writes no events",
			},
		},
		New: func(s blackbox.CronSettings) any {
			return &velerov1.Schedule{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace},
				Spec:       velerov1.ScheduleSpec{Schedule: s.Schedule, Paused: s.Suspend},
			}
		},
		Times: func(o blackbox.Object) []time.Time {
			return []time.Time{o.Time("status", "lastBackup")}
		},
		Policies: []string{"Forbid"}, NoDeadline: true, NoHistory: true,
		// The controller looks each minute.
		Slack: 2 * time.Minute, Schedules: []string{"*/5 * * * *", "0 * * * *", "30 2 * * *"},
	}
}

// known are the findings of docs/blackbox.md. A backup that waits in the queue is found with another subject.
func known(subject string) []blackbox.Known[blackbox.CronSettings] {
	begin := 10*time.Hour + 2*time.Minute + 10*time.Second
	hourly := blackbox.CronSettings{Schedule: "0 * * * *", Policy: "Forbid"}
	if subject == "queued" {
		return []blackbox.Known[blackbox.CronSettings]{{
			Check: blackbox.Forbids, What: "a backup in the queue does not count as one that runs",
			Life: blackbox.CronLife{Settings: hourly, Begin: begin, Steps: []blackbox.Step{{Do: blackbox.Wait, For: 2 * time.Hour}}},
		}}
	}
	return []blackbox.Known[blackbox.CronSettings]{{
		Check: blackbox.NoRunTwice, What: "a run whose time was not recorded starts again when its backup has ended",
		Life: blackbox.CronLife{Settings: hourly, Begin: begin,
			// The first write of a round changes nothing, the second one makes the backup.
			Steps: []blackbox.Step{{Do: blackbox.Wait, For: 57*time.Minute + 10*time.Second}, {Do: blackbox.Break, Fault: blackbox.CrashAfter, Nth: 2},
				{Do: blackbox.Wait, For: 2 * time.Minute}, {Do: blackbox.Succeed}, {Do: blackbox.Wait, For: 6 * time.Minute}}},
	}}
}

// TestSearch plays the known findings, and as many lives as the flags ask for.
func TestSearch(t *testing.T) {
	subject.Known = known("")
	subject.Test(t, search)
}

// TestQueued plays the finding of the queue.
func TestQueued(t *testing.T) {
	queued.Known = known("queued")
	queued.Test(t, blackbox.Search{})
}

// queued is the controller of schedules while some other backup runs for long. The backups that the
// controller makes wait in the queue, in the phase that the queue's controller gives them.
var queued = schedules(func() blackbox.Resource {
	r := kind("Backup", "backups")
	r.Default = func(o blackbox.Object) {
		if o.Text("status", "phase") == "" {
			o.Set(string(velerov1.BackupPhaseQueued), "status", "phase")
		}
	}
	return r
}())
