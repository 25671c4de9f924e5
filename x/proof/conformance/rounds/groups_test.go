package rounds

import (
	"strings"
	"testing"

	"github.com/batchplan/batchplan/job/release"
)

// TestJ44_DrawnGroups: with the gate, our side plays each drawn round, and the rounds have all kinds
// of writes to groups.
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
