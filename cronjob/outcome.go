package cronjob

import (
	"encoding/json"
	"iter"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// Writes holds the results of the reads and writes that come before the status write. Results are
// in the order of the plan's actions; a missing result means ResultNotTried.
type Writes struct {
	// Verified is parallel to the plan's Verify: ResultDone, ResultGone or ResultUnsuccessful.
	Verified []Reply `json:"verified,omitempty"`
	// Deleted and Created are parallel to the plan's Delete and Create.
	Deleted []Effect `json:"deleted,omitempty"`
	Created []Effect `json:"created,omitempty"`
}

// Outcome holds the results of all reads and writes of a plan, for [Plan.Conclude]. It can be
// stored with the plan.
type Outcome struct {
	Writes
	// Settled is the result of writing the status of the Settlement.
	Settled Reply `json:"settled,omitzero"`
}

// Effect is the result of one entry of Create or Delete.
type Effect struct {
	Result cronjobreason.Result `json:"result,omitzero"`
	// Job is the created job, or the existing job of that name.
	Job Reference `json:"job,omitzero"`
	// CreationTimestamp is the time of the job's creation, for the metric (C16).
	CreationTimestamp time.Time `json:"creationTimestamp,omitzero"`
	// Error is the text of the error, for the event. A creation without this text has no event
	// FailedCreate. A creation that found an existing job has not failed, even if the owner of that
	// job is unknown.
	Error string `json:"error,omitempty"`
}

// Reply is the result of a look-up or of the status write. As JSON it is the word of its result, or
// an object if there is an error text.
type Reply struct {
	Result cronjobreason.Result `json:"result"`
	// Error is the text of the error.
	Error string `json:"error,omitempty"`
}

// MarshalJSON writes a word, or an object if there is an error text.
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

// isDeleted reports whether a deletion succeeded or was unnecessary.
func isDeleted(r cronjobreason.Result) bool {
	switch r {
	case cronjobreason.ResultDone, cronjobreason.ResultGone:
		return true
	}
	return false
}

// hasStarted reports whether a creation has created the CronJob's job, or found that it exists.
func hasStarted(e Effect) bool {
	switch e.Result {
	case cronjobreason.ResultDone, cronjobreason.ResultAlreadyExists:
		return true
	}
	return false
}

// isSettled reports whether a creation need not be repeated, because a job of its name exists.
func isSettled(r cronjobreason.Result) bool {
	switch r {
	case cronjobreason.ResultDone, cronjobreason.ResultAlreadyExists, cronjobreason.ResultNameTaken:
		return true
	}
	return false
}

// isScheduled reports whether the schedule starts the job, and not a trigger or a backfill.
func (c *Creation) isScheduled() bool { return c.Trigger == "" && c.Backfill == "" }

// isPassed reports whether a run of CatchUpAll can never start, because its name is taken. Then the
// next run follows.
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

// foundGone returns the jobs that look-ups found gone, except those perhaps never created (isLost).
func (p *Plan) foundGone(w *Writes) iter.Seq[*Reference] {
	return func(yield func(*Reference) bool) {
		for i := range p.Verify {
			isGone := p.Verify[i].UID != "" && value.At(w.Verified, i).Result == cronjobreason.ResultGone
			if isGone && !yield(&p.Verify[i]) {
				return
			}
		}
	}
}

// lostNames returns the names of jobs that may have been created and whose look-up had this result.
func (p *Plan) lostNames(w *Writes, result cronjobreason.Result) map[string]bool {
	var names map[string]bool
	for ref := range p.lookedUp(w, result) {
		if ref.UID != "" {
			continue
		}
		if names == nil {
			names = map[string]bool{}
		}
		names[ref.Name] = true
	}
	return names
}

// looks returns the results of the look-ups, by UID. A UID that is listed twice is looked up twice:
// a job that one look-up has found exists.
func (p *Plan) looks(w *Writes) map[job.UID]cronjobreason.Result {
	if len(p.Verify) == 0 {
		return nil
	}

	looks := make(map[job.UID]cronjobreason.Result, len(p.Verify))
	for i := range p.Verify {
		if uid := p.Verify[i].UID; looks[uid] != cronjobreason.ResultDone {
			looks[uid] = value.At(w.Verified, i).Result
		}
	}
	return looks
}

// removed returns the deletions after which the job is gone or being deleted.
func (p *Plan) removed(w *Writes) iter.Seq[*Deletion] {
	return func(yield func(*Deletion) bool) {
		for i := range p.Delete {
			if isDeleted(value.At(w.Deleted, i).Result) && !yield(&p.Delete[i]) {
				return
			}
		}
	}
}

// MayCreate reports whether the plan's jobs may be created after these look-ups and deletions: all
// jobs that a run replaces must be deleted (C12). If the creation of a job had no reply, a look-up
// must show that the job does not exist (CI15).
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
