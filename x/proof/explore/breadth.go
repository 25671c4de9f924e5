package explore

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// chunk is the number of states that a worker takes at a time.
const chunk = 256

// Breadth searches level by level. Its counterexample is a shortest one, unless it comes from the
// check of [Options.Rest]: then there may be a shorter way to it.
func Breadth[S any](system System[S], o Options) Report[S] {
	o.fill()
	b := &breadth[S]{system: system, o: o, begin: time.Now()}
	b.run()
	b.report.Elapsed = time.Since(b.begin)
	return b.report
}

type breadth[S any] struct {
	system System[S]
	o      Options
	begin  time.Time
	report Report[S]

	visited, rested table
	// level holds the states to expand, in chunks, and taken counts the chunks that workers have
	// taken.
	level  []packed
	taken  atomic.Int64
	next   atomic.Int64 // states of the next level so far
	packed atomic.Int64 // bytes of the waiting chunks
	stop   atomic.Bool

	mu    sync.Mutex
	found []broken[S]
}

type packed struct {
	data []byte
	n    int
}

// broken is a step that breaks an invariant, from a state that is known by its key.
type broken[S any] struct {
	from Key
	step *Step[S] // nil for a state from which no calm steps lead to rest
	err  error
}

// explorer is one goroutine of the search.
type explorer[S any] struct {
	*breadth[S]
	worker Worker[S]
	key    func(*S) Key
	rester rester[S]
	tally  Tally
	packer *packer[S]
	// in holds the states of a chunk. out holds the packed states of the next level, and last holds
	// the states of that level that are not packed yet.
	in, last []S
	out      []packed
}

func (b *breadth[S]) run() {
	explorers := make([]*explorer[S], b.o.Workers)
	for i := range explorers {
		w, key := b.system.Worker(), keyer[S]()
		explorers[i] = &explorer[S]{
			breadth: b, worker: w, key: key, rester: rester[S]{worker: w, limit: b.o.Rest, known: &b.rested, key: key},
			tally: newTally(b.system), packer: newPacker[S](), in: make([]S, chunk), last: make([]S, 0, chunk),
		}
	}

	for _, s := range b.system.Start() {
		explorers[0].visit(&s, Key{})
	}

	for depth := 0; ; depth++ {
		b.level = nil
		for _, e := range explorers {
			e.flush()
			b.level = append(b.level, e.out...)
			e.out = nil
		}

		if len(b.level) == 0 || b.stop.Load() {
			break
		}

		b.report.Depth = depth
		if depth == b.o.Depth && depth > 0 {
			b.report.Incomplete = ErrDepth
			break
		}
		b.expandLevel(explorers)
	}

	b.finish(explorers)
}

// expandLevel lets all explorers expand the states of a level.
func (b *breadth[S]) expandLevel(explorers []*explorer[S]) {
	b.taken.Store(0)
	b.next.Store(0)
	var wg sync.WaitGroup
	for i, e := range explorers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			e.work(i == 0)
		}()
	}
	wg.Wait()
}

func (e *explorer[S]) work(reports bool) {
	last := time.Now()
	for !e.stop.Load() {
		at := int(e.taken.Add(1)) - 1
		if at >= len(e.level) {
			return
		}

		next := &e.level[at]
		states := e.packer.unpack(next.data, e.in, next.n)
		e.packed.Add(-int64(len(next.data)))
		next.data = nil
		for i := range states {
			e.expand(&states[i])
		}

		if reports && time.Since(last) > time.Second {
			last = time.Now()
			e.o.Progress(e.progress(at))
		}

		if at%16 == 0 && e.bytes() > e.o.Memory {
			e.stop.Store(true)
			e.mu.Lock()
			e.report.Incomplete = ErrMemory
			e.mu.Unlock()
		}
	}
}

