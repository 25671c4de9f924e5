package cronjob_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/cronjobgen"
	"github.com/batchplan/batchplan/internal/intact"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job/release"
)

// TestPlan_DamagedConcludes: a stored plan with any change either cannot be read, or can be
// printed, settled and concluded with any outcome.
func TestPlan_DamagedConcludes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := cronjobgen.Snapshots().Draw(t, "snapshot")
		for quirk := range cronjobquirk.Of(release.V131()).All() {
			if rapid.Bool().Draw(t, quirk.String()) {
				s.Options.Quirks = s.Options.Quirks.With(quirk)
			}
		}
		plan := reconcile(t, s)
		var tree any
		must.OK(t, json.Unmarshal([]byte(encode(t, plan)), &tree))
		for range rapid.IntRange(1, 3).Draw(t, "damages") {
			tree = damaged(t, tree)
		}
		concludes(t, []byte(encode(t, tree)))
	})
}

// damaged changes one value in a tree of JSON.
func damaged(t *rapid.T, tree any) any {
	switch v := tree.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)

		if len(keys) == 0 || rapid.IntRange(0, 9).Draw(t, "whole") == 0 {
			return rapid.SampledFrom(scrap).Draw(t, "scrap")
		}
		if key := rapid.SampledFrom(append(keys, stray...)).Draw(t, "key"); v[key] != nil {
			v[key] = damaged(t, v[key])
		} else {
			v[key] = rapid.SampledFrom(scrap).Draw(t, "scrap")
		}
		return v

	case []any:
		i := rapid.IntRange(0, len(v)).Draw(t, "place")
		switch {
		case i < len(v) && rapid.Bool().Draw(t, "drop"):
			return slices.Delete(v, i, i+1)
		case i < len(v):
			v[i] = damaged(t, v[i])
		case len(v) > 0:
			return append(v, v[0])
		}
		return v
	}
	return rapid.SampledFrom(scrap).Draw(t, "scrap")
}

// scrap holds replacements for values, and stray the names of fields that are added to objects.
var (
	scrap = []any{
		nil, "", "x", -1, 1, int64(1 << 40), true, []any{}, []any{map[string]any{}}, map[string]any{}, "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", 2, 7, 255,
	}
	stray = []string{"internal", "missed", "verify", "delete", "create", "found", "reviewed", "backfills", "memory", "status", "active", "count", "unstarted"}
)

// concludes reads a stored plan and concludes it, and fails on a panic.
func concludes(t *rapid.T, data []byte) {
	var plan cronjob.Plan
	if json.Unmarshal(data, &plan) != nil {
		return
	}

	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("panics: %v\n%s", r, data)
		}
	}()
	_ = plan.String()

	result := func(label string) cronjobreason.Result {
		return cronjobreason.Result(rapid.IntRange(0, int(cronjobreason.ResultRefused)).Draw(t, label))
	}

	var o cronjob.Outcome
	for range rapid.IntRange(0, len(plan.Verify)+1).Draw(t, "verified") {
		o.Verified = append(o.Verified, cronjob.Reply{Result: result("verify")})
	}
	for range rapid.IntRange(0, len(plan.Delete)+1).Draw(t, "deleted") {
		o.Deleted = append(o.Deleted, cronjob.Effect{Result: result("delete")})
	}
	for range rapid.IntRange(0, len(plan.Create)+1).Draw(t, "created") {
		o.Created = append(o.Created, cronjob.Effect{Result: result("create")})
	}

	o.Settled = cronjob.Reply{Result: result("settled")}
	plan.MayCreate(o.Writes)
	end := plan.Conclude(o)
	_ = encode(t, end.Memory)
}

// These damaged plans once caused a panic.
func TestPlan_Damaged(t *testing.T) {
	for _, text := range []string{
		`{"formatVersion":1,"missed":{"count":1}}`,
		`{"formatVersion":1,"internal":{"found":-1,"memory":{"started":[{}]}}}`,
		`{"formatVersion":1,"internal":{"reviewed":-1}}`,
	} {
		var plan cronjob.Plan
		if err := json.Unmarshal([]byte(text), &plan); err != nil {
			continue
		}
		_ = plan.String()
		plan.MayCreate(cronjob.Writes{})
		plan.Conclude(cronjob.Outcome{Settled: cronjob.Reply{Result: cronjobreason.ResultDone}})
	}
}

// TestPlanner_KeepsNothing: the results of a reused planner and its plans never change later, and
// its plans equal those of a fresh planner.
func TestPlanner_KeepsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var planner cronjob.Planner
		type kept struct {
			what       string
			value, was any
		}

		var all []kept
		keep := func(what string, values ...any) {
			for i, v := range values {
				all = append(all, kept{fmt.Sprint(what, " ", i), v, intact.Copy(v)})
			}
		}

		w := cronjobgen.Lives(rapid.Bool().Draw(t, "late")).Draw(t, "life")
		for range rapid.IntRange(2, 8).Draw(t, "rounds") {
			s := w.Snapshot()
			s.Options = drawOptions(t)

			plan, err := planner.Reconcile(&s)
			must.OK(t, err)
			fresh := reconcile(t, s)
			if a, b := encode(t, fresh), encode(t, plan); a != b {
				t.Fatalf("a fresh planner:\n%s\na reused one:\n%s", a, b)
			}

			all = append(all, kept{"clone", plan.Clone(), intact.Copy(*plan)})
			was, written := intact.Copy(*plan), plan.Clone()
			intact.ScribbleAll(&written)
			if d := intact.Diff(*plan, was); d != "" {
				t.Fatalf("a clone shares memory with the plan: %s", d)
			}

			o := done(plan)
			for i := range o.Created {
				o.Created[i].Result = cronjobreason.Result(rapid.IntRange(0, 6).Draw(t, "created"))
			}
			for i := range o.Verified {
				o.Verified[i] = cronjob.Reply{Result: rapid.SampledFrom([]cronjobreason.Result{cronjobreason.ResultDone, cronjobreason.ResultGone}).Draw(t, "verified")}
			}

			status, end := plan.Settle(o.Writes).Status, plan.Conclude(o)
			keep("status", status)
			keep("conclusion", end.Status, end.Memory, end.Events, end.Triggered, end.Backfills, end.Unstarted)
			// A caller may modify the results.
			mine := plan.Conclude(o)
			intact.Scribble(&mine.Events)
			intact.Scribble(&mine.Triggered)
			if a, b := encode(t, fresh), encode(t, plan); a != b {
				t.Fatalf("the conclusion is part of the plan:\n%s\n%s", a, b)
			}

			w.CronJob.Status, w.Memory = end.Status, end.Memory
			cronjobgen.Act(t, w)
			if rapid.Bool().Draw(t, "request") {
				cronjobgen.Request(t, w)
			}
			w.Now = w.Now.Add(time.Hour)

			for _, k := range all {
				if d := intact.Diff(k.value, k.was); d != "" {
					t.Fatalf("%s has changed%s", k.what, d)
				}
			}
		}
	})
}
