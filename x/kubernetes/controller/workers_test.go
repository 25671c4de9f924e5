//go:build go1.25

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
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

	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// brokenFor is a store that panics for one job.
type brokenFor struct {
	stored
	name  string
	asked *atomic.Int32
}

func (b brokenFor) Get(ctx context.Context, key types.NamespacedName) (job.Memory, error) {
	if key.Name == b.name {
		b.asked.Add(1)
		panic("broken")
	}
	return b.stored.Get(ctx, key)
}

// TestController_Panic: a round that panics ends neither the process nor the rounds of other jobs,
// and is repeated only after a delay.
func TestController_Panic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		c := newCluster(t, newJob("bad", pointTo(mine)), newJob("good", pointTo(mine)))
		c.startJobs(controller.JobOptions{Common: controller.Common{Workers: 1}, Memories: brokenFor{stored{}, "bad", &asked}})
		c.rest(time.Minute)
		if pods := c.pods(); len(pods) != 1 || pods[0].Labels["job"] != "good" {
			t.Errorf("pods %v", pods)
		}
		if n := asked.Load(); n < 3 || n > 10 {
			t.Errorf("%d rounds in a minute", n)
		}
	})
}

// TestController_Namespaces: a replica leaves the namespaces of others alone, takes one over when
// asked to, and forgets what it knew when it loses the namespace.
func TestController_Namespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mineNow atomic.Bool
		memories := stored{}
		c := newCluster(t, newJob("j", pointTo(mine)))
		jobs := c.startJobs(controller.JobOptions{
			Common: controller.Common{Workers: 1, Namespace: func(string) bool { return mineNow.Load() }}, Memories: memories,
		})

		turn := func(on bool) {
			mineNow.Store(on)
			jobs.Enqueue(func(namespace string) bool { return namespace == "ns" })
			c.rest(time.Second)
		}

		c.rest(time.Minute)
		if n := len(c.pods()); n != 0 {
			t.Fatalf("%d pods in the namespace of another replica", n)
		}

		turn(true)
		if n := len(c.pods()); n != 1 || len(memories) != 1 {
			t.Fatalf("%d pods, %d memories", n, len(memories))
		}

		turn(false)
		if len(memories) != 1 {
			t.Error("a stored memory, which is the next replica's, is gone")
		}
		must.OK(t, c.CoreV1().Pods("ns").Delete(t.Context(), c.pods()[0].Name, metav1.DeleteOptions{}))
		c.rest(time.Minute)
		if n := len(c.pods()); n != 0 {
			t.Fatalf("%d pods in a namespace that was lost", n)
		}

		turn(true)
		c.rest(time.Minute)
		if n := len(c.pods()); n != 1 {
			t.Errorf("%d pods in a namespace that has come back", n)
		}
	})
}

// TestController_CrashOnPanic: with CrashOnPanic, nothing recovers from the panic of a round.
func TestController_CrashOnPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		cluster := newCluster(t)
		c, err := controller.NewJobs(controller.BatchJobs(cluster, cluster.factory), controller.JobOptions{
			Common: controller.Common{CrashOnPanic: true}, ManagedBy: mine, Memories: brokenFor{stored{}, "bad", &asked},
		})
		must.OK(t, err)
		defer c.ShutDown()
		must.OK(t, cluster.jobCache.GetIndexer().Add(newJob("bad", pointTo(mine))))
		c.Enqueue(func(string) bool { return true })
		defer func() {
			if p := recover(); p != "broken" {
				t.Errorf("recovered %v", p)
			}
		}()
		c.Work(t.Context())
	})
}

type starts func(context.Context) error

func (s starts) Start(ctx context.Context) error { return s(ctx) }

// TestRun: the first error ends all controllers. It is the cause of their contexts, and Run returns
// it. A controller that ends without an error leaves the others running. When Run returns, all
// contexts have ended.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inside context.Context
		var cause error
		first := errors.New("no rights")
		late := starts(func(ctx context.Context) error {
			<-ctx.Done()
			inside, cause = ctx, context.Cause(ctx)
			return errors.New("late")
		})

		if err := controller.Run(t.Context(), late, starts(func(context.Context) error { return first })); err != first || cause != first {
			t.Errorf("got %v, the cause is %v", err, cause)
		}

		must.OK(t, controller.Run(t.Context(), starts(func(ctx context.Context) error { inside = ctx; return nil }),
			starts(func(ctx context.Context) error { time.Sleep(time.Second); return ctx.Err() })))
		if inside.Err() == nil {
			t.Error("the context goes on after Run")
		}

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := controller.Run(ctx, starts(func(ctx context.Context) error { <-ctx.Done(); return nil })); err != nil {
			t.Errorf("without an error: %v", err)
		}
	})
}

