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

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/kubernetes/backend"
	"github.com/batchplan/batchplan/kubernetes/controller"
)

var example = schema.GroupVersion{Group: "example.com", Version: "v1"}

// beat is a parent of tasks. Its status has lastScheduleTime alone.
type beat struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Schedule string
	Suspend  bool
	Overlap  string
	Deadline *int64
	Last     metav1.Time
}

func (b *beat) DeepCopyObject() runtime.Object { c := *b; return &c }

// task is a child. K tells kinds of children apart.
type task[K any] struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Phase string
	End   metav1.Time
}

func (t *task[K]) DeepCopyObject() runtime.Object { c := *t; return &c }

type (
	broadcast struct{}
	pull      struct{}
	plain     struct{}
)

func beatSpec(b *beat) cronjob.Spec {
	one := int32(1)
	return cronjob.Spec{Schedule: b.Schedule, Suspend: &b.Suspend, ConcurrencyPolicy: cronjob.ConcurrencyPolicy(b.Overlap),
		StartingDeadlineSeconds: b.Deadline, SuccessfulJobsHistoryLimit: &one, FailedJobsHistoryLimit: &one}
}

// beats is the one implementation for all kinds of tasks.
func beats[K any](kind string, ends map[string]cronjob.Ending) controller.Cron[*beat, *task[K]] {
	return controller.Cron[*beat, *task[K]]{
		Parent: example.WithKind("Beat"), Child: example.WithKind(kind),
		Spec:      beatSpec,
		Status:    func(b *beat) cronjob.Status { return cronjob.Status{LastScheduleTime: b.Last.Time} },
		SetStatus: func(b *beat, s cronjob.Status) { b.Last = metav1.NewTime(s.LastScheduleTime) },
		New:       func(*beat) *task[K] { return &task[K]{} },
		Ended:     func(t *task[K], c *cronjob.Child) { c.Finished, c.FinishTime = ends[t.Phase], t.End.Time },
	}
}

// In unix minutes, with an annotation of its own.
func inMinutes() (controller.Cron[*beat, *task[plain]], cronjob.Options) {
	return beats[plain]("Task", map[string]cronjob.Ending{"SUCCEEDED": cronjob.Complete, "FAILED": cronjob.Failed}),
		cronjob.Options{Marks: cronjob.Marks{Time: "example.com/run", Request: "example.com/by"}}
}

// In unix seconds, owned by a label, and created before it runs: no phase yet.
func inSeconds() (controller.Cron[*beat, *task[plain]], cronjob.Options) {
	kind := beats[plain]("Task", map[string]cronjob.Ending{"Complete": cronjob.Complete, "Failed": cronjob.Failed})
	kind.OwnerLabel = "example.com/beat-uid"
	return kind, cronjob.Options{Naming: cronjob.Naming{Form: cronjob.NameSeconds}, Marks: cronjob.Marks{TimeIn: cronjob.InName}}
}

// Three kinds of children, which end in words of their own.
func withWords[K any](kind string) (controller.Cron[*beat, *task[K]], cronjob.Options) {
	return beats[K](kind, map[string]cronjob.Ending{
		"Completed": cronjob.Complete, "Failed": cronjob.Failed, "Aborted": "Aborted", "Terminated": "Terminated",
	}), cronjob.Options{}
}

// shelf holds the objects of a kind, at the server and in an informer that shows them immediately.
type shelf[T controller.Object] struct {
	informer cache.SharedIndexInformer
	version  int
	fails    string // the verb of the next write that gets no reply
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
	o, found, _ := s.informer.GetIndexer().GetByKey("ns/" + name)
	if !found {
		var none T
		return none, apierrors.NewNotFound(schema.GroupResource{}, name)
	}
	return o.(T), nil
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

func (s *shelf[T]) Delete(_ context.Context, name string, _ metav1.DeleteOptions) error {
	o, found, _ := s.informer.GetIndexer().GetByKey("ns/" + name)
	if !found {
		return apierrors.NewNotFound(schema.GroupResource{}, name)
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

// clockwork is a beat, its tasks and its controller, without a queue: history calls each round.
type clockwork[K any] struct {
	*testing.T
	parents *shelf[*beat]
	tasks   *shelf[*task[K]]
	*controller.CronJobs
	restart func()
	events  []string
	log     []string
}

// Event implements [controller.Recorder].
func (c *clockwork[K]) Event(_ runtime.Object, _, reason, message string) {
	c.events = append(c.events, reason+": "+message)
}

// logged returns a context whose log, up to level 4, is written to the lines.
func logged(t *testing.T, lines *[]string) context.Context {
	write := func(_, line string) { *lines = append(*lines, line) }
	return klog.NewContext(t.Context(), funcr.New(write, funcr.Options{Verbosity: 4}))
}

// history plays one history in virtual time, which begins with the creation of the beat.
func history[K any](t *testing.T, kind controller.Cron[*beat, *task[K]], o cronjob.Options, b beat, play func(c *clockwork[K])) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &clockwork[K]{T: t, parents: newShelf[*beat](&beat{}), tasks: newShelf[*task[K]](&task[K]{})}
		kind.Parents = func(string) backend.ParentClient[*beat] { return c.parents }
		kind.Children = func(string) backend.ChildClient[*task[K]] { return c.tasks }
		c.restart = func() {
			options := controller.CronJobOptions{Planner: o, Common: controller.Common{Events: c}, Reasons: map[string]string{"SuccessfulCreate": "TaskCreated"}}
			r, err := controller.NewCronReconciler(kind, c.parents.informer, c.tasks.informer, options)
			if err != nil {
				t.Fatal(err)
			}
			c.CronJobs = r
		}
		c.restart()
		b.ObjectMeta = metav1.ObjectMeta{Name: "b", Namespace: "ns", UID: "uid-b", CreationTimestamp: metav1.Now()}
		if _, err := c.parents.put("create", &b); err != nil {
			t.Fatal(err)
		}
		play(c)
	})
}

