package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Memories keeps the memory of each object between its rounds: a job.Memory or a
// cronjob.Memory. Its methods are called by several goroutines, but by one at a time for each
// object.
type Memories[M any] interface {
	// Get returns the memory, or the zero value for an object without one.
	Get(key types.NamespacedName) M
	Set(key types.NamespacedName, m M)
	// Delete drops the memory of an object that has ended or is gone.
	Delete(key types.NamespacedName)
}

// memories is the store of a process that forgets.
type memories[M any] struct {
	mu    sync.Mutex
	byKey map[types.NamespacedName]M
}

func (m *memories[M]) Get(key types.NamespacedName) M {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.byKey[key]
}

func (m *memories[M]) Set(key types.NamespacedName, memory M) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byKey == nil {
		m.byKey = make(map[types.NamespacedName]M)
	}
	m.byKey[key] = memory
}

func (m *memories[M]) Delete(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byKey, key)
}
