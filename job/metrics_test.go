package job

import (
	"testing"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
)

// doneAll returns the outcome in which every write of the plan takes effect.
func doneAll(p *Plan) Outcome {
	o := Outcome{Writes: Writes{Claimed: Reply{Result: jobreason.ResultDone}},
		Recorded: Reply{Result: jobreason.ResultDone}, Settled: Reply{Result: jobreason.ResultDone}}
	for range p.Groups {
		o.Grouped = append(o.Grouped, jobgroup.Effect{Result: jobreason.ResultDone, UID: "group"})
	}
	for range p.Delete {
		o.Deleted = append(o.Deleted, Effect{Result: jobreason.ResultDone})
	}
	for _, c := range p.Create {
		o.Created = append(o.Created,
			Effect{Result: jobreason.ResultDone, Pod: PodRef{Name: c.NamePrefix + "x", UID: UID(c.NamePrefix + "x")}})
	}
	for range p.Record(o.Writes).Untrack {
		o.Untracked = append(o.Untracked, Reply{Result: jobreason.ResultDone})
	}
	return o
}

// settled returns the second status of a round with that outcome.
func settled(p *Plan, o Outcome) Settlement {
	recording := p.Record(o.Writes)
	return recording.Settle(o.Recorded, o.Untracked)
}

