package cronjob

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/internal/stored"
	"github.com/batchplan/batchplan/job"
)

// Memory is what a planner remembers between rounds and cannot read back from
// its objects (B5). It is a plain value: it can be stored as JSON, or lost. Losing it
// repeats or loses reports of runs that have not started, makes the policies for resumed
// and edited CronJobs forget what they had set aside, and makes the planner trust a stale
// snapshot: jobs can overlap whose predecessors it does not show, and a run can start
// again whose job is gone already.
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
	// Accounted is the last of the runs that are accounted for: each up to it has started or
	// was reported (C9).
	Accounted time.Time `json:"accounted,omitzero"`
	// Recorded is the latest lastScheduleTime that was written or that a snapshot has
	// shown. A snapshot whose status is older would start that run again once its job is
	// gone (CI1).
	Recorded time.Time `json:"recorded,omitzero"`
	// Unrecorded is the lastScheduleTime of a status write that failed, or whose reply was
	// lost: its run has started, whatever has become of the job. It is zero again once a
	// snapshot's status is as late, or a later write has succeeded (CI1).
	Unrecorded time.Time `json:"unrecorded,omitzero"`
	// Started are the jobs that were created and that no snapshot's status and children have
	// shown yet; jobs of triggers stay until they end. Replaced are the jobs that Replace has deleted, until the
	// children show it. Behind is the time since which snapshots have been older than the
	// last status that was written. Without these, Forbid, Replace and MaxActive do not hold
	// under snapshots that lack the controller's own writes (CI15).
	Started  []startedJob `json:"started,omitempty"`
	Replaced []leavingJob `json:"replaced,omitempty"`
	Behind   time.Time    `json:"behind,omitzero"`
	// Deleted are active jobs that were deleted, or perhaps, until a snapshot's status does not
	// name them. The children may still show them, and nothing has to tell the controller of its
	// own writes: they are looked up as long as the status names them (CL2). Where the children alone tell what
	// is active (Options.ActiveFromChildren), those that are gone stay until the children do not show them (CL5).
	Deleted []leavingJob `json:"deleted,omitempty"`
	// Since is the time up to which runs were set aside (Options.SkipOnResume,
	// SkipOnEdit, SkipHeld), or could not start since their names are taken (CatchUpAll).
	Since time.Time `json:"since,omitzero"`
	// Suspended, Schedule and TimeZone are what the last round saw, kept only for
	// these options.
	Suspended bool   `json:"suspended,omitempty"`
	Schedule  string `json:"schedule,omitempty"`
	TimeZone  string `json:"timeZone,omitempty"`
}

// startedJob is a job that was created and that may be missing from the next snapshot.
type startedJob struct {
	// Reference names the job. Without a UID it is not known whether there is one: the
	// creation failed, or only its reply was lost.
	Reference
	// ScheduledTime is its run of the schedule; zero for triggers and backfills.
	ScheduledTime time.Time `json:"scheduledTime,omitzero"`
	Backfilled    bool      `json:"backfilled,omitempty"`
	// Recorded says that a status which names the job was written, Found that a look-up
	// has found a job without a known UID: the snapshots have yet to show it.
	Recorded bool `json:"recorded,omitempty"`
	Found    bool `json:"found,omitempty"`
	// Over says that the job has ended or is gone. A status which names it may have been written for
	// all that, and no snapshot has shown that yet.
	Over bool `json:"over,omitempty"`
}

// isHidden reports whether a snapshot has yet to show the job, or a status that names it.
func isHidden(s startedJob) bool { return s.Recorded || s.Found || s.Over }

// leavingJob is a job that the controller has deleted and that no children have shown under
// deletion yet.
type leavingJob struct {
	Reference
	// Seen says that the children have shown it: once they do not, it is gone.
	Seen bool `json:"seen,omitempty"`
	// Gone says that the job did not exist any more when it was to be deleted or was looked up: the
	// children have yet to show that.
	Gone bool `json:"gone,omitempty"`
}

// isLost reports whether it is not known if the job was created.
func isLost(s startedJob) bool { return s.UID == "" && !s.Found }

// isAccountedLost reports whether the same is true of a job whose run counts as started. If there is no
// job, that run is to be reported.
func (s *startedJob) isAccountedLost(accounted time.Time) bool {
	return isLost(*s) && isOfRun(*s) && !s.ScheduledTime.After(accounted)
}

// memoryAbout returns the memory of the snapshot. One about an earlier CronJob of this name counts
// as empty (B5).
func memoryAbout(s *Snapshot) memory {
	if m := &s.Memory.kept; m.CronJobUID == s.CronJob.UID {
		return *m
	}
	return memory{CronJobUID: s.CronJob.UID}
}

// keepsWrites reports whether the next round must know what this one has written.
func keepsWrites(consistent bool, quirks cronjobquirk.Set) bool {
	return !consistent && !quirks.Has(cronjobquirk.Stale)
}

// keepsUnrecorded reports whether the next round must know which run a failed status write
// was about. With any of these quirks it decides by the status alone.
func keepsUnrecorded(quirks cronjobquirk.Set) bool {
	switch {
	case quirks.Has(cronjobquirk.Stale), quirks.Has(cronjobquirk.BlindCreate), quirks.Has(cronjobquirk.EagerHistory):
		return false
	}
	return true
}

// Equal reports whether two memories are the same: a store needs to write one only when
// it differs from the last.
func (m Memory) Equal(other Memory) bool {
	a, b := &m.kept, &other.kept
	switch {
	case m.problem != other.problem, a.CronJobUID != b.CronJobUID,
		a.Suspended != b.Suspended, a.Schedule != b.Schedule, a.TimeZone != b.TimeZone,
		!a.Accounted.Equal(b.Accounted), !a.Recorded.Equal(b.Recorded), !a.Unrecorded.Equal(b.Unrecorded),
		!a.Behind.Equal(b.Behind), !a.Since.Equal(b.Since),
		!slices.EqualFunc(a.Started, b.Started, equalStarted),
		!slices.Equal(a.Replaced, b.Replaced), !slices.Equal(a.Deleted, b.Deleted):
		return false
	}
	return true
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

// MarshalJSON writes the memory with the version of its form. All but the version is for this
// package alone.
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
