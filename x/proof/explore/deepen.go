package explore

import (
	"time"
	"unsafe"
)

// Deepen searches depth first to a limit, which grows by a step until the search is complete. It
// keeps no frontier, and visits a state again if it meets it on a shorter way. After a
// counterexample it continues below that depth, so it returns a shortest one. It runs on one core,
// and does not check that states come to rest.
func Deepen[S any](system System[S], step int, o Options) Report[S] {
	o.fill()
	d := &deepening[S]{system: system, worker: system.Worker(), o: o, begin: time.Now()}
	for limit := step; ; limit += step {
		if o.Depth > 0 {
			limit = min(limit, o.Depth)
		}
		d.search(limit)
		d.report.States, _ = d.visited.len()
		ends := d.report.Found != nil || d.report.Incomplete != nil
		if !ends && d.cut && limit == o.Depth {
			d.report.Incomplete = ErrDepth
		}
		if ends || !d.cut || limit == o.Depth {
			d.report.Elapsed = time.Since(d.begin)
			return d.report
		}
	}
}

type deepening[S any] struct {
	system System[S]
	worker Worker[S]
	o      Options
	begin  time.Time
	report Report[S]

	visited table // the smallest depth at which each state was met
	path    []level[S]
	limit   int
	cut     bool // whether the limit has kept a state from being expanded
	entered int
	buffer  []byte
	last    time.Time
}

// level is a state on the current way, with the moves from it, of which taken were taken.
type level[S any] struct {
	state S
	steps []Step[S]
	taken int
}

// search visits all states up to a depth.
func (d *deepening[S]) search(limit int) {
	d.visited, d.cut, d.limit = table{}, false, limit
	d.report = Report[S]{Tally: newTally(d.system)}
	for _, s := range d.system.Start() {
		d.enter(&s, 0)
		for len(d.path) > 0 && d.report.Incomplete == nil {
			d.advance()
		}
	}
	d.path = nil
}

// advance takes the next move from the last state of the way, or drops that state if none is left.
func (d *deepening[S]) advance() {
	depth := len(d.path)
	top := &d.path[depth-1]
	if top.taken == len(top.steps) || depth > d.limit {
		d.cut = d.cut || top.taken < len(top.steps)
		top.steps = nil
		d.path = d.path[:depth-1]
		return
	}
	step := &top.steps[top.taken]
	top.taken++
	d.report.Tally.Taken[step.Kind]++
	if step.Broken != nil {
		d.found(step.Broken)
		return
	}
	if d.enter(&step.To, depth) {
		d.report.Tally.Fresh[step.Kind]++
	}
}

// enter appends a state to the way, unless it was met at this depth or a smaller one.
func (d *deepening[S]) enter(s *S, depth int) bool {
	d.buffer = d.worker.Append(d.buffer[:0], s)
	if !d.visited.lower(KeyOf(d.buffer), uint64(depth)) {
		return false
	}
	next := level[S]{state: *s}
	d.worker.Expand(s, &d.report.Tally, func(step Step[S]) { next.steps = append(next.steps, step) })
	d.path = append(d.path, next)
	d.report.Depth = max(d.report.Depth, depth)
	if d.entered++; d.entered%512 == 0 {
		d.watch(depth)
	}
	return true
}

// pathSteps is about the number of steps that are kept for a state of the way.
const pathSteps = 16

// watch checks the memory limit and reports progress.
func (d *deepening[S]) watch(depth int) {
	states, bytes := d.visited.len()
	bytes += d.system.Bytes() + int64(len(d.path))*int64(unsafe.Sizeof(level[S]{})+pathSteps*unsafe.Sizeof(Step[S]{}))
	d.report.Bytes = max(d.report.Bytes, bytes)
	if bytes > d.o.Memory {
		d.report.Incomplete = ErrMemory
	}
	if time.Since(d.last) > time.Second {
		d.last = time.Now()
		d.o.Progress(Progress{States: states, Depth: depth, Bytes: bytes, Elapsed: time.Since(d.begin)})
	}
}

// found notes a counterexample, and lets the search continue for a shorter one.
func (d *deepening[S]) found(err error) {
	c := &Counterexample[S]{Start: d.path[0].state, Err: err}
	for i := range d.path {
		c.Steps = append(c.Steps, d.path[i].steps[d.path[i].taken-1])
	}
	d.report.Found = c
	d.limit = len(c.Steps) - 1
}
