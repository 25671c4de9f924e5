package upgrade

import (
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobadmit"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobstatus"
	"github.com/batchplan/batchplan/job/release"
)

// A case is a function that plays the smallest situation in which two releases differ. It plays the
// situation in one release, and returns what the release does.

// verdict describes whether an API server accepts an object, given the error of its validation.
func verdict(err error) string {
	if err == nil {
		return "taken"
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return "refused: " + first
}

func caseSpec(suspended bool) job.Spec {
	s := job.Spec{
		Suspend:  &suspended,
		Template: job.Template{RestartPolicy: job.RestartNever, Containers: []string{"main"}},
	}
	job.Default(&s)
	return s
}

func isNow(t job.ConditionType) job.Condition {
	return job.Condition{Type: t, Status: job.ConditionTrue, LastTransitionTime: world.Start}
}

// writtenByHand reports whether an API server accepts that a Job fails without FailureTarget. Older
// API servers accept it.
func writtenByHand(r release.Release) string {
	running := job.Status{StartTime: world.Start, Active: 1}
	failed := job.Status{StartTime: world.Start, Failed: 1, Conditions: []job.Condition{isNow(job.ConditionFailed)}}
	return verdict(jobstatus.CheckServed(running, failed, caseSpec(false), r))
}

// endNeverStarted reports whether an API server accepts the end of a Job that was always suspended.
func endNeverStarted(r release.Release) string {
	old := job.Status{Conditions: []job.Condition{isNow(job.ConditionSuspended)}}
	end := job.Status{CompletionTime: world.Start, Succeeded: 1, Conditions: []job.Condition{
		isNow(job.ConditionSuspended), isNow(job.ConditionSuccessCriteriaMet), isNow(job.ConditionComplete),
	}}
	return verdict(jobstatus.CheckServed(old, end, caseSpec(true), r))
}

// surplus plays a Job that has one pod too many. The pods differ in age, and in the restarts of
// their sidecars.
func surplus(r release.Release) string {
	spec := caseSpec(false)
	w := world.NewJob(spec)
	w.Options, w.Consistent = job.Kubernetes(r), true
	for i, name := range [...]string{"the older one", "the newer one"} {
		w.AddPod(job.Pod{Name: name, Phase: job.PodRunning, Assigned: true, Ready: true, Detail: &job.PodDetail{
			CreationTimestamp: world.Start.Add(time.Duration(i) * time.Second),
			ReadyTransition:   world.Start.Add(time.Minute),
			Containers: []jobpod.Container{
				{Name: "main"},
				{Name: "sidecar", Kind: jobpod.RestartableInit, Restarts: int32(3 - 3*i)},
			},
		}})
	}
	w.Now = world.Start.Add(time.Hour)
	return planned(w)
}

// planned returns what the next round of a world does.
func planned(w *world.Job) string {
	plan, err := w.Plan()
	if err != nil {
		return err.Error() // unreachable: worlds are valid
	}
	if what := doing(plan); what != idle {
		return what
	}
	if len(plan.Waits) > 0 {
		return "waits: " + plan.Waits[0].String()
	}
	return "does nothing"
}

// lateWorld returns a world in which the controller's caches lag behind its writes.
func lateWorld(r release.Release) *world.Job {
	w := world.NewJob(caseSpec(false))
	w.Options, w.Stale = job.Kubernetes(r), true
	return w
}

// unseenEnd plays a Job whose end was written, but is not in the cache of Jobs yet.
func unseenEnd(r release.Release) string {
	w := lateWorld(r)
	_, _ = w.Round()
	w.DeliverAll()
	older := w.View
	w.Run(w.Pods[0])
	w.Finish(w.Pods[0], 0)
	w.DeliverAll()
	_, _ = w.Round()
	w.DeliverAll()
	w.View.Job, w.View.Version = older.Job, older.Version
	return planned(w)
}

// unseenStart plays a Job whose first status was written, but is not in the cache of Jobs yet. A
// controller that waits for its own writes remembers the versions that it wrote.
func unseenStart(r release.Release) string {
	w := lateWorld(r)
	w.Versions = r.Has(release.StaleControllerConsistencyJob)

	older := w.View
	_, _ = w.Round()
	w.DeliverAll()
	w.View.Job, w.View.Version = older.Job, older.Version
	w.Now = w.Now.Add(2 * time.Second)

	tried := 0
	w.Fault = func(write world.Write) world.Fault {
		if write.Verb == world.WriteStatus {
			tried++
		}
		return world.None
	}

	if _, err := w.Round(); err != nil {
		return err.Error() // unreachable: worlds are valid
	}

	if tried > 0 {
		return "plans from the older status"
	}
	return "waits"
}

// retemplated changes the nodeSelector or the resources in the template of a suspended Job.
func retemplated(status job.Status, was, is string) func(release.Release) string {
	return func(r release.Release) string {
		old := job.Job{Spec: caseSpec(true), Status: status}
		return verdict(jobadmit.ValidateTemplateUpdate(&old, []byte(was), []byte(is), r))
	}
}

const (
	plainTemplate  = `{"spec": {"containers": [{"name": "main", "image": "i"}]}}`
	movedTemplate  = `{"spec": {"nodeSelector": {"zone": "a"}, "containers": [{"name": "main", "image": "i"}]}}`
	biggerTemplate = `{"spec": {"containers": [` +
		`{"name": "main", "image": "i", "resources": {"requests": {"cpu": "2"}}}]}}`
)

// hasRun is the status of a suspended Job that still has a startTime. isAlive is the status of a
// Job with an active pod and no startTime, as after Kueue has removed the startTime.
var (
	hasRun  = job.Status{StartTime: world.Start, Conditions: []job.Condition{isNow(job.ConditionSuspended)}}
	isAlive = job.Status{Active: 1}
)

// rescheduled changes the scheduling policy to a gang.
func rescheduled(r release.Release) string {
	old, next := caseSpec(false), caseSpec(false)
	old.Scheduling = &jobgroup.Scheduling{SchedulingPolicy: &jobgroup.SchedulingPolicy{Basic: new(struct{})}}
	next.Scheduling = &jobgroup.Scheduling{SchedulingPolicy: &jobgroup.SchedulingPolicy{Gang: new(jobgroup.Gang)}}
	return verdict(jobadmit.ValidateUpdate(&job.Job{Spec: old}, next, r))
}

// unrecorded plays a CronJob whose controller crashed after it created a Job and before it wrote
// the status. taken plays a CronJob whose next Job needs a name that a Job of another owner has.
func unrecorded(r release.Release) string { return existing(r, cronjobreason.ResultAlreadyExists) }
func taken(r release.Release) string      { return existing(r, cronjobreason.ResultNameTaken) }

// sameName plays a CronJob and a failed Job. The owner of that Job has the name of the CronJob, but
// another kind.
func sameName(r release.Release) string {
	c := cronjob.CronJob{
		Namespace:         "default",
		Name:              "c",
		UID:               "c",
		CreationTimestamp: world.Start,
		Spec:              cronjob.Spec{Schedule: "@hourly"},
	}

	cronjob.Default(&c.Spec)
	*c.Spec.FailedJobsHistoryLimit = 0

	plan, err := cronjob.Reconcile(cronjob.Snapshot{
		CronJob: c, Now: world.Start.Add(time.Minute), Schedule: cronjob.Compile(&c), Options: cronjob.Kubernetes(r),
		Children: []cronjob.Child{
			{
				Name:              "x",
				UID:               "x",
				Foreign:           true,
				Misnamed:          true,
				CreationTimestamp: world.Start,
				Finished:          cronjob.Failed,
			},
		},
	})
	switch {
	case err != nil:
		return err.Error() // unreachable: the snapshot is valid
	case len(plan.Delete) > 0:
		return "deletes it"
	}
	return "leaves it alone"
}

// existing plays a round that tries to create the Job of a run although the Job exists. The
// creation has the given result.
func existing(r release.Release, result cronjobreason.Result) string {
	c := cronjob.CronJob{
		Namespace:         "default",
		Name:              "c",
		UID:               "c",
		CreationTimestamp: world.Start,
		Spec:              cronjob.Spec{Schedule: "@hourly"},
	}
	cronjob.Default(&c.Spec)

	run := world.Start.Add(time.Hour)
	plan, err := cronjob.Reconcile(cronjob.Snapshot{
		CronJob: c, Now: run.Add(5 * time.Second), Schedule: cronjob.Compile(&c), Options: cronjob.Kubernetes(r),
		Children: []cronjob.Child{{
			Name:              cronjob.Naming{}.JobName(c.Name, run),
			UID:               "j",
			Foreign:           result == cronjobreason.ResultNameTaken,
			CreationTimestamp: run,
			ScheduledTime:     run,
		}},
	})
	if err != nil {
		return err.Error() // unreachable: the snapshot is valid
	}

	w := cronjob.Writes{Created: []cronjob.Effect{{Result: result, Job: cronjob.Reference{UID: "j"}}}}
	switch end := plan.Conclude(cronjob.Outcome{Writes: w, Settled: cronjob.Reply{Result: cronjobreason.ResultDone}}); {
	case end.Retry:
		return "fails to create it, and tries again"
	case len(end.Status.Active) > 0:
		return "records it"
	case end.Requeue.At.IsZero():
		return "ends without a next round"
	}
	return plan.String()
}
