// Package terminal writes texts without characters that control a terminal. All commands write
// through it.
package terminal

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Text escapes characters that could mislead a terminal or a reader: control characters (including
// line ends), marks that change the direction of writing, and bytes that are not UTF-8. It writes
// them as JSON does, such as \u001b. The result is valid in XML.
func Text(text string) string {
	if strings.IndexFunc(text, isHostile) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text { // a byte that is not UTF-8 is utf8.RuneError, which is shown
		if isHostile(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isHostile reports whether Text escapes a character. All hostile characters have at most four
// hexadecimal digits.
func isHostile(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0: // C0, DEL and C1
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // directions
		return true
	}
	switch r {
	case 0x2028, 0x2029, 0xfffe, 0xffff: // line ends, and code points that are not characters
		return true
	}
	return false
}

// Writer writes texts of several lines to a terminal, or anything else. It escapes characters as
// Text does, except line ends and tabs. The meaning of JSON stays the same: JSON has the escaped
// characters only in strings, and the escapes are those of JSON.
type Writer struct {
	out  io.Writer
	rest []byte // the first bytes of an incomplete character
}

// NewWriter returns a Writer to out.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// Write writes p, except for an incomplete character at its end.
func (w *Writer) Write(p []byte) (int, error) {
	data := append(w.rest, p...)
	whole := len(data)
	for back := 1; back < utf8.UTFMax && back <= len(data); back++ {
		if last := data[len(data)-back:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				whole -= back
			}
			break
		}
	}
	w.rest = append([]byte(nil), data[whole:]...)
	if _, err := io.WriteString(w.out, lines(string(data[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// lines applies Text to each part of a text between line ends and tabs.
func lines(text string) string {
	var b strings.Builder
	for {
		i := strings.IndexAny(text, "\n\t")
		if i < 0 {
			b.WriteString(Text(text))
			return b.String()
		}
		b.WriteString(Text(text[:i]))
		b.WriteByte(text[i])
		text = text[i+1:]
	}
}
