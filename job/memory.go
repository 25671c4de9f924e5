package job

import (
	"encoding/json"
	"slices"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/stored"
)

// Memory is what a controller remembers between rounds and cannot read back
// from its objects (B5). It is a plain value: it can be stored as JSON, shared between
// workers, or lost. Losing it is a restart and can shorten a backoff. It breaks an
// invariant only if the next snapshot shows older pods beside a newer job; then
// list the pods from the source of truth.
//
// A memory of another UID counts as empty, and so does one that cannot be read: the next
// plan has a note that says so.
type Memory struct {
	// JobUID is the job that the memory is about, so a new job of the same name
	// inherits nothing (JI22).
	JobUID UID
	// Backoff is the record of recent failures (J31).
	Backoff backoff.Record
	// Expectations are the creations and deletions not yet seen (E1). An adapter that learns
	// of them by events takes these off with Observe, or sets what its
	// expectations.Tracker has.
	Expectations expectations.Counts
	// Untracking are the UIDs of pods whose finalizer was removed and which the
	// snapshot may still show with it (E4).
	Untracking expectations.UIDs
	// Written is the version of the job that the last status write has made, as its [Reply]
	// tells; a snapshot of an earlier Job.Version is stale and is not planned from (E6).
	Written int64
	// Finished is set once a final status was written: a snapshot that does not
	// show it is stale and is not planned from (E5).
	Finished bool

	rest remembered
	// problem is why a stored memory could not be read.
	problem string
}

// remembered is what a memory holds for the planner alone.
type remembered struct {
	// Untimed are the failed pods whose finish time nothing in the snapshot tells, by
	// UID, with the time of the round that first saw each: their backoff counts from
	// there (J32). Pods of Kubernetes always have a time.
	Untimed []sighting `json:"untimed,omitempty"`
	// Ignored is the number of failures that the podFailurePolicy has ignored so
	// far; kept for Options.MaxIgnoredFailures.
	Ignored int32 `json:"ignored,omitempty"`
	// Handled are the UIDs of pods that the podFailurePolicy has ignored and whose
	// finalizer has still to go: the metrics report each match once (JI27).
	Handled expectations.UIDs `json:"handled,omitzero"`
	// Reported are the figures up to which the metrics have told (JI27).
	Reported reported `json:"reported,omitzero"`
}

// Equal reports whether two memories are the same: a store needs to write one only when
// it differs from the last.
func (m Memory) Equal(other Memory) bool {
	switch {
	case m.JobUID != other.JobUID,
		m.Backoff.Failures != other.Backoff.Failures,
		!m.Backoff.LastFailure.Equal(other.Backoff.LastFailure),
		m.Expectations.Creations != other.Expectations.Creations,
		m.Expectations.Deletions != other.Expectations.Deletions,
		!m.Expectations.At.Equal(other.Expectations.At),
		!m.Untracking.Equal(other.Untracking),
		m.Written != other.Written,
		m.Finished != other.Finished,
		m.problem != other.problem:
		return false
	}
	return m.rest.equal(&other.rest)
}

func (r *remembered) equal(other *remembered) bool {
	same := func(a, b sighting) bool { return a.UID == b.UID && a.At.Equal(b.At) }
	switch {
	case !slices.EqualFunc(r.Untimed, other.Untimed, same),
		r.Ignored != other.Ignored,
		!r.Handled.Equal(other.Handled):
		return false
	}
	return r.Reported.equal(&other.Reported)
}

// memoryVersion is the version of a memory's JSON.
const memoryVersion = 1

// memoryJSON is the JSON of a memory: a version, the fields, and what only this package reads.
type memoryJSON struct {
	FormatVersion int                 `json:"formatVersion"`
	JobUID        UID                 `json:"jobUID,omitempty"`
	Backoff       backoff.Record      `json:"backoff,omitzero"`
	Expectations  expectations.Counts `json:"expectations,omitzero"`
	Untracking    expectations.UIDs   `json:"untracking,omitzero"`
	Written       int64               `json:"written,omitempty"`
	Finished      bool                `json:"finished,omitempty"`
	Internal      remembered          `json:"internal,omitzero"`
}

// MarshalJSON writes the memory with the version of its form. Its member "internal" is for this
// package alone.
func (m Memory) MarshalJSON() ([]byte, error) {
	return json.Marshal(memoryJSON{
		memoryVersion, m.JobUID, m.Backoff, m.Expectations, m.Untracking, m.Written, m.Finished, m.rest,
	})
}

// UnmarshalJSON reads a memory. It never fails: what is of another version, or no memory at
// all, reads as lost. Call it directly, and not through json.Unmarshal, for bytes that may
// not even be JSON.
func (m *Memory) UnmarshalJSON(data []byte) error {
	var in memoryJSON
	if problem := stored.Read(data, memoryVersion, &in); problem != "" {
		*m = Memory{problem: problem}
		return nil
	}

	*m = Memory{in.JobUID, in.Backoff, in.Expectations, in.Untracking, in.Written, in.Finished, in.Internal, ""}
	return nil
}
