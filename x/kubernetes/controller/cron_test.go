//go:build go1.25

package controller_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/backend"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

var example = schema.GroupVersion{Group: "example.com", Version: "v1"}

// beat is a parent of tasks. Its status stores lastScheduleTime only, or everything in All.
type beat struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Schedule string
	Suspend  bool
	Overlap  string
	Deadline *int64
	Last     metav1.Time
	All      cronjob.Status
	Says     string // the message of its condition
	Next     metav1.Time
	Observed int64
}

func (b *beat) DeepCopyObject() runtime.Object { c := *b; return &c }

type task struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Phase string
	End   metav1.Time
}

func (t *task) DeepCopyObject() runtime.Object { c := *t; return &c }

func beatSpec(b *beat) cronjob.Spec {
	one := int32(1)
	return cronjob.Spec{Schedule: b.Schedule, Suspend: &b.Suspend, ConcurrencyPolicy: cronjob.ConcurrencyPolicy(b.Overlap),
		StartingDeadlineSeconds: b.Deadline, SuccessfulJobsHistoryLimit: &one, FailedJobsHistoryLimit: &one}
}

// beats returns a kind of beats whose children have the given kind. ends holds the ending of a
// child for each phase.
func beats(kind string, ends map[string]cronjob.Ending) controller.Cron[*beat, *task] {
	return controller.Cron[*beat, *task]{
		Parent: example.WithKind("Beat"), Child: example.WithKind(kind),
		Spec:      beatSpec,
		Status:    func(b *beat) cronjob.Status { return cronjob.Status{LastScheduleTime: b.Last.Time} },
		SetStatus: func(b *beat, s cronjob.Status) { b.Last = metav1.NewTime(s.LastScheduleTime) },
		New:       func(*beat) *task { return &task{} },
		Ended:     func(t *task, c *cronjob.Child) { c.Finished, c.FinishTime = ends[t.Phase], t.End.Time },
	}
}

// inMinutes returns a kind whose runs are named by unix minutes, and options with annotations of
// its own.
func inMinutes() (controller.Cron[*beat, *task], cronjob.Options) {
	return beats("Task", map[string]cronjob.Ending{"SUCCEEDED": cronjob.Complete, "FAILED": cronjob.Failed}),
		cronjob.Options{Marks: cronjob.Marks{TimeKey: "example.com/run", RequestKey: "example.com/by"}}
}

// inSeconds returns a kind whose runs are named by unix seconds, and which owns children by a
// label. A new child has no phase yet.
func inSeconds() (controller.Cron[*beat, *task], cronjob.Options) {
	kind := beats("Task", map[string]cronjob.Ending{"Complete": cronjob.Complete, "Failed": cronjob.Failed})
	kind.OwnerLabel = "example.com/beat-uid"
	return kind, cronjob.Options{Naming: cronjob.Naming{Form: cronjob.NameSeconds}, Marks: cronjob.Marks{TimeIn: cronjob.InName}}
}

// shelf holds the objects of a kind on a server, and in an informer that shows them immediately.
type shelf[T controller.Object] struct {
	informer cache.SharedIndexInformer
	version  int
	fails    string // the verb whose next write gets no reply
	refused  error  // of each write of a status
	writes   []string
	patch    string // the last one
}

func newShelf[T controller.Object](of runtime.Object) *shelf[T] {
	return &shelf[T]{informer: cache.NewSharedIndexInformer(&cache.ListWatch{}, of, 0, cache.Indexers{})}
}

func (s *shelf[T]) all() (all []T) {
	for _, o := range s.informer.GetIndexer().List() {
		all = append(all, o.(T))
	}
	slices.SortFunc(all, func(a, b T) int { return strings.Compare(a.GetName(), b.GetName()) })
	return all
}

func (s *shelf[T]) put(verb string, o T) (T, error) {
	s.version++
	s.writes = append(s.writes, verb+" "+o.GetName())
	o.SetResourceVersion(fmt.Sprint(s.version))
	err := s.informer.GetIndexer().Update(o)
	if s.fails == verb {
		s.fails, err = "", fmt.Errorf("no reply")
	}
	return o, err
}

func (s *shelf[T]) Get(_ context.Context, name string, _ metav1.GetOptions) (T, error) {
	var o T
	all := s.all()
	i := slices.IndexFunc(all, func(o T) bool { return o.GetName() == name })
	if i < 0 {
		return o, apierrors.NewNotFound(schema.GroupResource{}, name)
	}
	return all[i], nil
}

