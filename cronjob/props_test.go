package cronjob_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobcheck"
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/cronjobgen"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

var worldSchedules = cronjobgen.Schedules

// TestLives runs CronJobs under a controller with faults between any two writes. The world checks
// CI1, CI4 and CI12 on each write. checkPlan checks the other invariants on each plan, and
// planWithLaws checks the laws on each snapshot. At the end the faults stop, and the CronJob must
// come to rest: CL1 to CL3.
func TestLives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { life(t, cronjob.Options{}) })
}

// TestLivesWithPolicies draws the options that Kubernetes does not have, and triggers.
func TestLivesWithPolicies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { life(t, drawOptions(t)) })
}

func drawOptions(t *rapid.T) cronjob.Options {
	duration := func(label string, most time.Duration) time.Duration {
		if !rapid.Bool().Draw(t, "has "+label) {
			return 0
		}
		return time.Duration(rapid.Int64Range(1, int64(most)).Draw(t, label))
	}
	kind := cronjob.Options{}
	if rapid.Bool().Draw(t, "another kind") {
		kind = cronjobgen.Kinds().Draw(t, "kind")
	}
	return cronjob.Options{
		ChildKind: kind.ChildKind, Naming: kind.Naming, Marks: kind.Marks,
		ActiveFromChildren: kind.ActiveFromChildren, SuccessFromChildren: kind.SuccessFromChildren,
		PauseAfterFailures: max(0, rapid.Int32Range(-3, 3).Draw(t, "pause")),

		CatchUp:         cronjob.CatchUp(rapid.IntRange(0, 2).Draw(t, "catch up")),
		CatchUpWindow:   duration("window", 100*time.Hour),
		CatchUpLimit:    rapid.Int32Range(1, 4).Draw(t, "limit"),
		SkipOnResume:    rapid.Bool().Draw(t, "skip on resume"),
		SkipOnEdit:      rapid.Bool().Draw(t, "skip on edit"),
		SkipHeld:        rapid.Bool().Draw(t, "skip held"),
		MaxActive:       rapid.Int32Range(0, 2).Draw(t, "max active"),
		ReplaceWhenGone: rapid.Bool().Draw(t, "when gone"),
		Jitter:          duration("jitter", 2*time.Hour),
		KeepSuccessful:  duration("keep successful", 100*time.Hour),
		KeepFailed:      duration("keep failed", 100*time.Hour),
	}
}

// plain reports whether the options have only policies that Kubernetes has.
func plain(o cronjob.Options) bool { return o == cronjob.Options{Quirks: o.Quirks} }

// TestLivesOfTheReference checks the options with which the planner decides as Kubernetes does.
func TestLivesOfTheReference(t *testing.T) {
	o := cronjob.Kubernetes(release.V136())
	o.Quirks = o.Quirks.Without(cronjobquirk.EagerHistory) // with this quirk, a run starts again after a failed status write (CI1)
	rapid.Check(t, func(t *rapid.T) { life(t, o) })
}

func life(t *rapid.T, options cronjob.Options) {
	w := world.NewCronJob(newCronJob(drawSpec(t)), options)
	w.Stale = rapid.Bool().Draw(t, "stale")
	w.Consistent = !w.Stale && rapid.Bool().Draw(t, "consistent")
	if !plain(options) && !strings.HasPrefix(w.CronJob.Spec.Schedule, "@every") && rapid.Bool().Draw(t, "combined") {
		w.Schedule = cronjob.Compile(&w.CronJob, schedule.Also("*/40 3 * * *"), schedule.Except("* * * * 3"))
	}
	for range rapid.IntRange(5, 60).Draw(t, "steps") {
		step(t, w)
		if !plain(options) && rapid.IntRange(0, 9).Draw(t, "backfill") == 0 {
			w.Backfill(cronjob.Backfill{
				After:     w.Now.Add(time.Duration(rapid.Int64Range(-30*24, 24).Draw(t, "backfill after")) * time.Hour),
				Overlap:   rapid.SampledFrom([]cronjob.ConcurrencyPolicy{cronjob.Forbid, cronjob.Allow}).Draw(t, "backfill overlap"),
				MaxActive: rapid.Int32Range(0, 3).Draw(t, "backfill max"),
			}, rapid.IntRange(1, 25).Draw(t, "backfill runs"))
		}
		if !plain(options) && rapid.IntRange(0, 9).Draw(t, "trigger") == 0 {
			w.Trigger(rapid.SampledFrom([]cronjob.ConcurrencyPolicy{"", cronjob.Forbid}).Draw(t, "overlap"))
		}
	}
	comeToRest(t, w)
}

func drawSpec(t *rapid.T) cronjob.Spec { return cronjobgen.Specs().Draw(t, "spec") }

func step(t *rapid.T, w *world.CronJob) {
	if rapid.IntRange(0, 19).Draw(t, "step") >= 7 {
		cronjobgen.Act(t, w)
		return
	}
	round(t, w, func() world.Fault {
		return rapid.SampledFrom([]world.Fault{world.None, world.None, world.None, world.Fail, world.LoseReply, world.Crash}).Draw(t, "fault")
	})
}

