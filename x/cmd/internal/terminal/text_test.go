package terminal

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/must"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"an ordinary name":           "an ordinary name",
		"über 🚀 \u00a0 ñ":            "über 🚀 \u00a0 ñ",
		"a\x1b[2Jb":                  `a\u001b[2Jb`,
		"a\nb\tc\rd\x00":             `a\u000ab\u0009c\u000dd\u0000`,
		"\x7f\u0080\u009b31m\u009f":  `\u007f\u0080\u009b31m\u009f`,
		"\u202egnp.exe\u2066\u2069":  `\u202egnp.exe\u2066\u2069`,
		"\u200e\u200f\u061c":         `\u200e\u200f\u061c`,
		"\u2028\u2029\ufffe\uffff":   `\u2028\u2029\ufffe\uffff`,
		"\xff\x9b31m":                "\ufffd\ufffd31m",
		"\xed\xa0\x80 is not UTF-8":  "\ufffd\ufffd\ufffd is not UTF-8",
		"\ufffd was replaced before": "\ufffd was replaced before",
	} {
		if have := Text(text); have != want {
			t.Errorf("%q: %q, want %q", text, have, want)
		}
	}
}

// hostile draws texts in which control characters, and parts of characters, are common.
func hostile(t *rapid.T) string {
	part := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{"\x1b]0;x\x07", "\u009b", "\u202e", "\n", "\t", "\xe2\x80", "\xf0\x9f\x9a\x80"}))
	return strings.Join(rapid.SliceOf(part).Draw(t, "text"), "")
}

// Whatever a text contains, and wherever it is split between writes, the output is UTF-8 whose only
// control characters are line ends and tabs. It is valid in XML.
func TestWriter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := hostile(t)
		var b strings.Builder
		w := NewWriter(&b)
		for rest := text; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "length")
			if have, err := w.Write([]byte(rest[:n])); have != n || err != nil {
				t.Fatal(have, err)
			}
			rest = rest[n:]
		}
		out := b.String()
		if !utf8.ValidString(out) {
			t.Fatalf("%q is not UTF-8", out)
		}
		for _, r := range out {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("%q has %U", out, r)
			}
		}
		if whole := lines(text); !strings.HasPrefix(whole, out) || len(whole)-len(out) > 9 {
			t.Fatalf("%q in pieces, %q as a whole", out, whole)
		}
		var x strings.Builder
		if err := xml.EscapeText(&x, []byte(out)); err != nil ||
			strings.Contains(x.String(), "\ufffd") && !strings.Contains(out, "\ufffd") {
			t.Fatalf("%q is not text of XML", out)
		}
	})
}

// JSON means the same after a Writer.
func TestWriter_JSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ToValidUTF8(hostile(t), "")
		var b strings.Builder
		encoder := json.NewEncoder(NewWriter(&b))
		encoder.SetEscapeHTML(false)
		must.OK(t, encoder.Encode(text))
		var back string
		if err := json.Unmarshal([]byte(b.String()), &back); err != nil || back != text {
			t.Fatalf("%q became %q, %v", text, back, err)
		}
	})
}
