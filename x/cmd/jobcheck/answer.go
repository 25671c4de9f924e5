package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobreason"
)

// question is one line to the program.
type question struct {
	ID       int          `json:"id"`
	Snapshot job.Snapshot `json:"snapshot"`
}

// answer is one line from the program.
type answer struct {
	ID     *int        `json:"id,omitempty"`
	Plan   *job.Plan   `json:"plan,omitempty"`
	Status *job.Status `json:"status,omitempty"`
	// Settled is the status after the finalizers are removed.
	Settled *job.Status `json:"settled,omitempty"`
	Error   string      `json:"error,omitempty"`
}

// planForm is a job.Plan without its decoder, because that decoder accepts unknown fields.
type planForm job.Plan

// answerForm is an answer as it is read. It also accepts the version and the internal fields that a Go
// program writes when it marshals a job.Plan.
type answerForm struct {
	ID   *int `json:"id"`
	Plan *struct {
		planForm
		FormatVersion int             `json:"formatVersion"`
		Internal      json.RawMessage `json:"internal"`
	} `json:"plan"`
	Status  *job.Status `json:"status"`
	Settled *job.Status `json:"settled"`
	Error   string      `json:"error"`
}

// readAnswer reads the answer to the question with an id. It refuses unknown fields.
func readAnswer(line []byte, id int) (*answer, error) {
	var form answerForm
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	wrong := func(problem any) error {
		return fmt.Errorf("answer %s: %s", quote(bytes.TrimSpace(line)), clip(fmt.Sprint(problem)))
	}

	if err := decoder.Decode(&form); err != nil {
		return nil, wrong(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, wrong("more than one value in the line")
	}
	if form.ID == nil || *form.ID != id {
		return nil, wrong("the id is not the question's")
	}

	a := answer{ID: form.ID, Status: form.Status, Settled: form.Settled, Error: form.Error}
	if form.Plan != nil {
		plan := job.Plan(form.Plan.planForm)
		a.Plan = &plan
	}

	switch said := a.Plan != nil || a.Status != nil; {
	case a.Settled != nil && a.Plan == nil:
		return nil, wrong("it has a settled status and no plan")
	case !said && a.Error == "":
		return nil, wrong("it has no plan, no status and no error")
	case said && a.Error != "":
		return nil, wrong("it has an error beside a plan or a status")
	}
	return &a, nil
}

// maxShown is the maximum number of bytes of a program's output in an error.
const maxShown = 1024

// quote quotes a line, or the beginning of a long line with the length of the line.
func quote(line []byte) string {
	if len(line) <= maxShown {
		return fmt.Sprintf("%q", line)
	}
	return fmt.Sprintf("%q and so on, %d bytes", line[:maxShown], len(line))
}

// clip shortens a problem. A problem can be long, because it may contain a field name of the
// answer.
func clip(problem string) string {
	if len(problem) <= maxShown {
		return problem
	}
	return strings.ToValidUTF8(problem[:maxShown], "") + " and so on"
}

// right returns the answer of this library. The library must not refuse the snapshot.
func right(s *job.Snapshot) (*answer, error) {
	plan, err := job.Reconcile(*s)
	if err != nil {
		return nil, err
	}
	written := job.Reply{Result: jobreason.ResultDone}

	recording := plan.Record(job.Writes{
		Claimed: written,
		Grouped: slices.Repeat([]jobgroup.Effect{{Result: jobreason.ResultDone}}, len(plan.Groups)),
		Deleted: done(len(plan.Delete)),
		Created: done(len(plan.Create)),
	})

	a := &answer{Plan: &plan}
	plan.Untrack = recording.Untrack
	if recording.Write {
		a.Status = &recording.Status
	}
	untracked := slices.Repeat([]job.Reply{written}, len(recording.Untrack))
	if settlement := recording.Settle(written, untracked); settlement.Write {
		a.Settled = &settlement.Status
	}
	return a, nil
}

func done(n int) []job.Effect {
	effects := make([]job.Effect, n)
	for i := range effects {
		effects[i].Result = jobreason.ResultDone
	}
	return effects
}

// withoutID returns an answer in a form in which two answers can be compared.
func withoutID(line []byte) []byte {
	var fields map[string]any
	if err := json.Unmarshal(line, &fields); err != nil {
		return line
	}
	delete(fields, "id")
	data, err := json.Marshal(fields)
	if err != nil {
		return line
	}
	return data
}

func (a *answer) withID(id int) *answer {
	b := *a
	b.ID = &id
	return &b
}
