package conformance

import (
	"slices"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
)

// classRules are the classes of scripts.
var classRules = []rule[*script.Script]{
	{"class: a job", func(s *script.Script) bool { return s.Job != nil && !isBig(s) }},
	{"class: a job of more than 500 pods or indexes", isBig},
	{"class: a job and late caches", func(s *script.Script) bool { return s.Stale }},
	{"class: a CronJob with its pods", func(s *script.Script) bool { return s.CronJob != nil && !s.Manual }},
	{"class: a CronJob whose jobs are ended by hand", func(s *script.Script) bool { return s.Manual }},
	{"class: an object that an older release has stored", func(s *script.Script) bool {
		return slices.ContainsFunc(s.Steps, func(step script.Step) bool { return step.Op == "old" })
	}},
}

func isBig(s *script.Script) bool {
	return s.Job != nil && s.Job.Completions != nil && *s.Job.Completions > 500
}

// mostAtOnce is the number of pods that a round creates, deletes or accounts for at most (J30,
// J35).
const mostAtOnce = 500

// situationRules are situations in which several rules meet.
var situationRules = []rule[*jobRound]{
	{
		"situation: more pods are missing than a round creates",
		func(r *jobRound) bool { return len(r.plan.Create) == mostAtOnce },
	},
	{
		"situation: more pods have finished than a round accounts for",
		func(r *jobRound) bool { return len(r.recording.Untrack) >= mostAtOnce },
	},
	{
		"situation: only some containers of a failed pod have ended",
		func(r *jobRound) bool { return r.hasFailed(isPartlyEnded) },
	},
	{
		"situation: nothing says when a container of a failed pod has ended",
		func(r *jobRound) bool { return r.hasFailed(isUntimed) },
	},
	{"situation: another writer has edited the condition Suspended", func(r *jobRound) bool {
		return r.Job.Status.Condition(job.ConditionSuspended).Reason == "Edited"
	}},
	{"situation: another writer has ended the job", func(r *jobRound) bool {
		return r.Job.Status.Condition(job.ConditionFailureTarget).Reason == "Edited" ||
			r.Job.Status.Condition(job.ConditionSuccessCriteriaMet).Reason == "Edited"
	}},
	{"situation: a terminating pod's removal is in flight", func(r *jobRound) bool {
		return r.has(func(p *job.Pod) bool { return isGoing(p) && !p.Untracked && r.Memory.Untracking.Has(p.UID) })
	}},
	{"situation: counted indexes drop out while others succeed", func(r *jobRound) bool {
		return r.isIndexed() && r.newSuccesses() > 0 &&
			r.Job.Status.Succeeded+r.newSuccesses() > r.settlement.Status.Succeeded
	}},
	{"situation: a recorded failure of an index has no replacement", func(r *jobRound) bool {
		return r.Job.Spec.BackoffLimitPerIndex != nil && r.has(func(p *job.Pod) bool {
			return isFailed(p) && !p.Untracked && r.hasIndex(p) &&
				slices.Contains(value.Of(r.Job.Status.UncountedTerminatedPods).Failed, p.UID) &&
				!r.isReplaced(p)
		})
	}},
	{"situation: some indexes are in backoff and others are created", func(r *jobRound) bool {
		return r.isIndexed() && len(r.plan.Create) > 0 &&
			r.has(func(p *job.Pod) bool { return r.isKept(p) && !r.isReplaced(p) && !r.createsIndex(p.Index) })
	}},
}

func isPartlyEnded(p *job.Pod) bool {
	ended := func(c jobpod.Container) bool { return c.State == jobpod.Terminated }
	return p.Detail != nil && slices.ContainsFunc(p.Detail.Containers, ended) &&
		slices.ContainsFunc(p.Detail.Containers, func(c jobpod.Container) bool { return !ended(c) })
}

func isUntimed(p *job.Pod) bool {
	return p.Detail != nil && slices.ContainsFunc(p.Detail.Containers, func(c jobpod.Container) bool {
		return c.State == jobpod.Terminated && c.FinishedAt.IsZero()
	})
}

// newSuccesses counts the pods whose success the round counts by their index.
func (r *jobRound) newSuccesses() (n int32) {
	for i := range r.recording.Untrack {
		if r.recording.Untrack[i].As == jobreason.CountedIndex {
			n++
		}
	}
	return n
}

func (r *jobRound) createsIndex(index job.Index) bool {
	return r.creates(func(c *job.Creation) bool { return c.Index == index })
}

// isReplaced reports whether another pod has the index of a failed one.
func (r *jobRound) isReplaced(p *job.Pod) bool {
	return r.has(func(q *job.Pod) bool { return q.UID != p.UID && q.Index == p.Index })
}
