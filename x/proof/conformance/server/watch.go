package server

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
)

// watcher delivers the history of a resource, from some version on, in order.
type watcher struct {
	r         *resource
	namespace string
	from      int       // how much of the history is delivered
	open      time.Time // since when it may be delivered
	news      chan struct{}
	result    chan watch.Event
	stop      chan struct{}
}

// watch begins a watch at the version that the client has.
func (s *Server) watch(action clienttesting.Action) (bool, watch.Interface, error) {
	r := s.resources[action.GetResource().Resource]
	w := &watcher{
		r: r, namespace: action.GetNamespace(), open: time.Now(),
		news: make(chan struct{}, 1), result: make(chan watch.Event), stop: make(chan struct{}),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	since := s.revision
	if a, ok := action.(clienttesting.WatchActionImpl); ok && a.ListOptions.ResourceVersion != "" {
		since = parseRevision(a.ListOptions.ResourceVersion)
	}
	w.from, _ = slices.BinarySearchFunc(r.history, since+1,
		func(c change, revision int64) int { return int(c.revision - revision) })
	r.watches[w] = struct{}{}
	w.wake()
	go w.run()
	return true, w, nil
}

// wake tells the watcher to look again.
func (w *watcher) wake() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// Stop ends the watch.
func (w *watcher) Stop() {
	w.r.server.mu.Lock()
	defer w.r.server.mu.Unlock()
	if _, ok := w.r.watches[w]; ok {
		delete(w.r.watches, w)
		close(w.stop)
	}
}

// ResultChan returns the channel of events.
func (w *watcher) ResultChan() <-chan watch.Event { return w.result }

// latency is how long a notification takes after its change. Notifications come after the round
// that caused them, one by one, and those about an owner before those about what it owns. So
// no order is left to chance, and no round begins in the middle of one.
var latency = map[string]time.Duration{
	CronJobs:  time.Millisecond,
	Jobs:      2 * time.Millisecond,
	Workloads: 2200 * time.Microsecond,
	PodGroups: 2400 * time.Microsecond,
	Pods:      3 * time.Millisecond,
}

func (w *watcher) run() {
	defer close(w.result)
	for {
		select {
		case <-w.stop:
			return
		case <-w.news:
		}
		for c, due := w.next(); c != nil; c, due = w.next() {
			if !w.pause(time.Until(due)) || !w.deliver(c) {
				return
			}
		}
	}
}

// deliver reports false if the watch has ended.
func (w *watcher) deliver(c *change) bool {
	select {
	case <-w.stop:
		return false
	case w.result <- watch.Event{Type: c.kind, Object: c.object.DeepCopyObject()}:
	}
	return w.pause(time.Microsecond)
}

// pause waits, and reports false as soon as the watch ends: no time passes any more once
// a script is over, so a watcher that slept would never end.
func (w *watcher) pause(d time.Duration) bool {
	select {
	case <-w.stop:
		return false
	case <-time.After(d):
		return true
	}
}

// next takes the next change to deliver, and says when; there is none while the resource
// is held.
func (w *watcher) next() (c *change, due time.Time) {
	s := w.r.server
	s.mu.Lock()
	defer s.mu.Unlock()
	for w.from < len(w.r.history) && !s.held[w.r.name] {
		c := &w.r.history[w.from]
		w.from++
		if w.namespace == "" || w.namespace == c.object.GetNamespace() {
			due = c.at
			if w.open.After(due) {
				due = w.open
			}
			return c, due.Add(latency[w.r.name])
		}
	}
	return nil, time.Time{}
}

// in are the objects of a namespace, or all, by key.
func (r *resource) in(namespace string) []object {
	var out []object
	for _, key := range slices.Sorted(maps.Keys(r.objects)) {
		if o := r.objects[key]; namespace == "" || o.GetNamespace() == namespace {
			out = append(out, o)
		}
	}
	return out
}
