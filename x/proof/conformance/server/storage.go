package server

import (
	"bytes"
	"context"
	"fmt"
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

// object is an object of the API that can be sent over the wire.
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
	at       time.Time
}

// options gives a registry its storage.
type options struct{ r *resource }

// GetRESTOptions returns the same options for every resource of the registry.
func (o options) GetRESTOptions(gr schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	return generic.RESTOptions{
		StorageConfig:           &storagebackend.ConfigForResource{GroupResource: gr},
		EnableGarbageCollection: true,
		DeleteCollectionWorkers: 1,
		ResourcePrefix:          gr.Resource,
		Decorator: func(*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error),
			func() runtime.Object, func() runtime.Object, storage.AttrFunc, storage.IndexerFuncs, *cache.Indexers,
		) (storage.Interface, factory.DestroyFunc, error) {
			return memory(o), func() {}, nil
		},
	}, nil
}

// memory is the storage of one resource: a map instead of etcd.
type memory struct{ r *resource }

// key converts "/jobs/namespace/name" to "namespace/name".
func (m memory) key(path string) string {
	_, key, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return key
}

// Versioner reads and writes resource versions.
func (m memory) Versioner() storage.Versioner { return storage.APIObjectVersioner{} }

func (m memory) Create(_ context.Context, path string, obj, out runtime.Object, _ uint64) error {
	s, key := m.r.server, m.key(path)
	s.mu.Lock()
	defer s.mu.Unlock()
	if version, err := m.Versioner().ObjectResourceVersion(obj); err == nil && version != 0 {
		return storage.ErrResourceVersionSetOnCreate
	}
	if m.r.objects[key] != nil {
		return storage.NewKeyExistsError(path, 0)
	}
	next := m.r.toExternal(obj)
	next.SetCreationTimestamp(metav1.NewTime(s.now())) // the registry's clock does not have the server's skew
	m.put(key, m.bytes(next), watch.Added)
	return m.read(key, out)
}

// bytes returns the stored form of an object: all of it except its version.
func (m memory) bytes(o object) []byte {
	o.SetResourceVersion("")
	data, err := o.Marshal()
	must(err)
	return data
}

// put stores an object with the next resource version and notifies the watches.
func (m memory) put(key string, data []byte, kind watch.EventType) {
	o := m.r.external()
	must(o.Unmarshal(data))
	legacyscheme.Scheme.Default(o)
	created := o.GetCreationTimestamp().Time
	if pod, ok := o.(*corev1.Pod); ok {
		created = created.Add(rank(pod))
	}
	if old := m.r.objects[key]; old != nil {
		created = old.GetCreationTimestamp().Time // the index may have changed
	}
	o.SetCreationTimestamp(metav1.NewTime(created))
	m.r.keep(key, o, data)
	m.tell(o, kind)
}

// rank returns the fraction of a second that is added to a pod's creation time, so that times
// within one second differ. It orders pods by their index, and then by the number in their name.
func rank(pod *corev1.Pod) time.Duration {
	index, _ := strconv.Atoi(pod.Annotations["batch.kubernetes.io/job-completion-index"])
	number, _ := strconv.Atoi(strings.TrimPrefix(pod.Name, base(pod.GenerateName)))
	return time.Duration(index%10_000*10_000+number%10_000) * time.Nanosecond
}

// tell gives a change the next resource version and notifies the watches.
func (m memory) tell(o object, kind watch.EventType) {
	revision := m.r.server.next()
	o.SetResourceVersion(strconv.FormatInt(revision, 10))
	m.r.history = append(m.r.history, change{revision, kind, o, time.Now()})
	for w := range m.r.watches {
		w.wake()
	}
}

// read gives a stored object to the registry. It removes the fraction of a second that the function
// rank has added to the creation time: the registry compares this time with the client's, which has
// no fraction.
func (m memory) read(key string, out runtime.Object) error {
	stored := m.r.objects[key].DeepCopyObject().(object)
	stored.SetCreationTimestamp(metav1.NewTime(stored.GetCreationTimestamp().Truncate(time.Second)))
	return legacyscheme.Scheme.Convert(stored, out, nil)
}

func (m memory) Get(_ context.Context, path string, opts storage.GetOptions, out runtime.Object) error {
	s := m.r.server
	s.mu.Lock()
	defer s.mu.Unlock()
	key := m.key(path)
	if m.r.objects[key] == nil {
		if opts.IgnoreNotFound {
			return runtime.SetZeroValue(out)
		}
		return storage.NewKeyNotFoundError(path, 0)
	}
	return m.read(key, out)
}

func (m memory) remove(ctx context.Context, path string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc,
) error {
	s, key := m.r.server, m.key(path)
	s.mu.Lock()
	defer s.mu.Unlock()
	stored := m.r.objects[key]
	if stored == nil {
		return storage.NewKeyNotFoundError(path, 0)
	}
	if err := m.read(key, out); err != nil {
		return err
	}
	if err := preconditions.Check(path, out); err != nil {
		return err
	}
	if err := validate(ctx, out); err != nil {
		return err
	}
	m.r.forget(key)
	m.tell(stored.DeepCopyObject().(object), watch.Deleted)
	return nil
}

// GuaranteedUpdate replaces an object by the result of tryUpdate. An object whose stored bytes stay
// the same is not written, and keeps its version. The first update may write the defaults that
// reading has added.
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
	if err := m.read(key, current); err != nil {
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
	if data := m.bytes(m.r.toExternal(updated)); !bytes.Equal(data, m.r.wire[key]) {
		m.put(key, data, watch.Modified)
	}
	return m.read(key, out)
}

// GetList lists the objects below a path, or the one object at the path.
func (m memory) GetList(_ context.Context, path string, opts storage.ListOptions, list runtime.Object) error {
	s := m.r.server
	s.mu.Lock()
	defer s.mu.Unlock()

	namespace, name, _ := strings.Cut(strings.TrimSuffix(m.key(path), "/"), "/")
	var items []runtime.Object
	for _, o := range m.r.in(namespace) {
		if name != "" && name != o.GetName() {
			continue
		}

		out := m.r.internal()
		if err := m.read(o.GetNamespace()+"/"+o.GetName(), out); err != nil {
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

// The rest of the interface is not used: watches do not go through the registry, and nothing is
// compacted.

func (m memory) Watch(context.Context, string, storage.ListOptions) (watch.Interface, error) {
	return nil, fmt.Errorf("watches of %s do not go through the registry", m.r.name)
}
func (m memory) ReadinessCheck() error                                     { return nil }
func (m memory) RequestWatchProgress(context.Context) error                { return nil }
func (m memory) GetCurrentResourceVersion(context.Context) (uint64, error) { return 0, nil }
func (m memory) CompactRevision() int64                                    { return 0 }
