package main

import (
	"regexp"
	"strings"
	"testing"
)

// TestListApplies: each edit still applies to the sources, and all bugs compile together.
func TestListApplies(t *testing.T) {
	t.Chdir("../../..")
	all, err := parse(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 30 {
		t.Errorf("%d bugs", len(all))
	}
	numbers := map[string]bool{}
	for _, m := range all {
		if numbers[m.number] {
			t.Errorf("%s is a number of two bugs", m.number)
		}
		numbers[m.number] = true
	}
	overlay, err := plantAll(all, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := command(building, "", "go", "build", "-overlay", overlay, "./job/...", "./cronjob/..."); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestChooser: a function that bugs change is there once as it is and once for each bug.
func TestChooser(t *testing.T) {
	const source = "package p\n\n// F adds.\nfunc (t *T) F(a int, more ...int) (n int) { return a + len(more) }\n\nfunc g() { h() }\n"
	name, functions, err := functionsOf(source)
	if err != nil || name != "p" {
		t.Fatal(name, err)
	}
	p := planted{name: name, source: source, functions: functions, variants: map[string]map[int]string{}}
	for number, change := range map[string][2]string{"X1": {"a + len", "a - len"}, "X2": {"h()", ""}} {
		if err := p.add(number, strings.Replace(source, change[0], change[1], 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.add("X3", source); err == nil {
		t.Error("a bug that changes nothing was accepted")
	}
	const want = `package p

// F adds.
func (t *T) FPlantedRight(a int, more ...int) (n int) { return a + len(more) }

func (t *T) FPlantedX1(a int, more ...int) (n int) { return a - len(more) }

func (planted *T) F(planted0 int, planted1 ...int) (n int) {
	switch plantedBug {
	case "X1":
		return planted.FPlantedX1(planted0, planted1...)
	}
		return planted.FPlantedRight(planted0, planted1...)
}

func gPlantedRight() { h() }

func gPlantedX2() {  }

func g()  {
	switch plantedBug {
	case "X2":
		gPlantedX2()
		return
	}
		gPlantedRight()
}
`
	if got := p.text(); got != want {
		t.Error(got)
	}
}

// TestKit: the kits find a bug of each planner, and one of a program, as docs/testing.md tells.
func TestKit(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the kits")
	}
	t.Chdir("../../..")
	all, err := parse(list)
	if err != nil {
		t.Fatal(err)
	}
	o, dir := options{kit: true, lives: 300, seed: 1, limit: building}, t.TempDir()
	if err := build(all, dir, o); err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`^([A-Z]+\d+|Store), life \d+$`)
	for _, m := range all {
		switch m.number {
		case "M4", "M8", "W3":
			for _, test := range m.rightTests() {
				if got := m.liveInKit(dir, test, o); !found.MatchString(got) {
					t.Errorf("%s, %s: %s", m.number, test, got)
				}
			}
		}
	}
	right := mutant{edits: all[0].edits}
	if got := right.liveInKit(dir, "^TestBackend_Right$", options{lives: 20, seed: 1, limit: building}); got != "–" {
		t.Errorf("without a bug: %s", got)
	}
}
