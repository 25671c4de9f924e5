package page

import (
	"bytes"
	"encoding/binary"
	"go/version"
	"slices"
)

// shrunkVersions are the versions of Go whose table of functions dropLines knows.
var shrunkVersions = []string{"go1.26"}

// shrink makes a compiled module smaller. The module does the same as before, but when it crashes, the
// stack names functions without their files and lines. shrink returns code unchanged if it does not know
// the version of Go that compiled it, or if a part of it is not as expected.
func shrink(code []byte) []byte {
	before, data, after := cutData(code)
	memory := memoryOf(data)
	if !slices.Contains(shrunkVersions, version.Lang(compilerOf(after))) || !dropLines(memory) {
		return code
	}

	data = slices.Concat([]byte{1}, segment, []byte{0, segmentEnd}) // at address 0
	data = append(binary.AppendUvarint(data, uint64(len(memory))), memory...)
	return slices.Concat(before, binary.AppendUvarint(nil, uint64(len(data))), data, after)
}

// Sections of a module. Its data may not be joined if it has the number of segments, because
// instructions may use single segments then.
const (
	moduleStart      = "\x00asm\x01\x00\x00\x00"
	sectionData      = 11
	sectionDataCount = 12
)

// cutData returns the content of the section of a module that has its data, what is before its length,
// and what is after it. It returns no data if a section is not whole.
func cutData(code []byte) (before, data, after []byte) {
	if !bytes.HasPrefix(code, []byte(moduleStart)) {
		return code, nil, nil
	}
	for rest := code[len(moduleStart):]; len(rest) > 0; {
		content, next, isWhole := cutSized(rest[1:])
		if !isWhole || rest[0] == sectionDataCount {
			return code, nil, nil
		}
		if rest[0] == sectionData {
			before, data, after = code[:len(code)-len(rest)+1], content, next
		}
		rest = next
	}
	return before, data, after
}

// cutSized returns the content that follows its length, and the rest.
func cutSized(data []byte) (content, rest []byte, isWhole bool) {
	size, n := binary.Uvarint(data)
	if n <= 0 || size > uint64(len(data)-n) {
		return nil, nil, false
	}
	return data[n:][:size], data[n:][size:], true
}

// compilerOf returns the version of Go that compiled a module. The linker writes it into the last section.
func compilerOf(after []byte) string {
	_, found, _ := bytes.Cut(after, []byte("\x0eGo cmd/compile"))
	name, _, _ := cutSized(found)
	return string(name)
}

// segment is what a segment of data begins with: memory 0, i32.const. Then come its address,
// segmentEnd, the number of bytes, and the bytes.
var segment = []byte{0, 0x41}

const (
	segmentEnd = 0x0b
	mostMemory = 1 << 28
)

// memoryOf returns the memory that the data of a module fills, from address 0. The linker leaves out any
// eight zeros, and writes 100,000 segments. Compressed, the zeros are smaller than these addresses.
// memoryOf returns none if a segment is not as the linker writes it.
func memoryOf(data []byte) (memory []byte) {
	count, n := binary.Uvarint(data)
	if n <= 0 {
		return nil
	}
	data = data[n:]

	for range count {
		if !bytes.HasPrefix(data, segment) {
			return nil
		}
		data = data[len(segment):]

		at, n := binary.Uvarint(data)
		if n <= 0 || data[n-1]&0x40 != 0 || at > mostMemory { // a signed number, but not a negative one
			return nil
		}
		data = data[n:]

		if len(data) == 0 || data[0] != segmentEnd {
			return nil
		}
		body, rest, isWhole := cutSized(data[1:])
		if !isWhole {
			return nil
		}
		data = rest

		end := int(at) + len(body)
		memory = append(memory, make([]byte, max(0, end-len(memory)))...)
		copy(memory[at:], body)
	}

	if len(data) > 0 {
		return nil
	}
	return memory
}

// The table of functions, as runtime/symtab.go and runtime/runtime2.go of Go describe it: a header,
// names of functions, files of units, names of files, steps, and functions. Steps say how a value
// changes along the code of a function, such as the line or the size of the stack.
var headerStart = []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}

