package job_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
)

// checkStored checks that a plan and its outcome can be stored: they lead to the same conclusion
// when they are read back. The outcome in a conclusion also leads to that conclusion.
func checkStored(t *rapid.T, plan *job.Plan) {
	outcome := drawOutcome(t, plan, jobreason.ResultNotTried, jobreason.ResultDone, jobreason.ResultGone,
		jobreason.ResultUnsuccessful, jobreason.ResultStillTracked, jobreason.ResultRefused)
	conclusion := plan.Conclude(outcome)
	if again := plan.Conclude(conclusion.Outcome); !reflect.DeepEqual(conclusion, again) {
		t.Fatalf("the outcome of the conclusion leads to another one:\n%s", cmp.Diff(conclusion, again))
	}
	read := restored(*plan)
	if got, want := text(read.Conclude(restored(outcome))), text(conclusion); got != want {
		t.Fatalf("the stored plan leads to another conclusion:\n%s", cmp.Diff(want, got))
	}
}

// checkIdle checks that a plan that is marked as idle writes nothing. Without the mark, Record,
// Settle and Conclude must come to the same conclusion.
func checkIdle(t *rapid.T, plan *job.Plan) {
	outcome := drawOutcome(t, plan, jobreason.ResultNotTried, jobreason.ResultDone, jobreason.ResultUnsuccessful)
	attentive, idle := job.Attentive(*plan)
	recording := attentive.Record(outcome.Writes)
	settlement := recording.Settle(outcome.Recorded, outcome.Untracked)
	if idle && (recording.Write || settlement.Write) {
		t.Fatalf("an idle plan writes: %+v", settlement)
	}
	if got, want := plan.Conclude(outcome), settlement.Conclude(outcome.Settled); !reflect.DeepEqual(got, want) {
		t.Fatalf("an idle plan leads to another conclusion:\n%s", cmp.Diff(want, got))
	}
}

// restored returns a copy of the value, made through JSON, that shares no pointer with it.
func restored[T any](v T) (out T) {
	if err := json.Unmarshal([]byte(text(v)), &out); err != nil {
		panic(err)
	}
	return out
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// TestOutcome_JSON: results are words, and writes that were not tried are left out.
func TestOutcome_JSON(t *testing.T) {
	o := job.Outcome{
		Writes: job.Writes{Deleted: []job.Effect{{Result: jobreason.ResultGone}}, Created: []job.Effect{
			{Result: jobreason.ResultDone, Pod: job.PodRef{Name: "a", UID: "u"}}, {Result: jobreason.ResultUnsuccessful, Error: "quota"}}},
		Recorded:  job.Reply{Result: jobreason.ResultDone},
		Untracked: []job.Reply{{Result: jobreason.ResultDone}, {Result: jobreason.ResultStillTracked}},
	}
	const want = `{"deleted":[{"result":"Gone"}],` +
		`"created":[{"result":"Done","pod":{"name":"a","uid":"u"}},{"result":"Unsuccessful","error":"quota"}],` +
		`"recorded":"Done","untracked":["Done","StillTracked"]}`
	if got := text(o); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	job.Same(t, "read back", o, restored(o))
	if err := json.Unmarshal([]byte(`{"recorded":"perhaps"}`), &o); err == nil {
		t.Error("an unknown result is accepted")
	}
}

// TestContainer_JSON: kinds and states are words, as in a pod.
func TestContainer_JSON(t *testing.T) {
	c := []jobpod.Container{{Name: "app", State: jobpod.Running},
		{Name: "set-up", Kind: jobpod.Init, State: jobpod.Terminated}, {Name: "proxy", Kind: jobpod.RestartableInit}}
	const want = `[{"name":"app","state":"Running"},{"name":"set-up","kind":"Init","state":"Terminated"},{"name":"proxy","kind":"RestartableInit"}]`
	if got := text(c); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if diff := cmp.Diff(c, restored(c)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, wrong := range []string{`{"kind":"Sidecar"}`, `{"state":"Ended"}`, `{"kind":3}`} {
		if err := json.Unmarshal([]byte(wrong), new(jobpod.Container)); err == nil {
			t.Errorf("%s is accepted", wrong)
		}
	}
}

// TestChain_ZeroValues: a zero Recording and a zero Settlement write nothing and remember nothing.
func TestChain_ZeroValues(t *testing.T) {
	var recording job.Recording
	var settlement job.Settlement
	for name, s := range map[string]job.Settlement{"recording": recording.Settle(job.Reply{Result: jobreason.ResultDone}, nil), "settlement": settlement} {
		c := s.Conclude(job.Reply{Result: jobreason.ResultDone})
		if s.Write || c.Retry || !reflect.DeepEqual(c.Memory, job.Memory{}) || len(c.Events) > 0 {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// TestJ35_NothingIsSettledUnrecorded: if the first status could not be written, or a claim failed,
// nothing is left to settle.
func TestJ35_NothingIsSettledUnrecorded(t *testing.T) {
	completions := int32(1)
	s := job.Snapshot{Job: job.Job{Name: "j", UID: "j", Spec: job.Spec{Completions: &completions}}, Now: world.Start}
	job.Default(&s.Job.Spec)
	s.Pods = []job.Pod{{Name: "p", UID: "p", Index: job.NoIndex(), Phase: job.PodSucceeded}}
	plan := job.PlanOf(t, s)
	recording := plan.Record(job.Writes{})
	if !recording.Write || len(recording.Untrack) != 1 {
		t.Fatalf("recording %+v", recording)
	}
	for _, result := range []jobreason.Result{jobreason.ResultNotTried, jobreason.ResultUnsuccessful} {
		settlement := recording.Settle(job.Reply{Result: result}, nil)
		c := settlement.Conclude(job.Reply{Result: jobreason.ResultNotTried})
		if settlement.Write || !c.Retry || !reflect.DeepEqual(c.Status, s.Job.Status) {
			t.Errorf("%s: %+v", result, c)
		}
	}

	s.Pods[0].Owner = jobpod.Orphan
	plan = job.PlanOf(t, s)
	recording = plan.Record(job.Writes{Claimed: job.Reply{Result: jobreason.ResultUnsuccessful}})
	settlement := recording.Settle(job.Reply{Result: jobreason.ResultNotTried}, nil)
	if recording.Write || len(recording.Untrack) > 0 || settlement.Write ||
		!settlement.Conclude(job.Reply{Result: jobreason.ResultNotTried}).Retry {
		t.Errorf("recording %+v, settlement %+v", recording, settlement)
	}
}
