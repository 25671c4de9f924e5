//go:build before137

package gates

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/version"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/proof/conformance/ours"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
	"github.com/batchplan/batchplan/x/proof/conformance/theirs"
)

// upstream holds the claims of the integration tests of Kubernetes that switch gates, as scripts of
// our own. Step "see" names what the job must show on both sides. Step "gate" switches a gate and
// restarts the controllers. Step "resources" changes the resources in the pod template. Step
// "groups" names the number of pods that are scheduled as part of a group.
var upstream = []struct {
	// name is the name of the test in Kubernetes, and about describes the case.
	name, about string
	// release is the release that the server and the controllers emulate, with the gates that are
	// off at first.
	release, script string
}{
	{"TestDelayTerminalPhaseCondition", "a failure, both gates off", "1.32,JobManagedBy=false,JobPodReplacementPolicy=false,JobSuccessPolicy=false", failure +
		`; see failed 2 Failed:BackoffLimitExceeded; gone 1; see failed 2 Failed:BackoffLimitExceeded`},
	{"TestDelayTerminalPhaseCondition", "a failure with JobPodReplacementPolicy", "1.32,JobManagedBy=false,JobSuccessPolicy=false", failure +
		`; see failed 2 terminating 1 FailureTarget:BackoffLimitExceeded; gone 1; see failed 2 terminating 0 FailureTarget:BackoffLimitExceeded Failed:BackoffLimitExceeded`},
	{"TestDelayTerminalPhaseCondition", "a failure with JobManagedBy", "1.32,JobPodReplacementPolicy=false,JobSuccessPolicy=false", failure +
		`; see failed 2 FailureTarget:BackoffLimitExceeded; gone 1; see failed 2 FailureTarget:BackoffLimitExceeded Failed:BackoffLimitExceeded`},
	{"TestDelayTerminalPhaseCondition", "a success, both gates off", "1.32,JobManagedBy=false,JobPodReplacementPolicy=false,JobSuccessPolicy=false", success +
		`; see succeeded 1 completed 0 Complete`},
	{"TestDelayTerminalPhaseCondition", "a success with JobPodReplacementPolicy", "1.32,JobManagedBy=false,JobSuccessPolicy=false", success +
		`; see succeeded 1 terminating 1 completed 0 SuccessCriteriaMet; gone 1; see succeeded 1 terminating 0 completed 0 SuccessCriteriaMet Complete`},
	{"TestDelayTerminalPhaseCondition", "a success with JobManagedBy", "1.32,JobPodReplacementPolicy=false,JobSuccessPolicy=false", success +
		`; see succeeded 1 completed 0 SuccessCriteriaMet; gone 1; see succeeded 1 completed 0 SuccessCriteriaMet Complete`},
	{"TestDelayTerminalPhaseCondition", "a success with JobManagedBy and JobSuccessPolicy", "1.32,JobPodReplacementPolicy=false", success +
		`; see succeeded 1 completed 0 SuccessCriteriaMet:CompletionsReached; gone 1; see succeeded 1 completed 0 SuccessCriteriaMet:CompletionsReached Complete:CompletionsReached`},
	{"TestDelayTerminalPhaseCondition", "a success with JobPodReplacementPolicy and JobSuccessPolicy", "1.32,JobManagedBy=false", success +
		`; see succeeded 1 terminating 1 completed 0 SuccessCriteriaMet:CompletionsReached
gone 1; see succeeded 1 terminating 0 completed 0 SuccessCriteriaMet:CompletionsReached Complete:CompletionsReached`},

	{"TestSuccessPolicy", "with the gate", "1.32", leader +
		`; see succeeded 1 terminating 1 completed 0 SuccessCriteriaMet:SuccessPolicy; gone 1; see succeeded 1 terminating 0 completed 0 SuccessCriteriaMet:SuccessPolicy Complete:SuccessPolicy`},
	{"TestSuccessPolicy", "the gate is off, and the field is dropped", "1.32,JobSuccessPolicy=false", leader +
		`; see active 1 succeeded 1 terminating 0 completed 0; succeed 1; see succeeded 2 terminating 0 completed "0,1" SuccessCriteriaMet Complete`},
	{"TestSuccessPolicy_ReEnabling", "", "1.32",
		`job {"parallelism":5,"completions":5,"completionMode":"Indexed","successPolicy":{"rules":[{"succeededCount":3}]},TEMPLATE}; run all; succeed 0; see active 4 succeeded 1 terminating 0 completed 0
gate JobSuccessPolicy=false; succeed 1; see active 3 succeeded 2 terminating 0 completed "0,1"
gate JobSuccessPolicy=true; succeed 2; see succeeded 3 terminating 2 completed 0-2 SuccessCriteriaMet:SuccessPolicy
gone all; see succeeded 3 terminating 0 completed 0-2 SuccessCriteriaMet:SuccessPolicy Complete:SuccessPolicy`},

	{"TestBackoffLimitPerIndex_Reenabling", "", "1.32",
		`job {"parallelism":3,"completions":3,"completionMode":"Indexed","backoffLimitPerIndex":0,TEMPLATE}; run all; fail 0 code=1; see active 2 failed 1 terminating 0 failedIndexes 0
gate JobBackoffLimitPerIndex=false; fail 1 code=1; tick 30s; see active 3 failed 2 terminating 0
gate JobBackoffLimitPerIndex=true; run all; fail 4 code=1; tick 30s; see active 2 failed 3 terminating 0 failedIndexes 2
succeed all; see succeeded 2 failed 3 terminating 0 completed "0,1" failedIndexes 2 FailureTarget:FailedIndexes Failed:FailedIndexes`},

	{"TestManagedBy", "no value", "1.32",
		`job {TEMPLATE}; see active 1 terminating 0`},
	{"TestManagedBy", "the value of the built-in controller", "1.32",
		`job {"managedBy":"kubernetes.io/job-controller",TEMPLATE}; see active 1 terminating 0`},
	{"TestManagedBy", "the value of another", "1.32", other +
		`; see`},
	{"TestManagedBy", "the value of another, suspended", "1.32",
		`job {"suspend":true,"managedBy":"example.com/controller",TEMPLATE}; see`},
	{"TestManagedBy", "the gate is off, and the field is dropped", "1.32,JobManagedBy=false", other +
		`; see active 1 terminating 0`},
	{"TestManagedBy_Reenabling", "", "1.32", other +
		`; see; gate JobManagedBy=false; see active 1 terminating 0; gate JobManagedBy=true; succeed 0; see active 1 terminating 0`},

	{"TestJobPodReplacementPolicy", "the gate is off", "1.33,JobPodReplacementPolicy=false",
		`job {"parallelism":2,"completions":2,"completionMode":"Indexed",TEMPLATE}` + replaced +
			`; tick 30s; see active 2 failed 2; gone all 1; see active 2 failed 2`},
	{"TestJobPodReplacementPolicy", "TerminatingOrFailed", "1.33",
		`job {"parallelism":2,"completions":2,"podReplacementPolicy":"TerminatingOrFailed",TEMPLATE}` + replaced +
			`; tick 30s; see active 2 failed 2 terminating 2; gone all 1; see active 2 failed 2 terminating 0`},
	{"TestJobPodReplacementPolicy", "Failed", "1.33",
		`job {"parallelism":2,"completions":2,"completionMode":"Indexed","podReplacementPolicy":"Failed",TEMPLATE}` + replaced +
			`; see terminating 2; gone all 1; tick 30s; see active 2 failed 2 terminating 0`},
	{"TestJobPodReplacementPolicy", "the gate is off, with a podFailurePolicy", "1.33,JobPodReplacementPolicy=false",
		`job {"parallelism":2,"completions":2,"podReplacementPolicy":"Failed","podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[5]}}]},TEMPLATE}` + replaced +
			`; see; gone all 1; tick 30s; see active 2 failed 2`},
	{"TestJobPodReplacementPolicyFeatureToggling", "", "1.33",
		`job {"parallelism":2,"completions":2,"podReplacementPolicy":"Failed",TEMPLATE}` + replaced +
			`; see terminating 2
gate JobPodReplacementPolicy=false; tick 30s; see active 2 failed 2
gate JobPodReplacementPolicy=true; see active 2 failed 2 terminating 2
run all; delete all 30; see failed 2 terminating 4`},

	{"TestUpdateJobPodResources", "with the gate", "1.36",
		`job {"suspend":true,TEMPLATE}; resources 1 taken; suspend off; resources 2 refused; see active 1 terminating 0; run all; suspend on; resources 2 taken; see terminating 1`},
	{"TestUpdateJobPodResources", "the gate is off", "1.36,MutablePodResourcesForSuspendedJobs=false",
		`job {"suspend":true,TEMPLATE}; resources 1 refused; suspend off; resources 1 refused; see active 1 terminating 0; run all; suspend on; resources 1 refused; see terminating 1`},

	{"TestJobGangScheduling", "the gate is off: pods of no group", "1.36",
		`job {"parallelism":3,"completions":3,"completionMode":"Indexed",TEMPLATE}; see active 3 terminating 0
groups 0; run all; succeed all; see succeeded 3 terminating 0 completed 0-2 SuccessCriteriaMet:CompletionsReached Complete:CompletionsReached`},
}

