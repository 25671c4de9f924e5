package explore

import "sync"

// table is the set of the states that were visited, by their keys, each with a number. It
// may be used by many goroutines. The zero value is ready to use.
type table struct {
	shards [64]shard
}

// shard is a hash table with linear probing. A slot with the key zero is free: no state has that
// key, except with the tiny probability with which two states share a key.
type shard struct {
	mu    sync.Mutex
	slots []slot
	used  int
}

type slot struct {
	key   Key
	value uint64
}

const slotSize = 24

func (t *table) shard(k Key) *shard { return &t.shards[k.hi>>58] }

// add puts a key into the table, and reports whether it was new.
func (t *table) add(k Key, value uint64) bool {
	s := t.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.find(k)
	if s.slots[at].key == k {
		return false
	}
	s.slots[at] = slot{k, value}
	s.used++
	return true
}

func (t *table) get(k Key) (value uint64, ok bool) {
	s := t.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used == 0 {
		return 0, false
	}
	found := s.slots[s.find(k)]
	return found.value, found.key == k
}

// find returns the slot of the key, or the free slot for it.
func (s *shard) find(k Key) int {
	if 8*(s.used+1) > 7*len(s.slots) {
		s.grow()
	}
	mask := len(s.slots) - 1
	at := int(k.lo) & mask
	for s.slots[at].key != (Key{}) && s.slots[at].key != k {
		at = (at + 1) & mask
	}
	return at
}

func (s *shard) grow() {
	old := s.slots
	s.slots = make([]slot, max(2*len(old), 64))
	mask := len(s.slots) - 1
	for _, slot := range old {
		if slot.key == (Key{}) {
			continue
		}
		at := int(slot.key.lo) & mask
		for s.slots[at].key != (Key{}) {
			at = (at + 1) & mask
		}
		s.slots[at] = slot
	}
}

// len returns the number of keys, and the bytes that they take.
func (t *table) len() (n int, bytes int64) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		n += s.used
		bytes += int64(len(s.slots)) * slotSize
		s.mu.Unlock()
	}
	return n, bytes
}

// parent returns the key whose lower half is the value of k.
func (t *table) parent(k Key) (Key, bool) {
	low, ok := t.get(k)
	if !ok || low == 0 {
		return Key{}, false
	}
	for i := range t.shards {
		if found, ok := t.shards[i].byLow(low); ok {
			return found, true
		}
	}
	return Key{}, false
}

func (s *shard) byLow(low uint64) (Key, bool) {
	if len(s.slots) == 0 {
		return Key{}, false
	}
	mask := len(s.slots) - 1
	for at := int(low) & mask; s.slots[at].key != (Key{}); at = (at + 1) & mask {
		if s.slots[at].key.lo == low {
			return s.slots[at].key, true
		}
	}
	return Key{}, false
}
