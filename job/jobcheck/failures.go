package jobcheck

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// checkFailures checks JI21: a plan creates nothing once the failures exceed the limit, waits for
// the backoff, and continues the failure counts of an index.
func checkFailures(f *found, s *job.Snapshot, p *job.Plan) {
	if len(p.Create) == 0 {
		return
	}
	spec, lists := &s.Job.Spec, value.Of(s.Job.Status.UncountedTerminatedPods)

	failed := int64(s.Job.Status.Failed) + int64(len(lists.Failed))
	if limit := spec.BackoffLimit; limit != nil && failed > int64(*limit) {
		f.add("JI21", "creates after %s, backoffLimit %d", value.Count(failed, "failure"), *limit)
	}

	if spec.BackoffLimitPerIndex != nil {
		checkIndexFailures(f, s, p)
		return
	}
	if due := backoffEnd(s, &lists); s.Now.Before(due) {
		f.add("JI21", "creates at %v, and the backoff ends at %v", s.Now, due)
	}
}

// backoffEnd returns a time before which no pod may be created. It takes the latest failure that no
// status has recorded, and adds the shortest backoff. The real backoff can only be longer. The
// result is zero if there is no such failure. It is also zero if the backoff may not apply:
// failures may be ignored, the number of uncounted pods is limited, or a success ends it.
func backoffEnd(s *job.Snapshot, lists *job.UncountedTerminatedPods) (end time.Time) {
	mayIgnore := s.Job.Spec.PodFailurePolicy != nil || s.Options.Quirks.Has(jobquirk.EarlierFailure)
	if mayIgnore || s.Options.MaxUncounted > 0 {
		return end
	}

	for i := range s.Pods {
		p := &s.Pods[i]
		isRecorded := p.Untracked || slices.Contains(lists.Failed, p.UID) || s.Memory.Untracking.Has(p.UID)
		switch {
		case !isCounted(&s.Job.Spec, p):
		case p.Owner != jobpod.Owned || isRecorded:
		case p.Phase == job.PodSucceeded:
			return time.Time{}
		case p.Phase == job.PodFailed:
			if at := finishTime(p); !at.IsZero() {
				end = value.Later(end, at.Add(s.Options.Backoff.Delay(1)))
			}
		}
	}
	return end
}

// isCounted reports whether the end of a pod counts. In an Indexed job, only pods with an index of
// the job count.
func isCounted(spec *job.Spec, p *job.Pod) bool {
	return spec.CompletionMode != job.Indexed || isIndexOf(spec, p.Index.Int32())
}

// isIndexOf reports whether an Indexed job has the index.
func isIndexOf(spec *job.Spec, i int32) bool { return i >= 0 && i < *spec.Completions }

// finishTime returns the time at which the last container of a pod ended, or zero if one has not
// ended.
func finishTime(p *job.Pod) (last time.Time) {
	if p.Detail == nil {
		return last
	}
	for _, c := range p.Detail.Containers {
		if c.State != jobpod.Terminated || c.FinishedAt.IsZero() {
			return time.Time{}
		}
		last = value.Later(last, c.FinishedAt)
	}
	return last
}

// checkIndexFailures checks the failure counts of new pods (JI21). They must include each failed
// pod of the same index that is still tracked, and the failures before that pod. The failures that
// are not ignored must not exceed the limit. The pod must not be created before the backoff after
// the last of these failures is over.
func checkIndexFailures(f *found, s *job.Snapshot, p *job.Plan) {
	for i := range p.Create {
		c := &p.Create[i]
		if limit := *s.Job.Spec.BackoffLimitPerIndex; c.FailureCount > limit {
			f.add("JI21", "index %s is created after %s, backoffLimitPerIndex %d",
				c.Index, value.Count(c.FailureCount, "failure"), limit)
		}

		carried := int64(c.FailureCount) + int64(c.IgnoredFailureCount)
		for i := range s.Pods {
			pod := &s.Pods[i]
			isTracked := pod.Owner == jobpod.Owned && !pod.Untracked && !s.Memory.Untracking.Has(pod.UID)
			if !isTracked || pod.Phase != job.PodFailed || pod.Index != c.Index {
				continue
			}

			failures := failuresAfter(pod)
			if carried < failures {
				f.add("JI21", "index %s is created with %s, and %s was number %d",
					c.Index, value.Count(carried, "failure"), pod.Name, failures)
			}
			if failures < carried {
				continue // a later failure decides
			}
			at := finishTime(pod)
			if due := at.Add(s.Options.Backoff.Delay(int(failures))); !at.IsZero() && s.Now.Before(due) {
				f.add("JI21", "index %s is created at %v, and its backoff ends at %v", c.Index, s.Now, due)
			}
		}
	}
}

// failuresAfter returns the number of failures of an index up to this pod, including its own if it
// has failed.
func failuresAfter(p *job.Pod) (n int64) {
	if p.Detail != nil {
		n = int64(max(p.Detail.FailureCount, 0)) + int64(max(p.Detail.IgnoredFailureCount, 0))
	}
	if p.Phase == job.PodFailed {
		n++
	}
	return n
}

// checkCarrier checks the removal of a failed pod's finalizer: some other pod must carry the
// failures of its index (JI21).
func (st *State) checkCarrier(f *found, p *job.Pod) {
	spec, s := &st.Job.Spec, &st.Job.Status
	at := p.Index.Int32()
	isTrackedFailure := !p.Untracked && p.Phase == job.PodFailed && p.Owner == jobpod.Owned
	switch {
	case spec.BackoffLimitPerIndex == nil || !isTrackedFailure:
		return
	case st.isUnannounced(): // no condition shows that the job is ending
		return
	case st.isEnding():
		return
	case !isIndexOf(spec, at) || isEnded(s, at):
		return
	}

	for _, other := range st.Pods {
		isLeft := !isActive(other) && other.Untracked
		if other.UID == p.UID || other.Index != p.Index || isLeft {
			continue
		}
		// If the other pod runs or is being deleted, and has fewer failures, it was created before
		// this failure was seen.
		if other.Phase != job.PodFailed || failuresAfter(other) >= failuresAfter(p) {
			return
		}
	}

	for i := range st.History.Pods {
		l := &st.History.Pods[i]
		isOther := l.UID != p.UID && (l.Index == at || l.Index < 0)
		// A pod that is gone and did not fail counts like one that runs: a late snapshot may still
		// show it.
		vanished := l.Index == at && l.Ended != job.PodFailed
		mayHaveKnown := l.Removed || l.Ended == job.PodSucceeded || vanished
		if isOther && mayHaveKnown {
			return // a deleted pod takes its count with it
		}
	}
	f.add("JI21", "the finalizer of %s is removed, and no other pod knows that index %d has failed", p.Name, at)
}

// succeededOf returns the number of successes that the job's status shows.
func succeededOf(j *job.Job) int64 {
	if j.Spec.CompletionMode != job.Indexed {
		return int64(j.Status.Succeeded) + int64(len(value.Of(j.Status.UncountedTerminatedPods).Succeeded))
	}
	var done indexset.Set
	done.AddText(j.Status.CompletedIndexes, *j.Spec.Completions)
	return int64(done.Len())
}
