//go:build go1.25

package controller_test

import (
	"cmp"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// cronDesk is a CronJob controller whose caches the test fills.
type cronDesk struct {
	*cluster
	*controller.CronJobs
	cronJobs, jobs cache.Indexer
}

func newCronDesk(t *testing.T, o controller.CronJobOptions) *cronDesk {
	t.Helper()
	c := newCluster(t)
	c.version()
	o.Events = &c.events
	r, err := controller.NewCronJobReconciler(cronOf(controller.BatchCronJobs(c, nil), c.cronJobCache, c.jobCache), o)
	must.OK(t, err)
	return &cronDesk{cluster: c, CronJobs: r, cronJobs: c.cronJobCache.GetIndexer(), jobs: c.jobCache.GetIndexer()}
}

// round runs a round of a CronJob.
func (d *cronDesk) round(name string) (time.Time, error) {
	return d.Reconcile(logged(d.T, &d.log), types.NamespacedName{Namespace: "ns", Name: name})
}

// TestCronJobs_Calls: the calls, the events and the result of one round of a CronJob.
func TestCronJobs_Calls(t *testing.T) {
	live := controller.CronJobOptions{LiveReads: true}
	quirks := controller.CronJobOptions{LiveReads: true, Planner: cronjob.Kubernetes(release.Newest())}
	named := func(o *batchv1.CronJob, names ...string) {
		for _, name := range names {
			o.Status.Active = append(o.Status.Active, corev1.ObjectReference{
				Kind: "Job", APIVersion: "batch/v1", Namespace: "ns", Name: name, UID: types.UID("uid-of-" + name)})
		}
	}
	conflict := apierrors.NewConflict(batchv1.Resource("cronjobs"), "c", errors.New("too old"))
	quota := errors.New("no quota")

	type scene struct {
		*cronDesk
		cached, fresh *batchv1.CronJob
	}

	owned := func(s scene, name string) *batchv1.Job {
		j := jobElsewhere(name, s.cached)
		j.Namespace = "ns"
		must.OK(s, s.jobs.Add(j))
		return j
	}

	lost := func(s scene) { named(s.cached, "lost"); s.refuse("update", "cronjobs", conflict) }
	replaced := func(s scene) { named(s.cached, "old"); must.OK(s, s.Tracker().Add(owned(s, "old"))) }
	ended := func(s scene) {
		s.cached.Spec.SuccessfulJobsHistoryLimit = pointTo[int32](0)
		complete(owned(s, "old"), 0)
	}

	advised := controller.CronJobOptions{EditEvents: func(o controller.Object, r controller.CronJobRound, events []job.Event) []job.Event {
		if len(r.Outcome.Created) == 0 || r.Outcome.Created[0].Result != cronjobreason.ResultDone {
			return events
		}
		return append(events, job.Event{Type: job.EventWarning, Reason: "Advice", Message: "about " + o.GetName()})
	}}
	catchUp := controller.CronJobOptions{Planner: cronjob.Options{CatchUp: cronjob.CatchUpAll}}

	tests := []struct {
		name               string
		options            controller.CronJobOptions
		policy             batchv1.ConcurrencyPolicy
		after              time.Duration
		set                func(s scene)
		calls, events, end string
	}{
		{"Forbid starts a run although the status cannot be written", live, "", 0, lost,
			"get jobs lost, update cronjobs/status c at 1, create jobs c-15778081, update cronjobs/status c at 1",
			"Normal MissingJob Active job went missing: lost, Normal SuccessfulCreate Created job c-15778081", "in 59.1s"},
		{"and without that says why", live, "", time.Second, lost,
			"get jobs lost, update cronjobs/status c at 1",
			"Normal MissingJob Active job went missing: lost", `write status: Operation cannot be fulfilled on cronjobs.batch "c": too old`},
		{"the second plan fails", live, "", 0, func(s scene) { lost(s); s.refuse("create", "jobs", quota) },
			"get jobs lost, update cronjobs/status c at 1, create jobs c-15778081",
			"Normal MissingJob Active job went missing: lost, Warning FailedCreate Error creating job: no quota", "create jobs: no quota"},
		{"Allow waits for the next round", live, batchv1.AllowConcurrent, 0, lost,
			"get jobs lost, create jobs c-15778081, update cronjobs/status c at 1",
			"Normal MissingJob Active job went missing: lost, Normal SuccessfulCreate Created job c-15778081", `write status: Operation cannot be fulfilled on cronjobs.batch "c": too old`},
		{"and so does Forbid without live reads", controller.CronJobOptions{}, "", 0, lost,
			"get jobs lost, update cronjobs/status c at 1",
			"Normal MissingJob Active job went missing: lost", `write status: Operation cannot be fulfilled on cronjobs.batch "c": too old`},
		{"Forbid waits for a job that a look-up finds", live, "", 0, func(s scene) { lost(s); must.OK(s, s.Tracker().Add(newJob("lost", nil))) },
			"get jobs lost",
			"Normal JobAlreadyActive Not starting job because prior execution is running and concurrency policy is Forbid", "in 59.1s"},
		{"Replace reads what it deletes", live, batchv1.ReplaceConcurrent, 0, replaced,
			"get jobs old, delete jobs old, create jobs c-15778081, update cronjobs/status c at 1",
			"Normal SuccessfulDelete Deleted job old, Normal SuccessfulCreate Created job c-15778081", "in 59.1s"},
		{"Replace without live reads does not", controller.CronJobOptions{}, batchv1.ReplaceConcurrent, 0, replaced,
			"delete jobs old, create jobs c-15778081, update cronjobs/status c at 1",
			"Normal SuccessfulDelete Deleted job old, Normal SuccessfulCreate Created job c-15778081", "in 59.1s"},
		{"Replace cannot read what it deletes", live, batchv1.ReplaceConcurrent, 0, func(s scene) { replaced(s); s.refuse("get", "jobs", quota) },
			"get jobs old",
			"Warning FailedDelete Deleted job: no quota", "delete jobs: no quota"},
		{"what Replace deletes is gone", live, batchv1.ReplaceConcurrent, 0, func(s scene) { named(s.cached, "old"); owned(s, "old") },
			"get jobs old, create jobs c-15778081, update cronjobs/status c at 1",
			"Normal SuccessfulCreate Created job c-15778081", "in 59.1s"},
		{"the history is not read", live, "", time.Second, func(s scene) { ended(s); must.OK(s, s.Tracker().Add(newJob("old", nil))) },
			"update cronjobs/status c at 1, delete jobs old",
			"Normal SuccessfulDelete Deleted job old", "in 59.1s"},
		{"a job of the history is gone", controller.CronJobOptions{}, "", time.Second, ended,
			"update cronjobs/status c at 1, delete jobs old",
			"", "in 59.1s"},
		{"with quirks that is a failure", quirks, "", time.Second, ended,
			"delete jobs old, update cronjobs/status c at 1",
			`Warning FailedDelete Deleted job: jobs.batch "old" not found`, "in 59.1s"},
		{"a fresh look names the job", controller.CronJobOptions{}, "", time.Second, func(s scene) { owned(s, "x"); named(s.fresh, "x") },
			"get cronjobs c",
			"", "in 59.1s"},
		{"a fresh look names another job", controller.CronJobOptions{}, "", time.Second, func(s scene) { owned(s, "x"); named(s.fresh, "y") },
			"get cronjobs c",
			"Warning UnexpectedJob Saw a job that the controller did not create or forgot: x", "in 59.1s"},
		{"a fresh look fails", controller.CronJobOptions{}, "", time.Second, func(s scene) { owned(s, "x"); s.refuse("get", "cronjobs", quota) },
			"get cronjobs c",
			"", "CronJob ns/c: no quota"},
		{"a fresh look names the job, and a run is due", controller.CronJobOptions{}, batchv1.AllowConcurrent, 0, func(s scene) { owned(s, "x"); named(s.fresh, "x") },
			"get cronjobs c, create jobs c-15778081, update cronjobs/status c at 2",
			"Normal SuccessfulCreate Created job c-15778081", "in 59.1s"},
		{"with quirks the write is on the version of the cache", quirks, batchv1.AllowConcurrent, 0, func(s scene) { owned(s, "x"); named(s.fresh, "x") },
			"get cronjobs c, create jobs c-15778081, update cronjobs/status c at 1",
			"Normal SuccessfulCreate Created job c-15778081", "in 59.1s"},
		{"an object that no server has stored", controller.CronJobOptions{}, "", 0, func(s scene) { s.cached.UID = "" },
			"",
			`Warning InvalidCronJob cronJob.uid: "": is required`, `CronJob ns/c: cronJob.uid: "": is required`},
		{"nothing is due", controller.CronJobOptions{}, "", time.Second, func(scene) {},
			"", "", "in 59.1s"},
		{"missed runs are started in one round", catchUp, batchv1.AllowConcurrent, 121 * time.Second, func(scene) {},
			"create jobs c-15778081, update cronjobs/status c at 1, get jobs c-15778081, create jobs c-15778082, update cronjobs/status c at 102",
			"Normal SuccessfulCreate Created job c-15778081, Normal SuccessfulCreate Created job c-15778082", "in 59.1s"},
		{"a started job is reason for advice", advised, batchv1.AllowConcurrent, 0, func(scene) {},
			"create jobs c-15778081, update cronjobs/status c at 1",
			"Normal SuccessfulCreate Created job c-15778081, Warning Advice about c", "in 59.1s"},
		{"no advice without a start", advised, batchv1.AllowConcurrent, time.Second, func(scene) {},
			"", "", "in 59.1s"},
		{"a later plan fails", catchUp, batchv1.AllowConcurrent, 121 * time.Second, func(s scene) {
			n := 0
			s.PrependReactor("update", "cronjobs", func(clienttesting.Action) (bool, runtime.Object, error) {
				n++
				return n > 1, nil, conflict
			})
		},
			"create jobs c-15778081, update cronjobs/status c at 1, get jobs c-15778081, create jobs c-15778082, update cronjobs/status c at 102",
			"Normal SuccessfulCreate Created job c-15778081, Normal SuccessfulCreate Created job c-15778082", `write status: Operation cannot be fulfilled on cronjobs.batch "c": too old`},
		{"the name of a run is taken", catchUp, batchv1.AllowConcurrent, 181 * time.Second, func(s scene) {
			must.OK(s, s.Tracker().Add(newJob(run("c", 1), nil)))
		},
			"create jobs c-15778081, get jobs c-15778081",
			"Warning NameTaken Cannot create job c-15778081: another owner has a job of that name", "in 0s"},
	}

	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newCronJob("c", "* * * * *", cmp.Or(test.policy, batchv1.ForbidConcurrent))
				o.ResourceVersion, o.Status.LastScheduleTime = "1", pointTo(metav1.Now())
				s := scene{newCronDesk(t, test.options), o, o.DeepCopy()}
				s.fresh.ResourceVersion = "2"
				time.Sleep(cmp.Or(test.after, 61*time.Second))
				test.set(s)
				must.OK(t, errors.Join(s.cronJobs.Add(s.cached), s.Tracker().Add(s.fresh)))
				next, err := s.round("c")
				end := ""
				switch {
				case err != nil:
					end = err.Error()
				case !next.IsZero():
					end = "in " + time.Until(next).String()
				}
				if got := s.calls(); got != test.calls {
					t.Errorf("calls\n%s, want\n%s", got, test.calls)
				}
				if got := s.events.take(); got != test.events {
					t.Errorf("events\n%s, want\n%s", got, test.events)
				}
				s.checkWarnings(test.events, err)
				if end != test.end || err != nil && !next.IsZero() {
					t.Errorf("it ends with %q, again at %s, want %q", end, next, test.end)
				}
			})
		})
	}
}
