package server

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install" // conversions and defaults
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	cronjobstorage "k8s.io/kubernetes/pkg/registry/batch/cronjob/storage"
	jobstorage "k8s.io/kubernetes/pkg/registry/batch/job/storage"
)

// The resources that the server holds.
const (
	Pods     = "pods"
	Jobs     = "jobs"
	CronJobs = "cronjobs"
	Events   = "events"
	// Workloads and PodGroups are held from 1.37 on.
	Workloads = "workloads"
	PodGroups = "podgroups"
)

// Server is one API server. All its methods are safe for concurrent use.
type Server struct {
	// Fault, if set, decides about each write of a controller, and about each read from the server
	// instead of a cache (verb "get"). The controller gets the error; applied is true if the write
	// takes effect nevertheless. Several goroutines call Fault, which must not use the server.
	Fault func(Write) (err error, applied bool)
	// Skew is how far the server's clock is ahead of the controllers' clock.
	Skew time.Duration

	mu        sync.Mutex
	revision  int64
	resources map[string]*resource
	names     map[string]int // the number of names generated from a prefix
	born      map[string]int // the number of objects with a name so far
	closing   map[string]bool
	held      map[string]bool
	journal   []Write
	events    map[string]*corev1.Event
	client    *fake.Clientset
	binding   rest.NamedCreater
	collected int64 // the revision after which nothing was left to collect
}

// resource is one kind of object with its storage.
type resource struct {
	server   *Server
	name     string
	gr       schema.GroupResource
	kind     schema.GroupVersionKind
	internal func() runtime.Object
	external func() object
	listed   func(metav1.ListMeta, []object) runtime.Object
	// objects holds what clients get, by namespace/name; stored objects are never
	// changed.
	objects map[string]object
	// keys holds the keys of objects in order, and ordered the objects in the same order.
	keys    []string
	ordered []object
	// wire holds the bytes in storage. They lack the defaults that depend on fields which the
	// server sets at creation: every read adds these defaults.
	wire    map[string][]byte
	history []change // every change, for watches that begin in the past
	watches map[*watcher]struct{}

	main   standardStorage
	status rest.Updater
}

// standardStorage is the interface of a registry to a resource.
type standardStorage interface {
	rest.Getter
	rest.Lister
	rest.Creater
	rest.Updater
	rest.GracefulDeleter
}

// New returns an empty server.
func New() *Server {
	s := &Server{
		resources: map[string]*resource{},
		names:     map[string]int{},
		born:      map[string]int{},
		closing:   map[string]bool{},
		held:      map[string]bool{},
		events:    map[string]*corev1.Event{},
	}

	s.add(&resource{
		name: Pods, gr: core.Resource(Pods), kind: corev1.SchemeGroupVersion.WithKind("Pod"),
		internal: func() runtime.Object { return &core.Pod{} },
		external: func() object { return &corev1.Pod{} },
		listed: func(m metav1.ListMeta, all []object) runtime.Object {
			return &corev1.PodList{ListMeta: m, Items: items[corev1.Pod](all)}
		},
	})

	s.add(&resource{
		name: Jobs, gr: batch.Resource(Jobs), kind: batchv1.SchemeGroupVersion.WithKind("Job"),
		internal: func() runtime.Object { return &batch.Job{} },
		external: func() object { return &batchv1.Job{} },
		listed: func(m metav1.ListMeta, all []object) runtime.Object {
			return &batchv1.JobList{ListMeta: m, Items: items[batchv1.Job](all)}
		},
	})

	s.add(&resource{
		name: CronJobs, gr: batch.Resource(CronJobs), kind: batchv1.SchemeGroupVersion.WithKind("CronJob"),
		internal: func() runtime.Object { return &batch.CronJob{} },
		external: func() object { return &batchv1.CronJob{} },
		listed: func(m metav1.ListMeta, all []object) runtime.Object {
			return &batchv1.CronJobList{ListMeta: m, Items: items[batchv1.CronJob](all)}
		},
	})

	s.connect()
	s.addGroups()
	s.client = &fake.Clientset{}
	s.client.AddReactor("*", "*", s.react)
	s.client.AddWatchReactor("*", s.watch)
	return s
}

func (s *Server) add(r *resource) {
	r.server, r.objects, r.wire, r.watches = s, map[string]object{}, map[string][]byte{}, map[*watcher]struct{}{}
	s.resources[r.name] = r
}

