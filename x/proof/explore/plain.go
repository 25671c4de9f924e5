package explore

import (
	"fmt"
	"reflect"
	"unsafe"
)

// keyer returns a function that computes the keys of states from the bytes of their fields. The
// states must consist of their own bytes alone, without pointers. The function uses one buffer.
func keyer[S any]() func(*S) Key {
	fields := fieldsOf(nil, reflect.TypeFor[S](), 0)
	var buffer []byte
	return func(s *S) Key {
		all := bytesOf(unsafe.Slice(s, 1))
		buffer = buffer[:0]
		for _, f := range fields {
			buffer = append(buffer, all[f.from:f.to]...)
		}
		return KeyOf(buffer)
	}
}

// bytesOf returns the bytes of states, and of the gaps between their fields.
func bytesOf[S any](states []S) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(states))), uintptr(len(states))*unsafe.Sizeof(*new(S)))
}

// span is a part of a state's bytes. It ends before to.
type span struct{ from, to uintptr }

// fieldsOf adds the fields of a value, which begins at a place of the state. Fields without a gap
// between them are one span. The bytes in gaps differ between states that are the same.
func fieldsOf(fields []span, t reflect.Type, at uintptr) []span {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if last := len(fields) - 1; last >= 0 && fields[last].to == at {
			fields[last].to += t.Size()
		} else {
			fields = append(fields, span{at, at + t.Size()})
		}
	case reflect.Array:
		for i := range uintptr(t.Len()) {
			fields = fieldsOf(fields, t.Elem(), at+i*t.Elem().Size())
		}
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			fields = fieldsOf(fields, f.Type, at+f.Offset)
		}
	default:
		panic(fmt.Sprintf("explore: a state holds a %s, which is not made of its own bytes", t))
	}
	return fields
}
