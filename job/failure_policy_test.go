package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job/jobpod"
)

// failedPod returns a pod that has failed with these containers and conditions.
func failedPod(containers []jobpod.Container, conditions ...PodCondition) Pod {
	return Pod{Name: "p", UID: "p", Phase: PodFailed,
		Detail: &PodDetail{Containers: containers, Conditions: conditions}}
}

// exited returns a container that ended with the code.
func exited(name string, kind jobpod.Kind, code int32) jobpod.Container {
	return jobpod.Container{Name: name, Kind: kind, State: jobpod.Terminated, ExitCode: code, FinishedAt: second(1)}
}

func TestJ21_FirstMatchDecides(t *testing.T) {
	policy := func(rules string) string { return `{"podFailurePolicy": {"rules": [` + rules + `]}}` }
	perIndex := func(rules string) string {
		return `{"completions": 2, "completionMode": "Indexed", "backoffLimitPerIndex": 1, "podFailurePolicy": {"rules": [` + rules + `]}}`
	}
	code := func(action, more string) string {
		return `{"action": "` + action + `", "onExitCodes": {` + more + `}}`
	}
	condition := func(action, more string) string {
		return `{"action": "` + action + `", "onPodConditions": [` + more + `]}`
	}

	in42 := `"operator": "In", "values": [42]`
	disrupted := PodCondition{Type: "DisruptionTarget", Status: ConditionTrue}
	main := func(codes ...int32) (out []jobpod.Container) {
		for _, c := range codes {
			out = append(out, exited("main", jobpod.App, c))
		}
		return out
	}

	counts := failure{counts: true}
	failJob := func(message string) failure { return failure{counts: true, action: FailJob, message: message} }
	exit := func(container, code, rule string) failure {
		return failJob("Container " + container + " for pod default/p failed with exit code " + code + " matching FailJob rule at index " + rule)
	}

	for _, test := range []struct {
		name string
		spec string
		pod  Pod
		want failure
	}{
		{"no policy: it counts", `{}`, failedPod(main(42)), counts},
		{"no rule: it counts", policy(``), failedPod(main(42)), counts},
		{"no rule matches: it counts", policy(code("Ignore", in42)), failedPod(main(1)), counts},
		{"an exit code that is listed", policy(code("FailJob", in42)), failedPod(main(42)), exit("main", "42", "0")},
		{"an exit code that is not listed", policy(code("FailJob", `"operator": "NotIn", "values": [1, 2]`)), failedPod(main(3)), exit("main", "3", "0")},
		{"NotIn and listed", policy(code("FailJob", `"operator": "NotIn", "values": [1, 3]`)), failedPod(main(3)), counts},
		{"a zero exit code matches nothing, not even NotIn", policy(code("FailJob", `"operator": "NotIn", "values": [1]`)), failedPod(main(0)), counts},
		{"a container that has not ended matches nothing", policy(code("FailJob", in42)),
			failedPod([]jobpod.Container{{Name: "main", State: jobpod.Running, ExitCode: 42}}), counts},
		{"an unknown operator matches nothing", policy(code("FailJob", `"operator": "Near", "values": [42]`)), failedPod(main(42)), counts},
		{"any container, without a name", policy(code("FailJob", in42)),
			failedPod([]jobpod.Container{exited("log", jobpod.App, 1), exited("main", jobpod.App, 42)}),
			exit("main", "42", "0")},
		{"another container, with a name", policy(code("FailJob", `"containerName": "main", `+in42)),
			failedPod([]jobpod.Container{exited("log", jobpod.App, 42), exited("main", jobpod.App, 1)}), counts},
		{"app containers are looked at before init containers", policy(code("FailJob", `"operator": "In", "values": [7, 42]`)),
			failedPod([]jobpod.Container{exited("setup", jobpod.Init, 7), exited("main", jobpod.App, 42)}),
			exit("main", "42", "0")},
		{"init containers are looked at", policy(code("FailJob", in42)),
			failedPod([]jobpod.Container{exited("setup", jobpod.Init, 42), exited("main", jobpod.App, 1)}),
			exit("setup", "42", "0")},
		{"sidecars are init containers", policy(code("FailJob", in42)),
			failedPod([]jobpod.Container{exited("proxy", jobpod.RestartableInit, 42)}), exit("proxy", "42", "0")},
		{"a condition that is True", policy(condition("Ignore", `{"type": "DisruptionTarget", "status": "True"}`)), failedPod(main(1), disrupted), failure{action: IgnoreFailure}},
		{"True is the default of a pattern", policy(condition("Ignore", `{"type": "DisruptionTarget"}`)), failedPod(main(1), disrupted), failure{action: IgnoreFailure}},
		{"a condition of another status", policy(condition("Ignore", `{"type": "DisruptionTarget"}`)),
			failedPod(main(1), PodCondition{Type: "DisruptionTarget", Status: ConditionFalse}), counts},
		{"a pattern that wants False", policy(condition("Count", `{"type": "Healthy", "status": "False"}`)),
			failedPod(main(1), PodCondition{Type: "Healthy", Status: ConditionFalse}),
			failure{counts: true, action: CountFailure}},
		{"a missing condition is not False", policy(condition("Count", `{"type": "Healthy", "status": "False"}`)), failedPod(main(1)), counts},
		{"the message names the condition", policy(condition("FailJob", `{"type": "Other"}, {"type": "DisruptionTarget"}`)), failedPod(main(1), disrupted),
			failJob("Pod default/p has condition DisruptionTarget matching FailJob rule at index 0")},
		{"the first rule that matches decides", policy(code("Count", in42) + "," + code("FailJob", in42)), failedPod(main(42)), failure{counts: true, action: CountFailure}},
		{"rules that do not match are passed", policy(condition("Ignore", `{"type": "DisruptionTarget"}`) + "," + code("FailJob", in42)), failedPod(main(42)), exit("main", "42", "1")},
		{"an action of a later version is passed", policy(code("Shrug", in42) + "," + code("FailJob", in42)), failedPod(main(42)), exit("main", "42", "1")},
		{"FailIndex where indexes are limited", perIndex(code("FailIndex", in42)), failedPod(main(42)), failure{counts: true, action: FailIndex}},
		{"FailIndex is passed where they are not", policy(code("FailIndex", in42) + "," + code("Ignore", in42)), failedPod(main(42)), failure{action: IgnoreFailure}},
	} {
		s := Snapshot{Job: Job{Namespace: "default", Spec: specOf(t, test.spec)}}
		policy := failurePolicyOf(&s, 0)
		Same(t, test.name, test.want, policy.judge(&test.pod), cmp.AllowUnexported(failure{}))
	}
}

