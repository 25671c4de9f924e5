package conformance

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/proof/conformance/ours"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
)

// jobDivergences are the rows about jobs in which ours differs from Kubernetes by default.
var jobDivergences = []divergence{
	{row: "A deletion fails, or the pod was gone (J11)", about: "fails",
		script: `job {"parallelism":2,"completions":2,TEMPLATE}; run all; ready all; tick 3s; fault delete pods error all 500ms; parallelism 1; tick 20s`,
		look:   statuses, quirk: jobQuirks(jobquirk.DeleteCounts),
		theirs: "2 active, 0 ready, 0 terminating; 2 active, 2 ready, 0 terminating; 2 active, 1 ready, 0 terminating; 1 active, 1 ready, 1 terminating",
		ours:   "2 active, 0 ready, 0 terminating; 2 active, 2 ready, 0 terminating; 1 active, 1 ready, 1 terminating"},
	{row: "A deletion fails, or the pod was gone (J11)", about: "gone",
		script: `job {"parallelism":2,"completions":2,TEMPLATE}; run all; ready all; tick 3s; fault delete pods gone all 500ms; parallelism 1; tick 20s`,
		look:   statuses,
		quirk:  jobQuirks(jobquirk.DeleteCounts, jobquirk.CoarseRequeue), // CoarseRequeue avoids a round a second later
		theirs: "2 active, 0 ready, 0 terminating; 2 active, 2 ready, 0 terminating; 1 active, 1 ready, 1 terminating",
		ours:   "2 active, 0 ready, 0 terminating; 2 active, 2 ready, 0 terminating; 1 active, 1 ready, 0 terminating; 1 active, 1 ready, 1 terminating"},
	{row: "A job was deleted, and the finalizer of one of its pods cannot be removed (J36)",
		script: `job {"parallelism":1,"completions":1,TEMPLATE}; run all; delete 0 1; fault patch pods error all 5s; gone all 0; delete-job Background; tick 3m`,
		look:   pods, until: release.V135,
		theirs: "j-00001",
		ours:   ""},
	{row: "Another writer has set a condition that ends the job, with status False (J19 to J24)",
		script: `job {"parallelism":1,"completions":1,"backoffLimit":0,TEMPLATE}; condition FailureTarget False Edited; run all; fail all code=1; tick 30s`,
		look:   conditionTypes,
		theirs: "FailureTarget=False FailureTarget=True Failed=True",
		ours:   "FailureTarget=True Failed=True"},
	{row: "A job is suspended or resumed, and the status cannot be written (J41)",
		script: `job {"parallelism":1,"completions":1,TEMPLATE}; tick 3s; fault update jobs/status error all 10s; suspend on; tick 30s`,
		look:   reported("Suspended"), quirk: jobQuirks(jobquirk.EarlyEvents),
		theirs: "5 Suspended",
		ours:   "1 Suspended"},
	{row: "The namespace is being deleted (J34)",
		script: `job {"parallelism":1,"completions":1,TEMPLATE}; tick 3s; closing; delete 0 0; tick 15s; tick 5m`,
		look:   statuses, quirk: jobQuirks(jobquirk.RefusedAreActive),
		theirs: "1 active, 0 ready, 0 terminating; 0 active, 0 ready, 1 terminating; 0 active, 0 ready, 0 terminating; 1 active, 0 ready, 0 terminating; 0 active, 0 ready, 0 terminating",
		ours:   "1 active, 0 ready, 0 terminating; 0 active, 0 ready, 1 terminating; 0 active, 0 ready, 0 terminating"},
	{row: "Nothing can be created any more, as the namespace is being deleted (J34, C14)", about: "a pod",
		script: `job {"parallelism":1,"completions":1,TEMPLATE}; tick 3s; closing; delete 0 0; tick 15s`,
		look:   hasReported("NamespaceTerminating"), quirk: jobQuirks(jobquirk.RefusedAreActive),
		theirs: "no NamespaceTerminating",
		ours:   "NamespaceTerminating"},
	{row: "A pod is deleted finalizer first, and has succeeded in between (J28, J29, JI9)",
		script: `job {"parallelism":2,"completions":2,TEMPLATE}; run all; tick 3s; hold pods; succeed 1; parallelism 1; tick 1s; release pods; tick 2s; succeed all; tick 3s; succeed all; tick 3s`,
		look:   all(timesOf("create pods"), verdict), quirk: jobQuirks(jobquirk.UncheckedUntrack, jobquirk.CoarseRequeue),
		theirs: "0s 0s 7s | Complete CompletionsReached, 2 succeeded, 0 failed",
		ours:   "0s 0s | Complete CompletionsReached, 2 succeeded, 0 failed"},
	{row: "A pod is adopted (J6)",
		script: `job {"parallelism":1,"completions":1,TEMPLATE}; run all; tick 3s; stray; tick 10s`,
		look:   all(wrote("patch pods"), wrote("delete pods")), quirk: jobQuirks(jobquirk.UncheckedUntrack),
		theirs: "4s s-00001 +owner +batch.kubernetes.io/job-tracking; 4s s-00001 -batch.kubernetes.io/job-tracking | 4s s-00001",
		ours:   "4s s-00001 +owner +batch.kubernetes.io/job-tracking; 5s s-00001 -batch.kubernetes.io/job-tracking | 5s s-00001"},
	{row: "A pod was adopted and recorded, its finalizer could not be removed, and a late snapshot lacks the adoption; the job is being deleted (J6, J35)",
		why: "the real controller adopts and untracks in one round, by patches of one pod, and a fault of the test server meets both"},
	{row: "The backoff ends in less than a second; some indexes wait while others are due; expectations are not met (J31, E1)", about: "backoff",
		script: `job {"parallelism":1,"completions":1,TEMPLATE}; run all; tick 3s; hold pods; fail 0 code=1; tick 8500ms; release pods; tick 20s`,
		look:   timesOf("create pods"), quirk: jobQuirks(jobquirk.CoarseRequeue),
		theirs: "0s 13.5s",
		ours:   "0s 13s"},
	{row: "The backoff ends in less than a second; some indexes wait while others are due; expectations are not met (J31, E1)", about: "indexes",
		why: "the real controller hears of the pods of the indexes that were due, and looks again"},
	{row: "The backoff ends in less than a second; some indexes wait while others are due; expectations are not met (J31, E1)", about: "expectations",
		script:  `job {"parallelism":1,"completions":2,TEMPLATE}; tick 3s; closing; delete 0 0; tick 6m`,
		options: *jobQuirks(jobquirk.RefusedAreActive), // the only way to expect something that never happens
		look:    wrote("create pods"), quirk: jobQuirks(jobquirk.CoarseRequeue, jobquirk.RefusedAreActive),
		theirs: "0s j-00001; 13s j- -> Forbidden metadata.namespace:NamespaceTerminating",
		ours:   "0s j-00001; 13s j- -> Forbidden metadata.namespace:NamespaceTerminating; 5m13s j- -> Forbidden metadata.namespace:NamespaceTerminating"},
	{row: "The last pod of a job has ended (J43)",
		script: `job {"parallelism":2,"completions":2,TEMPLATE}; run all; tick 3s; succeed 0; tick 500ms; succeed 1; tick 5s`,
		look:   all(timesOf("update jobs/status"), verdict), quirk: jobQuirks(jobquirk.CoarseRequeue),
		theirs: "0s 4s 4s | Complete CompletionsReached, 2 succeeded, 0 failed",
		ours:   "0s 3.5s 3.5s | Complete CompletionsReached, 2 succeeded, 0 failed"},
	{row: "A failure is seen after one that happened later, by skewed clocks (J31)",
		script: `job {"parallelism":2,"completions":2,TEMPLATE}; run all; tick 3s; skew 40s; fail 0 code=1; tick 2s; skew 0s; fail 1 code=1; tick 2m`,
		look:   timesOf("create pods"), quirk: jobQuirks(jobquirk.EarlierFailure),
		theirs: "0s 0s 25s 25s",
		ours:   "0s 0s 1m3s 1m3s"},
	{row: "A job is being deleted in the foreground, and a pod of it does not match the selector any more (J6, J36)",
		script: `job {"parallelism":2,"completions":2,TEMPLATE}; tick 3s; relabel 0; tick 100ms; delete-job Foreground; tick 20m`,
		look:   all(jobs, pods), quirk: jobQuirks(jobquirk.UnmatchedStay),
		theirs: "j goes on | j-00001",
		ours:   " | "},
	{row: "Exactly 500 pods finish in a round (J35)",
		script: `job {"parallelism":500,"completions":500,TEMPLATE}; tick 5s; succeed all; tick 20s`,
		look:   all(timesOf("update jobs/status"), verdict), quirk: jobQuirks(jobquirk.FullRound, jobquirk.CoarseRequeue),
		theirs: "0s 6s 6s 7s | Complete CompletionsReached, 500 succeeded, 0 failed",
		ours:   "0s 5s 5s | Complete CompletionsReached, 500 succeeded, 0 failed"},
	{row: "Indexes wait for their backoff among the lowest 500 pending ones (J31, J33)",
		script: `job {"parallelism":100,"completions":700,"completionMode":"Indexed","backoffLimitPerIndex":3,TEMPLATE}; tick 5s; fail all code=1; parallelism 700; tick 5s`,
		look:   inARow("create pods"), quirk: jobQuirks(jobquirk.WaitingTakeRoom),
		theirs: "100 400 200",
		ours:   "100 500 100"},
	{row: "Another writer has set the condition Suspended, with a reason or message of its own (J39)", about: "suspended",
		script: `job {"parallelism":1,"completions":1,"suspend":true,TEMPLATE}; tick 5s; mergejob {"conditions":[{"type":"Suspended","status":"True","reason":"Queue"}]}; tick 5s`,
		look:   all(timesOf("update jobs/status"), reported("Suspended")), quirk: jobQuirks(jobquirk.SuspendedRewritten),
		theirs: "0s 6s | 2 Suspended",
		ours:   "0s | 1 Suspended"},
	{row: "Another writer has set the condition Suspended, with a reason or message of its own (J39)", about: "running",
		script: `job {"parallelism":1,"completions":1,TEMPLATE}; run 0; tick 5s; mergejob {"conditions":[{"type":"Suspended","status":"False","reason":"Queue"}]}; tick 5s; succeed 0; tick 1m`,
		look:   all(verdict, answers("update jobs/status")), quirk: jobQuirks(jobquirk.SuspendedRewritten),
		theirs: "Complete CompletionsReached, 1 succeeded, 0 failed | Invalid status.startTime:FieldValueInvalid",
		ours:   "Complete CompletionsReached, 1 succeeded, 0 failed | "},
	{row: "A failed index whose other pod succeeds in the same round (J16)",
		script: `job {"parallelism":1,"completions":2,"completionMode":"Indexed","backoffLimitPerIndex":0,TEMPLATE}; tick 3s; stray owned tracked 0; fail 0 code=1; succeed 1; tick 3s; succeed all; tick 3s`,
		look:   all(verdict, answers("update jobs/status")),
		theirs: "goes on, 0 succeeded, 0 failed | Invalid status.failedIndexes:FieldValueInvalid",
		ours:   "Complete CompletionsReached, 2 succeeded, 1 failed | "},
	{row: "Expectations are exactly five minutes old (E1)",
		script:  `job {"parallelism":1,"completions":3,TEMPLATE}; tick 3s; closing; delete 0 0; tick 15s; exactly; limit 5; tick 1s; limit 4; tick 1s`,
		do:      map[string]func(*life){"exactly": fiveMinutes},
		options: *jobQuirks(jobquirk.RefusedAreActive), // the only way to expect something that never happens
		look:    wrote("create pods"), quirk: jobQuirks(jobquirk.CoarseRequeue, jobquirk.RefusedAreActive),
		theirs: "0s j-00001; 13s j- -> Forbidden metadata.namespace:NamespaceTerminating; 5m14s j- -> Forbidden metadata.namespace:NamespaceTerminating",
		ours:   "0s j-00001; 13s j- -> Forbidden metadata.namespace:NamespaceTerminating; 5m13s j- -> Forbidden metadata.namespace:NamespaceTerminating"},
	{row: "Completions are reached while own writes have not been seen (J26, JI8)",
		script:  `job {"parallelism":2,TEMPLATE}; run all; tick 3s; closing; delete 0 0; tick 11s; succeed 0; tick 1m; tick 5m`,
		options: *jobQuirks(jobquirk.RefusedAreActive), look: all(timesOf("update jobs/status"), verdict), quirk: jobQuirks(jobquirk.UnseenCompletion, jobquirk.RefusedAreActive),
		theirs: "0s 4s 4s 5s 13s 14s 15s 15s | Complete CompletionsReached, 1 succeeded, 1 failed",
		ours:   "0s 4s 4s 5s 13s 14s 15s 15s 5m13s 5m13s | Complete CompletionsReached, 1 succeeded, 1 failed"},
	{row: "A UID is in both uncounted lists (JI2)",
		script: `job {"parallelism":1,"completions":2,TEMPLATE}; run all; tick 3s; fault patch pods error all 5s; succeed 0; tick 2s; recordFailed; tick 1m`,
		do:     map[string]func(*life){"recordFailed": fail}, look: all(verdict, answers("update jobs/status")),
		theirs: "goes on, 0 succeeded, 0 failed | Invalid status.uncountedTerminatedPods.failed[0]:FieldValueDuplicate",
		ours:   "goes on, 1 succeeded, 0 failed | "},
	{row: "A suspended job ends (J38, J39)",
		script: `job {"parallelism":1,"completions":2,"backoffLimit":1,TEMPLATE}; run all; tick 3s; fail 0 code=1; tick 3s; suspend on; tick 3s; limit 0; tick 1m`,
		look:   all(verdict, answers("update jobs/status")),
		theirs: "goes on, 0 succeeded, 1 failed | Invalid status.startTime:FieldValueRequired",
		ours:   "Failed BackoffLimitExceeded, 0 succeeded, 1 failed | "},
	{row: "A pod that is deleted counts as failed, and then succeeds (J8, J31)",
		script: `job {"parallelism":3,"completions":3,"completionMode":"Indexed",TEMPLATE}; run all; tick 2s; delete all; fault patch pods error even 2s; tick 1s; succeed all; tick 8s`,
		look:   statuses,
		theirs: "3 active, 0 ready, 0 terminating; 0 active, 0 ready, 3 terminating; 2 active, 0 ready, 0 terminating",
		ours:   "3 active, 0 ready, 0 terminating; 0 active, 0 ready, 3 terminating; 0 active, 0 ready, 0 terminating"},
	{row: "The clock goes back while expectations are not met (E1)", why: "the clock of a bubble does not go back"},
	{row: "Several failed pods match a FailJob rule (J21)", show: showChance},
	{row: "The controller restarts (J31, B2)",
		script: `job {"parallelism":1,"completions":1,TEMPLATE}; run all; tick 3s; fail 0 code=1; tick 12s; fail 1 code=1; tick 5s; restart-controllers; tick 30s`,
		keep:   true, look: timesOf("create pods"),
		quirk:  &ours.Options{}, // no memory is stored
		theirs: "0s 13s 20s",
		ours:   "0s 13s 35s"},
}

