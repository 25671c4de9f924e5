package cronjob

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/batchplan/batchplan/internal/stored"
	"github.com/batchplan/batchplan/job"
)

// Memory is what a planner remembers between rounds and cannot read back from
// its objects (B5). It is a plain value: it can be stored as JSON, or lost. Losing it
// repeats an event, makes the policies for resumed and edited CronJobs forget what they
// had set aside, and makes the planner trust a stale snapshot: jobs can overlap whose
// predecessors it does not show, and a run can start again whose job is gone already.
// The zero value means "just restarted".
//
// A memory of another UID counts as empty, and so does one that cannot be read: the next
// plan has a note that says so.
type Memory struct {
	kept memory
	// problem is why a stored memory could not be read.
	problem string
}

// memory is what a Memory holds.
type memory struct {
	// CronJobUID is the CronJob that the memory is about.
	CronJobUID job.UID `json:"cronJobUID,omitempty"`
	// Reported is the latest run that a MissSchedule event has named (C9).
	Reported time.Time `json:"reported,omitzero"`
	// Recorded is the lastScheduleTime that was written last. A snapshot whose
	// status is older would start that run again once its job is gone (CI1).
	Recorded time.Time `json:"recorded,omitzero"`
	// Unrecorded is the lastScheduleTime of a status write that failed, or whose reply was
	// lost: its run has started, whatever has become of the job. It is zero again once a
	// snapshot's status is as late, or a later write has succeeded (CI1).
	Unrecorded time.Time `json:"unrecorded,omitzero"`
	// Counted is the latest missed run that Metrics.Missed has counted.
	Counted time.Time `json:"counted,omitzero"`
	// Started are the jobs that were created and that no snapshot's status has named
	// yet; Replaced those that Options.ReplaceWhenGone has deleted and that the children
	// have yet to show. Behind is since when the snapshots have been older than the last
	// status that was written. Without these, Forbid, Replace and MaxActive do not hold
	// under snapshots that lack the controller's own writes (CI15).
	Started  []startedJob `json:"started,omitempty"`
	Replaced []leavingJob `json:"replaced,omitempty"`
	Behind   time.Time    `json:"behind,omitzero"`
	// Since is the time up to which runs were set aside (Options.SkipOnResume,
	// SkipOnEdit, SkipHeld), or could not start since their names are taken (CatchUpAll).
	Since time.Time `json:"since,omitzero"`
	// Suspended, Schedule and TimeZone are what the last round saw, kept only for
	// these options.
	Suspended bool   `json:"suspended,omitempty"`
	Schedule  string `json:"schedule,omitempty"`
	TimeZone  string `json:"timeZone,omitempty"`
}

// Equal reports whether two memories are the same: a store needs to write one only when
// it differs from the last.
func (m Memory) Equal(other Memory) bool {
	a, b := &m.kept, &other.kept
	return m.problem == other.problem &&
		a.CronJobUID == b.CronJobUID &&
		a.Reported.Equal(b.Reported) && a.Recorded.Equal(b.Recorded) && a.Unrecorded.Equal(b.Unrecorded) &&
		a.Counted.Equal(b.Counted) &&
		slices.EqualFunc(a.Started, b.Started, equalStarted) && slices.Equal(a.Replaced, b.Replaced) &&
		a.Behind.Equal(b.Behind) && a.Since.Equal(b.Since) &&
		a.Suspended == b.Suspended && a.Schedule == b.Schedule && a.TimeZone == b.TimeZone
}

func equalStarted(a, b startedJob) bool {
	sameTime := a.ScheduledTime.Equal(b.ScheduledTime)
	a.ScheduledTime, b.ScheduledTime = time.Time{}, time.Time{}
	return sameTime && a == b
}

// memoryVersion is the version of a memory's JSON.
const memoryVersion = 1

// memoryJSON is the JSON of a memory: a version, then what it holds.
type memoryJSON struct {
	FormatVersion int `json:"formatVersion"`
	memory
}

// MarshalJSON writes the memory with the version of its form.
func (m Memory) MarshalJSON() ([]byte, error) {
	return json.Marshal(memoryJSON{memoryVersion, m.kept})
}

// UnmarshalJSON reads a memory. It never fails: what is of another version, or no memory at
// all, reads as lost. Call it directly, and not through json.Unmarshal, for bytes that may
// not even be JSON.
func (m *Memory) UnmarshalJSON(data []byte) error {
	var in memoryJSON
	if *m = (Memory{problem: stored.Read(data, memoryVersion, &in)}); m.problem == "" {
		m.kept = in.memory
	}
	return nil
}
