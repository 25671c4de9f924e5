package conformance

import (
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
)

// jobRound is a round of a job, and its result.
type jobRound struct {
	*job.Snapshot
	plan       *job.Plan
	outcome    job.Outcome
	recording  job.Recording
	settlement job.Settlement
	end        job.Conclusion
}

func newJobRound(s *job.Snapshot, p *job.Plan, o job.Outcome) *jobRound {
	recording := p.Record(o.Writes)
	settlement := recording.Settle(o.Recorded, o.Untracked)
	return &jobRound{s, p, o, recording, settlement, settlement.Conclude(o.Settled)}
}

// jobRules are the rules of jobs and of their expectations.
var jobRules = []rule[*jobRound]{
	{"J3", func(r *jobRound) bool { return r.waits(jobreason.WaitManagedBy) }},
	{"J4", func(r *jobRound) bool { return r.Job.Status.Finished() != "" }},
	{"J5", func(r *jobRound) bool { return r.reports("UnknownCompletionMode") }},
	{"J6 adopted", func(r *jobRound) bool { return len(r.plan.Adopt) > 0 }},
	{"J6 released", func(r *jobRound) bool { return len(r.plan.Release) > 0 }},
	{"J7 phase", func(r *jobRound) bool { return r.hasFailed(isFailed) }},
	{"J7 deletion", func(r *jobRound) bool { return r.hasFailed(isGoing) }},
	{"J8 recorded", func(r *jobRound) bool { return r.untracks(jobreason.AlreadyRecorded) }},
	{"J8 without index", func(r *jobRound) bool {
		return r.has(func(p *job.Pod) bool { return isFinishedPod(p) && !r.hasIndex(p) })
	}},
	{"J9", func(r *jobRound) bool { return r.end.Metrics.PodsSucceeded > 0 }},
	{"J10", func(r *jobRound) bool { return r.end.Metrics.PodsFailed > 0 }},
	{"J11 active", func(r *jobRound) bool { return r.recording.Status.Active != r.Job.Status.Active }},
	{"J11 ready", func(r *jobRound) bool { return value.Of(r.recording.Status.Ready) != value.Of(r.Job.Status.Ready) }},
	{"J11 terminating", func(r *jobRound) bool {
		return value.Of(r.recording.Status.Terminating) != value.Of(r.Job.Status.Terminating)
	}},
	{"J12", func(r *jobRound) bool {
		return r.Job.Status.StartTime.IsZero() && !r.recording.Status.StartTime.IsZero()
	}},
	{"J13 none", func(r *jobRound) bool {
		return r.isIndexed() && r.has(func(p *job.Pod) bool { return p.Index == job.NoIndex() })
	}},
	{"J14", func(r *jobRound) bool { return r.recording.Status.CompletedIndexes != "" }},
	{"J14 run", func(r *jobRound) bool { return strings.Contains(r.recording.Status.CompletedIndexes, "-") }},
	{"J15 active", func(r *jobRound) bool { return r.deletes(jobreason.DeleteIndexOutOfRange) }},
	{
		"J15 counted",
		func(r *jobRound) bool { return r.isIndexed() && r.settlement.Status.Succeeded < r.Job.Status.Succeeded },
	},
	{"J16", func(r *jobRound) bool { return r.end.Metrics.IndexesFailed > 0 }},
	{"J17", func(r *jobRound) bool { return r.has(r.isKept) }},
	{
		"J18 counted",
		func(r *jobRound) bool { return r.creates(func(c *job.Creation) bool { return c.FailureCount > 0 }) },
	},
	{"J18 ignored", func(r *jobRound) bool {
		return r.creates(func(c *job.Creation) bool { return c.IgnoredFailureCount > 0 })
	}},
	{"J19", func(r *jobRound) bool {
		return r.Job.Status.Finished() == "" && r.isTrue(job.ConditionSuccessCriteriaMet)
	}},
	{"J20", func(r *jobRound) bool { return r.Job.Status.Finished() == "" && r.isTrue(job.ConditionFailureTarget) }},
	{"J21 FailJob", func(r *jobRound) bool { return r.end.Metrics.Policy.FailJob > 0 }},
	{"J21 FailIndex", func(r *jobRound) bool { return r.end.Metrics.Policy.FailIndex > 0 }},
	{"J21 Ignore", func(r *jobRound) bool { return r.end.Metrics.Policy.Ignore > 0 }},
	{"J21 Count", func(r *jobRound) bool { return r.end.Metrics.Policy.Count > 0 }},
	{"J21 ends", func(r *jobRound) bool { return r.decides("PodFailurePolicy") }},
	{"J22 failures", func(r *jobRound) bool { return r.decides("BackoffLimitExceeded") && !r.hasRestarted() }},
	{"J22 restarts", func(r *jobRound) bool { return r.decides("BackoffLimitExceeded") && r.hasRestarted() }},
	{"J23 passed", func(r *jobRound) bool { return r.decides("DeadlineExceeded") }},
	{"J23 later", func(r *jobRound) bool { return r.waits(jobreason.WaitDeadline) }},
	{"J24 too many", func(r *jobRound) bool { return r.decides("MaxFailedIndexesExceeded") }},
	{"J24 some", func(r *jobRound) bool { return r.decides("FailedIndexes") }},
	{"J25", func(r *jobRound) bool { return r.decides("SuccessPolicy") }},
	{"J26", func(r *jobRound) bool {
		return r.recording.Status.Condition(job.ConditionSuccessCriteriaMet).Reason == "CompletionsReached"
	}},
	{"J27", func(r *jobRound) bool { return r.deletes(jobreason.DeleteEnding) }},
	{"J27 put off", func(r *jobRound) bool { return r.decides("") && !r.declares() }},
	{"J28", func(r *jobRound) bool { return r.deletes(jobreason.DeleteSuspended) }},
	{"J29 no index", func(r *jobRound) bool { return r.deletes(jobreason.DeleteNoIndex) }},
	{"J29 out of range", func(r *jobRound) bool { return r.deletes(jobreason.DeleteIndexOutOfRange) }},
	{"J29 duplicate", func(r *jobRound) bool { return r.deletes(jobreason.DeleteDuplicateIndex) }},
	{"J29 surplus", func(r *jobRound) bool { return r.deletes(jobreason.DeleteSurplus) }},
	{"J30 new", func(r *jobRound) bool { return r.createsFor(jobreason.CreateNew) }},
	{"J30 replacement", func(r *jobRound) bool { return r.createsFor(jobreason.CreateReplacement) }},
	{"J30 of failed", func(r *jobRound) bool { return r.createsFor(jobreason.CreateReplacementOfFailed) }},
	{"J30 held", func(r *jobRound) bool { return r.waits(jobreason.WaitReplacement) }},
	{"J31 global", func(r *jobRound) bool { return r.waits(jobreason.WaitBackoff) }},
	{"J31 per index", func(r *jobRound) bool { return r.waits(jobreason.WaitIndexBackoff) }},
	{
		"J32 containers",
		func(r *jobRound) bool { return r.hasFailed(func(p *job.Pod) bool { return finish(p) == "containers" }) },
	},
	{"J32 ready", func(r *jobRound) bool { return r.hasFailed(func(p *job.Pod) bool { return finish(p) == "ready" }) }},
	{
		"J32 deletion",
		func(r *jobRound) bool { return r.hasFailed(func(p *job.Pod) bool { return finish(p) == "deletion" }) },
	},
	{
		"J32 creation",
		func(r *jobRound) bool { return r.hasFailed(func(p *job.Pod) bool { return finish(p) == "creation" }) },
	},
	{"J33", func(r *jobRound) bool {
		return r.creates(func(c *job.Creation) bool { return c.Index != job.NoIndex() })
	}},
	{"J34 stopped", func(r *jobRound) bool {
		return r.created(jobreason.ResultUnsuccessful) && r.created(jobreason.ResultNotTried)
	}},
	{"J34 namespace", func(r *jobRound) bool { return r.created(jobreason.ResultRefused) }},
	{"J35 recorded", func(r *jobRound) bool { return r.recording.Write && hasUncounted(&r.recording.Status) }},
	{"J35 taken up", func(r *jobRound) bool { return hasUncounted(&r.Job.Status) }},
	{"J37 failing", func(r *jobRound) bool { return r.untracksOnEnd(jobreason.CountedFailed) }},
	{"J37 succeeding", func(r *jobRound) bool { return r.untracksOnEnd(jobreason.NotCounted) }},
	{"J38 Complete", func(r *jobRound) bool { return r.end.Metrics.Finished == job.ConditionComplete }},
	{"J38 Failed", func(r *jobRound) bool { return r.end.Metrics.Finished == job.ConditionFailed }},
	{"J38 put off", func(r *jobRound) bool { return r.waits(jobreason.WaitTerminating) }},
	{"J39 suspended", func(r *jobRound) bool { return r.reports("Suspended") }},
	{"J39 resumed", func(r *jobRound) bool { return r.reports("Resumed") }},
	{"J40", func(r *jobRound) bool { return r.end.Metrics.Action != "" && !r.recording.Write && !r.settlement.Write }},
	{"J41 created", func(r *jobRound) bool { return r.reports("SuccessfulCreate") }},
	{"J41 not created", func(r *jobRound) bool { return r.reports("FailedCreate") }},
	{"J41 deleted", func(r *jobRound) bool { return r.reports("SuccessfulDelete") }},
	{"J41 not deleted", func(r *jobRound) bool { return r.reports("FailedDelete") }},
	{"J41 too many", func(r *jobRound) bool { return r.reports("TooManySucceededPods") }},
	{"J41 end", func(r *jobRound) bool { return r.reports("Completed") || r.reports("BackoffLimitExceeded") }},
	{"J42 tracking", func(r *jobRound) bool { return r.end.Metrics.Action == "tracking" }},
	{"J42 created", func(r *jobRound) bool { return r.end.Metrics.PodsCreated > 0 }},
	{"J42 finished", func(r *jobRound) bool { return r.end.Metrics.FinishedReason != "" }},
	{"J43 at a time", func(r *jobRound) bool { return !r.plan.Requeue.At.IsZero() }},
	{"J43 retry", func(r *jobRound) bool { return r.end.Retry }},
	{"J44 created", func(r *jobRound) bool { return r.writesGroup(jobgroup.ReasonNew) }},
	{"J44 pods", func(r *jobRound) bool { return r.creates(func(c *job.Creation) bool { return c.Group.Name != "" }) }},
	{"J44 failed", func(r *jobRound) bool {
		return slices.ContainsFunc(r.outcome.Grouped,
			func(e jobgroup.Effect) bool { return e.Result != jobreason.ResultDone })
	}},
	{"J44 unseen", func(r *jobRound) bool {
		isGang := r.Job.Spec.Scheduling != nil && r.Options.Gangs
		return isGang && r.creates(func(c *job.Creation) bool { return c.Group.Name == "" })
	}},
	{"J45", func(r *jobRound) bool { return r.writesGroup(jobgroup.ReasonResized) }},

	{"E1 held", func(r *jobRound) bool { return r.waits(jobreason.WaitExpectations) }},
	{"E1 timed out", func(r *jobRound) bool {
		return r.end.Metrics.Action != "" && !r.waits(jobreason.WaitExpectations) && r.Memory.Expectations.Creations > 0
	}},
	{"E2", func(r *jobRound) bool {
		return r.created(jobreason.ResultUnsuccessful) || r.deleted(jobreason.ResultUnsuccessful)
	}},
	{"E3", func(r *jobRound) bool {
		return len(r.plan.Create)+len(r.plan.Delete) > 0 && !r.Memory.Expectations.At.IsZero()
	}},
	{"E4", func(r *jobRound) bool {
		return r.has(func(p *job.Pod) bool { return !p.Untracked && r.Memory.Untracking.Has(p.UID) })
	}},
	{"E5", func(r *jobRound) bool { return r.Memory.Finished && r.Job.Status.Finished() == "" }},
}

