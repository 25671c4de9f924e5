package blackbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is a kind of object that the API serves.
type Resource struct {
	schema.GroupVersionKind
	// Plural is the name of the kind in paths, such as "cronjobs".
	Plural string
	// ClusterScoped objects have no namespace.
	ClusterScoped bool
	// Status means that the kind has a status subresource: a write to the object leaves the status
	// unchanged, and a write to the status leaves everything else unchanged. Copy this from the
	// CRD: if it is wrong, the findings are wrong.
	Status bool
	// Default fills in what the API server or a webhook fills in when an object is written. A nil
	// Default fills in nothing.
	Default func(Object)
	// Admit returns an error for a write that it refuses. A nil Admit accepts every write. Old is
	// nil for a new object.
	Admit func(old, next Object) error
	// Type returns an empty object of the Go type, which strategic merge patches need. Without it they are refused.
	Type func() any
	// structure is the schema that FromCRD has read; nil accepts and keeps every field.
	structure *structure
	// reports is set for events: writes of them never fail, and are not counted.
	reports bool
}

func (r *Resource) apiVersion() string { return r.GroupVersion().String() }

// key names an object.
type key struct{ plural, namespace, name string }

// entry is a stored object and its JSON.
type entry struct {
	object Object
	data   []byte
}

// change is one change to the storage.
type change struct {
	resource *Resource
	kind     string // ADDED, MODIFIED or DELETED
	entry    entry
	at       time.Time
	revision int
}

// server is an API server in memory. It has resource versions and conflicts, the status subresource,
// finalizers, owner collection and watches; a write that changes nothing makes no new version.
// Clients reach it through [incarnation.config].
type server struct {
	// lag maps the plural of a resource to the delay of its watches. Key "" is for all others.
	lag map[string]time.Duration
	// held maps the plural of a resource to the time in which its watches show nothing new. Key "" is
	// for all watches.
	held map[string]span
	// wrote is called with each write that took effect, before it is visible. It must not call the API.
	wrote func(write)

	mu        sync.Mutex
	resources []*Resource
	objects   map[key]entry
	applied   map[managed][]byte // the last configuration that each manager has applied, as JSON
	revision  int
	born      int
	history   []change
	changed   chan struct{} // closed at the next change
	// since has the time of each object's creation by its UID, and of its deletion by
	// "UID/deleted".
	since    map[string]time.Time
	epoch    int // counts how often all watches have ended
	closed   bool
	losing   bool // the reply to the current write gets lost
	total    int  // all requests
	requests int  // requests at the instant
	instant  time.Time
	busy     time.Time // when there were too many requests
}

// write is a write that took effect.
type write struct {
	Time time.Time
	// Verb is create, update, status, patch, apply or delete. It is remove or collect for a write of the
	// server itself: remove takes an object away, and collect deletes an object whose owners are gone.
	Verb     string
	Resource *Resource
	// Old is the object before the write and New after it; nil if there is none. They must not be changed.
	Old, New Object
	// BySubject is false for the kit's own writes.
	BySubject bool
	// Lost means that the program does not get the reply.
	Lost bool
}

// maxRequests is the limit for the requests of one instant. More of them are a livelock.
const maxRequests = 3000

// newServer returns a server for these kinds and for events.
func newServer(resources ...Resource) *server {
	a := &server{
		objects:  make(map[key]entry),
		applied:  make(map[managed][]byte),
		changed:  make(chan struct{}),
		revision: 1,
		held:     make(map[string]span),
		since:    make(map[string]time.Time),
	}
	for i := range resources {
		a.resources = append(a.resources, &resources[i])
	}
	for i := range eventResources {
		a.resources = append(a.resources, &eventResources[i])
	}
	return a
}

// failure is an error with a status code.
type failure struct {
	code    int
	reason  metav1.StatusReason
	message string
}

func (f *failure) Error() string { return f.message }

func fail(code int, reason metav1.StatusReason, format string, args ...any) error {
	return &failure{code, reason, fmt.Sprintf(format, args...)}
}

func notFound(k key) error {
	return fail(http.StatusNotFound, metav1.StatusReasonNotFound, "%s %q not found", k.plural, k.name)
}

func conflict(k key) error {
	return fail(http.StatusConflict, metav1.StatusReasonConflict,
		"%s %q: the object has been modified", k.plural, k.name)
}

// of returns the resource with this plural, group and version, or nil.
func (a *server) of(group, version, plural string) *Resource {
	for _, r := range a.resources {
		if r.Plural == plural && r.Group == group && r.Version == version {
			return r
		}
	}
	return nil
}

// kind returns the resource of this kind, or nil.
func (a *server) kind(gvk schema.GroupVersionKind) *Resource {
	for _, r := range a.resources {
		if r.GroupVersionKind == gvk {
			return r
		}
	}
	return nil
}

// put stores an object and shows it to the watches.
func (a *server) put(r *Resource, k key, o Object, kind string) entry {
	a.revision++
	o.Set(strconv.Itoa(a.revision), "metadata", "resourceVersion")
	data, err := json.Marshal(o)
	if err != nil {
		panic(err) // it was read from JSON
	}

	e := entry{o, data}
	if kind == "DELETED" {
		delete(a.objects, k)
	} else {
		a.objects[k] = e
	}

	a.history = append(a.history, change{r, kind, e, time.Now(), a.revision})
	if uid := o.UID(); kind == "ADDED" {
		a.since[uid] = time.Now()
	} else if _, has := a.since[uid+"/deleted"]; o.isDeleted() && !has {
		a.since[uid+"/deleted"] = time.Now()
	}

	a.wake()
	return e
}

