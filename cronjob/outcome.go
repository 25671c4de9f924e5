package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/internal/enum"
)

// Result is what became of one read or write.
type Result uint8

const (
	// NotTried: the round stopped before it. An Outcome of only these is that of a
	// crash before the first write.
	NotTried Result = iota
	// Done: the write took effect; for a read, the job is there.
	Done
	// Gone: the job was not there any more.
	Gone
	// AlreadyExists: a job of the name is there and its controller is this CronJob.
	AlreadyExists
	// NameTaken: a job of the name is there and it is somebody else's.
	NameTaken
	// Unsuccessful: the write did not take effect, or its reply was lost.
	Unsuccessful
	// Refused: the write did not and will not take effect, since the namespace is
	// going away.
	Refused
)

const results = "not tried|done|gone|already exists|name taken|unsuccessful|refused"

// String returns the result in words.
func (r Result) String() string { return enum.String(results, int(r), "Result") }

// Outcome is what became of a plan's writes. Results stand in the order of the
// plan's actions; a missing one means NotTried.
type Outcome struct {
	// Verified is parallel to the plan's Verify: Done, Gone or Unsuccessful.
	Verified []Result
	// Deleted and Created are parallel to the plan's Delete and Create.
	Deleted []Effect
	Created []Effect
	// Settled is the result of writing the status of Settle.
	Settled Result
}

// Effect is what became of one creation or deletion.
type Effect struct {
	Result Result
	// Job is the job that was created or was found in its place.
	Job Reference
	// CreationTimestamp is that of the job, for the metric (C16).
	CreationTimestamp time.Time
	// Error is the text of the error, for the event.
	Error string
}

func effectAt(effects []Effect, i int) Effect {
	if i < len(effects) {
		return effects[i]
	}
	return Effect{}
}

func resultAt(results []Result, i int) Result {
	if i < len(results) {
		return results[i]
	}
	return NotTried
}

func isDeleted(r Result) bool { return r == Done || r == Gone }

// MayCreate reports whether the plan's creations may go ahead after the
// look-ups and deletions: a run replaces the active jobs only if all of them are deleted
// (C12), and nothing starts beside a job that was created without a reply (CI15).
func (p *Plan) MayCreate(o Outcome) bool {
	for i := range p.Verify {
		if p.Verify[i].UID == "" && resultAt(o.Verified, i) != Gone {
			return false
		}
	}
	for i := range p.Delete {
		if p.Delete[i].Reason == DeleteReplaced && !isDeleted(effectAt(o.Deleted, i).Result) {
			return false
		}
	}
	return true
}
