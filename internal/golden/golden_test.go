package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
)

// TestRun plays the stories of this package: each command prints its input.
func TestRun(t *testing.T) {
	Run(t, "testdata", func() Story {
		count := 0 // the commands of this file alone
		return func(t *testing.T, c *Command) string {
			count++
			switch c.Name {
			case "count":
				return fmt.Sprint(count)
			case "echo":
				return c.Input
			case "print":
				return show(c)
			}
			c.Fatalf("no such command")
			return ""
		}
	})
}

// show prints one argument a line. If the key names a type, it prints the value of that type.
func show(c *Command) string {
	var out strings.Builder
	for _, a := range c.Args {
		c.Has(a.Key)
		switch a.Key {
		case "int":
			fmt.Fprintln(&out, "int", c.Int("int", 0))
		case "for":
			fmt.Fprintln(&out, "for", c.Duration("for", 0))
		case "bool":
			fmt.Fprintln(&out, "bool", c.Bool("bool", false))
		default:
			fmt.Fprintf(&out, "%s %q\n", a.Key, a.Values)
		}
	}
	return out.String()
}

// stopped is the value with which a recorder's Fatalf panics.
type stopped struct{}

// recorder is a reporter that keeps the reports.
type recorder struct{ reports []string }

func (*recorder) Helper()        {}
func (r *recorder) Failed() bool { return len(r.reports) > 0 }

func (r *recorder) Errorf(format string, args ...any) {
	r.reports = append(r.reports, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(stopped{})
}

// play runs the text as a file. It returns the reports, of which an error is the last, and the text
// of the file afterwards.
func play(t *testing.T, text string, update bool, run func(*Command) string) (reports []string, after string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "story.txt")
	testfile.Write(t, text, file)
	r := &recorder{}
	func() {
		defer func() {
			if v := recover(); v != nil && v != (stopped{}) {
				panic(v)
			}
		}()
		if err := runFile(r, file, update, run); err != nil {
			r.Errorf("%v", err)
		}
	}()
	content := testfile.Read(t, file)
	for _, report := range r.reports {
		reports = append(reports, strings.ReplaceAll(report, filepath.ToSlash(file), "FILE"))
	}
	return reports, content
}

func TestUpdateRewritesOutputsAndKeepsTheRest(t *testing.T) {
	const before = `# The beginning.

# A comment right above.
say hello  twice=(a, b)
some input
----
old output
of two lines

say blank
----
say nothing
----
old

say fence
----
----
----
old

old
----
----

# The end.
`
	const after = `# The beginning.

# A comment right above.
say hello  twice=(a, b)
some input
----
new

say blank
----
----
one

three
----
----

say fence
----
----
----
end
----
----

# The end.
`
	outputs := map[string]string{"hello": "new\n", "blank": "one\n\nthree\n", "fence": "----\nend"}
	say := func(c *Command) string {
		c.List("twice")
		return outputs[c.Word(0)]
	}
	// Without a blank line above it, "say nothing" belongs to the old output of "say blank", and is
	// replaced with it.
	reports, text := play(t, before, true, say)
	if len(reports) > 0 || text != after {
		t.Fatalf("reported %q, wrote\n%s", reports, text)
	}
	if reports, _ := play(t, text, false, say); len(reports) > 0 {
		t.Errorf("the rewritten story fails: %q", reports)
	}
	if _, again := play(t, text, true, say); again != text {
		t.Errorf("a second update wrote\n%s", again)
	}
}

func TestUpdateOfEveryShapeOfOutput(t *testing.T) {
	for _, output := range []string{
		"", "one", "one\ntwo", "one\n\ntwo", "\none", " \none", "one\n \ntwo", "----", "----\none", "one\n----",
		"one\n----\ntwo", "one\n\n----\ntwo", "one\n\n----", "one\n\n----\n----\ntwo", "----\n----", "# no comment", "\n\n----\n\nend",
	} {
		for _, old := range []string{"", "old\n", "----\nold\n\nold\n----\n----\n"} {
			say := func(*Command) string { return output }
			before := "say\n----\n" + old + "\nsay\n----\n" + old
			reports, text := play(t, before, true, say)
			if len(reports) > 0 { // the update was refused, so the file must be as it was
				if text != before || !strings.Contains(reports[0], "the output contains") {
					t.Errorf("%q: reported %q, wrote\n%s", output, reports, text)
				}
				continue
			}
			if reports, _ := play(t, text, false, say); len(reports) > 0 {
				t.Errorf("%q after an update: %q\n%s", output, reports, text)
			}
			other := func(*Command) string { return output + "x" }
			if reports, _ := play(t, text, false, other); len(reports) != 2 {
				t.Errorf("%q: another output was reported %d times, want twice", output, len(reports))
			}
		}
	}
}

func TestUpdateKeepsAFailingStory(t *testing.T) {
	const text = "say\n----\nold\n"
	reports, after := play(t, text, true, func(c *Command) string {
		c.t.Errorf("an invariant is broken")
		return "new"
	})
	if len(reports) != 1 || after != text {
		t.Errorf("reported %q, wrote\n%s", reports, after)
	}
}

func TestStoryWithLineEndsOfWindows(t *testing.T) {
	reports, _ := play(t, "# prose\r\nsay\r\nin\r\n----\r\nin\r\nout\r\n", false, func(c *Command) string {
		return c.Input + "\nout"
	})
	if len(reports) > 0 {
		t.Errorf("reported %q", reports)
	}
}