func (a *server) wake() {
	close(a.changed)
	a.changed = make(chan struct{})
}

// hold makes watches show nothing new until d has passed.
func (a *server) hold(plural string, d time.Duration) {
	a.held[plural] = span{time.Now(), time.Now().Add(d)}
}

// span is the time between two instants.
type span struct{ from, until time.Time }

// delay returns when a watch shows a change that it would show at the given time if it were not
// held during the span.
func (s span) delay(at time.Time) time.Time {
	if at.Before(s.from) || at.After(s.until) {
		return at
	}
	return s.until
}

// expire ends all watches.
func (a *server) expire() {
	a.epoch++
	a.wake()
}

// close ends everything that waits for the API.
func (a *server) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	a.wake()
}

func (a *server) isClosed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.closed
}

// visible returns the time at which watches show a change.
func (a *server) visible(c *change) time.Time {
	lag, has := a.lag[c.resource.Plural]
	if !has {
		lag = a.lag[""]
	}
	at := c.at.Add(lag)
	for _, of := range []string{"", c.resource.Plural} {
		at = a.held[of].delay(at)
	}
	return at
}

// keys returns the sorted keys of all objects.
func (a *server) keys() []key { return keysOf(a.objects, "") }

// keysOf returns the sorted keys of the objects with this plural, or of all objects if it is "".
func keysOf(objects map[key]entry, plural string) []key {
	keys := make([]key, 0, len(objects))
	for k := range objects {
		if plural == "" || k.plural == plural {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(x, y key) int {
		byPlace := cmp.Or(strings.Compare(x.plural, y.plural), strings.Compare(x.namespace, y.namespace))
		return cmp.Or(byPlace, strings.Compare(x.name, y.name))
	})
	return keys
}

// Collect deletes the objects whose owners are all gone. In a cluster the garbage collector does so after a while.
func (a *server) Collect() {
	a.mu.Lock()
	defer a.mu.Unlock()

	for again := true; again; {
		again = false
		alive := make(map[string]bool, len(a.objects))
		for _, e := range a.objects {
			alive[e.object.UID()] = true
		}
		isAlive := func(ref Object) bool { return alive[ref.Text("uid")] }

		for _, k := range a.keys() {
			e := a.objects[k]
			refs := e.object.List("metadata", "ownerReferences")
			if len(refs) == 0 || e.object.isDeleted() || slices.ContainsFunc(refs, isAlive) {
				continue
			}
			if _, err := a.remove(a.resourceOf(e.object), k, metav1.DeleteOptions{}, "collect", false); err == nil {
				again = true
			}
		}
	}
}

// change changes an object and its status. The API must be locked.
func (a *server) change(r *Resource, k key, change func(Object)) error {
	next := a.objects[k].object.clone()
	change(next)
	_, err := a.update(r, k, next, whole, "update", false)
	return err
}

// add stores an object whose kind is in its JSON.
func (a *server) add(v any) error {
	o, err := toObject(v)
	if err != nil {
		return err
	}
	_, err = a.Create(o.kind(), o)
	return err
}

// Create stores a new object on behalf of a user. The object may have a Go type.
func (a *server) Create(gvk schema.GroupVersionKind, v any) (Object, error) {
	o, err := toObject(v)
	if err != nil {
		return nil, err
	}

	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.kind(gvk)
	if r == nil {
		return nil, fmt.Errorf("%s is not served", gvk)
	}

	e, err := a.create(r, o.Namespace(), o, false)
	return e.object, err
}

// Change changes an object and its status on behalf of a user or a kubelet. It does nothing if the object is gone.
func (a *server) Change(gvk schema.GroupVersionKind, namespace, name string, change func(Object)) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.kind(gvk)
	if r == nil {
		return fmt.Errorf("%s is not served", gvk)
	}

	if r.ClusterScoped {
		namespace = ""
	}
	k := key{r.Plural, namespace, name}
	if _, exists := a.objects[k]; !exists {
		return nil
	}
	return a.change(r, k, change)
}

// Delete deletes an object on behalf of a user, with background propagation. It does nothing if the object is gone.
func (a *server) Delete(gvk schema.GroupVersionKind, namespace, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.kind(gvk); r != nil {
		if r.ClusterScoped {
			namespace = ""
		}
		_, _ = a.remove(r, key{r.Plural, namespace, name}, metav1.DeleteOptions{}, "delete", false) // it may be gone
	}
}

// Get returns an object, or nil. The caller must not change it.
func (a *server) Get(gvk schema.GroupVersionKind, namespace, name string) Object {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.get(gvk, namespace, name)
}

func (a *server) get(gvk schema.GroupVersionKind, namespace, name string) Object {
	if r := a.kind(gvk); r != nil {
		return a.objects[key{r.Plural, namespace, name}].object
	}
	return nil
}

// List returns all objects of a kind, sorted by name. The caller must not change them.
func (a *server) List(gvk schema.GroupVersionKind) (list []Object) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.list(gvk)
}

func (a *server) list(gvk schema.GroupVersionKind) (list []Object) {
	r := a.kind(gvk)
	if r == nil {
		return nil
	}
	for _, k := range keysOf(a.objects, r.Plural) {
		if a.objects[k].object.Text("kind") == r.Kind {
			list = append(list, a.objects[k].object)
		}
	}
	return list
}