const (
	headerCount = 8  // the number of functions
	headerParts = 32 // where each part begins
	headerSize  = 72

	funcStack = 16 // steps of the size of the stack
	funcLines = 20 // steps of the file, and of the line
	funcSteps = 28 // the number of other steps
	funcUnit  = 32 // the files of its unit, and its first line
	funcData  = 43 // the number of other data
	funcSize  = 44 // then come where the other steps begin, and where the other data are
)

// dropLines removes files and lines of functions from the memory of a Go program, as -s and -w remove
// what a debugger reads. For the runtime, steps that begin at 0 do not exist. dropLines reports whether
// the table is as expected, and changes nothing if it is not.
func dropLines(memory []byte) bool {
	table := memory[max(0, bytes.Index(memory, headerStart)):]
	if len(table) < headerSize {
		return false
	}
	parts := []int{headerSize}
	for at := headerParts; at < headerSize; at += 8 {
		parts = append(parts, int(binary.LittleEndian.Uint64(table[at:])))
	}
	if !bytes.HasPrefix(table, headerStart) || !slices.IsSorted(append(parts, len(table))) {
		return false
	}
	files, steps, list := table[parts[2]:parts[4]], table[parts[4]:parts[5]], table[parts[5]:]
	funcs := functionsOf(list, int(binary.LittleEndian.Uint64(table[headerCount:])))
	if funcs == nil {
		return false
	}

	lines, others := make(map[int]int), make(map[int]int) // the length of steps, by their begin
	for _, f := range funcs {
		isSteps := addSteps(lines, steps, f[funcLines:funcSteps]) && addSteps(others, steps, f[funcStack:funcLines])
		if !isSteps || !addSteps(others, steps, f[funcSize:][:4*number(f, funcSteps)]) {
			return false
		}
	}

	old := bytes.Clone(steps)
	for begin, length := range lines {
		clear(steps[begin:][:length])
	}
	for begin, length := range others { // which may be the same
		copy(steps[begin:][:length], old[begin:])
	}
	for _, f := range funcs {
		clear(f[funcLines:funcSteps])
		clear(f[funcUnit : funcUnit+8])
	}
	clear(files)
	return true
}

// addSteps adds the lengths of the steps that begin at the listed numbers. It reports whether there are
// steps at all of them.
func addSteps(lengths map[int]int, steps, begins []byte) bool {
	for at := 0; at < len(begins); at += 4 {
		begin := number(begins, at)
		if begin == 0 {
			continue
		}
		length := 0
		if begin < len(steps) {
			length = lengthOfSteps(steps[begin:])
		}
		if length == 0 {
			return false
		}
		lengths[begin] = length
	}
	return true
}

// lengthOfSteps returns the length of the steps that data begins with: pairs of numbers up to a zero,
// which no pair but the first may begin with. It returns 0 if data begins with no steps.
func lengthOfSteps(data []byte) int {
	const longest = 5 // bytes of a number
	for at := 0; at < len(data); {
		if at > 0 && data[at] == 0 {
			return at + 1
		}
		for range 2 {
			_, n := binary.Uvarint(data[at:])
			if n <= 0 || n > longest {
				return 0
			}
			at += n
		}
	}
	return 0
}

// functionsOf returns the functions of a list. It returns none if one of them does not begin where the
// index says, right after the one before, because the list is of another version of Go then.
func functionsOf(list []byte, count int) (funcs [][]byte) {
	if count < 0 || count > len(list)/8 {
		return nil
	}
	end := 8*count + 4 // of the index, which has two numbers for each function, and one at its end
	for i := range count {
		begin := (end + 7) / 8 * 8
		if begin+funcSize > len(list) {
			return nil
		}
		end = begin + funcSize + 4*number(list, begin+funcSteps) + 4*int(list[begin+funcData])
		isListed := number(list, 8*i) == number(list, begin) && number(list, 8*i+4) == begin
		if !isListed || end > len(list) {
			return nil
		}
		funcs = append(funcs, list[begin:end])
	}
	return funcs
}

func number(data []byte, at int) int { return int(binary.LittleEndian.Uint32(data[at:])) }
