package job

import (
	"time"

	"github.com/batchplan/batchplan/internal/jobrules"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/release"
)

// declaredEnd returns the end that a round may declare, or the zero Verdict (J26, J27, JI8).
// Argument active is the number of active pods after the round's deletions. It must be 0, so every
// deletion must have succeeded. No own write may be in flight. Call it only for a round that
// creates no pods.
func declaredEnd(planned Verdict, b *basis, active int32) Verdict {
	if active > 0 {
		return Verdict{}
	}
	if !b.Carried.Satisfied && (planned.decided() || !b.Facts.Quirks.Has(jobquirk.UnseenCompletion)) {
		return Verdict{}
	}
	if planned.decided() {
		return planned
	}

	if !completionsReached(b.Facts.Completions, int64(b.Counts.Succeeded)) {
		return Verdict{}
	}
	if b.Facts.Without.Has(release.JobSuccessPolicy) {
		return Verdict{Type: ConditionSuccessCriteriaMet}
	}
	return Verdict{ConditionSuccessCriteriaMet, "CompletionsReached", "Reached expected number of succeeded pods"}
}

// isUnannounced reports whether the final condition comes without FailureTarget or
// SuccessCriteriaMet before it. If the gates for these conditions are off, only policies announce
// an end.
func isUnannounced(f *facts, end Verdict) bool {
	if jobrules.EndsWithoutNotice(f.Without) {
		return end.Reason != "PodFailurePolicy" && end.Reason != "SuccessPolicy"
	}
	return f.Unannounced && end.Type == ConditionSuccessCriteriaMet
}

// recordVerdict adds the condition that announces how the job is going to end. Settle adds the
// final condition.
func recordVerdict(status *Status, end Verdict, now time.Time) {
	if status.isTrue(end.Type) {
		return
	}

	status.Conditions = withCondition(status.Conditions, Condition{
		Type:               end.Type,
		Status:             ConditionTrue,
		LastProbeTime:      now,
		LastTransitionTime: now,
		Reason:             end.Reason,
		Message:            end.Message,
	})
}

// isUntracked reports whether every finalizer is gone. Any remaining one, even an uncounted pod's,
// delays the end, so that a finished job needs no further rounds.
func isUntracked(untrack []Untracking, untracked []Reply) bool {
	for i := range untrack {
		if !isDone(value.At(untracked, i).Result) {
			return false
		}
	}
	return true
}

// mayFinish reports whether a job whose end is declared has nothing left to wait for (J38). It is
// called when no pod is active. If no condition has announced a success, the success does not wait
// for terminating pods: if they failed, the job could fail after all.
func mayFinish(b *basis, status *Status, terminating int32, end Verdict) bool {
	lists := status.uncounted()
	switch {
	case b.Course.Capped, len(lists.Succeeded)+len(lists.Failed) > 0:
		return false
	case terminating == 0, isUnannounced(&b.Facts, end):
		return true
	}
	return jobrules.EndsWithoutNotice(b.Facts.Without)
}

// finish adds the condition that ends the job (J38). A suspended job has no startTime, and an API
// server refuses an end without one, except for a suspended job with completions 0. So finish also
// sets startTime, unless that exception applies.
func finish(status *Status, f *facts, end Verdict) {
	hasNothingToDo := f.Suspend && value.Equal(f.Completions, new(int32))
	if status.StartTime.IsZero() && !hasNothingToDo {
		status.StartTime = f.Now
	}

	condition := Condition{
		Type:               ConditionComplete,
		Status:             ConditionTrue,
		LastProbeTime:      f.Now,
		LastTransitionTime: f.Now,
		Reason:             end.Reason,
		Message:            end.Message,
	}

	if end.failed() {
		condition.Type = ConditionFailed
	} else {
		status.CompletionTime = jobrules.CompletionTime(status.StartTime, f.Now)
		if value.Of(status.Terminating) > 0 {
			status.Terminating = nil // nobody counts them down after the end
		}
	}

	status.Conditions = withCondition(status.Conditions, condition)
}
