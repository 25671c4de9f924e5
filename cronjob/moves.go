package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/job"
)

// moves is the result of one step of a round: writes, waits, events and notes. The moves of all
// steps make the plan.
type moves struct {
	remove    []Deletion
	create    []Creation
	triggered []string
	backfills []backfillStep
	waits     []Wait
	events    []job.Event
	notes     []job.Note
	// limited are the names of the creations that active jobs could have held back.
	limited []string
	// recorded is a run to record without creating a job. since is the time up to which runs are
	// set aside.
	recorded, since time.Time
	hurry           // except Unshown, which the end of the round computes
}

// start adds a creation. isLimited is true if active jobs could have held it back.
func (m *moves) start(c Creation, isLimited bool) {
	m.create = append(m.create, c)
	if isLimited {
		m.limited = append(m.limited, c.Name)
	}
}

// add adds the moves of a later step.
func (m *moves) add(n moves) {
	m.remove, m.create = append(m.remove, n.remove...), append(m.create, n.create...)
	m.triggered, m.backfills = append(m.triggered, n.triggered...), append(m.backfills, n.backfills...)
	m.waits, m.events, m.notes = append(m.waits, n.waits...), append(m.events, n.events...), append(m.notes, n.notes...)
	m.limited = append(m.limited, n.limited...)
	m.recorded, m.since = later(m.recorded, n.recorded), later(m.since, n.since)
	m.Blocked, m.Unfinished, m.Look = m.Blocked || n.Blocked, m.Unfinished || n.Unfinished, sooner(m.Look, n.Look)
}

// waitsFor returns moves with only a wait.
func waitsFor(w Wait) moves { return moves{waits: []Wait{w}} }

// says returns moves with only an event.
func says(t job.EventType, reason, message string) moves {
	return moves{events: []job.Event{event(t, reason, message)}}
}

// notes returns moves with only a note.
func notes(field, value, message string) moves {
	return moves{notes: []job.Note{{Field: field, Value: value, Message: message}}}
}

func event(t job.EventType, reason, message string) job.Event {
	return job.Event{Type: t, Reason: reason, Message: message}
}
