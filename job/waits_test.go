package job

import (
	"regexp"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
)

func TestB4_WaitsAreSentences(t *testing.T) {
	until := second(31)
	tests := []struct {
		wait Wait
		want string
	}{
		{Wait{Reason: jobreason.WaitBackoff, Pods: 2, Until: until, Failures: 1}, "2 pods wanted, held by backoff until 00:00:31: 1 failure since the last success"},
		{Wait{Reason: jobreason.WaitIndexBackoff, Pods: 1, Until: until}, "1 index held by backoff after own failures, the first until 00:00:31"},
		{Wait{Reason: jobreason.WaitIndexBackoff, Pods: 3, Until: until}, "3 indexes held by backoff after own failures, the first until 00:00:31"},
		{Wait{Reason: jobreason.WaitDeadline, Until: until}, "the deadline passes at 00:00:31"},
		{Wait{Reason: jobreason.WaitExpectations, Until: until}, "own writes not seen yet, at most until 00:00:31"},
		{Wait{Reason: jobreason.WaitReplacement, Pods: 1, Terminating: 2}, "1 pod wanted, held until terminating pods end: 2 terminating"},
		{Wait{Reason: jobreason.WaitPods, Pods: 1}, "1 active pod not finished"},
		{Wait{Reason: jobreason.WaitPods, Pods: 2}, "2 active pods not finished"},
		{Wait{Reason: jobreason.WaitSuspended}, "the job is suspended"},
		{Wait{Reason: jobreason.WaitTerminating, Terminating: 2}, "the end waits for terminating pods: 2 terminating"},
		{Wait{Reason: jobreason.WaitUncounted}, "more pods finished than one round records; the rest follows"},
		{Wait{Reason: jobreason.WaitObserved}, "the status that was written last is not seen yet"},
		{Wait{Reason: jobreason.WaitManagedBy, Name: "example.com/queue"}, `the job is managed by "example.com/queue"`},
		{Wait{Reason: jobreason.WaitDeleted}, "the job is being deleted"},
		{Wait{Reason: jobreason.WaitUnknownMode, Name: "Elastic"}, `completion mode "Elastic" is unknown`},
		{Wait{Reason: jobreason.WaitTimeout, Until: until}, "a pod that does not start or end is given up at 00:00:31"},
		{Wait{Reason: jobreason.WaitParallelism}, "parallelism is 0"},
		{Wait{Reason: jobreason.WaitAdoption, Pods: 1}, "pods are managed in the next round: 1 pod adopted in this one"},
		{Wait{Reason: jobreason.WaitFinished, Name: "Complete"}, "the job has ended: Complete"},
		{Wait{Reason: jobreason.WaitNext}, "the next round builds on what this one has written"},
	}
	have := map[jobreason.Wait]bool{}
	for _, test := range tests {
		have[test.wait.Reason] = true
		if got := test.wait.String(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
	// Every reason has a sentence. Any other number prints as "wait for reason".
	for r := jobreason.WaitBackoff; r <= jobreason.WaitNext; r++ {
		if text := (Wait{Reason: r}).String(); !have[r] || strings.HasPrefix(text, "wait for reason") {
			t.Errorf("reason %d: %q, in the table: %v", r, text, have[r])
		}
	}
	for _, r := range []jobreason.Wait{0, jobreason.WaitNext + 1} {
		if text := (Wait{Reason: r}).String(); !strings.HasPrefix(text, "wait for reason") {
			t.Errorf("reason %d has a sentence: %q", r, text)
		}
	}
}

// unnamed is the text of a value that has no name.
var unnamed = regexp.MustCompile(`^\w+\(\d+\)$`)

func TestB4_ReasonsAreSentences(t *testing.T) {
	sentences := map[string]bool{}
	check := func(kind, text string) {
		if sentences[text] || len(text) < 12 || strings.HasPrefix(text, "unspecified") ||
			unnamed.MatchString(text) {
			t.Errorf("%s: %q is not a sentence of its own", kind, text)
		}
		sentences[text] = true
	}

	for r := jobreason.DeleteEnding; r <= jobreason.DeletePending; r++ {
		check("delete", r.String())
	}
	for r := jobreason.CreateNew; r <= jobreason.CreateReplacementOfFailed; r++ {
		check("create", r.String())
	}

	for _, text := range []string{(jobreason.DeletePending + 1).String(),
		(jobreason.CreateReplacementOfFailed + 1).String()} {
		if !unnamed.MatchString(text) {
			t.Errorf("an unknown reason reads %q", text)
		}
	}
	if jobreason.Delete(0).String() != "unspecified" || jobreason.Create(0).String() != "unspecified" {
		t.Error("the zero values have a sentence")
	}
}

func TestEnumsHaveNames(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{jobreason.NotCounted.String(), "not counted"},
		{jobreason.AlreadyRecorded.String(), "recorded earlier"},
		{(jobreason.AlreadyRecorded + 1).String(), "Counted(5)"},
		{jobreason.ResultRefused.String(), "refused"},
		{jobreason.ResultStillTracked.String(), "still tracked"},
		{(jobreason.ResultRefused + 1).String(), "Result(6)"},
		{PodFailed.String(), "Failed"},
		{(PodFailed + 1).String(), "PodPhase(5)"},
		{jobpod.Foreign.String(), "Foreign"},
		{(jobpod.Foreign + 1).String(), "Ownership(4)"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}