// fiveMinutes sleeps until almost five minutes after the last attempt to create a pod. If the job
// is changed then, the notification arrives after exactly five minutes.
func fiveMinutes(l *life) {
	const latency = 2 * time.Millisecond // of the server's notifications about jobs
	writes := l.ordered()
	time.Sleep(time.Until(writes[len(writes)-1].Time.Add(5*time.Minute - latency)))
}

// fail makes the kubelet change its report about a pod: the pod has failed after all.
func fail(l *life) {
	p := server.List[*corev1.Pod](l.Server)[0]
	err := server.ChangeStatus(l.Server, p.Namespace, p.Name, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })
	if err != nil {
		panic(err)
	}
}

// showChance plays one script several times. The real controller names the pod that its cache lists
// first, so it does not always name the same one.
func showChance(t *testing.T) {
	d := divergence{script: `job {"parallelism":6,"completions":6,"podFailurePolicy":{"rules":[{"action":"FailJob",` +
		`"onExitCodes":{"operator":"In","values":[1]}}]},TEMPLATE}; run all; tick 3s; fail all code=1; tick 20s`, look: func(l *life) string {
		return server.Get[*batchv1.Job](l.Server, script.Namespace, "j").Status.Conditions[0].Message
	}}
	real, mine := map[string]int{}, map[string]int{}
	for range 20 {
		real[d.live(t, theirSide)]++
		mine[d.live(t, ourSide(ours.Options{}))]++
	}
	if len(real) < 2 || len(mine) != 1 {
		t.Errorf("theirs: %v\nours: %v", real, mine)
	}
	for message := range mine {
		if !strings.Contains(message, "/j-00001 ") {
			t.Errorf("ours does not name the oldest: %s", message)
		}
	}
}
