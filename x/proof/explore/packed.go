package explore

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"reflect"
	"unsafe"
)

// packer compresses chunks of states that wait to be expanded. States that are found one after the
// other are much alike: they shrink to about a tenth.
type packer[S any] struct {
	out bytes.Buffer
	w   *flate.Writer
	in  bytes.Reader
	r   io.Reader
}

func newPacker[S any]() *packer[S] {
	if t := reflect.TypeFor[S](); !isPlain(t) {
		panic(fmt.Sprintf("explore: a state of type %s holds pointers", t))
	}
	p := &packer[S]{}
	p.w, _ = flate.NewWriter(&p.out, flate.BestSpeed) // the level is valid
	p.r = flate.NewReader(&p.in)
	return p
}

// isPlain reports whether a value consists of its own bytes alone, without pointers.
func isPlain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	case reflect.Array:
		return isPlain(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !isPlain(t.Field(i).Type) {
				return false
			}
		}
		return true
	}
	return false
}

// bytesOf returns the bytes of states, which must be plain.
func bytesOf[S any](states []S) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(states))), uintptr(len(states))*unsafe.Sizeof(*new(S)))
}

// pack returns the states in a form that takes less memory.
func (p *packer[S]) pack(states []S) []byte {
	p.out.Reset()
	p.w.Reset(&p.out)
	_, err := p.w.Write(bytesOf(states))
	if err == nil {
		err = p.w.Close()
	}
	if err != nil {
		panic(err) // a buffer takes everything
	}
	return bytes.Clone(p.out.Bytes())
}

// unpack reads n states into a buffer, which has room for them.
func (p *packer[S]) unpack(packed []byte, buffer []S, n int) []S {
	p.in.Reset(packed)
	err := p.r.(flate.Resetter).Reset(&p.in, nil)
	if err == nil {
		_, err = io.ReadFull(p.r, bytesOf(buffer[:n]))
	}
	if err != nil {
		panic(err) // pack has written it
	}
	return buffer[:n]
}
