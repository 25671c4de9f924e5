package explore

import (
	"fmt"
	"sync"
)

// Interned numbers values, from 1 on, in the order in which they are first met, so that
// states name them by numbers. The workers of a search share it. The zero value is empty.
type Interned[K comparable, V any] struct {
	mu    sync.RWMutex
	byKey map[K]uint32
	all   []V
}

// Number returns the number of the value with that key. The value is made if it is new.
func (n *Interned[K, V]) Number(key K, value func() V) uint32 {
	n.mu.RLock()
	id := n.byKey[key]
	n.mu.RUnlock()
	if id != 0 {
		return id
	}
	made := value()
	n.mu.Lock()
	defer n.mu.Unlock()
	if id := n.byKey[key]; id != 0 {
		return id
	}
	if n.byKey == nil {
		n.byKey = make(map[K]uint32)
	}
	n.all = append(n.all, made)
	n.byKey[key] = uint32(len(n.all))
	return uint32(len(n.all))
}

// Of returns the value with a number.
func (n *Interned[K, V]) Of(id uint32) V {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.all[id-1]
}

// Cache keeps the results of a function. The workers of a search share it. The zero value
// is empty.
type Cache[K comparable, V any] struct {
	mu    sync.RWMutex
	known map[K]V
}

// Get returns the result for a key. It calls the function if there is none yet.
func (c *Cache[K, V]) Get(key K, result func() V) V {
	c.mu.RLock()
	v, ok := c.known[key]
	c.mu.RUnlock()
	if ok {
		return v
	}
	v = result()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = make(map[K]V)
	}
	c.known[key] = v
	return v
}

// Len is the number of values.
func (n *Interned[K, V]) Len() int {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return len(n.all)
}

// Small turns a number into a smaller type, and panics where it does not fit.
func Small[T ~uint8 | ~uint16](n uint32) T {
	if uint32(T(n)) != n {
		panic(fmt.Sprintf("%d values are too many", n))
	}
	return T(n)
}
