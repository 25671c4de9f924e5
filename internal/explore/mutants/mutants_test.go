package main

import (
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
