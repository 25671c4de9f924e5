package job

import (
	"encoding/json"
	"slices"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/stored"
)

// Memory is the part of a controller's knowledge that it cannot read back from its objects (B5). It
// is a plain value: it can be stored as JSON, shared between workers, or lost. Its loss has the
// effect of a restart and can shorten a backoff. The loss breaks an invariant only if the next
// snapshot shows older pods beside a newer job. If that can happen, list the pods from the source
// of truth after a restart.
//
// A memory of another job counts as empty. So does a memory that cannot be read; the next plan then
// has a note.
type Memory struct {
	// JobUID is the UID of the job that the memory belongs to. A new job of the same name inherits
	// nothing (JI22).
	JobUID UID
	// Backoff is the record of recent failures (J31).
	Backoff backoff.Record
	// Expectations are the creations and deletions that no snapshot has shown yet (E1). An adapter
	// that receives events lowers them with Observe, or sets them from an expectations.Tracker.
	Expectations expectations.Counts
	// Untracking are the UIDs of pods whose finalizer was removed. The snapshot may still show the
	// finalizer (E4).
	Untracking expectations.UIDs
	// Written is the version of the job after the last status write, taken from its Reply. A
	// snapshot with an earlier Job.Version is stale, and nothing is planned from it (E6).
	Written int64
	// Finished is set once a final status was written. A snapshot that does not show the end is
	// stale, and nothing is planned from it (E5).
	Finished bool

	rest remembered
	// problem explains why a stored memory could not be read.
	problem string
}

// remembered is the part of a memory that only the planner uses.
type remembered struct {
	// Untimed are the failed pods without a known finish time, sorted by UID. Each has the time of
	// the round that first saw it, from which its backoff counts (J32). Pods of Kubernetes always
	// have a finish time.
	Untimed []sighting `json:"untimed,omitempty"`
	// Ignored is the number of failures that the podFailurePolicy has ignored so far.
	// Options.MaxIgnoredFailures needs it.
	Ignored int32 `json:"ignored,omitempty"`
	// Handled are the UIDs of pods that the podFailurePolicy has ignored and whose finalizer is
	// still to be removed. They let the metrics report each match only once (JI27).
	Handled expectations.UIDs `json:"handled,omitzero"`
	// Reported are the figures that the metrics have already reported (JI27).
	Reported reported `json:"reported,omitzero"`
}

// Equal reports whether two memories are the same. A store needs to write a memory only if it
// differs from the last one.
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

// memoryJSON is the JSON of a memory: a version, the fields, and a part that only this package
// reads.
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

// MarshalJSON writes the memory with the version of its format. Only this package reads its member
// "internal".
func (m Memory) MarshalJSON() ([]byte, error) {
	return json.Marshal(memoryJSON{
		memoryVersion, m.JobUID, m.Backoff, m.Expectations, m.Untracking, m.Written, m.Finished, m.rest,
	})
}

// UnmarshalJSON reads a memory. It never fails: a memory of another version counts as lost, and so
// does anything that is not a memory. For bytes that may not be JSON, call it directly and not
// through json.Unmarshal.
func (m *Memory) UnmarshalJSON(data []byte) error {
	var in memoryJSON
	if problem := stored.Read(data, memoryVersion, &in); problem != "" {
		*m = Memory{problem: problem}
		return nil
	}

	*m = Memory{in.JobUID, in.Backoff, in.Expectations, in.Untracking, in.Written, in.Finished, in.Internal, ""}
	return nil
}
