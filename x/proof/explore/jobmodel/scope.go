package jobmodel

import (
	"time"

	"github.com/batchplan/batchplan/job"
)

// Scope is a world that is small enough to be explored completely: its objects, what may happen in
// it, and how often. Whatever has no limit here may happen any number of times, at any time.
type Scope struct {
	// Name identifies the scope in tests and documents. Covers describes what it is for.
	Name, Covers string
	Spec         job.Spec
	Options      job.Options
	// Pods is the greatest number of pods that the world and its controllers know of at one time. A
	// move that leads to more is not explored, but counted as cut.
	Pods int
	// Late shows the controller its objects one by one, each some time later, as a watch does.
	// Without it the controller reads its own writes, and its snapshots are Consistent.
	Late bool
	// Versions lets the controller compare the version of the job with the version of its own last
	// status write (E6).
	Versions bool
	// Controllers is 2 for two controllers that overlap after a lost lease (F9); 0 means 1.
	Controllers int
	// Exits are the codes with which containers end.
	Exits []int32
	// Straight lets pods end without a state in which they run.
	Straight bool
	// Budget limits how often faults, edits and ticks may happen.
	Budget Budget
	// Edits are the changes of the spec that users may make, as often as the budget allows, in the
	// form of a story's command "edit".
	Edits []string
	// Steps are durations by which the clock may advance. It may also advance to the time of the
	// next requeue.
	Steps []time.Duration
	// Rest is the greatest allowed number of steps from any state to rest, if nothing goes wrong in
	// these steps; 0 omits that check.
	Rest int
	// Must names the rules that the search has to exercise, so that the scope covers what it is
	// for.
	Must []string
}

// Budget limits how often each thing may happen in total.
type Budget struct {
	// Fails are writes that fail (F3), Lost are lost replies (F4), Crashes are crashes between
	// writes (F1), and OldLists are restarts with an older list (F2).
	Fails, Lost, Crashes, OldLists uint8
	// Delays are status writes that seem to fail. They take effect later, unless the job changes
	// first.
	Delays uint8
	// Restarts are restarts of containers.
	Restarts uint8
	// PodDeletes delete pods, Evictions also give them the condition DisruptionTarget first,
	// Strips remove finalizers, and Orphans are pods that appear without an owner (F6).
	PodDeletes, Evictions, Strips, Orphans uint8
	// Edits are changes of the spec, and Deletes are deletions of the job (F7).
	Edits, Deletes uint8
	// Ticks advance the clock, and Backs turn it back by a minute (F8).
	Ticks, Backs uint8
}

// Option switches off a reduction of the search, for tests.
type Option uint8

const (
	// NoSymmetry distinguishes pods by the order in which they were created.
	NoSymmetry Option = 1 << iota
	// NoReduction lets everything happen between any two writes of a round.
	NoReduction
	// named numbers the pods in the order of their creation, for stories.
	named
)