const (
	failure  = `job {"parallelism":2,"completions":2,"backoffLimit":0,TEMPLATE}; run all; fail 0 code=1`
	success  = `job {"parallelism":2,"completions":2,"completionMode":"Indexed",TEMPLATE}; run all; succeed 0; resize 1`
	leader   = `job {"parallelism":2,"completions":2,"completionMode":"Indexed","successPolicy":{"rules":[{"succeededIndexes":"0"}]},TEMPLATE}; run all; succeed 0`
	other    = `job {"managedBy":"example.com/controller",TEMPLATE}`
	replaced = "; run all; delete all 30"
)

// TestUpstream plays the scripts of upstream to both sides.
func TestUpstream(t *testing.T) {
	for _, test := range upstream {
		t.Run(strings.TrimSpace(test.name+" "+test.about), func(t *testing.T) {
			r, err := release.Parse(test.release)
			must.OK(t, err)
			s, err := script.ParseLine(strings.ReplaceAll(test.script, "TEMPLATE", template), "see", "gate", "resources", "groups")
			must.OK(t, err)

			featuregatetesting.SetFeatureGateEmulationVersionDuringTest(t, utilfeature.DefaultFeatureGate, version.MustParse(r.Defaults().String()))
			overrides := featuregatetesting.FeatureOverrides{}
			for gate := range r.Switchable().All() {
				overrides[featuregate.Feature(gate.String())] = r.Has(gate)
			}
			featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, overrides)

			t.Run("theirs", func(t *testing.T) {
				see(t, s, r, func(s *server.Server, _ release.Release) ([]func(), func()) {
					return theirs.New(s.Client(), theirs.Which{Jobs: true, Stale: true})
				})
			})

			t.Run("ours", func(t *testing.T) {
				see(t, s, r, func(s *server.Server, r release.Release) ([]func(), func()) {
					options := job.Kubernetes(release.V136()) // its code, with the gates of an older release
					options.Without = r.Off()
					return ours.New(s.Client(), ours.Options{Job: options, Jobs: true, Stale: true})
				})
			})
		})
	}
}

