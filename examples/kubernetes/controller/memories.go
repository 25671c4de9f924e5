package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/job"
)

// Memories keeps the memory of each job between its rounds. Its methods are called by
// several goroutines, but by one at a time for each job.
type Memories interface {
	// Get returns the memory, or the zero value for a job without one.
	Get(job types.NamespacedName) job.Memory
	Set(job types.NamespacedName, m job.Memory)
	// Delete drops the memory of a job that has ended or is gone.
	Delete(job types.NamespacedName)
}

// memories is the store of a process that forgets.
type memories struct {
	mu   sync.Mutex
	jobs map[types.NamespacedName]job.Memory
}

func (m *memories) Get(key types.NamespacedName) job.Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.jobs[key]
}

func (m *memories) Set(key types.NamespacedName, memory job.Memory) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.jobs == nil {
		m.jobs = make(map[types.NamespacedName]job.Memory)
	}
	m.jobs[key] = memory
}

func (m *memories) Delete(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.jobs, key)
}
