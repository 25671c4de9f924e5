//go:build go1.25

package reconcilers_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/internal/memory"
	"github.com/batchplan/batchplan/x/kubernetes/reconcilers"
)

// TestRound: when a controller runs again after a round.
func TestRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed, conflict := errors.New("timeout"), apierrors.NewConflict(batchv1.Resource("jobs"), "j", nil)
		now := time.Now()
		for _, test := range []struct {
			next  time.Time
			err   error
			after time.Duration
			fails bool
		}{
			{time.Time{}, nil, 0, false},
			{now.Add(5 * time.Second), nil, 5 * time.Second, false},
			{now.Add(1), nil, 1, false},
			{now, nil, 1, false},
			{now.Add(-time.Hour), nil, 1, false},
			{time.Time{}, conflict, time.Second, false},
			{now.Add(time.Hour), conflict, time.Second, false},
			{time.Time{}, failed, 0, true},
			{now.Add(time.Hour), failed, 0, true},
		} {
			got, err := reconcilers.Round(test.next, test.err)
			if got.RequeueAfter != test.after || (err != nil) != test.fails {
				t.Errorf("at %s, %v: again after %v, %v", test.next, test.err, got.RequeueAfter, err)
			}
		}
	})
}

// desk is a manager that runs nothing. Its cache shows what the test puts into it.
type desk struct {
	ctrl.Manager
	cache.Cache
	informers map[string]toolscache.SharedIndexInformer
	lacks     string // the type of which there is no informer
	broken    bool   // no client can be made
	full      error  // why nothing can be added
	added     []manager.Runnable
	client    client.Client
	reader    client.Reader
}

func newDesk(t *testing.T, c client.Client) *desk {
	clientscheme.Scheme.AddKnownTypes(schema.GroupVersion{Group: "example.com", Version: "v1"}, &Nightly{}, &Backup{}, &Reel{}) // the manager's
	d := &desk{informers: map[string]toolscache.SharedIndexInformer{}, client: c, reader: c}
	d.Manager = newManager(t, func(*rest.Config, cache.Options) (cache.Cache, error) {
		return idleCache{asked: map[string]bool{}}, nil
	})
	return d
}

func (d *desk) GetCache() cache.Cache         { return d }
func (d *desk) GetClient() client.Client      { return d.client }
func (d *desk) GetAPIReader() client.Reader   { return d.reader }
func (d *desk) Start(_ context.Context) error { return nil }

func (d *desk) GetInformer(_ context.Context, o client.Object, options ...cache.InformerGetOption) (cache.Informer, error) {
	var all cache.InformerGetOptions
	for _, set := range options {
		set(&all)
	}
	if all.BlockUntilSynced == nil || *all.BlockUntilSynced {
		return nil, errors.New("would wait for a manager that has not started")
	}
	name := reflect.TypeOf(o).String()
	if kind := o.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		name += " " + kind
	}
	if name == d.lacks {
		return nil, errors.New("no such kind")
	}
	if d.informers[name] == nil {
		d.informers[name] = toolscache.NewSharedIndexInformer(&toolscache.ListWatch{}, o, 0, toolscache.Indexers{})
	}
	return d.informers[name], nil
}

func (d *desk) GetConfig() *rest.Config {
	if d.broken {
		return &rest.Config{Host: "https://%"}
	}
	return d.Manager.GetConfig()
}

func (d *desk) Add(r manager.Runnable) error {
	d.added = append(d.added, r)
	return d.full
}

// fieldOf returns a field of a controller that was added.
func (d *desk) fieldOf(r manager.Runnable, name string) reflect.Value {
	return reflect.Indirect(reflect.ValueOf(r)).FieldByName(name)
}

// controllers describes what was added.
func (d *desk) controllers() string {
	var all []string
	for _, r := range d.added {
		if reflect.Indirect(reflect.ValueOf(r)).Kind() != reflect.Struct {
			all = append(all, "events")
			continue
		}
		all = append(all, fmt.Sprint(d.fieldOf(r, "Name"), " ", d.fieldOf(r, "MaxConcurrentReconciles")))
	}
	return strings.Join(all, ", ")
}

