package blackbox

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// watch begins a watch, which shows the changes after the resourceVersion of the request.
func (i *incarnation) watch(r *http.Request, t *target, match func(Object) bool) (*http.Response, error) {
	a := i.api
	w := &watcher{
		api:    a,
		epoch:  a.epoch,
		target: *t,
		match:  match,
		done:   r.Context().Done(),
		closed: make(chan struct{}),
	}

	query := r.URL.Query()
	after, err := strconv.Atoi(query.Get("resourceVersion"))
	switch {
	case err != nil || query.Get("sendInitialEvents") == "true":
		w.at = len(a.history)
		w.begin(query.Get("sendInitialEvents") == "true")
	default:
		for w.at < len(a.history) && a.history[w.at].revision <= after {
			w.at++
		}
	}
	return response(r, http.StatusOK, w), nil
}

// watcher is the body of a watch: changes as JSON, each shown after the lag.
type watcher struct {
	api    *server
	epoch  int
	target target
	match  func(Object) bool
	at     int    // the next change
	rest   []byte // data that was not read yet
	over   bool   // it has reported that its version is too old
	done   <-chan struct{}
	closed chan struct{}
	once   sync.Once
}

// begin shows the existing objects. If mark is set, a bookmark then ends the list.
func (w *watcher) begin(mark bool) {
	for _, k := range keysOf(w.api.objects, w.target.resource.Plural) {
		e := w.api.objects[k]
		if w.target.has(k, e.object) && w.match(e.object) {
			w.rest = append(w.rest, eventData("ADDED", e.data)...)
		}
	}
	if mark {
		r := w.target.resource
		end := Object{"apiVersion": r.apiVersion(), "kind": r.Kind, "metadata": map[string]any{
			"resourceVersion": itoa(w.api.revision), "annotations": map[string]any{"k8s.io/initial-events-end": "true"},
		}}
		data, _ := json.Marshal(end) // strings always encode
		w.rest = append(w.rest, eventData("BOOKMARK", data)...)
	}
}

// expired is the answer to a watch whose version is too old.
var expired = []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure",` +
	`"reason":"Expired","code":410,"message":"too old resource version"}`)

func eventData(kind string, object []byte) []byte {
	return append(append([]byte(`{"type":"`+kind+`","object":`), object...), "}\n"...)
}

// Close ends the watch.
func (w *watcher) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}

// Read waits for the next change that is due.
func (w *watcher) Read(p []byte) (int, error) {
	for len(w.rest) == 0 {
		if w.over {
			return 0, io.EOF
		}
		wait, changed := w.next()
		if len(w.rest) > 0 {
			break
		}

		var due <-chan time.Time
		if wait > 0 {
			timer := time.NewTimer(wait)
			defer timer.Stop()
			due = timer.C
		}
		select {
		case <-w.done:
			return 0, io.EOF
		case <-w.closed:
			return 0, io.EOF
		case <-due:
		case <-changed:
		}
	}

	n := copy(p, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}

// next takes the next change if it is due. Otherwise it returns how long to wait at most, and a
// channel to wait for.
func (w *watcher) next() (wait time.Duration, changed <-chan struct{}) {
	a := w.api
	a.mu.Lock()
	defer a.mu.Unlock()
	if w.epoch != a.epoch && !w.over {
		w.over = true
		w.rest = eventData("ERROR", expired)
		return 0, nil
	}

	for ; w.at < len(a.history); w.at++ {
		c := &a.history[w.at]
		isOther := w.target.namespace != "" && c.entry.object.Namespace() != w.target.namespace
		if c.resource != w.target.resource || isOther || !w.match(c.entry.object) {
			continue
		}

		if wait = time.Until(a.visible(c)); wait > 0 {
			return wait, a.changed // a change may show it earlier
		}
		w.rest = eventData(c.kind, c.entry.data)
		w.at++
		return 0, nil
	}
	return 0, a.changed
}

func itoa(n int) string { return strconv.Itoa(n) }
