package sim

import "time"

// Quota is an [Admission] that admits jobs in the order of their submission while their pods fit
// into a number of slots. A job that is larger than the quota runs alone.
type Quota struct {
	// Pods is the number of slots.
	Pods int32
	// Backfill lets a job overtake earlier ones that do not fit.
	Backfill bool

	used int32
	came int64
	// lines are the queues of the waiting jobs, one for each size. Only the first job of a queue can
	// be the next to be admitted.
	lines  []*quotaLine
	bySize map[int32]*quotaLine
	waits  map[int64]bool
	held   map[int64]int32
}

type quotaLine struct {
	size int32
	jobs fifo[quotaTicket]
}

type quotaTicket struct{ id, came int64 }

// Submit adds the job to the waiting ones.
func (q *Quota) Submit(r Request) {
	if q.bySize == nil {
		q.bySize, q.waits, q.held = map[int32]*quotaLine{}, map[int64]bool{}, map[int64]int32{}
	}
	l := q.bySize[r.Pods]
	if l == nil {
		l = &quotaLine{size: r.Pods}
		q.bySize[r.Pods] = l
		q.lines = append(q.lines, l)
	}

	q.came++
	l.jobs.push(quotaTicket{r.ID, q.came})
	q.waits[r.ID] = true
}

// Finish frees the slots of the job.
func (q *Quota) Finish(r Request) {
	q.used -= q.held[r.ID]
	delete(q.held, r.ID)
	delete(q.waits, r.ID)
}

// Next admits the first job that may start.
func (q *Quota) Next(time.Duration) (Decision, bool) {
	var best *quotaLine
	for _, l := range q.lines {
		for l.jobs.len() > 0 && !q.waits[l.first().id] {
			l.jobs.pop()
		}
		if l.jobs.len() == 0 || q.Backfill && !q.fits(l.size) {
			continue
		}
		if best == nil || l.first().came < best.first().came {
			best = l
		}
	}

	if best == nil || !q.fits(best.size) {
		return Decision{}, false
	}

	id := best.jobs.pop().id
	delete(q.waits, id)
	q.held[id] = best.size
	q.used += best.size
	return Decision{id, true}, true
}

func (q *Quota) fits(size int32) bool { return size <= q.Pods-q.used || q.used == 0 }

func (l *quotaLine) first() quotaTicket { return l.jobs.items[l.jobs.head] }
