package server

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// object is an object of the API that can go over the wire.
type object interface {
	runtime.Object
	metav1.Object
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// change is one change of an object, as watches report it.
type change struct {
	revision int64
	kind     watch.EventType
	object   object
}

// options hands the storage to a registry.
type options struct{ r *resource }

// GetRESTOptions returns the same for every resource of the registry.
func (o options) GetRESTOptions(gr schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	return generic.RESTOptions{
		StorageConfig:           &storagebackend.ConfigForResource{GroupResource: gr},
		EnableGarbageCollection: true,
		DeleteCollectionWorkers: 1,
		ResourcePrefix:          gr.Resource,
		Decorator: func(*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error),
			func() runtime.Object, func() runtime.Object, storage.AttrFunc, storage.IndexerFuncs, *cache.Indexers,
		) (storage.Interface, factory.DestroyFunc, error) {
			return memory{o.r}, func() {}, nil
		},
	}, nil
}

// memory is the storage of one resource: a map in the place of etcd.
type memory struct{ r *resource }

// key turns "/jobs/namespace/name" into "namespace/name".
func (m memory) key(path string) string {
	_, key, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return key
}

// Versioner reads and writes resource versions.
func (m memory) Versioner() storage.Versioner { return storage.APIObjectVersioner{} }

// Create stores a new object.
func (m memory) Create(_ context.Context, path string, obj, out runtime.Object, _ uint64) error {
	s, key := m.r.server, m.key(path)
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.r.objects[key] != nil {
		return storage.NewKeyExistsError(path, 0)
	}
	stored := m.r.encode(obj)
	s.identify(stored)
	m.put(key, stored, watch.Added)
	return m.read(stored, out)
}

// identify gives the object its creation time.
func (s *Server) identify(o object) {
	created := s.now().Truncate(time.Second)
	if pod, ok := o.(*corev1.Pod); ok {
		created = created.Add(rank(pod))
	}
	o.SetCreationTimestamp(metav1.NewTime(created))
}

// rank is a fraction of a second by which pods differ that were created in the
// same: by their index, and then by the number in their name.
func rank(pod *corev1.Pod) time.Duration {
	index, _ := strconv.Atoi(pod.Annotations["batch.kubernetes.io/job-completion-index"])
	number, _ := strconv.Atoi(strings.TrimPrefix(pod.Name, pod.GenerateName))
	return time.Duration(index%10_000*10_000+number%10_000) * time.Nanosecond
}

// put stores the object under the next resource version and tells the watches.
func (m memory) put(key string, o object, kind watch.EventType) {
	revision := m.r.server.next()
	o.SetResourceVersion(strconv.FormatInt(revision, 10))
	if kind == watch.Deleted {
		delete(m.r.objects, key)
	} else {
		m.r.objects[key] = o
	}
	m.r.history = append(m.r.history, change{revision, kind, o})
	for w := range m.r.watches {
		w.wake()
	}
}

// read gives a stored object to the registry.
func (m memory) read(stored object, out runtime.Object) error {
	return legacyscheme.Scheme.Convert(stored.DeepCopyObject(), out, nil)
}

// Get reads one object.
func (m memory) Get(_ context.Context, path string, opts storage.GetOptions, out runtime.Object) error {
	s := m.r.server
	s.mu.Lock()
	defer s.mu.Unlock()
	stored := m.r.objects[m.key(path)]
	if stored == nil {
		if opts.IgnoreNotFound {
			return runtime.SetZeroValue(out)
		}
		return storage.NewKeyNotFoundError(path, 0)
	}
	return m.read(stored, out)
}

// Delete removes an object for good.
func (m memory) Delete(ctx context.Context, path string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, _ runtime.Object, _ storage.DeleteOptions,
) error {
	s, key := m.r.server, m.key(path)
	s.mu.Lock()
	defer s.mu.Unlock()
	stored := m.r.objects[key]
	if stored == nil {
		return storage.NewKeyNotFoundError(path, 0)
	}
	if err := m.read(stored, out); err != nil {
		return err
	}
	if err := preconditions.Check(path, out); err != nil {
		return err
	}
	if err := validate(ctx, out); err != nil {
		return err
	}
	m.put(key, stored.DeepCopyObject().(object), watch.Deleted)
	return nil
}

// GuaranteedUpdate replaces an object by what tryUpdate makes of it. What changes
// nothing is not written, and keeps its version.
func (m memory) GuaranteedUpdate(_ context.Context, path string, out runtime.Object, _ bool,
	preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc, _ runtime.Object,
) error {
	s, key := m.r.server, m.key(path)
	s.mu.Lock()
	defer s.mu.Unlock()
	stored := m.r.objects[key]
	if stored == nil {
		return storage.NewKeyNotFoundError(path, 0)
	}
	current := m.r.internal()
	if err := m.read(stored, current); err != nil {
		return err
	}
	if err := preconditions.Check(path, current); err != nil {
		return err
	}
	version := uint64(parseRevision(stored.GetResourceVersion()))
	updated, _, err := tryUpdate(current, storage.ResponseMeta{ResourceVersion: version})
	if err != nil {
		return err
	}
	next := m.r.encode(updated)
	next.SetResourceVersion(stored.GetResourceVersion())
	next.SetCreationTimestamp(stored.GetCreationTimestamp()) // the wire has cut the rank off
	if !reflect.DeepEqual(next, stored) {
		m.put(key, next, watch.Modified)
		stored = next
	}
	return m.read(stored, out)
}

// GetList lists the objects below a path.
func (m memory) GetList(_ context.Context, path string, opts storage.ListOptions, list runtime.Object) error {
	s := m.r.server
	s.mu.Lock()
	defer s.mu.Unlock()
	var items []runtime.Object
	for _, o := range m.r.sorted(strings.Trim(m.key(path), "/")) {
		out := m.r.internal()
		if err := m.read(o, out); err != nil {
			return err
		}
		if match, err := opts.Predicate.Matches(out); err != nil {
			return err
		} else if match {
			items = append(items, out)
		}
	}
	if err := meta.SetList(list, items); err != nil {
		return err
	}
	return storage.APIObjectVersioner{}.UpdateList(list, uint64(s.revision), "", nil)
}

// The rest of the interface has no use here: watches do not go through the
// registry, and nothing is compacted.

func (m memory) Watch(context.Context, string, storage.ListOptions) (watch.Interface, error) {
	return nil, fmt.Errorf("watches of %s do not go through the registry", m.r.name)
}
func (m memory) Stats(context.Context) (storage.Stats, error)              { return storage.Stats{}, nil }
func (m memory) ReadinessCheck() error                                     { return nil }
func (m memory) RequestWatchProgress(context.Context) error                { return nil }
func (m memory) GetCurrentResourceVersion(context.Context) (uint64, error) { return 0, nil }
func (m memory) EnableResourceSizeEstimation(storage.KeysFunc) error       { return nil }
func (m memory) CompactRevision() int64                                    { return 0 }
