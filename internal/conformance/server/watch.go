package server

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
)

// watcher delivers the history of a resource, from some version on, in order.
type watcher struct {
	r         *resource
	namespace string
	from      int // how much of the history is delivered
	news      chan struct{}
	result    chan watch.Event
	stop      chan struct{}
}

// watch begins a watch at the version that the client has.
func (s *Server) watch(action clienttesting.Action) (bool, watch.Interface, error) {
	r := s.resources[action.GetResource().Resource]
	w := &watcher{
		r: r, namespace: action.GetNamespace(),
		news: make(chan struct{}, 1), result: make(chan watch.Event), stop: make(chan struct{}),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	since := s.revision
	if a, ok := action.(clienttesting.WatchActionImpl); ok && a.ListOptions.ResourceVersion != "" {
		since = parseRevision(a.ListOptions.ResourceVersion)
	}
	w.from, _ = slices.BinarySearchFunc(r.history, since+1, func(c change, revision int64) int { return int(c.revision - revision) })
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

func (w *watcher) run() {
	defer close(w.result)
	for {
		select {
		case <-w.stop:
			return
		case <-w.news:
		}
		for {
			c, ok := w.take()
			if !ok {
				break
			}
			select {
			case <-w.stop:
				return
			case w.result <- watch.Event{Type: c.kind, Object: c.object.DeepCopyObject()}:
			}
		}
	}
}

// take returns the next change to deliver, unless the resource is held.
func (w *watcher) take() (change, bool) {
	s := w.r.server
	s.mu.Lock()
	defer s.mu.Unlock()
	for w.from < len(w.r.history) && !s.held[w.r.name] {
		c := w.r.history[w.from]
		w.from++
		if w.namespace == "" || w.namespace == c.object.GetNamespace() {
			return c, true
		}
	}
	return change{}, false
}

// sorted are the objects whose key begins with the prefix, by key.
func (r *resource) sorted(prefix string) []object {
	keys := slices.Sorted(maps.Keys(r.objects))
	var out []object
	for _, key := range keys {
		if strings.HasPrefix(key, prefix) {
			out = append(out, r.objects[key])
		}
	}
	return out
}
