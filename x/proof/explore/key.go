package explore

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
)

// Key is the hash of a state.
type Key struct{ hi, lo uint64 }

// Odd constants without a pattern in their bits.
const (
	oddA = 0x9e3779b97f4a7c15
	oddB = 0xd1b54a32d192ed03
	oddC = 0x8cb92ba72f3d8dd7
)

// KeyOf hashes the bytes of a state. Both halves of the hash take in each word by invertible steps,
// so texts that differ in one word never have the same hash.
func KeyOf(data []byte) Key {
	hi, lo := oddA^uint64(len(data)), uint64(oddB)
	for ; len(data) >= 8; data = data[8:] {
		word := binary.LittleEndian.Uint64(data)
		hi, lo = mix(hi^word, oddC), mix(lo^bits.RotateLeft64(word, 32), oddA)
	}
	var rest [8]byte
	copy(rest[:], data)
	word := binary.LittleEndian.Uint64(rest[:])
	hi, lo = mix(hi^word, oddC), mix(lo^bits.RotateLeft64(word, 32), oddA)
	hi += bits.RotateLeft64(lo, 17)
	lo += bits.RotateLeft64(hi, 41)
	return Key{mix(mix(hi, oddB), oddA), mix(mix(lo, oddC), oddB)}
}

// Short returns 48 bits of the hash, never 0.
func (k Key) Short() uint64 { return k.hi>>16 | 1 }

func mix(x, odd uint64) uint64 {
	x *= odd
	return x ^ x>>29 ^ x>>57
}

// Text returns a value as JSON, for the keys of [Interned].
func Text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}