func (r *jobRound) writesGroup(reason jobgroup.Reason) bool {
	return slices.ContainsFunc(r.plan.Groups, func(g jobgroup.Write) bool { return g.Reason == reason })
}

func (r *jobRound) isIndexed() bool { return r.Job.Spec.CompletionMode == job.Indexed }

func (r *jobRound) hasIndex(p *job.Pod) bool {
	return !r.isIndexed() || p.Index.Int32() >= 0 && p.Index.Int32() < *r.Job.Spec.Completions
}

func (r *jobRound) isTrue(t job.ConditionType) bool {
	return r.Job.Status.Condition(t).Status == job.ConditionTrue
}

func (r *jobRound) has(is func(*job.Pod) bool) bool {
	for i := range r.Pods {
		if is(&r.Pods[i]) {
			return true
		}
	}
	return false
}

// hasFailed reports whether the function accepts a pod that counts as failed from this round on.
func (r *jobRound) hasFailed(is func(*job.Pod) bool) bool {
	return r.has(func(p *job.Pod) bool {
		return is(p) && slices.ContainsFunc(r.recording.Untrack, func(u job.Untracking) bool {
			return u.UID == p.UID && u.As == jobreason.CountedFailed && !u.OnEnd
		})
	})
}

// isKept reports whether the pod has failed and keeps its finalizer for the
// failure count of its index (J17).
func (r *jobRound) isKept(p *job.Pod) bool {
	switch {
	case r.Job.Spec.BackoffLimitPerIndex == nil,
		p.Owner != jobpod.Owned,
		p.Untracked,
		!isFailed(p),
		!r.hasIndex(p),
		r.Memory.Untracking.Has(p.UID):
		return false
	}
	return !slices.ContainsFunc(r.recording.Untrack, func(u job.Untracking) bool { return u.UID == p.UID })
}

