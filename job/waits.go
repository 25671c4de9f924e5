package job

import (
	"fmt"
	"time"

	"github.com/batchplan/batchplan/job/jobquirk"
)

// Wait is one thing that the job waits for, with its figures.
type Wait struct {
	Reason WaitReason `json:"reason"`
	// Until is when it ends by itself, if it does.
	Until time.Time `json:"until,omitzero"`
	// Pods, Terminating and Failures are the figures of the sentence.
	Pods        int64 `json:"pods,omitempty"`
	Terminating int64 `json:"terminating,omitempty"`
	Failures    int64 `json:"failures,omitempty"`
	// Name is the other controller, the unknown mode, or how the job ended.
	Name string `json:"name,omitempty"`
}

// String is the wait as a sentence, times in UTC.
func (w Wait) String() string {
	until := w.Until.UTC().Format("15:04:05.999")
	switch w.Reason {
	case WaitBackoff:
		return fmt.Sprintf("%s wanted, held by backoff until %s: %s since the last success",
			plural(w.Pods, "pod"), until, plural(w.Failures, "failure"))
	case WaitIndexBackoff:
		return fmt.Sprintf("%s held by backoff after own failures, the first until %s", pluralOf(w.Pods, "index", "indexes"), until)
	case WaitDeadline:
		return fmt.Sprintf("the deadline passes at %s", until)
	case WaitExpectations:
		if w.Until.IsZero() {
			return "own writes not seen yet"
		}
		return fmt.Sprintf("own writes not seen yet, at most until %s", until)
	case WaitReplacement:
		return fmt.Sprintf("%s wanted, held until terminating pods end: %d terminating", plural(w.Pods, "pod"), w.Terminating)
	case WaitPods:
		return plural(w.Pods, "active pod") + " not finished"
	case WaitSuspended:
		return "the job is suspended"
	case WaitTerminating:
		return fmt.Sprintf("the end waits for terminating pods: %d terminating", w.Terminating)
	case WaitUncounted:
		return "more pods finished than one round records; the rest follows"
	case WaitObserved:
		return "the status that was written last is not seen yet"
	case WaitManagedBy:
		return fmt.Sprintf("the job is managed by %q", w.Name)
	case WaitDeleted:
		return "the job is being deleted"
	case WaitUnknownMode:
		return fmt.Sprintf("completion mode %q is unknown", w.Name)
	case WaitTimeout:
		return fmt.Sprintf("a pod that does not start or end is given up at %s", until)
	case WaitParallelism:
		return "parallelism is 0"
	case WaitAdoption:
		return "pods are managed in the next round: " + plural(w.Pods, "pod") + " adopted in this one"
	case WaitNext:
		return "the next round builds on what this one has written"
	case WaitFinished:
		return fmt.Sprintf("the job has ended: %s", w.Name)
	}
	return fmt.Sprintf("wait for reason %d", w.Reason)
}

func plural(n int64, noun string) string { return pluralOf(n, noun, noun+"s") }

func pluralOf(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (p *Planner) wait(w Wait) { p.plan.Waits = append(p.plan.Waits, w) }

// explainWaits names what else the job waits for, and the earliest time at which
// one of the waits ends by itself: nothing changes before it without an event (L6).
func (p *Planner) explainWaits() {
	b := &p.plan.Basis
	switch {
	case p.plan.Verdict.decided():
		if terminating := p.counts.terminating + int64(len(p.plan.Delete)); terminating > 0 {
			p.wait(Wait{Reason: WaitTerminating, Terminating: terminating})
		}
	case p.job.isDeleted():
		p.wait(Wait{Reason: WaitDeleted})
	case p.job.isSuspended():
		p.wait(Wait{Reason: WaitSuspended})
	case p.activeLater() > 0:
		p.wait(Wait{Reason: WaitPods, Pods: p.activeLater()})
	case p.completionsReached() && p.counts.terminating > 0:
		p.wait(Wait{Reason: WaitTerminating, Terminating: p.counts.terminating})
	case *p.job.Spec.Parallelism == 0 && !p.completionsReached():
		p.wait(Wait{Reason: WaitParallelism})
	}
	coarse := p.snap.Options.Quirks.Has(jobquirk.CoarseRequeue)
	if !b.Satisfied {
		w := Wait{Reason: WaitExpectations, Until: b.Memory.Expectations.Expires()}
		if coarse {
			w.Until = time.Time{}
		}
		p.wait(w)
	}
	if !p.overdue.next.IsZero() {
		p.wait(Wait{Reason: WaitTimeout, Until: p.overdue.next})
	}
	if b.Capped {
		p.wait(Wait{Reason: WaitUncounted})
	}
	p.requeue(coarse)
}

// activeLater is the number of active pods once the plan has taken effect.
func (p *Planner) activeLater() int64 {
	return p.counts.active - int64(len(p.plan.Delete)) + int64(len(p.plan.Create))
}

// requeue finds the earliest time at which a wait ends by itself.
func (p *Planner) requeue(coarse bool) {
	for _, w := range p.plan.Waits {
		if second := p.snap.Now.Add(time.Second); coarse && (w.Reason == WaitBackoff || w.Reason == WaitIndexBackoff) && w.Until.Before(second) {
			w.Until = second
		}
		if at := p.plan.Requeue.At; !w.Until.IsZero() && (at.IsZero() || w.Until.Before(at)) {
			p.plan.Requeue = Requeue{At: w.Until, Reason: w.Reason}
		}
	}
}