type reconciler interface{ SetupWithManager(ctrl.Manager) error }

func reelKind() controller.Kind[*Reel] {
	var status batchv1.JobStatus
	return controller.Kind[*Reel]{
		Spec:   func(*Reel) *batchv1.JobSpec { return &batchv1.JobSpec{} },
		Status: func(*Reel) *batchv1.JobStatus { return &status },
	}
}

// TestSetup_Controllers: the names, the workers and the recorders of what is added to a manager.
func TestSetup_Controllers(t *testing.T) {
	quiet := controller.Common{Events: discard{}}
	few := controller.Common{Events: discard{}, Workers: 1}
	two := controller.Common{Workers: 2}
	var status batchv1.JobStatus
	things := controller.Kind[*unstructured.Unstructured]{
		GroupVersionKind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"},
		Spec:             func(*unstructured.Unstructured) *batchv1.JobSpec { return &batchv1.JobSpec{} },
		Status:           func(*unstructured.Unstructured) *batchv1.JobStatus { return &status },
	}
	for _, test := range []struct {
		reconciler
		want, types string
	}{
		{reconcilers.Job{JobOptions: controller.JobOptions{Common: quiet, ManagedBy: mine}}, "job 5", "*v1.Job *v1.Pod"},
		{reconcilers.Job{JobOptions: controller.JobOptions{Common: few, ManagedBy: mine}, Name: "x"}, "x 1", "*v1.Job *v1.Pod"},
		{reconcilers.Orphan{OrphanOptions: controller.OrphanOptions{Common: quiet, ManagedBy: mine}}, "orphan 5", "*v1.Job *v1.Pod"},
		{reconcilers.Orphan{OrphanOptions: controller.OrphanOptions{Common: two, ManagedBy: mine}, Name: "x"}, "events, x 2", "*v1.Job *v1.Pod"},
		{reconcilers.CronJob{CronJobOptions: controller.CronJobOptions{Common: quiet}}, "cronjob 5", "*v1.CronJob *v1.Job"},
		{reconcilers.CronJob{CronJobOptions: controller.CronJobOptions{Common: two}, Name: "x"}, "events, x 2", "*v1.CronJob *v1.Job"},
		{reconcilers.TTL{TTLOptions: controller.TTLOptions{Common: quiet}}, "ttl 5", "*v1.Job"},
		{reconcilers.TTL{TTLOptions: controller.TTLOptions{Common: two}, Name: "x"}, "events, x 2", "*v1.Job"},
		{reconcilers.JobOf[*Reel]{Kind: reelKind(), JobOptions: controller.JobOptions{Common: quiet}}, "reel 5, reel-orphan 5, reel-ttl 5", "*reconcilers_test.Reel *v1.Pod"},
		{reconcilers.JobOf[*Reel]{Kind: reelKind(), JobOptions: controller.JobOptions{Common: two}, Name: "x"}, "events, x 2, x-orphan 2, x-ttl 2", "*reconcilers_test.Reel *v1.Pod"},
		{reconcilers.JobOf[*Reel]{Kind: reelKind(), JobOptions: controller.JobOptions{Common: quiet, ManagedBy: "x", Planner: job.Options{ControllerName: "x"}}}, "reel 5, reel-orphan 5, reel-ttl 5", "*reconcilers_test.Reel *v1.Pod"},
		{reconcilers.JobOf[*unstructured.Unstructured]{Kind: things, JobOptions: controller.JobOptions{Common: quiet}}, "thing 5, thing-orphan 5, thing-ttl 5", "*unstructured.Unstructured Thing *v1.Pod"},
		{reconcilers.Cron[*Nightly, *Backup]{Kind: nightlies(), CronJobOptions: controller.CronJobOptions{Common: quiet}}, "nightly 5", "*reconcilers_test.Backup *reconcilers_test.Nightly"},
		{reconcilers.Cron[*Nightly, *Backup]{Kind: nightlies(), CronJobOptions: controller.CronJobOptions{Common: two}, Name: "x"}, "events, x 2", "*reconcilers_test.Backup *reconcilers_test.Nightly"},
	} {
		d := newDesk(t, nil)
		if err := test.SetupWithManager(d); err != nil || d.controllers() != test.want {
			t.Errorf("%T: %q, want %q; %v", test.reconciler, d.controllers(), test.want, err)
		}
		asked := 0
		for name := range d.informers {
			if strings.Contains(test.types, name) {
				asked++
			}
		}
		if want := strings.Count(test.types, "*"); asked != want || len(d.informers) != want {
			t.Errorf("%T: informers %v, want %s", test.reconciler, d.informers, test.types)
		}
	}
}

