// Package indexset holds sets of completion indexes and their text form.
//
// A [Set] is a bitset in pages that are allocated when they are needed. A few
// indexes near 2^31 take as little memory as a few near 0, and a range of two
// billion takes no more than its page table. A Set is meant to be reused: Reset
// keeps the memory.
package indexset

import (
	"math/bits"
	"slices"
)

const (
	pageBits  = 1 << 13 // indexes in a page
	pageWords = pageBits / 64
)

// The values of a table entry that name no page.
const (
	emptyPage = 0
	fullPage  = -1
)

type page [pageWords]uint64

// Set is a set of indexes from 0 to 2^31-1. The zero value is empty.
type Set struct {
	table []int32 // per page: emptyPage, fullPage, or 1 + the place in pages
	pages []*page // the used ones first, then spare ones
	used  int
	len   int
}

// Reset empties the set and keeps its memory.
func (s *Set) Reset() {
	s.table = s.table[:0]
	s.used = 0
	s.len = 0
}

// Len returns the number of indexes in the set.
func (s *Set) Len() int { return s.len }

// Has reports whether i is in the set.
func (s *Set) Has(i int32) bool {
	n := int(i) / pageBits
	if i < 0 || n >= len(s.table) {
		return false
	}
	switch entry := s.table[n]; entry {
	case emptyPage:
		return false
	case fullPage:
		return true
	default:
		bit := int(i) % pageBits
		return s.pages[entry-1][bit/64]>>(bit%64)&1 != 0
	}
}

// Add adds i to the set and reports whether it was new. i must not be negative.
func (s *Set) Add(i int32) bool {
	near := s.Near(i)
	return near.Add(i)
}

// Near returns the part of the set that holds i, to add many indexes fast. It is valid until the
// set is changed in another way. i must not be negative.
func (s *Set) Near(i int32) Near {
	n := int(i) / pageBits
	s.grow(n + 1)
	near := Near{number: uint32(n) + 1, len: &s.len}
	if s.table[n] != fullPage {
		near.page = s.writable(n)
	}
	return near
}

// Near is one page of a set, to which indexes can be added fast. The zero value holds no index.
type Near struct {
	// number is the page's place in the table plus 1. page is nil if the page is full.
	number uint32
	page   *page
	len    *int
}

// Holds reports whether the part covers i, no matter whether i is in the set. i must not be
// negative.
func (p Near) Holds(i int32) bool { return p.number == uint32(i)/pageBits+1 }

// Add adds i, which must belong to the part, and reports whether it was new.
func (p Near) Add(i int32) bool {
	if p.page == nil {
		return false
	}

	word, mask := &p.page[uint32(i)%pageBits/64], uint64(1)<<(uint32(i)%64)
	if *word&mask != 0 {
		return false
	}
	*word |= mask
	*p.len++
	return true
}

// AddRange adds first to last, both included, to the set. An empty range adds
// nothing. first must not be negative.
func (s *Set) AddRange(first, last int32) {
	if first > last {
		return
	}
	if first == last { // the common case in a fragmented list
		s.Add(first)
		return
	}

	from, to := int(first)/pageBits, int(last)/pageBits
	s.grow(to + 1)

	for n := from; n <= to; n++ {
		lo, hi := 0, pageBits-1
		if n == from {
			lo = int(first) % pageBits
		}
		if n == to {
			hi = int(last) % pageBits
		}
		s.fill(n, lo, hi)
	}
}

// fill adds the bits lo to hi of page n.
func (s *Set) fill(n, lo, hi int) {
	switch {
	case s.table[n] == fullPage:
		return
	case lo == 0 && hi == pageBits-1:
		s.len += pageBits - s.pageLen(n)
		s.table[n] = fullPage
		return
	}

	p := s.writable(n)
	for w := lo / 64; w <= hi/64; w++ {
		mask := ^uint64(0)
		if w == lo/64 {
			mask &= ^uint64(0) << (lo % 64)
		}
		if w == hi/64 {
			mask &= ^uint64(0) >> (63 - hi%64)
		}
		s.len += bits.OnesCount64(mask &^ p[w])
		p[w] |= mask
	}
}

