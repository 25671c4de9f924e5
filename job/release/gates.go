package release

import (
	"strings"

	"github.com/batchplan/batchplan/internal/enum"
)

// Gates is a set of feature gates.
type Gates uint16

// The feature gates that change decisions, by their names in Kubernetes. What each does
// when it is off is in docs/releases.md.
const (
	// JobManagedBy honours spec.managedBy, and lets API servers check statuses strictly.
	JobManagedBy Gates = 1 << iota
	// JobPodReplacementPolicy honours spec.podReplacementPolicy, and writes
	// status.terminating.
	JobPodReplacementPolicy
	// JobSuccessPolicy honours spec.successPolicy, and gives the reason CompletionsReached.
	JobSuccessPolicy
	// JobBackoffLimitPerIndex honours spec.backoffLimitPerIndex and spec.maxFailedIndexes.
	JobBackoffLimitPerIndex
	// PodIndexLabel gives pods the index as a label.
	PodIndexLabel
	// CronJobsScheduledAnnotation gives the jobs of CronJobs the time of their run.
	CronJobsScheduledAnnotation
	// SidecarContainers lets the containers with restartPolicy Always among the init
	// containers count in the time at which a pod finished.
	SidecarContainers
	// MutableSchedulingDirectivesForSuspendedJobs clears startTime when a job is
	// suspended, and lets its scheduling directives change.
	MutableSchedulingDirectivesForSuspendedJobs
	// MutablePodResourcesForSuspendedJobs lets the resources of a suspended job change.
	MutablePodResourcesForSuspendedJobs
	// StaleControllerConsistencyJob keeps the controller from planning before its caches
	// show its own writes (E6).
	StaleControllerConsistencyJob
	// WorkloadWithJob keeps spec.scheduling, and gives jobs a workload and a pod group. That of 1.36,
	// whose objects are others, is not known here.
	WorkloadWithJob
)

// gateRow is what becomes of a gate from release to release.
type gateRow struct {
	name string
	// states has a letter for each release from the first.
	states string
}

const (
	isAbsent = '.' // the release does not have it; it is off
	isOff    = '-' // by default
	isOn     = '+' // by default
	isLocked = 'L' // on, and cannot be switched; or its code is gone
)

// table is in the order of the bits. A gate whose code is gone is locked.
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

// indexOf returns the place of a gate in the table, or -1.
func indexOf(gate string) int {
	for i, row := range table {
		if row.name == gate {
			return i
		}
	}
	return -1
}

func isPermanent(gate string) bool {
	for name := range strings.SplitSeq(permanent, "|") {
		if name == gate {
			return true
		}
	}
	return false
}

func (g gateRow) state(minor int) byte { return g.states[minor-int(first)] }

// effective reports whether the gate is on by default.
func (g gateRow) effective(minor int) bool {
	s := g.state(minor)
	return s == isOn || s == isLocked
}

const names = "JobManagedBy|JobPodReplacementPolicy|JobSuccessPolicy|JobBackoffLimitPerIndex|PodIndexLabel|" +
	"CronJobsScheduledAnnotation|SidecarContainers|MutableSchedulingDirectivesForSuspendedJobs|" +
	"MutablePodResourcesForSuspendedJobs|StaleControllerConsistencyJob|WorkloadWithJob"

// Has reports whether any of the gates is in the set.
func (g Gates) Has(gates Gates) bool { return g&gates != 0 }

// String lists the gates by name, with commas between them.
func (g Gates) String() string { return enum.SetString(names, uint(g)) }

// MarshalText is [Gates.String].
func (g Gates) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads what MarshalText writes. Names may have spaces around them.
func (g *Gates) UnmarshalText(text []byte) error {
	set, err := enum.ParseSet(names, string(text))
	*g = Gates(set)
	return err
}
