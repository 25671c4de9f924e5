package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

// TestListApplies: each edit still applies to the sources, and all bugs compile together.
func TestListApplies(t *testing.T) {
	t.Chdir("../../..")
	all, err := parse(list)
	must.OK(t, err)
	if len(all) < 30 {
		t.Errorf("%d bugs", len(all))
	}
	numbers := map[string]bool{}
	for _, b := range all {
		if numbers[b.number] {
			t.Errorf("%s is a number of two bugs", b.number)
		}
		numbers[b.number] = true
	}
	overlay, err := plantAll(all, t.TempDir())
	must.OK(t, err)
	if out, err := command(building, "", "go", "build", "-overlay", overlay, "./job/...", "./cronjob/..."); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestChooser: if bugs change a function, it is compiled as it is, and once more with each bug.
func TestChooser(t *testing.T) {
	const source = "package p\n\n// F adds.\nfunc (*T) F(a int, _ ...int) (n int) { return a + 1 }\n\nfunc g[K any]() { h() }\n"
	p, err := newPlanted(source)
	if err != nil || p.name != "p" {
		t.Fatal(p.name, err)
	}
	for number, change := range map[string][2]string{"X1": {"a + 1", "a - 1"}, "X2": {"h()", ""}} {
		must.OK(t, p.add(number, strings.Replace(source, change[0], change[1], 1)))
	}
	for number, change := range map[string][2]string{"X3": {"", ""}, "X4": {"a int", "b int"}, "X5": {"func g", "func i"}} {
		if err := p.add(number, strings.Replace(source, change[0], change[1], 1)); err == nil {
			t.Errorf("%s, which changes no function or a signature, was accepted", number)
		}
	}

	const want = `package p

// F adds.
func (variantReceiver0 *T) F(a int, variantParameter1 ...int) (n int) { switch plantedBug {case "X1": return variantReceiver0.FPlantedX1(a, variantParameter1...);}; return a + 1 }

func g[K any]() { switch plantedBug {case "X2": gPlantedX2[K](); return;}; h() }

func (*T) FPlantedX1(a int, _ ...int) (n int) { return a - 1 }

func gPlantedX2[K any]() {  }
`
	if got := p.text(); got != want {
		t.Error(got)
	}
}

// TestKits: the kits find a bug of each planner, and one of a program.
func TestKits(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the kits")
	}
	t.Chdir("../../..")
	all, err := parse(list)
	must.OK(t, err)
	kits, err := judgesNamed("kits")
	must.OK(t, err)
	o, dir := options{lives: 300, seed: 1, limit: building}, t.TempDir()
	must.OK(t, build(all, kits, dir))
	found := regexp.MustCompile(`^([A-Z]+\d+|Store), life \d+$`)
	for i := range all {
		switch b := &all[i]; b.number {
		case "M4", "M8", "W3":
			for _, test := range b.rightTests() {
				if _, got := liveInKit(b, dir, test, o); !found.MatchString(got) {
					t.Errorf("%s, %s: %s", b.number, test, got)
				}
			}
		}
	}
	right := bug{edits: all[0].edits}
	if found, got := liveInKit(&right, dir, "^TestBackend_Right$", options{lives: 20, seed: 1, limit: building}); found || got != "–" {
		t.Errorf("without a bug: %s", got)
	}
}

// TestAnswers: jobcheck finds a planner that breaks an invariant, one that keeps the invariants but
// decides otherwise, and one whose process ends. It accepts the right planner.
func TestAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("builds jobcheck")
	}
	t.Chdir("../../..")

	all, err := parse(list)
	must.OK(t, err)
	chosen, err := judgesNamed("answers")
	must.OK(t, err)

	o, dir := options{questions: 160, seed: 1, limit: building}, t.TempDir()
	must.OK(t, build(all, chosen, dir))

	want := map[string][2]string{
		"right": {"–", "–"}, "Q15": {"–", "exact delete"},
		"Q9":  {"question 0: no answer: the program has ended: exit status 3", "the same"},
		"Q12": {"JI22", "JI22, exact untrack"},
	}

	for _, b := range append(all, bug{number: "right"}) {
		if cells, asked := want[b.number]; asked {
			if got := answers(&b, dir, o).cells; got[0] != cells[0] || got[1] != cells[1] {
				t.Errorf("%s: %q, want %q", b.number, got, cells)
			}
		}
	}
}

// TestTable: a table counts the requested bugs, and those that no judge has found.
func TestTable(t *testing.T) {
	never := judge{"never", []string{"Found"}, nil, (*bug).isOfPlanner, func(*bug, string, options) verdict { return verdict{false, []string{"–"}} }}
	always := judge{"always", []string{"Found"}, nil, (*bug).isOfPlanner, func(*bug, string, options) verdict { return verdict{true, []string{"7"}} }}
	all := []bug{{number: "M1", edits: []edit{{file: "job/a.go"}}}, {number: "W1", edits: []edit{{file: "job/jobtest/a_test.go"}}}}
	o := options{match: regexp.MustCompile("")}
	if tried, missed := printTable(all, []judge{never}, "", o); tried != 1 || missed != 1 {
		t.Errorf("a judge that finds nothing: %d tried, %d missed", tried, missed)
	}
	if tried, missed := printTable(all, []judge{never, always}, "", o); tried != 1 || missed != 0 {
		t.Errorf("one that finds all as well: %d tried, %d missed", tried, missed)
	}
	if _, err := judgesNamed("search,luck"); err == nil {
		t.Error("an unknown judge was accepted")
	}
}

func TestFirstOf(t *testing.T) {
	for out, want := range map[string]int{
		"seed 1\n\ntestdata/found/1-77.txt: script 77 of seed 1 shows a difference\n": 77,
		"\nround 3 of seed 7 differs:\n":                                              3,
		"2000 scripts, 64000 steps, 0 differences":                                    -1,
		"20000 rounds, 0 differences":                                                 -1,
	} {
		if got, err := firstOf(out); got != want || err != nil {
			t.Errorf("%q: %d, %v; want %d", out, got, err, want)
		}
	}
	if n, err := firstOf("panic: the script does not end"); err == nil {
		t.Errorf("a run without a result: %d", n)
	}
}
