package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/job"
)

// moves is what a step of a round wants: writes, what it waits for and what it says. The plan is
// assembled from these.
type moves struct {
	remove    []Deletion
	create    []Creation
	triggered []string
	backfills []backfillStep
	waits     []Wait
	events    []job.Event
	notes     []job.Note
	// recorded is a run that needs no job; runs up to since are set aside.
	recorded, since time.Time
	// blocked is true when a run waits for active jobs some of which are looked up;
	// unfinished, when more is to do once the status is written.
	blocked, unfinished bool
	// look is when to look for a snapshot that shows the own writes, where something waits for one.
	look time.Time
}

// and adds the moves of a later step.
func (m moves) and(n moves) moves {
	m.remove, m.create = append(m.remove, n.remove...), append(m.create, n.create...)
	m.triggered, m.backfills = append(m.triggered, n.triggered...), append(m.backfills, n.backfills...)
	m.waits, m.events, m.notes = append(m.waits, n.waits...), append(m.events, n.events...), append(m.notes, n.notes...)
	m.recorded, m.since = later(m.recorded, n.recorded), later(m.since, n.since)
	m.blocked, m.unfinished, m.look = m.blocked || n.blocked, m.unfinished || n.unfinished, sooner(m.look, n.look)
	return m
}

// waitsFor is a step that does nothing but wait.
func waitsFor(w Wait) moves { return moves{waits: []Wait{w}} }

// says is a step that does nothing but report an event.
func says(t job.EventType, reason, message string) moves {
	return moves{events: []job.Event{event(t, reason, message)}}
}

// notes is a step that does nothing but note a contradiction.
func notes(field, value, message string) moves {
	return moves{notes: []job.Note{{Field: field, Value: value, Message: message}}}
}

func event(t job.EventType, reason, message string) job.Event {
	return job.Event{Type: t, Reason: reason, Message: message}
}
