package job

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/job/release"
)

// sum prints a plan and the status that follows from it in one line.
func sum(p *Plan) string {
	end := p.Conclude(doneAll(p))
	out := []string{fmt.Sprintf("creates %d", len(p.Create))}
	for _, d := range p.Delete {
		out = append(out, "deletes "+d.Name)
	}
	s := &end.Status
	out = append(out, fmt.Sprintf("active %d", s.Active))
	if s.Failed > 0 {
		out = append(out, fmt.Sprintf("failed %d", s.Failed))
	}
	if s.Terminating != nil {
		out = append(out, fmt.Sprintf("terminating %d", *s.Terminating))
	}
	if s.StartTime.IsZero() {
		out = append(out, "not started")
	}
	for _, c := range s.Conditions {
		out = append(out, fmt.Sprintf("%s %s", c.Type, c.Reason))
	}
	return strings.Join(out, ", ")
}

// TestReleases checks the effect of each gate, and of each quirk of old releases. It plans the same
// snapshot twice: in a release with the gate or quirk, and in one without it.
func TestReleases(t *testing.T) {
	leaving := activePod("l")
	leaving.Deletion = &PodDeletion{Timestamp: second(60)}
	won, lost := endedPod("w", PodSucceeded), endedPod("f", PodFailed)
	ready := activePod("r")
	ready.Ready = true
	restarted, younger := activePod("a"), activePod("b")
	restarted.Detail = &PodDetail{CreationTimestamp: second(1),
		Containers: []jobpod.Container{{Name: "s", Kind: jobpod.RestartableInit, Restarts: 3}}}
	younger.Detail = &PodDetail{CreationTimestamp: second(2)}

	late := endedPod("x", PodFailed)
	late.Detail = &PodDetail{CreationTimestamp: second(0), Containers: []jobpod.Container{
		{Name: "app", State: jobpod.Terminated, FinishedAt: second(5), ExitCode: 1},
		{Name: "side", Kind: jobpod.RestartableInit, State: jobpod.Terminated, FinishedAt: second(9)},
	}}

	const policy = `{"podFailurePolicy": {"rules": [{"action": "FailIndex", "onExitCodes": {"operator": "NotIn", "values": [0]}},
		{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}]}, "completionMode": "Indexed", "completions": 2, "parallelism": 1,
		"backoffLimitPerIndex": 1}`
	broken := ofIndex(failedPod([]jobpod.Container{exited("main", jobpod.App, 1)}), 0)

	for _, test := range []struct {
		name, spec string
		change     func(*Snapshot)
		pods       []Pod
		want       map[string]string
	}{
		{"another manager", `{"managedBy": "example.com/x"}`, nil, nil, map[string]string{
			"1.31": "creates 1, active 1, terminating 0", "1.32": "creates 0, active 0, not started",
			"1.32,JobManagedBy=false": "creates 1, active 1, terminating 0",
		}},
		{"a terminating pod", `{"podReplacementPolicy": "Failed"}`, nil, []Pod{leaving}, map[string]string{
			"1.33": "creates 0, active 0, terminating 1", "1.33,JobPodReplacementPolicy=false": "creates 0, active 0, failed 1",
		}},
		{"a failure while a pod runs", `{"backoffLimit": 0, "parallelism": 2, "completions": 2}`, nil, []Pod{lost, activePod("a")}, map[string]string{
			"1.31":                               "creates 0, deletes a, active 0, failed 2, terminating 1, FailureTarget BackoffLimitExceeded",
			"1.31,JobPodReplacementPolicy=false": "creates 0, deletes a, active 0, failed 2, Failed BackoffLimitExceeded",
			"1.33,JobPodReplacementPolicy=false": "creates 0, deletes a, active 0, failed 2, FailureTarget BackoffLimitExceeded",
		}},
		{"a success", `{"completions": 1}`, nil, []Pod{won}, map[string]string{
			"1.36":                        "creates 0, active 0, terminating 0, SuccessCriteriaMet CompletionsReached, Complete CompletionsReached",
			"1.32,JobSuccessPolicy=false": "creates 0, active 0, terminating 0, SuccessCriteriaMet , Complete ",
			"1.33,JobManagedBy=false,JobPodReplacementPolicy=false": "creates 0, active 0, Complete CompletionsReached",
		}},
		{"a success while a pod terminates", `{"completions": 1, "podFailurePolicy": {"rules": []}}`, nil, []Pod{won, leaving}, map[string]string{
			"1.33": "creates 0, active 0, terminating 1, SuccessCriteriaMet CompletionsReached",
			"1.33,JobManagedBy=false,JobPodReplacementPolicy=false": "creates 0, active 0, failed 1, Complete CompletionsReached",
		}},
		{"a success while a surplus pod is deleted", `{"completions": 1, "parallelism": 2}`, nil, []Pod{won, activePod("a")}, map[string]string{
			"1.33": "creates 0, deletes a, active 0, terminating 1, SuccessCriteriaMet CompletionsReached",
			"1.33,JobManagedBy=false,JobPodReplacementPolicy=false": "creates 0, deletes a, active 0, failed 1, Complete CompletionsReached",
		}},
		{"a success policy", `{"completionMode": "Indexed", "completions": 2, "parallelism": 2, "successPolicy": {"rules": [{"succeededCount": 1}]}}`, nil,
			[]Pod{ofIndex(won, 0)}, map[string]string{
				"1.33":                        "creates 0, active 0, terminating 0, SuccessCriteriaMet SuccessPolicy, Complete SuccessPolicy",
				"1.31,JobSuccessPolicy=false": "creates 1, active 1, terminating 0",
				"1.33,JobManagedBy=false,JobPodReplacementPolicy=false": "creates 0, active 0, SuccessCriteriaMet SuccessPolicy, Complete SuccessPolicy",
			}},
		{"a declared success", `{}`, func(s *Snapshot) {
			s.Job.Status.Conditions = []Condition{{Type: ConditionSuccessCriteriaMet, Status: ConditionTrue,
				Reason: "before"}}
		}, nil, map[string]string{
			"1.31":                               "creates 0, active 0, terminating 0, SuccessCriteriaMet before, Complete before",
			"1.31,JobPodReplacementPolicy=false": "creates 0, active 0, SuccessCriteriaMet before, Complete before",
			"1.31,JobPodReplacementPolicy=false,JobSuccessPolicy=false": "creates 1, active 1, SuccessCriteriaMet before",
		}},
		{"a failed index", policy, nil, []Pod{broken}, map[string]string{
			"1.36":                               "creates 1, active 1, failed 1, terminating 0",
			"1.32,JobBackoffLimitPerIndex=false": "creates 0, active 0, failed 1, terminating 0, FailureTarget PodFailurePolicy, Failed PodFailurePolicy",
		}},
		{"a ready pod during a backoff", `{"parallelism": 2, "completions": 2}`, func(s *Snapshot) {
			s.Memory = Memory{JobUID: s.Job.UID, Backoff: backoff.Record{Failures: 1, LastFailure: s.Now}}
		}, []Pod{ready}, map[string]string{
			"1.34.9": "creates 0, active 0, terminating 0", "1.34.10": "creates 0, active 1, terminating 0",
			"1.35.7": "creates 0, active 0, terminating 0", "1.35": "creates 0, active 1, terminating 0",
		}},
		{"suspended", `{"suspend": true}`, func(s *Snapshot) { s.Job.Status.StartTime = second(0) }, nil, map[string]string{
			"1.34": "creates 0, active 0, terminating 0, Suspended JobSuspended",
			"1.36": "creates 0, active 0, terminating 0, not started, Suspended JobSuspended",
			"1.35,MutableSchedulingDirectivesForSuspendedJobs=true": "creates 0, active 0, terminating 0, not started, Suspended JobSuspended",
		}},
		{"ended and not seen", `{}`, func(s *Snapshot) { s.Memory = Memory{JobUID: s.Job.UID, Finished: true} }, nil, map[string]string{
			"1.33": "creates 1, active 1, terminating 0", "1.34": "creates 0, active 0, terminating 0",
		}},
		{"restarts of a sidecar", `{"parallelism": 1, "completions": 2}`, nil, []Pod{restarted, younger}, map[string]string{
			"1.31": "creates 0, deletes b, active 1, terminating 1", "1.32": "creates 0, deletes a, active 1, terminating 1",
			"1.32,SidecarContainers=false": "creates 0, deletes a, active 1, terminating 1",
		}},
		{"a sidecar that ends later", `{}`, func(s *Snapshot) { s.Now = second(17) }, []Pod{late}, map[string]string{
			"1.32,SidecarContainers=false": "creates 1, active 1, failed 1, terminating 0", "1.32": "creates 0, active 0, failed 1, terminating 0",
		}},
	} {
		for text, want := range test.want {
			r, err := release.Parse(text)
			if err != nil {
				t.Fatal(err)
			}

			s := snapshotOf(t, test.spec, test.pods...)
			if test.change != nil {
				test.change(&s)
			}
			s.Options = Kubernetes(r)
			if got := sum(PlanOf(t, s)); got != want {
				t.Errorf("%s, %s:\n%s, want\n%s", test.name, text, got, want)
			}
		}
	}
}

