//go:build go1.25

package controller_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/kubernetes/backend"
	"github.com/batchplan/batchplan/kubernetes/controller"
	"github.com/batchplan/batchplan/schedule"
)

// belfry has one beat, whose status is kept beside it, its tasks, and a controller of it.
type belfry struct {
	*testing.T
	status   cronjob.Status
	parents  *shelf[*beat]
	tasks    *shelf[*task[plain]]
	snapshot cronjob.Snapshot // of the last round
	*controller.CronJobs
}

// ring makes a controller of a beat that was created now, of a kind that is changed, and runs a round later.
func ring(t *testing.T, o controller.CronJobOptions, after time.Duration, change func(b *belfry, k *controller.Cron[*beat, *task[plain]])) *belfry {
	t.Helper()
	b := &belfry{T: t, parents: newShelf[*beat](&beat{}), tasks: newShelf[*task[plain]](&task[plain]{})}
	kind, _ := inMinutes()
	kind.Parents = func(string) backend.ParentClient[*beat] { return b.parents }
	kind.Children = func(string) backend.ChildClient[*task[plain]] { return b.tasks }
	kind.Status = func(*beat) cronjob.Status { return b.status }
	kind.SetStatus = func(_ *beat, s cronjob.Status) { b.status = s }
	change(b, &kind)
	o.Hooks.Round = func(s *cronjob.Snapshot, _ *cronjob.Plan, _ cronjob.Outcome) { b.snapshot = *s }
	c, err := controller.NewCronReconciler(kind, b.parents.informer, b.tasks.informer, o)
	must.OK(t, err)
	b.CronJobs, b.status = c, cronjob.Status{}
	at := &beat{Schedule: "@hourly", ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "ns", UID: "uid-b", CreationTimestamp: metav1.Now()}}
	_, err = b.parents.put("create", at)
	must.OK(t, err)
	b.round(after)
	return b
}

func (b *belfry) round(after time.Duration) time.Time {
	b.Helper()
	time.Sleep(after)
	next, err := b.Reconcile(logged(b.T, new([]string)), types.NamespacedName{Namespace: "ns", Name: "b"})
	must.OK(b, err)
	return next
}

// TestC18_WhatTheStatusStores: what does not come back from the status is read off the children, and nothing else.
func TestC18_WhatTheStatusStores(t *testing.T) {
	of := func(change func(*cronjob.Status)) func(cronjob.Status) cronjob.Status {
		return func(s cronjob.Status) cronjob.Status {
			s.Active = slices.Clone(s.Active)
			change(&s)
			return s
		}
	}
	reference := func(change func(*cronjob.Reference)) func(cronjob.Status) cronjob.Status {
		return of(func(s *cronjob.Status) {
			for i := range s.Active {
				change(&s.Active[i])
			}
		})
	}
	second := func(at time.Time) time.Time { return at.Truncate(time.Second) }
	for _, test := range []struct {
		name           string
		given          cronjob.Options
		stores         func(cronjob.Status) cronjob.Status
		active, succes bool
	}{
		{"everything", cronjob.Options{}, nil, false, false},
		{"everything, and the options do not read it", cronjob.Options{ActiveFromChildren: true, SuccessFromChildren: true}, nil, true, true},
		{"seconds", cronjob.Options{}, of(func(s *cronjob.Status) {
			s.LastScheduleTime, s.LastSuccessfulTime = second(s.LastScheduleTime), second(s.LastSuccessfulTime)
		}), false, false},
		{"no success", cronjob.Options{}, of(func(s *cronjob.Status) { s.LastSuccessfulTime = time.Time{} }), false, true},
		{"one time for both", cronjob.Options{}, of(func(s *cronjob.Status) { s.LastSuccessfulTime = s.LastScheduleTime }), false, true},
		{"no list", cronjob.Options{}, of(func(s *cronjob.Status) { s.Active = nil }), true, false},
		{"no kind", cronjob.Options{}, reference(func(r *cronjob.Reference) { r.Kind = "" }), true, false},
		{"no version", cronjob.Options{}, reference(func(r *cronjob.Reference) { r.APIVersion = "" }), true, false},
		{"no namespace", cronjob.Options{}, reference(func(r *cronjob.Reference) { r.Namespace = "" }), true, false},
		{"no name", cronjob.Options{}, reference(func(r *cronjob.Reference) { r.Name = "" }), true, false},
		{"no UID", cronjob.Options{}, reference(func(r *cronjob.Reference) { r.UID = "" }), true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := ring(t, controller.CronJobOptions{Planner: test.given}, time.Hour, func(b *belfry, k *controller.Cron[*beat, *task[plain]]) {
					if stores := test.stores; stores != nil {
						k.SetStatus = func(_ *beat, s cronjob.Status) { b.status = stores(s) }
					}
				})
				got := b.snapshot.Options
				if got.ActiveFromChildren != test.active || got.SuccessFromChildren != test.succes || got.Child != (cronjob.Kind{Kind: "Task", APIVersion: "example.com/v1"}) {
					t.Errorf("options %+v", got)
				}
				task := b.tasks.all()[0]
				want := cronjob.Reference{Kind: "Task", APIVersion: "example.com/v1", Namespace: "ns", Name: task.Name, UID: cronjob.UID(task.UID), ResourceVersion: "1"}
				if test.stores == nil && !test.active && (len(b.status.Active) != 1 || b.status.Active[0] != want) {
					t.Errorf("active %+v, want %+v", b.status.Active, want)
				}
			})
		})
	}
}