// TestJ42_Facts: the expected figures are those that Kubernetes 1.36.3 counted in the same round,
// unless the case tells otherwise.
func TestJ42_Facts(t *testing.T) {
	ended := func(uid UID, phase PodPhase, index int32) Pod {
		code := int32(0)
		if phase == PodFailed {
			code = 42
		}
		return Pod{UID: uid, Name: string(uid), Phase: phase, Index: IndexAt(index), Detail: &PodDetail{
			Containers: []jobpod.Container{exited("main", jobpod.App, code)},
		}}
	}

	running := Pod{UID: "r", Name: "r", Phase: PodRunning, Index: IndexAt(2)}
	leaving := Pod{UID: "l", Name: "l", Phase: PodRunning, Index: NoIndex(),
		Deletion: &PodDeletion{Timestamp: second(40)}}
	const policy = `"podFailurePolicy": {"rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [42]}}]}`
	const failJob = `"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}, {"action": "Count", "onPodConditions": [{"type": "PodScheduled"}]}]}`

	scheduled := running
	scheduled.Detail = &PodDetail{Conditions: []PodCondition{{Type: "PodScheduled", Status: ConditionTrue}}}
	unrecorded := func(o *Outcome) {
		o.Recorded, o.Untracked, o.Settled = Reply{Result: jobreason.ResultUnsuccessful}, nil,
			Reply{Result: jobreason.ResultNotTried}
	}
	justFailed := ended("a", PodFailed, -1)
	justFailed.Detail.Containers[0].FinishedAt = second(30)
	unmet := func(s *Snapshot) {
		s.Memory = Memory{JobUID: "job-1", Expectations: expectations.Counts{Creations: 1, At: s.Now}}
	}
	shrunk := func(s *Snapshot) { s.Job.Status.CompletedIndexes, s.Job.Status.Succeeded = "0,3,4", 3 }
	over := func(s *Snapshot) {
		s.Job.Status.Conditions = []Condition{{Type: ConditionFailed, Status: ConditionTrue}}
	}
	const indexed = `"completions": 3, "parallelism": 3, "completionMode": "Indexed"`

	for _, test := range []struct {
		name    string
		snap    Snapshot
		outcome func(*Outcome)
		want    Metrics // except for the mode, which is the job's
	}{
		{"nothing to do with running pods", snapshotOf(t, `{}`, running), nil, Metrics{Action: tracking}},
		{"the first pods", snapshotOf(t, `{"parallelism": 2}`), nil, Metrics{Action: podsCreated, PodsCreated: 2, CreateReason: jobreason.CreateNew}},
		{"a creation fails, and counts once", snapshotOf(t, `{"parallelism": 2}`),
			func(o *Outcome) { o.Created[0] = Effect{Result: jobreason.ResultUnsuccessful, Error: "quota"} },
			Metrics{Action: podsCreated, PodsCreated: 1, PodsNotCreated: 1, CreateReason: jobreason.CreateNew,
				SyncFailed: true}},
		{"with the quirk it counts as created as well", with(snapshotOf(t, `{"parallelism": 2}`), func(s *Snapshot) { s.Options.Quirks = jobquirk.SetOf(jobquirk.Miscount) }),
			func(o *Outcome) { o.Created[0] = Effect{Result: jobreason.ResultUnsuccessful, Error: "quota"} },
			Metrics{Action: podsCreated, PodsCreated: 2, PodsNotCreated: 1, CreateReason: jobreason.CreateNew,
				SyncFailed: true}},
		{"a namespace that is being deleted refuses creations", snapshotOf(t, `{"parallelism": 2}`),
			func(o *Outcome) {
				o.Created[0].Result, o.Created[1].Result = jobreason.ResultRefused, jobreason.ResultRefused
			},
			Metrics{Action: podsCreated, CreateReason: jobreason.CreateNew}},
		{"a terminating pod is replaced", snapshotOf(t, `{"backoffLimit": 0}`, Pod{UID: "u", Name: "u", Deletion: &PodDeletion{}, Index: NoIndex(), Untracked: true}), nil,
			Metrics{Action: podsCreated, PodsCreated: 1, CreateReason: jobreason.CreateReplacement}},
		{"a pod is started beside a terminating one that is not replaced", snapshotOf(t, `{"parallelism": 2, "podReplacementPolicy": "Failed"}`, leaving), nil,
			Metrics{Action: podsCreated, PodsCreated: 1, CreateReason: jobreason.CreateReplacement}},
		{"pods are deleted", snapshotOf(t, `{"parallelism": 0}`, running), nil, Metrics{Action: podsDeleted}},
		{"suspended without pods", snapshotOf(t, `{"suspend": true}`), nil, Metrics{Action: podsDeleted}},
		{"held by backoff", snapshotOf(t, `{"parallelism": 1}`, justFailed), nil, Metrics{Action: podsCreated, PodsFailed: 1, Untracked: 1}},
		{"expectations unmet while a pod has succeeded",
			with(snapshotOf(t, `{"completions": 2, "parallelism": 2}`, ended("a", PodSucceeded, -1), running), unmet),
			nil,
			Metrics{Action: reconciling, PodsSucceeded: 1, Untracked: 1}},
		{"the deadline ends the job, with deletions", snapshotOf(t, `{"activeDeadlineSeconds": 5}`, running), nil,
			Metrics{Action: reconciling, PodsFailed: 1}},
		{"an orphan cannot be adopted", snapshotOf(t, `{}`, Pod{UID: "o", Name: "o", Phase: PodRunning, Owner: jobpod.Orphan, Untracked: true}),
			func(o *Outcome) { *o = Outcome{Writes: Writes{Claimed: Reply{Result: jobreason.ResultUnsuccessful}}} },
			Metrics{Action: reconciling, SyncFailed: true}},
		{"a pod has failed", snapshotOf(t, `{"parallelism": 1}`, ended("a", PodFailed, -1), running), nil,
			Metrics{Action: tracking, PodsFailed: 1, Untracked: 1}},
		{"a failure is ignored", snapshotOf(t, `{"parallelism": 1, `+policy+`}`, ended("a", PodFailed, -1), running), nil,
			Metrics{Action: tracking, Policy: PolicyActions{Ignore: 1}, Untracked: 1}},
		{"the status of matches cannot be written", snapshotOf(t, `{"parallelism": 1, `+policy+`}`, ended("a", PodFailed, -1), ended("b", PodSucceeded, -1)),
			unrecorded,
			Metrics{Action: tracking, SyncFailed: true}},
		{"an unfinished pod matches as the job fails", snapshotOf(t, `{"parallelism": 2, "completions": 2, `+failJob+`}`, ended("a", PodFailed, -1), scheduled), nil,
			Metrics{Action: reconciling, PodsFailed: 2, Policy: PolicyActions{FailJob: 1, Count: 1}, Untracked: 1}},
		{"the job completes", snapshotOf(t, `{}`, ended("a", PodSucceeded, -1)), nil,
			Metrics{Action: tracking, PodsSucceeded: 1, Untracked: 1, Finished: ConditionComplete,
				FinishedReason: "CompletionsReached"}},
		{"the job fails", snapshotOf(t, `{"backoffLimit": 0}`, ended("a", PodFailed, -1)), nil,
			Metrics{Action: reconciling, PodsFailed: 1, Untracked: 1, Finished: ConditionFailed,
				FinishedReason: "BackoffLimitExceeded"}},
		{"indexes have ended", snapshotOf(t, `{`+indexed+`, "backoffLimitPerIndex": 0}`, ended("a", PodSucceeded, 0), ended("b", PodFailed, 1), running), nil,
			Metrics{Action: podsCreated, PodsSucceeded: 1, PodsFailed: 1, IndexesSucceeded: 1, IndexesFailed: 1,
				PerIndex: true, Untracked: 2}},
		{"an index has failed, and the status cannot be written", snapshotOf(t, `{`+indexed+`, "backoffLimitPerIndex": 0}`, ended("b", PodFailed, 1), running), unrecorded,
			Metrics{Action: podsCreated, PodsCreated: 1, CreateReason: jobreason.CreateReplacement, PerIndex: true,
				SyncFailed: true}},
		{"an elastic job shrinks", with(snapshotOf(t, `{`+indexed+`}`, running), shrunk), nil,
			Metrics{Action: podsCreated, PodsCreated: 1, CreateReason: jobreason.CreateNew}},
		{"an elastic job shrinks together with a success", with(snapshotOf(t, `{`+indexed+`}`, ended("a", PodSucceeded, 1), running), shrunk), nil,
			Metrics{Action: tracking, PodsSucceeded: 1, IndexesSucceeded: 1, Untracked: 1}},
		{"another controller manages the job", snapshotOf(t, `{"managedBy": "example.com/queue"}`), nil, Metrics{External: true}},
		{"the job has ended", with(snapshotOf(t, `{}`, ended("a", PodFailed, -1)), over), nil, Metrics{Untracked: 1}},
	} {
		plan, o := planned(t, test.snap, test.outcome)
		test.want.CompletionMode = test.snap.Job.Spec.CompletionMode
		Same(t, test.name+"\n"+plan.String(), test.want, plan.Conclude(o).Metrics)
	}
}

func TestJ42_CreateReasonMetric(t *testing.T) {
	for reason, want := range map[jobreason.Create]string{
		jobreason.CreateNew:                 "new",
		jobreason.CreateReplacement:         "recreate_terminating_or_failed",
		jobreason.CreateReplacementOfFailed: "recreate_failed",
	} {
		if got := reason.Metric(); got != want {
			t.Errorf("%v: got %q, want %q", reason, got, want)
		}
	}
}
