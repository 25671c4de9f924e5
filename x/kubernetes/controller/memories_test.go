//go:build go1.25

package controller_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// database is a store of memories and of requests, in which the first calls of one method fail.
type database[M any] struct {
	byKey map[types.NamespacedName]M
	asked
	method string
	fails  int
}

var errDatabase = errors.New("the database is down")

func (d *database[M]) down(method string) error {
	if method != d.method || d.fails == 0 {
		return nil
	}
	d.fails--
	return errDatabase
}

func (d *database[M]) Get(_ context.Context, key types.NamespacedName) (M, error) {
	return d.byKey[key], d.down("Get")
}

func (d *database[M]) Set(_ context.Context, key types.NamespacedName, m M) error {
	if err := d.down("Set"); err != nil {
		return err
	}
	d.byKey[key] = m
	return nil
}

func (d *database[M]) Delete(_ context.Context, key types.NamespacedName) error {
	if err := d.down("Delete"); err != nil {
		return err
	}
	delete(d.byKey, key)
	return nil
}

// requests is the Requests of a database.
type requests[M any] struct{ *database[M] }

func (r requests[M]) Get(ctx context.Context, key types.NamespacedName) (controller.Requested, error) {
	open, _ := r.asked.Get(ctx, key)
	return open, r.down("Requested")
}

func (r requests[M]) Advance(ctx context.Context, key types.NamespacedName, to controller.Advance) error {
	if err := r.down("Advance"); err != nil {
		return err
	}
	return r.asked.Advance(ctx, key, to)
}

// checkSaid fails unless each failure is logged.
func (c *cluster) checkSaid(method string, fails int, line string) {
	c.Helper()
	n := 0
	for _, text := range c.log {
		if strings.Contains(text, line) {
			n++
		}
	}
	if n != fails {
		c.Errorf("%s: %d lines in the log, want %d of %q:\n%s", method, n, fails, line, strings.Join(c.log, "\n"))
	}
}

// TestJobs_MemoriesFail: while the memory of a job cannot be read, written or deleted, its rounds
// are repeated and the failures reported. Each pod is counted once.
func TestJobs_MemoriesFail(t *testing.T) {
	for _, method := range []string{"Get", "Set", "Delete"} {
		synctest.Test(t, func(t *testing.T) {
			const fails = 4
			d := &database[job.Memory]{byKey: map[types.NamespacedName]job.Memory{}, method: method, fails: fails}
			c := newCluster(t, newJob("j", pointTo(mine)))
			c.startJobs(controller.JobOptions{Common: controller.Common{Workers: 1}, Memories: d})

			c.rest(time.Minute)
			pods := c.pods()
			if len(pods) != 1 {
				t.Fatalf("%s: %d pods", method, len(pods))
			}

			c.end(pods[0], corev1.PodSucceeded)
			c.rest(time.Minute)
			if s := c.job("j").Status; s.Succeeded != 1 || s.CompletionTime == nil || len(c.pods()) != 1 {
				t.Errorf("%s: %d pods, status %+v", method, len(c.pods()), s)
			}

			must.OK(t, c.BatchV1().Jobs("ns").Delete(t.Context(), "j", metav1.DeleteOptions{}))
			c.rest(time.Minute)
			if len(d.byKey) > 0 {
				t.Errorf("%s: a memory is left: %v", method, d.byKey)
			}

			c.stop()
			c.checkSaid(method, fails, `job ns/j: memory: the database is down`)
		})
	}
}

