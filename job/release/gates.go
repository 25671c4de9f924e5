package release

import (
	"iter"
	"strings"

	"github.com/batchplan/batchplan/internal/enum"
)

// A Gate is a feature gate.
type Gate uint8

// The feature gates that change decisions, by their names in Kubernetes. docs/releases.md describes
// what happens when each is off.
const (
	// JobManagedBy honours spec.managedBy, and lets API servers check statuses strictly.
	JobManagedBy Gate = 1 + iota
	// JobPodReplacementPolicy honours spec.podReplacementPolicy, and writes
	// status.terminating.
	JobPodReplacementPolicy
	// JobSuccessPolicy honours spec.successPolicy, and gives the reason CompletionsReached.
	JobSuccessPolicy
	// JobBackoffLimitPerIndex honours spec.backoffLimitPerIndex and spec.maxFailedIndexes.
	JobBackoffLimitPerIndex
	// PodIndexLabel gives pods the index as a label.
	PodIndexLabel
	// CronJobsScheduledAnnotation gives the jobs of CronJobs an annotation with the time of their
	// run.
	CronJobsScheduledAnnotation
	// SidecarContainers lets init containers with restartPolicy Always count for the finish time of
	// a pod.
	SidecarContainers
	// MutableSchedulingDirectivesForSuspendedJobs clears startTime when a job is
	// suspended, and lets its scheduling directives change.
	MutableSchedulingDirectivesForSuspendedJobs
	// MutablePodResourcesForSuspendedJobs lets the resources of a suspended job change.
	MutablePodResourcesForSuspendedJobs
	// StaleControllerConsistencyJob keeps the controller from planning before its caches
	// show its own writes (E6).
	StaleControllerConsistencyJob
	// WorkloadWithJob keeps spec.scheduling, and gives jobs a workload and a pod group. The gate of
	// this name in 1.36 uses other objects. It is not supported.
	WorkloadWithJob
)

// gateRow is the history of a gate.
type gateRow struct {
	name string
	// states has a letter for each minor release, from 1.31 on.
	states string
}

const (
	isAbsent = '.' // the release does not have the gate, so it is off
	isOff    = '-' // by default
	isOn     = '+' // by default
	isLocked = 'L' // on, and cannot be switched; or its code is gone
)

// table is in the order of the gates. A gate whose code is gone is locked.
var table = [...]gateRow{
	{"JobManagedBy", "-+++LLL"},
	{"JobPodReplacementPolicy", "+++LLLL"},
	{"JobSuccessPolicy", "++LLLLL"},
	{"JobBackoffLimitPerIndex", "++LLLLL"},
	{"PodIndexLabel", "+LLLLLL"},
	{"CronJobsScheduledAnnotation", "+LLLLLL"},
	{"SidecarContainers", "++LLLLL"},
	{"MutableSchedulingDirectivesForSuspendedJobs", "....-++"},
	{"MutablePodResourcesForSuspendedJobs", "....-++"},
	{"StaleControllerConsistencyJob", ".....++"},
	{"WorkloadWithJob", "......-"},
}

// permanent are gates that are locked in every release.
const permanent = "JobPodFailurePolicy|PodDisruptionConditions|ElasticIndexedJob"

// gateOf returns the gate of a name, or 0.
func gateOf(name string) Gate {
	for i := range table {
		if table[i].name == name {
			return Gate(i + 1)
		}
	}
	return 0
}

// isKnown reports whether the gate is one of the constants.
func (g Gate) isKnown() bool { return g >= 1 && int(g) <= len(table) }

func isPermanent(gate string) bool {
	for name := range strings.SplitSeq(permanent, "|") {
		if name == gate {
			return true
		}
	}
	return false
}

// state returns the state of the gate in a minor release.
func (g Gate) state(minor int) byte { return table[g-1].states[minor-firstMinor] }

// effective reports whether the gate is on by default.
func (g Gate) effective(minor int) bool {
	s := g.state(minor)
	return s == isOn || s == isLocked
}

const names = "JobManagedBy|JobPodReplacementPolicy|JobSuccessPolicy|JobBackoffLimitPerIndex|PodIndexLabel|" +
	"CronJobsScheduledAnnotation|SidecarContainers|MutableSchedulingDirectivesForSuspendedJobs|" +
	"MutablePodResourcesForSuspendedJobs|StaleControllerConsistencyJob|WorkloadWithJob"

// String returns the name of the gate.
func (g Gate) String() string { return enum.String(names, int(g)-1, "Gate") }

// Gates is a set of feature gates. The zero value is the empty set. Sets can be compared with ==
// and used as keys. As text and in JSON they are lists of names.
type Gates struct{ gates enum.Set[Gate] }

// GatesOf returns the set of the gates.
func GatesOf(gates ...Gate) Gates { return Gates{}.With(gates...) }

// IsZero reports whether the set is empty.
func (g Gates) IsZero() bool { return g.gates.IsZero() }

// Has reports whether the gate is in the set.
func (g Gates) Has(gate Gate) bool { return g.gates.Has(gate) }

// Equal is ==. Package go-cmp calls it.
func (g Gates) Equal(other Gates) bool { return g == other }

// With returns the set with the gates added. A number that is not a gate is left out.
func (g Gates) With(gates ...Gate) Gates { return Gates{g.gates.With(names, gates...)} }

// Without returns the set without the gates.
func (g Gates) Without(gates ...Gate) Gates { return Gates{g.gates.Without(gates...)} }

// All returns the gates in the set, in the order of their constants.
func (g Gates) All() iter.Seq[Gate] { return g.gates.All() }

// String lists the gates by name, with commas between them.
func (g Gates) String() string { return g.gates.Text(names) }

// MarshalText is [Gates.String].
func (g Gates) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads what MarshalText writes. Names may have spaces around them. An unknown name
// is an error and changes nothing.
func (g *Gates) UnmarshalText(text []byte) error { return enum.ReadSet(&g.gates, names, text) }
