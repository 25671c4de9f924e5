// Package value has the small functions on values that the planners share: pointers that
// may be nil, lists that may be short, and the texts of values.
package value

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Of returns what p points to, or the zero value if it is nil.
func Of[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// To returns a pointer to a variable that holds v.
func To[T any](v T) *T { return &v }

// Clone returns a pointer to a copy of what p points to, or nil.
func Clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return To(*p)
}

// At returns the i-th element of a list, or the zero value if the list is shorter.
func At[T any](list []T, i int) (v T) {
	if i < len(list) {
		v = list[i]
	}
	return v
}

// Text returns a value as errors and notes show it. Strings are quoted.
func Text(v any) string {
	if s, ok := v.(string); ok {
		return strconv.Quote(s)
	}
	return fmt.Sprint(v)
}

// Short cuts off a long text, to keep errors readable.
func Short(text string) string {
	const most = 40
	if len(text) <= most {
		return text
	}
	return text[:most] + "..."
}

// Equal reports whether both pointers are nil, or both point to the same value.
func Equal[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// Put returns a copy of a list, with v in place of the first element for which alike is true, or
// else with v at the end.
func Put[T any](list []T, v T, alike func(T) bool) []T {
	i := slices.IndexFunc(list, alike)
	if i < 0 {
		return slices.Concat(list, []T{v})
	}
	out := slices.Clone(list)
	out[i] = v
	return out
}

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// Time returns a time in UTC as text that loses nothing.
func Time(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// Count returns a number of things in words. The plural of the noun ends in "s".
func Count[N int | int32 | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// WaitFor returns how long to wait from now until at, at least a nanosecond: several work queues
// read 0 as "never". ok is false if at is the zero time.
func WaitFor(at, now time.Time) (d time.Duration, ok bool) {
	if at.IsZero() {
		return 0, false
	}
	return max(at.Sub(now), 1), true
}
