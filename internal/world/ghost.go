package world

import (
	"slices"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/job"
)

// ghost is the history that no controller can see: how each pod ended, and how each
// UID was counted.
type ghost struct {
	pods map[string]*life
	// counted holds the UIDs that were moved from a list into a counter.
	counted map[string]string
	// lostCreates counts creations whose reply was lost (F4), per round.
	lostCreates int64
	// lostStatus is set when the reply to a status write was lost: a controller behind
	// a watch cannot know then that the job has ended.
	lostStatus bool
	// edited, restarted, traveled (in time) and lagged (the watch, by more than the
	// expectations wait) weaken what can be promised.
	edited, restarted, traveled, lagged bool
}

// life is the history of one pod.
type life struct {
	ended   job.PodPhase // PodSucceeded or PodFailed once it has ended
	index   int32
	removed bool // deleted by a plan, finalizer first
}

func (g *ghost) init() {
	g.pods = make(map[string]*life)
	g.counted = make(map[string]string)
}

func (g *ghost) born(p *job.Pod) { g.pods[p.UID] = &life{index: p.Index.Int32()} }

func (g *ghost) ended(p *job.Pod) { g.pods[p.UID].ended = p.Phase }

func (g *ghost) lost(write string) {
	if len(write) > 6 && write[:6] == "create" {
		g.lostCreates++
	}
	g.lostStatus = g.lostStatus || write == "status"
}

// checkPlan checks what must be true of every plan, whatever the snapshot (JI10,
// JI11, JI5, and never both creations and deletions).
func (w *World) checkPlan(s *job.Snapshot, plan *job.Plan) {
	if len(plan.Create) > 0 && len(plan.Delete) > 0 {
		w.fail("JI13", "creates and deletes in one plan")
	}
	if len(plan.Create) > 500 {
		w.fail("JI5", "%d creates", len(plan.Create))
	}
	active, terminating := int64(0), int64(0)
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Owner != job.Owned && p.Owner != job.Orphan || p.Phase >= job.PodSucceeded {
			continue
		}
		switch {
		case p.Deletion == nil:
			active++
		case p.Owner == job.Owned: // an orphan that is being deleted is not adopted
			terminating++
		}
	}
	creates := int64(len(plan.Create))
	spec := &s.Job.Spec
	if creates > 0 && active+creates > int64(*spec.Parallelism) {
		w.fail("JI10", "%d active and %d creates, parallelism %d", active, creates, *spec.Parallelism)
	}
	waits := w.Options.TerminatingTimeout == 0 && w.Options.PendingTimeout == 0
	if creates > 0 && waits && spec.PodReplacementPolicy == job.ReplaceFailed && active+terminating+creates > int64(*spec.Parallelism) {
		w.fail("JI11", "%d active, %d terminating and %d creates, parallelism %d", active, terminating, creates, *spec.Parallelism)
	}
	w.checkCreatedIndexes(s, plan)
	w.checkAdopted(s, plan)
	if creates > 0 && spec.Suspend != nil && *spec.Suspend {
		w.fail("JI18", "a suspended job creates")
	}
	if ended := s.Job.Status.Finished() != "" || s.Memory.Finished && s.Memory.JobUID == s.Job.UID; ended && creates > 0 {
		w.fail("JI16", "creates after the end")
	}
}

// checkAdopted checks JI22: only orphans are adopted, and neither the pod nor the job
// is being deleted.
func (w *World) checkAdopted(s *job.Snapshot, plan *job.Plan) {
	for _, ref := range plan.Adopt {
		i := slices.IndexFunc(s.Pods, func(p job.Pod) bool { return p.UID == ref.UID })
		if p := &s.Pods[i]; p.Owner != job.Orphan || p.Deletion != nil || !s.Job.DeletionTimestamp.IsZero() {
			w.fail("JI22", "%s is adopted", ref.Name)
		}
	}
}

// checkCreatedIndexes checks JI7 and JI13.
func (w *World) checkCreatedIndexes(s *job.Snapshot, plan *job.Plan) {
	if s.Job.Spec.CompletionMode != job.Indexed {
		return
	}
	var done indexset.Set
	done.AddText(s.Job.Status.CompletedIndexes, *s.Job.Spec.Completions)
	if s.Job.Status.FailedIndexes != nil {
		done.AddText(*s.Job.Status.FailedIndexes, *s.Job.Spec.Completions)
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		running := p.Phase < job.PodSucceeded && p.Deletion == nil
		if p.Owner == job.Owned && p.Index.Int32() >= 0 && (running || p.Phase == job.PodSucceeded && !p.Untracked) {
			done.Add(p.Index.Int32())
		}
	}
	for _, c := range plan.Create {
		if i := c.Index.Int32(); i < 0 || i >= *s.Job.Spec.Completions || !done.Add(i) {
			w.fail("JI7", "index %s is created again", c.Index)
		}
	}
}

// checkParallelism checks the second half of JI10, for a controller that reads its
// own writes, or is notified of them and has not been restarted.
func (w *World) checkParallelism() {
	if w.Stale && w.ghost.restarted || w.ghost.traveled || w.ghost.lagged {
		return
	}
	var active int64
	for _, p := range w.Pods {
		if p.Owner == job.Owned && p.Phase < job.PodSucceeded && p.Deletion == nil {
			active++
		}
	}
	if active > w.maxActive+w.ghost.lostCreates {
		w.fail("JI10", "%d pods are active, parallelism is at most %d, %d replies were lost", active, w.maxActive, w.ghost.lostCreates)
	}
}

// checkUntrack checks JI3 for the finalizer of a pod that has ended by itself.
func (w *World) checkUntrack(p *job.Pod) {
	s := &w.Job.Status
	end := s.Condition(job.ConditionFailureTarget).Status == job.ConditionTrue || s.Condition(job.ConditionSuccessCriteriaMet).Status == job.ConditionTrue || !w.Job.DeletionTimestamp.IsZero()
	if p.Untracked || p.Phase != job.PodSucceeded || end || w.ghost.pods[p.UID].removed {
		return
	}
	recorded := w.ghost.counted[p.UID] != ""
	if u := s.UncountedTerminatedPods; u != nil {
		recorded = recorded || slices.Contains(u.Succeeded, p.UID) || slices.Contains(u.Failed, p.UID)
	}
	if w.Job.Spec.CompletionMode == job.Indexed {
		i := p.Index.Int32()
		recorded = recorded || i < 0 || i >= *w.Job.Spec.Completions || hasIndex(s.CompletedIndexes, i) ||
			s.FailedIndexes != nil && hasIndex(*s.FailedIndexes, i)
	}
	if !recorded {
		w.fail("JI3", "the finalizer of %s is removed, and its success is not recorded", p.Name)
	}
}

func hasIndex(text string, i int32) bool {
	var s indexset.Set
	s.AddText(text, 1<<31-1)
	return s.Has(i)
}
