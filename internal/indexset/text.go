package indexset

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strconv"
)

// Text describes a list that AddText has read.
type Text struct {
	// Corrupt holds the pieces that are neither an index nor a range.
	Corrupt []string
	// Canonical is true when AppendText would write the indexes of the list as the same text. A
	// list with an index that is not below the limit is not canonical.
	Canonical bool
}

// AddText adds the indexes of a list such as "1,3-5,7" that are below limit.
// Corrupt pieces add nothing (J14). The pieces may be in any order.
func (s *Set) AddText(text string, limit int32) Text {
	out := Text{Canonical: true}
	before := Piece{Last: -2}
	var late []Piece

	for text, p := range Pieces(text) {
		switch {
		case !p.OK:
			out.Corrupt = append(out.Corrupt, text)
			out.Canonical = false
		case p.First <= before.Last:
			out.Canonical = false
			late = append(late, p)
		default:
			out.Canonical = out.Canonical && p.Last < limit && p.follows(&before)
			s.AddRange(p.First, min(p.Last, limit-1))
			before = p
		}
	}

	s.addSorted(late, limit)
	return out
}

// addSorted sorts pieces and adds them. Ranges that overlap are added once: a list can repeat a
// range of two billion indexes a hundred thousand times.
func (s *Set) addSorted(pieces []Piece, limit int32) {
	slices.SortFunc(pieces, func(a, b Piece) int { return cmp.Compare(a.First, b.First) })
	for next := int32(0); len(pieces) > 0; pieces = pieces[1:] {
		p := &pieces[0]
		s.AddRange(max(p.First, next), min(p.Last, limit-1))
		if p.Last == math.MaxInt32 {
			return
		}
		next = max(next, p.Last+1)
	}
}

// Added returns how many indexes of the second list are not in the first.
func Added(before, after string) int {
	if before == after {
		return 0
	}

	var a, b Set
	a.AddText(before, math.MaxInt32)
	b.AddText(after, math.MaxInt32)
	return b.Len() - Common(&a, &b)
}

// Piece is one element of a list, "a" or "a-b".
type Piece struct {
	// OK is false when the text is neither an index nor a range. Otherwise First and Last are the
	// first and the last index, and IsRange is true for the form "a-b".
	OK          bool
	First, Last int32
	IsRange     bool
	// plain is false when a number has leading zeros or a plus sign.
	plain bool
	// pair is true when First is the index right after Last of the piece before.
	pair bool
}

// Pieces yields the elements of a list, each with its text. The empty list has none.
func Pieces(list string) iter.Seq2[string, Piece] {
	return func(yield func(string, Piece) bool) {
		for start := 0; start <= len(list) && list != ""; {
			end := start
			for end < len(list) && list[end] != ',' { // pieces are short
				end++
			}
			if text := list[start:end]; !yield(text, parsePiece(text)) {
				return
			}
			start = end + 1
		}
	}
}

// Lists reports whether a list names an index.
func Lists(list string, index int32) bool {
	for _, p := range Pieces(list) {
		if p.OK && p.First <= index && index <= p.Last {
			return true
		}
	}
	return false
}

// follows reports whether before and p can be neighbours in a text that AppendText writes.
func (p *Piece) follows(before *Piece) bool {
	isShort := p.IsRange && p.Last-p.First < 2
	if !p.plain || p.First <= before.Last || isShort {
		return false
	}
	if p.First != before.Last+1 {
		return true
	}

	p.pair = true
	return !p.IsRange && !before.IsRange && !before.pair
}

// parsePiece reads "a" or "a-b" with a <= b. A plus sign is accepted, as in Kubernetes.
func parsePiece(text string) Piece {
	first, rest, plain, ok := parseNumber(text)
	if ok && rest == "" {
		return Piece{OK: true, First: first, Last: first, plain: plain}
	}
	if !ok || rest[0] != '-' {
		return Piece{}
	}

	last, rest, plainLast, ok := parseNumber(rest[1:])
	if !ok || rest != "" || first > last {
		return Piece{}
	}
	return Piece{OK: true, First: first, Last: last, IsRange: true, plain: plain && plainLast}
}

// parseNumber reads the number at the start of text. It is plain when AppendText would
// write it the same way.
func parseNumber(text string) (n int32, rest string, plain, ok bool) {
	var v int64
	start := 0
	if text != "" && text[0] == '+' {
		start = 1
	}

	i := start
	for ; i < len(text) && isDigit(text[i]); i++ {
		v = v*10 + int64(text[i]-'0')
		if v > 1<<31-1 {
			return 0, "", false, false
		}
	}

	isShortest := i == 1 || i > 0 && text[0] != '0'
	plain = start == 0 && isShortest
	return int32(v), text[i:], plain, i > start
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// AppendText appends the text form: increasing, comma separated, runs of three
// or more as "a-b", runs of two as "a,b" (J14).
func (s *Set) AppendText(dst []byte) []byte {
	start := len(dst)
	s.Ranges(func(first, last int32) bool {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = AppendRange(dst, first, last)
		return true
	})
	return dst
}

// AppendRange appends the text form of one run of indexes.
func AppendRange(dst []byte, first, last int32) []byte {
	dst = strconv.AppendInt(dst, int64(first), 10)
	if first == last {
		return dst
	}

	separator := byte('-')
	if last == first+1 {
		separator = ','
	}
	dst = append(dst, separator)
	return strconv.AppendInt(dst, int64(last), 10)
}
