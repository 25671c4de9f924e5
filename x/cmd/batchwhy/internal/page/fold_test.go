package page

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFold(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	var pieces []byte
	for range 1000 {
		from := r.IntN(len(noise) - 100)
		pieces = append(pieces, noise[from:from+r.IntN(100)]...)
	}

	for _, c := range []struct {
		name string
		data []byte
		// least and most are the bounds of the size of the folded data, in bytes.
		least, most int
	}{
		{"nothing", nil, 2, 2},
		{"one byte", []byte{1}, 3, 3},
		{"a repetition that is too short", slices.Concat(noise[:27], []byte{1}, noise[:27]), 57, 57},
		{"the shortest repetition", slices.Concat(noise[:28], []byte{1}, noise[:28]), 28, 34},
		{"no repetition", noise, len(noise), len(noise) + 4},
		{"a repetition from far back", slices.Concat(noise, noise), len(noise), len(noise) + 16},
		{"a repetition of itself", make([]byte, 1000), 3, 50},
		{"many pieces", slices.Concat(noise, pieces), len(noise), len(noise) + 20_000},
	} {
		folded := fold(c.data)
		if len(folded) < c.least || len(folded) > c.most {
			t.Errorf("%s: %d bytes, want %d to %d", c.name, len(folded), c.least, c.most)
		}
		if !bytes.Equal(unfold(folded), c.data) {
			t.Errorf("%s: other bytes when unfolded", c.name)
		}
	}
}

// unfold is the inverse of fold. The page has the same function in app.js.
func unfold(folded []byte) (data []byte) {
	next := func(from *[]byte) int {
		n, size := binary.Uvarint(*from)
		*from = (*from)[size:]
		return int(n)
	}
	next(&folded) // the length of the data
	var steps [3][]int
	count := next(&folded)
	for i := range steps {
		for range count {
			steps[i] = append(steps[i], next(&folded))
		}
	}

	for i, n := range steps[0] {
		data, folded = append(data, folded[:n]...), folded[n:]
		for range steps[1][i] {
			data = append(data, data[len(data)-steps[2][i]])
		}
	}
	return append(data, folded...)
}