// TestSetup_Fails: if a step of a setup fails, the setup returns an error.
func TestSetup_Fails(t *testing.T) {
	quiet := controller.Common{Events: discard{}}
	of := func(c controller.Common) []reconciler {
		return []reconciler{
			reconcilers.Job{JobOptions: controller.JobOptions{Common: c, ManagedBy: mine}},
			reconcilers.Orphan{OrphanOptions: controller.OrphanOptions{Common: c, ManagedBy: mine}},
			reconcilers.CronJob{CronJobOptions: controller.CronJobOptions{Common: c}},
			reconcilers.TTL{TTLOptions: controller.TTLOptions{Common: c}},
			reconcilers.JobOf[*Reel]{Kind: reelKind(), JobOptions: controller.JobOptions{Common: c}},
			reconcilers.Cron[*Nightly, *Backup]{Kind: nightlies(), CronJobOptions: controller.CronJobOptions{Common: c}},
		}
	}
	uses := []string{"*v1.Job *v1.Pod", "*v1.Job *v1.Pod", "*v1.CronJob *v1.Job", "*v1.Job", "*reconcilers_test.Reel *v1.Pod",
		"*reconcilers_test.Nightly *reconcilers_test.Backup"}
	expect := func(d *desk, r reconciler, want string) {
		t.Helper()
		if err := r.SetupWithManager(d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: %v, want %s", r, err, want)
		}
	}

	for i := range uses {
		d := newDesk(t, nil)
		d.broken = true
		expect(d, of(controller.Common{})[i], "client: ")
		for _, common := range []controller.Common{{}, quiet} {
			d = newDesk(t, nil)
			d.full = errors.New("no room")
			expect(d, of(common)[i], "no room")
			if n := len(d.added); n > 3 || common.Events == nil && n != 1 {
				t.Errorf("%T goes on: %d are added", of(common)[i], n)
			}
		}
		for _, name := range strings.Fields(uses[i]) {
			d = newDesk(t, nil)
			d.lacks = name
			expect(d, of(quiet)[i], "informer of "+name+": no such kind")
			if len(d.added) > 0 {
				t.Errorf("%T goes on without an informer of %s", of(quiet)[i], name)
			}
		}
	}
	expect(newDesk(t, nil), reconcilers.Job{JobOptions: controller.JobOptions{Common: quiet, ManagedBy: mine, Planner: job.Options{Gangs: true}}}, "Gangs")
	x := job.Options{ControllerName: "x"}
	expect(newDesk(t, nil), reconcilers.TTL{TTLOptions: controller.TTLOptions{Common: quiet, Planner: x}}, "ControllerName")
	expect(newDesk(t, nil), reconcilers.Orphan{OrphanOptions: controller.OrphanOptions{Common: quiet, ManagedBy: mine, Planner: x}}, "ControllerName")

	all := reconcilers.JobOf[*Reel]{Kind: reelKind(), JobOptions: controller.JobOptions{Common: quiet, ManagedBy: mine, Planner: x}}
	d := newDesk(t, nil)
	if err := all.SetupWithManager(d); err == nil || strings.Count(err.Error(), "ControllerName") != 3 || len(d.added) > 0 {
		t.Errorf("the three controllers of a kind: %v", err)
	}
}

