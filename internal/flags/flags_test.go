package flags

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	const names = "Red,Green,Blue"
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
		got, err := Parse(names, test.text)
		if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("Parse(%q): error %v, want %q", test.text, err, test.err)
		}
		if got != test.want {
			t.Errorf("Parse(%q) = %b, want %b", test.text, got, test.want)
		}
		if text := String(names, got); text != test.again {
			t.Errorf("String(%b) = %q, want %q", got, text, test.again)
		}
	}
}