func (s *shelf[T]) Create(ctx context.Context, o T, _ metav1.CreateOptions) (T, error) {
	if old, err := s.Get(ctx, o.GetName(), metav1.GetOptions{}); err == nil {
		return old, apierrors.NewAlreadyExists(schema.GroupResource{}, o.GetName())
	}
	if s.fails == "terminating" {
		return o, &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonForbidden,
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}}}}
	}
	o.SetUID(types.UID("uid-" + fmt.Sprint(s.version)))
	o.SetCreationTimestamp(metav1.Now())
	return s.put("create", o)
}

func (s *shelf[T]) Delete(ctx context.Context, name string, _ metav1.DeleteOptions) error {
	o, err := s.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	s.writes = append(s.writes, "delete "+name)
	return s.informer.GetIndexer().Delete(o)
}

func (s *shelf[T]) UpdateStatus(ctx context.Context, o T, _ metav1.UpdateOptions) (T, error) {
	if old, err := s.Get(ctx, o.GetName(), metav1.GetOptions{}); err != nil || old.GetResourceVersion() != o.GetResourceVersion() {
		return o, apierrors.NewConflict(schema.GroupResource{}, o.GetName(), err)
	}
	if s.fails == "status" {
		s.fails = ""
		return o, fmt.Errorf("the write failed")
	}
	if s.refused != nil {
		return o, s.refused
	}
	return s.put("status", o)
}

// Patch sets annotations.
func (s *shelf[T]) Patch(ctx context.Context, name string, _ types.PatchType, patch []byte, _ metav1.PatchOptions, _ ...string) (T, error) {
	o, err := s.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return o, err
	}
	o, s.patch = o.DeepCopyObject().(T), string(patch)
	if err := json.Unmarshal(patch, o); err != nil {
		return o, err
	}
	return s.put("patch", o)
}

// clockwork is a beat, its tasks, and its controller without a queue: the test runs each round.
type clockwork struct {
	*testing.T
	parents *shelf[*beat]
	tasks   *shelf[*task]
	*controller.CronJobs
	restart  func()
	snapshot cronjob.Snapshot // of the last round
	events   reports
	log      []string
}

// renamed gives the event of a creation the reason TaskCreated.
func renamed(_ controller.Object, _ controller.CronJobRound, events []job.Event) []job.Event {
	for i := range events {
		if events[i].Reason == "SuccessfulCreate" {
			events[i].Reason = "TaskCreated"
		}
	}
	return events
}

// history plays one history in virtual time, which starts when the beat is created.
func history(t *testing.T, kind controller.Cron[*beat, *task], o controller.CronJobOptions, b beat, play func(c *clockwork)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &clockwork{T: t, parents: newShelf[*beat](&beat{}), tasks: newShelf[*task](&task{})}
		kind.Parents = func(string) backend.ParentClient[*beat] { return c.parents }
		kind.Children = func(string) backend.ChildClient[*task] { return c.tasks }

		o.Events = &c.events
		if o.EditEvents == nil {
			o.EditEvents = renamed
		}
		o.Hooks.Round = func(r controller.CronJobRound) { c.snapshot = *r.Snapshot }

		c.restart = func() {
			r, err := controller.NewCronJobReconciler(cronOf(kind, c.parents.informer, c.tasks.informer), o)
			must.OK(t, err)
			c.CronJobs = r
		}
		c.restart()

		b.ObjectMeta = metav1.ObjectMeta{Name: "b", Namespace: "ns", UID: "uid-b", CreationTimestamp: metav1.Now()}
		_, err := c.parents.put("create", &b)
		must.OK(t, err)
		play(c)
	})
}

// round lets time pass and runs a round. As long as the next round is due immediately, it runs the
// next round as well.
func (c *clockwork) round(d time.Duration) (next time.Time, err error) {
	time.Sleep(d)
	for range 9 {
		unwritten(c.T, func() { next, err = c.Reconcile(logged(c.T, &c.log), types.NamespacedName{Namespace: "ns", Name: "b"}) }, c.parents.informer, c.tasks.informer)
		if err != nil || next.IsZero() || next.After(time.Now()) {
			break
		}
	}
	return next, err
}

func (c *clockwork) edit(change func(b *beat)) {
	b := c.parents.all()[0].DeepCopyObject().(*beat)
	change(b)
	c.parents.put("edit", b)
}