// TestCronJobs_StoresFail: as TestJobs_MemoriesFail, but for CronJobs and requested runs. No run
// starts twice or is lost.
func TestCronJobs_StoresFail(t *testing.T) {
	for method, store := range map[string]string{
		"Get": "memory", "Set": "memory", "Delete": "memory", "Requested": "requests", "Advance": "requests",
	} {
		synctest.Test(t, func(t *testing.T) {
			const fails = 4
			d := &database[cronjob.Memory]{byKey: map[types.NamespacedName]cronjob.Memory{}, method: method, fails: fails}
			d.triggers = []cronjob.Trigger{{ID: "now"}}
			c := newCluster(t, newCronJob("c", "@every 1m", batchv1.AllowConcurrent))
			c.startCronJobs(controller.CronJobOptions{
				Common: controller.Common{Workers: 1}, Memories: d, Requests: requests[cronjob.Memory]{d},
			})

			c.rest(150 * time.Second)
			if got, want := c.jobs(), []string{run("c", 1), run("c", 2), "c-manual-now"}; !slices.Equal(got, want) || len(d.triggers) > 0 {
				t.Errorf("%s: jobs %q, want %q, open %v", method, got, want, d.triggers)
			}

			must.OK(t, c.BatchV1().CronJobs("ns").Delete(t.Context(), "c", metav1.DeleteOptions{}))
			c.rest(time.Minute)
			if len(d.byKey) > 0 {
				t.Errorf("%s: a memory is left: %v", method, d.byKey)
			}

			c.stop()
			c.checkSaid(method, fails, "CronJob ns/c: "+store+": the database is down")
		})
	}
}

// TestCron_StoresReported: the status of a parent shows that its memory cannot be read or stored.
func TestCron_StoresReported(t *testing.T) {
	for _, method := range []string{"Get", "Set"} {
		kind := storing(nil)
		kind.Report = says
		d := &database[cronjob.Memory]{byKey: map[types.NamespacedName]cronjob.Memory{}, method: method, fails: 1}
		history(t, kind, controller.CronJobOptions{Memories: d}, hourly, func(c *clockwork) {
			for _, want := range []string{"memory: the database is down", "Next: 01:00"} {
				_, err := c.round(time.Second)
				if got := c.parents.all()[0].Says; !strings.Contains(got, want) || (err != nil) != strings.Contains(want, "down") {
					t.Errorf("%s: says %q, want %q: %v", method, got, want, err)
				}
			}
		})
	}
}

// TestControllerName: a ControllerName in the options of the planner must not differ from
// ManagedBy.
func TestControllerName(t *testing.T) {
	c := newCluster(t)
	kind := controller.BatchJobs(c, c.factory)
	for _, test := range []struct{ managedBy, planner, want string }{
		{mine, "", ""},
		{mine, mine, ""},
		{mine, "another", `Planner.ControllerName: "another": is not ManagedBy, "example.com/mine"`},
		{"", "another", `Planner.ControllerName: "another": is not ManagedBy, ""`},
	} {
		planner := job.Options{ControllerName: test.planner}
		_, jobs := controller.NewJobReconciler(kind, controller.JobOptions{ManagedBy: test.managedBy, Planner: planner})
		_, orphans := controller.NewOrphanReconciler(kind, controller.OrphanOptions{ManagedBy: test.managedBy, Planner: planner})
		_, ttl := controller.NewTTLReconciler(kind, controller.TTLOptions{ManagedBy: test.managedBy, Planner: planner})
		for _, err := range []error{jobs, orphans, ttl} {
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("ManagedBy %q, planner %q: %v, want %q", test.managedBy, test.planner, err, test.want)
			}
		}
	}
}

// noted is a store that records its calls.
type noted[M any] struct {
	controller.Memories[M]
	calls  []string
	broken error // the error of the next Delete
}

func (n *noted[M]) Get(ctx context.Context, key types.NamespacedName) (M, error) {
	n.calls = append(n.calls, "Get")
	return n.Memories.Get(ctx, key)
}

func (n *noted[M]) Set(ctx context.Context, key types.NamespacedName, m M) error {
	n.calls = append(n.calls, "Set")
	return n.Memories.Set(ctx, key, m)
}

func (n *noted[M]) Delete(ctx context.Context, key types.NamespacedName) error {
	n.calls = append(n.calls, "Delete")
	defer func() { n.broken = nil }()
	return cmp.Or(n.broken, n.Memories.Delete(ctx, key))
}