func (e *explorer[S]) expand(s *S) {
	from := e.key(s)
	var sound S // the state without the faults that follow
	e.worker.Expand(s, &e.tally, func(step Step[S]) {
		e.tally.Taken[step.Kind]++
		if step.Fault && step.Broken == nil {
			step.Broken = e.rester.checkEnds(sound, step.To)
		} else {
			sound = step.To
		}
		if step.Broken != nil {
			e.breaks(broken[S]{from, &step, step.Broken})
			return
		}
		if e.visit(&step.To, from) {
			e.tally.Fresh[step.Kind]++
		}
	})
}

// visit adds a state to the next level, unless it was visited before, and checks that it comes to
// rest. It reports whether the state is new.
func (e *explorer[S]) visit(s *S, from Key) bool {
	k := e.key(s)
	if !e.visited.add(k, from.lo) {
		return false
	}
	if len(e.last) == chunk {
		e.flush()
	}
	e.last = append(e.last, *s)
	e.next.Add(1)
	if err := e.rester.check(*s); err != nil {
		e.breaks(broken[S]{k, nil, err})
	}
	return true
}

// flush packs the states of the next level that were not packed yet.
func (e *explorer[S]) flush() {
	if len(e.last) == 0 {
		return
	}
	data := e.packer.pack(e.last)
	e.packed.Add(int64(len(data)))
	e.out = append(e.out, packed{data, len(e.last)})
	e.last = e.last[:0]
}

// breaks notes a broken invariant and stops the search: one is enough.
func (e *explorer[S]) breaks(b broken[S]) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.found = append(e.found, b)
	e.stop.Store(true)
}

func (b *breadth[S]) bytes() int64 {
	_, visited := b.visited.len()
	_, rested := b.rested.len()
	return visited + rested + b.packed.Load() + int64(len(b.level))*int64(unsafe.Sizeof(packed{})) + b.system.Bytes()
}

func (b *breadth[S]) progress(at int) Progress {
	n, _ := b.visited.len()
	return Progress{
		States: n, Depth: b.report.Depth, Left: (len(b.level) - at) * chunk, Next: int(b.next.Load()),
		Bytes: b.bytes(), Elapsed: time.Since(b.begin),
	}
}

// finish fills the report.
func (b *breadth[S]) finish(explorers []*explorer[S]) {
	b.report.Tally = newTally(b.system)
	for _, e := range explorers {
		b.report.Tally.add(&e.tally)
	}
	b.report.States, _ = b.visited.len()
	b.report.Bytes = max(b.report.Bytes, b.bytes())
	if len(b.found) == 0 {
		return
	}
	first := slices.MinFunc(b.found, func(a, b broken[S]) int {
		return cmpBroken(a.step == nil, b.step == nil)
	})
	b.report.Found = explorers[0].wayTo(first)
}

// cmpBroken prefers broken steps to states that do not come to rest.
func cmpBroken(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// wayTo finds the steps to a broken invariant: back along the keys of the states, then forward by
// expanding the states again.
func (e *explorer[S]) wayTo(end broken[S]) *Counterexample[S] {
	keys := []Key{end.from}
	for k, ok := e.visited.parent(end.from); ok; k, ok = e.visited.parent(k) {
		keys = append(keys, k)
	}
	slices.Reverse(keys)

	c := &Counterexample[S]{Err: end.err}
	starts := e.system.Start()
	c.Start = starts[slices.IndexFunc(starts, func(s S) bool { return e.key(&s) == keys[0] })]

	at, tally := c.Start, newTally(e.system)
	for _, k := range keys[1:] {
		var found *Step[S]
		e.worker.Expand(&at, &tally, func(step Step[S]) {
			if found == nil && step.Broken == nil && e.key(&step.To) == k {
				found = &step
			}
		})
		c.Steps = append(c.Steps, *found)
		at = found.To
	}

	if end.step != nil {
		c.Steps = append(c.Steps, *end.step)
		return c
	}

	for _, s := range e.rester.way(at) {
		c.Steps = append(c.Steps, Step[S]{To: s})
		c.Calm++
	}
	return c
}
