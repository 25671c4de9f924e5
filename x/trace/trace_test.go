package trace_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/trace"
)

const (
	plain    = `"parallelism":1,"completions":2,"backoffLimit":6`
	indexed  = `"parallelism":2,"completions":3,"completionMode":"Indexed","backoffLimit":6`
	ignoring = plain + `,"podFailurePolicy":{"rules":[{"action":"Ignore","onExitCodes":{"operator":"In","values":[2]}},
		{"action":"FailJob","onExitCodes":{"operator":"In","values":[3]}}]}`
	perIndex = `"parallelism":2,"completions":3,"completionMode":"Indexed","backoffLimitPerIndex":2`
)

func index(i int) string { return fmt.Sprintf(`"batch.kubernetes.io/job-completion-index":"%d"`, i) }

// first creates a job with a running pod.
func first(s *story, spec string, annotations string) {
	s.job("j", spec)
	s.pod("a", "j", annotations)
	s.started("j", 1)
	s.runs("a")
}

// refused tells of a job whose pod fails. Then its status counts a new pod, which is not there.
func refused(s *story, meanwhile func()) {
	first(s, plain, "")
	s.ends("a", "Failed")
	s.list("j", "a", "failed")
	s.untrack("a")
	meanwhile()
	s.status("j", `"uncountedTerminatedPods":{"failed":null},"failed":1,"active":1`)
}

// succeeds makes a pod succeed, and counts it as the first success.
func succeeds(s *story, pod string) {
	s.ends(pod, "Succeeded")
	s.list("j", pod, "succeeded")
	s.untrack(pod)
	s.status("j", `"uncountedTerminatedPods":{"succeeded":null},"succeeded":1,"active":null`)
}

// fails makes a pod fail, and counts it as the n-th failure.
func fails(s *story, pod string, n int) {
	s.ends(pod, "Failed")
	s.list("j", pod, "failed")
	s.untrack(pod)
	s.status("j", `"uncountedTerminatedPods":{"failed":null},"failed":%d,"active":null`, n)
}

func complete(s *story) {
	first(s, plain, "")
	succeeds(s, "a")
	s.end("j", "SuccessCriteriaMet", "Complete", fmt.Sprintf(`,"completionTime":%q`, s.time(0)))
}

func everyMinute(s *story, more string) {
	s.cronJob("c", `"schedule":"* * * * *"`+more)
	s.wait(time.Minute)
}

// ended ends the job of a run.
func ended(s *story, name string) {
	s.status(name, `"startTime":%q,"active":1`, s.time(0))
	s.wait(10 * time.Second)
	s.end(name, "SuccessCriteriaMet", "Complete", fmt.Sprintf(`,"completionTime":%q`, s.time(0)))
}

// replaced creates a job with two indexes that run. A pod that terminates is replaced in index 0.
func replaced(s *story, spec string) {
	first(s, spec, index(0)+`,"batch.kubernetes.io/job-index-failure-count":"0"`)
	s.pod("b", "j", index(1)+`,"batch.kubernetes.io/job-index-failure-count":"0"`)
	s.runs("b")
	s.remove("a")
	s.pod("a2", "j", index(0)+`,"batch.kubernetes.io/job-index-failure-count":"1"`)
	s.runs("a2")
}

// evicted creates a job with three indexes that run. The pod of index 0 is deleted, ends in the
// phase that argument before names, is counted, and ends in the phase that argument after names. An
// empty phase is left out.
func evicted(s *story, before, after string) {
	first(s, indexed+`,"parallelism":3`, index(0))
	s.pod("b", "j", index(1))
	s.pod("c", "j", index(2))
	s.status("j", `"active":3`)
	s.remove("a")
	if before != "" {
		s.ends("a", before)
	}
	s.status("j", `"active":2,"uncountedTerminatedPods":{"failed":[%q]}`, s.uid("Pod/a"))
	if after != "" {
		s.ends("a", after)
	}
	s.untrack("a")
}

// history makes n jobs for a CronJob that keeps three. All of the jobs have ended, the last of them
// just now.
func history(s *story, n int, spec string) (names []string) {
	everyMinute(s, `,"successfulJobsHistoryLimit":3`)
	for minute := 1; minute <= n; minute++ {
		s.now = time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC)
		name := s.runAt("c", minute)
		s.spec("Job", name, `"suspend":false`+spec)
		ended(s, name)
		names = append(names, name)
	}
	s.wait(5 * time.Second)
	s.job("clock", plain)
	return names
}

