package sim

import (
	"strconv"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// podPhase is the state of a pod, which is finer than its phase in the API.
type podPhase uint8

const (
	podNew     podPhase = iota // not seen by the scheduler yet
	podPending                 // waits for a node
	podBound                   // on a node; containers have not started
	podRunning
	podEnded
)

// pod is a pod as the API server and its node know it.
type pod struct {
	// Pod is the pod as the API server has it. Its Detail and Deletion are in detail.
	job.Pod
	detail *detail
	of     *jobState
	// place is the pod's place in the controller's view of its job, or -1.
	place int32
	// next and prev are the next and the previous pod of the job, or -1.
	next, prev int32
	node       int32
	// number is the number of the pod in its job, from 0.
	number   int32
	restarts int32
	record   int32
	// timer is the generation of the pod's next event.
	timer uint32
	// life counts the pods that have been stored at this place.
	life    uint32
	state   podPhase
	run     Life
	running int64 // when the containers started, or -1
	// began is when the work began, or -1: before Pod.Quorum is met, containers run and do nothing.
	began   int64
	created int64
	grouped bool // it names the job's pod group
	lost    bool // the node does not answer
}

// podStore holds the pods that exist.
type podStore struct {
	all  []pod
	free []int32
	// names is a buffer for a name. details is memory for new details, and used the details of pods that are gone.
	names   []byte
	details []detail
	used    []*detail
}

// detail is the detail of a pod, its only container and its deletion, in one piece of memory.
type detail struct {
	job.PodDetail
	containers [1]jobpod.Container
	deletion   job.PodDeletion
}

const detailsChunk = 128

// newDetail returns an empty detail that nothing refers to.
func (s *podStore) newDetail() *detail {
	if n := len(s.used); n > 0 {
		d := s.used[n-1]
		s.used = s.used[:n-1]
		*d = detail{}
		return d
	}
	if len(s.details) == 0 {
		s.details = make([]detail, detailsChunk)
	}

	d := &s.details[0]
	s.details = s.details[1:]
	return d
}

// changeDetail returns the detail of a pod, to be changed. If caches lag, it is a copy, since they
// may still hold the old one.
func (e *engine) changeDetail(p *pod) *detail {
	if !e.view.immediate {
		d := e.pods.newDetail()
		d.PodDetail = *p.Detail
		p.Detail, p.detail = &d.PodDetail, d
	}
	return p.detail
}

// add adds a pod and returns its place. The pod's name and UID contain the place.
func (s *podStore) add(prefix string) int32 {
	var id int32
	if n := len(s.free); n > 0 {
		id, s.free = s.free[n-1], s.free[:n-1]
	} else {
		id = int32(len(s.all))
		s.all = append(s.all, pod{})
	}

	p := &s.all[id]
	*p = pod{timer: p.timer + 1, life: p.life + 1, place: -1, prev: -1, node: -1, record: -1, running: -1, began: -1}
	p.Name, p.UID = s.name(prefix, uint64(p.life)<<32|uint64(uint32(id)))
	return id
}

// name makes the name of a pod, which ends with its UID.
func (s *podStore) name(prefix string, number uint64) (name string, uid job.UID) {
	s.names = strconv.AppendUint(append(s.names[:0], prefix...), number, 36)
	name = string(s.names)
	return name, job.UID(name[len(prefix):])
}

// find returns the pod with that UID, or nil if it does not exist any more.
func (s *podStore) find(uid job.UID) (int32, *pod) {
	number, err := strconv.ParseUint(string(uid), 36, 64)
	id := int32(uint32(number))
	if err != nil || int(id) >= len(s.all) {
		return -1, nil
	}

	p := &s.all[id]
	if p.of == nil || uint64(p.life) != number>>32 {
		return -1, nil
	}
	return id, p
}

// createPod creates a pod for a job.
func (e *engine) createPod(js *jobState, c *job.Creation) job.PodRef {
	id := e.pods.add(c.NamePrefix)
	p := &e.pods.all[id]
	p.of, p.Index, p.number, p.created = js, c.Index, js.created, e.now
	p.grouped = c.Group.Name != ""
	js.created++

	d := e.pods.newDetail()
	d.CreationTimestamp = e.stamp()
	d.FailureCount, d.IgnoredFailureCount = c.FailureCount, c.IgnoredFailureCount
	p.Detail, p.detail = &d.PodDetail, d

	p.next = js.pods
	if js.pods >= 0 {
		e.pods.all[js.pods].prev = id
	}
	js.pods = id
	js.tracked++
	js.existing++

	e.record.podCreated(e.now, js, p)
	e.changed(id, p)

	delay := js.of.Pod.Schedule
	if delay.IsZero() {
		e.at(e.now, evQueue, id, p.timer)
	} else {
		e.at(e.now+int64(delay.Draw(e.chance.of(js.key, p.number, forSchedule))), evQueue, id, p.timer)
	}
	return job.PodRef{Name: p.Name, UID: p.UID}
}