// hasRestarted reports whether only restarts of containers can have ended the job (J22).
func (r *jobRound) hasRestarted() bool {
	failed := int32(len(value.Of(r.Job.Status.UncountedTerminatedPods).Failed)) + r.Job.Status.Failed
	for i := range r.Pods {
		if p := &r.Pods[i]; isFailed(p) || isGoing(p) {
			failed++
		}
	}
	return r.Job.Spec.BackoffLimit != nil && failed <= *r.Job.Spec.BackoffLimit
}

func (r *jobRound) waits(reason jobreason.Wait) bool {
	return slices.ContainsFunc(r.plan.Waits, func(w job.Wait) bool { return w.Reason == reason })
}

// decides reports whether the round has decided how the job ends; the reason "" stands for any
// reason.
func (r *jobRound) decides(reason string) bool {
	v := r.plan.Verdict
	isMeant := reason == "" || v.Reason == reason
	return isMeant && v.Type != "" && !r.isTrue(v.Type)
}

// declares reports whether the round has declared how the job ends.
func (r *jobRound) declares() bool {
	return r.recording.Status.Condition(r.plan.Verdict.Type).Status == job.ConditionTrue
}

func (r *jobRound) deletes(reason jobreason.Delete) bool {
	return slices.ContainsFunc(r.plan.Delete, func(d job.Deletion) bool { return d.Reason == reason })
}

