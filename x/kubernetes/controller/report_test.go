//go:build go1.25

package controller_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

// says is the Report of a beat: it writes a condition.
func says(b *beat, r *controller.CronReport) {
	failed := func(e cronjob.Effect) bool { return e.Error != "" }
	b.Observed = b.Generation
	if r.Plan != nil { // a server stores neither the nanosecond nor the zone
		b.Next = metav1.NewTime(r.Plan.NextRun.Add(1).In(time.FixedZone("", b.Next.Nanosecond()*3600)))
	}

	switch {
	case r.Plan == nil:
		b.Says = fmt.Sprintf("Refused: %v", r.Err)
	case r.Schedule.Problem != 0:
		b.Says = r.Schedule.Problem.String()
	case slices.ContainsFunc(r.Writes.Created, failed):
		b.Says = "NotStarted: " + r.Writes.Created[0].Error
	case r.Err != nil:
		b.Says = fmt.Sprintf("Failed: %v", r.Err)
	case b.Suspend:
		b.Says = "Paused"
	case slices.ContainsFunc(r.Plan.Waits, func(w cronjob.Wait) bool { return w.Reason == cronjobreason.WaitActive }):
		b.Says = "Held"
	default:
		b.Says = "Next: " + r.Plan.NextRun.UTC().Format("15:04")
	}
}

// TestCron_EditEvents: a kind renames and drops events, and adds one while the parent is suspended.
func TestCron_EditEvents(t *testing.T) {
	o := controller.CronJobOptions{EditEvents: func(o controller.Object, r controller.CronJobRound, events []job.Event) []job.Event {
		if o.(*beat).Suspend && o.(*beat).Says != "Paused" {
			return append(events, job.Event{Type: job.EventNormal, Reason: "Paused", Message: "no task starts"})
		}
		return slices.DeleteFunc(renamed(o, r, events), func(e job.Event) bool { return e.Reason == "SawCompletedJob" })
	}}
	kind := storing(nil)
	kind.Report = says

	history(t, kind, o, hourly, func(c *clockwork) {
		step := func(after time.Duration, want string) {
			t.Helper()
			_, _ = c.round(after)
			if got := c.events.take(); !strings.Contains(got, want) || (want == "") != (got == "") {
				t.Errorf("events %q, want %q", got, want)
			}
		}

		step(time.Hour, "Normal TaskCreated Created Task")
		c.edit(func(b *beat) { b.Generation++; b.Suspend = true })
		step(time.Second, "Normal Paused no task starts")
		step(time.Hour, "")
	})
}

// TestCron_EditEventsOfRefusals: a kind also renames the event about a parent that cannot be
// planned, and the one about a namespace in which nothing can be created. For a parent that cannot
// be planned, EditEvents gets an empty plan.
func TestCron_EditEventsOfRefusals(t *testing.T) {
	names := map[string]string{"InvalidBeat": "InvalidBeatSpec", "NamespaceTerminating": "Closing"}
	o := controller.CronJobOptions{EditEvents: func(_ controller.Object, r controller.CronJobRound, events []job.Event) []job.Event {
		for i := range events {
			events[i].Reason = names[events[i].Reason]
			events[i].Message += fmt.Sprintf(", %d to create", len(r.Plan.Create))
		}
		return events
	}}
	kind := storing(nil)
	kind.Check = func(b *beat) error {
		if b.Overlap == "" {
			return errors.New("which overlap?")
		}
		return nil
	}

	history(t, kind, o, hourly, func(c *clockwork) {
		c.tasks.fails = "terminating"
		for _, step := range []struct{ overlap, want string }{
			{"", "Warning InvalidBeatSpec which overlap?, 0 to create"},
			{"Often", "Warning InvalidBeatSpec cronJob.spec.concurrencyPolicy: \"Often\": must be Allow, Forbid or Replace, 0 to create"},
			{"Allow", "Warning Closing no Task is created: the namespace \"ns\" is being terminated, 1 to create"},
		} {
			c.edit(func(b *beat) { b.Overlap = step.overlap })
			_, _ = c.round(time.Hour)
			if got := c.events.take(); strings.Count(got, "Warning") != 1 || !strings.Contains(got, step.want) {
				t.Errorf("%q: events %q, want %q", step.overlap, got, step.want)
			}
		}
	})
}