func round(t *rapid.T, w *world.CronJob, draw func() world.Fault) cronjob.Plan {
	s := w.Snapshot()
	plan := planWithLaws(t, s)
	checkPlan(t, &s, &plan)
	carryOut(t, w, &plan, draw)
	return plan
}

// failer is the part of a test that carryOut needs.
type failer interface {
	Fatalf(format string, args ...any)
}

// carryOut executes a plan in the world, with faults as drawn. It returns false after a crash.
func carryOut(t failer, w *world.CronJob, plan *cronjob.Plan, draw func() world.Fault) bool {
	w.Fault = func(world.Write) world.Fault { return draw() }
	_, _ = w.CarryOut(context.Background(), plan) // the errors are the drawn faults
	if err := w.Err(); err != nil {
		t.Fatalf("%v\nafter the plan:\n%s", err, plan)
	}
	return !w.Crashed()
}

// planWithLaws checks that the plan depends only on the snapshot (B3, B6), not on the order of the
// children or on earlier rounds of the planner. It also checks that the snapshot is not modified,
// that a stored snapshot has the same plan, and that the plan does not change before its Requeue.
func planWithLaws(t *rapid.T, s cronjob.Snapshot) cronjob.Plan {
	before := encode(t, s)
	plan := reconcile(t, s)
	if after := encode(t, s); after != before {
		t.Fatalf("the snapshot was modified:\n%s\n%s", before, after)
	}
	shuffled := s
	shuffled.Children = rapid.Permutation(s.Children).Draw(t, "order")
	again, err := cronjob.Reconcile(shuffled)
	if diff := cmp.Diff(encode(t, plan), encode(t, again)); err != nil || diff != "" {
		t.Fatalf("the order of the children matters: %v %s", err, diff)
	}
	checkQuiet(t, s, &plan)
	wakesUp(t, s, &plan)
	checkStored(t, &plan)
	if rapid.IntRange(0, 15).Draw(t, "replay") == 0 {
		replays(t, s, before)
	}
	return plan
}

// checkQuiet checks that planQuiet and a full round make the same plan.
func checkQuiet(t rapid.TB, s cronjob.Snapshot, plan *cronjob.Plan) {
	t.Helper()
	type fields cronjob.Plan // without its String; JSON cannot hold the years of garbage
	whole, err := cronjob.PlanRound(s)
	if diff := cmp.Diff(fmt.Sprintf("%+v", fields(whole)), fmt.Sprintf("%+v", fields(*plan))); err != nil || diff != "" {
		t.Fatalf("quiet (%t), and the whole round has another plan: %v %s", cronjob.IsQuiet(s), err, diff)
	}
}

// replays checks that a snapshot has the same plan after it was stored and read again.
func replays(t *rapid.T, s cronjob.Snapshot, data string) {
	if len(s.CronJob.Status.Active) == 0 {
		s.CronJob.Status.Active = nil // an empty list is read as nil
	}
	want := reconcile(t, s)
	got, err := cronjob.Reconcile(stored(t, data, s.Options.Naming.Namer))
	if diff := cmp.Diff(encode(t, want), encode(t, got)); err != nil || diff != "" {
		t.Fatalf("a stored snapshot has another plan: %v %s\n%s", err, diff, data)
	}
}

func stored(t *rapid.T, data string, namer cronjob.Namer) (s cronjob.Snapshot) {
	if err := json.Unmarshal([]byte(data), &s); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	s.Options.Naming.Namer = namer
	return s
}

// wakesUp checks that the plan does not change before the time of its Requeue, apart from skew.
func wakesUp(t *rapid.T, s cronjob.Snapshot, plan *cronjob.Plan) {
	until := s.Now.AddDate(1, 0, 0)
	if at := plan.Requeue.At; !at.IsZero() {
		if !at.After(s.Now) {
			t.Fatalf("CI9: again at %s, now is %s", at, s.Now)
		}
	}
	for _, w := range plan.Waits {
		if !w.Until.IsZero() && !until.Before(w.Until) {
			until = w.Until.Add(-1)
		}
	}
	if !s.Options.Quirks.IsZero() || until.Before(s.Now) || len(plan.Create) > 0 || plan.Basis().Unfinished {
		return // Kubernetes only estimates; after a creation or a passed run, the next round is immediate
	}
	// The memory has the reported missed runs, so that later rounds do not repeat them.
	s.Memory = cronjob.Remember(plan.Basis().Memory)
	s.Now = s.Now.Add(time.Duration(rapid.Int64Range(0, int64(until.Sub(s.Now))).Draw(t, "later")))
	later := reconcile(t, s)
	if a, b := actions(t, plan), actions(t, &later); a != b {
		t.Fatalf("the plan changes before %s, at %s:\n%s\n%s", plan.Requeue.At, s.Now, a, b)
	}
}

