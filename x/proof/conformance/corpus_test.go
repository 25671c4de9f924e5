package conformance

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
	"github.com/batchplan/batchplan/x/proof/conformance/ours"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
)

var again = flag.Int("again", 1, "how often to play each script of the corpus")

// TestCorpus plays the stored scripts. As its comment describes, each script shows a rule, or has
// once shown a difference.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "corpus", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			for range *again {
				playFile(t, file)
			}
		})
	}
}

// TestSteps_Pasted: the steps that a test kit has printed are a script, without a difference and with the same
// end as in a story of the planner and on the page.
func TestSteps_Pasted(t *testing.T) {
	const of = "../../../internal/line/testdata"
	text := testfile.Read(t, of, "steps.txt")
	s, err := script.Parse(text)
	must.OK(t, err)
	if r := Play(t, s, ours.Kubernetes(played)); r.Difference != "" || r.Steps < len(s.Steps) {
		t.Errorf("%d steps of %d: %s", r.Steps, len(s.Steps), clipped(r.Difference))
	}

	d := &divergence{script: text, look: func(l *life) string {
		j := convert.Job(server.List[*batchv1.Job](l.Server)[0])
		return j.Status.String()
	}}
	want := strings.TrimSpace(testfile.Read(t, of, "end.txt"))
	for _, side := range []side{theirSide, ourSide(ours.Kubernetes(played))} {
		if got := d.live(t, side); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// playFile plays a script in which the real controllers are deterministic, so that
// every difference counts.
func playFile(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	must.OK(t, err)
	s, err := script.Parse(string(text))
	must.OK(t, err)
	if s.Comment == "" {
		t.Error("the script does not say what it is about")
	}
	r := Play(t, s, ours.Kubernetes(played))
	switch {
	case r.Difference != "":
		t.Fatal(clipped(r.Difference))
	case r.Chance:
		t.Fatal("the script is left to chance")
	case r.Stuck:
		t.Fatal("the real controllers are stuck, and the script has not been played to its end")
	case r.Steps == 0:
		t.Fatal("the server refuses the script")
	}
}
