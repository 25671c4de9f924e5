package page

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"
)

func TestShortenReturns(t *testing.T) {
	at := func(address int64) []byte { return appendSigned(slices.Clone(beforeReturn), address) }
	long := []byte{0x24, 0, 0x20, 1, 0x42, 0x81, 0x00} // 1 in two bytes, which no compiler writes
	for _, c := range []struct {
		name string
		code []byte
		size int // of the result
	}{
		{"nothing", nil, 1},
		{"no call", []byte{1, 2, 3}, 4},
		{"one call", at(5), 7},
		{"the last number of one byte", at(63), 7},
		{"a byte for the sign", at(64), 8},
		{"two calls", slices.Concat(at(1<<28), at(1<<28+2), []byte{9}), 1 + 10 + 6 + 1},
		{"a call after one with a large number", slices.Concat(at(1<<49), at(70)), 1 + 13 + 13},
		{"the same address again", slices.Concat(at(100), at(100)), 1 + 7 + 8},
		{"an address before the last one", slices.Concat(at(1<<14), at(1<<14-50)), 1 + 8 + 6},
		{"a negative number", append(slices.Clone(beforeReturn), 0x7f), 8},
		{"the largest number", at(1<<50 - 1), 1 + 5 + 8},
		{"a number that is too large", at(1 << 50), 1 + 5 + 1 + 8},
		{"a number with a byte too many", long, 9},
		{"an end in the middle of a number", append(slices.Clone(beforeReturn), 0x80), 8},
		{"an end before the number", beforeReturn, 7},
		{"an address that ends as a call begins", append(at(0x24), 0, 0x20, 1, 0x42, 1), 12},
		{"the beginning of a call", beforeReturn[:4], 5},
	} {
		short := shortenReturns(c.code)
		if len(short) != c.size {
			t.Errorf("%s: %d bytes, want %d", c.name, len(short), c.size)
		}
		if got := restoreReturns(short); !bytes.Equal(got, c.code) {
			t.Errorf("%s: % x when restored, want % x", c.name, got, c.code)
		}
	}
}

// restoreReturns is the inverse of shortenReturns. The page has the same function in app.js.
func restoreReturns(short []byte) (code []byte) {
	_, n := binary.Uvarint(short)
	short = short[n:]
	last, plain := int64(0), 0
	for len(short) > 0 {
		code, short = append(code, short[0]), short[1:]
		if !bytes.HasSuffix(code[plain:], beforeReturn) {
			continue
		}
		distance, n := binary.Varint(short)
		short = short[n:]
		if distance != 0 {
			last += distance
			code = appendSigned(code, last)
		}
		plain = len(code)
	}
	return code
}
