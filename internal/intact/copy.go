package intact

import (
	"fmt"
	"reflect"
	"slices"
	"time"
	"unsafe"
)

// room is the spare capacity of each slice of a copy, where an append writes.
const room = 2

// Copy copies a value deeply, with its unexported fields. Every slice of the copy that other
// packages can reach has zeros in its spare capacity.
func Copy[T any](v T) T {
	out := v
	(&copier{}).copy(reflect.ValueOf(&out).Elem(), room)
	return out
}

// variable returns a variable that holds a copy of v.
func variable(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	(&copier{}).copy(out, room)
	return out
}

// copier remembers the copy of each pointer, so that copying a cycle ends.
type copier struct {
	known map[unsafe.Pointer]reflect.Value
}

// copy replaces everything that an addressable value refers to by copies.
func (c *copier) copy(v reflect.Value, room int) {
	if v = open(v); isPlain(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() || field.Anonymous {
				c.copy(v.Field(i), room)
			} else {
				c.copy(v.Field(i), 0)
			}
		}

	case reflect.Array:
		for i := range v.Len() {
			c.copy(v.Index(i), room)
		}

	case reflect.Slice:
		if v.IsNil() {
			return
		}
		// In an unexported field, where room is 0, a slice gets spare capacity only if it had some.
		s := reflect.MakeSlice(v.Type(), v.Len(), max(v.Len()+room, min(v.Cap(), v.Len()+1)))
		reflect.Copy(s, v)
		for i := range s.Len() {
			c.copy(s.Index(i), room)
		}
		v.Set(s)

	case reflect.Map:
		if v.IsNil() {
			return
		}
		m := reflect.MakeMap(v.Type())
		for key, e := range v.Seq2() {
			next := addressable(e)
			c.copy(next, room)
			m.SetMapIndex(key, next)
		}
		v.Set(m)

	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		p, ok := c.known[v.UnsafePointer()]
		if !ok || p.Type() != v.Type() {
			p = reflect.New(v.Type().Elem())
			if c.known == nil {
				c.known = map[unsafe.Pointer]reflect.Value{}
			}
			c.known[v.UnsafePointer()] = p
			p.Elem().Set(v.Elem())
			c.copy(p.Elem(), room)
		}
		v.Set(p.Convert(v.Type()))

	case reflect.Interface:
		if !v.IsNil() {
			next := addressable(v.Elem())
			c.copy(next, room)
			v.Set(next)
		}
	}
}

// Diff returns the path to the first difference between a value and its earlier state, or "". Nil
// differs from empty.
func Diff(is, was any) string {
	return diff(addressable(reflect.ValueOf(is)), addressable(reflect.ValueOf(was)), false, 0)
}

// Written is like [Diff], but also finds writes to the spare capacity of slices of a [Copy].
func Written(is, was any) string {
	return diff(addressable(reflect.ValueOf(is)), addressable(reflect.ValueOf(was)), true, 0)
}

// diff compares two addressable values. If spare is true, spare capacity of slices must be zero.
func diff(is, was reflect.Value, spare bool, depth int) string {
	if is.IsValid() != was.IsValid() || is.IsValid() && is.Type() != was.Type() {
		return fmt.Sprintf(": %v, was %v", is, was)
	}
	if !is.IsValid() || depth > 50 {
		return ""
	}
	is, was = open(is), open(was)

	var nilable bool
	switch is.Kind() {
	case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface:
		nilable = true
	}
	switch {
	case is.Type() == reflect.TypeFor[*time.Location](): // each lookup of a name returns another pointer
		if a, b := is.Interface().(*time.Location).String(), was.Interface().(*time.Location).String(); a != b {
			return fmt.Sprintf(": %v, was %v", a, b)
		}
		return ""
	case isPlain(is.Type()) && is.Kind() != reflect.Struct && is.Kind() != reflect.Array:
		if a, b := is.Interface(), was.Interface(); is.Comparable() && a != b {
			return fmt.Sprintf(": %v, was %v", a, b)
		}
		return ""
	case nilable && is.IsNil() != was.IsNil():
		return fmt.Sprintf(": nil is %t, was %t", is.IsNil(), was.IsNil())
	case nilable && is.IsNil():
		return ""
	}

	switch is.Kind() {
	case reflect.Struct:
		for i := range is.NumField() {
			if d := diff(is.Field(i), was.Field(i), spare, depth+1); d != "" {
				return "." + is.Type().Field(i).Name + d
			}
		}

	case reflect.Slice, reflect.Array:
		if is.Len() != was.Len() {
			return fmt.Sprintf(": %d elements, were %d", is.Len(), was.Len())
		}
		for i := range is.Len() {
			if d := diff(is.Index(i), was.Index(i), spare, depth+1); d != "" {
				return fmt.Sprintf("[%d]%s", i, d)
			}
		}
		if spare && is.Kind() == reflect.Slice {
			behind := is.Slice(is.Len(), is.Cap())
			for i := range behind.Len() {
				if !behind.Index(i).IsZero() {
					return fmt.Sprintf(": written to behind its %d elements", is.Len())
				}
			}
		}

	case reflect.Map:
		if is.Len() != was.Len() {
			return fmt.Sprintf(": %d keys, were %d", is.Len(), was.Len())
		}
		for key, e := range was.Seq2() {
			other := is.MapIndex(key)
			if !other.IsValid() {
				return fmt.Sprintf("[%v]: is gone", key)
			}
			if d := diff(addressable(other), addressable(e), spare, depth+1); d != "" {
				return fmt.Sprintf("[%v]%s", key, d)
			}
		}

	case reflect.Pointer:
		if is.UnsafePointer() != was.UnsafePointer() {
			return diff(is.Elem(), was.Elem(), spare, depth+1)
		}

	case reflect.Interface:
		return diff(addressable(is.Elem()), addressable(was.Elem()), spare, depth+1)
	}
	return ""
}

