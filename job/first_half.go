package job

import (
	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// findings are everything that a round finds out before it decides. They do not change afterwards.
type findings struct {
	// memory is the memory of earlier rounds. satisfied is true when the expectations are satisfied
	// (E1).
	memory    *Memory
	satisfied bool

	pods    *census
	indexes *indexes
	// group is the pod group that new pods name.
	group jobgroup.Ref
	// known holds the UIDs that the round has to recognize. lists is the state of the uncounted
	// lists.
	known  *uidTable
	lists  backlog
	policy failurePolicy
	// untimed are the failed pods without a known finish time, sorted by UID.
	untimed  []sighting
	carriers carriers
	tally    tally
}

// scratch holds the buffers that a Planner reuses in each round. Nothing in them is read before it
// is written.
type scratch struct {
	active   []int32
	carriers []int32
	untimed  []sighting
	pending  []pendingIndex
	due      []dueUntracking
	written  indexset.Set
	places   placeTable
}

// look counts the pods, and marks in p.known the UIDs of pods that carry the finalizer.
func (p *Planner) look(s *Snapshot, memory *Memory, notes *noteList) error {
	p.lists = p.known.learn(memory, s.Job.Status.UncountedTerminatedPods, p.lists, notes)
	return p.census.take(s, &p.known, shortcutsOf(s, &p.known))
}

// find collects the findings of a round. It is called after look.
func (p *Planner) find(s *Snapshot, memory *Memory, notes *noteList) *findings {
	found := &p.found
	*found = findings{
		memory:    memory,
		satisfied: isSatisfied(memory, s.Now, s.Options.Quirks),
		pods:      &p.census,
		indexes:   &p.indexes,
		known:     &p.known,
		lists:     absorb(p.lists, &p.known),
		policy:    failurePolicyOf(s, memory.rest.Ignored),
		untimed:   findUntimed(p.scratch.untimed, s, &p.census, memory.rest.Untimed, notes),
	}

	p.indexes.find(s, &p.census, &found.policy, notes)
	found.carriers = findCarriers(p.scratch.carriers, s, &p.census, &p.indexes)
	found.tally = tallyUp(s, found)
	p.scratch.untimed, p.scratch.carriers = found.untimed, found.carriers.places

	noteUncovered(notes, s, &p.census)
	if start := s.Job.Status.StartTime; start.After(s.Now) {
		notes.add("job.status.startTime", value.Time(start), "lies in the future; the deadline counts from there")
	}
	return found
}
