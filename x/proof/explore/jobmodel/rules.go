package jobmodel

import (
	"slices"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/x/proof/explore"
)

var rule = explore.NewRule[job.Snapshot, job.Plan]

// rules lists what plans can do or decide.
var rules = explore.Rules[job.Snapshot, job.Plan]{
	rule("J4 finished", waits(jobreason.WaitFinished)),
	rule("J6 adopt", func(_ *job.Snapshot, p *job.Plan) bool { return len(p.Adopt) > 0 }),
	rule("J6 release", func(_ *job.Snapshot, p *job.Plan) bool { return len(p.Release) > 0 }),
	rule("J7 terminating counts as failed", func(s *job.Snapshot, p *job.Plan) bool {
		return slices.ContainsFunc(p.Untrack,
			func(u job.Untracking) bool { return u.As == jobreason.CountedFailed && !u.Ended && !u.OnEnd })
	}),
	rule("J8 succeeded", untracks(jobreason.CountedSucceeded)),
	rule("J8 failed", untracks(jobreason.CountedFailed)),
	rule("J14 index succeeded", untracks(jobreason.CountedIndex)),
	rule("J17 failure count kept", func(s *job.Snapshot, p *job.Plan) bool {
		kept := func(pod job.Pod) bool {
			isUntracked := func(u job.Untracking) bool { return u.UID == pod.UID }
			isTracked := !pod.Untracked && !slices.ContainsFunc(p.Untrack, isUntracked)
			return isTracked && pod.Phase == job.PodFailed && pod.Owner == jobpod.Owned
		}
		return s.Job.Spec.BackoffLimitPerIndex != nil && slices.ContainsFunc(s.Pods, kept)
	}),
	rule("J18 failure count passed on", creates(func(c job.Creation) bool { return c.FailureCount > 0 })),
	rule("J18 ignored count passed on", creates(func(c job.Creation) bool { return c.IgnoredFailureCount > 0 })),
	rule("J19 success declared", declared(job.ConditionSuccessCriteriaMet)),
	rule("J20 failure declared", declared(job.ConditionFailureTarget)),
	rule("J21 FailJob", decides("PodFailurePolicy")),
	rule("J21 Ignore", policy(job.IgnoreFailure)),
	rule("J21 Count", policy(job.CountFailure)),
	rule("J21 FailIndex", policy(job.FailIndex)),
	rule("J22 backoffLimit", decides("BackoffLimitExceeded")),
	rule("J23 deadline", decides("DeadlineExceeded")),
	rule("J23 deadline ahead", waits(jobreason.WaitDeadline)),
	rule("J24 maxFailedIndexes", decides("MaxFailedIndexesExceeded")),
	rule("J24 failed indexes", decides("FailedIndexes")),
	rule("J25 successPolicy", decides("SuccessPolicy")),
	rule("J27 ending deletes", deletes(jobreason.DeleteEnding)),
	rule("J28 suspended deletes", deletes(jobreason.DeleteSuspended)),
	rule("J29 surplus", deletes(jobreason.DeleteSurplus)),
	rule("J29 no index", deletes(jobreason.DeleteNoIndex)),
	rule("J29 index out of range", deletes(jobreason.DeleteIndexOutOfRange)),
	rule("J29 duplicate index", deletes(jobreason.DeleteDuplicateIndex)),
	rule("J30 create", creates(func(c job.Creation) bool { return c.Reason == jobreason.CreateNew })),
	rule("J30 replace", creates(func(c job.Creation) bool { return c.Reason != jobreason.CreateNew })),
	rule("J30 held by terminating", waits(jobreason.WaitReplacement)),
	rule("J31 backoff", waits(jobreason.WaitBackoff)),
	rule("J31 index backoff", waits(jobreason.WaitIndexBackoff)),
	rule("J35 recorded before", untracks(jobreason.AlreadyRecorded)),
	rule("J35 capped", waits(jobreason.WaitUncounted)),
	rule("J36 left behind", func(s *job.Snapshot, p *job.Plan) bool {
		return s.Job.Status.Finished() != "" && len(p.Untrack) > 0
	}),
	rule("J37 deleted job", waits(jobreason.WaitDeleted)),
	rule("J38 end waits for terminating", waits(jobreason.WaitTerminating)),
	rule("J44 group created", func(_ *job.Snapshot, p *job.Plan) bool { return writesGroup(p, jobgroup.ReasonNew) }),
	rule("J44 in no group", func(s *job.Snapshot, p *job.Plan) bool {
		return s.Options.Gangs && len(p.Create) > 0 && p.Create[0].Group.Name == ""
	}),
	rule("J45 gang resized", func(_ *job.Snapshot, p *job.Plan) bool { return writesGroup(p, jobgroup.ReasonResized) }),
	rule("E1 own writes unseen", waits(jobreason.WaitExpectations)),
	rule("E4 finalizer removal unseen",
		func(s *job.Snapshot, _ *job.Plan) bool { return s.Memory.Untracking.Len() > 0 }),
	rule("E5 end unseen", func(s *job.Snapshot, p *job.Plan) bool {
		return s.Memory.Finished && waits(jobreason.WaitObserved)(s, p)
	}),
	rule("E6 status unseen", func(s *job.Snapshot, p *job.Plan) bool {
		return !s.Memory.Finished && waits(jobreason.WaitObserved)(s, p)
	}),
	rule("notes", func(_ *job.Snapshot, p *job.Plan) bool { return len(p.Notes) > 0 }),
	rule("nothing to do", func(_ *job.Snapshot, p *job.Plan) bool {
		return len(p.Adopt)+len(p.Release)+len(p.Groups)+len(p.Delete)+len(p.Create)+len(p.Untrack) == 0
	}),
}

func writesGroup(p *job.Plan, reason jobgroup.Reason) bool {
	return slices.ContainsFunc(p.Groups, func(g jobgroup.Write) bool { return g.Reason == reason })
}

func waits(reason jobreason.Wait) func(*job.Snapshot, *job.Plan) bool {
	return func(_ *job.Snapshot, p *job.Plan) bool {
		return slices.ContainsFunc(p.Waits, func(w job.Wait) bool { return w.Reason == reason })
	}
}

func untracks(as jobreason.Counted) func(*job.Snapshot, *job.Plan) bool {
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

func deletes(reason jobreason.Delete) func(*job.Snapshot, *job.Plan) bool {
	return func(_ *job.Snapshot, p *job.Plan) bool {
		return slices.ContainsFunc(p.Delete, func(d job.Deletion) bool { return d.Reason == reason })
	}
}

// decides returns a function that finds plans in which the end of the job is decided, for the given
// reason, and is not yet in the status.
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
