package page

import (
	"bytes"
	"context"
	"encoding/binary"
	"go/version"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

var compiled = sync.OnceValues(func() ([]byte, error) { return compile(context.Background(), "") })

// moduleOf returns the page's module, compiled.
func moduleOf(t *testing.T) []byte {
	t.Helper()
	code, err := compiled()
	must.OK(t, err)
	if lang := version.Lang(runtime.Version()); !slices.Contains(shrunkVersions, lang) {
		t.Fatalf("shrink knows %q: see whether runtime/symtab.go and runtime/runtime2.go of %s have the same table, "+
			"and add it", shrunkVersions, lang)
	}
	return bytes.Clone(code)
}

// TestShrink: the lines of all functions are gone from the page's module, and every other byte stays as
// it is, such as the steps that the garbage collector reads.
func TestShrink(t *testing.T) {
	code := moduleOf(t)
	small := shrink(code)
	before, data, after := cutData(code)
	smallBefore, smallData, smallAfter := cutData(small)
	if !bytes.Equal(before, smallBefore) || !bytes.Equal(after, smallAfter) {
		t.Error("a section besides the data has changed")
	}

	want := memoryOf(data)
	table := want[bytes.Index(want, headerStart):]
	part := func(i int) int { return number(table, headerParts+8*i) }
	steps := table[part(3):part(4)]
	funcs := functionsOf(table[part(4):], number(table, headerCount))
	if len(funcs) < 1000 {
		t.Fatalf("%d functions", len(funcs))
	}
	isLine, isNeeded := make([]bool, len(steps)), make([]bool, len(steps))
	mark := func(marks []bool, begin int) {
		if begin != 0 {
			for i := range stepsOf(steps[begin:]) {
				marks[begin+i] = true
			}
		}
	}
	for _, f := range funcs {
		mark(isNeeded, number(f, 16))
		mark(isLine, number(f, 20))
		mark(isLine, number(f, 24))
		for i := range number(f, 28) {
			mark(isNeeded, number(f, 44+4*i))
		}
		clear(f[20:28]) // where steps of files and lines begin
		clear(f[32:40]) // the files of the unit, and the first line
	}
	gone := 0
	for i := range steps {
		if isLine[i] && !isNeeded[i] {
			gone++
			steps[i] = 0
		}
	}
	if gone < len(steps)/4 {
		t.Errorf("%d of %d bytes of steps are lines", gone, len(steps))
	}
	clear(table[part(1):part(3)])

	got := memoryOf(smallData)
	if len(got) != len(want) {
		t.Fatalf("%d bytes, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("byte %d is %d, want %d", i, got[i], want[i])
		}
	}
}

// TestShrink_Unknown: a module that shrink does not know stays as it is.
func TestShrink_Unknown(t *testing.T) {
	code := moduleOf(t)
	before, data, after := cutData(code)
	compiler := len(code) - len(compilerOf(after))
	sections := len(moduleStart)
	for _, c := range []struct {
		name string
		code []byte
	}{
		{"nothing", nil},
		{"no module", slices.Concat([]byte{1}, code[1:])},
		{"an earlier version of Go", slices.Concat(code[:compiler], []byte("go1.25"), code[compiler+6:])},
		{"a later version of Go", slices.Concat(code[:compiler], []byte("go1.27"), code[compiler+6:])},
		{"no version of Go", slices.Concat(code[:compiler], []byte("go1.2x"), code[compiler+6:])},
		{"a number of segments", slices.Concat(code[:sections], []byte{sectionDataCount, 1, 1}, code[sections:])},
		{"a section without an end", slices.Concat(code[:sections], []byte{0, 0x80}, bytes.Repeat([]byte{0x80}, 20))},
		{"a section that is too long", slices.Concat(code[:sections],
			append(binary.AppendUvarint([]byte{0}, 1<<64-12), code[sections:]...))},
		{"data without segments", slices.Concat(before, []byte{0}, after)},
		{"data that go on after the segments", slices.Concat(before,
			append(binary.AppendUvarint(nil, uint64(len(data)+1)), data...), []byte{0}, after)},
	} {
		if !bytes.Equal(shrink(c.code), c.code) {
			t.Errorf("%s: the module has changed", c.name)
		}
	}
}

// TestShrink_Truncated: a module that ends early stays as it is, and so does its table of functions.
func TestShrink_Truncated(t *testing.T) {
	code := moduleOf(t)
	before, data, after := cutData(code)
	cuts := []int{len(before) - 1, len(before), len(before) + 1, len(code) - len(after), len(code) - 1}
	for i := range 200 {
		cuts = append(cuts, i, i*(len(code)/200))
	}
	for _, n := range cuts {
		if !bytes.Equal(shrink(code[:n:n]), code[:n]) {
			t.Errorf("the module has changed that ends at %d of %d", n, len(code))
		}
	}

	for i := range 60 {
		for _, n := range []int{i, i * (len(data) / 60), len(data) - 1 - i} {
			if memoryOf(data[:n:n]) != nil {
				t.Errorf("data that end at %d of %d have a memory", n, len(data))
			}
		}
	}

	memory := memoryOf(data)
	begin, list, funcs := tableOf(memory)
	last := funcs[len(funcs)-1]
	end := list + number(memory, list+8*(len(funcs)-1)+4) + len(last)
	for i := range 60 {
		for _, n := range []int{begin + i, begin + i*((end-begin)/60), list + i, end - 1 - i} {
			cut := bytes.Clone(memory[:n])
			if dropLines(cut[:n:n]) || !bytes.Equal(cut, memory[:n]) {
				t.Errorf("the table from %d to %d has changed that ends at %d", begin, end, n)
			}
		}
	}
}

// TestShrink_OtherTable: a table that is not as expected stays as it is.
func TestShrink_OtherTable(t *testing.T) {
	_, data, _ := cutData(moduleOf(t))
	memory := memoryOf(data)
	at, list, funcs := tableOf(memory)
	first := list + number(memory, list+4)
	last := list + number(memory, list+8*(len(funcs)-1)+4)
	for _, c := range []struct {
		name string
		at   int
	}{
		{"another magic number", at},
		{"a part that begins before the one before it", at + headerParts + 8 + 3},
		{"a function more", at + headerCount},
		{"too many functions", at + headerCount + 6},
		{"a number of functions that is negative", at + headerCount + 7},
		{"a function that begins elsewhere", list + 4},
		{"a function of other code", first},
		{"more steps", first + funcSteps},
		{"more data", first + funcData},
		{"a function that is too long", first + funcSteps + 3},
		{"a stack outside the steps", last + funcStack + 3},
		{"files outside the steps", last + funcLines + 3},
		{"lines outside the steps", last + funcLines + 4 + 3},
		{"other steps outside the steps", last + funcSize + 3},
	} {
		changed := bytes.Clone(memory)
		changed[c.at] += 2
		if c.at == at+headerCount+7 {
			changed[c.at] = 0x80
		}
		want := bytes.Clone(changed)
		if dropLines(changed) || !bytes.Equal(changed, want) {
			t.Errorf("%s: the table has changed", c.name)
		}
	}
}

// tableOf returns where the table of functions begins in a memory, where its list does, and the functions.
func tableOf(memory []byte) (at, list int, funcs [][]byte) {
	at = bytes.Index(memory, headerStart)
	list = at + number(memory, at+headerParts+4*8)
	return at, list, functionsOf(memory[list:], number(memory, at+headerCount))
}

func TestLengthOfSteps(t *testing.T) {
	for _, c := range []struct {
		name string
		data []byte
		want int
	}{
		{"none", nil, 0},
		{"one pair", []byte{2, 1, 0, 9}, 3},
		{"a first value that does not change", []byte{0, 1, 2, 1, 0, 9}, 5},
		{"long numbers", []byte{0x82, 1, 0x81, 0x80, 1, 0}, 6},
		{"no end", []byte{2, 1}, 0},
		{"half a pair", []byte{2}, 0},
		{"a number without an end", []byte{2, 0x81}, 0},
		{"a number that is too long", []byte{2, 0x81, 0x81, 0x81, 0x81, 0x81, 1, 0}, 0},
	} {
		if got := lengthOfSteps(c.data); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
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
		{"an address that is negative", [][]byte{segment(0x7f, 9)}, nil},
		{"an address that is too large", [][]byte{{0, 0x41, 0x81, 0x80, 0x80, 0x80, 1, 0x0b, 1, 9}}, nil},
		{"an address without an end", [][]byte{{0, 0x41, 0x80, 0x80}}, nil},
		{"a segment that is too long", [][]byte{{0, 0x41, 5, 0x0b, 2, 9}}, nil},
		{"an address that is a sum", [][]byte{{0, 0x41, 5, 0x41, 5, 0x6a, 0x0b, 1, 9}}, nil},
	} {
		data := append([]byte{byte(len(c.data))}, bytes.Join(c.data, nil)...)
		if memory := memoryOf(data); !bytes.Equal(memory, c.memory) {
			t.Errorf("%s: % x, want % x", c.name, memory, c.memory)
		}
	}
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
