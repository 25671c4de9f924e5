package job

import "github.com/batchplan/batchplan/job/jobquirk"

// managePods deletes what is too much or else creates what is missing, never
// both. It waits for the expectations (E1) and for adoptions, and leaves a job
// alone that is being deleted.
func (p *Planner) managePods() {
	b := &p.plan.Basis
	if !b.Satisfied || p.job.isDeleted() {
		return
	}
	if len(p.plan.Adopt) > 0 && !p.snap.Options.Quirks.Has(jobquirk.UncheckedUntrack) {
		// An adopted pod has a version that this plan cannot know, so its finalizer
		// must not go on condition of one (JI9). The next round sees it.
		p.wait(Wait{Reason: WaitAdoption, Pods: int64(len(p.plan.Adopt))})
		return
	}
	b.Managed = true
	if p.job.isSuspended() {
		b.Action = ActionPodsDeleted // even if there is no pod to delete
		p.deleteActive(DeleteSuspended)
		return
	}
	p.deletePending()
	wanted := p.wantedActive()
	if p.deleteSurplus(max(p.counts.active-wanted, 0)); len(p.plan.Delete) > 0 {
		b.Action = ActionPodsDeleted
		return
	}
	b.Action = ActionTracking
	missing := wanted - p.counts.active
	if p.job.replacesOnlyFailed() {
		if held := min(missing, p.counts.terminating); held > 0 {
			p.wait(Wait{Reason: WaitReplacement, Pods: held, Terminating: p.counts.terminating})
		}
		missing -= p.counts.terminating
	}
	if missing > 0 {
		b.Action = ActionPodsCreated // even if a backoff holds all of them
		p.createMissing(missing)
	}
}

// wantedActive is how many pods are to be active (J29).
func (p *Planner) wantedActive() int64 {
	parallelism := int64(*p.job.Spec.Parallelism)
	if p.job.Spec.Completions == nil {
		if p.succeeded > 0 {
			return p.counts.active // a work queue that has had its success drains
		}
		return parallelism
	}
	return max(min(parallelism, int64(*p.job.Spec.Completions)-p.succeeded), 0)
}

// completionsReached reports whether the successes suffice (J26); the job ends
// once no pod is active.
func (p *Planner) completionsReached() bool {
	if p.job.Spec.Completions == nil {
		return p.succeeded > 0
	}
	return p.succeeded >= int64(*p.job.Spec.Completions)
}
