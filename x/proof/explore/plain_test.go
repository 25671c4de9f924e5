package explore

import (
	"testing"
	"unsafe"
)

type gaps struct {
	flag  bool
	many  [2]struct{ small, large uint8 }
	wide  uint32
	inner struct {
		wide uint16
		flag bool
	}
	last int64
}

// The key of a state depends on each of its fields, and not on the bytes between them.
func TestKeysAreOfFields(t *testing.T) {
	key := keyer[gaps]()
	of := func(change func(*gaps)) Key {
		var s gaps
		change(&s)
		return key(&s)
	}

	met := map[Key]string{of(func(*gaps) {}): "none"}
	for field, change := range map[string]func(*gaps){
		"flag":         func(s *gaps) { s.flag = true },
		"many 0 small": func(s *gaps) { s.many[0].small = 1 },
		"many 0 large": func(s *gaps) { s.many[0].large = 1 },
		"many 1 small": func(s *gaps) { s.many[1].small = 1 },
		"many 1 large": func(s *gaps) { s.many[1].large = 1 },
		"wide":         func(s *gaps) { s.wide = 1 << 31 },
		"inner wide":   func(s *gaps) { s.inner.wide = 1 << 15 },
		"inner flag":   func(s *gaps) { s.inner.flag = true },
		"last":         func(s *gaps) { s.last = -1 },
	} {
		if other, ok := met[of(change)]; ok {
			t.Errorf("%s has the same key as %s", field, other)
		}
		met[of(change)] = field
	}

	// Fields that are set one by one leave the bytes between them as they were.
	var s gaps
	all := bytesOf(unsafe.Slice(&s, 1))
	for i := range all {
		all[i] = 0xff
	}
	s.flag, s.many, s.wide, s.last = false, [2]struct{ small, large uint8 }{}, 0, 0
	s.inner.wide, s.inner.flag = 0, false
	if met[key(&s)] != "none" {
		t.Error("bytes between fields change the key")
	}
}

// A search would lose what a state points to.
func TestStatesWithPointersAreRefused(t *testing.T) {
	refused := func(key func()) (refused bool) {
		defer func() { refused = recover() != nil }()
		key()
		return false
	}
	for name, key := range map[string]func(){
		"a slice":   func() { keyer[struct{ s []int }]() },
		"a pointer": func() { keyer[[2]*int]() },
		"a text":    func() { keyer[struct{ a struct{ s string } }]() },
		"a float":   func() { keyer[float64]() },
	} {
		if !refused(key) {
			t.Errorf("%s in a state is not refused", name)
		}
	}
}
