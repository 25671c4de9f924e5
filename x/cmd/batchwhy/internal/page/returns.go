package page

import (
	"bytes"
	"encoding/binary"
)

// beforeReturn is the code before each return address, which a Go function writes before it calls
// another one: global.set 0, local.get 1, i64.const.
var beforeReturn = []byte{0x24, 0, 0x20, 1, 0x42}

// shortenReturns replaces each return address in a module by its distance from the last one. The
// addresses of a function differ by a little, so the distances are short and repeat themselves. Without
// this, no two calls of a module have the same bytes, and the compressed module is 8 % larger.
//
// The result begins with the length of the code. After each beforeReturn comes the distance, a signed
// varint, or 0 if the address stays as it is, because it is the last one again or is none that Go writes.
func shortenReturns(code []byte) []byte {
	out := binary.AppendUvarint(nil, uint64(len(code)))
	last := int64(0)
	for {
		at := bytes.Index(code, beforeReturn)
		if at < 0 {
			return append(out, code...)
		}
		at += len(beforeReturn)
		out, code = append(out, code[:at]...), code[at:]

		number, n := binary.Uvarint(code)
		address := int64(number)
		isUsual := n > 0 && number < 1<<50 && address != last // a number in JavaScript has 53 bits
		if !isUsual || !bytes.HasPrefix(code, appendSigned(nil, address)) {
			out = append(out, 0)
			continue
		}
		out = binary.AppendVarint(out, address-last)
		last, code = address, code[n:]
	}
}

// appendSigned appends a number that is not negative as a signed number of WebAssembly, whose last byte
// has a bit for the sign.
func appendSigned(to []byte, n int64) []byte {
	for ; n >= 64; n >>= 7 {
		to = append(to, byte(n)|0x80)
	}
	return append(to, byte(n))
}
