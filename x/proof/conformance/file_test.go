package conformance

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/proof/conformance/ours"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
)

var (
	file  = flag.String("script", "", "play the script of that file, and print what both sides write")
	times = flag.Int("times", 1, "how often")
)

// TestFile plays one script, to examine a difference.
func TestFile(t *testing.T) {
	if *file == "" {
		t.Skip("no -script")
	}
	text, err := os.ReadFile(*file)
	must.OK(t, err)
	s, err := script.Parse(string(text))
	must.OK(t, err)
	Trace = func(step string, theirs, ours []string) {
		t.Logf("%s\ntheirs:\n  %s\nours:\n  %s", step, strings.Join(theirs, "\n  "), strings.Join(ours, "\n  "))
	}
	defer func() { Trace = nil }()
	for range *times {
		if r := Play(t, s, ours.Kubernetes(played)); r.Difference != "" {
			t.Error(r.Difference)
		}
	}
}