// TestCron_Child: the kind of the children is the one of the options, or else of the kind.
func TestCron_Child(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		given := cronjob.Kind{Kind: "Errand", APIVersion: "example.com/v2"}
		b := ring(t, controller.CronJobOptions{Planner: cronjob.Options{Child: given}}, time.Second, func(*belfry, *controller.Cron[*beat, *task[plain]]) {})
		if got := b.snapshot.Options.Child; got != given {
			t.Errorf("children are %+v, want %+v", got, given)
		}
	})
}

// TestCron_Ending: the time of completion is the one of the end unless the kind knows it, and only of what is complete.
func TestCron_Ending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ring(t, controller.CronJobOptions{}, time.Hour, func(_ *belfry, k *controller.Cron[*beat, *task[plain]]) {
			k.Ended = func(t *task[plain], c *cronjob.Child) {
				if t.Phase != "" {
					c.Finished, c.FinishTime = cronjob.Ending(t.Phase), t.End.Time
				}
				c.CompletionTime = t.DeletionTimestamp.Time
			}
		})
		end := metav1.Now()
		early := metav1.NewTime(end.Add(-time.Minute))
		for _, test := range []struct {
			phase         string
			known, wanted metav1.Time
		}{
			{"", metav1.Time{}, metav1.Time{}}, {"Failed", metav1.Time{}, metav1.Time{}}, {"Complete", metav1.Time{}, end}, {"Complete", early, early},
		} {
			o := b.tasks.all()[0].DeepCopyObject().(*task[plain])
			o.Phase, o.End, o.DeletionTimestamp = test.phase, end, &test.known
			_, err := b.tasks.put("end", o)
			must.OK(t, err)
			b.round(time.Second)
			if got := b.snapshot.Children[0].CompletionTime; !got.Equal(test.wanted.Time) {
				t.Errorf("%q: complete at %s, want %s", test.phase, got, test.wanted)
			}
		}
	})
}

// TestCron_Schedule: the options of one parent's schedule come after those of all.
func TestCron_Schedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := controller.CronJobOptions{Schedule: []schedule.Option{schedule.WithTimeZone("Asia/Kathmandu"), schedule.Also("10 * * * *")}}
		zone := "Etc/UTC"
		b := ring(t, o, time.Second, func(_ *belfry, k *controller.Cron[*beat, *task[plain]]) {
			k.Schedule = func(*beat) []schedule.Option { return []schedule.Option{schedule.WithTimeZone(zone)} }
		})
		if next, want := b.round(time.Second), time.Date(2000, 1, 1, 0, 10, 0, 1e8, time.UTC); !next.Equal(want) {
			t.Errorf("in UTC again at %s, want %s", next, want)
		}
		zone = "Asia/Kolkata" // nothing says so
		if next, want := b.round(11*time.Minute), time.Date(2000, 1, 1, 0, 30, 0, 1e8, time.UTC); !next.Equal(want) {
			t.Errorf("in Kolkata again at %s, want %s", next, want)
		}
	})
}