// TestJ21_TheOldestDecides: of several pods that end the job, the oldest one gives the message
// (B3).
func TestJ21_TheOldestDecides(t *testing.T) {
	pod := func(name string, created int, tracked bool) Pod {
		p := failedPod([]jobpod.Container{exited("main", jobpod.App, 42)})
		p.Name, p.UID, p.Untracked, p.Detail.CreationTimestamp = name, UID(name), !tracked, second(created)
		return p
	}
	const spec = `{"completions": 3, "parallelism": 3, "podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]}}`
	for _, test := range []struct {
		name string
		pods []Pod
		want string
	}{
		{"by creation", []Pod{pod("a", 3, true), pod("b", 2, true)}, "b"},
		{"by UID", []Pod{pod("b", 2, true), pod("a", 2, true)}, "a"},
		{"one that was accounted for in a round that could not end the job", []Pod{pod("a", 3, true), pod("b", 2, false)}, "b"},
	} {
		plan := PlanOf(t, snapshotOf(t, spec, test.pods...))
		want := Verdict{ConditionFailureTarget, "PodFailurePolicy", "Container main for pod default/" + test.want + " failed with exit code 42 matching FailJob rule at index 0"}
		Same(t, test.name, want, plan.Verdict)
	}
}

// TestJ21_WhichPodsFailTheJob: a failed pod that matches ends the job, even if it is already
// accounted for. A terminating pod does not end the job before it has failed.
func TestJ21_WhichPodsFailTheJob(t *testing.T) {
	pod := func(change func(*Pod)) Pod {
		p := failedPod([]jobpod.Container{exited("main", jobpod.App, 42)})
		p.Name, p.UID, p.Untracked, p.Index = "a", "a", false, IndexAt(0)
		change(&p)
		return p
	}

	tests := []struct {
		name string
		pod  Pod
		want bool
	}{
		{"new", pod(func(*Pod) {}), true},
		{"recorded", pod(func(p *Pod) { p.UID = "recorded" }), true},
		{"without an index", pod(func(p *Pod) { p.Index = NoIndex() }), true},
		{"with an index out of range", pod(func(p *Pod) { p.Index = IndexAt(3) }), true},
		{"accounted for", pod(func(p *Pod) { p.Untracked = true }), true},
		{"with its removal in flight", pod(func(p *Pod) { p.UID = "in flight" }), true},
		{"terminating", pod(func(p *Pod) { p.Phase, p.Deletion = PodRunning, &PodDeletion{Timestamp: second(60)} }), false},
		{"another exit code", pod(func(p *Pod) { p.Detail.Containers[0].ExitCode = 1 }), false},
		{"another owner", pod(func(p *Pod) { p.Owner = jobpod.Foreign }), false},
	}
	const spec = `{"completions": 3, "completionMode": "Indexed", "podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]}}`

	for name, options := range bothOptions {
		for _, test := range tests {
			s := snapshotOf(t, spec, test.pod)
			s.Options = options
			s.Job.Status.UncountedTerminatedPods = &UncountedTerminatedPods{Failed: []UID{"recorded"}}
			s.Memory = Memory{JobUID: s.Job.UID, Untracking: expectations.NewUIDs("in flight")}
			if got := PlanOf(t, s).Verdict.Reason == "PodFailurePolicy"; got != test.want {
				t.Errorf("%s, %s: fails the job: %v, want %v", name, test.name, got, test.want)
			}
		}
	}
}

// TestJ21_SuccessFailsNoJob: a rule applies only to failed pods. It ignores a pod that has
// succeeded and is counted, even if a condition of this pod matches.
func TestJ21_SuccessFailsNoJob(t *testing.T) {
	const spec = `{"completions": 2, "parallelism": 1, "podFailurePolicy": {"rules": [
		{"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}}`
	for phase, decided := range map[PodPhase]bool{PodSucceeded: false, PodFailed: true} {
		pod := endedPod("a", phase)
		pod.Untracked = true
		pod.Detail = &PodDetail{CreationTimestamp: second(1),
			Conditions: []PodCondition{{Type: "DisruptionTarget", Status: ConditionTrue}}}
		plan := PlanOf(t, snapshotOf(t, spec, pod))
		if got := plan.Verdict.decided(); got != decided {
			t.Errorf("%s: the job ends: %v, want %v\n%s", phase, got, decided, plan.String())
		}
	}
}
