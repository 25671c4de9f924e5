//go:build before137

package gates

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/version"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/features"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/proof/conformance/ours"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
	"github.com/batchplan/batchplan/x/proof/conformance/theirs"
)

func TestMain(m *testing.M) {
	theirs.Quiet()
	os.Exit(m.Run())
}

// TestNoSuccessCriteriaMet plays the ends of jobs to both sides on a server whose gates
// JobManagedBy and JobPodReplacementPolicy are off. What differs is in docs/divergences.md.
func TestNoSuccessCriteriaMet(t *testing.T) {
	featuregatetesting.SetFeatureGateEmulationVersionDuringTest(t, utilfeature.DefaultFeatureGate, version.MustParse("1.33"))
	featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{
		features.JobManagedBy: false, features.JobPodReplacementPolicy: false,
	})
	options := job.Kubernetes(release.V136())
	options.NoSuccessCriteriaMet = true
	const failJob = `"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[42]}}]}`
	const leader = `"completionMode":"Indexed","successPolicy":{"rules":[{"succeededIndexes":"0"}]}`
	for _, test := range []struct {
		name, script string
		theirs, ours string
	}{
		{"a success", `job {"parallelism":1,"completions":1,TEMPLATE}; run 0; succeed 0; tick 5s`,
			"Complete", "Complete"},
		{"a success while a pod terminates", `job {"parallelism":2,"completions":1,TEMPLATE}; run all; delete 1 30; succeed 0; tick 5s`,
			"Complete", "Complete"},
		{"a success by a policy", `job {"parallelism":2,"completions":2,` + leader + `,TEMPLATE}; run all; succeed 0; tick 2s; gone 1; tick 5s`,
			"SuccessCriteriaMet Complete", "SuccessCriteriaMet Complete"},
		{"a failure by a policy", `job {"parallelism":1,"completions":1,` + failJob + `,TEMPLATE}; run 0; fail 0 code=42; tick 5s`,
			"FailureTarget Failed", "FailureTarget Failed"},
		{"a failure", `job {"parallelism":1,"completions":1,"backoffLimit":0,TEMPLATE}; run 0; fail 0 code=1; tick 5s`,
			"Failed", "FailureTarget Failed"},
		{"a failure while a pod terminates", `job {"parallelism":2,"completions":2,"backoffLimit":0,TEMPLATE}; run all; fail 0 code=1; tick 5s`,
			"Failed", "FailureTarget"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := conditions(t, test.script, nil); got != test.theirs {
				t.Errorf("theirs: %s, want %s", got, test.theirs)
			}
			if got := conditions(t, test.script, &options); got != test.ours {
				t.Errorf("ours: %s, want %s", got, test.ours)
			}
		})
	}
}

const template = `"template":{"spec":{"restartPolicy":"Never","terminationGracePeriodSeconds":30,"containers":[{"name":"main","image":"i"}]}}`

// conditions plays a script with our controllers, or with theirs if options is nil. It returns the
// conditions of the job, and what the server has refused.
func conditions(t *testing.T, text string, options *job.Options) string {
	s, err := script.ParseLine(strings.ReplaceAll(text, "TEMPLATE", template))
	must.OK(t, err)
	// The emulated release does not know the gate that Stale switches off.
	controllers := func(s *server.Server) ([]func(), func()) {
		return theirs.New(s.Client(), theirs.Which{Jobs: true, Stale: true})
	}
	if options != nil {
		controllers = func(s *server.Server) ([]func(), func()) {
			return ours.New(s.Client(), ours.Options{Job: *options, Jobs: true})
		}
	}

	var seen []string
	synctest.Test(t, func(t *testing.T) {
		w, err := script.NewWorld(s, controllers)
		must.OK(t, err)
		defer w.Stop()
		settle(w)

		for _, step := range s.Steps {
			if d, ticks := step.Tick(); ticks {
				time.Sleep(d)
			} else if err := w.Do(s, step); err != nil {
				t.Fatal(err)
			}
			settle(w)
		}

		for _, c := range server.List[*batchv1.Job](w.Server)[0].Status.Conditions {
			seen = append(seen, string(c.Type))
		}
		for _, write := range w.Journal() {
			if write.Answer != "" {
				seen = append(seen, fmt.Sprintf("(%s: %s)", write, write.Answer))
			}
		}
	})

	return strings.Join(seen, " ")
}

func settle(w *script.World) {
	for ok := true; ok; ok = w.Collect() > 0 {
		synctest.Wait()
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
	}
}
