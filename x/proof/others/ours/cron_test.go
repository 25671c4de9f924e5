// Package blackbox tests the controllers of this library with x/blackbox, on their own manager and
// watches.
package blackbox

import (
	"context"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/batchplan/batchplan/x/blackbox"
	"github.com/batchplan/batchplan/x/kubernetes/reconcilers"
)

var search = blackbox.Search{Seed: 1, Lives: 40}

var scheme = runtime.NewScheme()

func init() {
	search.Flags(flag.CommandLine)
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		panic(err)
	}
}

// cron is the CronJob controller on a manager.
var cron = blackbox.Cron{Program: blackbox.Program{
	Resources: []blackbox.Resource{blackbox.CronJobs(), blackbox.Jobs()},
	Parent:    blackbox.CronJobs().GroupVersionKind,
	Child:     blackbox.JobKind,
	Start: func(ctx context.Context, restConfig *rest.Config) error {
		skip := true
		mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
			Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
			Controller: config.Controller{SkipNameValidation: &skip},
			Logger:     logr.FromContextOrDiscard(ctx),
		})
		if err != nil {
			return err
		}
		client, err := kubernetes.NewForConfig(restConfig)
		if err != nil {
			return err
		}
		var cronJobs reconcilers.CronJob
		// The manager's recorder merges events into series, and drops their later messages. This
		// one merges and drops nothing.
		events := record.NewBroadcaster(record.WithContext(ctx), record.WithCorrelatorOptions(record.CorrelatorOptions{MaxEvents: 1e6, BurstSize: 1e6}))
		events.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: client.CoreV1().Events("")})
		cronJobs.Events = events.NewRecorder(scheme, corev1.EventSource{Component: "cronjobs"})
		if err := cronJobs.SetupWithManager(mgr); err != nil {
			return err
		}
		return mgr.Start(ctx)
	},
	Replicas: true,
	Off: map[blackbox.Check]string{
		blackbox.NotInRetrospect: "Kubernetes starts the latest run that was missed while a CronJob was suspended, or that an edited schedule has",
		blackbox.ReportsPassed:   "Kubernetes has no event for a run whose place a later one takes; Conclusion.Unstarted has it",
	},
},
	New:     blackbox.NewCronJob,
	Run:     blackbox.CronJobRun,
	Skipped: skipped,
	Active:  blackbox.ActiveUIDs,
	Times:   blackbox.CronJobTimes,
}

// skipped reads an event about skipped runs. An event that names a run which is too late also
// covers all runs before it.
func skipped(e blackbox.Event) (latest time.Time, runs int) {
	if e.Reason != "MissSchedule" {
		return latest, 0
	}
	_, at, _ := strings.Cut(e.Message, "to start a job: ")
	if latest, err := time.Parse(time.RFC1123Z, at); err == nil {
		return latest, -1
	}
	panic(e.Message)
}

// TestSearch plays lives of the CronJob controller: nothing is found.
func TestSearch(t *testing.T) { cron.Test(t, search) }