// TestController_LastRound: Start returns when the rounds in progress have ended.
func TestController_LastRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob("j", nil)
		complete(j, 0)
		cluster, release := newCluster(t, j), make(chan struct{})
		c, err := controller.NewTTL(controller.BatchJobs(cluster, cluster.factory), controller.TTLOptions{Hooks: controller.TTLHooks{Look: func(controller.TTLLook) { <-release }}})
		must.OK(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cluster.factory.Start(ctx.Done())
		done := make(chan error, 1)
		go func() { done <- c.Start(ctx) }()
		time.Sleep(time.Second)
		cancel()
		synctest.Wait()
		if len(done) != 0 {
			t.Error("Start has returned before the round")
		}
		close(release)
		must.OK(t, <-done)
		cluster.factory.Shutdown()
	})
}

// TestIsExpected: errors from late caches and from writes of other clients are expected.
func TestIsExpected(t *testing.T) {
	conflict := apierrors.NewConflict(batchv1.Resource("jobs"), "j", nil)
	for _, tc := range []struct {
		err  error
		want bool
	}{
		{cronjobapply.ErrAgain, true}, {fmt.Errorf("round: %w", cronjobapply.ErrAgain), true}, {conflict, true},
		{fmt.Errorf("round: %w", conflict), true}, {errors.New("timeout"), false}, {nil, false},
	} {
		if got := controller.IsExpected(tc.err); got != tc.want {
			t.Errorf("%v: %t", tc.err, got)
		}
	}
}

// TestController_Caches: a controller fails if the context ends before its caches are full.
func TestController_Caches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		jobs, err := controller.NewJobs(controller.BatchJobs(c, c.factory), controller.JobOptions{ManagedBy: mine})
		must.OK(t, err)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("no lease"))
		if err := jobs.Start(ctx); err == nil || err.Error() != "job controller: caches: no lease" {
			t.Errorf("got %v", err)
		}
	})
}

// TestController_Workers: there are as many concurrent rounds as the options set, or else five.
func TestController_Workers(t *testing.T) {
	for _, test := range []struct {
		workers int
		want    int32
	}{{0, 5}, {1, 1}, {2, 2}} {
		synctest.Test(t, func(t *testing.T) {
			var runs, crons, ends atomic.Int32
			release := make(chan struct{})
			wait := func(n *atomic.Int32) { n.Add(1); <-release }

			var objects []runtime.Object
			for i := range 8 {
				j := newJob(fmt.Sprint("j", i), nil)
				complete(j, 0)
				j.Spec.TTLSecondsAfterFinished = pointTo[int32](60)
				objects = append(objects, j, newJob(fmt.Sprint("mine", i), pointTo(mine)), newCronJob(fmt.Sprint("c", i), "@hourly", batchv1.AllowConcurrent))
			}

			c, common := newCluster(t, objects...), controller.Common{Workers: test.workers}
			cronJobs, err := controller.NewCronJobs(controller.BatchCronJobs(c, c.factory), controller.CronJobOptions{Common: common, Hooks: controller.CronJobHooks{
				Round: func(controller.CronJobRound) { wait(&crons) },
			}})
			must.OK(t, err)
			ttl, err := controller.NewTTL(controller.BatchJobs(c, c.factory), controller.TTLOptions{Common: common,
				Hooks: controller.TTLHooks{Look: func(controller.TTLLook) { wait(&ends) }}})
			must.OK(t, err)
			jobs, err := controller.NewJobs(controller.BatchJobs(c, c.factory), controller.JobOptions{Common: common, ManagedBy: mine, Hooks: controller.JobHooks{
				Round: func(controller.JobRound) { wait(&runs) },
			}})
			must.OK(t, err)

			c.start(cronJobs, ttl, jobs)
			c.rest(time.Second)
			if crons.Load() != test.want || ends.Load() != test.want || runs.Load() != test.want {
				t.Errorf("Workers %d: %d rounds of CronJobs, %d of the TTL and %d of jobs at a time, want %d", test.workers, crons.Load(), ends.Load(), runs.Load(), test.want)
			}
			close(release)
		})
	}
}

