package probe_test

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/x/proof/conformance/apiserver"
	"github.com/batchplan/batchplan/x/proof/conformance/probe"
)

const answers = "testdata/answers.txt"

var update = flag.Bool("update", false, "rewrite "+answers+" with the answers of the real API server")

// TestReal asks a real kube-apiserver and compares its answers with the stored
// ones.
func TestReal(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a real API server")
	}
	got, err := probe.Run(t.Context(), probe.Target{Client: apiserver.Start(t)})
	must.OK(t, err)
	if *update {
		must.OK(t, os.WriteFile(answers, []byte(probe.Format(got)), 0o644))
	}
	compare(t, got, nil)
}

// compare fails the test if an answer differs from the stored one. The probes in except are
// exceptions: compare fails the test if the answer to one of them does not differ.
func compare(t *testing.T, got []probe.Result, except map[string]string) {
	t.Helper()
	want := map[string][]string{}
	for _, r := range onFile(t) {
		want[r.Name] = r.Lines
	}
	for _, r := range got {
		t.Run(r.Name, func(t *testing.T) {
			d := cmp.Diff(want[r.Name], r.Lines)
			switch why, ok := except[r.Name]; {
			case ok && d == "":
				t.Errorf("no longer differs, so it is not an exception (%s)", why)
			case ok:
				t.Skipf("%s:\n%s", why, d)
			case d != "":
				t.Errorf("the answers differ (- on file, + given):\n%s", d)
			}
		})
		delete(want, r.Name)
	}
	for name := range want {
		t.Errorf("%s: on file, but not asked", name)
	}
}

func onFile(t *testing.T) []probe.Result {
	t.Helper()
	text := testfile.Read(t, answers)
	return probe.Parse(text)
}
