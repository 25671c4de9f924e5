package page

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
)

// shrink makes a compiled module smaller. The module does the same as before, but when it crashes, the
// stack names functions without their files and lines. shrink leaves what it does not know as it is.
func shrink(code []byte) []byte {
	before, data, after := cutData(code)
	memory := memoryOf(data)
	if memory == nil {
		return code
	}
	dropLines(memory)

	data = slices.Concat([]byte{1}, segment, []byte{0, segmentEnd}) // at address 0
	data = append(binary.AppendUvarint(data, uint64(len(memory))), memory...)
	return slices.Concat(before, binary.AppendUvarint(nil, uint64(len(data))), data, after)
}

// cutData returns the content of the section of a module that has its data, what is before its length,
// and what is after it.
func cutData(code []byte) (before, data, after []byte) {
	for at := 8; at < len(code); { // after the magic number and the version
		id := code[at]
		size, n := binary.Uvarint(code[at+1:])
		begin := at + 1 + n
		end := begin + int(size)
		if id == 11 {
			return code[:at+1], code[begin:end], code[end:]
		}
		at = end
	}
	return code, []byte{0}, nil
}

// segment is what a segment of data begins with: memory 0, i32.const. Then come its address,
// segmentEnd, the number of bytes, and the bytes.
var segment = []byte{0, 0x41}

const segmentEnd = 0x0b

// memoryOf returns the memory that the data of a module fills, from address 0. The linker leaves out any
// eight zeros, and writes 100,000 segments. Compressed, the zeros are smaller than these addresses.
func memoryOf(data []byte) (memory []byte) {
	count, n := binary.Uvarint(data)
	data = data[n:]
	for range count {
		at, n := binary.Uvarint(data[len(segment):]) // a signed number, but it is not negative
		body := data[len(segment)+n:]
		if !bytes.HasPrefix(data, segment) || body[0] != segmentEnd {
			return nil
		}
		size, n := binary.Uvarint(body[1:])
		body, data = body[1+n:][:size], body[1+n:][size:]

		end := int(at) + len(body)
		memory = append(memory, make([]byte, max(0, end-len(memory)))...)
		copy(memory[at:], body)
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
// what a debugger reads. For the runtime, steps that begin at 0 do not exist.
func dropLines(memory []byte) {
	table := memory[max(0, bytes.Index(memory, headerStart)):]
	if len(table) < headerSize {
		return
	}
	parts := []int{headerSize}
	for at := headerParts; at < headerSize; at += 8 {
		parts = append(parts, int(binary.LittleEndian.Uint64(table[at:])))
	}
	if !bytes.HasPrefix(table, headerStart) || !slices.IsSorted(append(parts, len(table))) {
		return
	}
	files, steps, list := table[parts[2]:parts[4]], table[parts[4]:parts[5]], table[parts[5]:]
	funcs := functionsOf(list, int(binary.LittleEndian.Uint64(table[headerCount:])))
	if funcs == nil {
		return
	}

	isNeeded := map[int]bool{len(steps): true} // by where steps begin
	for _, f := range funcs {
		for _, at := range []int{funcLines, funcLines + 4} {
			isNeeded[number(f, at)] = isNeeded[number(f, at)]
		}
		isNeeded[number(f, funcStack)] = true
		for i := range number(f, funcSteps) {
			isNeeded[number(f, funcSize+4*i)] = true
		}
		clear(f[funcLines:funcSteps])
		clear(f[funcUnit : funcUnit+8])
	}

	begins := slices.Sorted(maps.Keys(isNeeded))
	for i, begin := range begins {
		if !isNeeded[begin] {
			clear(steps[begin:begins[i+1]])
		}
	}
	clear(files)
}

// functionsOf returns the functions of a list. It returns none if one of them does not begin where the
// index says, right after the one before, because the list is of another version of Go then.
func functionsOf(list []byte, count int) (funcs [][]byte) {
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