// keep stores an object, and its bytes.
func (r *resource) keep(key string, o object, data []byte) {
	r.objects[key], r.wire[key] = o, data
	i, found := slices.BinarySearch(r.keys, key)
	if !found {
		r.keys, r.ordered = slices.Insert(r.keys, i, key), slices.Insert(r.ordered, i, nil)
	}
	r.ordered[i] = o
}

// forget removes an object.
func (r *resource) forget(key string) {
	delete(r.objects, key)
	delete(r.wire, key)
	i, _ := slices.BinarySearch(r.keys, key)
	r.keys, r.ordered = slices.Delete(r.keys, i, i+1), slices.Delete(r.ordered, i, i+1)
}

// connect puts the registries of Kubernetes over the storage.
func (s *Server) connect() {
	pods, err := newPods(options{s.resources[Pods]})
	must(err)
	s.resources[Pods].main, s.resources[Pods].status = pods.Pod, pods.Status
	s.binding = pods.Binding
	jobs, err := jobstorage.NewStorage(options{s.resources[Jobs]})
	must(err)
	s.resources[Jobs].main, s.resources[Jobs].status = jobs.Job, jobs.Status
	cronJobs, cronJobStatus, err := cronjobstorage.NewREST(options{s.resources[CronJobs]})
	must(err)
	s.resources[CronJobs].main, s.resources[CronJobs].status = cronJobs, cronJobStatus
}

// must panics on an error. Only a bug in this program can cause one.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Client returns the client set of the controllers.
func (s *Server) Client() kubernetes.Interface { return s.client }

// now returns the time of the server's clock.
func (s *Server) now() time.Time { return time.Now().Add(s.Skew).UTC() }

// next returns the next resource version.
func (s *Server) next() int64 {
	s.revision++
	return s.revision
}

// CloseNamespace makes the namespace refuse new objects, like a namespace that is
// being deleted.
func (s *Server) CloseNamespace(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing[name] = true
}

// Hold keeps the notifications about a resource from all watches, until Release.
func (s *Server) Hold(resource string) { s.setHeld(resource, true) }

// Release delivers the held notifications.
func (s *Server) Release(resource string) { s.setHeld(resource, false) }

func (s *Server) setHeld(name string, held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[name] = held
	for w := range s.resources[name].watches {
		if !held {
			w.open = time.Now()
		}
		w.wake()
	}
}

// context returns a context with the parts of a request that the registry reads.
func (r *resource) context(verb, namespace, name, subresource string) context.Context {
	ctx := genericrequest.WithNamespace(context.Background(), namespace)
	return genericrequest.WithRequestInfo(ctx, &genericrequest.RequestInfo{
		IsResourceRequest: true,
		Verb:              verb,
		APIGroup:          r.kind.Group,
		APIVersion:        r.kind.Version,
		Namespace:         namespace,
		Resource:          r.name,
		Subresource:       subresource,
		Name:              name,
	})
}

// decode converts a client's object to the registry's form, through the bytes of the wire and with
// defaults. The result shares no memory with the object.
func (r *resource) decode(in object) runtime.Object {
	data, err := in.Marshal()
	must(err)
	version := r.external()
	must(version.Unmarshal(data))
	return r.toInternal(version)
}

// toInternal sets the defaults of a client's object and converts it to the registry's form. The
// result takes over the memory of the object.
func (r *resource) toInternal(version object) runtime.Object {
	legacyscheme.Scheme.Default(version)
	out := r.internal()
	must(legacyscheme.Scheme.Convert(version, out, nil))
	return out
}

// encode converts an object of the registry to the form that clients get, through the bytes of the
// wire, which cut times to seconds. The result shares no memory with the object.
func (r *resource) encode(in runtime.Object) object {
	data, err := r.toExternal(in).Marshal()
	must(err)
	out := r.external()
	must(out.Unmarshal(data))
	return out
}

// toExternal converts an object of the registry to the form that clients get. The result shares
// memory with the object.
func (r *resource) toExternal(in runtime.Object) object {
	out := r.external()
	must(legacyscheme.Scheme.Convert(in, out, nil))
	return out
}

func parseRevision(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("resource version %q", text))
	}
	return n
}
