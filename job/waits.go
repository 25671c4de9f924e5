package job

import (
	"fmt"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/jobreason"
)

// Wait is one thing that the job waits for, with its figures.
type Wait struct {
	Reason jobreason.Wait `json:"reason"`
	// Until is the time at which the wait ends by itself, or zero if it does not.
	Until time.Time `json:"until,omitzero"`
	// Pods, Terminating and Failures are the figures that String prints.
	Pods        int64 `json:"pods,omitempty"`
	Terminating int64 `json:"terminating,omitempty"`
	Failures    int64 `json:"failures,omitempty"`
	// Name is the other controller, the unknown mode, or the condition that ended the job.
	Name string `json:"name,omitempty"`
}

// String returns the wait as a sentence, with times in UTC.
func (w Wait) String() string {
	until := w.Until.UTC().Format("15:04:05.999")
	switch w.Reason {
	case jobreason.WaitBackoff:
		return fmt.Sprintf("%s wanted, held by backoff until %s: %s since the last success",
			value.Count(w.Pods, "pod"), until, value.Count(w.Failures, "failure"))
	case jobreason.WaitIndexBackoff:
		return fmt.Sprintf("%s held by backoff after own failures, the first until %s",
			pluralOf(w.Pods, "index", "indexes"), until)
	case jobreason.WaitDeadline:
		return fmt.Sprintf("the deadline passes at %s", until)
	case jobreason.WaitExpectations:
		if w.Until.IsZero() {
			return "own writes not seen yet"
		}
		return fmt.Sprintf("own writes not seen yet, at most until %s", until)
	case jobreason.WaitReplacement:
		return fmt.Sprintf("%s wanted, held until terminating pods end: %d terminating",
			value.Count(w.Pods, "pod"), w.Terminating)
	case jobreason.WaitPods:
		return value.Count(w.Pods, "active pod") + " not finished"
	case jobreason.WaitSuspended:
		return "the job is suspended"
	case jobreason.WaitTerminating:
		return fmt.Sprintf("the end waits for terminating pods: %d terminating", w.Terminating)
	case jobreason.WaitUncounted:
		return "more pods finished than one round records; the rest follows"
	case jobreason.WaitObserved:
		return "the status that was written last is not seen yet"
	case jobreason.WaitManagedBy:
		return fmt.Sprintf("the job is managed by %q", w.Name)
	case jobreason.WaitDeleted:
		return "the job is being deleted"
	case jobreason.WaitUnknownMode:
		return fmt.Sprintf("completion mode %q is unknown", w.Name)
	case jobreason.WaitTimeout:
		return fmt.Sprintf("a pod that does not start or end is given up at %s", until)
	case jobreason.WaitParallelism:
		return "parallelism is 0"
	case jobreason.WaitAdoption:
		return "pods are managed in the next round: " + value.Count(w.Pods, "pod") + " adopted in this one"
	case jobreason.WaitNext:
		return "the next round builds on what this one has written"
	case jobreason.WaitFinished:
		return fmt.Sprintf("the job has ended: %s", w.Name)
	}
	return fmt.Sprintf("wait for reason %d", w.Reason)
}

func pluralOf(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// explainWaits adds the waits of the job, except those that decide and managePods have added.
func explainWaits(plan *Plan, s *Snapshot, found *findings, capped bool) {
	if w := waitOfJob(plan, s, found.tally); w.Reason != 0 {
		plan.wait(w)
	}

	if !found.satisfied {
		w := Wait{Reason: jobreason.WaitExpectations, Until: found.memory.Expectations.Expires()}
		if s.Options.Quirks.Has(jobquirk.CoarseRequeue) {
			w.Until = time.Time{}
		}
		plan.wait(w)
	}

	if due := found.pods.nextTimeout; !due.IsZero() {
		plan.wait(Wait{Reason: jobreason.WaitTimeout, Until: due})
	}
	if capped {
		plan.wait(Wait{Reason: jobreason.WaitUncounted})
	}
}

// waitOfJob returns the wait of the job as a whole, or the zero Wait.
func waitOfJob(plan *Plan, s *Snapshot, t tally) Wait {
	active := t.active - int64(len(plan.Delete)) + int64(len(plan.Create))
	reached := completionsReached(s.Job.Spec.Completions, t.succeeded)

	switch {
	case plan.Verdict.decided():
		if terminating := t.terminating + int64(len(plan.Delete)); terminating > 0 {
			return Wait{Reason: jobreason.WaitTerminating, Terminating: terminating}
		}
	case s.Job.isDeleted():
		return Wait{Reason: jobreason.WaitDeleted}
	case s.Job.Spec.isSuspended():
		return Wait{Reason: jobreason.WaitSuspended}
	case active > 0:
		return Wait{Reason: jobreason.WaitPods, Pods: active}
	case reached && t.terminating > 0:
		return Wait{Reason: jobreason.WaitTerminating, Terminating: t.terminating}
	case *s.Job.Spec.Parallelism == 0 && !reached:
		return Wait{Reason: jobreason.WaitParallelism}
	}
	return Wait{}
}
