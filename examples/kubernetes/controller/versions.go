package controller

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/batchplan/batchplan/expectations"
)

// The two caches whose versions are compared.
const (
	ownersResource = "owners"
	podsResource   = "pods"
)

// store is an informer's cache, which knows how new it is. It says "" if it does not: the
// feature gate AtomicFIFO of client-go is off.
type store interface{ LastStoreSyncResourceVersion() string }

// versions holds rounds back until the caches show the job's own writes (E6). A cache that
// does not say its version shows what its notifications have told.
type versions struct {
	stores map[string]store

	mu     sync.Mutex
	writes map[types.NamespacedName]*ownWrites
	told   map[string]string // by resource
}

type ownWrites struct {
	uid    types.UID
	newest map[string]string // by resource
	at     time.Time         // of the last write
}

// wrote remembers the version of an own write, unless the object has none.
func (v *versions) wrote(key types.NamespacedName, uid types.UID, resource, version string) {
	if version == "" {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	w := v.writes[key]
	if w == nil || w.uid != uid {
		w = &ownWrites{uid: uid, newest: map[string]string{}}
		if v.writes == nil {
			v.writes = map[types.NamespacedName]*ownWrites{}
		}
		v.writes[key] = w
	}
	w.at = time.Now()
	if known := w.newest[resource]; known == "" || isNewer(version, known) {
		w.newest[resource] = version
	}
}

// observe takes the version of a notification, if the cache does not say one.
func (v *versions) observe(resource, version string) {
	if v.stores[resource].LastStoreSyncResourceVersion() != "" {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.told == nil {
		v.told = map[string]string{}
	}
	if known := v.told[resource]; known == "" || isNewer(version, known) {
		v.told[resource] = version
	}
}

// staleError is that of a cache that does not show an own write yet.
type staleError struct {
	key                     types.NamespacedName
	resource, seen, written string
}

func (e *staleError) Error() string {
	return fmt.Sprintf("%s: the cache of %s is at version %q, own writes are at %q", e.key, e.resource, e.seen, e.written)
}

// check fails while a cache is older than the job's own writes.
func (v *versions) check(key types.NamespacedName) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	w := v.writes[key]
	if w == nil {
		return nil
	}
	for resource, written := range w.newest {
		if seen, behind := v.behind(resource, written, w.at); behind {
			return &staleError{key, resource, seen, written}
		}
	}
	delete(v.writes, key)
	return nil
}

// behind reports whether a cache is older than a write. A notification of the write can get
// lost, when a watch breaks and its object is gone afterwards: then no other one may be as
// new, and the write is waited for no longer than expectations are.
func (v *versions) behind(resource, written string, at time.Time) (seen string, behind bool) {
	seen = v.stores[resource].LastStoreSyncResourceVersion()
	if seen != "" {
		return seen, isNewer(written, seen)
	}
	seen = v.told[resource]
	return seen, time.Since(at) < expectations.Timeout && (seen == "" || isNewer(written, seen))
}

// forget drops the writes of a job. With a UID, it must be that job's.
func (v *versions) forget(key types.NamespacedName, uid types.UID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if w := v.writes[key]; w != nil && (uid == "" || w.uid == uid) {
		delete(v.writes, key)
	}
}

// isNewer reports whether version a is newer than b. Versions that cannot be compared are
// not: that must not hold a job back without end.
func isNewer(a, b string) bool {
	n, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && n > 0
}
