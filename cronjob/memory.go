package cronjob

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/internal/stored"
	"github.com/batchplan/batchplan/job"
)

// Memory is what a planner remembers between rounds and cannot read back from its objects (B5). It
// is a plain value: it can be stored as JSON, or lost. The zero value means "just restarted". If it
// is lost, reports of runs that have not started are lost or repeated, and SkipOnResume and
// SkipOnEdit forget the runs that they set aside. The planner then also trusts a stale snapshot:
// jobs can overlap with earlier ones that the snapshot does not show, and a run whose job is gone
// can start again.
//
// The memory of a CronJob with another UID counts as empty. A stored memory that cannot be read
// counts as empty as well, and then the next plan has a note.
type Memory struct {
	kept memory
	// problem is the reason why a stored memory could not be read.
	problem string
}

// memory is the content of a Memory.
type memory struct {
	// CronJobUID identifies the CronJob to which the memory belongs.
	CronJobUID job.UID `json:"cronJobUID,omitempty"`
	// Accounted is the run up to which every run has started or was reported (C9).
	Accounted time.Time `json:"accounted,omitzero"`
	// Recorded is the latest lastScheduleTime that was written or that a snapshot has shown.
	// Without Recorded, the run of that time would start again if its job is gone and a snapshot
	// has an older status (CI1).
	Recorded time.Time `json:"recorded,omitzero"`
	// Unrecorded is the lastScheduleTime of a status write that failed or whose reply was lost:
	// that run has started, even if its job is gone. It becomes zero once a snapshot's
	// lastScheduleTime is not earlier, or a later write has succeeded (CI1).
	Unrecorded time.Time `json:"unrecorded,omitzero"`
	// Started are created jobs, until a snapshot shows them in both the status and the children.
	// Jobs of triggers stay until they end. Replaced are jobs that Replace has deleted, until the
	// children show the deletion. Behind is the time since which snapshots have been older than the
	// last written status. These fields prevent violations of Forbid, Replace and MaxActive when a
	// snapshot lacks the controller's own writes (CI15).
	Started  []startedJob `json:"started,omitempty"`
	Replaced []leavingJob `json:"replaced,omitempty"`
	Behind   time.Time    `json:"behind,omitzero"`
	// Deleted are active jobs that were certainly or perhaps deleted, until a snapshot's status
	// does not list them. The children may still show them, and no notification of the controller's
	// own writes is guaranteed, so they are looked up as long as the status lists them (CL2). With
	// Options.ActiveFromChildren, only the children show which jobs are active. Then jobs that are
	// gone stay here until the children do not show them (CL5).
	Deleted []leavingJob `json:"deleted,omitempty"`
	// Since is the time up to which runs were set aside (Options.SkipOnResume, SkipOnEdit,
	// SkipHeld), or could not start because their names are taken (CatchUpAll).
	Since time.Time `json:"since,omitzero"`
	// Suspended, Schedule and TimeZone are from the last round's spec. SkipOnResume, SkipOnEdit and
	// CatchUpAll compare them with the next spec.
	Suspended bool   `json:"suspended,omitempty"`
	Schedule  string `json:"schedule,omitempty"`
	TimeZone  string `json:"timeZone,omitempty"`
}

// startedJob is a created job that may be missing from the next snapshot.
type startedJob struct {
	// Reference identifies the job. If the UID is empty, it is not known whether the job exists:
	// the creation failed, or only its reply was lost.
	Reference
	// ScheduledTime is the job's run of the schedule; zero for triggers and backfills.
	ScheduledTime time.Time `json:"scheduledTime,omitzero"`
	Backfilled    bool      `json:"backfilled,omitempty"`
	// Recorded is true if a status that lists the job was written. Found is true if the UID is not
	// known, but a look-up has found the job. In both cases the snapshots do not show the job yet.
	Recorded bool `json:"recorded,omitempty"`
	Found    bool `json:"found,omitempty"`
	// Over is true if the job has ended or is gone. The memory keeps the job because a status that
	// lists the job as active may have been written, and no snapshot has shown that status yet.
	Over bool `json:"over,omitempty"`
}

// isHidden reports whether the memory knows more about the job than any snapshot has shown.
func isHidden(s startedJob) bool { return s.Recorded || s.Found || s.Over }

// leavingJob is a job that the controller has deleted. The children do not show the deletion yet.
type leavingJob struct {
	Reference
	// Seen is true if the children have shown the job: once they do not show it any more, it is
	// gone.
	Seen bool `json:"seen,omitempty"`
	// Gone is true if the job did not exist any more when it was deleted or looked up, while the
	// children may still show it.
	Gone bool `json:"gone,omitempty"`
}

// isLost is true if it is not known whether the job was created.
func isLost(s startedJob) bool { return s.UID == "" && !s.Found }

// isAccountedLost is true if the job's run counts as started, but it is not known whether the job
// was created. If the job does not exist, the run must be reported as unstarted.
func (s *startedJob) isAccountedLost(accounted time.Time) bool {
	return isLost(*s) && isOfRun(*s) && !s.ScheduledTime.After(accounted)
}

// memoryAbout returns the memory of the snapshot, or an empty one if that memory belongs to an
// earlier CronJob of this name (B5).
func memoryAbout(s *Snapshot) memory {
	if m := &s.Memory.kept; m.CronJobUID == s.CronJob.UID {
		return *m
	}
	return memory{CronJobUID: s.CronJob.UID}
}

// keepsWrites reports whether the memory must hold the writes of this round for the next one.
func keepsWrites(consistent bool, quirks cronjobquirk.Set) bool {
	return !consistent && !quirks.Has(cronjobquirk.Stale)
}

// keepsUnrecorded reports whether the memory must hold the run of a failed status write. With quirk
// Stale, BlindCreate or EagerHistory it need not, because the next round decides by the status
// alone.
func keepsUnrecorded(quirks cronjobquirk.Set) bool {
	switch {
	case quirks.Has(cronjobquirk.Stale), quirks.Has(cronjobquirk.BlindCreate), quirks.Has(cronjobquirk.EagerHistory):
		return false
	}
	return true
}

// Equal reports whether two memories are the same, so that storing one again is unnecessary.
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

const memoryVersion = 1

// memoryJSON is the JSON of a memory: a version and the content.
type memoryJSON struct {
	FormatVersion int `json:"formatVersion"`
	memory
}

// MarshalJSON writes the memory with the version of its format. Everything but the version is
// private to this package.
func (m Memory) MarshalJSON() ([]byte, error) {
	return json.Marshal(memoryJSON{memoryVersion, m.kept})
}

// UnmarshalJSON reads a memory. It never fails: data of another version, or data that is not a
// memory, counts as a lost memory. For data that may not even be JSON, call it directly and not
// through json.Unmarshal.
func (m *Memory) UnmarshalJSON(data []byte) error {
	var in memoryJSON
	if *m = (Memory{problem: stored.Read(data, memoryVersion, &in)}); m.problem == "" {
		m.kept = in.memory
	}
	return nil
}