func (c *clockwork) end(phase string) {
	for _, t := range c.tasks.all() {
		if t.Phase == "" {
			t = t.DeepCopyObject().(*task)
			t.Phase, t.End = phase, metav1.Now()
			c.tasks.put("end", t)
		}
	}
}

// want compares the names of the tasks that were created.
func (c *clockwork) want(times ...string) {
	c.Helper()
	var want, got []string
	for _, text := range times {
		want = append(want, "create b-"+text)
	}
	for _, w := range c.tasks.writes {
		if strings.HasPrefix(w, "create") {
			got = append(got, w)
		}
	}
	if !slices.Equal(got, want) {
		c.Errorf("created %q, want %q", got, want)
	}
}

func minute(n int) string { return fmt.Sprint(time.Date(2000, 1, 1, 0, n, 0, 0, time.UTC).Unix() / 60) }
func second(n int) string { return fmt.Sprint(time.Date(2000, 1, 1, 0, 0, n, 0, time.UTC).Unix()) }

// TestCron_ResumeStartsOne: when a beat resumes after a week, one task starts, not one for each
// missed minute.
func TestCron_ResumeStartsOne(t *testing.T) {
	kind, o := inMinutes()
	kind.New = func(*beat) *task {
		return &task{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"example.com/run": "of the template", "kept": "yes"}}}
	}
	history(t, kind, controller.CronJobOptions{Planner: o}, beat{Schedule: "* * * * *", Suspend: true}, func(c *clockwork) {
		c.round(7 * 24 * time.Hour)
		c.want()
		c.edit(func(b *beat) { b.Suspend = false })
		for range 5 {
			c.round(time.Second)
		}
		c.want(minute(7 * 24 * 60))
		at := c.tasks.all()[0]
		if at.Annotations["example.com/run"] != "2000-01-08T00:00:00Z" || at.Annotations["kept"] != "yes" || len(at.OwnerReferences) != 1 || at.OwnerReferences[0].Kind != "Beat" {
			t.Errorf("the task is %+v", at.ObjectMeta)
		}
		if events := c.events.take(); !strings.Contains(events, "TaskCreated Created Task b-") {
			t.Errorf("events %s", events)
		}
	})
}

// TestCron_RunsAfterAMissedDeadline: a run that misses its deadline does not end the schedule.
func TestCron_RunsAfterAMissedDeadline(t *testing.T) {
	kind, o := inSeconds()
	ten := int64(10)
	history(t, kind, controller.CronJobOptions{Planner: o}, beat{Schedule: "@hourly", Deadline: &ten}, func(c *clockwork) {
		next, _ := c.round(time.Hour + time.Minute)
		c.want()
		if want := time.Date(2000, 1, 1, 2, 0, 0, int(100*time.Millisecond), time.UTC); !next.Equal(want) {
			t.Errorf("again at %s", next.UTC())
		}
		c.round(59*time.Minute + time.Second)
		c.want(second(7200))
	})
}

// TestCron_LatestAfterAnOutage: after an outage, the latest run starts, under its own name.
func TestCron_LatestAfterAnOutage(t *testing.T) {
	kind, o := inSeconds()
	history(t, kind, controller.CronJobOptions{Planner: o}, beat{Schedule: "@hourly"}, func(c *clockwork) {
		c.round(time.Hour)
		c.end("Complete")
		c.round(5 * time.Hour)
		c.round(time.Minute)
		c.want(second(3600), second(6*3600))
	})
}

// TestCron_NameThatExists: if the status write after a creation fails, there is no second task and
// no loop. The next round finds a task with the name of the run, and records it.
func TestCron_NameThatExists(t *testing.T) {
	kind, o := inSeconds()
	history(t, kind, controller.CronJobOptions{Planner: o}, beat{Schedule: "@hourly"}, func(c *clockwork) {
		c.parents.fails = "status"
		if _, err := c.round(time.Hour); err == nil {
			t.Error("the failed write is not an error")
		}
		c.restart() // without its memory
		for range 3 {
			if _, err := c.round(time.Minute); err != nil {
				t.Error(err)
			}
		}
		c.want(second(3600))
		if last := c.parents.all()[0].Last.UTC(); !last.Equal(time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC)) {
			t.Errorf("the last run is %s", last)
		}
	})
}

