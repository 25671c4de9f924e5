package blackbox

import (
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

// Resource is a kind of objects that the API serves.
type Resource struct {
	schema.GroupVersionKind
	// Plural is the name of the kind in paths, such as "cronjobs".
	Plural string
	// ClusterScoped objects have no namespace.
	ClusterScoped bool
	// Status means that the kind has a status subresource: a write of the object leaves the status
	// alone, and a write of the status everything else. Look it up in the CRD: if it is wrong, the
	// findings are wrong.
	Status bool
	// Default fills in what the API server or a webhook would when an object is written; nil does nothing.
	Default func(Object)
	// Admit refuses a write; nil admits all. Old is nil for a new object.
	Admit func(old, next Object) error
	// Type returns an empty object of the Go type, for strategic merge patches. Without it they are refused.
	Type func() any
	// structure is the schema of [FromCRD]; nil admits and keeps all.
	structure *structure
	// reports are events: writes of them never fail, and are not counted.
	reports bool
}

func (r *Resource) apiVersion() string { return r.GroupVersion().String() }

// key names an object.
type key struct{ plural, namespace, name string }

// entry is an object in storage, and its JSON.
type entry struct {
	object Object
	data   []byte
}

// change is one change of storage.
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
	// lag is how long watches are behind, by the plural of the resource; "" is for all others.
	lag map[string]time.Duration
	// held is when the watches of a kind show nothing new, by its plural; "" is all.
	held map[string]span
	// wrote is called with each write that took effect, before it is visible. It must not call the API.
	wrote func(write)

	mu        sync.Mutex
	resources []*Resource
	objects   map[key]entry
	revision  int
	born      int
	history   []change
	changed   chan struct{} // closed at the next change
	// since is when an object was last made or changed by others, by its UID; with /deleted its deletion
	since    map[string]time.Time
	epoch    int // counts how often all watches have ended
	closed   bool
	losing   bool // the reply to the write that is being made
	total    int  // requests
	requests int  // in the same instant
	instant  time.Time
	busy     time.Time // when there were too many
}

// write is one that took effect.
type write struct {
	Time time.Time
	// Verb is create, update, status, patch, delete or, for what the storage did by itself, remove or collect.
	Verb     string
	Resource *Resource
	// Old and New are nil where there is none. They must not be changed.
	Old, New Object
	// BySubject is false for the kit's own writes.
	BySubject bool
	// Lost means that the program does not get the reply.
	Lost bool
}

// maxRequests is how many requests of one instant are a livelock.
const maxRequests = 3000

// newServer returns one that serves these kinds, and events.
func newServer(resources ...Resource) *server {
	a := &server{
		objects:  make(map[key]entry),
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

// of returns the resource with that plural in that group and version, or nil.
func (a *server) of(group, version, plural string) *Resource {
	for _, r := range a.resources {
		if r.Plural == plural && r.Group == group && r.Version == version {
			return r
		}
	}
	return nil
}

// kind returns the resource of that kind, or nil.
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

// wake wakes all watches.
func (a *server) wake() {
	close(a.changed)
	a.changed = make(chan struct{})
}

// hold lets watches show nothing for a while.
func (a *server) hold(plural string, d time.Duration) {
	a.held[plural] = span{time.Now(), time.Now().Add(d)}
}

// span is a time from one instant until another.
type span struct{ from, until time.Time }

// delay returns when a watch shows what it would otherwise show at that time.
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

// close ends the activities of the API.
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

// visible returns when a watch shows a change.
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

// keys returns the names of all objects, always in the same order.
func (a *server) keys() []key { return keysOf(a.objects, "") }

// keysOf returns the names of the objects of one plural, "" for all, always in the same order.
func keysOf(objects map[key]entry, plural string) []key {
	keys := make([]key, 0, len(objects))
	for k := range objects {
		if plural == "" || k.plural == plural {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(x, y key) int {
		return strings.Compare(x.plural+"/"+x.namespace+"/"+x.name, y.plural+"/"+y.namespace+"/"+y.name)
	})
	return keys
}

// Collect deletes the objects whose owners are all gone, as the garbage collector does some time after.
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

// change changes an object with its status. The API is locked.
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

// Create stores a new object for a user. It may be typed.
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

// Change changes an object for a user or a kubelet, with its status. It does nothing if the object is gone.
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

// Delete deletes an object for a user, in the background. It does nothing if the object is gone.
func (a *server) Delete(gvk schema.GroupVersionKind, namespace, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.kind(gvk); r != nil {
		_, _ = a.remove(r, key{r.Plural, namespace, name}, metav1.DeleteOptions{}, "delete", false) // it may be gone
	}
}

// Get returns an object, or nil. It must not be changed.
func (a *server) Get(gvk schema.GroupVersionKind, namespace, name string) Object {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.kind(gvk); r != nil {
		return a.objects[key{r.Plural, namespace, name}].object
	}
	return nil
}

// List returns all objects of a kind, by name. They must not be changed.
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
