package golden

import (
	"crypto/sha256"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Beside calls function decide with drawn snapshots and with variants of each snapshot. A variant
// has another value in one place: a value of the same type from the snapshot, a number that is one
// more or less, or a time that is a nanosecond before or after another. So the variants combine
// times and numbers that no life brings together. The decisions are compared with a file of hashes,
// one for each drawn snapshot, which -update writes.
//
// Decide must not change the snapshot, and the JSON of its results must be the same in each run.
func Beside[S any](t *testing.T, file string, cases int, draw func(*rapid.T) S, decide func(*S) any) {
	t.Helper()
	Hashes(t, file, cases, func(t *rapid.T, add func(...any)) {
		s := draw(t)
		one := func() { add(decide(&s)) }
		one()
		b := beside{values: map[reflect.Type][]reflect.Value{}}
		b.visit(reflect.ValueOf(&s).Elem())
		b.each(one)
	})
}

// Hashes draws cases, hashes the values that each case adds, and compares the hash with the one in
// a file. -update writes the file. The draws are the same at each call, as in [Decisions].
func Hashes(t *testing.T, file string, cases int, one func(t *rapid.T, add func(...any))) {
	t.Helper()
	stored, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	lines := strings.Split(string(stored), "\n")

	var got strings.Builder
	drawn := rapid.Custom(func(t *rapid.T) string {
		to, n := sha256.New(), 0
		one(t, func(values ...any) {
			add(t, to, values...)
			n++
		})
		return fmt.Sprintf("%d %.8x", n, to.Sum(nil))
	})

	for i := range cases {
		line := fmt.Sprintf("%d: %s", i, drawn.Example(i))
		got.WriteString(line + "\n")
		if !*update && (i >= len(lines) || lines[i] != line) {
			t.Fatalf("%s: case %d has other answers. If that is intended, say so in a line "+
				"under Semantics in CHANGELOG.md, and write the file again with -update", file, i)
		}
	}

	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// beside holds the places within a value that can be changed, and for each type the different
// values that were found there.
type beside struct {
	places []reflect.Value
	values map[reflect.Type][]reflect.Value
}

var timeType = reflect.TypeFor[time.Time]()

func (b *beside) visit(v reflect.Value) {
	switch kind := v.Kind(); {
	case v.Type() == timeType:
		b.add(v)
	case kind == reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				b.visit(v.Field(i))
			}
		}
	case kind == reflect.Slice:
		for i := range v.Len() {
			b.visit(v.Index(i))
		}
	case kind == reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.CanSet() {
			b.places = append(b.places, v)
		}
		b.visit(v.Elem())
	case v.CanInt(), v.CanUint(), kind == reflect.Bool, kind == reflect.String:
		b.add(v)
	}
}

// add adds a place. It also adds the value of the place, unless the value is known or there are
// enough values of its type.
func (b *beside) add(v reflect.Value) {
	if !v.CanSet() {
		return
	}
	b.places = append(b.places, v)

	const enough = 7
	known := b.values[v.Type()]
	for _, k := range known {
		if k.Equal(v) {
			return
		}
	}
	if len(known) < enough {
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		b.values[v.Type()] = append(known, was)
	}
}

// each calls try with each variant of the value.
func (b *beside) each(try func()) {
	for i, place := range b.places {
		was := reflect.New(place.Type()).Elem()
		was.Set(place)
		set := func(v reflect.Value) {
			place.Set(v)
			try()
			place.Set(was)
		}

		set(reflect.Zero(place.Type()))
		for _, v := range b.values[place.Type()] {
			if set(v); place.Type() == timeType {
				by := time.Duration(1 - i%2*2) // before or after
				set(reflect.ValueOf(v.Interface().(time.Time).Add(by)))
			}
		}
		for _, by := range []int64{-1, 1} {
			switch {
			case place.Kind() == reflect.Bool:
				set(reflect.ValueOf(!was.Bool()).Convert(place.Type()))
			case place.CanInt() && !place.OverflowInt(was.Int()+by):
				set(reflect.ValueOf(was.Int() + by).Convert(place.Type()))
			}
		}
	}
}
