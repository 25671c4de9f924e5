package page

import (
	"encoding/binary"
	"slices"
)

const (
	leastFold  = 28      // bytes; the shortest repetition that fold replaces
	foldFactor = 1000003 // of the rolling hash
	foldBits   = 22      // of an entry in the table of hashes
)

// fold replaces repetitions at any distance, so that gzip, which looks back only 32 KiB, has less
// to compress. To run gzip twice instead would save less, because the output of gzip depends on how
// bits are aligned.
//
// The result begins with the length of the data and the number of steps. Then come the steps, and
// then all bytes that are not repetitions. A step is three numbers: how many of these bytes come
// next, how many repeated bytes follow them, and how far back the repeated bytes begin. The first
// numbers of all steps come first, then the second and the third ones, because gzip compresses
// similar numbers better side by side. Numbers are varints.
func fold(data []byte) []byte {
	var plain []byte
	var steps [3][]byte
	count := uint64(0)
	last := make([]int32, 1<<foldBits) // where each hash was seen last, plus 1
	oldest := uint32(1)                // the factor of the byte that leaves the hash
	for range leastFold {
		oldest *= foldFactor
	}

	var hash uint32
	begin := 0 // where the bytes begin that are in no step yet
	for i, b := range data {
		hash = hash*foldFactor + uint32(b)
		if i < leastFold-1 {
			continue
		}
		if i >= leastFold {
			hash -= oldest * uint32(data[i-leastFold])
		}
		at := i - leastFold + 1
		slot := &last[hash*2654435769>>(32-foldBits)]
		from := int(*slot) - 1
		*slot = int32(at + 1)
		if at < begin || from < 0 {
			continue
		}

		back := commonSuffix(data[:from], data[begin:at])
		n := commonPrefix(data[from:], data[at:])
		if n < leastFold {
			continue // another text with the same hash
		}
		plain = append(plain, data[begin:at-back]...)
		for i, number := range []int{at - back - begin, back + n, at - from} {
			steps[i] = binary.AppendUvarint(steps[i], uint64(number))
		}
		count++
		begin = at + n
	}
	plain = append(plain, data[begin:]...)

	head := binary.AppendUvarint(nil, uint64(len(data)))
	head = binary.AppendUvarint(head, count)
	return slices.Concat(head, steps[0], steps[1], steps[2], plain)
}

// commonPrefix returns the number of bytes that both begin with.
func commonPrefix(a, b []byte) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// commonSuffix returns the number of bytes that both end with.
func commonSuffix(a, b []byte) (n int) {
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