// TestCheck: each case is a small log with the first rule that it breaks. A correct log breaks none.
func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name string
		want string // "" for none
		tell func(s *story)
	}{
		{"a job completes", "", complete},
		{"a pod fails and is replaced after the backoff", "", func(s *story) {
			first(s, plain, "")
			fails(s, "a", 1)
			s.wait(10 * time.Second)
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"failed goes back", "JI4", func(s *story) {
			first(s, plain, "")
			fails(s, "a", 1)
			s.status("j", `"failed":0`)
		}},
		{"succeeded rises without a pod", "JI1", func(s *story) {
			first(s, plain, "")
			s.status("j", `"succeeded":1`)
		}},
		{"a counted pod is listed again", "JI1", func(s *story) {
			first(s, plain, "")
			succeeds(s, "a")
			s.gone("Pod", "a")
			s.status("j", `"uncountedTerminatedPods":{"succeeded":[%q]}`, "uid-a-102")
		}},
		{"a running pod is listed as succeeded", "JI1", func(s *story) {
			first(s, plain, "")
			s.list("j", "a", "succeeded")
		}},
		{"a running pod is listed as failed", "J27", func(s *story) {
			first(s, plain, "")
			s.list("j", "a", "failed")
		}},
		{"a pod that is being deleted is listed as failed", "", func(s *story) {
			first(s, plain, "")
			s.remove("a")
			s.list("j", "a", "failed")
		}},
		{"a pod is counted with its finalizer", "JI3", func(s *story) {
			first(s, plain, "")
			s.ends("a", "Succeeded")
			s.list("j", "a", "succeeded")
			s.status("j", `"uncountedTerminatedPods":{"succeeded":null},"succeeded":1`)
		}},
		{"a success is lost", "JI3", func(s *story) {
			first(s, plain, "")
			s.ends("a", "Succeeded")
			s.untrack("a")
			s.status("j", `"active":null`)
		}},
		{"a surplus pod succeeds before its deletion", "", func(s *story) {
			first(s, plain, "")
			s.ends("a", "Succeeded")
			s.untrack("a")
			s.gone("Pod", "a")
			s.status("j", `"active":null`)
		}},
		{"a pod of another job is listed", "JI22", func(s *story) {
			s.job("other", plain)
			s.pod("b", "other", "")
			s.ends("b", "Succeeded")
			first(s, plain, "")
			s.list("j", "b", "succeeded")
		}},
		{"a UID is listed twice", "JI2", func(s *story) {
			first(s, plain, "")
			s.ends("a", "Succeeded")
			s.status("j", `"uncountedTerminatedPods":{"succeeded":[%q,%[1]q]}`, s.uid("Pod/a"))
		}},
		{"Complete without SuccessCriteriaMet", "JI15", func(s *story) {
			first(s, plain, "")
			succeeds(s, "a")
			s.status("j", `"conditions":[{"type":"Complete","status":"True"}],"completionTime":%q`, s.time(0))
		}},
		{"Complete without completionTime", "JI17", func(s *story) {
			first(s, plain, "")
			succeeds(s, "a")
			s.end("j", "SuccessCriteriaMet", "Complete", "")
		}},
		{"FailureTarget is withdrawn", "JI14", func(s *story) {
			first(s, plain, "")
			s.condition("j", "FailureTarget", "True")
			s.condition("j", "FailureTarget", "False")
		}},
		{"the end with a pod that is active", "JI8", func(s *story) {
			first(s, plain, "")
			s.end("j", "FailureTarget", "Failed", `,"active":1`)
		}},
		{"the status changes after the end", "JI16", func(s *story) {
			complete(s)
			s.status("j", `"succeeded":2`)
		}},
		{"more ready than active", "JI20", func(s *story) {
			first(s, plain, "")
			s.status("j", `"ready":2`)
		}},
		{"the start time changes", "JI17", func(s *story) {
			first(s, plain, "")
			s.status("j", `"startTime":%q`, s.time(time.Hour))
		}},
		{"Suspended without spec.suspend", "J39", func(s *story) {
			first(s, plain, "")
			s.condition("j", "Suspended", "True")
		}},
		{"a completed index gets lost", "JI6", func(s *story) {
			first(s, `"parallelism":3,"completions":3,"completionMode":"Indexed"`, index(0))
			s.status("j", `"completedIndexes":"0-2","succeeded":3`)
			s.status("j", `"completedIndexes":"0,1","succeeded":2`)
		}},
		{"a pod too many", "JI10", func(s *story) {
			first(s, plain, "")
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"parallelism was lower before", "", func(s *story) {
			first(s, plain, "")
			s.spec("Job", "j", `"parallelism":2`)
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"parallelism was just lowered", "", func(s *story) {
			s.job("j", `"parallelism":2,"completions":4`)
			s.spec("Job", "j", `"parallelism":1`)
			s.pod("a", "j", "")
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"parallelism was lowered, as the controller knows", "JI10", func(s *story) {
			s.job("j", `"parallelism":2,"completions":4`)
			s.spec("Job", "j", `"parallelism":1`)
			s.pod("a", "j", "")
			s.started("j", 1)
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"more pods than completions need", "JI10", func(s *story) {
			first(s, `"parallelism":2,"completions":1`, "")
			s.ends("a", "Succeeded")
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"a pod beside a terminating one that it replaces", "JI11", func(s *story) {
			first(s, plain+`,"podReplacementPolicy":"Failed"`, "")
			s.remove("a")
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"a pod of a work queue after a success", "J29", func(s *story) {
			first(s, `"parallelism":2`, "")
			succeeds(s, "a")
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"an index twice", "JI13", func(s *story) {
			first(s, indexed, index(0))
			s.pod("b", "j", index(0))
			s.runs("b")
		}},
		{"an index that has succeeded", "JI7", func(s *story) {
			first(s, indexed, index(0))
			s.ends("a", "Succeeded")
			s.status("j", `"completedIndexes":"0","succeeded":1,"active":null`)
			s.untrack("a")
			s.pod("b", "j", index(0))
			s.runs("b")
		}},
		{"an index out of range", "J33", func(s *story) {
			first(s, indexed, index(3))
		}},
		{"a pod without an index", "J33", func(s *story) {
			first(s, indexed, "")
		}},
		{"a pod while suspended", "JI18", func(s *story) {
			s.job("j", plain+`,"suspend":true`)
			s.condition("j", "Suspended", "True")
			s.pod("a", "j", "")
			s.runs("a")
		}},
		{"a pod after the suspension, before the controller has seen it", "", func(s *story) {
			s.job("j", plain)
			s.spec("Job", "j", `"suspend":true`)
			s.pod("a", "j", "")
			s.runs("a")
		}},
		{"a pod after FailureTarget", "J20", func(s *story) {
			first(s, plain, "")
			s.condition("j", "FailureTarget", "True")
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"a pod after SuccessCriteriaMet", "J19", func(s *story) {
			first(s, plain, "")
			s.condition("j", "SuccessCriteriaMet", "True")
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"a pod after the end", "JI16", func(s *story) {
			complete(s)
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"a pod beyond the backoffLimit", "JI21", func(s *story) {
			first(s, `"parallelism":1,"completions":2,"backoffLimit":0`, "")
			fails(s, "a", 1)
			s.wait(time.Hour)
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"a pod before the backoff is over", "JI21", func(s *story) {
			first(s, plain, "")
			fails(s, "a", 1)
			s.wait(5 * time.Second)
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"a pod before the second backoff is over", "JI21", func(s *story) {
			first(s, plain, "")
			fails(s, "a", 1)
			s.wait(10 * time.Second)
			s.pod("b", "j", "")
			s.runs("b")
			fails(s, "b", 2)
			s.wait(12 * time.Second)
			s.pod("c", "j", "")
			s.runs("c")
		}},
		{"an index before its backoff is over", "JI21", func(s *story) {
			first(s, perIndex, index(0)+`,"batch.kubernetes.io/job-index-failure-count":"1"`)
			s.ends("a", "Failed")
			s.wait(11 * time.Second)
			s.pod("b", "j", index(0)+`,"batch.kubernetes.io/job-index-failure-count":"2"`)
			s.runs("b")
		}},
		{"an index forgets its failures", "JI21", func(s *story) {
			first(s, perIndex, index(0)+`,"batch.kubernetes.io/job-index-failure-count":"1"`)
			s.ends("a", "Failed")
			s.wait(time.Hour)
			s.pod("b", "j", index(0)+`,"batch.kubernetes.io/job-index-failure-count":"1"`)
			s.runs("b")
		}},
		{"a success is listed as failed", "JI1", func(s *story) {
			first(s, plain, "")
			s.ends("a", "Succeeded")
			s.list("j", "a", "failed")
		}},
		{"a pod succeeds while it is being deleted, and is listed as failed", "", func(s *story) {
			first(s, plain, "")
			s.remove("a")
			s.ends("a", "Succeeded")
			s.list("j", "a", "failed")
		}},
		{"a pod succeeds before the job's failure deletes it", "", func(s *story) {
			first(s, plain, "")
			s.ends("a", "Succeeded")
			s.remove("a")
			s.status("j", `"uncountedTerminatedPods":{"failed":[%q]},"active":null,"conditions":[
				{"type":"FailureTarget","status":"True","reason":"R"}]`, s.uid("Pod/a"))
		}},
		{"an index whose pod terminates is replaced, and the pod is counted", "", func(s *story) {
			replaced(s, perIndex)
			s.status("j", `"active":2,"uncountedTerminatedPods":{"failed":[%q]}`, s.uid("Pod/a"))
		}},
		{"a pod terminates when the successPolicy ends the job, and is counted", "", func(s *story) {
			first(s, perIndex+`,"successPolicy":{"rules":[{"succeededIndexes":"1"}]}`, index(0))
			s.pod("b", "j", index(1))
			s.remove("a")
			s.ends("b", "Succeeded")
			s.status("j", `"active":null,"succeeded":1,"completedIndexes":"1","uncountedTerminatedPods":{"failed":[%q]},
				"conditions":[{"type":"SuccessCriteriaMet","status":"True","reason":"SuccessPolicy"}]`, s.uid("Pod/a"))
		}},
		{"an index whose pod terminates is to wait for the end of the pod", "J7", func(s *story) {
			replaced(s, perIndex+`,"parallelism":3,"podReplacementPolicy":"Failed"`)
			s.status("j", `"active":2,"uncountedTerminatedPods":{"failed":[%q]}`, s.uid("Pod/a"))
		}},
		{"an index is listed as succeeded", "J9", func(s *story) {
			first(s, indexed, index(0))
			s.ends("a", "Succeeded")
			s.list("j", "a", "succeeded")
		}},
		{"a pod without an end is listed as failed, and is to end before it is replaced", "J7", func(s *story) {
			first(s, plain+`,"podReplacementPolicy":"Failed"`, "")
			s.remove("a")
			s.list("j", "a", "failed")
		}},
		{"an index waits for its replacement, and is counted with the end", "", func(s *story) {
			first(s, perIndex, index(0)+`,"batch.kubernetes.io/job-index-failure-count":"1"`)
			s.ends("a", "Failed")
			s.list("j", "a", "failed")
		}},
		{"an ignored failure is counted", "J10", func(s *story) {
			first(s, ignoring, "")
			s.exits("a", 2)
			s.list("j", "a", "failed")
		}},
		{"a failure is counted that the policy does not ignore", "", func(s *story) {
			first(s, ignoring, "")
			s.exits("a", 1)
			s.list("j", "a", "failed")
		}},
		{"a failure is counted before the condition for which it is ignored", "", func(s *story) {
			first(s, plain+`,"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}]}]}`, "")
			s.exits("a", 1)
			s.put("MODIFIED", "Pod", "a", s.parse(`"status":{"conditions":[{"type":"DisruptionTarget","status":"True"}]}`))
			s.list("j", "a", "failed")
		}},
		{"a failure that ends the job is counted, and the job continues", "J21", func(s *story) {
			first(s, ignoring, "")
			s.exits("a", 3)
			s.list("j", "a", "failed")
		}},
		{"a failure that ends the job is counted, and the job ends", "", func(s *story) {
			first(s, ignoring, "")
			s.exits("a", 3)
			s.status("j", `"uncountedTerminatedPods":{"failed":[%q]},"active":null,"conditions":[
				{"type":"FailureTarget","status":"True","reason":"PodFailurePolicy"}]`, s.uid("Pod/a"))
		}},
		{"a pod in place of one whose failure ends the job", "J21", func(s *story) {
			first(s, ignoring, "")
			s.exits("a", 3)
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"a pod that was planned before the failure that ends the job", "", func(s *story) {
			first(s, ignoring+`,"parallelism":2`, "")
			s.exits("a", 3)
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"a pod in place of one that another client removed after the failure", "", func(s *story) {
			first(s, ignoring, "")
			s.exits("a", 3)
			s.untrack("a")
			s.gone("Pod", "a")
			s.wait(time.Minute)
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"a pod in place of one that is gone after its failure", "", func(s *story) {
			first(s, ignoring, "")
			s.exits("a", 3)
			s.gone("Pod", "a")
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"a UID that no pod has had", "JI22", func(s *story) {
			first(s, plain, "")
			s.status("j", `"uncountedTerminatedPods":{"failed":["nobody"]}`)
		}},
		{"a UID of a pod that is gone", "", func(s *story) {
			first(s, plain, "")
			s.remove("a")
			uid := s.uid("Pod/a")
			s.gone("Pod", "a")
			s.status("j", `"uncountedTerminatedPods":{"failed":[%q]}`, uid)
		}},
		{"active counts more pods than there were", "J11", func(s *story) {
			first(s, `"parallelism":10,"completions":10`, "")
			s.pod("b", "j", "")
			s.status("j", `"active":10`)
		}},
		{"active counts pods that are gone", "", func(s *story) {
			first(s, `"parallelism":2,"completions":2`, "")
			s.pod("b", "j", "")
			s.remove("b")
			s.gone("Pod", "b")
			s.status("j", `"active":2`)
		}},
		{"active counts refused creations in a namespace that ends", "", func(s *story) {
			refused(s, func() { s.ending("default") })
		}},
		{"active counts refused creations while another namespace ends", "J11", func(s *story) {
			refused(s, func() { s.ending("other") })
		}},
		{"active counts refused creations before the namespace ends", "J11", func(s *story) {
			refused(s, func() {})
			s.ending("default")
		}},
		{"active counts refused creations in a namespace that is there again", "J11", func(s *story) {
			s.ending("default")
			s.gone("Namespace", "default")
			s.put("ADDED", "Namespace", "default", nil)
			refused(s, func() {})
		}},
		{"active counts a pod that a status has listed", "J11", func(s *story) {
			first(s, plain, "")
			s.ends("a", "Succeeded")
			s.list("j", "a", "succeeded")
			s.untrack("a")
			s.status("j", `"uncountedTerminatedPods":{"succeeded":null},"succeeded":1,"active":1`)
		}},
		{"active counts the pods besides one that was listed as failed and then succeeds", "", func(s *story) {
			evicted(s, "", "Succeeded")
			s.status("j", `"active":2,"failed":1,"uncountedTerminatedPods":{"failed":null},"succeeded":1,"completedIndexes":"0"`)
			s.status("j", `"active":2,"ready":1`)
		}},
		{"active counts the pods besides one whose success the controller saw late", "", func(s *story) {
			evicted(s, "Succeeded", "")
			s.status("j", `"active":2,"failed":1,"uncountedTerminatedPods":{"failed":null},"succeeded":1,"completedIndexes":"0"`)
			s.status("j", `"active":2,"ready":1`)
		}},
		{"active counts more pods besides it", "J11", func(s *story) {
			evicted(s, "", "Succeeded")
			s.status("j", `"active":2,"failed":1,"uncountedTerminatedPods":{"failed":null},"succeeded":1,"completedIndexes":"0"`)
			s.status("j", `"active":3`)
		}},
		{"active counts a pod that was listed as failed", "J11", func(s *story) {
			evicted(s, "", "")
			s.status("j", `"active":3,"failed":1,"uncountedTerminatedPods":{"failed":null}`)
		}},
		{"a pod long after the deletion of its job", "J30", func(s *story) {
			first(s, `"parallelism":2,"completions":2`, "")
			s.put("MODIFIED", "Job", "j", s.parse(`"metadata":{"deletionTimestamp":%q,"finalizers":["foregroundDeletion"]}`, s.time(0)))
			s.wait(13 * time.Second)
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"a pod just after the deletion of its job", "", func(s *story) {
			first(s, `"parallelism":2,"completions":2`, "")
			s.put("MODIFIED", "Job", "j", s.parse(`"metadata":{"deletionTimestamp":%q,"finalizers":["foregroundDeletion"]}`, s.time(0)))
			s.wait(12 * time.Second)
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"a pod of a job that is gone", "J30", func(s *story) {
			first(s, plain, "")
			owner := s.objects["Job/j"]
			s.gone("Job", "j")
			s.job("clock", plain)
			s.wait(13 * time.Second)
			s.objects["Job/j"] = owner
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"a pod of a job that may be gone only just", "", func(s *story) {
			first(s, plain, "")
			owner := s.objects["Job/j"]
			s.gone("Job", "j")
			s.job("clock", plain)
			s.wait(12 * time.Second)
			s.objects["Job/j"] = owner
			s.pod("b", "j", "")
			s.runs("b")
		}},
		{"runs", "", func(s *story) {
			everyMinute(s, "")
			ended(s, s.runAt("c", 1))
			s.wait(time.Minute)
			s.runAt("c", 2)
		}},
		{"a run twice", "CI1", func(s *story) {
			everyMinute(s, "")
			name := s.runAt("c", 1)
			s.gone("Job", name)
			s.runAt("c", 1)
		}},
		{"a run under two names", "CI2", func(s *story) {
			everyMinute(s, "")
			s.run("c", "c-2", s.now, "")
		}},
		{"a run outside of the schedule", "CI2", func(s *story) {
			s.cronJob("c", `"schedule":"*/5 * * * *"`)
			s.wait(time.Hour)
			s.runAt("c", 7)
		}},
		{"a run of the old schedule, just after an edit", "", func(s *story) {
			s.cronJob("c", `"schedule":"7 * * * *"`)
			s.wait(7 * time.Minute)
			s.spec("CronJob", "c", `"schedule":"*/5 * * * *"`)
			s.runAt("c", 7)
		}},
		{"a run of the old schedule, long after an edit", "CI2", func(s *story) {
			s.cronJob("c", `"schedule":"7 * * * *"`)
			s.wait(time.Minute)
			s.spec("CronJob", "c", `"schedule":"*/5 * * * *"`)
			s.wait(time.Minute)
			s.job("clock", plain)
			s.wait(5 * time.Minute)
			s.runAt("c", 7)
		}},
		{"a run in the zone of the CronJob", "", func(s *story) {
			s.cronJob("c", `"schedule":"31 17 * * *","timeZone":"Asia/Kolkata"`)
			s.wait(time.Minute)
			s.runAt("c", 1) // 12:01 in UTC
		}},
		{"a run in a zone that only the controller knows", "", func(s *story) {
			s.cronJob("c", `"schedule":"1 17 * * *"`)
			s.wait(time.Minute)
			run := s.now.In(time.FixedZone("", 5*3600))
			s.run("c", fmt.Sprintf("c-%d", run.Unix()/60), run, "")
		}},
		{"a run before its time", "CI2", func(s *story) {
			s.cronJob("c", `"schedule":"* * * * *"`)
			s.runAt("c", 1)
		}},
		{"a run after its deadline", "CI7", func(s *story) {
			everyMinute(s, `,"startingDeadlineSeconds":10`)
			s.wait(30 * time.Second)
			s.runAt("c", 1)
		}},
		{"a run beside another that Forbid protects", "CI8", func(s *story) {
			everyMinute(s, `,"concurrencyPolicy":"Forbid"`)
			s.runAt("c", 1)
			s.wait(time.Minute)
			s.runAt("c", 2)
		}},
		{"a run beside one that Replace has not deleted", "CI8", func(s *story) {
			everyMinute(s, `,"concurrencyPolicy":"Replace"`)
			s.runAt("c", 1)
			s.wait(time.Minute)
			s.runAt("c", 2)
		}},
		{"a run in place of one that is gone", "", func(s *story) {
			everyMinute(s, `,"concurrencyPolicy":"Replace"`)
			name := s.runAt("c", 1)
			s.wait(time.Minute)
			s.gone("Job", name)
			s.runAt("c", 2)
		}},
		{"a run while suspended", "CI10", func(s *story) {
			everyMinute(s, "")
			s.spec("CronJob", "c", `"suspend":true`)
			s.job("clock", plain)
			s.wait(time.Minute)
			s.runAt("c", 2)
		}},
		{"a run just after the suspension", "", func(s *story) {
			everyMinute(s, "")
			s.spec("CronJob", "c", `"suspend":true`)
			s.runAt("c", 1)
		}},
		{"lastScheduleTime goes back", "CI4", func(s *story) {
			everyMinute(s, "")
			s.runAt("c", 1)
			s.put("MODIFIED", "CronJob", "c", s.parse(`"status":{"lastScheduleTime":%q}`, s.time(-time.Minute)))
		}},
		{"lastSuccessfulTime goes back", "CI12", func(s *story) {
			everyMinute(s, "")
			s.put("MODIFIED", "CronJob", "c", s.parse(`"status":{"lastSuccessfulTime":%q}`, s.time(0)))
			s.put("MODIFIED", "CronJob", "c", s.parse(`"status":{"lastSuccessfulTime":%q}`, s.time(-time.Minute)))
		}},
		{"lastSuccessfulTime is no completion", "CI12", func(s *story) {
			everyMinute(s, "")
			ended(s, s.runAt("c", 1))
			s.put("MODIFIED", "CronJob", "c", s.parse(`"status":{"active":null,"lastSuccessfulTime":%q}`, s.time(time.Hour)))
		}},
		{"lastSuccessfulTime is the completion of a job that is gone", "", func(s *story) {
			everyMinute(s, "")
			name := s.runAt("c", 1)
			ended(s, name)
			at := s.time(0)
			s.gone("Job", name)
			s.wait(time.Minute)
			s.put("MODIFIED", "CronJob", "c", s.parse(`"status":{"active":null,"lastSuccessfulTime":%q}`, at))
		}},
		{"lastSuccessfulTime is of a job whose end the log does not show", "", func(s *story) {
			everyMinute(s, "")
			s.gone("Job", s.runAt("c", 1))
			s.put("MODIFIED", "CronJob", "c", s.parse(`"status":{"active":null,"lastSuccessfulTime":%q}`, s.time(0)))
		}},
		{"active has a job that there never was", "CI5", func(s *story) {
			everyMinute(s, "")
			s.runAt("c", 1)
			s.put("MODIFIED", "CronJob", "c", s.parse(`"status":{"active":[{"name":"c-2","uid":"nobody"}]}`))
		}},
		{"active has a job that is gone", "", func(s *story) {
			everyMinute(s, "")
			ended(s, s.runAt("c", 1))
			s.wait(time.Minute)
			name := s.runAt("c", 2)
			uid := s.uid("Job/" + name)
			s.gone("Job", name)
			s.put("MODIFIED", "CronJob", "c", s.parse(`"status":{"active":[{"name":%q,"uid":%q}]}`, name, uid))
		}},
		{"the newest of the history is deleted", "CI11", func(s *story) { s.gone("Job", history(s, 5, "")[4]) }},
		{"the newest of the history is deleted with its CronJob", "", func(s *story) {
			names := history(s, 5, "")
			s.put("MODIFIED", "CronJob", "c", s.parse(`"metadata":{"deletionTimestamp":%q,"finalizers":["foregroundDeletion"]}`, s.time(0)))
			s.gone("Job", names[4])
		}},
		{"the oldest of the history is deleted", "", func(s *story) { s.gone("Job", history(s, 5, "")[0]) }},
		{"a user deletes the newest of a history that fits", "", func(s *story) { s.gone("Job", history(s, 3, "")[2]) }},
		{"the two oldest are deleted, in any order", "", func(s *story) {
			names := history(s, 5, "")
			s.gone("Job", names[1])
			s.gone("Job", names[0])
		}},
		{"one is deleted beside a newer one that has just gone", "", func(s *story) {
			names := history(s, 5, "")
			s.spec("Job", names[4], `"ttlSecondsAfterFinished":1`)
			s.gone("Job", names[4])
			s.gone("Job", names[1])
			s.gone("Job", names[0])
		}},
		{"the newest has a time to live", "", func(s *story) { s.gone("Job", history(s, 5, `,"ttlSecondsAfterFinished":60`)[4]) }},
		{"the newest of a history whose limit was just raised", "", func(s *story) {
			names := history(s, 5, "")
			s.spec("CronJob", "c", `"successfulJobsHistoryLimit":4`)
			s.gone("Job", names[4])
		}},
		{"a long history", "CI11", func(s *story) {
			everyMinute(s, `,"successfulJobsHistoryLimit":1`)
			for minute := 1; minute <= 5; minute++ {
				s.now = time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC)
				ended(s, s.runAt("c", minute))
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStory(t)
			test.tell(s)
			_, all, summary := s.check(trace.Options{})
			if summary.Unreadable > 0 || len(s.lines) != summary.Events {
				t.Errorf("%+v", summary)
			}
			switch {
			case test.want == "" && len(all) > 0, test.want != "" && (len(all) == 0 || all[0].Rule != test.want):
				t.Errorf("found %v, want %q first", all, test.want)
			case len(all) > 0 && (all[0].Line == 0 || all[0].ResourceVersion == "" || all[0].File != "log"):
				t.Errorf("no place: %+v", all[0])
			}
			for _, f := range all {
				t.Log(f)
			}
			// A correct log stays correct if its first lines, or any one line, are missing.
			if test.want != "" {
				return
			}
			for i := range s.lines {
				part := *s
				part.lines = s.lines[i:]
				if _, all, _ := part.check(trace.Options{}); len(all) > 0 {
					t.Errorf("from line %d on: %v", i+1, all)
				}
				part.lines = slices.Delete(slices.Clone(s.lines), i, i+1)
				if _, all, _ := part.check(trace.Options{Incomplete: true}); len(all) > 0 {
					t.Errorf("without line %d: %v", i+1, all)
				}
			}
		})
	}
}

// TestManagedBy: the pods of a job with another manager are judged only if the options name that
// manager. The statuses of a manager that is not named may skip versions.
func TestManagedBy(t *testing.T) {
	tell := func(s *story) {
		first(s, plain+`,"managedBy":"example.com/c"`, "")
		s.status("j", `"succeeded":1`)
		s.pod("b", "j", "")
		s.runs("b")
	}
	for _, test := range []struct {
		options trace.Options
		want    string
	}{
		{trace.Options{}, "[]"},
		{trace.Options{Controllers: []string{"example.com/c"}}, "[JI1 JI10]"},
		{trace.Options{Release: release.V131()}, "[JI1 JI10]"}, // where the gate is off
	} {
		s := newStory(t)
		tell(s)
		if rules, _, _ := s.check(test.options); fmt.Sprint(rules) != test.want {
			t.Errorf("%+v: found %v, want %v", test.options, rules, test.want)
		}
	}
}

// TestRelease: if the gates JobManagedBy and JobPodReplacementPolicy are off, no interim condition
// announces the end of a job.
func TestRelease(t *testing.T) {
	r, err := release.Parse("1.31,JobManagedBy=false,JobPodReplacementPolicy=false")
	must.OK(t, err)
	s := newStory(t)
	first(s, `"parallelism":1,"completions":1,"backoffLimit":6`, "")
	succeeds(s, "a")
	s.status("j", `"conditions":[{"type":"Complete","status":"True"}],"completionTime":%q,"active":null`, s.time(0))
	if _, all, _ := s.check(trace.Options{Release: r}); len(all) > 0 {
		t.Error(all)
	}
	if rules, _, _ := s.check(trace.Options{}); fmt.Sprint(rules) != "[JI15]" {
		t.Error(rules)
	}
}

// restarted restarts the watch: it shows the existing objects again.
func restarted(s *story) {
	for _, key := range []string{"Job/j", "Pod/a", "Pod/b", "Pod/c"} {
		if o := s.objects[key]; o != nil {
			s.line("ADDED", o, "")
		}
	}
}

// TestGaps: a change is reported only if missing versions cannot explain it.
func TestGaps(t *testing.T) {
	for name, test := range map[string]struct {
		want string
		tell func(s *story)
	}{
		"pods came and went": {"[]", func(s *story) {
			first(s, plain, "")
			lines := s.lines
			succeeds(s, "a")
			s.gone("Pod", "a")
			s.pod("b", "j", "")
			s.lines = lines
			restarted(s)
			s.runs("b")
		}},
		"the counter fell": {"[JI4]", func(s *story) {
			first(s, plain, "")
			fails(s, "a", 1)
			lines := s.lines
			s.status("j", `"failed":0`)
			s.lines = lines
			restarted(s)
		}},
		"a pod is counted again": {"[JI1]", func(s *story) {
			first(s, plain, "")
			succeeds(s, "a")
			restarted(s)
			s.list("j", "a", "succeeded")
		}},
		"the server has forgotten": {"[]", func(s *story) {
			first(s, plain, "")
			s.lines = append(s.lines, `{"type":"ERROR","object":{"kind":"Status","code":410}}`)
			s.status("j", `"succeeded":1`)
		}},
	} {
		s := newStory(t)
		test.tell(s)
		if rules, all, _ := s.check(trace.Options{}); fmt.Sprint(rules) != test.want {
			t.Errorf("%s: found %v, want %s", name, all, test.want)
		}
	}
}

// TestSeveralLogs: logs of different kinds are merged in order. After the end of a log, the objects
// that it has shown no longer count.
func TestSeveralLogs(t *testing.T) {
	s := newStory(t)
	first(s, plain, "")
	s.wait(time.Second)
	s.pod("b", "j", "")
	s.runs("b")
	succeeds(s, "a")

	split := func(lines []string) (logs []trace.Log) {
		for _, kind := range []string{`"kind":"Pod"`, `"kind":"Job","metadata"`} {
			var of []string
			for _, l := range lines {
				if strings.Contains(l, kind) {
					of = append(of, l)
				}
			}
			logs = append(logs, trace.Log{Name: kind, Reader: strings.NewReader(strings.Join(of, "\n"))})
		}
		return logs
	}
	var rules []string
	report := func(f trace.Finding) { rules = append(rules, f.Rule) }
	if _, err := trace.Check(trace.Options{}, report, split(s.lines)...); err != nil || fmt.Sprint(rules) != "[JI10]" {
		t.Errorf("%v, found %v", err, rules)
	}

	rules = nil
	logs := split(s.lines)
	logs[0].Reader = io.LimitReader(logs[0].Reader, int64(len(s.lines[1]))+1) // the first version of pod a
	if _, err := trace.Check(trace.Options{}, report, logs...); err != nil || len(rules) > 0 {
		t.Errorf("%v, found %v", err, rules)
	}
}

// auditLine makes an event of an audit log.
func auditLine(change string, o map[string]any, replaced string) string {
	resource := map[string]string{"Job": "jobs", "Pod": "pods", "CronJob": "cronjobs"}[o["kind"].(string)]
	group := "batch"
	if resource == "pods" {
		group = ""
	}
	verb := map[string]string{"ADDED": "create", "MODIFIED": "update", "DELETED": "delete"}[change]
	sub := ""
	if verb == "update" {
		sub = "status"
	}
	return text(map[string]any{
		"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "stage": "ResponseComplete", "verb": verb,
		"objectRef":      map[string]any{"resource": resource, "apiGroup": group, "subresource": sub, "resourceVersion": replaced},
		"responseStatus": map[string]any{"code": 200}, "responseObject": o,
	})
}

// TestAudit: an audit log is checked like a watch, as far as its requests name the versions that
// they replace.
func TestAudit(t *testing.T) {
	tell := func(s *story) {
		first(s, plain, "")
		fails(s, "a", 1)
		s.status("j", `"failed":3`)
		s.wait(time.Minute)
		s.pod("b", "j", "")
		s.runs("b")
		s.pod("c", "j", "")
		s.status("j", `"failed":2`)
	}
	for _, test := range []struct {
		name, want string
		form       func(string, map[string]any, string) string
		gaps       int
	}{
		{"updates", "[JI1 JI10 JI4]", auditLine, 0},
		{"patches", "[JI4]", func(change string, o map[string]any, replaced string) string {
			return strings.Replace(auditLine(change, o, replaced), `"update"`, `"patch"`, 1)
		}, 9},
		{"without the statuses of pods", "[JI1 JI4]", func(change string, o map[string]any, replaced string) string {
			if o["kind"] == "Pod" && change == "MODIFIED" {
				return ""
			}
			return auditLine(change, o, replaced)
		}, 0},
		{"without objects", "[]", func(change string, o map[string]any, replaced string) string {
			return strings.Replace(auditLine(change, o, replaced), "responseObject", "requestObject", 1)
		}, 0},
	} {
		s := newStory(t)
		s.form = test.form
		tell(s)
		if rules, all, summary := s.check(trace.Options{}); fmt.Sprint(rules) != test.want ||
			summary.Gaps != test.gaps {
			t.Errorf("%s: found %v, %d gaps, want %s and %d", test.name, all, summary.Gaps, test.want, test.gaps)
		}
	}
}

// TestAuditDeletion: an object is gone if the response of a deletion is a Status that names the
// object, or the object itself with nothing that holds it.
func TestAuditDeletion(t *testing.T) {
	s := newStory(t)
	s.form = auditLine
	first(s, plain, "")
	answer := fmt.Sprintf(`{"kind":"Status","status":"Success","details":{"name":"a","uid":%q}}`, s.uid("Pod/a"))
	s.lines = append(s.lines, fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":"ResponseComplete","verb":"delete",
		"objectRef":{"resource":"pods","name":"a"},"responseStatus":{"code":200},"responseObject":%s}`, answer))
	s.pod("b", "j", "")
	s.runs("b")
	s.gone("Pod", "b")
	s.pod("c", "j", "")
	s.runs("c")
	if _, all, summary := s.check(trace.Options{}); len(all) > 0 || summary.Unreadable > 0 {
		t.Errorf("%v %+v", all, summary)
	}
}

// TestBadInput: a part that cannot be read is reported with its line, and the rest is checked.
func TestBadInput(t *testing.T) {
	s := newStory(t)
	first(s, plain, "")
	good := s.lines
	s.status("j", `"succeeded":1`)
	bad := s.lines[len(good)]
	pretty := "{\n  \"type\": \"MODIFIED\",\n  \"object\": {\n    \"apiVersion\": \"v1\",\n    \"kind\": \"Secret\"\n  }\n}"
	for _, test := range []struct{ name, input, want string }{
		{"a line of another program", "Unable to connect to the server", `log:5: expected a JSON object, found "Unable to connect to"`},
		{"a cut object", `{"type":"MODIFIED","object":{"kind":"Job"`, "log:5: the object is cut off: another begins at line 6"},
		{"an open string", `{"type":"MODIFIED","object":{"kind":"Jo`, "log:5: a string is not closed at the end of its line"},
		{"bad JSON", `{"type":"MODIFIED" "object":{}}`, `log:5: invalid character '"' after object key:value pair`},
		{"bad JSON on a later line", "{\n\"type\":\n}", `log:7: invalid character '}' looking for beginning of value`},
		{"no kind", `{"metadata":{"name":"x"}}`, "log:5: the object has no kind: expected what kubectl get -w -o json prints, or an audit log"},
		{"an unknown type", `{"type":"CHANGED","object":{"kind":"Job"}}`, `log:5: type: "CHANGED": must be ADDED, MODIFIED, DELETED, BOOKMARK or ERROR`},
		{"no uid", `{"type":"ADDED","object":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"x"}}}`, "log:5: metadata.uid: is required for a Job"},
		{"a wrong field", `{"type":"ADDED","object":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"x","uid":"u"},"spec":{"parallelism":"2"}}}`,
			"log:5: decode job: json: cannot unmarshal string into Go struct field"},
		{"another kind, printed in lines", pretty, ""},
	} {
		var rules []string
		input := strings.Join(good, "\n") + "\n" + test.input + "\n" + bad + "\n"
		summary, err := trace.Check(trace.Options{}, func(f trace.Finding) { rules = append(rules, f.Rule) },
			trace.Log{Name: "log", Reader: strings.NewReader(input)})
		got := ""
		if len(summary.Unread) > 0 {
			got = fmt.Sprintf("%v: %s", summary.Unread[0].Place, summary.Unread[0].Text)
		}
		if err != nil || fmt.Sprint(rules) != "[JI1]" || !strings.HasPrefix(got, test.want) ||
			(test.want == "") != (got == "") {
			t.Errorf("%s: %v, found %v, problem %q, want %q", test.name, err, rules, got, test.want)
		}
	}
	broken := errors.New("broken")
	if _, err := trace.Check(trace.Options{}, func(trace.Finding) {},
		trace.Log{Name: "log", Reader: iotest.ErrReader(broken)}); !errors.Is(err, broken) ||
		!strings.HasPrefix(err.Error(), "log: ") {
		t.Errorf("a reader fails: %v", err)
	}
	summary, err := trace.Check(trace.Options{}, func(trace.Finding) {},
		trace.Log{Name: "log", Reader: strings.NewReader("{\"a\":")})
	if err != nil || len(summary.Unread) != 1 || summary.Unread[0].Text != "the log ends inside the object" {
		t.Errorf("%v %+v", err, summary)
	}
}

// endless is a log of jobs that come, run and go.
type endless struct {
	n, left int
	rest    string
	heap    uint64 // heap in use near the end
}

func (e *endless) Read(p []byte) (int, error) {
	if e.rest == "" {
		if e.n == e.left {
			return 0, io.EOF
		}
		e.n++
		object := func(version int, status string) string {
			return fmt.Sprintf(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j%d","uid":"u%[1]d","resourceVersion":"%d","annotations":{"x":%q}},
				"spec":{"parallelism":1,"completions":1},"status":{%s}}`, e.n, version, strings.Repeat("x", 1000), status)
		}
		at := `"2026-03-01T12:00:00Z"`
		if e.n == e.left {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			e.heap = m.HeapAlloc
		}
		e.rest = fmt.Sprintf("{\"type\":\"ADDED\",\"object\":%s}\n{\"type\":\"MODIFIED\",\"object\":%s}\n{\"type\":\"DELETED\",\"object\":%s}\n",
			object(3*e.n, ""), object(3*e.n+1, `"startTime":`+at), object(3*e.n+2, `"startTime":`+at))
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// TestMemory: the memory does not grow with the log.
func TestMemory(t *testing.T) {
	measure := func(n int) uint64 {
		log := &endless{left: n}
		if _, err := trace.Check(trace.Options{}, func(trace.Finding) {},
			trace.Log{Name: "log", Reader: log}); err != nil {
			t.Fatal(err)
		}
		return log.heap
	}
	if few, many := measure(400), measure(2000); many > few+500_000 {
		t.Errorf("%d bytes are in use after 400 jobs, %d after 2000", few, many)
	}
}
