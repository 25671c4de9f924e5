//go:build go1.25

package controller_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/schedule"
	"github.com/batchplan/batchplan/x/kubernetes/backend"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// storing returns a kind whose parents store only a part of their status: the result of the
// function leaves. If leaves is nil, they store everything.
func storing(leaves func(cronjob.Status) cronjob.Status) controller.Cron[*beat, *task] {
	kind, _ := inMinutes()
	kind.Status = func(b *beat) cronjob.Status { return b.All }
	kind.SetStatus = func(b *beat, s cronjob.Status) {
		if b.All = s; leaves != nil {
			b.All = leaves(s)
		}
	}
	return kind
}

var hourly = beat{Schedule: "@hourly"}

// TestC18_WhatTheStatusStores: active children and the last success are read from the status. They
// are computed from the children if the status does not return them, or if the options say so.
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
			history(t, storing(test.stores), controller.CronJobOptions{Planner: test.given}, hourly, func(c *clockwork) {
				c.round(time.Hour)
				got := c.snapshot.Options
				if got.ActiveFromChildren != test.active || got.SuccessFromChildren != test.succes || got.ChildKind != (cronjob.Kind{Kind: "Task", APIVersion: "example.com/v1"}) {
					t.Errorf("options %+v", got)
				}
				task, active := c.tasks.all()[0], c.parents.all()[0].All.Active
				want := cronjob.Reference{Kind: "Task", APIVersion: "example.com/v1", Namespace: "ns", Name: task.Name, UID: cronjob.UID(task.UID), ResourceVersion: "1"}
				if test.stores == nil && !test.active && (len(active) != 1 || active[0] != want) {
					t.Errorf("active %+v, want %+v", active, want)
				}
			})
		})
	}
}

// TestCron_Child: the options can set the kind of the children; the default is the Child of the
// Cron.
func TestCron_Child(t *testing.T) {
	given := cronjob.Kind{Kind: "Errand", APIVersion: "example.com/v2"}
	history(t, storing(nil), controller.CronJobOptions{Planner: cronjob.Options{ChildKind: given}}, hourly, func(c *clockwork) {
		c.round(time.Second)
		if got := c.snapshot.Options.ChildKind; got != given {
			t.Errorf("children are %+v, want %+v", got, given)
		}
	})
}

// TestCron_Ending: the CompletionTime of a complete child is the time of its end, unless the kind
// sets another one. Other children get no CompletionTime.
func TestCron_Ending(t *testing.T) {
	kind := storing(nil)
	kind.Ended = func(t *task, c *cronjob.Child) {
		if t.Phase != "" {
			c.Finished, c.FinishTime = cronjob.Ending(t.Phase), t.End.Time
		}
		c.CompletionTime = t.DeletionTimestamp.Time
	}

	history(t, kind, controller.CronJobOptions{}, hourly, func(c *clockwork) {
		c.round(time.Hour)

		end := metav1.NewTime(time.Now().Add(30 * time.Second)) // differs from the time of the run
		early := metav1.NewTime(end.Add(-time.Minute))

		for _, test := range []struct {
			phase         string
			known, wanted metav1.Time
		}{
			{"", metav1.Time{}, metav1.Time{}}, {"Failed", metav1.Time{}, metav1.Time{}}, {"Complete", metav1.Time{}, end}, {"Complete", early, early},
		} {
			o := c.tasks.all()[0].DeepCopyObject().(*task)
			o.Phase, o.End, o.DeletionTimestamp = test.phase, end, &test.known
			_, err := c.tasks.put("end", o)
			must.OK(t, err)
			c.round(time.Second)
			if got := c.snapshot.Children[0].CompletionTime; !got.Equal(test.wanted.Time) {
				t.Errorf("%q: complete at %s, want %s", test.phase, got, test.wanted)
			}
		}
	})
}

