package job

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/job/jobpod"
)

// Inspection holds the figures on which a round decides. A plan lists the decisions; the inspection
// of the same snapshot has the numbers that explain them.
type Inspection struct {
	// Active, Ready and Terminating are the pods in the snapshot (J11).
	Active      int64 `json:"active,omitempty"`
	Ready       int64 `json:"ready,omitempty"`
	Terminating int64 `json:"terminating,omitempty"`
	// Succeeded and Failed are the totals, including pods that no status counts yet (J9, J10).
	Succeeded int64 `json:"succeeded,omitempty"`
	Failed    int64 `json:"failed,omitempty"`
	// Restarts sums the restarts that count towards backoffLimit with restartPolicy
	// OnFailure (J22).
	Restarts int64 `json:"restarts,omitempty"`
	// Wanted is the number of pods that should be active, unless the job ends or is suspended
	// (J29).
	Wanted int64 `json:"wanted,omitempty"`
	// CompletedIndexes and FailedIndexes are the indexes that need no more pods (J14, J16).
	CompletedIndexes Indexes `json:"completedIndexes,omitzero"`
	FailedIndexes    Indexes `json:"failedIndexes,omitzero"`
	// Backoff is the record of failures since the last success (J31). It is zero with
	// backoffLimitPerIndex.
	Backoff backoff.Record `json:"backoff,omitzero"`
	// Retries are the indexes whose last pod has failed and that may run again, in increasing
	// order. They exist only with backoffLimitPerIndex.
	Retries []IndexRetry `json:"retries,omitempty"`
	// Pods has one entry for each pod of the snapshot, in the same order.
	Pods []PodInspection `json:"pods,omitempty"`
}

// IndexRetry is an index that waits for its next pod.
type IndexRetry struct {
	Index Index `json:"index"`
	// Failures is the number of failures of the index that count, and Ignored the number of those
	// that the podFailurePolicy has ignored (J18).
	Failures int32 `json:"failures,omitempty"`
	Ignored  int32 `json:"ignored,omitempty"`
	// Due is the time at which the backoff of the index ends (J31).
	Due time.Time `json:"due,omitzero"`
}

// PodInspection holds the findings of a round about one pod.
type PodInspection struct {
	// FinishTime is the time at which the pod finished (J32). It is zero for an active pod, and if
	// the time is unknown.
	FinishTime time.Time `json:"finishTime,omitzero"`
	// Failed is true for a pod of the job that counts as failed (J7).
	Failed bool `json:"failed,omitempty"`
	// Counts is true if the failure counts towards the limits (J21).
	Counts bool `json:"counts,omitempty"`
	// Match is the rule of the podFailurePolicy that matches the failed pod; nil if none does.
	Match *PolicyMatch `json:"match,omitempty"`
}

// PolicyMatch is a rule of a podFailurePolicy, and the part of a pod that it matches.
type PolicyMatch struct {
	// Rule is the index of the rule, and Action its action.
	Rule   int           `json:"rule"`
	Action FailureAction `json:"action,omitempty"`
	// Container and ExitCode are set if the rule matched a container, and Condition if it matched a
	// condition.
	Container string `json:"container,omitempty"`
	ExitCode  int32  `json:"exitCode,omitempty"`
	Condition string `json:"condition,omitempty"`
}

// Inspect plans a round as [Reconcile] does, and returns the figures on which it decides. It works
// for every job, including jobs that have ended or that another controller manages. It returns the
// same errors as Reconcile.
func Inspect(s Snapshot) (Inspection, error) {
	if err := s.check(); err != nil {
		return Inspection{}, err
	}

	var p Planner
	plan, err := p.planRound(&s)
	if err != nil {
		return Inspection{}, err
	}

	in := &s
	if !s.Options.Without.IsZero() {
		in = s.withoutGates()
	}

	found, record := &p.found, plan.basis.Carried.Backoff
	if plan.basis.isStopped() {
		if found, record, err = p.lookOn(in); err != nil {
			return Inspection{}, err
		}
	}

	t := found.tally
	return Inspection{
		Active: t.active, Ready: t.ready, Terminating: t.terminating,
		Succeeded: t.succeeded, Failed: t.failed, Restarts: t.restarts,
		Wanted:           wantedActive(&in.Job.Spec, t),
		CompletedIndexes: indexesOf(&found.indexes.completed),
		FailedIndexes:    indexesOf(&found.indexes.failed),
		Backoff:          record,
		Retries:          inspectRetries(in, found),
		Pods:             inspectPods(in, found),
	}, nil
}

// lookOn collects the findings that a stopped round has left out.
func (p *Planner) lookOn(s *Snapshot) (*findings, backoff.Record, error) {
	var memory Memory
	var notes noteList
	recall(&memory, s)
	if err := p.look(s, &memory, &notes); err != nil {
		return nil, backoff.Record{}, err
	}

	found := p.find(s, &memory, &notes)
	return found, recordBackoff(memory.Backoff, s, found, &notes), nil
}

func inspectRetries(s *Snapshot, found *findings) (retries []IndexRetry) {
	for _, place := range found.carriers.places {
		pod := &s.Pods[place]
		counted, ignored := countsAfter(pod, &found.policy)
		due := indexDue(pod, found.untimed, s.Options.Backoff)
		retries = append(retries, IndexRetry{pod.Index, counted, ignored, due})
	}
	return retries
}

func inspectPods(s *Snapshot, found *findings) []PodInspection {
	pods := make([]PodInspection, len(s.Pods))
	for i := range s.Pods {
		pod, out := &s.Pods[i], &pods[i]
		if pod.isTerminal() || pod.Deletion != nil {
			out.FinishTime = timeFinished(pod, found.untimed)
		}

		if pod.Owner > jobpod.OwnedUnmatched || !countsAsFailed(pod, &s.Job.Spec) {
			continue
		}

		out.Failed, out.Counts = true, found.policy.judge(pod).counts
		if rule, match, ok := found.policy.firstMatch(pod); ok {
			out.Match = &PolicyMatch{Rule: rule, Action: found.policy.rules[rule].Action, Condition: match.condition}
			if c := match.container; c != nil {
				out.Match.Container, out.Match.ExitCode = c.Name, c.ExitCode
			}
		}
	}
	return pods
}

// indexesOf returns the set as a value.
func indexesOf(set *indexset.Set) Indexes {
	var ranges []indexRange
	set.Ranges(func(first, last int32) bool {
		ranges = append(ranges, indexRange{first, last})
		return true
	})
	return Indexes{ranges}
}

// InferBackoff returns the backoff record of a controller that has seen how each counted or
// recorded pod of the snapshot ended. It is a guess at the memory of a running controller, for
// programs that can only read its objects. Deleted pods are missing from the record, and a
// controller that has restarted remembers less. The snapshot is not checked: if Reconcile would
// refuse it, the record is meaningless.
func InferBackoff(s Snapshot) backoff.Record {
	var successes, failures []time.Time
	recorded := make(map[UID]bool)
	lists := s.Job.Status.uncounted()
	for _, uid := range slices.Concat(lists.Succeeded, lists.Failed) {
		recorded[uid] = true
	}

	for i := range s.Pods {
		pod := &s.Pods[i]
		switch {
		case pod.Owner != jobpod.Owned, !pod.isTerminal(), s.Job.Spec.limitsIndexes():
		case !pod.Untracked && !recorded[pod.UID]:
		case pod.Phase == PodSucceeded:
			successes = append(successes, finishTime(pod))
		case !finishTime(pod).IsZero():
			failures = append(failures, finishTime(pod))
		}
	}

	return backoff.Record{}.Observe(successes, failures)
}
