package value

import (
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