// TestSetup_Limiter: failed rounds of jobs and orphans are delayed as Kubernetes delays those of
// jobs, and all others as client-go does by default.
func TestSetup_Limiter(t *testing.T) {
	d := newDesk(t, nil)
	must.OK(t, reconcilers.JobOf[*Reel]{
		Kind: reelKind(), JobOptions: controller.JobOptions{Common: controller.Common{Events: discard{}}},
	}.SetupWithManager(d))
	limiter := func(i int) any { return d.fieldOf(d.added[i], "RateLimiter").Interface() }
	type key = types.NamespacedName
	for i, got := range []time.Duration{
		limiter(0).(workqueue.TypedRateLimiter[key]).When(key{}),
		limiter(1).(workqueue.TypedRateLimiter[controller.Orphan]).When(controller.Orphan{}),
		limiter(2).(workqueue.TypedRateLimiter[key]).When(key{}),
	} {
		want := controller.JobRateLimiter[int]().When(0)
		if i == 2 {
			want = workqueue.DefaultTypedControllerRateLimiter[int]().When(0)
		}
		if got != want {
			t.Errorf("controller %d repeats a failed round after %v, want %v", i, got, want)
		}
	}
}

// TestSetup_Informers: if an informer is set, it is used, and the manager is not asked for one.
func TestSetup_Informers(t *testing.T) {
	kind, d := reelKind(), newDesk(t, nil)
	kind.ObjectInformer = toolscache.NewSharedIndexInformer(&toolscache.ListWatch{}, &Reel{}, 0, toolscache.Indexers{})
	must.OK(t, reconcilers.JobOf[*Reel]{Kind: kind, JobOptions: controller.JobOptions{Common: controller.Common{Events: discard{}}}}.SetupWithManager(d))
	if len(d.informers) != 1 || d.informers["*v1.Pod"] == nil {
		t.Errorf("asked for %v", d.informers)
	}
}

// TestSetup_Recorder: the recorder runs until its manager stops. It cannot run again.
func TestSetup_Recorder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, nil)
		must.OK(t, reconcilers.TTL{Client: fake.NewClientset()}.SetupWithManager(d))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.added[0].Start(ctx) }()
		synctest.Wait()
		select {
		case err := <-ended:
			t.Fatalf("it has ended: %v", err)
		default:
		}
		cancel()
		must.OK(t, <-ended)
		if err := d.added[0].Start(ctx); err == nil || !strings.HasPrefix(err.Error(), "events of ttl-controller: ") {
			t.Errorf("it starts again: %v", err)
		}
	})
}

// TestSource: WaitForSync waits until the handler has received the objects of the cache. If the
// context ends before that, the error is the cause of the context.
func TestSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clientset := fake.NewClientset(cronJob())
		informer := informers.NewSharedInformerFactory(clientset, memory.Resync).Batch().V1().CronJobs().Informer()
		seen := 0
		s := reconcilers.Source(informer, func(controller.Queue[types.NamespacedName]) toolscache.ResourceEventHandler {
			return toolscache.ResourceEventHandlerFuncs{AddFunc: func(any) { seen++ }}
		})
		must.OK(t, s.Start(t.Context(), nil))

		stopped := errors.New("stopped")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(stopped)
		if err := s.WaitForSync(ctx); !errors.Is(err, stopped) {
			t.Errorf("before the informer runs: %v", err)
		}

		ctx, cancel = context.WithCancelCause(t.Context())
		ran := make(chan struct{})
		go func() { informer.Run(ctx.Done()); close(ran) }()
		if err := s.WaitForSync(t.Context()); err != nil || seen != 1 {
			t.Errorf("%v after %d objects", err, seen)
		}
		cancel(stopped)
		<-ran
		if err := s.Start(t.Context(), nil); err == nil {
			t.Error("an informer that has stopped takes a handler")
		}
	})
}

// calls counts the calls of a client.
type calls map[string]int