// TestReleases_IndexLabel: without the gate, only the annotation has the index.
func TestReleases_IndexLabel(t *testing.T) {
	s := snapshotOf(t, `{"completionMode": "Indexed", "completions": 1}`)
	s.Options.Without = release.GatesOf(release.PodIndexLabel)
	c := PlanOf(t, s).Create[0]
	if c.Labels() != nil || c.IndexPath() != "metadata.annotations['batch.kubernetes.io/job-completion-index']" ||
		c.Annotations()[indexAnnotation] != "0" {
		t.Errorf("labels %v, variable from %s", c.Labels(), c.IndexPath())
	}
	s.Options.Without = release.Gates{}
	if c = PlanOf(t, s).Create[0]; c.Labels() == nil ||
		c.IndexPath() != "metadata.labels['batch.kubernetes.io/job-completion-index']" {
		t.Errorf("labels %v, variable from %s", c.Labels(), c.IndexPath())
	}
}

// TestReleases_Metrics: without the gate, the metrics count a replacement as a new pod.
func TestReleases_Metrics(t *testing.T) {
	s := snapshotOf(t, `{"parallelism": 1, "completions": 1}`, endedPod("f", PodFailed))
	s.Now = s.Now.Add(time.Hour)
	for r, want := range map[release.Gates]jobreason.Create{{}: jobreason.CreateReplacement,
		release.GatesOf(release.JobPodReplacementPolicy): jobreason.CreateNew} {
		s.Options.Without = r
		p := PlanOf(t, s)
		if m := p.Conclude(doneAll(p)).Metrics; m.CreateReason != want || m.PodsCreated != 1 {
			t.Errorf("without %v: %+v, want %v", r, m, want)
		}
	}
}

// TestKubernetes: older releases have more quirks than the newest one.
func TestKubernetes(t *testing.T) {
	if Kubernetes(release.Newest()) != (Options{Quirks: jobquirk.Of(release.V137())}) {
		t.Errorf("%+v", Kubernetes(release.Newest()))
	}
	if o := Kubernetes(release.V135().At(4)); !o.Quirks.Has(jobquirk.HeldIsIdle) || o.Quirks.Has(jobquirk.UnseenEnd) ||
		o.Without.Has(release.JobManagedBy) {
		t.Errorf("%+v", o)
	}
}