func TestReportsNameFileAndLine(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"another output", "\n# prose\nsay word\n----\nno\n", "FILE:3: say printed\n\tword\nwant\n\tno"},
		{"an unknown argument", "say word size=3 color\n----\nword\n", "FILE:1: say: unknown argument: size, color"},
		{"a missing word", "say\n----\n", "FILE:1: say: has 0 words, wants at least 1"},
		{"a bad number", "say a int=1x\n----\n", `FILE:1: say: int: "1x" is not a number`},
		{"a bad duration", "say a for=10\n----\n", `FILE:1: say: for: "10" is not a duration`},
		{"a bad truth", "say a bool=maybe\n----\n", `FILE:1: say: bool: "maybe" is not true or false`},
		{"a list for one value", "say a text=(1,2)\n----\n", "FILE:1: say: text: has 2 values, wants one"},
		{"a bare word for a value", "say a int\n----\n", "FILE:1: say: int: has 0 values, wants one"},
		{"a bare word for a list", "say a list\n----\n", "FILE:1: say: list: wants a value or a list"},
		{"no fence", "say a\ninput\n\n----\na\n", `FILE:1: no line "----" before the end of the block`},
		{"no fence at the end", "say a", `FILE:1: no line "----" before the end of the block`},
		{"an open output", "say a\n----\n----\na\n----\n", `FILE:1: no pair of lines "----" at the end of the output`},
		{"a command right after an output", "say a\n----\n----\na\n----\n----\nsay b\n----\n", `FILE:1: no blank line after the output, but "say b"`},
		{"an argument twice", "say a a=1\n----\n", `FILE:1: duplicate argument "a"`},
		{"an open string", "say \"a\n----\n", `FILE:1: not a Go string in double quotes: "a`},
		{"two inputs", "say a {}\n{}\n----\na\n", "FILE:1: the command has an input in its line and another below it"},
		{"an unknown argument of an inner command", "say a {}\n----\na\n", "FILE:1: say: unknown argument: inner b"},
		{"an open list", "say a=(b\n----\n", `FILE:1: want a comma in a list, got ""`},
		{"a list without commas", "say a=(b c)\n----\n", `FILE:1: want a comma in a list, got "c)"`},
		{"a missing value", "say a= b\n----\n", `FILE:1: a word is missing before " b"`},
		{"a line that is not a command", "=3\n----\n", `FILE:1: a word is missing before "=3"`},
		{"no command", "# prose alone\n", "FILE: no command"},
	} {
		reports, _ := play(t, c.text, false, func(c *Command) string {
			c.Int("int", 0)
			c.Duration("for", 0)
			c.Bool("bool", false)
			c.String("text", "")
			c.List("list")
			if c.Input != "" {
				c.Within("inner a b=1").Word(0)
			}
			return c.Word(0)
		})
		if len(reports) != 1 || reports[0] != c.want {
			t.Errorf("%s: got %q, want %q", c.name, reports, c.want)
		}
	}
}

func TestMissingArguments(t *testing.T) {
	reports, _ := play(t, "say\n----\n", false, func(c *Command) string {
		if c.Int("i", 7) != 7 || c.Duration("d", time.Hour) != time.Hour || !c.Bool("b", true) ||
			c.String("s", "none") != "none" || c.List("l") != nil || c.Has("h") {
			return "a value from nowhere"
		}
		return ""
	})
	if len(reports) > 0 {
		t.Errorf("reported %q", reports)
	}
}

func TestEmptyCorpusFails(t *testing.T) {
	dir := t.TempDir()
	if files, err := find(dir); err == nil {
		t.Errorf("an empty folder gave %q and no error", files)
	}
	if files, err := find(filepath.Join(dir, "missing")); err == nil {
		t.Errorf("a missing folder gave %q and no error", files)
	}
	must.OK(t, os.WriteFile(filepath.Join(dir, "story.md"), nil, 0o644))
	if files, err := find(dir); err == nil {
		t.Errorf("a folder without stories gave %q and no error", files)
	}
}

// FuzzParse checks that no text makes the parser panic, and that an updated story
// parses to the same commands with the new outputs.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"# prose\nsay word key=value list=(a, \"b c\")\ninput\n----\noutput\n\n# end\n",
		"say\n----\n----\none\n\ntwo\n----\n----\n", "say\n----", "say (", "say a=\"\\x", "", "\n", "----\n",
	} {
		f.Add(seed, "output")
		f.Add(seed, "one\n\ntwo")
	}
	f.Fuzz(func(t *testing.T, text, output string) {
		s, err := parse("fuzz", text)
		if err != nil || strings.Contains(text+output, "\r") {
			return // line ends of Windows may change
		}

		output = strings.TrimRight(output, "\n")
		outputs := make([]string, len(s.blocks))
		for i := range outputs {
			outputs[i] = output
		}
		written, err := s.format(outputs)
		if err != nil {
			return
		}

		again, err := parse("fuzz", written)
		if err != nil {
			t.Fatalf("wrote what cannot be read: %v\n%q", err, written)
		}
		if len(again.blocks) != len(s.blocks) || again.tail != s.tail {
			t.Fatalf("%d commands and %q after them became %d and %q",
				len(s.blocks), s.tail, len(again.blocks), again.tail)
		}
		for i, b := range again.blocks {
			if b.head != s.blocks[i].head || b.want != output {
				t.Fatalf("block %d: %q printing %q became %q printing %q", i, s.blocks[i].head, output, b.head, b.want)
			}
		}
	})
}