// actions returns the actions of a plan as text.
func actions(t *rapid.T, p *cronjob.Plan) string {
	return encode(t, []any{p.Verify, p.Delete, p.Create, p.Basis().Status})
}

func encode(t *rapid.T, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func checkPlan(t *rapid.T, s *cronjob.Snapshot, p *cronjob.Plan) {
	if broken := cronjobcheck.Plan(s, p); broken != nil {
		t.Fatalf("%v\nin the plan:\n%s", broken, p)
	}
	for _, r := range s.CronJob.Status.Active {
		i := slices.IndexFunc(s.Children, func(c cronjob.Child) bool { return c.UID == r.UID })
		left := !slices.Contains(p.Basis().Status.Active, r)
		if left != (i >= 0 && s.Children[i].Finished != "" || i < 0 && s.Consistent) {
			t.Fatalf("CI5: %s left the active list: %t", r.Name, left)
		}
	}
}

// comeToRest plays rounds without faults and without time passing: the latest run must be started
// if nothing holds it back (CL1, CL3), the active list must be true (CL2), and the plans must
// become empty.
func comeToRest(t *rapid.T, w *world.CronJob) {
	for range 12 {
		w.DeliverAll()
		round(t, w, func() world.Fault { return world.None })
	}

	w.DeliverAll()
	s := w.Snapshot()
	plan := planWithLaws(t, s)
	if !w.Options.Quirks.IsZero() {
		return // Kubernetes does not recover from a crash between creation and status write (C14)
	}

	if plan.Settle(cronjob.Writes{}).Write || len(plan.Create)+len(plan.Delete)+len(plan.Verify) > 0 {
		t.Fatalf("no rest:\n%s", plan.String())
	}
	for _, b := range w.Backfills {
		if !slices.ContainsFunc(plan.Waits, func(w cronjob.Wait) bool { return w.Reason == cronjobreason.WaitBackfill && w.Name == b.ID }) {
			t.Fatalf("backfill %+v is left, and waits for nothing:\n%s", b, plan.String())
		}
	}
	for _, r := range w.CronJob.Status.Active {
		if c, ok := w.Jobs[r.Name]; !ok || c.Finished != "" {
			t.Fatalf("CL2: %s is still active", r.Name)
		}
	}

	checkHistoryAtRest(t, w)
	spec := &w.CronJob.Spec
	if *spec.Suspend || spec.ConcurrencyPolicy != cronjob.Allow || spec.StartingDeadlineSeconds != nil || !w.Options.IsZero() {
		return
	}
	if latest, ok := w.Schedule.Schedule.Latest(start, w.Now); ok && w.CronJob.Status.LastScheduleTime.Before(latest) {
		t.Fatalf("CL1: %s is due, and the last run is %s", latest, w.CronJob.Status.LastScheduleTime)
	}
}

// checkHistoryAtRest checks that no more finished jobs are left than the limits allow (C2), unless
// a backfill or CatchUpAll still needs them to recognise their runs.
func checkHistoryAtRest(t *rapid.T, w *world.CronJob) {
	if len(w.Backfills) > 0 || w.Options.CatchUp == cronjob.CatchUpAll || w.Schedule.Problem != 0 {
		return
	}

	left := map[job.ConditionType]int{}
	for _, c := range w.Children() {
		if !c.Foreign && c.DeletionTimestamp.IsZero() {
			left[c.WhoseLimits()]++
		}
	}

	spec := &w.CronJob.Spec
	for how, limit := range map[job.ConditionType]*int32{job.ConditionComplete: spec.SuccessfulJobsHistoryLimit, job.ConditionFailed: spec.FailedJobsHistoryLimit} {
		if limit == nil {
			continue
		}

		most := int(*limit)
		if pause := int(w.Options.PauseAfterFailures); pause > 0 && how == cronjob.Failed {
			most = max(most, pause)
		} else if pause > 0 && w.Options.SuccessFromChildren {
			most = max(most, 1) // the success that has ended a row of failures (C19)
		}
		if left[how] > most {
			t.Fatalf("C2: %d %s jobs are left, at most %d", left[how], how, most)
		}
	}
}

// TestCL3_OneCatchUp: after any downtime exactly one missed run starts.
func TestCL3_OneCatchUp(t *testing.T) {
	for _, spec := range worldSchedules {
		s := snapshot(newCronJob(cronjob.Spec{Schedule: spec}), start.AddDate(0, 2, 3).Add(13*time.Hour+11*time.Minute))
		creations := 0
		for range 5 {
			plan, end := play(t, s)
			creations += len(plan.Create)
			s.CronJob.Status, s.Children = end.Status, nil
			for _, r := range s.CronJob.Status.Active {
				s.Children = append(s.Children, cronjob.Child{Name: r.Name, UID: r.UID, ScheduledTime: s.CronJob.Status.LastScheduleTime})
			}
		}
		if creations != 1 {
			t.Errorf("%s: %d runs", spec, creations)
		}
	}
}
