package enum

import (
	"strings"
	"testing"
)

const colors = "red|green|light blue"

func TestString(t *testing.T) {
	for i, want := range []string{"red", "green", "light blue", "Color(3)"} {
		if got := String(colors, i, "Color"); got != want {
			t.Errorf("String(%d) = %q, want %q", i, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]int{"": 0, "red": 0, "green": 1, "light blue": 2} {
		if got, err := Parse(colors, text, "color"); got != want || err != nil {
			t.Errorf("Parse(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"Red", "blue", "red|green", "|"} {
		if _, err := Parse(colors, text, "color"); err == nil || !strings.HasPrefix(err.Error(), "color: ") {
			t.Errorf("Parse(%q): error %v", text, err)
		}
	}
}
