package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
)

// A whole run. Some mutants are killed by the tests of their own package, among them a mutant of a
// constant, which has a build of its own. Others survive: no test notices them, or only a test of
// another package would. The files stay as they are.
func TestJudge(t *testing.T) {
	const source = `package low

const limit = 3

func Small(n int) bool { return n < limit }

func Double(n int) int { return n * 2 }

func Unseen(n int) int { return n + 1 }
`
	root := testfile.Folder(t, map[string]string{
		"go.mod":           "module example.org\n\ngo 1.26\n",
		"inner/go.mod":     "module example.org/m\n\ngo 1.26\n",
		"inner/low/low.go": source,
		"inner/low/low_test.go": `package low

import "testing"

func TestSmall(t *testing.T) {
	if !Small(2) || Small(3) {
		t.Error("wrong")
	}
}
`,
		"inner/high/high.go": "package high\n\nimport \"example.org/m/low\"\n\nfunc Four(n int) int { return low.Double(low.Double(n)) }\n",
		"inner/high/high_test.go": `package high

import "testing"

func TestFour(t *testing.T) {
	if Four(3) != 12 {
		t.Error("wrong")
	}
}
`,
	})
	root = filepath.Join(root, "inner")
	all := judged(t, root, "low")
	if got := all[0].file.short; got != "inner/low/low.go" {
		t.Errorf("a file of a nested module is %s", got)
	}
	for _, m := range all {
		killer := map[string]string{"Small": "TestSmall", "const": "TestSmall"}
		want := ""
		for word, name := range killer {
			if strings.Contains(m.before, word) {
				want = name
			}
		}
		if m.killer != want {
			t.Errorf("%s: killed by %q, want %q", m, m.killer, want)
		}
	}
	if !slices.ContainsFunc(all, func(m *mutant) bool { return m.fn == nil }) {
		t.Error("no mutant of the constant")
	}
	if text, err := os.ReadFile(filepath.Join(root, "low/low.go")); err != nil || string(text) != source {
		t.Errorf("the source was changed: %v\n%s", err, text)
	}
}

// A test that fails in the shared build even without a mutant is run against each survivor in a
// build of its own.
func TestJudge_LeftOut(t *testing.T) {
	root := testfile.Folder(t, map[string]string{
		"go.mod": "module example.org\n\ngo 1.26\n",
		"low/low.go": `package low

import "sort"

func Same(n int) int { return n }

func Unnoticed(n []int) { sort.Ints(n) }
`,
		"low/low_test.go": `package low

import (
	"os"
	"testing"
)

func TestSame(t *testing.T) {
	if os.Getenv("MUTANT") == "-1" || Same(3) != 3 {
		t.Error("wrong")
	}
}

func TestBroken(t *testing.T) { t.Error("always") }
`,
	})
	unused := 0
	for _, m := range judged(t, root, "low") {
		if m.fn.Name.Name == "Unnoticed" {
			unused++ // alone, it leaves the import unused
			continue
		}
		if m.killer != "TestSame" {
			t.Errorf("%s: killed by %q", m, m.killer)
		}
	}
	if unused == 0 {
		t.Error("no mutant has removed the use of an import")
	}
}

// judged returns all mutants of a package of the module at root, each with its verdict.
func judged(t *testing.T, root, name string) []*mutant {
	t.Helper()
	o, err := parseOptions([]string{"-root", root, name})
	must.OK(t, err)
	pkgs, err := load(root, o.packages)
	must.OK(t, err)
	all, err := pkgs[0].mutants()
	must.OK(t, err)
	number(all)
	must.OK(t, judge(o, pkgs, all))
	return all
}

func TestReadEquivalents(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"# a comment\n\na.go  x -> y\n\tbecause\n\tof z\n", ""},
		{"a.go  x -> y\n", "has no reason"},
		{"\tbecause\n", "a reason without a mutant"},
		{"a.go  x -> y\n\tz\na.go  x -> y\n\tz\n", "is there twice"},
	} {
		path := filepath.Join(testfile.Folder(t, map[string]string{"list": c.text}), "list")
		known, err := readEquivalents(path)
		switch {
		case c.want == "" && (err != nil || known["a.go  x -> y"] != "because of z"):
			t.Errorf("%q: %v, %v", c.text, known, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
}

// An equivalent that names no mutant must not stay in the list.
func TestStaleEquivalents(t *testing.T) {
	p := parsed(t, "func f(n int) int {\n return n }")
	found, err := p.mutants()
	must.OK(t, err)
	for _, m := range found {
		m.file.short = "low/p.go"
	}
	known := equivalents{"low/p.go  return n } -> return 0 }": "", "low/p.go  func f": "", "low/p.go  func g": "", "low/p.go  return m -> return 0": "", "other/p.go  x -> y": ""}
	got := known.stale(found, []*pkg{p})
	if want := []string{"low/p.go  func g", "low/p.go  return m -> return 0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The code that the list names is in the tree. The command itself also checks that the code is a
// mutant; for that it needs all types.
func TestEquivalentsNameCode(t *testing.T) {
	known, err := readEquivalents("equivalents.txt")
	must.OK(t, err)

	for key := range known {
		file, change, _ := strings.Cut(key, "  ")
		text, err := os.ReadFile(filepath.Join("../../../..", filepath.FromSlash(file)))
		if err != nil {
			t.Errorf("%s: %v", key, err)
			continue
		}

		was, _, _ := strings.Cut(change, " -> ")
		was = strings.TrimPrefix(was, "func ")             // all mutants of a function or a method
		for _, part := range strings.Split(was, " ... ") { // the middle of a long line is left out
			if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), strings.TrimSpace(part)) {
				t.Errorf("%s: is not in the file: %s", key, part)
			}
		}
	}

	if len(known) < 20 {
		t.Errorf("only %d", len(known))
	}
}
