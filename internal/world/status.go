package world

import (
	"slices"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/job"
)

// checkStatus checks what must be true of every status that is written: the rules
// of the API server, and the conservation of pods.
func (w *World) checkStatus(old, s *job.Status) {
	w.checkNumbers(old, s)
	w.checkConservation(old, s)
	w.checkConditions(old, s)
	w.checkEnd(old, s)
	w.checkIndexes(s)
}

func (w *World) checkNumbers(old, s *job.Status) {
	ready, terminating := int32(0), int32(0)
	if s.Ready != nil {
		ready = *s.Ready
	}
	if s.Terminating != nil {
		terminating = *s.Terminating
	}
	if ready < 0 || ready > s.Active || terminating < 0 || s.Active < 0 || s.Succeeded < 0 || s.Failed < 0 {
		w.fail("JI20", "ready %d, active %d, terminating %d, succeeded %d, failed %d", ready, s.Active, terminating, s.Succeeded, s.Failed)
	}
	shrunk := w.Job.Spec.CompletionMode == job.Indexed && w.ghost.edited
	if s.Failed < old.Failed || s.Succeeded < old.Succeeded && !shrunk {
		w.fail("JI4", "succeeded %d -> %d, failed %d -> %d", old.Succeeded, s.Succeeded, old.Failed, s.Failed)
	}
}

// checkConservation follows each UID through the lists into the counters: it enters
// once and leaves once, and the counters change by as many (JI1, JI2, JI3).
func (w *World) checkConservation(old, s *job.Status) {
	was, is := lists(old), lists(s)
	for _, list := range [...]string{"succeeded", "failed"} {
		for n, uid := range is[list] {
			switch {
			case uid == "" || slices.Contains(is[list][:n], uid):
				w.fail("JI2", "UID %q is a duplicate or empty in %s", uid, list)
			case list == "succeeded" && slices.Contains(is["failed"], uid):
				w.fail("JI2", "UID %q is in both lists", uid)
			case w.ghost.counted[uid] != "" && !w.ghost.traveled:
				w.fail("JI1", "UID %q was counted as %s and is recorded again as %s", uid, w.ghost.counted[uid], list)
			case list == "failed" && w.isActive(uid) && s.Condition(job.ConditionFailureTarget).Status != job.ConditionTrue:
				w.fail("J27", "UID %q is counted as failed but active, and the job goes on", uid)
			case list == "succeeded" && w.ghost.pods[uid].ended != job.PodSucceeded:
				w.fail("JI1", "UID %q has not succeeded", uid)
			}
		}
		var moved int32
		for _, uid := range was[list] {
			if slices.Contains(is[list], uid) {
				continue
			}
			moved++
			w.ghost.counted[uid] = list
			if p := w.find(job.PodRef{UID: uid}); p != nil && !p.Untracked {
				w.fail("JI3", "UID %q is counted and %s still has the finalizer", uid, p.Name)
			}
		}
		w.checkMoved(list, moved, old, s)
	}
}

func (w *World) isActive(uid string) bool {
	p := w.find(job.PodRef{UID: uid})
	return p != nil && p.Phase < job.PodSucceeded && p.Deletion == nil
}

func (w *World) checkMoved(list string, moved int32, old, s *job.Status) {
	added := s.Failed - old.Failed
	if list == "succeeded" {
		if w.Job.Spec.CompletionMode == job.Indexed {
			return // counted by index
		}
		added = s.Succeeded - old.Succeeded
	}
	if added != moved {
		w.fail("JI1", "%s rises by %d, %d UIDs left the list", list, added, moved)
	}
}

func lists(s *job.Status) map[string][]string {
	u := s.UncountedTerminatedPods
	if u == nil {
		return nil
	}
	return map[string][]string{"succeeded": u.Succeeded, "failed": u.Failed}
}