// round lets time pass and runs a round, and those that follow immediately.
func (c *clockwork[K]) round(d time.Duration) (next time.Time, err error) {
	time.Sleep(d)
	for range 9 {
		next, err = c.Reconcile(logged(c.T, &c.log), types.NamespacedName{Namespace: "ns", Name: "b"})
		if err != nil || next.IsZero() || next.After(time.Now()) {
			break
		}
	}
	return next, err
}

func (c *clockwork[K]) edit(change func(b *beat)) {
	b := c.parents.all()[0].DeepCopyObject().(*beat)
	change(b)
	c.parents.put("edit", b)
}

func (c *clockwork[K]) end(phase string) {
	for _, t := range c.tasks.all() {
		if t.Phase == "" {
			t = t.DeepCopyObject().(*task[K])
			t.Phase, t.End = phase, metav1.Now()
			c.tasks.put("end", t)
		}
	}
}

// want compares the names of the tasks that were created.
func (c *clockwork[K]) want(times ...string) {
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

// TestCron_Words: the events and the decisions in the log are about the two kinds.
func TestCron_Words(t *testing.T) {
	kind, o := inSeconds()
	o.SkipHeld = true
	history(t, kind, o, beat{Schedule: "@hourly", Overlap: "Forbid"}, func(c *clockwork[plain]) {
		c.round(time.Hour)
		c.round(time.Hour) // is skipped
		for range 2 {
			c.end("Complete")
			c.round(time.Hour)
		}
		c.edit(func(b *beat) { b.Suspend = true })
		c.round(time.Second)
		if events := strings.Join(c.events, "\n"); !strings.Contains(events, "an active Task held it back") || strings.Contains(events, "job") {
			t.Errorf("events\n%s", events)
		}
		lines := strings.Join(c.log, "\n")
		for _, want := range []string{"more successful Tasks than", "the Beat is suspended", `"beat"=`} {
			if !strings.Contains(lines, want) {
				t.Errorf("%q is not in the log:\n%s", want, lines)
			}
		}
		if strings.Contains(lines, " job") || strings.Contains(lines, "CronJob") {
			t.Errorf("the log tells of jobs:\n%s", lines)
		}
	})
}

func minute(n int) string { return fmt.Sprint(time.Date(2000, 1, 1, 0, n, 0, 0, time.UTC).Unix() / 60) }
func second(n int) string { return fmt.Sprint(time.Date(2000, 1, 1, 0, 0, n, 0, time.UTC).Unix()) }

// A week of suspension is one task, not one for each missed minute; and the same after an edit.
func TestCron_ResumeStartsOne(t *testing.T) {
	kind, o := inMinutes()
	kind.New = func(*beat) *task[plain] {
		return &task[plain]{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"example.com/run": "of the template", "kept": "yes"}}}
	}
	history(t, kind, o, beat{Schedule: "* * * * *", Suspend: true}, func(c *clockwork[plain]) {
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
		if events := strings.Join(c.events, "\n"); !strings.Contains(events, "TaskCreated: Created Task b-") {
			t.Errorf("events\n%s", events)
		}
	})
}

// One run that misses its deadline does not end the schedule.
func TestCron_RunsAfterAMissedDeadline(t *testing.T) {
	kind, o := inSeconds()
	ten := int64(10)
	history(t, kind, o, beat{Schedule: "@hourly", Deadline: &ten}, func(c *clockwork[plain]) {
		next, _ := c.round(time.Hour + time.Minute)
		c.want()
		if want := time.Date(2000, 1, 1, 2, 0, 0, int(100*time.Millisecond), time.UTC); !next.Equal(want) {
			t.Errorf("again at %s", next.UTC())
		}
		c.round(59*time.Minute + time.Second)
		c.want(second(7200))
	})
}

// After an outage the latest run starts, under its own name.
func TestCron_LatestAfterAnOutage(t *testing.T) {
	kind, o := inSeconds()
	history(t, kind, o, beat{Schedule: "@hourly"}, func(c *clockwork[plain]) {
		c.round(time.Hour)
		c.end("Complete")
		c.round(5 * time.Hour)
		c.round(time.Minute)
		c.want(second(3600), second(6*3600))
	})
}

