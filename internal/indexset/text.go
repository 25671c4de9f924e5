package indexset

import (
	"math"
	"strconv"
)

// Text describes a list that AddText has read.
type Text struct {
	// Corrupt holds the pieces that are neither an index nor a range.
	Corrupt []string
	// Canonical is true when AppendText would write the same list for its indexes,
	// those at the limit and beyond included.
	Canonical bool
}

// AddText adds the indexes of a list such as "1,3-5,7" that are below limit.
// Corrupt pieces add nothing (J14). The pieces may be in any order.
func (s *Set) AddText(text string, limit int32) Text {
	out := Text{Canonical: true}
	before := piece{last: -2}
	for start := 0; start <= len(text) && text != ""; {
		end := start
		for end < len(text) && text[end] != ',' {
			end++
		}
		p, ok := parsePiece(text[start:end])
		switch {
		case !ok:
			out.Corrupt = append(out.Corrupt, text[start:end])
			out.Canonical = false
		case p.first >= limit:
			out.Canonical = false
		default:
			out.Canonical = out.Canonical && p.last < limit && p.follows(&before)
			s.AddRange(p.first, min(p.last, limit-1))
			before = p
		}
		start = end + 1
	}
	return out
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

// piece is one element of a list, "a" or "a-b".
type piece struct {
	first, last int32
	isRange     bool
	// plain is false when a number has leading zeros or a plus sign.
	plain bool
	// pair is true when the piece is the second of a run of two.
	pair bool
}

// follows reports whether AppendText would write p after the piece before it.
func (p *piece) follows(before *piece) bool {
	if !p.plain || p.first <= before.last || p.isRange && p.last-p.first < 2 {
		return false
	}
	if p.first != before.last+1 {
		return true
	}
	p.pair = true
	return !p.isRange && !before.isRange && !before.pair
}

// parsePiece reads "a" or "a-b" with a <= b. A plus sign is accepted, as in Kubernetes.
func parsePiece(text string) (p piece, ok bool) {
	first, rest, plain, ok := parseNumber(text)
	if !ok {
		return piece{}, false
	}
	p = piece{first: first, last: first, plain: plain}
	if rest == "" {
		return p, true
	}
	if rest[0] != '-' {
		return piece{}, false
	}
	if p.last, rest, plain, ok = parseNumber(rest[1:]); !ok || rest != "" || p.first > p.last {
		return piece{}, false
	}
	p.isRange = true
	p.plain = p.plain && plain
	return p, true
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
	for ; i < len(text) && '0' <= text[i] && text[i] <= '9'; i++ {
		v = v*10 + int64(text[i]-'0')
		if v > 1<<31-1 {
			return 0, "", false, false
		}
	}
	plain = start == 0 && (i == 1 || i > 0 && text[0] != '0')
	return int32(v), text[i:], plain, i > start
}

// AppendText appends the text form: increasing, comma separated, runs of three
// or more as "a-b", runs of two as "a,b" (J14).
func (s *Set) AppendText(dst []byte) []byte {
	start := len(dst)
	s.Ranges(func(first, last int32) bool {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(first), 10)
		if last > first {
			separator := byte('-')
			if last == first+1 {
				separator = ','
			}
			dst = append(dst, separator)
			dst = strconv.AppendInt(dst, int64(last), 10)
		}
		return true
	})
	return dst
}
