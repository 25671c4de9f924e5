package citations

import (
	"flag"
	"slices"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
)

var update = flag.Bool("update", false, "rewrite docs/rules_index.txt")

const root = "../../.."

func read(t *testing.T, file string) string {
	t.Helper()
	return testfile.Read(t, root, file)
}

func load(t *testing.T) (defined []id, all []citation) {
	t.Helper()
	for _, file := range []string{"docs/rules.md", "docs/invariants.md"} {
		found := definitions(read(t, file))
		if len(found) < 50 {
			t.Fatalf("%s defines only %d numbers: is it still written as lists and tables?", file, len(found))
		}
		defined = append(defined, found...)
	}
	all, err := scan(root)
	must.OK(t, err)
	if len(all) < 1000 {
		t.Fatalf("only %d citations were found: something is not read", len(all))
	}
	slices.SortStableFunc(defined, compareIDs)
	return defined, all
}

func TestEachNumberIsDefinedOnce(t *testing.T) {
	defined, all := load(t)
	for i := 1; i < len(defined); i++ {
		if defined[i] == defined[i-1] {
			t.Errorf("%s is defined twice", defined[i])
		}
	}
	for _, c := range all {
		if _, known := slices.BinarySearchFunc(defined, c.id, compareIDs); !known {
			t.Errorf("%s:%d cites %s, which is not defined", c.file, c.line, c.id)
		}
	}
}

func TestEachRuleIsTested(t *testing.T) {
	defined, all := load(t)
	for _, rule := range defined {
		cited := slices.ContainsFunc(all, func(c citation) bool { return c.id == rule && c.test })
		if rule.isRule() && !cited {
			t.Errorf("no test or story cites %s", rule)
		}
	}
}

func TestIndexIsUpToDate(t *testing.T) {
	defined, all := load(t)
	const file = "docs/rules_index.txt"
	want := index(defined, all)
	switch {
	case read(t, file) == want:
	case *update:
		testfile.Write(t, want, root, file)
	default:
		t.Errorf("%s is out of date: go -C x/proof test ./citations -update", file)
	}
}

// TestCitationsAreFound shows that the checks above see every kind of citation.
func TestCitationsAreFound(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"job/a.go":                "package job\n\n// decide follows J1 and J43.\nfunc decide() {\n\t// see M4\n}\n",
		"job/a_test.go":           "package job\n\nfunc TestJ2_Case() { _ = []string{\"D5 a day\", \"no J3\"} }\n",
		"job/testdata/a/life.txt": "# J7: a story\njob J8\n",
		"docs/more.md":            "See F2.\n",
		".hidden/b.md":            "J42\n",
	}

	for name, text := range files {
		testfile.Write(t, text, dir, name)
	}

	all, err := scan(dir)
	must.OK(t, err)
	var got []string
	for _, c := range all {
		got = append(got, c.id.String()+" "+c.file+" "+c.function)
	}

	want := []string{
		"F2 docs/more.md ",
		"J1 job/a.go decide", "J43 job/a.go decide", "M4 job/a.go decide",
		"J2 job/a_test.go TestJ2_Case", "D5 job/a_test.go TestJ2_Case",
		"J7 job/testdata/a/life.txt ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}

	wantIndex := "| rule | decided in | tests and stories |\n|---|---|---|\n| J1 | `job/a.go: decide` |  |\n| J2 |  | `TestJ2_Case` |\n"
	if got := index([]id{{"J", 1}, {"J", 2}, {"D", 5}}, all); got != wantIndex {
		t.Errorf("index:\n%s\nwant:\n%s", got, wantIndex)
	}
}