// TestCron_Schedule: the options for the schedule of one parent come after the options for all
// schedules.
func TestCron_Schedule(t *testing.T) {
	all := []schedule.Option{schedule.WithTimeZone("Asia/Kathmandu"), schedule.Also("10 * * * *"), nil}
	o := controller.CronJobOptions{Schedule: all[:2]} // with spare capacity
	kind, zone := storing(nil), "Etc/UTC"
	kind.Schedule = func(*beat) []schedule.Option { return []schedule.Option{schedule.WithTimeZone(zone)} }
	history(t, kind, o, hourly, func(c *clockwork) {
		for _, test := range []struct {
			zone  string // changes without a notification
			after time.Duration
			want  int // minutes after the creation
		}{{"Etc/UTC", time.Second, 10}, {"Asia/Kolkata", 11 * time.Minute, 30}} {
			zone = test.zone
			next, err := c.round(test.after)
			if want := time.Date(2000, 1, 1, 0, test.want, 0, 1e8, time.UTC); err != nil || !next.Equal(want) {
				t.Errorf("%s: again at %s, want %s, %v", zone, next, want, err)
			}
		}
		if all[2] != nil {
			t.Error("the options of one parent were written behind those of all")
		}
	})
}

// TestCron_Labels: a run's labels override the template's, and the owner's label overrides both.
func TestCron_Labels(t *testing.T) {
	const owner, at = "example.com/beat-uid", "example.com/run"
	o := controller.CronJobOptions{Planner: cronjob.Options{Marks: cronjob.Marks{TimeIn: cronjob.InLabel, TimeKey: at}}}
	kind := storing(nil)
	kind.OwnerLabel = owner
	kind.New = func(*beat) *task {
		return &task{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{owner: "template", at: "template", "app": "a"}}}
	}

	history(t, kind, o, hourly, func(c *clockwork) {
		c.round(time.Hour)
		want := map[string]string{owner: "uid-b", at: fmt.Sprint(time.Now().Unix()), "app": "a"}
		if got := c.tasks.all()[0].Labels; !maps.Equal(got, want) {
			t.Errorf("labels %v, want %v", got, want)
		}

		_, err := c.parents.put("create", &beat{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "ns"}})
		must.OK(t, err)

		queue := &asks{}
		for _, labels := range []map[string]string{nil, {owner: "unknown"}} {
			c.JobEvents(queue).OnAdd(&task{ObjectMeta: metav1.ObjectMeta{Name: "t", Namespace: "ns", Labels: labels}}, false)
		}
		if got := queue.take(); got != "" {
			t.Errorf("tasks of nobody: asked for %q", got)
		}
	})
}

// TestCron_Words: events and logged decisions name the two kinds.
func TestCron_Words(t *testing.T) {
	kind, o := inSeconds()
	o.SkipHeld = true
	history(t, kind, controller.CronJobOptions{Planner: o}, beat{Schedule: "@hourly", Overlap: "Forbid"}, func(c *clockwork) {
		c.round(time.Hour)
		c.round(time.Hour) // is skipped
		for range 2 {
			c.end("Complete")
			c.round(time.Hour)
		}
		for range 2 {
			c.end("Failed")
			c.round(time.Hour)
		}

		c.edit(func(b *beat) { b.Suspend = true })
		c.round(time.Second)
		if events := c.events.take(); !strings.Contains(events, "an active Task held it back") || strings.Contains(events, "job") {
			t.Errorf("events %s", events)
		}

		lines := strings.Join(c.log, "\n")
		for _, want := range []string{"more successful Tasks than", "more failed Tasks than", "the Beat is suspended", `"beat"=`} {
			if !strings.Contains(lines, want) {
				t.Errorf("%q is not in the log:\n%s", want, lines)
			}
		}
		if strings.Contains(lines, " job") || strings.Contains(lines, "CronJob") {
			t.Errorf("the log tells of jobs:\n%s", lines)
		}
	})
}

