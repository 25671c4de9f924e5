package trace

import "container/heap"

// windowSize is the number of events of a log that are sorted at a time. In a file of several
// watches, or after requests that end at the same time, an event is out of place by less than that.
const windowSize = 512

// window is a heap of events, the lowest version first.
type window []*event

func (w window) Len() int { return len(w) }
func (w window) Less(i, j int) bool {
	if w[i].key != w[j].key {
		return w[i].key < w[j].key
	}
	return w[i].seq < w[j].seq
}
func (w window) Swap(i, j int) { w[i], w[j] = w[j], w[i] }
func (w *window) Push(x any)   { *w = append(*w, x.(*event)) }
func (w *window) Pop() any {
	old := *w
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*w = old[:len(old)-1]
	return last
}

// fill reads until the window is full or the log has ended.
func (s *source) fill() error {
	for !s.ended && len(s.window) < windowSize {
		e, err := s.next()
		if err != nil {
			return err
		}
		if e == nil {
			s.ended = true
			break
		}
		heap.Push(&s.window, e)
	}
	return nil
}

// merge reads several logs as one.
type merge struct {
	sources []*source
	summary *Summary
	// ended is called once the last event of a log has been returned.
	ended func(*source)
}

// next returns the next event, nil at the end of all logs.
func (m *merge) next() (*event, error) {
	var first *source
	for _, s := range m.sources {
		if err := s.fill(); err != nil {
			return nil, err
		}
		if len(s.window) == 0 && !s.over {
			s.over = true
			m.ended(s)
		}
		if len(s.window) > 0 && (first == nil || s.window[0].key < first.window[0].key) {
			first = s
		}
	}

	if first == nil {
		return nil, nil
	}
	m.summary.Events++
	return heap.Pop(&first.window).(*event), nil
}
