package cronjob

import (
	"encoding/json"
	"iter"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/value"
)

// Writes are what became of the reads and writes that come before the status. Results
// are in the order of the plan's actions; a missing one means ResultNotTried.
type Writes struct {
	// Verified is parallel to the plan's Verify: ResultDone, ResultGone or ResultUnsuccessful.
	Verified []Reply `json:"verified,omitempty"`
	// Deleted and Created are parallel to the plan's Delete and Create.
	Deleted []Effect `json:"deleted,omitempty"`
	Created []Effect `json:"created,omitempty"`
}

// Outcome is what became of all reads and writes of a plan. It can be stored beside the
// plan; [Plan.Conclude] takes it.
type Outcome struct {
	Writes
	// Settled is what became of writing the status of the [Settlement].
	Settled Reply `json:"settled,omitzero"`
}

// Effect is what became of one creation or deletion.
type Effect struct {
	Result cronjobreason.Result `json:"result,omitzero"`
	// Job is the job that was created or was found in its place.
	Job Reference `json:"job,omitzero"`
	// CreationTimestamp is when the job was created, for the metric (C16).
	CreationTimestamp time.Time `json:"creationTimestamp,omitzero"`
	// Error is the text of the error, for the event. Without it there is none: a creation
	// that has met another job has not failed, though whose job it is may be unknown.
	Error string `json:"error,omitempty"`
}

// Reply is what became of a look-up or write that creates nothing. As JSON it is the word of its result, or an
// object where it says more.
type Reply struct {
	Result cronjobreason.Result `json:"result"`
	// Error is the text of the error.
	Error string `json:"error,omitempty"`
}

// MarshalJSON writes a word or an object.
func (r Reply) MarshalJSON() ([]byte, error) {
	if r == (Reply{Result: r.Result}) {
		return json.Marshal(r.Result)
	}
	type object Reply
	return json.Marshal(object(r))
}

// UnmarshalJSON reads what MarshalJSON writes. A result that is not known is an error.
func (r *Reply) UnmarshalJSON(data []byte) error {
	*r = Reply{}
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &r.Result)
	}
	type object Reply
	return json.Unmarshal(data, (*object)(r))
}

// isDeleted reports whether a deletion took effect, or was not needed.
func isDeleted(r cronjobreason.Result) bool {
	switch r {
	case cronjobreason.ResultDone, cronjobreason.ResultGone:
		return true
	}
	return false
}

// hasStarted reports whether a creation has made the CronJob's job, or has found it.
func hasStarted(e Effect) bool {
	switch e.Result {
	case cronjobreason.ResultDone, cronjobreason.ResultAlreadyExists:
		return true
	}
	return false
}

// isSettled reports whether a creation needs no more: its name has a job, whoever owns that.
func isSettled(r cronjobreason.Result) bool {
	switch r {
	case cronjobreason.ResultDone, cronjobreason.ResultAlreadyExists, cronjobreason.ResultNameTaken:
		return true
	}
	return false
}

// isScheduled reports whether the schedule has asked for a job.
func (c *Creation) isScheduled() bool { return c.Trigger == "" && c.Backfill == "" }

// isPassed reports whether a run can never start, and the next one takes its turn.
func (c *Creation) isPassed(r cronjobreason.Result) bool {
	return c.Reason == cronjobreason.CreateOldest && r == cronjobreason.ResultNameTaken
}

// lookedUp returns the jobs whose look-up had this result.
func (p *Plan) lookedUp(w *Writes, result cronjobreason.Result) iter.Seq[*Reference] {
	return func(yield func(*Reference) bool) {
		for i := range p.Verify {
			if value.At(w.Verified, i).Result == result && !yield(&p.Verify[i]) {
				return
			}
		}
	}
}

// foundGone returns the jobs that the look-ups have found gone, except those that were perhaps
// created (isLost).
func (p *Plan) foundGone(w *Writes) iter.Seq[*Reference] {
	return func(yield func(*Reference) bool) {
		for i := range p.Verify {
			switch {
			case p.Verify[i].UID == "", value.At(w.Verified, i).Result != cronjobreason.ResultGone:
				continue
			}
			if !yield(&p.Verify[i]) {
				return
			}
		}
	}
}

// lostNames returns the names of those that were perhaps created and whose look-up had this result.
func (p *Plan) lostNames(w *Writes, result cronjobreason.Result) map[string]bool {
	names := map[string]bool{}
	for ref := range p.lookedUp(w, result) {
		if ref.UID == "" {
			names[ref.Name] = true
		}
	}
	return names
}

// removed returns the deletions after which the job is gone, or on its way out.
func (p *Plan) removed(w *Writes) iter.Seq[*Deletion] {
	return func(yield func(*Deletion) bool) {
		for i := range p.Delete {
			if isDeleted(value.At(w.Deleted, i).Result) && !yield(&p.Delete[i]) {
				return
			}
		}
	}
}

// MayCreate reports whether the plan's creations may go ahead after the
// look-ups and deletions: a run replaces the active jobs only if all of them are deleted
// (C12), and nothing starts beside a job that was created without a reply (CI15).
func (p *Plan) MayCreate(w Writes) bool {
	for i := range p.Verify[:len(p.Verify)-p.basis.Reviewed.of(len(p.Verify))] {
		if p.Verify[i].UID == "" && value.At(w.Verified, i).Result != cronjobreason.ResultGone {
			return false
		}
	}
	for i := range p.Delete {
		if p.Delete[i].Reason == cronjobreason.DeleteReplaced && !isDeleted(value.At(w.Deleted, i).Result) {
			return false
		}
	}
	return true
}
