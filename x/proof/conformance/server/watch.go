package server

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
)

// watcher delivers the history of a resource, from some version on, in order.
type watcher struct {
	r         *resource
	namespace string
	from      int       // the number of changes of the history that were delivered
	open      time.Time // when the watch began: nothing is delivered before
	news      chan struct{}
	result    chan watch.Event
	stop      chan struct{}
}

// watch starts a watch at the client's version.
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
	w.from = r.after(since)
	r.watches[w] = struct{}{}
	w.wake()
	go w.run()
	return true, w, nil
}

// wake makes the watcher look again.
func (w *watcher) wake() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}

func (w *watcher) Stop() {
	w.r.server.mu.Lock()
	defer w.r.server.mu.Unlock()
	if _, ok := w.r.watches[w]; ok {
		delete(w.r.watches, w)
		close(w.stop)
	}
}

func (w *watcher) ResultChan() <-chan watch.Event { return w.result }

// latency is the delay of a notification after its change. Notifications come one by one, after the
// round that caused them, and those about an owner come before those about its objects. So their
// order does not depend on chance, and no round begins in the middle of them.
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

// deliver delivers a change. It returns false if the watch has ended.
func (w *watcher) deliver(c *change) bool {
	select {
	case <-w.stop:
		return false
	case w.result <- watch.Event{Type: c.kind, Object: c.object.DeepCopyObject()}:
	}
	return w.pause(time.Microsecond)
}

// pause waits, and returns false as soon as the watch ends. Virtual time stands still once a script
// is over, so a watcher that only slept would never end.
func (w *watcher) pause(d time.Duration) bool {
	select {
	case <-w.stop:
		return false
	case <-time.After(d):
		return true
	}
}

// next takes the next change to deliver, and returns it with the time at which it is due. There is no
// next change while the resource is held.
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

// after returns the place in the history of the first change after a revision.
func (r *resource) after(revision int64) int {
	i, _ := slices.BinarySearchFunc(r.history, revision+1,
		func(c change, revision int64) int { return int(c.revision - revision) })
	return i
}

// in returns the objects of a namespace, or all, by key. The caller must not change the list.
func (r *resource) in(namespace string) []object {
	if namespace == "" {
		return r.ordered
	}
	var out []object
	for _, o := range r.ordered {
		if o.GetNamespace() == namespace {
			out = append(out, o)
		}
	}
	return out
}
