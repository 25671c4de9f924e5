// Package blackbox tests the CronJob and Job controllers of Kubernetes, unmodified, with
// x/blackbox.
package blackbox

import (
	"context"
	"flag"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/batchplan/batchplan/x/blackbox"
	"github.com/batchplan/batchplan/x/proof/conformance/theirs"
)

var search = blackbox.Search{Seed: 1, Lives: 10}

func init() { search.Flags(flag.CommandLine) }

func TestMain(m *testing.M) {
	theirs.Quiet()
	m.Run()
}

// start runs the controllers of Kubernetes with the default number of workers.
func start(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return theirs.Run(ctx, client, "", 5, func() {})
}

var cron = blackbox.Cron{
	Program: blackbox.Program{
		Resources: []blackbox.Resource{blackbox.CronJobs(), blackbox.Jobs(), blackbox.Pods()},
		Parent:    blackbox.CronJobs().GroupVersionKind,
		Child:     blackbox.JobKind,
		Start:     start,
		Off: map[blackbox.Check]string{
			blackbox.Forbids:         "BlindCreate: a job whose start a crash kept from being recorded is not in the active list, by which Forbid goes",
			blackbox.Replaces:        "BlindCreate: nor does Replace delete it",
			blackbox.NoRunTwice:      "EagerHistory: with a limit of 0 a job is deleted before it is recorded that its run has started",
			blackbox.NotInRetrospect: "it starts the latest run that was missed while a CronJob was suspended, or that an edited schedule has",
			blackbox.ReportsPassed:   "there is no event for a run whose place a later one takes",
			blackbox.ReportsLate:     "SilentMiss: MissSchedule exists and is never emitted",
		},
	},
	New: func(s blackbox.CronSettings) any {
		c := blackbox.NewCronJob(s).(*batchv1.CronJob)
		c.Spec.JobTemplate.Spec.ManagedBy = new("example.com/kit") // so that the Job controller leaves its Jobs alone
		return c
	},
	Run: blackbox.CronJobRun,
	// An event MissSchedule reports a missed run; JobAlreadyActive is about a run that waits.
	Skipped: func(e blackbox.Event) (latest time.Time, runs int) {
		if e.Reason == "MissSchedule" {
			return latest, 1
		}
		return latest, 0
	},
	Active: blackbox.ActiveUIDs,
	Times:  blackbox.CronJobTimes,
	Known: []blackbox.Known[blackbox.CronSettings]{
		{Check: blackbox.ActiveList, What: "a run starts again once its job is gone, and its second job is not recorded", Life: blackbox.CronLife{
			Settings: blackbox.CronSettings{Schedule: "* * * * *", Policy: "Forbid"},
			Begin:    10*time.Hour + 2*time.Minute + 10*time.Second,
			Lag:      10 * time.Second,
			Steps:    []blackbox.Step{{Do: blackbox.Expire, For: 2 * time.Second}},
		}},
		// EagerHistory: jobs are deleted by name, also one that runs. Its play depends on the order of goroutines; the
		// plain test does not.
		{Check: blackbox.KeepsRunning},
	},
}

var batch = blackbox.Batch{
	Program: blackbox.Program{
		Resources: []blackbox.Resource{blackbox.Jobs(), blackbox.Pods(), blackbox.CronJobs()},
		Parent:    blackbox.JobKind, Child: blackbox.PodKind, Start: start,
	},
	New: blackbox.NewJob, Edit: blackbox.EditJob, Tally: blackbox.JobTally, Index: blackbox.PodIndex, RandomNames: true,
}

// TestSearch plays lives of both controllers. Known findings are listed above, under the names of
// their quirks.
func TestSearch(t *testing.T) {
	t.Run("CronJob", func(t *testing.T) { cron.Test(t, search) })
	t.Run("Job", func(t *testing.T) { batch.Test(t, search) })
}
