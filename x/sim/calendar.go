package sim

import "time"

// at schedules an event. An event for the present time is played after the other events of that
// time.
func (e *engine) at(at int64, kind eventKind, id int32, gen uint32) {
	e.order++
	ev := event{at: at, order: e.order<<8 | uint64(kind), id: id, gen: gen}
	if at <= e.now {
		ev.at = e.now
		e.soon.push(ev)
		return
	}
	if at > e.until {
		e.result.Open.Events++
		return
	}
	e.queue.push(ev)
}

// time returns the present by the API server's clock.
func (e *engine) time() time.Time { return e.start.Add(time.Duration(e.now)) }

// stamp returns the present as objects store it, in whole seconds.
func (e *engine) stamp() time.Time {
	return e.start.Add(time.Duration(e.now - e.now%int64(time.Second)))
}

// clock returns the present by the controllers' clock.
func (e *engine) clock() time.Time { return e.time().Add(e.plane.skew) }

// since turns a time of the controllers' clock into one of the engine.
func (e *engine) since(t time.Time) int64 { return int64(t.Sub(e.start) - e.plane.skew) }

// stampOf returns the present by a node's clock, in whole seconds.
func (e *engine) stampOf(node int32) time.Time {
	if node < 0 || e.nodes.all[node].spec.Skew == 0 {
		return e.stamp()
	}
	return e.time().Add(e.nodes.all[node].spec.Skew).Truncate(time.Second)
}