func (c calls) client(objects ...client.Object) client.Client {
	note := func(what string, o client.Object) { c[what+" "+o.GetNamespace()+"/"+o.GetName()]++ }
	return crfake.NewClientBuilder().WithScheme(backupScheme()).WithObjects(objects...).WithStatusSubresource(&Nightly{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, w client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
				c["get "+key.String()]++
				return w.Get(ctx, key, o, options...)
			},
			Create: func(ctx context.Context, w client.WithWatch, o client.Object, options ...client.CreateOption) error {
				note("create", o)
				o.SetUID(types.UID("uid-" + o.GetName())) // as a server does
				return w.Create(ctx, o, options...)
			},
			Delete: func(ctx context.Context, w client.WithWatch, o client.Object, options ...client.DeleteOption) error {
				all := (&client.DeleteOptions{}).ApplyOptions(options)
				note("delete "+string(*all.Preconditions.UID)+" "+string(*all.PropagationPolicy), o)
				return nil
			},
			SubResourceUpdate: func(ctx context.Context, w client.Client, sub string, o client.Object, options ...client.SubResourceUpdateOption) error {
				note("update "+sub, o)
				return w.SubResource(sub).Update(ctx, o, options...)
			},
		}).Build()
}

// round runs a round of a controller that was added.
func (d *desk) round(t *testing.T, controller int, name string) (reconcile.Result, error) {
	t.Helper()
	do := d.fieldOf(d.added[controller], "Do").Interface().(reconcile.TypedReconciler[types.NamespacedName])
	return do.Reconcile(logr.NewContext(t.Context(), logr.Discard()), types.NamespacedName{Namespace: "ns", Name: name})
}

// TestCron_Round: a round reads and writes with the manager's clients, or with those of the reconciler.
func TestCron_Round(t *testing.T) {
	for _, own := range []bool{false, true} {
		for _, taken := range []bool{false, true} { // the name of the run
			synctest.Test(t, func(t *testing.T) {
				nightly := &Nightly{ObjectMeta: metav1.ObjectMeta{Name: "n", Namespace: "ns", UID: "uid-n", CreationTimestamp: metav1.Now()}}
				nightly.Spec.Schedule = "@hourly"
				time.Sleep(time.Hour)
				run := cronjob.Naming{}.JobName("n", time.Now())
				stored := []client.Object{nightly}
				if taken {
					stored = append(stored, &Backup{ObjectMeta: metav1.ObjectMeta{Name: run, Namespace: "ns", UID: "uid-b"}}) // of another owner
				}

				writes, reads, none := calls{}, calls{}, calls{}
				writer, reader := writes.client(stored...), reads.client(stored...)
				r := reconcilers.Cron[*Nightly, *Backup]{Kind: nightlies(), CronJobOptions: controller.CronJobOptions{Common: controller.Common{Events: discard{}}}}
				d := newDesk(t, writer)
				if d.reader = reader; own {
					r.Client, r.Reader = writer, reader
					d.client, d.reader = none.client(), none.client()
				}
				must.OK(t, r.SetupWithManager(d))
				must.OK(t, d.informers["*reconcilers_test.Nightly"].GetIndexer().Add(nightly))

				_, err := d.round(t, 0, "n")
				wantReads, wantWrites := calls{}, calls{"create ns/" + run: 1, "update status ns/n": 1}
				if taken {
					wantReads, wantWrites = calls{"get ns/" + run: 1}, calls{"create ns/" + run: 1}
				}
				if err != nil || !maps.Equal(writes, wantWrites) || !maps.Equal(reads, wantReads) || len(none) > 0 {
					t.Errorf("own %v, taken %v: writes %v, reads %v, others %v, %v", own, taken, writes, reads, none, err)
				}
			})
		}
	}
}

// TestCron_Terminal: if the error of a check is terminal, the error of the round is terminal too,
// so the manager does not try again.
func TestCron_Terminal(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		kind := nightlies()
		kind.Report = func(*Nightly, *controller.CronReport) {}
		kind.Check = func(*Nightly) error {
			refused := errors.New("no bucket")
			if terminal {
				return reconcile.TerminalError(refused)
			}
			return refused
		}

		nightly := &Nightly{ObjectMeta: metav1.ObjectMeta{Name: "n", Namespace: "ns", UID: "uid-n", CreationTimestamp: metav1.Now()}}
		d := newDesk(t, calls{}.client(nightly))
		r := reconcilers.Cron[*Nightly, *Backup]{Kind: kind, CronJobOptions: controller.CronJobOptions{Common: controller.Common{Events: discard{}}}}
		must.OK(t, r.SetupWithManager(d))
		must.OK(t, d.informers["*reconcilers_test.Nightly"].GetIndexer().Add(nightly))
		_, err := d.round(t, 0, "n")
		if is := errors.Is(err, reconcile.TerminalError(nil)); err == nil || is != terminal {
			t.Errorf("terminal %t, want %t: %v", is, terminal, err)
		}
	}
}

