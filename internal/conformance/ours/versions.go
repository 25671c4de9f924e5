package ours

import (
	"fmt"
	"sync"

	"github.com/batchplan/batchplan/job"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// store is an informer's cache, which knows how new it is.
type store interface{ LastStoreSyncResourceVersion() string }

// versions holds rounds back until the caches show the job's own writes (E6), as
// Kubernetes does since 1.36 (KEP-5647).
type versions struct {
	stores map[string]store

	mu     sync.Mutex
	writes map[string]*ownWrites // by key
}

type ownWrites struct {
	uid    job.UID
	newest map[string]string // by resource
}

func (v *versions) wrote(key string, uid job.UID, resource, version string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	w := v.writes[key]
	if w == nil || w.uid != uid {
		w = &ownWrites{uid, map[string]string{}}
		if v.writes == nil {
			v.writes = map[string]*ownWrites{}
		}
		v.writes[key] = w
	}
	if isNewer(version, w.newest[resource]) {
		w.newest[resource] = version
	}
}

// check fails while a cache is older than the job's own writes.
func (v *versions) check(key string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	w := v.writes[key]
	if w == nil {
		return nil
	}
	for resource, written := range w.newest {
		if seen := v.stores[resource].LastStoreSyncResourceVersion(); isNewer(written, seen) {
			return fmt.Errorf("job %s: %s are seen at %s and were written at %s", key, resource, seen, written)
		}
	}
	delete(v.writes, key)
	return nil
}

func (v *versions) forget(key string, uid job.UID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if w := v.writes[key]; w != nil && (uid == "" || w.uid == uid) {
		delete(v.writes, key)
	}
}

func isNewer(a, b string) bool {
	if b == "" {
		return true
	}
	n, err := resourceversion.CompareResourceVersion(a, b)
	must(err)
	return n > 0
}
