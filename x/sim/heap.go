package sim

// event is a change that the engine makes at a time.
type event struct {
	at int64 // nanoseconds since the start
	// order decides between events at the same time. It is the number of the event, followed by the
	// kind in the lowest 8 bits.
	order uint64
	id    int32
	// gen is the generation of the event's subject; events of an earlier generation are void.
	gen uint32
}

func (e *event) kind() eventKind { return eventKind(e.order) }

func (e *event) before(f *event) bool {
	return e.at < f.at || e.at == f.at && e.order < f.order
}

// heap is a queue of events, the earliest first. Each node has four children: with two, an
// operation would touch more cache lines.
type heap struct{ events []event }

func (h *heap) push(e event) {
	h.events = append(h.events, e)
	i := len(h.events) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&h.events[parent]) {
			break
		}
		h.events[i] = h.events[parent]
		i = parent
	}
	h.events[i] = e
}

func (h *heap) pop() event {
	top := h.events[0]
	last := h.events[len(h.events)-1]
	h.events = h.events[:len(h.events)-1]
	if n := len(h.events); n > 0 {
		i := 0
		for {
			first := 4*i + 1
			if first >= n {
				break
			}

			least := first
			for c := first + 1; c < min(first+4, n); c++ {
				if h.events[c].before(&h.events[least]) {
					least = c
				}
			}

			if !h.events[least].before(&last) {
				break
			}
			h.events[i] = h.events[least]
			i = least
		}
		h.events[i] = last
	}
	return top
}

// fifo is a queue that reuses its memory.
type fifo[T any] struct {
	items []T
	head  int
}

func (q *fifo[T]) len() int { return len(q.items) - q.head }

func (q *fifo[T]) push(item T) {
	if q.head > 64 && q.head*2 > len(q.items) {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, item)
}

func (q *fifo[T]) pop() T {
	var none T
	item := q.items[q.head]
	q.items[q.head] = none
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return item
}
