// Package blackbox puts the CronJob and Job controllers of Kubernetes, unmodified, through kit/blackbox.
package blackbox

import (
	"context"
	"flag"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/batchplan/batchplan/kit/blackbox"
	"github.com/batchplan/batchplan/proof/conformance/theirs"
)

var (
	seed  = flag.Uint64("seed", 1, "the `seed` of the lives")
	first = flag.Int("first", 0, "the `number` of the first life")
	lives = flag.Int("lives", 10, "how many random `lives` are played")
	short = flag.Int("short", 0, "how many short `lives` are played again with each fault in each write")
)

func TestMain(m *testing.M) {
	theirs.Quiet()
	m.Run()
}

// start runs the controllers of Kubernetes with the workers of their flags.
func start(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return theirs.Run(ctx, client, "", 5, func() {})
}

var cronJobs = blackbox.Resource{
	GroupVersionKind: batchv1.SchemeGroupVersion.WithKind("CronJob"), Plural: "cronjobs", Status: true, Type: func() any { return batchv1.CronJob{} },
}

var cron = blackbox.Cron{
	Program: blackbox.Program{
		Resources: []blackbox.Resource{cronJobs, blackbox.Jobs(), blackbox.Pods()},
		Parent:    cronJobs.GroupVersionKind,
		Child:     blackbox.JobKind,
		Start:     start,
		Off: map[blackbox.Check]string{
			blackbox.Starts:          "Estimate: after an outage the next run may be minutes late",
			blackbox.Forbids:         "BlindCreate: a job whose start a crash kept from being recorded is not in the active list, by which Forbid goes",
			blackbox.Replaces:        "BlindCreate: nor does Replace delete it",
			blackbox.NoRunTwice:      "EagerHistory: with a limit of 0 a job is deleted before it is recorded that its run has started",
			blackbox.NotInRetrospect: "it starts the latest run that was missed while a CronJob was suspended, or that an edited schedule has",
			blackbox.ReportsPassed:   "there is no event for a run whose place a later one takes",
			blackbox.ReportsLate:     "SilentMiss: MissSchedule exists and is never emitted",
		},
	},
	New: func(s blackbox.CronSettings) any {
		other := "example.com/kit" // whose Jobs the Job controller leaves alone
		return &batchv1.CronJob{Spec: batchv1.CronJobSpec{
			Schedule: s.Schedule, ConcurrencyPolicy: batchv1.ConcurrencyPolicy(s.Policy), StartingDeadlineSeconds: s.StartingDeadlineSeconds,
			SuccessfulJobsHistoryLimit: s.KeepSucceeded, FailedJobsHistoryLimit: s.KeepFailed, Suspend: &s.Suspend,
			JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{ManagedBy: &other, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "true"}},
			}}}},
		}}
	},
	Run: func(child blackbox.Object) time.Time {
		return child.Time("metadata", "annotations", batchv1.CronJobScheduledTimestampAnnotation)
	},
	// An event about a run that was missed would report it; JobAlreadyActive is about one that waits.
	Skipped: func(e blackbox.Event) (latest time.Time, runs int) {
		if e.Reason == "MissSchedule" {
			return latest, 1
		}
		return latest, 0
	},
	Active: func(parent blackbox.Object) (uids []string) {
		for _, ref := range parent.List("status", "active") {
			uids = append(uids, ref.Text("uid"))
		}
		return uids
	},
}

var batch = blackbox.Batch{
	Program: blackbox.Program{
		Resources: []blackbox.Resource{blackbox.Jobs(), blackbox.Pods(), cronJobs},
		Parent:    blackbox.JobKind, Child: blackbox.PodKind, Start: start,
	},
	New: blackbox.NewJob, Edit: blackbox.EditJob, Tally: blackbox.JobTally, Index: blackbox.PodIndex, RandomNames: true,
}

// TestSearch plays lives of both. What is known has the name of its quirk above.
func TestSearch(t *testing.T) {
	s := blackbox.Search{Seed: *seed, First: *first, Lives: *lives, Short: *short}
	t.Run("CronJob", func(t *testing.T) { cron.Test(t, s) })
	t.Run("Job", func(t *testing.T) { batch.Test(t, s) })
}
