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

func TestSets(t *testing.T) {
	const names = "Red|Green|Blue"
	tests := []struct {
		text  string
		want  uint
		again string
		err   string
	}{
		{"", 0, "", ""},
		{"Red", 1, "Red", ""},
		{"Blue,Red", 5, "Red,Blue", ""},
		{" Green , Red,Red, ", 3, "Red,Green", ""},
		{"All", 7, "Red,Green,Blue", ""},
		{"Red,red", 0, "", `unknown name "red": want Red, Green, Blue or All`},
	}
	for _, test := range tests {
		got, err := ParseSet(names, test.text)
		if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("ParseSet(%q): error %v, want %q", test.text, err, test.err)
		}
		if got != test.want {
			t.Errorf("ParseSet(%q) = %b, want %b", test.text, got, test.want)
		}
		if text := SetString(names, got); text != test.again {
			t.Errorf("SetString(%b) = %q, want %q", got, text, test.again)
		}
	}
}
