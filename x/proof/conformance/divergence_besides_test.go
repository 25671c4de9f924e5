package conformance

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
	"github.com/batchplan/batchplan/x/proof/conformance/ours"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
)

func jobOptions(o job.Options) ours.Options { return ours.Options{Job: o} }

func cronOptions(o cronjob.Options) ours.Options { return ours.Options{CronJob: o} }

var seconds int32 = 5

// besides holds the rows about options that Kubernetes does not have. Our controllers behave as the
// row says only with the option. The real controllers never do.
var besides = []divergence{
	{row: "Another backoff after failures: base, factor, cap",
		script:  `job {"parallelism":1,"completions":1,TEMPLATE}; run all; tick 2s; fail 0 code=1; tick 20s`,
		options: jobOptions(job.Options{Backoff: backoff.Policy{Base: 2 * time.Second}}), look: timesOf("create pods"),
		theirs: "0s 12s",
		ours:   "0s 4s"},
	{row: "A pod that never starts fails the job instead of blocking it",
		script:  `job {"parallelism":1,"completions":1,"backoffLimit":0,TEMPLATE}; bind 0; tick 6m; gone 0; tick 1m`,
		options: jobOptions(job.Options{PendingTimeout: 5 * time.Minute}), look: verdict,
		theirs: "goes on, 0 succeeded, 0 failed",
		ours:   "Failed BackoffLimitExceeded, 0 succeeded, 1 failed"},
	{row: "A controller of another name plans the jobs that name it in `spec.managedBy` (J3)",
		script:  `job {"parallelism":1,"completions":1,"managedBy":"example.com/other",TEMPLATE}; tick 2s`,
		options: jobOptions(job.Options{ControllerName: "example.com/other"}), look: timesOf("create pods"),
		theirs: "",
		ours:   "0s"},
	{row: "The limits of 500 a round are other numbers (J30, J35)",
		script:  `job {"parallelism":2,"completions":2,TEMPLATE}; tick 5s`,
		options: jobOptions(job.Options{MaxPodWrites: 1, MaxUncounted: 1}), look: timesOf("create pods"),
		theirs: "0s 0s",
		ours:   "0s 1s"},
	{row: "SuccessCriteriaMet is not written, for servers that refuse it, and a success does not wait for terminating pods (J19, J38)",
		script:  `job {"parallelism":1,"completions":1,TEMPLATE}; run 0; tick 2s; succeed 0; tick 5s`,
		options: jobOptions(job.Options{NoSuccessCriteriaMet: true}), look: verdict,
		theirs: "Complete CompletionsReached, 1 succeeded, 0 failed",
		ours:   "goes on, 1 succeeded, 0 failed"}, // this server requires it
	{row: "A pod on a dead node is replaced although it never ends",
		script:  `job {"parallelism":1,"completions":1,"podReplacementPolicy":"Failed",TEMPLATE}; run 0; tick 2s; delete 0 30; tick 10m`,
		options: jobOptions(job.Options{TerminatingTimeout: time.Minute}), look: timesOf("create pods"),
		theirs: "0s",
		ours:   "0s 1m32s"},
	{row: "A job whose last success comes with its deadline completes",
		script:  `job {"parallelism":1,"completions":1,"activeDeadlineSeconds":10,TEMPLATE}; run 0; tick 9s; tick 500ms; fault update jobs/status error all 900ms; succeed 0; tick 10s`,
		options: jobOptions(job.Options{SuccessBeatsDeadline: true}), look: verdict,
		theirs: "Failed DeadlineExceeded, 1 succeeded, 0 failed",
		ours:   "Complete CompletionsReached, 1 succeeded, 0 failed"},
	{row: "Failures that the podFailurePolicy ignores are ignored only up to a limit",
		script: `job {"parallelism":1,"completions":1,"backoffLimit":0,"podFailurePolicy":{"rules":[{"action":"Ignore","onExitCodes":{"operator":"In","values":[42]}}]},TEMPLATE}
fail all code=42; tick 10m; fail all code=42; tick 10m; fail all code=42; tick 10m`,
		options: jobOptions(job.Options{MaxIgnoredFailures: 2}), look: verdict,
		theirs: "goes on, 0 succeeded, 0 failed",
		ours:   "Failed BackoffLimitExceeded, 0 succeeded, 1 failed"},
	{row: "Complete and failed jobs are kept for different times", about: "complete",
		script:  `job {"parallelism":1,"completions":1,"ttlSecondsAfterFinished":100,TEMPLATE}; succeed all; tick 20s`,
		options: jobOptions(job.Options{TTLSecondsAfterComplete: &seconds}), look: verdict,
		theirs: "Complete CompletionsReached, 1 succeeded, 0 failed",
		ours:   "gone"},
	{row: "Complete and failed jobs are kept for different times", about: "failed",
		script:  `job {"parallelism":1,"completions":1,"backoffLimit":0,"ttlSecondsAfterFinished":100,TEMPLATE}; fail all code=1; tick 20s`,
		options: jobOptions(job.Options{TTLSecondsAfterFailed: &seconds}), look: verdict,
		theirs: "Failed BackoffLimitExceeded, 0 succeeded, 1 failed",
		ours:   "gone"},
	{row: "Make up no missed run, or all of them within a window and a limit", about: "none",
		script:  `cronjob {"schedule":"0 * * * *",JOB}; manual; stop-controllers; tick 5h20m; restart-controllers; tick 1m`,
		options: cronOptions(cronjob.Options{CatchUp: cronjob.CatchUpNone}), look: runs,
		theirs: "1 05:00 at 1 05:20",
		ours:   ""},
	{row: "Make up no missed run, or all of them within a window and a limit", about: "all",
		script:  `cronjob {"schedule":"0 * * * *",JOB}; manual; stop-controllers; tick 5h20m; restart-controllers; tick 1m`,
		options: cronOptions(cronjob.Options{CatchUp: cronjob.CatchUpAll, CatchUpWindow: 4 * time.Hour, CatchUpLimit: 3}), look: runs,
		theirs: "1 05:00 at 1 05:20",
		ours:   "1 03:00 at 1 05:20, 1 04:00 at 1 05:20, 1 05:00 at 1 05:20"},
	{row: "No late run after resuming",
		script:  `cronjob {"schedule":"0 * * * *","suspend":true,JOB}; manual; tick 150m; cronsuspend off; tick 20m`,
		options: cronOptions(cronjob.Options{SkipOnResume: true}), look: runs,
		theirs: "1 02:00 at 1 02:30",
		ours:   ""},
	{row: "No retroactive run after an edit",
		script:  `cronjob {"schedule":"0 5 * * *",JOB}; manual; tick 210m; schedule "0 1,5 * * *"; successful 1; tick 10m`,
		options: cronOptions(cronjob.Options{SkipOnEdit: true}), look: runs,
		theirs: "1 01:00 at 1 03:30",
		ours:   ""},
	{row: "A run that Forbid holds back is skipped, not late",
		script:  `cronjob {"schedule":"0 * * * *","concurrencyPolicy":"Forbid",JOB}; manual; tick 140m; complete 0; tick 10m`,
		options: cronOptions(cronjob.Options{SkipHeld: true}), look: runs,
		theirs: "1 01:00 at 1 01:00, 1 02:00 at 1 02:20",
		ours:   "1 01:00 at 1 01:00"},
	{row: "Runs wait in line for each other",
		script:  `cronjob {"schedule":"0 * * * *","concurrencyPolicy":"Forbid",JOB}; manual; tick 260m; complete 0; tick 10m; complete 1; tick 10m`,
		options: cronOptions(cronjob.Options{CatchUp: cronjob.CatchUpAll}), look: runs,
		theirs: "1 01:00 at 1 01:00, 1 04:00 at 1 04:20",
		ours:   "1 01:00 at 1 01:00, 1 02:00 at 1 04:20, 1 03:00 at 1 04:30"},
	{row: "At most N jobs at once, triggers and backfills included",
		script:  `cronjob {"schedule":"0 * * * *",JOB}; manual; tick 190m`,
		options: cronOptions(cronjob.Options{MaxActive: 2}), look: runs,
		theirs: "1 01:00 at 1 01:00, 1 02:00 at 1 02:00, 1 03:00 at 1 03:00",
		ours:   "1 01:00 at 1 01:00, 1 02:00 at 1 02:00"},
	{row: "A replaced job's pods are gone before the next run",
		script:  `cronjob {"schedule":"0 * * * *","concurrencyPolicy":"Replace",JOB}; tick 61m; run all; tick 61m; gone all; tick 5m`,
		options: cronOptions(cronjob.Options{ReplaceWhenGone: true}), look: runs,
		theirs: "1 01:00 at 1 01:00, 1 02:00 at 1 02:00",
		ours:   "1 01:00 at 1 01:00, 1 02:00 at 1 02:02"},
	{row: "Runs, triggers and backfills do not wait for good behind a job that is terminating (C21)",
		script:  `cronjob {"schedule":"0 * * * *","concurrencyPolicy":"Forbid",JOB}; tick 61m; run all; delete-job Foreground; tick 130m`,
		options: cronOptions(cronjob.Options{TerminatingTimeout: 30 * time.Minute}), look: runs,
		theirs: "1 01:00 at 1 01:00",
		ours:   "1 01:00 at 1 01:00, 1 02:00 at 1 02:00"},
	{row: "Runs of many CronJobs are spread",
		script:  `cronjob {"schedule":"0 * * * *",JOB}; manual; tick 70m`,
		options: cronOptions(cronjob.Options{Jitter: 10 * time.Minute}), look: runs,
		theirs: "1 01:00 at 1 01:00",
		ours:   "1 01:00 at 1 01:09:35"},
	{row: "The next round comes at the time of a run, not 100 ms later (C7)",
		script:  `cronjob {"schedule":"0 * * * *",JOB}; manual; tick 61m`,
		options: cronOptions(cronjob.Options{Punctual: true}), look: lateness,
		theirs: "100ms",
		ours:   "0s"},
	{row: "History by age",
		script:  `cronjob {"schedule":"0 * * * *",JOB}; manual; tick 61m; complete 0; tick 40m`,
		options: cronOptions(cronjob.Options{KeepSuccessful: 30 * time.Minute}), look: jobs,
		theirs: "c-15778140 Complete Script",
		ours:   ""},
	{
		// The closest that the real controller has is a job created by hand.
		row:    "Manual runs that count and are cleaned up",
		script: `cronjob {"schedule":"0 * * * *","concurrencyPolicy":"Forbid",JOB}; manual; tick 50m; trigger; tick 20m`,
		do: map[string]func(*life){"trigger": func(l *life) {
			if l.ours == nil {
				if err := l.Do(nil, script.Step{Op: "cronmanual"}); err != nil {
					panic(err)
				}
				return
			}
			ask(l, func(s *cronjob.Snapshot) { s.Triggers = []cronjob.Trigger{{ID: "1"}} })
		}},
		look:   all(runs, hasReported("UnexpectedJob")),
		theirs: "1 01:00 at 1 01:00 | UnexpectedJob",
		ours:   " | no UnexpectedJob"},
	{row: "Several schedules in one CronJob, with exceptions; a time that they share is one run",
		script:  `cronjob {"schedule":"0 * * * *",JOB}; manual; tick 190m`,
		options: *schedules(schedule.Also("30 1 * * *", "0 1 * * *"), schedule.Except("0 2 * * *")), look: runs,
		theirs: "1 01:00 at 1 01:00, 1 02:00 at 1 02:00, 1 03:00 at 1 03:00",
		ours:   "1 01:00 at 1 01:00, 1 01:30 at 1 01:30, 1 03:00 at 1 03:00"},
	{row: "Runs of a range are made up, oldest first, with an overlap policy of their own",
		script: `cronjob {"schedule":"0 * * * *",JOB}; manual; tick 30m; backfill; tick 1m`,
		do: map[string]func(*life){"backfill": func(l *life) {
			if l.ours == nil {
				return // the real controller has no such request
			}
			ask(l, func(s *cronjob.Snapshot) {
				s.Backfills = []cronjob.Backfill{{ID: "1", After: l.start.Add(-150 * time.Minute), Until: l.start, Overlap: cronjob.Allow}}
			})
		}},
		look:   runs,
		theirs: "",
		ours:   "31 22:00 at 1 00:30, 31 23:00 at 1 00:30, 1 00:00 at 1 00:30"},
	{row: "No more runs after N failures in a row (C19)", why: "Kubernetes has nothing to compare it with; the stories and properties of cronjob show it"},
	{row: "Children that are not jobs: other names, marks, ends, and a status without a list of active jobs (C2, C13, C18)", why: "the real controller makes jobs only"},
	{row: "Feature gates are off ([releases.md](releases.md))", why: "package rounds plays them with the controllers of each release, whose gates are switched"},
	{row: "Jobs are scheduled as gangs: the gate WorkloadWithJob is on (J44)", why: "packages gates and rounds play them with the controller of 1.37 and the gate on"},
	{row: "What Kubernetes did until 1.31, 1.33 and 1.35.7 ([releases.md](releases.md))", why: "package rounds plays the controllers of those releases"},
}

// ask makes one round of ours with additional requests.
func ask(l *life, more func(*cronjob.Snapshot)) {
	err := ours.Ask(context.Background(), l.Client(), script.Namespace, "c", metav1.NewTime(time.Now()), *l.ours, more)
	if err != nil {
		panic(err)
	}
}
