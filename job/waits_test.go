package job

import (
	"strings"
	"testing"
)

func TestB4_WaitsAreSentences(t *testing.T) {
	until := second(31)
	tests := []struct {
		wait Wait
		want string
	}{
		{Wait{Reason: WaitBackoff, Pods: 2, Until: until, Failures: 1}, "2 pods wanted, held by backoff until 00:00:31: 1 failure since the last success"},
		{Wait{Reason: WaitIndexBackoff, Pods: 1, Until: until}, "1 index held by backoff after own failures, the first until 00:00:31"},
		{Wait{Reason: WaitIndexBackoff, Pods: 3, Until: until}, "3 indexes held by backoff after own failures, the first until 00:00:31"},
		{Wait{Reason: WaitDeadline, Until: until}, "the deadline passes at 00:00:31"},
		{Wait{Reason: WaitExpectations, Until: until}, "own writes not seen yet, at most until 00:00:31"},
		{Wait{Reason: WaitReplacement, Pods: 1, Terminating: 2}, "1 pod wanted, held until terminating pods end: 2 terminating"},
		{Wait{Reason: WaitPods, Pods: 1}, "1 active pod not finished"},
		{Wait{Reason: WaitPods, Pods: 2}, "2 active pods not finished"},
		{Wait{Reason: WaitSuspended}, "the job is suspended"},
		{Wait{Reason: WaitTerminating, Terminating: 2}, "the end waits for terminating pods: 2 terminating"},
		{Wait{Reason: WaitUncounted}, "more pods finished than one round records; the rest follows"},
		{Wait{Reason: WaitObserved}, "the status that was written last is not seen yet"},
		{Wait{Reason: WaitManagedBy, Name: "example.com/queue"}, `the job is managed by "example.com/queue"`},
		{Wait{Reason: WaitDeleted}, "the job is being deleted"},
		{Wait{Reason: WaitUnknownMode, Name: "Elastic"}, `completion mode "Elastic" is unknown`},
		{Wait{Reason: WaitTimeout, Until: until}, "a pod that does not start or end is given up at 00:00:31"},
		{Wait{Reason: WaitParallelism}, "parallelism is 0"},
		{Wait{Reason: WaitAdoption, Pods: 1}, "pods are managed in the next round: 1 pod adopted in this one"},
		{Wait{Reason: WaitFinished, Name: "Complete"}, "the job has ended: Complete"},
		{Wait{Reason: WaitNext}, "the next round builds on what this one has written"},
	}
	have := map[WaitReason]bool{}
	for _, test := range tests {
		have[test.wait.Reason] = true
		if got := test.wait.String(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
	// Every reason has a sentence, and any other number says that it has none.
	for r := WaitBackoff; r <= WaitNext; r++ {
		if text := (Wait{Reason: r}).String(); !have[r] || strings.HasPrefix(text, "wait for reason") {
			t.Errorf("reason %d: %q, in the table: %v", r, text, have[r])
		}
	}
	for _, r := range []WaitReason{0, WaitNext + 1} {
		if text := (Wait{Reason: r}).String(); !strings.HasPrefix(text, "wait for reason") {
			t.Errorf("reason %d has a sentence: %q", r, text)
		}
	}
}

func TestB4_ReasonsAreSentences(t *testing.T) {
	sentences := map[string]bool{}
	check := func(kind, text string) {
		if sentences[text] || len(text) < 12 || strings.HasPrefix(text, "unspecified") || strings.Contains(text, "Reason(") {
			t.Errorf("%s: %q is not a sentence of its own", kind, text)
		}
		sentences[text] = true
	}
	for r := DeleteEnding; r <= DeletePending; r++ {
		check("delete", r.String())
	}
	for r := CreateNew; r <= CreateReplacementOfFailed; r++ {
		check("create", r.String())
	}
	for _, text := range []string{(DeletePending + 1).String(), (CreateReplacementOfFailed + 1).String()} {
		if !strings.Contains(text, "Reason(") {
			t.Errorf("an unknown reason reads %q", text)
		}
	}
	if DeleteReason(0).String() != "unspecified" || CreateReason(0).String() != "unspecified" {
		t.Error("the zero values have a sentence")
	}
}

func TestEnumsHaveNames(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{NotCounted.String(), "not counted"},
		{AlreadyRecorded.String(), "recorded earlier"},
		{(AlreadyRecorded + 1).String(), "CountedAs(5)"},
		{ResultRefused.String(), "refused"},
		{ResultNameTaken.String(), "name taken"},
		{(ResultNameTaken + 1).String(), "Result(8)"},
		{PodFailed.String(), "Failed"},
		{(PodFailed + 1).String(), "PodPhase(5)"},
		{Foreign.String(), "Foreign"},
		{(Foreign + 1).String(), "Ownership(4)"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}
