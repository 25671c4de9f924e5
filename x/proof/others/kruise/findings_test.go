package kruise

// The findings of docs/blackbox.md without the kit: the controller of AdvancedCronJobs on a fake
// client. Each test passes while its finding exists.

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openkruise/kruise/apis/apps/v1alpha1"
	"github.com/openkruise/kruise/pkg/controller/advancedcronjob"
	"github.com/openkruise/kruise/pkg/util/fieldindex"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"

	"github.com/batchplan/batchplan/x/proof/others/kruise/plain"
)

func init() {
	time.Local = time.UTC // each test begins at midnight
}

// fixture is OpenKruise's controller, as its Add function makes it, on a fake client.
type fixture struct {
	controller.Controller
	client  client.Client
	started []string             // the names of the jobs that it has made
	lag     time.Duration        // how late its cache shows a new job
	made    map[string]time.Time // when each job was made, by name
	cron    *v1alpha1.AdvancedCronJob
	events  *informertest.FakeInformers
}

// with returns the controller with one AdvancedCronJob, which has just been created.
func with(t *testing.T, spec v1alpha1.AdvancedCronJobSpec) *fixture {
	spec.Template = v1alpha1.CronJobTemplate{JobTemplate: &batchv1.JobTemplateSpec{}}
	p := &fixture{events: &informertest.FakeInformers{Scheme: scheme.Scheme}, made: make(map[string]time.Time), cron: &v1alpha1.AdvancedCronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cron", UID: "cron", CreationTimestamp: metav1.Now()},
		Spec:       spec,
	}}

	p.client = fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(p.cron).
		WithStatusSubresource(&v1alpha1.AdvancedCronJob{}, &batchv1.Job{}).
		WithIndex(&batchv1.Job{}, fieldindex.IndexNameForController, owner).
		WithInterceptorFuncs(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				p.started = append(p.started, o.GetName())
				p.made[o.GetName()] = time.Now()
				return c.Create(ctx, o, opts...)
			},
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				err := c.List(ctx, list, opts...)
				if jobs, ok := list.(*batchv1.JobList); ok {
					jobs.Items = slices.DeleteFunc(jobs.Items, func(j batchv1.Job) bool { return time.Since(p.made[j.Name]) < p.lag })
				}
				return err
			},
		}).Build()

	var err error
	if p.Controller, err = plain.Controller(advancedcronjob.Add, p.client, p.events); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *fixture) look(t *testing.T) ctrl.Result {
	result, err := p.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(p.cron)})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (p *fixture) job(t *testing.T) *batchv1.Job {
	var jobs batchv1.JobList
	if err := p.client.List(t.Context(), &jobs); err != nil || len(jobs.Items) != 1 {
		t.Fatalf("there are %d jobs, want 1: %v", len(jobs.Items), err)
	}
	return &jobs.Items[0]
}

func (p *fixture) jobs(t *testing.T) int {
	var jobs batchv1.JobList
	if err := p.client.List(t.Context(), &jobs); err != nil {
		t.Fatal(err)
	}
	return len(jobs.Items)
}

func (p *fixture) active(t *testing.T) int {
	if err := p.client.Get(t.Context(), client.ObjectKeyFromObject(p.cron), p.cron); err != nil {
		t.Fatal(err)
	}
	return len(p.cron.Status.Active)
}

// run runs the controller with its watches until the test ends. It returns the informers, which
// send events.
func (p *fixture) run(t *testing.T) (crons, jobs *controllertest.FakeInformer) {
	informer := func(o client.Object) *controllertest.FakeInformer {
		i, err := p.events.FakeInformerFor(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}

	crons, jobs = informer(&v1alpha1.AdvancedCronJob{}), informer(&batchv1.Job{})
	informer(&v1alpha1.BroadcastJob{})

	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- p.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second) // its queue ends at the next tick
	})

	synctest.Wait()
	crons.Add(p.cron)
	return crons, jobs
}

// The controller runs, with its watches. A job is started, and the watch reports it; an hour later
// status.active does not name it. A right controller watches the Jobs that AdvancedCronJobs own,
// and not those of BroadcastJobs.
func TestFindingActiveList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := with(t, v1alpha1.AdvancedCronJobSpec{Schedule: "0 12 * * *"})
		crons, jobs := p.run(t)
		time.Sleep(12*time.Hour + time.Minute)
		job := p.job(t)
		if owner(job)[0] != p.cron.Name {
			t.Fatalf("the job belongs to %v", job.OwnerReferences)
		}
		jobs.Add(job)
		time.Sleep(time.Hour)
		if n := p.active(t); n != 0 {
			t.Errorf("status.active names %d jobs, none with v1.8.0: strike OpenKruise's row ActiveList in docs/blackbox.md", n)
		}

		// Any event of the AdvancedCronJob itself corrects status.active.
		crons.Update(p.cron, p.cron)
		synctest.Wait()
		if n := p.active(t); n != 1 {
			t.Errorf("status.active names %d jobs after an edit, want 1", n)
		}
	})
}

