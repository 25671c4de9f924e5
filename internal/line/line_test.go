package line_test

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/line"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		text string
		want line.Line
	}{
		{"next", line.Line{Name: "next"}},
		{" fail  j-1 code=42 ", line.Line{Name: "fail", Args: []line.Arg{{Key: "j-1"}, {Key: "code", Values: []string{"42"}}}}},
		{`job stale {"parallelism": 2}`, line.Line{Name: "job", Args: []line.Arg{{Key: "stale"}}, Input: `{"parallelism": 2}`}},
		{`schedule "0 1,5 * * *"`, line.Line{Name: "schedule", Args: []line.Arg{{Key: "0 1,5 * * *"}}}},
		{"pods phase=(Running, Failed)", line.Line{Name: "pods", Args: []line.Arg{{Key: "phase", Values: []string{"Running", "Failed"}}}}},
		{"pods phase=()", line.Line{Name: "pods", Args: []line.Arg{{Key: "phase", Values: []string{}}}}},
	} {
		if got, err := line.Parse(test.text); err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %#v, error %v", test.text, got, err)
		}
	}

	for _, text := range []string{"", "=", `say "a`, `say "a\qb"`, "say a=(b c)", "say ,", "say a="} {
		if got, err := line.Parse(text); err == nil {
			t.Errorf("%q is read as %#v", text, got)
		}
	}
}

// TestString: a printed line can be read again. Its text is a single line, and never a comment.
func TestString(t *testing.T) {
	words := rapid.OneOf(rapid.StringMatching(`[a-z#{"][ a-z0-9,()={"\\\t\n\r\x{a0}\x{2028}]*`), rapid.Just(""))
	rapid.Check(t, func(t *rapid.T) {
		l := line.Line{Name: words.Draw(t, "name"), Input: rapid.SampledFrom([]string{"", `{"a": "b c"}`}).Draw(t, "input")}
		for range rapid.IntRange(0, 3).Draw(t, "arguments") {
			a := line.Arg{Key: words.Draw(t, "key")}
			if rapid.Bool().Draw(t, "values") {
				a.Values = append([]string{}, rapid.SliceOfN(words, 0, 3).Draw(t, "values")...)
			}
			l.Args = append(l.Args, a)
		}
		if text := l.String(); text[0] == '#' || strings.ContainsAny(text, "\n\r") {
			t.Fatalf("%q is a comment, or not one line", text)
		}
		if got, err := line.Parse(l.String()); err != nil || !reflect.DeepEqual(got, l) {
			t.Fatalf("%s is read as %#v, error %v; want %#v", l, got, err, l)
		}
	})
}

func TestInt(t *testing.T) {
	l, err := line.Parse("fail j-1 code=42 all=(1,2) bad=x")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		key  string
		want int
		err  string
	}{{"code", 42, ""}, {"missing", 7, ""}, {"all", 0, "all: has 2 values, wants one"}, {"bad", 0, `bad: "x" is not a number`}, {"j-1", 0, "j-1: has 0 values, wants one"}} {
		got, err := l.Int(test.key, 7)
		if got != test.want || (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
			t.Errorf("%s: got %d, error %v", test.key, got, err)
		}
	}
}

// TestCheck: a line has the arguments of a form. Otherwise the error names an argument that is
// unknown or missing.
func TestCheck(t *testing.T) {
	for _, test := range []struct{ text, form, err string }{
		{"next", "", ""},
		{"next now", "", "next: unknown argument now"},
		{"fail j-1", "POD [code=N]", ""},
		{"fail j-1 code=42", "POD [code=N]", ""},
		{"fail code=42 j-1", "POD [code=N]", ""},
		{"fail", "POD [code=N]", "fail: POD is missing"},
		{"fail j-1 j-2", "POD [code=N]", "fail: unknown argument j-2"},
		{"fail j-1 cod=42", "POD [code=N]", "fail: unknown argument cod=42"},
		{"fail j-1 code=1 code=2", "POD [code=N]", "fail: unknown argument code=2"},
		{"fail j-1 code=x", "POD [code=N]", "fail: unknown argument code=x"},
		{"fail j-1 code=(1,2)", "POD [code=N]", "fail: unknown argument code=(1,2)"},
		{"fail j-1 code", "POD [code=N]", "fail: unknown argument code"},
		{"count 0 active 5 late", "N active|done N [late]", ""},
		{"count 0 5 active", "N active|done N [late]", "count: unknown argument active"},
		{"count late 0 active 5", "N active|done N [late]", "count: unknown argument 0"},
		{"suspend on", "on|off", ""},
		{"suspend maybe", "on|off", "suspend: unknown argument maybe"},
		{"limit none", "N|none", ""},
		{"limit -1", "N|none", ""},
		{"limit 1s", "N|none", "limit: unknown argument 1s"},
		{"tick 1s", "DURATION", ""},
		{"tick 1", "DURATION", "tick: unknown argument 1"},
		{`edit {"a": 1}`, "JSON", ""},
		{"edit", "JSON", "edit: JSON is missing"},
		{"edit all", "JSON", "edit: unknown argument all"},
		{`run j-1 {"a": 1}`, "POD", `run: unknown argument {"a": 1}`},
		{`run {"a": 1}`, "POD", `run: unknown argument {"a": 1}`},
	} {
		l, err := line.Parse(test.text)
		if err != nil {
			t.Fatal(err)
		}
		if err = l.Check(test.form); (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
			t.Errorf("%s, of the form %q: got %v, want %q", test.text, test.form, err, test.err)
		}
	}
}