// see plays a script to one side, and compares what the job shows.
func see(t *testing.T, s *script.Script, r release.Release, controllers func(*server.Server, release.Release) ([]func(), func())) {
	defer switchGates(t, r) // back to the release's gates
	synctest.Test(t, func(t *testing.T) {
		w, err := script.NewWorld(s, func(s *server.Server) ([]func(), func()) { return controllers(s, r) })
		must.OK(t, err)
		defer w.Stop()
		settle(w)
		for _, step := range s.Steps {
			switch step.Op {
			case "see":
				time.Sleep(5 * time.Second) // rounds come a second after the pods' events
				settle(w)
				if got, want := shown(server.List[*batchv1.Job](w.Server)[0].Status), strings.Join(step.Args, " "); got != want {
					t.Errorf("the job shows %q, want %q", got, want)
				}
			case "gate":
				if r, err = release.Parse(r.String() + "," + step.Arg(0)); err != nil {
					t.Fatal(err)
				}
				switchGates(t, r)
				must.OK(t, w.Do(s, script.Step{Op: "restart-controllers"}))
			case "resources":
				if got := resources(w.Server, step.Arg(0)); got != step.Arg(1) {
					t.Errorf("step %q: %s", step, got)
				}
			case "groups":
				if got := strconv.Itoa(groups(w.Server)); got != step.Arg(0) {
					t.Errorf("%s pods belong to a group, want %s", got, step.Arg(0))
				}
			case "tick":
				d, _ := step.Tick()
				time.Sleep(d)
			default:
				if err := w.Do(s, step); err != nil {
					t.Errorf("step %q: %v", step, err)
				}
			}
			settle(w)
		}
	})
}

// resources sets another limit of the job's containers, and reports whether the server accepts the
// change.
func resources(s *server.Server, cpu string) string {
	err := server.Change(s, script.Namespace, "j", func(j *batchv1.Job) {
		j.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	})
	if err != nil {
		return "refused"
	}
	return "taken"
}

// groups counts the pods that are scheduled with others.
func groups(s *server.Server) (n int) {
	for _, p := range server.List[*corev1.Pod](s) {
		if p.Spec.SchedulingGroup != nil {
			n++
		}
	}
	return n
}

func switchGates(t *testing.T, r release.Release) {
	for gate := range r.Switchable().All() {
		must.OK(t, utilfeature.DefaultMutableFeatureGate.Set(fmt.Sprintf("%s=%t", gate, r.Has(gate))))
	}
}

// shown returns the counts of a status, and its conditions with their reasons. It leaves out absent
// fields, and the counts of 0 in fields that are always present.
func shown(s batchv1.JobStatus) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }

	for _, count := range []struct {
		name string
		n    int32
	}{{"active", s.Active}, {"succeeded", s.Succeeded}, {"failed", s.Failed}} {
		if count.n != 0 {
			add("%s %d", count.name, count.n)
		}
	}

	if s.Terminating != nil {
		add("terminating %d", *s.Terminating)
	}
	if s.CompletedIndexes != "" {
		add("completed %s", s.CompletedIndexes)
	}
	if s.FailedIndexes != nil && *s.FailedIndexes != "" {
		add("failedIndexes %s", *s.FailedIndexes)
	}

	for _, c := range s.Conditions {
		if c.Type == batchv1.JobSuspended {
			continue
		}
		parts = append(parts, strings.TrimSuffix(fmt.Sprintf("%s:%s", c.Type, c.Reason), ":"))
	}

	return strings.Join(parts, " ")
}