// A status write that fails after the creation leads to no second task and no loop: the name is found, and recorded.
func TestCron_NameThatExists(t *testing.T) {
	kind, o := inSeconds()
	history(t, kind, o, beat{Schedule: "@hourly"}, func(c *clockwork[plain]) {
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

// Forbid counts a task that was created and does not run yet, and Replace deletes it.
func TestCron_CreatedAndNotRunning(t *testing.T) {
	for policy, want := range map[string][]string{"Forbid": {second(3600)}, "Replace": {second(3600), second(7200)}} {
		kind, o := inSeconds()
		history(t, kind, o, beat{Schedule: "@hourly", Overlap: policy}, func(c *clockwork[plain]) {
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

// acts is a clockwork whose kind of tasks is not known.
type acts struct {
	*testing.T
	end             func(phase string)
	round           func(d time.Duration)
	restart, remove func()
	want            func(times ...string)
	left            func() int
}

func eachKind(t *testing.T, name string, b beat, play func(a acts)) {
	one(t, name, "Broadcast", b, play, withWords[broadcast])
	one(t, name, "Pull", b, play, withWords[pull])
	one(t, name, "Plain", b, play, withWords[plain])
}

func one[K any](t *testing.T, name, kind string, b beat, play func(a acts),
	describe func(string) (controller.Cron[*beat, *task[K]], cronjob.Options)) {
	cron, o := describe(kind)
	t.Run(name+", "+kind, func(t *testing.T) {
		history(t, cron, o, b, func(c *clockwork[K]) {
			play(acts{
				T: t, end: c.end, restart: c.restart, want: c.want, left: func() int { return len(c.tasks.all()) },
				round: func(d time.Duration) { c.round(d) },
				remove: func() {
					for _, o := range c.tasks.all() {
						c.tasks.Delete(c.Context(), o.Name, metav1.DeleteOptions{})
					}
				},
			})
		})
	})
}

// Three kinds of children from one implementation.
func TestCron_ThreeKinds(t *testing.T) {
	eachKind(t, "a run whose child is gone does not start again", beat{Schedule: "@hourly"}, func(a acts) {
		a.round(time.Hour)
		a.end("Completed")
		a.round(time.Second)
		a.remove() // for its time to live
		a.restart()
		a.round(time.Second)
		a.round(time.Minute)
		a.want(minute(60))
	})
	eachKind(t, "more than 100 missed runs are one", beat{Schedule: "* * * * *"}, func(a acts) {
		a.round(300 * time.Minute)
		a.round(time.Minute)
		a.want(minute(300), minute(301))
	})
	eachKind(t, "Forbid does not wait for what was aborted", beat{Schedule: "@hourly", Overlap: "Forbid"}, func(a acts) {
		a.round(time.Hour)
		a.end("Aborted")
		a.round(time.Hour)
		a.want(minute(60), minute(120))
	})
	eachKind(t, "what was terminated is cleaned up", beat{Schedule: "@hourly"}, func(a acts) {
		for range 5 {
			a.round(time.Hour)
			a.end("Terminated")
		}
		a.round(time.Minute)
		if n := a.left(); n != 1 {
			a.Errorf("%d are left", n)
		}
	})
}

// The end of a child wakes its parent, also where only a label with a UID tells which that is.
func TestCron_EndWakesTheParent(t *testing.T) {
	kind, o := inSeconds()
	history(t, kind, o, beat{Schedule: "@hourly"}, func(c *clockwork[plain]) {
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

// Nothing is created, nor tried again, in a namespace that is going away.
func TestCron_NamespaceTerminating(t *testing.T) {
	kind, o := inMinutes()
	history(t, kind, o, beat{Schedule: "@hourly"}, func(c *clockwork[plain]) {
		c.tasks.fails = "terminating"
		if _, err := c.round(time.Hour); err != nil {
			t.Error(err)
		}
		c.want()
	})
}

// What a cron controller cannot do without is an error that names it.
func TestCron_WhatIsRequired(t *testing.T) {
	kind, _ := inMinutes()
	kind.Parents = func(string) backend.ParentClient[*beat] { return nil }
	kind.Children = func(string) backend.ChildClient[*task[plain]] { return nil }
	for want, drop := range map[string]func(k *controller.Cron[*beat, *task[plain]]){
		"Cron.Spec is required":     func(k *controller.Cron[*beat, *task[plain]]) { k.Spec = nil },
		"Cron.Children is required": func(k *controller.Cron[*beat, *task[plain]]) { k.Children = nil },
		"cron controller of Beat: Status does not return the LastScheduleTime that SetStatus has set: without it, a run would start again once its Task is gone": func(k *controller.Cron[*beat, *task[plain]]) { k.SetStatus = func(*beat, cronjob.Status) {} },
	} {
		k := kind
		drop(&k)
		_, err := controller.NewCronReconciler(k, newShelf[*beat](&beat{}).informer, newShelf[*task[plain]](&task[plain]{}).informer, controller.CronJobOptions{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