// The controller runs with its watches, and failedJobsHistoryLimit is 0. The job fails, the watch
// reports that, and the job is kept for ten hours. A right controller deletes the job when the
// watch reports its end.
func TestFindingHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := with(t, v1alpha1.AdvancedCronJobSpec{Schedule: "0 12 * * *", FailedJobsHistoryLimit: new(int32(0))})
		crons, jobs := p.run(t)
		time.Sleep(12*time.Hour + time.Minute)
		job := p.job(t)
		jobs.Add(job)
		time.Sleep(time.Hour)
		before := job.DeepCopy()
		now := metav1.Now()
		job.Status.StartTime = &now
		job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
		if err := p.client.Status().Update(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		jobs.Update(before, job)
		time.Sleep(10 * time.Hour)
		if n := p.jobs(t); n != 1 {
			t.Errorf("%d jobs are left, with v1.8.0 the failed one: strike OpenKruise's row History in docs/blackbox.md", n)
		}

		crons.Update(p.cron, p.cron)
		synctest.Wait()
		if n := p.jobs(t); n != 0 {
			t.Errorf("%d jobs are left after an edit, want none", n)
		}
	})
}

// The cache is ten seconds behind. The program was down, and starts a run 54 seconds late. The next
// run is due six seconds later, and starts beside the first: the list of jobs does not show the
// first one. A right controller starts nothing until its cache shows what it has created.
func TestFindingReplaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := with(t, v1alpha1.AdvancedCronJobSpec{Schedule: "* * * * *", ConcurrencyPolicy: v1alpha1.ReplaceConcurrent})
		p.lag = 10 * time.Second
		time.Sleep(time.Minute + 54*time.Second)
		asked := p.look(t).RequeueAfter
		if asked != 6*time.Second {
			t.Fatalf("the next look is in %s, want 6s", asked)
		}
		time.Sleep(asked)
		p.look(t)
		p.lag = 0
		if n := p.jobs(t); n != 2 || len(p.started) != 2 {
			t.Errorf("%d jobs run concurrently, 2 with v1.8.0: strike OpenKruise's row Replaces in docs/blackbox.md", n)
		}
	})
}

// With successfulJobsHistoryLimit 0, a run whose job has ended starts again. The controller's first
// look deletes the job and writes the status. That write causes the second look, which starts the
// run. A right controller records the last run in status.lastScheduleTime, which must not go back
// when a job is deleted.
func TestFindingRunTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := with(t, v1alpha1.AdvancedCronJobSpec{Schedule: "0 * * * *", SuccessfulJobsHistoryLimit: new(int32(0))})
		time.Sleep(time.Hour)
		p.look(t)
		job := p.job(t)
		p.look(t) // an event of the AdvancedCronJob
		now := metav1.Now()
		job.Status.StartTime = &now
		job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		if err := p.client.Status().Update(t.Context(), job); err != nil {
			t.Fatal(err)
		}

		time.Sleep(time.Minute)
		p.look(t) // a user has edited the AdvancedCronJob, or the controller was restarted
		p.look(t)
		if want := []string{job.Name, job.Name}; !slices.Equal(p.started, want) {
			t.Errorf("started %q, with v1.8.0 %q: strike OpenKruise's row NoRunTwice in docs/blackbox.md", p.started, want)
		}
	})
}

// Each run starts in time for two hours. Then the only remaining job is deleted, and nothing starts
// any more: all runs since the creation count as missed, and more than 100 missed runs are an error
// that is neither returned nor retried. A right controller starts the next run in time.
func TestFindingStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := with(t, v1alpha1.AdvancedCronJobSpec{Schedule: "* * * * *", ConcurrencyPolicy: v1alpha1.ReplaceConcurrent})
		for range 120 {
			time.Sleep(time.Minute)
			p.look(t)
		}
		if len(p.started) != 120 {
			t.Fatalf("started %d of 120 runs", len(p.started))
		}
		if err := p.client.Delete(t.Context(), p.job(t)); err != nil {
			t.Fatal(err)
		}
		for range 60 { // it does not ask for these looks
			time.Sleep(time.Minute)
			if result := p.look(t); result != (ctrl.Result{}) || len(p.started) != 120 {
				t.Fatalf("asked for %v and started %q, neither with v1.8.0: strike OpenKruise's row Starts in docs/blackbox.md", result, p.started[120:])
			}
		}
	})
}
