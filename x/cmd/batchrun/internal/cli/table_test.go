package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"github.com/batchplan/batchplan/internal/must"
)

// A table fits 100 columns unless it is wide. Long names are cut in the middle, and long messages
// at the end.
func TestTable(t *testing.T) {
	name, message := strings.Repeat("long-", 12)+"end", strings.Repeat("a message ", 20)
	for _, wide := range []bool{false, true} {
		table := newTable(wide, "JOB", "AGE", "MESSAGE")
		table.add("short", "1m05s", "fine")
		table.add(name, "2d01h", message)
		var b bytes.Buffer
		must.OK(t, table.write(&b))
		lines := strings.Split(b.String(), "\n")
		whole := strings.Contains(lines[2], name) && strings.HasSuffix(lines[2], strings.TrimRight(message, " "))
		if widest := runewidth.StringWidth(lines[2]); whole != wide ||
			!wide && (widest > tableWidth || !strings.HasSuffix(lines[2], "…")) {
			t.Errorf("wide %v: %q", wide, lines[2])
		}
		if cut, _, _ := strings.Cut(lines[2], "  "); !wide && (runewidth.StringWidth(cut) != maxName || !strings.HasSuffix(cut, "end")) {
			t.Errorf("the name is cut to %q", cut)
		}
		if strings.Index(lines[0], "AGE") != strings.Index(lines[1], "1m05s") {
			t.Errorf("%s", b.String())
		}
	}
}

func TestWrap(t *testing.T) {
	for text, want := range map[string]string{
		"one two three four": "one two\n  three\n  four", "one three": "one three", "one threes": "one\n  threes",
		"one two six": "one two\n  six", "a longest-word b": "a\n  longest-word\n  b",
	} {
		if have := wrap(text, 9); have != want {
			t.Errorf("%q: %q", text, have)
		}
	}
}