func (r *jobRound) creates(is func(*job.Creation) bool) bool {
	return slices.ContainsFunc(r.plan.Create, func(c job.Creation) bool { return is(&c) })
}

func (r *jobRound) createsFor(reason jobreason.Create) bool {
	return r.creates(func(c *job.Creation) bool { return c.Reason == reason })
}

// created and deleted report whether a creation or a deletion had this result.
func (r *jobRound) created(result jobreason.Result) bool { return hasResult(r.outcome.Created, result) }
func (r *jobRound) deleted(result jobreason.Result) bool { return hasResult(r.outcome.Deleted, result) }

func hasResult(effects []job.Effect, result jobreason.Result) bool {
	return slices.ContainsFunc(effects, func(e job.Effect) bool { return e.Result == result })
}

func (r *jobRound) untracks(as jobreason.Counted) bool {
	return slices.ContainsFunc(r.recording.Untrack, func(u job.Untracking) bool { return u.As == as })
}

func (r *jobRound) untracksOnEnd(as jobreason.Counted) bool {
	return slices.ContainsFunc(r.recording.Untrack, func(u job.Untracking) bool { return u.OnEnd && u.As == as })
}

func (r *jobRound) reports(reason string) bool {
	return slices.ContainsFunc(r.end.Events, func(e job.Event) bool { return e.Reason == reason })
}

func isFailed(p *job.Pod) bool { return p.Phase == job.PodFailed }

// isGoing reports whether the pod is being deleted and has not finished.
func isGoing(p *job.Pod) bool {
	return p.Deletion != nil && p.Phase != job.PodFailed && p.Phase != job.PodSucceeded
}

func isFinishedPod(p *job.Pod) bool {
	return !p.Untracked && (p.Phase == job.PodFailed || p.Phase == job.PodSucceeded)
}

// finish names the source of a pod's finish time (J32).
func finish(p *job.Pod) string {
	d := p.Detail
	running := func(c jobpod.Container) bool { return c.Kind != jobpod.Init && c.State != jobpod.Terminated }
	switch {
	case d != nil && len(d.Containers) > 0 && !slices.ContainsFunc(d.Containers, running):
		return "containers"
	case d != nil && !p.Ready && !d.ReadyTransition.IsZero():
		return "ready"
	case p.Deletion != nil:
		return "deletion"
	}
	return "creation"
}

func hasUncounted(s *job.Status) bool {
	u := value.Of(s.UncountedTerminatedPods)
	return len(u.Succeeded)+len(u.Failed) > 0
}

// ttlLook is a look of the TTL controller at a finished job.
type ttlLook struct {
	job            *job.Job
	now            time.Time
	fresh, expired bool
	at             time.Time
}

// ttlRules are the rules of the TTL controller.
var ttlRules = []rule[*ttlLook]{
	{"T1 TTL", func(l *ttlLook) bool { return l.job.Spec.TTLSecondsAfterFinished != nil }},
	{"T1 none", func(l *ttlLook) bool { return l.job.Spec.TTLSecondsAfterFinished == nil }},
	{"T1 deleted", func(l *ttlLook) bool {
		return l.job.Spec.TTLSecondsAfterFinished != nil && !l.job.DeletionTimestamp.IsZero()
	}},
	{"T2 expired", func(l *ttlLook) bool { return l.expired }},
	{"T2 later", func(l *ttlLook) bool { return !l.at.IsZero() }},
	{"T3 in the future", func(l *ttlLook) bool {
		return l.job.Status.Condition(l.job.Status.Finished()).LastTransitionTime.After(l.now)
	}},
	{"T4 confirmed", func(l *ttlLook) bool { return l.fresh && l.expired }},
}