// TestJobs_MemoriesShared: in a shared store, the controller reads, writes and deletes the memories
// of its own jobs, and never those of other controllers' jobs. It deletes the memory of its own job
// even if the job is gone before its first round or gets another controller.
func TestJobs_MemoriesShared(t *testing.T) {
	const other = "example.com/other"
	type step func(*jobDesk, *batchv1.Job) *batchv1.Job // a round follows it

	ended := func(d *jobDesk, j *batchv1.Job) *batchv1.Job {
		j = j.DeepCopy()
		complete(j, 0)
		must.OK(d, d.owners.Update(j))
		return j
	}
	managed := func(by string) step { // without an event, as if Enqueue requested the round
		return func(d *jobDesk, j *batchv1.Job) *batchv1.Job {
			j = j.DeepCopy()
			j.Spec.ManagedBy = &by
			must.OK(d, d.owners.Update(j))
			return j
		}
	}
	passed, taken := managed(other), managed(mine)
	gone := func(d *jobDesk, j *batchv1.Job) *batchv1.Job {
		must.OK(d, d.owners.Delete(j))
		d.jobs.OnDelete(j)
		return nil
	}
	runs := func(_ *jobDesk, j *batchv1.Job) *batchv1.Job { return j }

	for _, test := range []struct {
		name   string
		by     string
		steps  []step
		broken error
		want   string
	}{
		{name: "another's", by: other, steps: []step{runs, ended, gone}},
		{name: "another's, unseen", by: other, steps: []step{gone}},
		{name: "another's until we take it", by: other, steps: []step{runs, taken, gone}, want: "Get Set Delete"},
		{name: "ours", by: mine, steps: []step{runs, ended, gone}, want: "Get Set Delete"},
		{name: "ours, unseen", by: mine, steps: []step{gone}, want: "Delete"},
		{name: "ours, not ended", by: mine, steps: []step{runs, gone, gone}, want: "Get Set Delete"},
		{
			name: "ours, gone after a failure", by: mine,
			steps: []step{ended, gone}, broken: errDatabase, want: "Delete Delete",
		},
		{
			name: "ours until another takes it", by: mine,
			steps: []step{runs, passed, ended, gone}, want: "Get Set Delete",
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			store := &noted[job.Memory]{Memories: stored{}, broken: test.broken}
			j := newJob("j", &test.by)
			d := newJobDesk(t, controller.JobOptions{Memories: store}, j)
			d.jobs.OnAdd(j, false)
			for i, do := range test.steps {
				if now := do(d, j); now != nil {
					j = now
				}
				if _, err := d.round("j"); err != nil && test.broken == nil {
					t.Errorf("%s: round %d: %v", test.name, i, err)
				}
			}
			if got := strings.Join(store.calls, " "); got != test.want {
				t.Errorf("%s: calls %s, want %s", test.name, got, test.want)
			}
		})
	}
}

// TestCronJobs_MemoriesShared is TestJobs_MemoriesShared for CronJobs.
func TestCronJobs_MemoriesShared(t *testing.T) {
	type step func(*cronDesk, *batchv1.CronJob) // a round follows it
	runs := func(*cronDesk, *batchv1.CronJob) {}
	passed := func(d *cronDesk, o *batchv1.CronJob) {
		o = o.DeepCopy()
		o.Labels = map[string]string{"by": "other"}
		must.OK(d, d.cronJobs.Update(o))
	}
	taken := func(_ *cronDesk, o *batchv1.CronJob) { o.Labels = nil } // in the cache, without an event
	gone := func(d *cronDesk, o *batchv1.CronJob) { must.OK(d, d.cronJobs.Delete(o)) }
	takenAndGone := func(d *cronDesk, o *batchv1.CronJob) {
		was := o.DeepCopy()
		o.Labels = nil
		d.CronJobEvents(&asks{}).OnUpdate(was, o)
		gone(d, o)
	}

	for _, test := range []struct {
		name, by string
		steps    []step
		broken   error
		want     string
	}{
		{name: "another's", by: "other", steps: []step{runs, runs, gone}},
		{name: "another's, unseen", by: "other", steps: []step{gone}},
		{name: "another's until we take it", by: "other", steps: []step{runs, taken, gone}, want: "Get Set Delete"},
		{name: "another's until we take it, unseen", by: "other", steps: []step{runs, takenAndGone}, want: "Delete"},
		{name: "ours", steps: []step{runs, gone, gone}, want: "Get Set Delete"},
		{name: "ours, unseen", steps: []step{gone}, want: "Delete"},
		{name: "ours, gone before a failure", steps: []step{gone, gone, gone}, broken: errDatabase, want: "Delete Delete"},
		{name: "ours until another takes it", steps: []step{runs, passed, gone}, want: "Get Set"},
	} {
		synctest.Test(t, func(t *testing.T) {
			own := &database[cronjob.Memory]{byKey: map[types.NamespacedName]cronjob.Memory{}}
			store := &noted[cronjob.Memory]{Memories: own, broken: test.broken}
			d := newCronDesk(t, controller.CronJobOptions{
				Memories: store,
				Takes:    func(o controller.Object) bool { return o.GetLabels()["by"] == "" },
			})

			o := newCronJob("c", "@hourly", batchv1.AllowConcurrent)
			if test.by != "" {
				o.Labels = map[string]string{"by": test.by}
			}
			must.OK(t, d.cronJobs.Add(o))
			d.CronJobEvents(&asks{}).OnAdd(o, false)
			for i, do := range test.steps {
				do(d, o)
				if _, err := d.round("c"); err != nil && test.broken == nil {
					t.Errorf("%s: round %d: %v", test.name, i, err)
				}
			}
			if got := strings.Join(store.calls, " "); got != test.want {
				t.Errorf("%s: calls %s, want %s", test.name, got, test.want)
			}
		})
	}
}

