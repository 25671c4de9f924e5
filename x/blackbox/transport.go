package blackbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// Fault is a way in which a write goes wrong.
type Fault int

// The faults of a write.
const (
	NoFault Fault = iota
	// Refuse fails the write with an internal error.
	Refuse
	// Conflict fails the write as if the object had changed.
	Conflict
	// LoseReply carries out the write, and fails the request.
	LoseReply
	// CrashBefore ends the program before the write, and CrashAfter after it.
	CrashBefore
	CrashAfter
)

var faultNames = []string{"NoFault", "Refuse", "Conflict", "LoseReply", "CrashBefore", "CrashAfter"}

// String returns the name of the constant.
func (f Fault) String() string { return faultNames[f] }

// incarnation is one run of the program between two starts: its clients reach the API through it.
// Once it is dead, nothing that it does takes effect.
type incarnation struct {
	api  *server
	dead bool
	died func() // is called when it dies
	// fault returns the fault of the next write; the default is none.
	fault func() Fault
}

// errDead is the error of requests of a program that was killed.
var errDead = errors.New("the program was killed")

var errLost = errors.New("connection reset by the test: the reply is lost")

// config returns a configuration for clients of any kind: of controller-runtime, client-go or a
// plain http.Client with its Transport. No request goes through a network.
func (i *incarnation) config() *rest.Config {
	return &rest.Config{
		Host:      "http://blackbox.invalid",
		Transport: i,
		QPS:       -1,
		ContentConfig: rest.ContentConfig{
			ContentType:        runtime.ContentTypeJSON,
			AcceptContentTypes: runtime.ContentTypeJSON,
		},
	}
}

// RoundTrip answers a request.
func (i *incarnation) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close() // it was read
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}

	if alive, busy := i.isAlive(); !alive {
		if busy {
			time.Sleep(time.Second)
		}
		return nil, errDead
	}

	i.api.mu.Lock()
	defer i.api.mu.Unlock()
	return i.answer(r, body)
}

// isAlive reports whether the program may go on. A program that was killed, or that makes too many
// requests, may not. busy is true if a killed program repeats its failed requests immediately. Such
// requests must be delayed, since otherwise the clock would stop. Other requests must not be
// delayed: many clients hold a lock during a request, and a goroutine that waits for a lock also
// stops the clock.
func (i *incarnation) isAlive() (alive, busy bool) {
	i.api.mu.Lock()
	defer i.api.mu.Unlock()
	if i.dead {
		return false, i.api.isTooBusy(maxRequests / 10)
	}

	if i.api.total++; i.api.isTooBusy(maxRequests) {
		if i.api.busy.IsZero() {
			i.api.busy = i.api.instant
		}
		i.die()
		return false, false
	}
	return true, false
}

// isTooBusy counts a request, and reports whether this instant has too many. A controller that
// never rests would stop the clock for good.
func (a *server) isTooBusy(most int) bool {
	if now := time.Now(); !now.Equal(a.instant) {
		a.instant, a.requests = now, 0
	}
	a.requests++
	return a.requests > most
}

func (i *incarnation) die() {
	i.dead = true
	if i.died != nil {
		i.died()
	}
}

// target is the object or the kind that a request is about.
type target struct {
	resource        *Resource
	namespace, name string
	sub             string
}

func (t *target) key() key { return key{t.resource.Plural, t.namespace, t.name} }

// parse finds the target of a path. It is nil if there is none.
func (a *server) parse(path string) *target {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	var group, version string
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		group, version, parts = parts[1], parts[2], parts[3:]
	default:
		return nil
	}

	var t target
	if len(parts) >= 3 && parts[0] == "namespaces" {
		t.namespace, parts = parts[1], parts[2:]
	}

	if t.resource = a.of(group, version, parts[0]); t.resource == nil {
		return nil
	}
	if len(parts) > 1 {
		t.name = parts[1]
	}
	if len(parts) > 2 {
		t.sub = parts[2]
	}
	return &t
}

func (i *incarnation) answer(r *http.Request, body []byte) (*http.Response, error) {
	a := i.api
	t := a.parse(r.URL.Path)
	switch {
	case t == nil && r.Method == http.MethodGet:
		data, err := a.discover(r.URL.Path)
		return reply(r, data, err)
	case t == nil:
		return reply(r, nil, fail(http.StatusNotFound, metav1.StatusReasonNotFound, "%s: no such path", r.URL.Path))
	case r.Method != http.MethodGet:
		return i.write(r, t, body)
	case t.name != "":
		e, exists := a.objects[t.key()]
		if !exists {
			return reply(r, nil, notFound(t.key()))
		}
		return reply(r, e.data, nil)
	}

	query := r.URL.Query()
	match, err := selectors(query.Get("labelSelector"), query.Get("fieldSelector"))
	if err != nil {
		return reply(r, nil, fail(http.StatusBadRequest, metav1.StatusReasonBadRequest, "%v", err))
	}

	if w := query.Get("watch"); w == "true" || w == "1" {
		return i.watch(r, t, match)
	}

	if query.Get("resourceVersion") == "0" {
		objects, revision := a.cached()
		return reply(r, listData(t, objects, revision, match), nil)
	}
	return reply(r, listData(t, a.objects, a.revision, match), nil)
}

// selectors returns the filter of a list or watch.
func selectors(label, field string) (func(Object) bool, error) {
	byLabel, err := labels.Parse(label)
	if err != nil {
		return nil, err
	}
	byField, err := fields.ParseSelector(field)
	if err != nil {
		return nil, err
	}
	return func(o Object) bool {
		have, _ := o.Get("metadata", "labels").(map[string]any)
		set := make(labels.Set, len(have))
		for k, v := range have {
			set[k], _ = v.(string)
		}

		for _, requirement := range byField.Requirements() {
			is := o.Text(strings.Split(requirement.Field, ".")...) == requirement.Value
			if is == (requirement.Operator == "!=") {
				return false
			}
		}
		return byLabel.Matches(set)
	}, nil
}

