package job

import (
	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// findings are what a round has found out before it decides anything. They do not change
// afterwards.
type findings struct {
	// memory is what the round knows from earlier ones; it is satisfied when the round need not
	// wait for own writes to be seen.
	memory    *Memory
	satisfied bool

	pods    *census
	indexes *indexes
	// group is the one that new pods name.
	group jobgroup.Ref
	// known are the UIDs that the round has to recognize, and lists is what has become
	// of the uncounted ones.
	known  *uidTable
	lists  backlog
	policy failurePolicy
	// untimed are the failed pods whose finish time nothing tells, by UID.
	untimed  []sighting
	carriers carriers
	tally    tally
}

// scratch is memory that a Planner uses again in each round. Nothing is read from it
// before it is written.
type scratch struct {
	active   []int32
	carriers []int32
	untimed  []sighting
	pending  []pendingIndex
	due      []dueUntracking
	written  indexset.Set
	places   placeTable
}

// look counts the pods, and marks the known UIDs of those that carry the finalizer.
func (p *Planner) look(s *Snapshot, memory *Memory, notes *noteList) error {
	p.lists = p.known.learn(memory, s.Job.Status.UncountedTerminatedPods, p.lists, notes)
	return p.census.take(s, &p.known, shortcutsOf(s, &p.known))
}

// find collects what the round has to know before it decides, after a look.
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
