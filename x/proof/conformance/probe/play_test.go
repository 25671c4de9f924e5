package probe

import (
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

// TestProbesAreRead: a line that is not a request is an error that names the line, and each probe
// in Go is played.
func TestProbesAreRead(t *testing.T) {
	for _, text := range []string{"pod create p", "# a\npod create", "# a\npod sing p", "let Complete {}"} {
		if _, err := parseProbes(text); err == nil || !strings.Contains(err.Error(), "probes.txt:") {
			t.Errorf("%q: %v", text, err)
		}
	}

	all, err := All()
	must.OK(t, err)

	played := map[string]bool{}
	for _, p := range all {
		for _, st := range p.steps {
			if st.verb == "go" {
				played[p.Name] = true
				if special[p.Name] == nil {
					t.Errorf("no probe in Go is called %q", p.Name)
				}
			}
		}
	}

	if len(played) != len(special) || len(all) < 80 {
		t.Errorf("%d of %d probes in Go are played, among %d", len(played), len(special), len(all))
	}
}
