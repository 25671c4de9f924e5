package job

import (
	"time"

	"github.com/batchplan/batchplan/internal/jobrules"
	"github.com/batchplan/batchplan/job/release"
)

// end is the decision of a round about the end of the job.
type end struct {
	Verdict
	// deadline is the time at which activeDeadlineSeconds will have passed. It is zero if there is
	// none, or if the deadline can no longer fail the job.
	deadline time.Time
}

// decideEnd decides whether and how the job is going to end. The first rule that applies wins: an
// end that an earlier round has declared, then failures, then the success policy (J19-J25). Whether
// the job reaches its completions is decided later, after the pods were managed (J26).
func decideEnd(s *Snapshot, found *findings) end {
	spec, status, t := &s.Job.Spec, &s.Job.Status, found.tally
	due := deadline(spec, startTime(&s.Job, s.Now))
	success := meetsSuccessPolicy(spec, t, &found.indexes.completed, &found.indexes.spare)

	late := pastDeadline(due, s.Now)
	if s.Options.SuccessBeatsDeadline && (success.decided() || completionsReached(spec.Completions, t.succeeded)) {
		late = Verdict{}
	}

	met := declared(status, ConditionSuccessCriteriaMet)
	if jobrules.EndsWithoutNotice(s.Options.Without) && s.Options.Without.Has(release.JobSuccessPolicy) {
		met = Verdict{}
	}

	if v := first(
		met,                                      // J19
		declared(status, ConditionFailureTarget), // J20
		failsJob(s.Pods, found.pods, &found.policy), // J21
		pastBackoffLimit(spec, t),                   // J22
		late,                                        // J23
	); v.decided() {
		return end{Verdict: v}
	}

	return end{first(
		pastIndexLimits(spec, t), // J24
		success,                  // J25
	), due}
}

// first returns the first verdict that is decided.
func first(verdicts ...Verdict) Verdict {
	for i := range verdicts {
		if verdicts[i].decided() {
			return verdicts[i]
		}
	}
	return Verdict{}
}

// declared returns the end that an earlier round has declared with the condition t (J19, J20).
func declared(status *Status, t ConditionType) Verdict {
	c := status.find(t)
	if c == nil || c.Status != ConditionTrue {
		return Verdict{}
	}
	return Verdict{Type: t, Reason: c.Reason, Message: c.Message}
}
