package controller

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/batchplan/batchplan/expectations"
)

// resource is one of the two caches whose versions are compared.
type resource int

const (
	ofPods resource = iota
	ofOwners
)

func (r resource) String() string { return [...]string{"pods", "their owners"}[r] }

// store is an informer's cache that knows its version. The version is empty while client-go's
// feature gate AtomicFIFO is off.
type store interface{ LastStoreSyncResourceVersion() string }

// unversioned stands for a cache of client-go before v0.36, which never knows its version.
type unversioned struct{}

func (unversioned) LastStoreSyncResourceVersion() string { return "" }

func storeOf(c cache.Store) store {
	if s, ok := c.(store); ok {
		return s
	}
	return unversioned{}
}

// versions holds rounds back until the caches show the job's own writes (E6). If a cache does not
// know its version, the version of its latest notification counts.
type versions struct {
	stores [2]store

	mu     sync.Mutex
	writes map[types.NamespacedName]*ownWrites
	told   [2]string
}

// ownWrites holds the newest versions that the rounds of a job have written.
type ownWrites struct {
	uid    types.UID
	newest [2]string
	at     time.Time // of the last write
}

// wrote remembers the version of a write of this controller, unless the object has none.
func (v *versions) wrote(key types.NamespacedName, uid types.UID, r resource, version string) {
	if version == "" {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	w := v.writes[key]
	if w == nil || w.uid != uid {
		w = &ownWrites{uid: uid}
		if v.writes == nil {
			v.writes = map[types.NamespacedName]*ownWrites{}
		}
		v.writes[key] = w
	}

	w.at = time.Now()
	if w.newest[r] == "" || isNewer(version, w.newest[r]) {
		w.newest[r] = version
	}
}

// observe records the version of a notification, if the cache does not know its own.
func (v *versions) observe(r resource, version string) {
	if v.stores[r].LastStoreSyncResourceVersion() != "" {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.told[r] == "" || isNewer(version, v.told[r]) {
		v.told[r] = version
	}
}

// staleError reports that a cache does not show a write of this controller yet.
type staleError struct {
	key           types.NamespacedName
	cache         resource
	seen, written string
}

func (e *staleError) Error() string {
	return fmt.Sprintf("%s: the cache of %s is at version %q, own writes are at %q",
		named(e.key), e.cache, e.seen, e.written)
}

// check fails while a cache is older than the job's own writes.
func (v *versions) check(key types.NamespacedName) *staleError {
	v.mu.Lock()
	defer v.mu.Unlock()
	w := v.writes[key]
	if w == nil {
		return nil
	}

	for r, written := range w.newest {
		if written == "" {
			continue
		}
		if seen, behind := v.behind(resource(r), written, w.at); behind {
			return &staleError{key, resource(r), seen, written}
		}
	}
	delete(v.writes, key)
	return nil
}

// behind reports whether a cache is older than a write. If the cache does not know its version, the
// version of its latest notification counts. In that case the write may never be seen: the watch
// may break, and the object may then be gone. So a round waits for the write no longer than it
// waits for expectations.
func (v *versions) behind(r resource, written string, at time.Time) (seen string, behind bool) {
	seen = v.stores[r].LastStoreSyncResourceVersion()
	if seen != "" {
		return seen, isNewer(written, seen)
	}
	seen = v.told[r]
	return seen, time.Since(at) < expectations.Timeout && (seen == "" || isNewer(written, seen))
}

// forget drops the writes of a job. If uid is set, it drops only those of the job with that UID.
func (v *versions) forget(key types.NamespacedName, uid types.UID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if w := v.writes[key]; w != nil && (uid == "" || w.uid == uid) {
		delete(v.writes, key)
	}
}

// isNewer reports whether version a is newer than b. It is false for versions that cannot be
// compared: they must not hold a job back forever.
func isNewer(a, b string) bool {
	if !isNumber(a) || !isNumber(b) {
		return false
	}
	return len(a) > len(b) || len(a) == len(b) && a > b
}

// isNumber reports whether a version is a positive number without leading zeros.
func isNumber(version string) bool {
	return version != "" && version[0] != '0' && strings.Trim(version, "0123456789") == ""
}