func (s *Set) pageLen(n int) int {
	switch entry := s.table[n]; entry {
	case emptyPage:
		return 0
	case fullPage:
		return pageBits
	default:
		total := 0
		for _, w := range s.pages[entry-1] {
			total += bits.OnesCount64(w)
		}
		return total
	}
}

func (s *Set) grow(n int) {
	if more := n - len(s.table); more > 0 {
		s.table = slices.Grow(s.table, more)[:n]
		clear(s.table[n-more:])
	}
}

// Remove removes the indexes of the other set from this one.
func (s *Set) Remove(other *Set) {
	for n := range min(len(s.table), len(other.table)) {
		switch {
		case s.table[n] == emptyPage || other.table[n] == emptyPage:
		case other.table[n] == fullPage:
			s.len -= s.pageLen(n)
			s.table[n] = emptyPage
		default:
			s.clear(n, other.pages[other.table[n]-1])
		}
	}
}

// clear removes the bits of p from page n, which is not empty.
func (s *Set) clear(n int, p *page) {
	full := s.table[n] == fullPage
	if full {
		s.table[n] = emptyPage
	}

	out := s.writable(n)
	for w := range out {
		if full {
			out[w] = ^uint64(0)
		}
		s.len -= bits.OnesCount64(out[w] & p[w])
		out[w] &^= p[w]
	}
}

// writable returns page n, which must not be full, with bits to write to.
func (s *Set) writable(n int) *page {
	if entry := s.table[n]; entry != emptyPage {
		return s.pages[entry-1]
	}

	if s.used == len(s.pages) {
		s.pages = append(s.pages, new(page))
	} else {
		*s.pages[s.used] = page{}
	}

	s.used++
	s.table[n] = int32(s.used)
	return s.pages[s.used-1]
}

// next returns the first index at or after i that is in the set (want) or not in it
// (!want). When the table has none, the result is s.end() or more. It counts in
// int64, since the last page ends at 2^31.
func (s *Set) next(i int64, want bool) int64 {
	for n := int(i / pageBits); n < len(s.table); n++ {
		base := int64(n) * pageBits
		start := max(i, base)
		switch entry := s.table[n]; {
		case entry == emptyPage && want, entry == fullPage && !want:
			continue
		case entry == emptyPage, entry == fullPage:
			return start
		default:
			if bit := s.pages[entry-1].next(int(start-base), want); bit < pageBits {
				return base + int64(bit)
			}
		}
	}
	return max(i, s.end())
}

func (s *Set) end() int64 { return int64(len(s.table)) * pageBits }

func (p *page) next(bit int, want bool) int {
	for w := bit / 64; w < pageWords; w++ {
		word := p[w]
		if !want {
			word = ^word
		}
		if w == bit/64 {
			word &= ^uint64(0) << (bit % 64)
		}
		if word != 0 {
			return w*64 + bits.TrailingZeros64(word)
		}
	}
	return pageBits
}

// Ranges calls yield with each run of indexes, first and last, in increasing
// order, until it returns false.
func (s *Set) Ranges(yield func(first, last int32) bool) {
	for i := s.next(0, true); i < s.end(); {
		stop := s.next(i, false)
		if !yield(int32(i), int32(stop-1)) {
			return
		}
		i = s.next(stop, true)
	}
}

// NextFree returns the first index at or after i that is in none of the sets, or
// limit when there is none below limit.
func NextFree(i, limit int32, sets ...*Set) int32 {
	at := int64(i)
	for at < int64(limit) {
		start := at
		for _, s := range sets {
			at = s.next(at, false)
		}
		if at == start {
			return int32(at)
		}
	}
	return limit
}

// Common returns the number of indexes that are in both sets.
func Common(a, b *Set) int {
	both := 0
	for n := range min(len(a.table), len(b.table)) {
		switch {
		case a.table[n] == fullPage:
			both += b.pageLen(n)
		case b.table[n] == fullPage:
			both += a.pageLen(n)
		case a.table[n] != emptyPage && b.table[n] != emptyPage:
			x, y := a.pages[a.table[n]-1], b.pages[b.table[n]-1]
			for w := range x {
				both += bits.OnesCount64(x[w] & y[w])
			}
		}
	}
	return both
}