// TestKind_MemoryReported: the status shows that the memory cannot be read. If the process is
// stopping, the status is not written.
func TestKind_MemoryReported(t *testing.T) {
	for _, stops := range []bool{false, true} {
		says := ""
		kind := films()
		kind.Report = func(f *film, r *controller.JobReport) {
			says = r.Err.Error()
			f.Status.Conditions = []batchv1.JobCondition{{Type: "Told", Message: says}}
		}
		store := &database[job.Memory]{method: "Get", fails: 1}
		f := film{Spec: scene(corev1.RestartPolicyNever)}

		inStudio(t, kind, controller.JobOptions{Memories: store}, f, func(s *studio) {
			ctx, stop := context.WithCancel(quiet(s.T))
			defer stop()
			if stops {
				stop()
			}
			_, err := s.jobs.Reconcile(ctx, types.NamespacedName{Namespace: "ns", Name: "f"})
			if !errors.Is(err, errDatabase) || (says == "") != stops || (s.said("Told") == "") != stops {
				t.Errorf("stops %t: %v, says %q, stored %q", stops, err, says, s.said("Told"))
			}
		})
	}
}

// TestStoresFailInConflict: the error of a store is never expected, even together with a conflict.
func TestStoresFailInConflict(t *testing.T) {
	conflict := apierrors.NewConflict(batchv1.Resource("jobs"), "j", nil)
	check := func(store string, err error) {
		t.Helper()
		if !errors.Is(err, errDatabase) || !apierrors.IsConflict(err) || controller.IsExpected(err) {
			t.Errorf("%s: expected %t: %v", store, controller.IsExpected(err), err)
		}
	}

	synctest.Test(t, func(t *testing.T) {
		store := &database[job.Memory]{byKey: map[types.NamespacedName]job.Memory{}, method: "Set", fails: 1}
		d := newJobDesk(t, controller.JobOptions{Memories: store}, newJob("j", pointTo(mine)))
		d.refuse("update", "jobs", conflict)
		_, err := d.round("j")
		check("memories of jobs", err)
	})

	synctest.Test(t, func(t *testing.T) {
		store := &database[cronjob.Memory]{byKey: map[types.NamespacedName]cronjob.Memory{}, method: "Set", fails: 1}
		store.triggers = []cronjob.Trigger{{ID: "now"}}
		c := newCluster(t)
		r, err := controller.NewCronJobReconciler(
			cronOf(controller.BatchCronJobs(c, nil), c.cronJobCache, c.jobCache),
			controller.CronJobOptions{
				Common:   controller.Common{Events: &c.events},
				Memories: store,
				Requests: requests[cronjob.Memory]{store},
			},
		)
		must.OK(t, err)

		o := newCronJob("c", "@hourly", batchv1.AllowConcurrent)
		must.OK(t, errors.Join(c.cronJobCache.GetIndexer().Add(o), c.Tracker().Add(o.DeepCopy())))
		c.refuse("update", "cronjobs", conflict)
		_, err = r.Reconcile(quiet(t), types.NamespacedName{Namespace: "ns", Name: "c"})
		check("memories of CronJobs", err)
	})
}
