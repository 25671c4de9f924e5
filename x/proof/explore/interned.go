package explore

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// List numbers values from 1. The workers of a search share it; looking up a value takes no lock.
// The zero value is empty.
type List[V any] struct {
	mu    sync.Mutex
	n     int
	pages atomic.Pointer[[]*page[V]]
}

const pageSize = 1024

type page[V any] [pageSize]V

// Add adds a value. The fill function sets it before any other worker can see it.
func (l *List[V]) Add(fill func(*V)) uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	var pages []*page[V]
	if old := l.pages.Load(); old != nil {
		pages = *old
	}
	if l.n == len(pages)*pageSize {
		pages = append(pages[:len(pages):len(pages)], new(page[V]))
		l.pages.Store(&pages)
	}
	fill(&pages[l.n/pageSize][l.n%pageSize])
	l.n++
	return uint32(l.n)
}

// At returns the value with a number. All workers share the value.
func (l *List[V]) At(id uint32) *V {
	return &(*l.pages.Load())[(id-1)/pageSize][(id-1)%pageSize]
}

// Len returns the number of values.
func (l *List[V]) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

// Interned numbers values from 1, in the order in which they are first met, so that states can
// refer to them by numbers. The workers of a search share it. The zero value is empty.
type Interned[K comparable, V any] struct {
	numbers Cache[K, uint32]
	all     List[V]
}

// Number returns the number of the value with a key. If the key is new, it calls value.
func (n *Interned[K, V]) Number(key K, value func() V) uint32 {
	if id, ok := n.numbers.find(key); ok {
		return id
	}
	made := value()
	return n.numbers.once(key, func() uint32 { return n.all.Add(func(v *V) { *v = made }) })
}

// Of returns the value with a number.
func (n *Interned[K, V]) Of(id uint32) V { return *n.all.At(id) }

// At returns the value with a number. The value must not be changed.
func (n *Interned[K, V]) At(id uint32) *V { return n.all.At(id) }

// Len returns the number of values.
func (n *Interned[K, V]) Len() int { return n.all.Len() }

// Cache keeps the results of a function. The workers of a search share it. The zero value
// is empty.
type Cache[K comparable, V any] struct {
	mu    sync.RWMutex
	known map[K]V
}

// Get returns the result for a key. It calls the function if there is none yet; if two workers do
// so concurrently, the first result stays.
func (c *Cache[K, V]) Get(key K, result func() V) V {
	if v, ok := c.find(key); ok {
		return v
	}
	v := result()
	return c.once(key, func() V { return v })
}

func (c *Cache[K, V]) find(key K) (V, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	v, ok := c.known[key]
	return v, ok
}

// once returns the result for a key. No two workers call the function concurrently.
func (c *Cache[K, V]) once(key K, result func() V) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.known[key]
	if ok {
		return v
	}
	if c.known == nil {
		c.known = make(map[K]V)
	}
	v = result()
	c.known[key] = v
	return v
}

// Len returns the number of results.
func (c *Cache[K, V]) Len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.known)
}

// Small converts a number to a smaller type, and panics if it does not fit.
func Small[T ~uint8 | ~uint16](n uint32) T {
	if uint32(T(n)) != n {
		panic(fmt.Sprintf("%d values are too many", n))
	}
	return T(n)
}