// cached returns the objects and the revision in the cache of the API server. A list with
// resourceVersion 0 is read from this cache, which lags like the watches.
func (a *server) cached() (objects map[key]entry, revision int) {
	objects, revision = make(map[key]entry), 1
	for i := range a.history {
		c := &a.history[i]
		if time.Until(a.visible(c)) > 0 {
			break // all kinds have the same version in a list, so no later change of another kind counts
		}
		k := key{c.resource.Plural, c.entry.object.Namespace(), c.entry.object.Name()}
		if revision = c.revision; c.kind == "DELETED" {
			delete(objects, k)
		} else {
			objects[k] = c.entry
		}
	}
	return objects, revision
}

// listData returns a list as JSON.
func listData(t *target, objects map[key]entry, revision int, match func(Object) bool) []byte {
	var b bytes.Buffer
	b.WriteString(`{"kind":"` + t.resource.Kind + `List","apiVersion":"` + t.resource.apiVersion() + `",`)
	b.WriteString(`"metadata":{"resourceVersion":"` + itoa(revision) + `"},"items":[`)
	first := true
	for _, k := range keysOf(objects, t.resource.Plural) {
		e := objects[k]
		if !t.has(k, e.object) || !match(e.object) {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.Write(e.data)
	}
	b.WriteString("]}")
	return b.Bytes()
}

// has reports whether a list or watch of the target includes an object. The object is known to have
// the plural of the target.
func (t *target) has(k key, o Object) bool {
	isInScope := t.namespace == "" || t.namespace == k.namespace
	return isInScope && o.Text("apiVersion") == t.resource.apiVersion()
}

// write carries out a write, unless a fault prevents it.
func (i *incarnation) write(r *http.Request, t *target, body []byte) (*http.Response, error) {
	fault := NoFault
	if i.fault != nil && !t.resource.reports && t.resource.Plural != "leases" {
		fault = i.fault()
	}

	switch fault {
	case Refuse:
		return reply(r, nil, fail(http.StatusInternalServerError, metav1.StatusReasonInternalError,
			"the test refuses this write"))
	case Conflict:
		if r.Method == http.MethodPut || r.Method == http.MethodPatch {
			return reply(r, nil, conflict(t.key()))
		}
	case CrashBefore:
		i.die()
		return nil, errDead
	}

	i.api.losing = fault == LoseReply || fault == CrashAfter
	data, err := i.api.apply(r, t, body)
	i.api.losing = false

	switch fault {
	case LoseReply:
		return nil, errLost
	case CrashAfter:
		i.die()
		return nil, errDead
	}
	return reply(r, data, err)
}

// apply carries out the write of a request.
func (a *server) apply(r *http.Request, t *target, body []byte) ([]byte, error) {
	if t.sub != "" && (t.sub != "status" || !t.resource.Status) {
		return nil, fail(http.StatusNotFound, metav1.StatusReasonNotFound,
			"%s has no subresource %q", t.resource.Plural, t.sub)
	}

	if r.Method == http.MethodDelete {
		var options metav1.DeleteOptions
		if len(body) > 0 {
			if err := json.Unmarshal(body, &options); err != nil {
				return nil, fail(http.StatusBadRequest, metav1.StatusReasonBadRequest, "%v", err)
			}
		}
		if t.name == "" {
			return nil, fail(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed,
				"collections are not deleted")
		}
		e, err := a.remove(t.resource, t.key(), options, "delete", true)
		return e.data, err
	}

	content := r.Header.Get("Content-Type")
	if r.Method == http.MethodPatch && content == string(types.ApplyPatchType) {
		e, err := a.serverApply(t, r.URL.Query().Get("fieldManager"), body)
		return e.data, err
	}

	verb := map[string]string{http.MethodPut: "update", http.MethodPatch: "patch"}[r.Method]
	if t.sub == "status" {
		verb = "status"
	}

	var next Object
	var err error
	if r.Method == http.MethodPatch {
		next, err = a.patched(t, content, body)
	} else if next, err = decodeObject(body); err != nil {
		err = fail(http.StatusBadRequest, metav1.StatusReasonBadRequest, "%v", err)
	}
	if err != nil {
		return nil, err
	}

	var e entry
	switch r.Method {
	case http.MethodPost:
		e, err = a.create(t.resource, t.namespace, next, true)
	case http.MethodPut, http.MethodPatch:
		e, err = a.update(t.resource, t.key(), next, t.sub, verb, true)
	default:
		err = fail(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "%s", r.Method)
	}
	return e.data, err
}

// reply makes a response from an object or an error.
func reply(r *http.Request, data []byte, err error) (*http.Response, error) {
	code := http.StatusOK
	var f *failure
	if errors.As(err, &f) {
		code = f.code
		data, err = json.Marshal(metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status:   metav1.StatusFailure,
			Reason:   f.reason,
			Message:  f.message,
			Code:     int32(f.code),
		})
	}
	if err != nil {
		return nil, err
	}
	return response(r, code, io.NopCloser(bytes.NewReader(data))), nil
}

func response(r *http.Request, code int, body io.ReadCloser) *http.Response {
	return &http.Response{
		StatusCode:    code,
		Status:        http.StatusText(code),
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		ContentLength: -1,
		Header:        http.Header{"Content-Type": {runtime.ContentTypeJSON}},
		Body:          body,
		Request:       r,
	}
}