// Scribble overwrites everything that the owner of a value can reach through it: elements, spare
// capacity, keys, and exported fields.
func Scribble(v any) { scribble(addressable(reflect.ValueOf(v)), false, map[unsafe.Pointer]bool{}) }

// ScribbleAll is Scribble for unexported fields as well, except those of the given types.
func ScribbleAll(v any, except ...reflect.Type) {
	s := scribbler{closed: true, except: except, seen: map[unsafe.Pointer]bool{}}
	s.scribble(addressable(reflect.ValueOf(v)), false)
}

// scribble overwrites an addressable value. If behind is true, it overwrites only the spare
// capacity of the value's slices.
func scribble(v reflect.Value, behind bool, seen map[unsafe.Pointer]bool) {
	(&scribbler{seen: seen}).scribble(v, behind)
}

type scribbler struct {
	closed bool
	except []reflect.Type
	seen   map[unsafe.Pointer]bool
}

func (s *scribbler) scribble(v reflect.Value, behind bool) {
	if !v.IsValid() {
		return
	}
	if v.Type() == reflect.TypeFor[time.Time]() {
		if !behind {
			v.Set(reflect.ValueOf(time.Unix(1, 2)))
		}
		return
	}
	if behind && isPlain(v.Type()) {
		return
	}

	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(v.Int() ^ 1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(v.Uint() ^ 1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.String:
		v.SetString(v.String() + "?")

	case reflect.Struct:
		for i := range v.NumField() {
			switch {
			case v.Type().Field(i).IsExported():
				s.scribble(v.Field(i), behind)
			case s.closed && !slices.Contains(s.except, v.Type()):
				s.scribble(open(v.Field(i)), behind)
			}
		}

	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			s.scribble(v.Index(i), behind)
		}
		if v.Kind() == reflect.Slice {
			spare := v.Slice(v.Len(), v.Cap())
			for i := range spare.Len() {
				s.scribble(spare.Index(i), false)
			}
		}

	case reflect.Map:
		if v.IsNil() || behind {
			return
		}
		for _, key := range v.MapKeys() {
			next := addressable(v.MapIndex(key))
			s.scribble(next, behind)
			v.SetMapIndex(key, next)
		}
		another := reflect.New(v.Type().Key()).Elem()
		s.scribble(another, behind)
		v.SetMapIndex(another, reflect.New(v.Type().Elem()).Elem())

	case reflect.Pointer:
		if !v.IsNil() && !isPlain(v.Type()) && !s.seen[v.UnsafePointer()] {
			s.seen[v.UnsafePointer()] = true
			s.scribble(v.Elem(), behind)
		}

	case reflect.Interface:
		if !v.IsNil() {
			s.scribble(addressable(v.Elem()), behind)
		}
	}
}

// isPlain reports whether assigning a value of that type copies all of it, or all that can change.
func isPlain(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[*time.Location]():
		return true
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if !isPlain(t.Field(i).Type) {
				return false
			}
		}
		return true
	case reflect.Array:
		return isPlain(t.Elem())
	case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface:
		return false
	}
	return true
}

// open makes an unexported field of an addressable struct accessible.
func open(v reflect.Value) reflect.Value {
	if v.CanInterface() || !v.CanAddr() {
		return v
	}
	return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
}

// addressable returns a variable that holds v.
func addressable(v reflect.Value) reflect.Value {
	if !v.IsValid() || v.CanAddr() {
		return v
	}
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	return out
}
