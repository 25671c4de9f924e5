package value

import (
	"slices"
	"testing"
	"time"
)

func TestPointers(t *testing.T) {
	if Of[int](nil) != 0 || Of(To(7)) != 7 || Of[string](nil) != "" || Of(To("a")) != "a" {
		t.Error("Of")
	}
	v := 1
	if p := To(v); p == &v || *p != 1 {
		t.Error("To points to the argument")
	}
}

func TestEqual(t *testing.T) {
	if !Equal[int](nil, nil) || Equal(nil, To(0)) || Equal(To(0), nil) || Equal(To(1), To(2)) || !Equal(To(1), To(1)) {
		t.Error("Equal")
	}
}

// TestPut: the element is replaced in its place or added. The given list and its spare capacity do
// not change.
func TestPut(t *testing.T) {
	list := append(make([]string, 0, 9), "a1", "b1")
	startsAs := func(prefix string) func(string) bool {
		return func(s string) bool { return s[:1] == prefix }
	}
	replaced, added := Put(list, "a2", startsAs("a")), Put(list, "c1", startsAs("c"))
	if !slices.Equal(replaced, []string{"a2", "b1"}) || !slices.Equal(added, []string{"a1", "b1", "c1"}) {
		t.Errorf("%q, %q", replaced, added)
	}
	if all := list[:3]; !slices.Equal(all, []string{"a1", "b1", ""}) {
		t.Errorf("the argument is %q", all)
	}
}

func TestShort(t *testing.T) {
	text := "0123456789012345678901234567890123456789"
	if Short(text) != text || Short(text+"0") != text+"..." {
		t.Error("Short")
	}
}

func TestAt(t *testing.T) {
	list := []string{"a", "b"}
	if At(list, 0) != "a" || At(list, 1) != "b" || At(list, 2) != "" || At[int](nil, 0) != 0 {
		t.Error("At")
	}
}

func TestTexts(t *testing.T) {
	at := time.Date(2026, 1, 1, 1, 0, 0, 5, time.FixedZone("", 3600))
	for want, got := range map[string]string{
		`"a \"b\""`: Text(`a "b"`), "7": Text(7), "<nil>": Text(nil),
		"2026-01-01T00:00:00.000000005Z": Time(at),
		"0 pods":                         Count(0, "pod"), "1 pod": Count(1, "pod"), "2 pods": Count(2, "pod"),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
