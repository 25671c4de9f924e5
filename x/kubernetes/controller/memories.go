package controller

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Memories keeps the memory of each object between its rounds, in a database for example: a job.Memory or a
// cronjob.Memory. Its methods are called by several goroutines, but by one at a time for each object. An error is the
// error of the round, which is repeated after a growing delay.
type Memories[M any] interface {
	// Get returns the memory, or the zero value for an object without one. After an error the round decides nothing.
	Get(ctx context.Context, key types.NamespacedName) (M, error)
	// Set is called at the end of each round, after its writes. A memory that is not stored is lost, as by a crash at
	// that moment: nothing is counted or started twice.
	Set(ctx context.Context, key types.NamespacedName, m M) error
	// Delete drops the memory of an object that has ended or is gone.
	Delete(ctx context.Context, key types.NamespacedName) error
}

// memories is the store of a process that forgets.
type memories[M any] struct {
	mu    sync.Mutex
	byKey map[types.NamespacedName]M
}

func (m *memories[M]) Get(_ context.Context, key types.NamespacedName) (M, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.byKey[key], nil
}

func (m *memories[M]) Set(_ context.Context, key types.NamespacedName, memory M) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byKey == nil {
		m.byKey = make(map[types.NamespacedName]M)
	}
	m.byKey[key] = memory
	return nil
}

func (m *memories[M]) Delete(_ context.Context, key types.NamespacedName) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byKey, key)
	return nil
}

// leave drops the memory of an object that is another replica's now. One that is stored elsewhere is that replica's.
func leave[M any](ctx context.Context, all Memories[M], key types.NamespacedName) error {
	if own, is := all.(*memories[M]); is {
		return own.Delete(ctx, key)
	}
	return nil
}

// ofMemory says that an error is one of [Memories].
func ofMemory(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("memory: %w", err)
}
