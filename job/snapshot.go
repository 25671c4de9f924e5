package job

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/expectations"
)

// Snapshot is everything that a round knows. Nothing in it is written to.
type Snapshot struct {
	Job Job `json:"job"`
	// Pods are all pods that could be the job's; their order does not matter (B3).
	Pods []Pod `json:"pods,omitempty"`
	// Now is the time of the round. Every time in the plan comes from it (B6).
	Now time.Time `json:"now"`
	// Memory is what the last round's [Conclusion] handed back; the zero value
	// means "just restarted".
	Memory  Memory  `json:"memory,omitzero"`
	Options Options `json:"options,omitzero"`
}

// Memory is what a controller remembers between rounds and cannot read back
// from its objects (B5). It is a plain value: it can be stored, shared between
// workers, or lost. Losing it is a restart and can shorten a backoff. It breaks an
// invariant only if the next snapshot shows older pods beside a newer job; then
// list the pods from the source of truth.
type Memory struct {
	// JobUID is the job that the memory is about. A memory of another UID counts
	// as empty, so a new job of the same name inherits nothing (JI22).
	JobUID string `json:"jobUID,omitempty"`
	// Backoff is the record of recent failures (J31).
	Backoff backoff.Record `json:"backoff,omitzero"`
	// Expectations are the creations and deletions not yet seen (E1). An adapter
	// that is told of them by events lowers them with Observe; one whose
	// snapshots always contain its own writes clears them before each round.
	Expectations expectations.Counts `json:"expectations,omitzero"`
	// Untracking are the UIDs of pods whose finalizer was removed and which the
	// snapshot may still show with it (E4).
	Untracking expectations.UIDs `json:"untracking,omitzero"`
	// Untimed are the failed pods whose finish time nothing in the snapshot tells, by
	// UID, with the time of the round that first saw each: their backoff counts from
	// there (J32). Pods of Kubernetes always have a time.
	Untimed []Sighting `json:"untimed,omitempty"`
	// Ignored is the number of failures that the podFailurePolicy has ignored so
	// far; kept for Options.MaxIgnoredFailures.
	Ignored int32 `json:"ignored,omitempty"`
	// Handled are the UIDs of pods that the podFailurePolicy has ignored and whose
	// finalizer has still to go: the metrics report each match once (JI27).
	Handled expectations.UIDs `json:"handled,omitzero"`
	// Reported are the figures up to which the metrics have told (JI27).
	Reported Reported `json:"reported,omitzero"`
	// Written is the version of the job that the last status write has made. An
	// adapter that knows it sets it; a snapshot of an earlier Job.Version is stale
	// and is not planned from (E6).
	Written int64 `json:"written,omitempty"`
	// Finished is set once a final status was written: a snapshot that does not
	// show it is stale and is not planned from (E5).
	Finished bool `json:"finished,omitempty"`
}

// InputError says that a value breaks the contract of a snapshot, a spec or a
// status.
type InputError struct {
	// Field is the path of the field, such as "spec.parallelism".
	Field string
	// Value is the offending value, as text.
	Value string
	// Problem says what is wrong with it.
	Problem string
}

// Error names the field, the value and the problem.
func (e *InputError) Error() string {
	return fmt.Sprintf("%s: %s: %s", e.Field, e.Value, e.Problem)
}

func invalid(field string, value any, problem string) error {
	text := fmt.Sprint(value)
	if s, ok := value.(string); ok {
		text = strconv.Quote(s)
	}
	return &InputError{Field: field, Value: text, Problem: problem}
}

// check is the invariant check at the entry: what no plan can be made from.
func (s *Snapshot) check() error {
	j := &s.Job
	switch {
	case j.UID == "":
		return invalid("job.uid", j.UID, "is required")
	case s.Now.IsZero():
		return invalid("now", "", "is required")
	case j.Spec.Parallelism == nil:
		return invalid("job.spec.parallelism", nil, "is required; Default sets it")
	case j.Spec.BackoffLimit == nil:
		return invalid("job.spec.backoffLimit", nil, "is required; Default sets it")
	case j.Spec.isIndexed() && j.Spec.Completions == nil:
		return invalid("job.spec.completions", nil, "is required when completionMode is Indexed")
	}
	return errors.Join(checkSigns(j), s.Options.check())
}

// checkSigns refuses the negative numbers that neither an API server nor this
// package ever writes.
func checkSigns(j *Job) error {
	all := *j.Spec.Parallelism | orZero(j.Spec.Completions) | *j.Spec.BackoffLimit | orZero(j.Spec.BackoffLimitPerIndex) |
		orZero(j.Spec.MaxFailedIndexes) | j.Status.Active | orZero(j.Status.Ready) | orZero(j.Status.Terminating) |
		j.Status.Succeeded | j.Status.Failed
	if all >= 0 && orZero(j.Spec.ActiveDeadlineSeconds) >= 0 {
		return nil // the common case: no number has the sign bit
	}
	fields := [...]struct {
		name  string
		value int64
	}{
		{"job.spec.parallelism", int64(*j.Spec.Parallelism)},
		{"job.spec.completions", int64(orZero(j.Spec.Completions))},
		{"job.spec.backoffLimit", int64(*j.Spec.BackoffLimit)},
		{"job.spec.backoffLimitPerIndex", int64(orZero(j.Spec.BackoffLimitPerIndex))},
		{"job.spec.maxFailedIndexes", int64(orZero(j.Spec.MaxFailedIndexes))},
		{"job.spec.activeDeadlineSeconds", orZero(j.Spec.ActiveDeadlineSeconds)},
		{"job.status.active", int64(j.Status.Active)},
		{"job.status.ready", int64(orZero(j.Status.Ready))},
		{"job.status.terminating", int64(orZero(j.Status.Terminating))},
		{"job.status.succeeded", int64(j.Status.Succeeded)},
		{"job.status.failed", int64(j.Status.Failed)},
	}
	for i := range fields {
		if fields[i].value < 0 {
			return invalid(fields[i].name, fields[i].value, "must not be negative")
		}
	}
	return nil
}

func orZero[T int32 | int64](p *T) T {
	if p == nil {
		return 0
	}
	return *p
}

func (j *Job) isDeleted() bool { return !j.DeletionTimestamp.IsZero() }

func (s *Spec) isIndexed() bool   { return s.CompletionMode == Indexed }
func (s *Spec) isSuspended() bool { return s.Suspend != nil && *s.Suspend }

// limitsIndexes reports whether failures are limited index by index.
func (s *Spec) limitsIndexes() bool { return s.isIndexed() && s.BackoffLimitPerIndex != nil }

// clamp32 brings a sum of counts back into the type of the status.
func clamp32(n int64) int32 { return int32(min(max(n, 0), math.MaxInt32)) }