// TestCron_GoneTask: Forbid starts a run if the previous task is gone, even if the status cannot be
// written. The list of active tasks may belong to the cached object, so a round must not change it.
// The second plan of the round has the memory of the first: runs that were missed are counted once.
func TestCron_GoneTask(t *testing.T) {
	missed := 0
	o := controller.CronJobOptions{LiveReads: true}
	o.Metrics.Round = func(r controller.CronJobRound) { missed += r.Metrics.Unstarted }
	history(t, storing(nil), o, beat{Schedule: "@hourly", Overlap: "Forbid"}, func(c *clockwork) {
		c.round(time.Hour)
		first := c.tasks.all()[0].Name
		must.OK(t, c.tasks.Delete(t.Context(), first, metav1.DeleteOptions{}))
		c.parents.fails = "status"
		_, err := c.round(3 * time.Hour)
		if missed != 2 {
			t.Errorf("%d runs are counted as missed", missed)
		}
		active := c.parents.all()[0].All.Active
		if all := c.tasks.all(); err != nil || len(all) != 1 || len(active) != 1 || active[0].Name != all[0].Name || active[0].Name == first {
			t.Errorf("active %+v, writes %v and %v, %v", active, c.parents.writes, c.tasks.writes, err)
		}
	})
}

// TestCron_CreatedAndNotRunning: Forbid counts a task that does not run yet, and Replace deletes it.
func TestCron_CreatedAndNotRunning(t *testing.T) {
	for policy, want := range map[string][]string{"Forbid": {second(3600)}, "Replace": {second(3600), second(7200)}} {
		kind, o := inSeconds()
		history(t, kind, controller.CronJobOptions{Planner: o}, beat{Schedule: "@hourly", Overlap: policy}, func(c *clockwork) {
			c.round(time.Hour)
			c.restart()
			c.round(time.Hour)
			c.round(time.Second)
			c.want(want...)
			if n := len(c.tasks.all()); n != 1 {
				t.Errorf("%s: %d tasks are left", policy, n)
			}
			if uid := c.tasks.all()[0].Labels["example.com/beat-uid"]; uid != "uid-b" {
				t.Errorf("the label is %q", uid)
			}
		})
	}
}

// TestCron_EndWakesTheParent: the end of a child wakes its parent, even if the child refers to the
// parent only by a label with the parent's UID.
func TestCron_EndWakesTheParent(t *testing.T) {
	kind, o := inSeconds()
	history(t, kind, controller.CronJobOptions{Planner: o}, beat{Schedule: "@hourly"}, func(c *clockwork) {
		c.round(time.Hour)
		queue := &asks{}
		was := c.tasks.all()[0]
		c.end("Complete")
		c.JobEvents(queue).OnUpdate(was, c.tasks.all()[0])
		if got := queue.take(); got == "" {
			t.Error("nothing is asked for")
		}
	})
}

// TestCron_NameTaken: a task of another owner that has the name of a run is reported.
func TestCron_NameTaken(t *testing.T) {
	kind, o := inMinutes()
	history(t, kind, controller.CronJobOptions{Planner: o}, hourly, func(c *clockwork) {
		other := &task{ObjectMeta: metav1.ObjectMeta{Name: "b-" + minute(60), UID: "uid-other"}}
		_, err := c.tasks.put("create", other)
		must.OK(t, err)
		_, err = c.round(time.Hour)
		must.OK(t, err)
		if got := c.events.take(); !strings.Contains(got, "Warning NameTaken Cannot create Task "+other.Name+": another owner has a Task of that name") {
			t.Errorf("events %s", got)
		}
	})
}

// TestCron_NamespaceTerminating: no creation is retried in a namespace that is being deleted.
func TestCron_NamespaceTerminating(t *testing.T) {
	kind, o := inMinutes()
	history(t, kind, controller.CronJobOptions{Planner: o}, beat{Schedule: "@hourly"}, func(c *clockwork) {
		c.tasks.fails = "terminating"
		if _, err := c.round(time.Hour); err != nil {
			t.Error(err)
		}
		c.want()
		const message = `no Task is created: the namespace "ns" is being terminated`
		if got := c.events.take(); !strings.Contains(got, "Warning NamespaceTerminating "+message) {
			t.Errorf("events %s", got)
		}
		if text := strings.Join(c.log, "\n"); !strings.Contains(text, `"reason"="NamespaceTerminating"`) {
			t.Errorf("log %s", text)
		}
	})
}
