package job

import "github.com/batchplan/batchplan/job/jobreason"

// reset empties the plan, keeps the buffers of its lists, and returns it.
func (p *Plan) reset() *Plan {
	deletions, creations, untrack := p.Delete[:0], p.Create[:0], p.Untrack[:0]
	waits, events, notes, groups := p.Waits[:0], p.Events[:0], p.Notes[:0], p.Groups[:0]
	*p = Plan{}
	p.Delete, p.Create, p.Untrack = deletions, creations, untrack
	p.Waits, p.Events, p.Notes, p.Groups = waits, events, notes, groups
	return p
}

// stop ends a round that plans nothing for the job, for the reason given.
func (p *Plan) stop(w Wait) *Plan {
	p.basis.Course = course{Stopped: true}
	p.wait(w)
	return p
}

// isStoppedFor reports whether the given reason is why the round has planned nothing.
func (p *Plan) isStoppedFor(reason jobreason.Wait) bool {
	return len(p.Waits) > 0 && p.Waits[0].Reason == reason
}

func (p *Plan) wait(w Wait) { p.Waits = append(p.Waits, w) }

func (p *Plan) event(t EventType, reason, message string) {
	p.Events = append(p.Events, Event{Type: t, Reason: reason, Message: message})
}
