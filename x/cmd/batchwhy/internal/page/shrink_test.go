package page

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

// TestShrink: every byte of the page's module stays in its place, and so do all steps that the garbage
// collector reads. Only the lines are gone.
func TestShrink(t *testing.T) {
	code, err := compile(t.Context(), "")
	must.OK(t, err)
	before, after := memoryOfModule(code), memoryOfModule(shrink(code))
	if len(before) != len(after) {
		t.Fatalf("%d bytes, want %d", len(after), len(before))
	}
	for i := range before {
		if after[i] != before[i] && after[i] != 0 {
			t.Fatalf("byte %d is %d, was %d", i, after[i], before[i])
		}
	}

	table, small := before[bytes.Index(before, headerStart):], after[bytes.Index(after, headerStart):]
	part := func(i int) int { return number(table, headerParts+8*i) }
	for _, f := range functionsOf(table[part(4):], number(table, headerCount)) {
		begins := []int{number(f, funcStack)}
		for i := range number(f, funcSteps) {
			begins = append(begins, number(f, funcSize+4*i))
		}
		for _, begin := range begins {
			want := stepsOf(table[part(3)+begin:])
			if got := small[part(3)+begin:][:len(want)]; begin != 0 && !bytes.Equal(got, want) {
				t.Fatalf("steps at %d: % x, want % x", begin, got, want)
			}
		}
	}
	for _, f := range functionsOf(small[part(4):], number(table, headerCount)) {
		if number(f, funcLines) != 0 || number(f, funcLines+4) != 0 {
			t.Fatalf("lines of a function: % x", f)
		}
	}
}

// TestShrink_OtherVersion: a table that is not as expected stays as it is.
func TestShrink_OtherVersion(t *testing.T) {
	code, err := compile(t.Context(), "")
	must.OK(t, err)
	memory := memoryOfModule(code)
	at := bytes.Index(memory, headerStart)
	list := at + number(memory, at+headerParts+4*8)
	first := list + number(memory, list+4)
	for _, c := range []struct {
		name string
		at   int
	}{
		{"another magic number", at},
		{"a part that begins before the one before it", at + headerParts + 8 + 3},
		{"a function more", at + headerCount},
		{"a function that begins elsewhere", list + 4},
		{"a function of other code", first},
		{"more steps", first + funcSteps},
		{"more data", first + funcData},
		{"a function that is too long", first + funcSteps + 3},
	} {
		changed := bytes.Clone(memory)
		changed[c.at] += 2
		want := bytes.Clone(changed)
		if dropLines(changed); !bytes.Equal(changed, want) {
			t.Errorf("%s: the table has changed", c.name)
		}
	}
	dropLines(memory[:at+headerSize-1])
}

func TestMemoryOf(t *testing.T) {
	segment := func(address byte, data ...byte) []byte {
		return append([]byte{0, 0x41, address, 0x0b, byte(len(data))}, data...)
	}
	for _, c := range []struct {
		name   string
		data   [][]byte
		memory []byte
	}{
		{"none", nil, nil},
		{"one", [][]byte{segment(2, 1, 2)}, []byte{0, 0, 1, 2}},
		{"one after another", [][]byte{segment(0, 1, 2), segment(2, 3)}, []byte{1, 2, 3}},
		{"a gap", [][]byte{segment(0, 1, 2), segment(5, 3)}, []byte{1, 2, 0, 0, 0, 3}},
		{"one before another", [][]byte{segment(3, 1, 2), segment(1, 3)}, []byte{0, 3, 0, 1, 2}},
		{"no address", [][]byte{{1, 1, 9}}, nil},
		{"an address that the page passes", [][]byte{{0, 0x23, 0, 0x0b, 1, 9}}, nil},
		{"an address that is a sum", [][]byte{{0, 0x41, 5, 0x41, 5, 0x6a, 0x0b, 1, 9}}, nil},
	} {
		data := append([]byte{byte(len(c.data))}, bytes.Join(c.data, nil)...)
		if memory := memoryOf(data); !bytes.Equal(memory, c.memory) {
			t.Errorf("%s: % x, want % x", c.name, memory, c.memory)
		}
	}
}

func memoryOfModule(code []byte) []byte {
	_, data, _ := cutData(code)
	return memoryOf(data)
}

// stepsOf returns the steps that data begins with: pairs of varints up to a zero, which no pair but
// the first may begin with.
func stepsOf(data []byte) []byte {
	end := 0
	for i := 0; i%2 == 1 || i == 0 || data[end] != 0; i++ {
		_, n := binary.Uvarint(data[end:])
		end += n
	}
	return data[:end+1]
}
