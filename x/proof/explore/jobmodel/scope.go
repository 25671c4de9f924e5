package jobmodel

import (
	"time"

	"github.com/batchplan/batchplan/job"
)

// Scope is a world that is small enough to be explored completely: what it consists of, and
// what may happen in it how often. Whatever is not limited by a number may happen at any
// time.
type Scope struct {
	// Name is what the tests and the documentation call it, and Covers says what it is
	// for.
	Name, Covers string
	Spec         job.Spec
	Options      job.Options
	// Pods is the most pods at one time that the world or a controller still knows of. What leads to more
	// is not explored, and counted as cut.
	Pods int
	// Late shows the controller its objects one by one, each some time later, as a watch
	// does. Without it the controller reads its own writes and says so.
	Late bool
	// Versions lets the controller compare the version of the job with the one that its last
	// status write has made (E6).
	Versions bool
	// Controllers is 2 for two that overlap after a lost lease (F9); 0 means 1.
	Controllers int
	// Exits are the codes with which containers end.
	Exits []int32
	// Straight lets pods end without being seen to run.
	Straight bool
	// Budget is how often it may happen.
	Budget Budget
	// Edits are the changes of the spec that users may make, as often as the budget allows, as the
	// command "edit" of a story takes them.
	Edits []string
	// Steps are the durations by which the clock may advance, besides to the time of the
	// next requeue.
	Steps []time.Duration
	// Rest is the most calm steps to rest from any state; 0 leaves that check out.
	Rest int
	// Must are rules that the search has to exercise, or else the scope does not cover
	// what it is for.
	Must []string
}

// Budget limits what may happen in all. Each number is at most 255.
type Budget struct {
	// Fails, Lost, Crashes and OldLists are the faults F3, F4, F1 and F2 of writes.
	Fails, Lost, Crashes, OldLists uint8
	// Delays are status writes that seem to fail and take effect later, if the job is still the same
	// by then.
	Delays uint8
	// Restarts are restarts of containers.
	Restarts uint8
	// Evictions delete pods, Disruptions give them the condition DisruptionTarget before,
	// Strips remove finalizers, and Orphans are pods that appear without an owner (F6).
	Evictions, Disruptions, Strips, Orphans uint8
	// Edits are changes of the spec, Deletes deletions of the job (F7).
	Edits, Deletes uint8
	// Ticks advance the clock, and Backs turn it back by a minute (F8).
	Ticks, Backs uint8
}

// Option switches off what makes a search smaller, to measure it.
type Option uint8

const (
	// NoSymmetry tells pods apart by the order in which they were created.
	NoSymmetry Option = 1 << iota
	// NoReduction lets everything happen between any two writes of a round.
	NoReduction
	// named numbers the pods in the order of their creation, for stories.
	named
)