// TestController_StoppedInformers: the error about a stopped informer names the controller.
func TestController_StoppedInformers(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	client := newCluster(t)
	informer := func(ended bool) cache.SharedIndexInformer {
		i := newShelf[*batchv1.Job](&batchv1.Job{}).informer
		if ended {
			i.Run(ctx.Done())
		}
		return i
	}

	labelled := controller.BatchCronJobs(client, nil)
	labelled.OwnerLabel = "example.com/owner"

	for _, test := range []struct {
		owners, others bool // which informer has ended
		want           [5]string
	}{
		{false, false, [5]string{}},
		{true, false, [5]string{"job controller: ", "orphan controller: ", "ttl controller: ", "cronjob controller: ", "cronjob controller: index batchplan/uid/CronJob/example.com/owner: "}},
		{false, true, [5]string{"job controller: index batchplan/controller: ", "orphan controller: index batchplan/controller: ", "", "cronjob controller: index batchplan/run", "cronjob controller: index batchplan/run"}},
	} {
		jobs := controller.JobOptions{ManagedBy: mine}
		_, a := controller.NewJobs(kindOf(controller.BatchJobs(client, nil), client, informer(test.owners), informer(test.others)), jobs)
		_, b := controller.NewOrphans(kindOf(controller.BatchJobs(client, nil), client, informer(test.owners), informer(test.others)), controller.OrphanOptions{ManagedBy: mine})
		_, c := controller.NewTTL(kindOf(controller.BatchJobs(client, nil), client, informer(test.owners), nil), controller.TTLOptions{})
		_, d := controller.NewCronJobs(cronOf(controller.BatchCronJobs(client, nil), informer(test.owners), informer(test.others)), controller.CronJobOptions{})
		_, e := controller.NewCronJobs(cronOf(labelled, informer(test.owners), informer(test.others)), controller.CronJobOptions{})

		for i, err := range []error{a, b, c, d, e} {
			if want := test.want[i]; (err != nil) != (want != "") || err != nil && (!strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "stopped already")) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
}

// TestController_Leader: a manager runs the rounds in one replica only.
func TestController_Leader(t *testing.T) {
	if !new(controller.Controller[string]).NeedLeaderElection() {
		t.Error("every replica runs rounds")
	}
}

// TestJobRateLimiter: the delays of J43 after failures.
func TestJobRateLimiter(t *testing.T) {
	limiter := controller.JobRateLimiter[string]()
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		if got := limiter.When("j"); got != want*time.Second {
			t.Errorf("%s, want %s", got, want*time.Second)
		}
	}
}

// TestController_Log: what is logged about failed rounds, and at which level.
func TestController_Log(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := []error{apierrors.NewConflict(batchv1.Resource("jobs"), "j", errors.New("too old")), errors.New("no reply"), errors.New("no reply"), nil, nil, errors.New("no rights")}
		var at []time.Duration
		begin, c := time.Now(), newCluster(t, newJob("j", pointTo(mine)))
		c.PrependReactor("update", "jobs", func(clienttesting.Action) (bool, runtime.Object, error) {
			if len(fails) == 0 {
				return false, nil, nil
			}
			err := fails[0]
			fails = fails[1:]
			at = append(at, time.Since(begin))
			if len(fails) == 2 {
				panic("broken")
			}
			return err != nil, nil, err
		})

		c.startJobs(controller.JobOptions{Common: controller.Common{Workers: 1}})
		c.rest(time.Minute)
		c.end(c.pods()[0], corev1.PodFailed)
		c.rest(5 * time.Second)

		const round = `"controller"="job" "key"={"name"="j" "namespace"="ns"} `
		want := []string{
			`"level"=4 "msg"="decision" "job"={"name"="j" "namespace"="ns"} "decision"="create 1 pod: fewer pods are active than wanted (J30)"`,
			`"level"=2 "msg"="round is repeated" ` + round + `"cause"="write status: Operation cannot be fulfilled on jobs.batch \"j\": too old"`,
			`"msg"="round failed and is repeated" "error"="write status: no reply" ` + round + `"failures"=2`,
			`"msg"="round failed and is repeated" "error"="write status: no reply" ` + round + `"failures"=3`,
			`"msg"="round panicked" "error"="panic: broken" ` + round + `"stack"="goroutine `,
			`"msg"="round failed and is repeated" "error"="panic: broken" ` + round + `"failures"=4`,
			`"msg"="round failed and is repeated" "error"="write status: no rights" ` + round + `"failures"=1`,
		}

		if got := without(c.log[1:], `"level"=4`); len(got) != len(want)-1 || !strings.HasPrefix(c.log[0], want[0]) {
			t.Errorf("log\n%s, want\n%s", strings.Join(c.log, "\n"), strings.Join(want, "\n"))
		} else {
			for i := range got {
				if !strings.HasPrefix(got[i], want[i+1]) {
					t.Errorf("log\n%s, want\n%s", got[i], want[i+1])
				}
			}
		}

		for i, delay := range []time.Duration{1, 2, 4, 8} { // J43
			if got := at[i+1] - at[i]; got != delay*time.Second {
				t.Errorf("round %d is repeated after %s, want %s", i, got, delay*time.Second)
			}
		}
	})
}

// without returns the lines that do not begin with a text.
func without(lines []string, begin string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.HasPrefix(line, begin) })
}