// TestCron_Report: the report reaches the status of the parent. If the status of the CronJob
// changes too, one write stores both. If nothing changes, nothing is written.
func TestCron_Report(t *testing.T) {
	kind := storing(nil)
	kind.Report = says
	refused := errors.New("the template has no image")
	kind.Check = func(b *beat) error {
		if b.Labels["image"] == "none" {
			return refused
		}
		return nil
	}
	history(t, kind, controller.CronJobOptions{}, hourly, func(c *clockwork) {
		written := 0
		step := func(name string, after time.Duration, want string, writes int) {
			t.Helper()
			_, _ = c.round(after)
			b := c.parents.all()[0]
			count := 0
			for _, w := range c.parents.writes {
				if strings.HasPrefix(w, "status") {
					count++
				}
			}
			if b.Says != want || count-written != writes || b.Observed != b.Generation {
				t.Errorf("%s: says %q after %d writes, want %q after %d; observed %d of %d", name, b.Says, count-written, want, writes, b.Observed, b.Generation)
			}
			written = count
		}
		edit := func(change func(*beat)) {
			c.edit(func(b *beat) { b.Generation++; change(b) })
		}

		step("nothing is due", time.Minute, "Next: 01:00", 1)
		step("again", time.Minute, "Next: 01:00", 0)
		step("a run starts", 59*time.Minute, "Next: 02:00", 1)
		edit(func(b *beat) { b.Overlap = "Forbid" })
		step("an edit that changes nothing else", time.Minute, "Next: 02:00", 1)
		step("a run is held", time.Hour, "Held", 1)
		c.end("SUCCEEDED")
		c.tasks.fails = "create"
		step("a creation without a reply", time.Minute, "NotStarted: no reply", 2) // the last report has the reason
		step("its job is there", time.Minute, "Next: 03:00", 1)
		edit(func(b *beat) { b.Suspend = true })
		step("a pause", time.Minute, "Paused", 1)
		edit(func(b *beat) { b.Suspend, b.Schedule = false, "at noon" })
		step("no schedule", time.Minute, "UnparseableSchedule", 1)
		step("still none", time.Minute, "UnparseableSchedule", 0)
		edit(func(b *beat) { b.Schedule, b.Overlap = "@hourly", "Sometimes" })
		step("an unknown policy", time.Minute, "Refused: cronJob.spec.concurrencyPolicy: \"Sometimes\": must be Allow, Forbid or Replace", 1)
		edit(func(b *beat) { b.Overlap, b.Labels = "Allow", map[string]string{"image": "none"} })
		c.events.take()
		step("a template that is refused", 2*time.Hour, "Refused: the template has no image", 1)
		step("still refused", time.Hour, "Refused: the template has no image", 0)
		if events := c.events.take(); strings.Count(events, "Warning InvalidBeat the template has no image") != 2 {
			t.Errorf("events %s", events)
		}
		edit(func(b *beat) { b.Labels = nil })
		step("mended", time.Minute, "Next: 06:00", 1)
	})
}

// TestCron_ReportConflict: why a round has failed is not hidden by a conflict of the write that
// reports it, and a conflict is not added to it.
func TestCron_ReportConflict(t *testing.T) {
	kind := storing(nil)
	kind.Report = says
	refused := errors.New("no image")
	kind.Check = func(b *beat) error { return refused }
	history(t, kind, controller.CronJobOptions{}, hourly, func(c *clockwork) {
		fails := errors.New("the server is gone")
		for _, failed := range []error{apierrors.NewConflict(schema.GroupResource{}, "b", nil), fails} {
			c.parents.refused = failed
			_, err := c.round(time.Hour)
			if !errors.Is(err, refused) || apierrors.IsConflict(err) || errors.Is(err, fails) != (failed == fails) {
				t.Errorf("%v: %v", failed, err)
			}
		}
	})
}

// TestCron_ReportStatus: if a kind stores only the last run, a report still has the active children
// and the last success. When these change, the report is written, with a new last run or without
// one.
func TestCron_ReportStatus(t *testing.T) {
	kind, _ := inMinutes()
	kind.Report = func(b *beat, r *controller.CronReport) {
		var names []string
		for _, active := range r.Status.Active {
			names = append(names, active.Name)
		}
		b.Says = fmt.Sprint(names)
		if t := r.Status.LastSuccessfulTime; !t.IsZero() {
			b.Says += " after " + t.UTC().Format("15:04")
		}
	}

	history(t, kind, controller.CronJobOptions{}, beat{Schedule: "@hourly", Overlap: "Forbid"}, func(c *clockwork) {
		first, second := "b-"+minute(60), "b-"+minute(180)
		for _, step := range []struct {
			name   string
			do     func()
			after  time.Duration
			want   string
			writes int
		}{
			{"nothing is due", func() {}, time.Minute, "[]", 1},
			{"a run starts", func() {}, 59 * time.Minute, "[" + first + "]", 1},
			{"it runs", func() {}, time.Minute, "[" + first + "]", 0},
			{"the next controller sees it", c.restart, time.Minute, "[" + first + "]", 0},
			{"it is gone", func() { must.OK(t, c.tasks.Delete(t.Context(), first, metav1.DeleteOptions{})) }, time.Minute, "[]", 1},
			{"a run starts later", func() {}, 2 * time.Hour, "[" + second + "]", 1},
			{"it ends", func() { c.end("SUCCEEDED") }, time.Minute, "[] after 03:03", 1},
		} {
			before := len(c.parents.writes)
			step.do()
			if _, err := c.round(step.after); err != nil {
				t.Error(err)
			}
			if writes := len(c.parents.writes) - before; c.parents.all()[0].Says != step.want || writes != step.writes {
				t.Errorf("%s: says %q after %d writes, want %q after %d", step.name, c.parents.all()[0].Says, writes, step.want, step.writes)
			}
		}
	})
}

