package controller

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Memories keeps the memory of each object between its rounds, in a database for example. M is job.Memory
// or cronjob.Memory. The methods are called concurrently, but never for the same object. An error fails
// the round, which is repeated after a growing delay. Several controllers of one kind can share a store if no
// two of them take an object of the same name: each uses only the memories of the objects that it takes.
type Memories[M any] interface {
	// Get returns the memory, or the zero value for an object without one. After an error the round decides nothing.
	Get(ctx context.Context, key types.NamespacedName) (M, error)
	// Set is called at the end of each round, after its writes. After an error, the next round gets
	// the earlier memory, as after a crash at that moment: no pod is counted twice and no run
	// starts twice, but events and metrics of the round may be repeated.
	Set(ctx context.Context, key types.NamespacedName, m M) error
	// Delete drops the memory of an object that has ended or is gone. The object may have no
	// memory.
	Delete(ctx context.Context, key types.NamespacedName) error
}

// memories keeps the memories in this process.
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

// keySet is a set of the keys of objects.
type keySet struct {
	mu   sync.Mutex
	keys map[types.NamespacedName]struct{}
}

func (s *keySet) add(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil {
		s.keys = make(map[types.NamespacedName]struct{})
	}
	s.keys[key] = struct{}{}
}

func (s *keySet) remove(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.keys, key)
}

func (s *keySet) has(key types.NamespacedName) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, found := s.keys[key]
	return found
}

// forget drops the memory of an object that has ended or is gone, or that another replica has taken
// over. It does not touch the memory of an object that this controller has not taken.
func forget[M any](
	ctx context.Context, kept *keySet, all Memories[M], key types.NamespacedName, isGone bool,
) error {
	if !kept.has(key) {
		return nil
	}

	kept.remove(key) // before the call, during which a new object may appear
	if !isGone {
		return ofMemory(leave(ctx, all, key))
	}
	err := all.Delete(ctx, key)
	if err != nil {
		kept.add(key) // for the next try, when the object may be gone
	}
	return ofMemory(err)
}

// leave drops the memory of an object that another replica has taken over. A memory in a store of
// the user stays, since the other replica needs it.
func leave[M any](ctx context.Context, all Memories[M], key types.NamespacedName) error {
	if own, is := all.(*memories[M]); is {
		return own.Delete(ctx, key)
	}
	return nil
}

// storeError is an error of [Memories] or [Requests]. [IsExpected] returns false for it, even if it
// is joined with a conflict.
type storeError struct{ error }

func (e storeError) Unwrap() error { return e.error }

// ofMemory marks an error as one of [Memories].
func ofMemory(err error) error {
	if err == nil {
		return nil
	}
	return storeError{fmt.Errorf("memory: %w", err)}
}

// ofRequests marks an error as one of [Requests].
func ofRequests(err error) error { return storeError{fmt.Errorf("requests: %w", err)} }
