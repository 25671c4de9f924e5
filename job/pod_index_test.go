package job

import (
	"cmp"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job/jobpod"
)

func TestJ13_Index(t *testing.T) {
	for _, test := range []struct {
		name         string
		index        Index
		number       int32
		text, asJSON string
	}{
		{"the zero value is not given", Index{}, -1, "not given", "null"},
		{"none", NoIndex(), -1, "none", "-1"},
		{"zero", IndexAt(0), 0, "0", "0"},
		{"the greatest", IndexAt(math.MaxInt32), math.MaxInt32, "2147483647", "2147483647"},
		{"a negative number is none", IndexAt(-7), -1, "none", "-1"},
	} {
		if test.index.Int32() != test.number || test.index.String() != test.text {
			t.Errorf("%s: index %d, %q, want %d, %q", test.name, test.index.Int32(), test.index, test.number, test.text)
		}
		data, err := json.Marshal(test.index)
		if err != nil || string(data) != test.asJSON {
			t.Errorf("%s: JSON %s, error %v, want %s", test.name, data, err, test.asJSON)
		}

		back := IndexAt(9)
		if err := json.Unmarshal(data, &back); err != nil || !back.Equal(test.index) {
			t.Errorf("%s: read back: %v, error %v", test.name, back, err)
		}

		for _, limit := range []int32{0, 1, 9, math.MaxInt32} {
			if got, want := test.index.isBelow(limit), test.number >= 0 && test.number < limit; got != want {
				t.Errorf("%s: below %d: %v, want %v", test.name, limit, got, want)
			}
		}
	}

	for _, text := range []string{`"3"`, `-2`, `2147483648`, `1.5`} {
		if err := json.Unmarshal([]byte(text), new(Index)); err == nil || !strings.HasPrefix(err.Error(), "index: ") {
			t.Errorf("%s: error %v", text, err)
		}
	}
}

// TestJ13_IndexNotGiven: pods of an Indexed job whose Index was forgotten are not taken for
// duplicates. The error names the pod and the field.
func TestJ13_IndexNotGiven(t *testing.T) {
	given := activePod("a")
	given.Index = IndexAt(0)
	for _, owner := range []jobpod.Ownership{jobpod.Owned, jobpod.OwnedUnmatched, jobpod.Orphan, jobpod.Foreign} {
		for _, phase := range []PodPhase{PodPending, PodSucceeded} {
			bare := Pod{UID: "b", Name: "b", Phase: phase, Owner: owner}
			_, err := Reconcile(snapshotOf(t, `{"completionMode": "Indexed", "completions": 2, "parallelism": 2}`,
				given, bare))

			if owner == jobpod.Foreign {
				if err != nil {
					t.Errorf("%s, %s: %v", owner, phase, err)
				}
				continue
			}

			const want = `pods[b].index: "not given": is required when completionMode is Indexed; NoIndex says that there is none`
			if err == nil || err.Error() != want {
				t.Errorf("%s, %s: error %v\nwant %s", owner, phase, err, want)
			}
		}
	}

	if _, err := Reconcile(snapshotOf(t, `{"completions": 2}`, Pod{UID: "b", Name: "b"})); err != nil {
		t.Errorf("a NonIndexed job needs no index: %v", err)
	}
}

// TestPod_ZeroValueIsCounted: a pod is counted if only its phase is set, so the job ends.
func TestPod_ZeroValueIsCounted(t *testing.T) {
	s := snapshotOf(t, `{"completions": 1}`, Pod{UID: "a", Name: "a", Phase: PodSucceeded})
	plan := PlanOf(t, s)
	if got := plan.Conclude(doneAll(plan)).Status; got.Succeeded != 1 || got.Finished() != ConditionComplete {
		t.Errorf("%s\n%s", plan, got)
	}
}

// notesOf returns the text of a plan's notes.
func notesOf(p *Plan) string {
	var out []string
	for _, n := range p.Notes {
		out = append(out, n.Field+": "+n.Value+": "+n.Message)
	}
	return strings.Join(out, "\n")
}

// TestJ8_EndedAndInNoCounter: a note reports ended pods without the finalizer that no counter
// includes.
func TestJ8_EndedAndInNoCounter(t *testing.T) {
	ended := func(uid UID, phase PodPhase) Pod {
		return Pod{UID: uid, Name: string(uid), Phase: phase, Untracked: true}
	}

	leaving := ended("a", PodSucceeded)
	leaving.Deletion = &PodDeletion{Timestamp: second(40)}
	const policy = `{"podFailurePolicy": {"rules": [{"action": "Count", "onPodConditions": [{"type": "X"}]}]}}`

	for _, test := range []struct {
		name, spec string
		status     Status
		memory     Memory
		pods       []Pod
		want       string
	}{
		{name: "none of two is counted", pods: []Pod{ended("a", PodSucceeded), ended("b", PodFailed)},
			want: "pods: 2: so many have ended without the finalizer, and the status counts 0: the others are never counted"},
		{name: "one of two is counted", status: Status{Succeeded: 1}, pods: []Pod{ended("a", PodSucceeded), ended("b", PodSucceeded)},
			want: "pods: 2: so many have ended without the finalizer, and the status counts 1: the others are never counted"},
		{name: "both are counted", status: Status{Succeeded: 1, Failed: 1}, pods: []Pod{ended("a", PodSucceeded), ended("b", PodFailed)}},
		{name: "one is recorded", status: Status{UncountedTerminatedPods: &UncountedTerminatedPods{Succeeded: []UID{"a"}}}, pods: []Pod{ended("a", PodSucceeded)}},
		{name: "its finalizer has just gone", memory: Memory{JobUID: "job-1", Untracking: expectations.NewUIDs("a")}, pods: []Pod{ended("a", PodSucceeded)}},
		{name: "it is being deleted", pods: []Pod{leaving}},
		{name: "it has the finalizer", pods: []Pod{{UID: "a", Name: "a", Phase: PodSucceeded}}},
		{name: "the policy may have ignored it", spec: policy, pods: []Pod{ended("a", PodFailed)}},
		{name: "an index may have dropped out", spec: `{"completionMode": "Indexed", "completions": 2}`,
			pods: []Pod{{UID: "a", Name: "a", Index: IndexAt(0), Phase: PodSucceeded, Untracked: true}}},
	} {
		s := snapshotOf(t, cmp.Or(test.spec, `{"completions": 9, "parallelism": 0}`), test.pods...)
		s.Job.Status, s.Memory = test.status, test.memory
		if got := notesOf(PlanOf(t, s)); got != test.want {
			t.Errorf("%s: notes %q\nwant  %q", test.name, got, test.want)
		}
	}
}