// TestJobOf_Round: the controllers of a kind read and write with the manager's clients, or with
// those of the reconciler. The TTL controller uses ManagedBy, the times to live and the metrics of
// the options.
func TestJobOf_Round(t *testing.T) {
	for _, own := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			reel := func(name, by string) *Reel {
				r := &Reel{Nightly{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID("uid-" + name)}}}
				r.Spec.Bucket = by
				return r
			}
			ours, theirs := reel("ours", mine), reel("theirs", "example.com/theirs")

			var status batchv1.JobStatus
			kind := reelKind()
			kind.Spec = func(r *Reel) *batchv1.JobSpec { return &batchv1.JobSpec{ManagedBy: &r.Spec.Bucket} }
			kind.Status = func(*Reel) *batchv1.JobStatus { return &status }

			writes, reads, none, expired, minute := calls{}, calls{}, calls{}, 0, int32(60)
			writer, reader := writes.client(ours, theirs), reads.client(ours, theirs)
			r := reconcilers.JobOf[*Reel]{
				Kind:       kind,
				JobOptions: controller.JobOptions{Common: controller.Common{Events: discard{}}, ManagedBy: mine, Planner: job.Options{TTLSecondsAfterComplete: &minute}},
				TTLMetrics: controller.TTLMetrics{Expired: func(time.Duration) { expired++ }},
			}
			d := newDesk(t, writer)
			if d.reader = reader; own {
				r.Client, r.Reader = writer, reader
				d.client, d.reader = none.client(), none.client()
			}
			must.OK(t, r.SetupWithManager(d))
			must.OK(t, d.informers["*reconcilers_test.Reel"].GetIndexer().Add(ours))
			must.OK(t, d.informers["*reconcilers_test.Reel"].GetIndexer().Add(theirs))
			status = batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: "True", LastTransitionTime: metav1.Now()}}}

			const ttl = 2 // after the Job and the orphan controller
			if got, err := d.round(t, ttl, "ours"); err != nil || got.RequeueAfter != time.Minute || len(reads) > 0 {
				t.Errorf("own %v: early: %v, reads %v, %v", own, got, reads, err)
			}
			time.Sleep(time.Minute)
			for _, name := range []string{"ours", "theirs"} {
				if _, err := d.round(t, ttl, name); err != nil {
					t.Error(err)
				}
			}
			if !maps.Equal(writes, calls{"delete uid-ours Foreground ns/ours": 1}) || !maps.Equal(reads, calls{"get ns/ours": 1}) || expired != 1 || len(none) > 0 {
				t.Errorf("own %v: writes %v, reads %v, %d expired, others %v", own, writes, reads, expired, none)
			}
		})
	}
}

// TestObjects_Delete: the conditions of a deletion, and objects of a kind that no scheme knows.
func TestObjects_Delete(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Backup"}
	done := calls{}
	c := reconcilers.OwnerClientOf[*unstructured.Unstructured](done.client(&Backup{ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "ns"}, Bucket: "x"}), kind, "ns")
	got, err := c.Get(t.Context(), "b", metav1.GetOptions{})
	if bucket, _, _ := unstructured.NestedString(got.Object, "bucket"); err != nil || bucket != "x" {
		t.Errorf("%v, %v", got, err)
	}
	uid, policy := types.UID("uid-b"), metav1.DeletePropagationForeground
	must.OK(t, c.Delete(t.Context(), "b", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &policy}))
	if done["delete uid-b Foreground ns/b"] != 1 {
		t.Errorf("calls %v", done)
	}
}
