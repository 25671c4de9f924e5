package jobmodel

import (
	"math/bits"
	"slices"

	"github.com/batchplan/batchplan/job"
)

// rule is something that a plan can do or decide, by the number of its rule.
type rule struct {
	name  string
	holds func(*job.Snapshot, *job.Plan) bool
}

// rules are counted each time a round begins with a plan for which they hold.
var rules = []rule{
	{"J4 finished", waits(job.WaitFinished)},
	{"J6 adopt", func(_ *job.Snapshot, p *job.Plan) bool { return len(p.Adopt) > 0 }},
	{"J6 release", func(_ *job.Snapshot, p *job.Plan) bool { return len(p.Release) > 0 }},
	{"J7 terminating counts as failed", func(s *job.Snapshot, p *job.Plan) bool {
		return slices.ContainsFunc(p.Untrack, func(u job.Untracking) bool { return u.As == job.CountedFailed && !u.Ended && !u.OnEnd })
	}},
	{"J8 succeeded", untracks(job.CountedSucceeded)},
	{"J8 failed", untracks(job.CountedFailed)},
	{"J14 index succeeded", untracks(job.CountedIndex)},
	{"J17 failure count kept", func(s *job.Snapshot, p *job.Plan) bool {
		kept := func(pod job.Pod) bool {
			return pod.Phase == job.PodFailed && !pod.Untracked && pod.Owner == job.Owned &&
				!slices.ContainsFunc(p.Untrack, func(u job.Untracking) bool { return u.UID == pod.UID })
		}
		return s.Job.Spec.BackoffLimitPerIndex != nil && slices.ContainsFunc(s.Pods, kept)
	}},
	{"J18 failure count passed on", creates(func(c job.Creation) bool { return c.FailureCount > 0 })},
	{"J18 ignored count passed on", creates(func(c job.Creation) bool { return c.IgnoredFailureCount > 0 })},
	{"J19 success declared", declared(job.ConditionSuccessCriteriaMet)},
	{"J20 failure declared", declared(job.ConditionFailureTarget)},
	{"J21 FailJob", decides("PodFailurePolicy")},
	{"J21 Ignore", policy(job.IgnoreFailure)},
	{"J21 Count", policy(job.CountFailure)},
	{"J21 FailIndex", policy(job.FailIndex)},
	{"J22 backoffLimit", decides("BackoffLimitExceeded")},
	{"J23 deadline", decides("DeadlineExceeded")},
	{"J23 deadline ahead", waits(job.WaitDeadline)},
	{"J24 maxFailedIndexes", decides("MaxFailedIndexesExceeded")},
	{"J24 failed indexes", decides("FailedIndexes")},
	{"J25 successPolicy", decides("SuccessPolicy")},
	{"J27 ending deletes", deletes(job.DeleteEnding)},
	{"J28 suspended deletes", deletes(job.DeleteSuspended)},
	{"J29 surplus", deletes(job.DeleteSurplus)},
	{"J29 no index", deletes(job.DeleteNoIndex)},
	{"J29 index out of range", deletes(job.DeleteIndexOutOfRange)},
	{"J29 duplicate index", deletes(job.DeleteDuplicateIndex)},
	{"J30 create", creates(func(c job.Creation) bool { return c.Reason == job.CreateNew })},
	{"J30 replace", creates(func(c job.Creation) bool { return c.Reason != job.CreateNew })},
	{"J30 held by terminating", waits(job.WaitReplacement)},
	{"J31 backoff", waits(job.WaitBackoff)},
	{"J31 index backoff", waits(job.WaitIndexBackoff)},
	{"J35 recorded before", untracks(job.AlreadyRecorded)},
	{"J35 capped", waits(job.WaitUncounted)},
	{"J36 left behind", func(s *job.Snapshot, p *job.Plan) bool {
		return s.Job.Status.Finished() != "" && len(p.Untrack) > 0
	}},
	{"J37 deleted job", waits(job.WaitDeleted)},
	{"J38 end waits for terminating", waits(job.WaitTerminating)},
	{"E1 own writes unseen", waits(job.WaitExpectations)},
	{"E4 finalizer removal unseen", func(s *job.Snapshot, _ *job.Plan) bool { return s.Memory.Untracking.Len() > 0 }},
	{"E5 end unseen", func(s *job.Snapshot, p *job.Plan) bool { return s.Memory.Finished && waits(job.WaitObserved)(s, p) }},
	{"E6 status unseen", func(s *job.Snapshot, p *job.Plan) bool { return !s.Memory.Finished && waits(job.WaitObserved)(s, p) }},
	{"notes", func(_ *job.Snapshot, p *job.Plan) bool { return len(p.Notes) > 0 }},
	{"nothing to do", func(_ *job.Snapshot, p *job.Plan) bool {
		return len(p.Adopt)+len(p.Release)+len(p.Delete)+len(p.Create)+len(p.Untrack) == 0
	}},
}

// ruleSet is a set of rules, a bit for the place of each.
type ruleSet uint64

// rulesOf returns the rules that hold for a plan.
func rulesOf(s *job.Snapshot, p *job.Plan) (found ruleSet) {
	for i, r := range rules {
		if r.holds(s, p) {
			found |= 1 << i
		}
	}
	return found
}

// count counts each rule of the set.
func (s ruleSet) count(tally []int) {
	for ; s != 0; s &= s - 1 {
		tally[bits.TrailingZeros64(uint64(s))]++
	}
}

func waits(reason job.WaitReason) func(*job.Snapshot, *job.Plan) bool {
	return func(_ *job.Snapshot, p *job.Plan) bool {
		return slices.ContainsFunc(p.Waits, func(w job.Wait) bool { return w.Reason == reason })
	}
}

func untracks(as job.CountedAs) func(*job.Snapshot, *job.Plan) bool {
	return func(_ *job.Snapshot, p *job.Plan) bool {
		return slices.ContainsFunc(p.Untrack, func(u job.Untracking) bool { return u.As == as })
	}
}

func policy(action job.FailureAction) func(*job.Snapshot, *job.Plan) bool {
	return func(_ *job.Snapshot, p *job.Plan) bool {
		return slices.ContainsFunc(p.Untrack, func(u job.Untracking) bool { return u.Policy == action })
	}
}

func creates(like func(job.Creation) bool) func(*job.Snapshot, *job.Plan) bool {
	return func(_ *job.Snapshot, p *job.Plan) bool { return slices.ContainsFunc(p.Create, like) }
}

func deletes(reason job.DeleteReason) func(*job.Snapshot, *job.Plan) bool {
	return func(_ *job.Snapshot, p *job.Plan) bool {
		return slices.ContainsFunc(p.Delete, func(d job.Deletion) bool { return d.Reason == reason })
	}
}

// decides holds for a plan that decides the end for a reason that no status declares yet.
func decides(reason string) func(*job.Snapshot, *job.Plan) bool {
	return func(s *job.Snapshot, p *job.Plan) bool {
		return p.Verdict.Reason == reason && s.Job.Status.Condition(p.Verdict.Type).Status != job.ConditionTrue
	}
}

func declared(t job.ConditionType) func(*job.Snapshot, *job.Plan) bool {
	return func(s *job.Snapshot, p *job.Plan) bool {
		return p.Verdict.Type == t && s.Job.Status.Condition(t).Status == job.ConditionTrue
	}
}
