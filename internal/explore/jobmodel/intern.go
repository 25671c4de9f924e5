package jobmodel

import (
	"fmt"
	"sync"
)

// interned numbers values, from 1 on, in the order in which they are first met. Workers
// share it.
type interned[K comparable, V any] struct {
	mu    sync.RWMutex
	byKey map[K]uint32
	all   []V
}

// number returns the number of the value with that key. The value is made if it is new.
func (n *interned[K, V]) number(key K, value func() V) uint32 {
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

// of returns the value with a number.
func (n *interned[K, V]) of(id uint32) V {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.all[id-1]
}

// cache keeps the results of a function. Workers share it.
type cache[K comparable, V any] struct {
	mu    sync.RWMutex
	known map[K]V
}

func (c *cache[K, V]) get(key K, make_ func() V) V {
	c.mu.RLock()
	v, ok := c.known[key]
	c.mu.RUnlock()
	if ok {
		return v
	}
	v = make_()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = make(map[K]V)
	}
	c.known[key] = v
	return v
}

func small[T ~uint8 | ~uint16](n uint32) T {
	if uint32(T(n)) != n {
		panic(fmt.Sprintf("%d values are too many", n))
	}
	return T(n)
}