func (w *World) checkConditions(old, s *job.Status) {
	is := func(s *job.Status, t job.ConditionType) bool { return s.Condition(t).Status == job.ConditionTrue }
	for _, t := range [...]job.ConditionType{job.ConditionComplete, job.ConditionFailed, job.ConditionFailureTarget, job.ConditionSuccessCriteriaMet} {
		if is(old, t) && (!is(s, t) || old.Condition(t) != s.Condition(t)) {
			w.fail("JI14", "condition %s changes", t)
		}
		if old.Finished() != "" && is(old, t) != is(s, t) {
			w.fail("JI14", "condition %s changes after the end", t)
		}
	}
	complete, failed := is(s, job.ConditionComplete), is(s, job.ConditionFailed)
	met, target := is(s, job.ConditionSuccessCriteriaMet), is(s, job.ConditionFailureTarget)
	if complete && (failed || target) || met && (failed || target) || failed && !target || complete && !met {
		w.fail("JI15", "Complete=%v Failed=%v SuccessCriteriaMet=%v FailureTarget=%v", complete, failed, met, target)
	}
	if complete == s.CompletionTime.IsZero() || complete && s.CompletionTime.Before(s.StartTime) {
		w.fail("JI17", "Complete=%v, completion time %v, start time %v", complete, s.CompletionTime, s.StartTime)
	}
	if turned := is(old, job.ConditionSuspended) != is(s, job.ConditionSuspended); !turned && !old.StartTime.IsZero() && !old.StartTime.Equal(s.StartTime) {
		w.fail("JI17", "start time %v -> %v", old.StartTime, s.StartTime)
	}
}

// checkEnd checks JI8 and the second half of JI16.
func (w *World) checkEnd(old, s *job.Status) {
	if s.Finished() == "" || old.Finished() != "" {
		return
	}
	if u := lists(s); len(u["succeeded"])+len(u["failed"]) > 0 {
		w.fail("JI8", "the job ends with uncounted pods %v", u)
	}
	if s.Active != 0 || s.Terminating == nil || *s.Terminating != 0 {
		w.fail("JI8", "the job ends with active or terminating pods")
	}
	if w.Stale && (w.ghost.restarted || w.ghost.lostCreates > 0) || w.ghost.traveled || w.ghost.lagged {
		return
	}
	for _, p := range w.Pods {
		if p.Owner == job.Owned && p.Phase < job.PodSucceeded && p.Deletion == nil {
			w.fail("JI16", "the job ends while %s is active", p.Name)
		}
	}
}

// checkIndexes checks JI6.
func (w *World) checkIndexes(s *job.Status) {
	if w.Job.Spec.CompletionMode != job.Indexed {
		return
	}
	var completed, failed indexset.Set
	completed.AddText(s.CompletedIndexes, *w.Job.Spec.Completions)
	if string(completed.AppendText(nil)) != s.CompletedIndexes || completed.Len() != int(s.Succeeded) {
		w.fail("JI6", "completedIndexes %q, succeeded %d", s.CompletedIndexes, s.Succeeded)
	}
	if s.FailedIndexes != nil {
		failed.AddText(*s.FailedIndexes, *w.Job.Spec.Completions)
		if string(failed.AppendText(nil)) != *s.FailedIndexes || indexset.Common(&completed, &failed) > 0 {
			w.fail("JI6", "failedIndexes %q, completedIndexes %q", *s.FailedIndexes, s.CompletedIndexes)
		}
	}
	completed.Ranges(func(first, last int32) bool {
		for i := first; i <= last; i++ {
			if !w.ghost.succeeded(i) {
				w.fail("JI6", "index %d is completed, but none of its pods has succeeded", i)
			}
		}
		return true
	})
}

// succeeded reports whether some pod of the index has succeeded.
func (g *ghost) succeeded(index int32) bool {
	for _, l := range g.pods {
		if l.index == index && l.ended == job.PodSucceeded {
			return true
		}
	}
	return false
}