// TestCron_Labels: a run's labels are over the template's, and the label of the owner over both.
func TestCron_Labels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const owner, at = "example.com/beat-uid", "example.com/run"
		o := controller.CronJobOptions{Planner: cronjob.Options{Marks: cronjob.Marks{TimeIn: cronjob.InLabel, Time: at}}}
		b := ring(t, o, time.Hour, func(_ *belfry, k *controller.Cron[*beat, *task[plain]]) {
			k.OwnerLabel = owner
			k.New = func(*beat) *task[plain] {
				return &task[plain]{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{owner: "template", at: "template", "app": "a"}}}
			}
		})
		want := map[string]string{owner: "uid-b", at: fmt.Sprint(time.Now().Unix()), "app": "a"}
		if got := b.tasks.all()[0].Labels; !maps.Equal(got, want) {
			t.Errorf("labels %v, want %v", got, want)
		}
		nobodys := &beat{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "ns"}}
		_, err := b.parents.put("create", nobodys)
		must.OK(t, err)
		queue := &asks{}
		for _, labels := range []map[string]string{nil, {owner: "unknown"}} {
			b.JobEvents(queue).OnAdd(&task[plain]{ObjectMeta: metav1.ObjectMeta{Name: "t", Namespace: "ns", Labels: labels}}, false)
		}
		if got := queue.take(); got != "" {
			t.Errorf("tasks of nobody: asked for %q", got)
		}
	})
}

// byName names runs by their time alone.
type byName struct{}

func (byName) Name(parent string, run time.Time) string { return fmt.Sprint(parent, "-", run.Unix()) }
func (byName) Run(parent, name string) (time.Time, bool) {
	text, is := strings.CutPrefix(name, parent+"-")
	n, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(n, 0), is && n > 1000 && err == nil
}

// TestCron_Names: of tasks that it does not own, a beat is shown those whose name could be one of its runs.
func TestCron_Names(t *testing.T) {
	for _, test := range []struct {
		naming cronjob.Naming
		want   string
	}{
		{cronjob.Naming{}, "b-5"}, {cronjob.Naming{Form: cronjob.NameSeconds, Prefix: "nightly-"}, "nightly-b-5"},
		{cronjob.Naming{Form: cronjob.NameCustom, Namer: byName{}}, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := ring(t, controller.CronJobOptions{Planner: cronjob.Options{Naming: test.naming}}, time.Second, func(b *belfry, _ *controller.Cron[*beat, *task[plain]]) {
				for _, name := range []string{"b-5", "nightly-b-5", "b", "-5", "bb-5"} {
					_, err := b.tasks.put("create", &task[plain]{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID(name)}})
					must.OK(t, err)
				}
			})
			var got []string
			for _, c := range b.snapshot.Children {
				got = append(got, c.Name)
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("%s: shown %q, want %q", test.naming.Form, got, test.want)
			}
		})
	}
}

// TestCron_Unstructured: objects without a Go type are planned as others are.
func TestCron_Unstructured(t *testing.T) {
	type object = *unstructured.Unstructured
	kind := controller.Cron[object, object]{
		Parent: example.WithKind("Beat"), Child: example.WithKind("Task"),
		Spec: func(object) cronjob.Spec { return cronjob.Spec{Schedule: "@hourly"} },
		Status: func(o object) (s cronjob.Status) {
			text, _, _ := unstructured.NestedString(o.Object, "status", "last")
			s.LastScheduleTime, _ = time.Parse(time.RFC3339, text)
			return s
		},
		SetStatus: func(o object, s cronjob.Status) {
			_ = unstructured.SetNestedField(o.Object, s.LastScheduleTime.Format(time.RFC3339), "status", "last")
		},
		New:      func(object) object { return &unstructured.Unstructured{Object: map[string]any{}} },
		Ended:    func(object, *cronjob.Child) {},
		Parents:  func(string) backend.ParentClient[object] { return nil },
		Children: func(string) backend.ChildClient[object] { return nil },
	}
	parents := newShelf[object](&unstructured.Unstructured{})
	_, err := controller.NewCronsOf(kind, parents.informer, newShelf[object](&unstructured.Unstructured{}).informer, controller.CronJobOptions{})
	if err != nil {
		t.Error(err)
	}
}