// TestCron_ToldAsksForNoRound: if the text of a failure differs each time, each text is written to
// the status. These writes request no round before the queue's delay is over. A change of anything
// that a planner reads requests a round.
func TestCron_ToldAsksForNoRound(t *testing.T) {
	for _, reports := range []bool{true, false} {
		kind := storing(nil)
		if reports {
			kind.Report = says
		}

		history(t, kind, controller.CronJobOptions{}, hourly, func(c *clockwork) {
			for _, test := range []struct {
				name   string
				change func(*beat)
				want   bool
			}{
				{"what is told", func(b *beat) { b.Says = "dial tcp: port 41412" }, !reports},
				{"an edit", func(b *beat) { b.Generation++ }, true},
				{"a label", func(b *beat) { b.Labels = map[string]string{"a": "b"} }, true},
				{"a deletion", func(b *beat) { now := metav1.Now(); b.DeletionTimestamp = &now }, true},
				{"the status of the CronJob", func(b *beat) { b.All.LastScheduleTime = time.Now() }, true},
				{"nothing, a look at all", func(b *beat) { b.ResourceVersion = "1" }, true},
				{"no generation", func(b *beat) { b.Generation, b.Says = 0, "x" }, true},
			} {
				was := &beat{Schedule: "@hourly"}
				was.Name, was.Namespace, was.Generation, was.ResourceVersion = "b", "ns", 1, "1"
				is := was.DeepCopyObject().(*beat)
				is.ResourceVersion = "2"
				test.change(is)
				if is.Generation == 0 {
					was.Generation = 0
				}

				queue := &asks{}
				c.CronJobEvents(queue).OnUpdate(was, is)
				if got := queue.take() != ""; got != test.want {
					t.Errorf("reports %t, %s: asks for a round: %t, want %t", reports, test.name, got, test.want)
				}
			}
		})
	}
}

// TestKind_ToldAsksForNoRound is TestCron_ToldAsksForNoRound for an object with pods.
func TestKind_ToldAsksForNoRound(t *testing.T) {
	for report, want := range map[bool]string{true: "", false: "f 1s"} {
		kind := films()
		if report {
			kind.Report = func(*film, *controller.JobReport) {}
		}
		inStudio(t, kind, controller.JobOptions{}, film{Spec: scene(corev1.RestartPolicyNever)}, func(s *studio) {
			was, queue := s.film(), &asks{}
			was.Generation = 1
			is := was.DeepCopyObject().(*film)
			is.ResourceVersion = "later"
			s.jobs.OwnerEvents(queue).OnUpdate(was, is)
			if got := queue.take(); got != want {
				t.Errorf("reports %t: asked for %q, want %q", report, got, want)
			}

			is.Status.Active = 1
			s.jobs.OwnerEvents(queue).OnUpdate(was, is)
			if got := queue.take(); got != "f 1s" {
				t.Errorf("reports %t, the status of the job: asked for %q", report, got)
			}
		})
	}
}

// TestKind_Report: the report of an object with pods reaches its status, as in TestCron_Report.
func TestKind_Report(t *testing.T) {
	kind := films()
	broken := errors.New("no camera")
	kind.Check = func(f *film) error {
		if f.Labels["camera"] == "none" {
			return broken
		}
		return nil
	}

	kind.Report = func(f *film, r *controller.JobReport) {
		says := ""
		switch {
		case r.Err != nil:
			says = r.Err.Error()
		case r.Plan != nil:
			says = fmt.Sprintf("generation %d, %v", f.Generation, r.Plan.Waits[0])
		}
		f.Status.Conditions = slices.DeleteFunc(f.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == "Told" })
		f.Status.Conditions = append(f.Status.Conditions, batchv1.JobCondition{Type: "Told", Status: corev1.ConditionTrue, Message: says})
	}

	for _, test := range []struct {
		name   string
		film   film
		want   string
		writes int
	}{
		{"a pod is created", film{}, "generation 3, 1 active pod not finished", 1},
		{"nothing can be planned", film{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"camera": "none"}}}, "no camera", 1},
		{"another controller's", film{Spec: batchv1.JobSpec{ManagedBy: &[]string{"example.com/other"}[0]}}, "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := test.film
			f.Generation = 3
			f.Spec.Template = scene(corev1.RestartPolicyNever).Template
			inStudio(t, kind, controller.JobOptions{}, f, func(s *studio) {
				for range 3 { // the other rounds write nothing more
					_ = s.round()
				}

				writes := 0
				for _, w := range s.films.writes {
					if strings.HasPrefix(w, "status") {
						writes++
					}
				}
				if told := s.said("Told"); told != test.want || writes != test.writes {
					t.Errorf("%d writes, says %q, want %d, %q", writes, told, test.writes, test.want)
				}
			})
		})
	}
}
