package indexset

import "strconv"

// AddText adds the indexes of a list such as "1,3-5,7", those at limit and
// beyond left out, and returns the pieces that are no index and no interval: they
// add nothing (J14). The pieces need not be in order.
func (s *Set) AddText(text string, limit int32) (corrupt []string) {
	for start := 0; start <= len(text) && text != ""; {
		end := start
		for end < len(text) && text[end] != ',' {
			end++
		}
		first, last, ok := parsePiece(text[start:end])
		if !ok {
			corrupt = append(corrupt, text[start:end])
		} else if first < limit {
			s.AddRange(first, min(last, limit-1))
		}
		start = end + 1
	}
	return corrupt
}

// parsePiece reads "a" or "a-b" with a <= b.
func parsePiece(piece string) (first, last int32, ok bool) {
	first, rest, ok := parseNumber(piece)
	if !ok || rest == "" {
		return first, first, ok
	}
	if rest[0] != '-' {
		return 0, 0, false
	}
	last, rest, ok = parseNumber(rest[1:])
	return first, last, ok && rest == "" && first <= last
}

// parseNumber reads the digits at the start of text.
func parseNumber(text string) (n int32, rest string, ok bool) {
	var v int64
	i := 0
	for ; i < len(text) && '0' <= text[i] && text[i] <= '9'; i++ {
		v = v*10 + int64(text[i]-'0')
		if v > 1<<31-1 {
			return 0, "", false
		}
	}
	return int32(v), text[i:], i > 0
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

// Increasing reports whether the pieces of a list without corrupt pieces come in
// increasing order and do not overlap.
func Increasing(text string) bool {
	before := int32(-1)
	for start := 0; start < len(text); {
		end := start
		for end < len(text) && text[end] != ',' {
			end++
		}
		first, last, _ := parsePiece(text[start:end])
		if first <= before {
			return false
		}
		before, start = last, end+1
	}
	return true
}
