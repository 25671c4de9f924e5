package job_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobreason"
)

// TestStoredPlan_Damaged damages stored plans, outcomes and memories as a faulty disk or another
// program may. If they can still be read, they lead to a conclusion, and nothing panics.
func TestStoredPlan_Damaged(t *testing.T) { rapid.Check(t, damagedPlan) }

// TestStoredPlan_OtherVersion: a plan of another version is not read, and the error names both.
func TestStoredPlan_OtherVersion(t *testing.T) {
	for _, version := range []string{"0", "2"} {
		var plan job.Plan
		err := json.Unmarshal([]byte(`{"formatVersion":`+version+`}`), &plan)
		if want := "plan: its format has version " + version + ", not 1"; err == nil || err.Error() != want {
			t.Errorf("version %s: %v, want %s", version, err, want)
		}
	}
}

// TestStoredPlan_Wrong: anything that is not a plan gives an error that begins with "plan".
func TestStoredPlan_Wrong(t *testing.T) {
	for _, stored := range []string{`{"formatVersion": 1, "create": 5}`, `{"formatVersion": 1, "internal": "none"}`,
		`[]`} {
		var plan job.Plan
		if err := json.Unmarshal([]byte(stored), &plan); err == nil || !strings.HasPrefix(err.Error(), "plan: ") {
			t.Errorf("%s: %v", stored, err)
		}
	}
}

// TestWaitReason_Empty: an empty text is read as no reason.
func TestWaitReason_Empty(t *testing.T) {
	reason := jobreason.WaitBackoff
	if err := reason.UnmarshalText(nil); err != nil || reason != 0 {
		t.Errorf("%v, %v", reason, err)
	}
}

// FuzzStoredPlan is TestStoredPlan_Damaged for fuzzing.
func FuzzStoredPlan(f *testing.F) {
	f.Add([]byte("a stored plan and its damage are drawn from these bytes"))
	f.Fuzz(rapid.MakeFuzz(damagedPlan))
}

func damagedPlan(t *rapid.T) {
	w := lived(t, 8, allFaults)
	plan := job.PlanOf(t, w.Snapshot())
	outcome := drawOutcome(t, plan, jobreason.ResultDone, jobreason.ResultDone, jobreason.ResultUnsuccessful,
		jobreason.ResultGone)
	var storedPlan job.Plan
	var storedOutcome job.Outcome
	if json.Unmarshal(drawDamage(t, text(plan)), &storedPlan) != nil ||
		json.Unmarshal(drawDamage(t, text(outcome)), &storedOutcome) != nil {
		return
	}
	conclusion := storedPlan.Conclude(storedOutcome)
	_ = storedPlan.String() + conclusion.Status.String()
	next := w.Snapshot()
	next.Memory = conclusion.Memory
	if damaged := drawDamage(t, text(conclusion.Memory)); next.Memory.UnmarshalJSON(damaged) != nil {
		t.Fatalf("a memory cannot be read: %s", damaged)
	}
	if plan, err := job.Reconcile(next); err == nil {
		plan.Conclude(storedOutcome)
	}
}

// drawDamage changes a few values of a document, at any depth, or its bytes.
func drawDamage(t *rapid.T, document string) []byte {
	if rapid.IntRange(0, 7).Draw(t, "bytes") == 0 {
		data := []byte(document)
		at := rapid.IntRange(0, len(data)-1).Draw(t, "at")
		data[at] = rapid.Byte().Draw(t, "byte")
		return data
	}
	var v any
	if err := json.Unmarshal([]byte(document), &v); err != nil {
		t.Fatal(err)
	}
	for range rapid.IntRange(1, 4).Draw(t, "changes") {
		v = drawChange(t, v)
	}
	return []byte(text(v))
}

// drawChange replaces, removes or repeats one value of a tree.
func drawChange(t *rapid.T, v any) any {
	deeper := rapid.IntRange(0, 7).Draw(t, "deeper") > 0
	switch v := v.(type) {
	case map[string]any:
		if keys := slices.Sorted(maps.Keys(v)); deeper && len(keys) > 0 {
			key := rapid.SampledFrom(keys).Draw(t, "key")
			if v[key] = drawChange(t, v[key]); v[key] == nil {
				delete(v, key)
			}
			return v
		}
	case []any:
		if deeper && len(v) > 0 {
			at := rapid.IntRange(0, len(v)-1).Draw(t, "element")
			v[at] = drawChange(t, v[at])
			return append(v, v[at])
		}
	}
	return rapid.SampledFrom([]any{nil, "", "x", "0-2147483646", "Indexed", "Done", "2026-01-01T00:00:00Z", -1, 0, 1,
		int64(1 << 31), int64(1 << 62), true, false,
		[]any{}, map[string]any{}, []any{nil}}).Draw(t, "value")
}

// TestReply: the JSON of a reply is a word if only the result is set, and else an object. An
// unknown word is an error.
func TestReply(t *testing.T) {
	tests := []struct {
		reply job.Reply
		text  string
	}{
		{job.Reply{}, `"NotTried"`},
		{job.Reply{Result: jobreason.ResultDone}, `"Done"`},
		{job.Reply{Result: jobreason.ResultDone, Version: 7}, `{"result":"Done","version":7}`},
		{job.Reply{Result: jobreason.ResultUnsuccessful, Error: "conflict"}, `{"result":"Unsuccessful","error":"conflict"}`},
	}

	for _, test := range tests {
		if got := text(test.reply); got != test.text {
			t.Errorf("%+v is written as %s, want %s", test.reply, got, test.text)
		}
		again := job.Reply{Error: "of before"}
		if err := json.Unmarshal([]byte(test.text), &again); err != nil || again != test.reply {
			t.Errorf("%s reads as %+v, %v", test.text, again, err)
		}
	}

	for _, bad := range []string{`"perhaps"`, `{"result":"perhaps"}`, `7`} {
		if err := json.Unmarshal([]byte(bad), new(job.Reply)); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}
