package rounds

import (
	"strings"
	"testing"

	"github.com/batchplan/batchplan/job/release"
)

// TestJ44_DrawnGroups: with the gate WorkloadWithJob, our side plays each drawn round without a
// panic, and the rounds have all kinds of writes to groups.
func TestJ44_DrawnGroups(t *testing.T) {
	was := played
	defer func() { played = was }()
	gated, err := release.Newest().With(release.WorkloadWithJob, true)
	if err != nil {
		t.Fatal(err)
	}
	played = gated

	seen := map[string]int{}
	for number := range 3000 {
		s := drawJob(1, number)
		r := playOurs(s)
		if r.Panic != "" {
			t.Fatalf("round %d: %s\n%s", number, r.Panic, s)
		}
		for _, w := range r.Writes {
			words := strings.Fields(w)
			kind, group := words[1], strings.Contains(w, " in ")
			switch {
			case kind == "Workload" || kind == "PodGroup":
				seen[words[0]+" "+kind]++
			case words[0] == "create" && group:
				seen["create a pod of a group"]++
			}
		}
	}
	for _, what := range []string{
		"create Workload", "create PodGroup", "resize Workload", "resize PodGroup", "create a pod of a group",
	} {
		if seen[what] < 30 {
			t.Errorf("%s: %d times", what, seen[what])
		}
	}
}

// TestJ45_CreatesResized: the sides may differ in when a new group gets its size, and in nothing
// else.
func TestJ45_CreatesResized(t *testing.T) {
	const workload, small, resized, pod = "resize Workload w to 3: ok", "create PodGroup g of 2: ok",
		"resize PodGroup g to 3: ok", "create pod in g: ok"
	const failing, unresized, claim, deletion = "resize PodGroup g to 3: error", "resize Workload w to 3: error",
		"adopt p: ok", "delete p: ok"
	inOneStep := []string{workload, "create PodGroup g of 3: ok", pod}
	for _, test := range []struct {
		name         string
		theirs, ours []string
		want         bool
	}{
		{"a later size", []string{small, workload, resized, pod}, inOneStep, true},
		{"a pod less", []string{small, workload, resized}, inOneStep, false},
		{"no group", []string{workload, pod}, inOneStep, false},
		{"a group that ours resizes as well", []string{small, workload, resized, pod}, append(inOneStep, resized), false},
		{"a workload of the right size", []string{small, resized, pod}, []string{small, pod}, false},
		{"a size that theirs cannot write", []string{small, failing, workload}, inOneStep, true},
		{"then ours deletes a pod", []string{small, failing, workload}, append(inOneStep, deletion), false},
		{"ours leaves out what theirs did before", []string{claim, small, failing, workload}, inOneStep, false},
		{"both have done the same before", []string{claim, small, failing, workload}, append([]string{claim}, inOneStep...), true},
		{"a workload that cannot be resized", []string{small, unresized}, []string{unresized}, true},
		{"then ours goes on", []string{small, unresized}, []string{unresized, pod}, false},
	} {
		if got := createsResized(&Result{Writes: test.theirs}, &Result{Writes: test.ours}); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}
