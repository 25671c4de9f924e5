package jobmodel

import (
	"cmp"
	"slices"
)

// maxPods and maxControllers are the greatest numbers of pods and controllers in a scope.
const (
	maxPods        = 6
	maxControllers = 2
)

// state is a state of the world. It refers to pods, statuses, specs and memories by number; each
// distinct value is stored once, see [values]. The zero pod means that there is no pod.
type state struct {
	now    uint32 // seconds since the start of the world
	status statusID
	// delayed is the status in a write that is on its way; 0 means none. The controller takes this
	// write for a failed one, but the write may still take effect until the job changes.
	delayed   statusID
	deletedAt uint32 // of the job: seconds since the start plus 1, 0 if it is not deleted
	spec      specID
	groups    groups
	born      uint8 // the number of pods so far, if they are numbered
	past      past
	left      Budget
	control   [maxControllers]controller
	pods      [maxPods]pod
}

// past is the part of the world's history that no controller can see: jobcheck.History without its
// pods.
type past struct {
	succeeded      uint8 // the indexes of which a pod has succeeded
	maxParallelism uint8
	lostCreates    uint8
	lostStatus     bool
	restarted      bool
	traveled       bool
	edited         bool
	lagged         bool
}

// controller is the state of a controller: what it has seen, its memory, and its round.
type controller struct {
	// status, deletedAt, spec and groups are the job as the controller saw it. behind is the number
	// of versions by which this view is older than the job, if versions are compared.
	status    statusID
	deletedAt uint32
	spec      specID
	groups    groups
	behind    uint8
	// unacked counts the versions of the job from this controller's last status write on, including
	// the version of that write. Only writes whose success the controller knows count; 0 means
	// none.
	unacked uint8
	// memory is the memory without the parts about single pods, and creations, deletions
	// and expectedAt are its expectations.
	memory               memoryID
	expectedAt           uint32
	creations, deletions uint8
	// round is the round under way, 0 for none. current is true while the round knows the newest
	// version of the job.
	round   roundID
	current bool
	// again is the requeue of the last round, in seconds since the start plus 1. retry and dirty
	// ask for a round now: retry because the last one failed, dirty because something has happened
	// since it began.
	again        uint32
	retry, dirty bool
}

// pod is one pod as the world, its controllers and their rounds know it.
type pod struct {
	live podID
	seen [maxControllers]podID
	// listed is the uncounted list that the pod is in, by the live status. seenIn is the same by
	// the statuses that the controllers have seen.
	listed listed
	seenIn [maxControllers]listed
	// delayed is the pod's list in the status of the write that has not taken effect yet.
	delayed listed
	// noted is what each controller's memory holds about the pod.
	noted [maxControllers]notes
	// place is the place of the pod in the snapshot of a round, plus 1.
	place [maxControllers]uint8
	facts facts
	// id is the number of the pod, if pods are numbered.
	id uint8
}

// listed tells in which uncounted list of a status a pod is, if any.
type listed uint8

const (
	listedSucceeded listed = 1 << iota
	listedFailed
)

// notes is what a memory holds about a pod.
type notes uint8

const (
	noteUntracking notes = 1 << iota
	noteHandled
	noteReported
)

// facts are the history of a pod: jobcheck.Life.
type facts uint8

const (
	factSucceeded facts = 1 << iota
	factFailed
	factCountedSucceeded
	factCountedFailed
	factRemoved
	// factChanged: the pod has changed since the controller's round began.
	factChanged
	_ // the same for the second controller
)

func changedFor(c int) facts { return factChanged << c }

// isForgotten reports whether neither the world nor a controller knows of the pod any more.
func (p *pod) isForgotten() bool {
	switch {
	case p.live != 0,
		p.seen != [maxControllers]podID{},
		p.listed|p.delayed != 0,
		p.seenIn != [maxControllers]listed{},
		p.noted != [maxControllers]notes{}:
		return false
	}
	return p.place == [maxControllers]uint8{}
}

// number gives a new pod its number.
func (s *state) number(i int) {
	s.born++
	s.pods[i].id = s.born
}

// compact drops the forgotten pods. The others stay in the order of their creation.
func (s *state) compact() {
	n := 0
	for i := range s.pods {
		if !s.pods[i].isForgotten() {
			s.pods[n] = s.pods[i]
			n++
		}
	}
	for ; n < maxPods; n++ {
		s.pods[n] = pod{}
	}
}

// sort puts the pods into an order that depends only on their contents. States that differ only in
// the identity of pods become the same.
//
// This is sound since neither the world nor the checks look at identities, and the planner looks at
// them only to break ties: among pods that look the same it takes the one with the lowest UID. Real
// UIDs are random. So a round begins once for each way to assign UIDs to pods that look the same
// but differ in what the controller cannot see: see beginRounds.
func (s *state) sort() {
	n := s.known()
	slices.SortFunc(s.pods[:n], func(a, b pod) int { return comparePods(&a, &b) })
}

// known returns the number of pods that the world or a controller knows of.
func (s *state) known() int {
	n := maxPods
	for n > 0 && s.pods[n-1] == (pod{}) {
		n--
	}
	return n
}

func comparePods(a, b *pod) int {
	if *a == *b {
		return 0
	}
	x, y := a.words(), b.words()
	return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]))
}

// words returns all fields of the pod.
func (p *pod) words() [2]uint64 {
	return [2]uint64{
		uint64(p.live)<<48 | uint64(p.seen[0])<<32 | uint64(p.seen[1])<<16 | uint64(p.facts)<<8 |
			uint64(p.delayed)<<6 | uint64(p.listed)<<4 | uint64(p.seenIn[0])<<2 | uint64(p.seenIn[1]),
		uint64(p.id)<<32 | uint64(p.noted[0])<<24 | uint64(p.noted[1])<<16 | uint64(p.place[0])<<8 | uint64(p.place[1]),
	}
}
