package conformance

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/proof/conformance/ours"
	"github.com/batchplan/batchplan/x/proof/conformance/releases"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
	"github.com/batchplan/batchplan/x/proof/conformance/theirs"
)

var (
	which = flag.String("release", "", "the release of Kubernetes to play, with feature gates, such as 1.33,JobManagedBy=false")
	// played is the release that both sides play.
	played release.Release
)

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if played, err = releases.Choose(*which, utilfeature.DefaultMutableFeatureGate.Set); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	theirs.Quiet()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // the heap is small, and a script allocates much
	}
	code := m.Run()
	if longRun != nil {
		longRun.conclude()
	}
	os.Exit(code)
}

func TestFirst(t *testing.T) {
	s, err := script.ParseLine(`job {"parallelism":2,"completions":3,"completionMode":"Indexed",TEMPLATE}
run all; tick 2s; fail 0 code=1; tick 30s; run all; succeed all; tick 2s; succeed all; tick 2s; succeed all; tick 20s`)
	must.OK(t, err)
	r := Play(t, s, ours.Kubernetes(played))
	t.Log(r.Steps)
	if r.Difference != "" {
		t.Error(r.Difference)
	}
}