// TestCron_Endings: children may end in ways of their own.
func TestCron_Endings(t *testing.T) {
	kind := beats("Broadcast", map[string]cronjob.Ending{
		"Completed": cronjob.Complete, "Failed": cronjob.Failed, "Aborted": "Aborted", "Terminated": "Terminated",
	})

	for _, test := range []struct {
		name string
		beat beat
		play func(c *clockwork)
		want []string
	}{
		{"a run whose child is gone does not start again", beat{Schedule: "@hourly"}, func(c *clockwork) {
			c.round(time.Hour)
			c.end("Completed")
			c.round(time.Second)
			must.OK(c, c.tasks.Delete(c.Context(), "b-"+minute(60), metav1.DeleteOptions{})) // its time to live is over
			c.restart()
			c.round(time.Second)
			c.round(time.Minute)
		}, []string{minute(60)}},
		{"more than 100 missed runs are one", beat{Schedule: "* * * * *"}, func(c *clockwork) {
			c.round(300 * time.Minute)
			c.round(time.Minute)
		}, []string{minute(300), minute(301)}},
		{"Forbid does not wait for what was aborted", beat{Schedule: "@hourly", Overlap: "Forbid"}, func(c *clockwork) {
			c.round(time.Hour)
			c.end("Aborted")
			c.round(time.Hour)
		}, []string{minute(60), minute(120)}},
		{"what was terminated is cleaned up", beat{Schedule: "@hourly"}, func(c *clockwork) {
			for range 5 {
				c.round(time.Hour)
				c.end("Terminated")
			}
			c.round(time.Minute)
			if n := len(c.tasks.all()); n != 1 {
				c.Errorf("%d are left", n)
			}
		}, []string{minute(60), minute(120), minute(180), minute(240), minute(300)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			history(t, kind, controller.CronJobOptions{}, test.beat, func(c *clockwork) {
				test.play(c)
				c.want(test.want...)
			})
		})
	}
}

// byName names runs by their time alone.
type byName struct{}

func (byName) Name(parent string, run time.Time) string { return fmt.Sprint(parent, "-", run.Unix()) }
func (byName) Run(parent, name string) (time.Time, bool) {
	text, is := strings.CutPrefix(name, parent+"-")
	n, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(n, 0), is && n > 1000 && err == nil
}

// TestCron_Names: a beat also sees tasks of other owners, if their names could be names of its runs
// (C14).
func TestCron_Names(t *testing.T) {
	for _, test := range []struct {
		naming cronjob.Naming
		want   string
	}{
		{cronjob.Naming{}, "b-5"}, {cronjob.Naming{Form: cronjob.NameSeconds, Prefix: "nightly-"}, "nightly-b-5"},
		{cronjob.Naming{Form: cronjob.NameCustom, Namer: byName{}}, ""},
	} {
		history(t, storing(nil), controller.CronJobOptions{Planner: cronjob.Options{Naming: test.naming}}, hourly, func(c *clockwork) {
			for _, name := range []string{"b-5", "nightly-b-5", "b", "-5", "bb-5"} {
				_, err := c.tasks.put("create", &task{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID(name)}})
				must.OK(t, err)
			}

			c.round(time.Second)
			var got []string
			for _, child := range c.snapshot.Children {
				if got = append(got, child.Name); !child.Foreign {
					t.Errorf("%s: %s is its own", test.naming.Form, child.Name)
				}
			}

			if strings.Join(got, " ") != test.want {
				t.Errorf("%s: shown %q, want %q", test.naming.Form, got, test.want)
			}
		})
	}
}

// TestCron_Unstructured: objects without a Go type are planned like others.
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
	_, err := controller.NewCronJobs(cronOf(kind, parents.informer, newShelf[object](&unstructured.Unstructured{}).informer), controller.CronJobOptions{})
	if err != nil {
		t.Error(err)
	}
}

// TestCron_WhatIsRequired: a missing required field is an error that names it.
func TestCron_WhatIsRequired(t *testing.T) {
	kind, _ := inMinutes()
	kind.Parents = func(string) backend.ParentClient[*beat] { return nil }
	kind.Children = func(string) backend.ChildClient[*task] { return nil }
	for want, drop := range map[string]func(k *controller.Cron[*beat, *task]){
		"Cron.Spec is required":     func(k *controller.Cron[*beat, *task]) { k.Spec = nil },
		"Cron.Children is required": func(k *controller.Cron[*beat, *task]) { k.Children = nil },
		"cron controller of Beat: Status does not return the LastScheduleTime that SetStatus has set: without it, a run would start again once its Task is gone": func(k *controller.Cron[*beat, *task]) { k.SetStatus = func(*beat, cronjob.Status) {} },
	} {
		k := kind
		drop(&k)
		_, err := controller.NewCronJobReconciler(cronOf(k, newShelf[*beat](&beat{}).informer, newShelf[*task](&task{}).informer), controller.CronJobOptions{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
