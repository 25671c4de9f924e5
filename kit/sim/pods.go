package sim

import (
	"strconv"
	"time"

	"github.com/batchplan/batchplan/job"
)

// podPhase is where a pod is on its way, which is finer than its phase in the API.
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
	// next and prev are the other pods of the job, or -1.
	next, prev int32
	node       int32
	// number counts the pods of a job.
	number   int32
	restarts int32
	record   int32
	// timer is the generation of the event that is going to happen next.
	timer uint32
	// life counts the pods that have had this place in the store.
	life    uint32
	state   podPhase
	run     Life
	running int64 // since when, or -1
	created int64
	lost    bool // the node does not answer
}

// podStore holds the pods that exist.
type podStore struct {
	all  []pod
	free []int32
	// names is a buffer for a name; details is memory for the next ones, and used what pods
	// that are gone have left.
	names   []byte
	details []detail
	used    []*detail
}

// detail is the detail of a pod, its only container and its deletion, in one piece of memory.
type detail struct {
	job.PodDetail
	containers [1]job.Container
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

// changeDetail returns the detail of a pod for a change. Caches that lag keep the old one;
// otherwise nobody does.
func (e *engine) changeDetail(p *pod) *detail {
	if !e.view.immediate {
		d := e.pods.newDetail()
		d.PodDetail = *p.Detail
		p.Detail, p.detail = &d.PodDetail, d
	}
	return p.detail
}

// add returns the place of a new pod. It has a name and a UID that lead back to it.
func (s *podStore) add(prefix string) int32 {
	var id int32
	if n := len(s.free); n > 0 {
		id, s.free = s.free[n-1], s.free[:n-1]
	} else {
		id = int32(len(s.all))
		s.all = append(s.all, pod{})
	}
	p := &s.all[id]
	*p = pod{timer: p.timer + 1, life: p.life + 1, place: -1, next: -1, prev: -1, node: -1, record: -1, running: -1}
	p.Name, p.UID = s.name(prefix, uint64(p.life)<<32|uint64(uint32(id)))
	return id
}

// name makes the name of a pod. Its UID is the end of it.
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

// podEvent is what happens to a pod next, unless something else has happened meanwhile.
func (e *engine) podEvent(ev *event) {
	p := &e.pods.all[ev.id]
	if p.timer != ev.gen || p.of == nil {
		return
	}
	switch ev.kind() {
	case evQueue:
		p.state = podPending
		e.scheduler.add(ev.id, p)
	case evStart:
		e.startPod(ev.id, p)
	case evReady:
		e.setReady(ev.id, p, true)
	case evEnd:
		e.containerEnds(ev.id, p)
	}
}

// bindPod puts a pod on a node.
func (e *engine) bindPod(id int32, node int32) {
	p := &e.pods.all[id]
	p.node, p.state, p.Assigned = node, podBound, true
	e.nodes.take(node, id, p, e.now)
	e.record.podBound(e.now, p)
	e.changed(id, p)
	behave := &p.of.of.Pod
	if behave.Pull.IsZero() && behave.Init.IsZero() {
		e.startPod(id, p)
		return
	}
	r := e.chance.of(p.of.key, p.number, forStart)
	e.at(e.now+int64(behave.Pull.Draw(r)+behave.Init.Draw(r)), evStart, id, p.timer)
}

// startPod starts the containers.
func (e *engine) startPod(id int32, p *pod) {
	p.state, p.Phase = podRunning, job.PodRunning
	p.running = e.now
	e.record.podStarted(e.now, p)
	e.startContainer(id, p)
}

// startContainer draws how the container ends, and when.
func (e *engine) startContainer(id int32, p *pod) {
	behave := &p.of.of.Pod
	r := e.chance.of(p.of.key, p.number, forRun+purpose(p.restarts))
	p.run = behave.run(Start{
		Job: p.of.of.Name, Number: p.number, Index: p.Index.Int32(), Restart: p.restarts,
		At: time.Duration(e.now), Node: p.node,
	}, r)
	p.run.For = min(max(p.run.For, 0), century)
	ready := behave.Ready.Draw(r)
	if ready == 0 {
		p.Ready = true
	} else if ready < p.run.For {
		e.at(e.now+int64(ready), evReady, id, p.timer)
	}
	e.changed(id, p)
	e.at(e.now+int64(p.run.For), evEnd, id, p.timer)
}

func (e *engine) setReady(id int32, p *pod, ready bool) {
	p.Ready = ready
	e.changed(id, p)
}

// The delays with which a node restarts a container that ends again and again.
const (
	crashDelay    = 10 * time.Second
	crashDelayMax = 5 * time.Minute
)

// containerEnds restarts the container, or ends the pod.
func (e *engine) containerEnds(id int32, p *pod) {
	if p.run.Disrupted && p.Deletion == nil {
		e.result.Evictions++
	}
	if p.state == podBound || p.Deletion != nil || p.run.ExitCode == 0 || p.run.Disrupted || p.of.spec().Template.RestartPolicy != job.RestartOnFailure {
		e.endPod(id, p)
		return
	}
	p.restarts++
	p.timer++
	p.Ready = false
	d := e.changeDetail(p)
	d.containers[0] = job.Container{Name: p.of.container, State: job.ContainerWaiting, Restarts: p.restarts}
	d.Containers = d.containers[:]
	e.record.podRestarted(p)
	e.changed(id, p)
	p.state = podBound
	delay := min(crashDelay<<min(p.restarts-1, 8), crashDelayMax)
	e.at(e.now+int64(delay), evStart, id, p.timer)
}

// endPod ends the pod in the phase that its run leads to.
func (e *engine) endPod(id int32, p *pod) {
	p.timer++
	p.state, p.Ready = podEnded, false
	p.Phase = job.PodSucceeded
	if p.run.ExitCode != 0 {
		p.Phase = job.PodFailed
	}
	finished := e.stampOf(p.node)
	d := e.changeDetail(p)
	d.ReadyTransition = finished
	d.containers[0] = job.Container{
		Name: p.of.container, State: job.ContainerTerminated, Restarts: p.restarts, ExitCode: p.run.ExitCode, FinishedAt: finished,
	}
	d.Containers = d.containers[:]
	if p.run.Disrupted {
		d.Conditions = disrupted
	}
	e.nodes.release(p.node, id, p, e.now)
	e.record.podEnded(e.now, p)
	e.podHasEnded(id, p)
	e.changed(id, p)
	if p.Deletion != nil {
		e.collectPod(id, p)
	}
	e.scheduler.run()
}

// disrupted are the conditions of a pod that was evicted.
var disrupted = []job.PodCondition{{Type: "DisruptionTarget", Status: job.ConditionTrue}}

// stampOf returns the moment as a node's clock shows it, in whole seconds.
func (e *engine) stampOf(node int32) time.Time {
	if node < 0 || e.nodes.all[node].spec.Skew == 0 {
		return e.stamp()
	}
	return e.time().Add(e.nodes.all[node].spec.Skew).Truncate(time.Second)
}

// deletePod deletes a pod as an API server does: with a grace period if it is on a node.
func (e *engine) deletePod(id int32, p *pod) {
	if p.of == nil || p.Deletion != nil {
		return
	}
	grace := time.Duration(0)
	if p.state == podBound || p.state == podRunning {
		grace = p.of.grace()
	}
	p.detail.deletion = job.PodDeletion{Timestamp: e.stamp().Add(grace), GracePeriodSeconds: int32(grace / time.Second)}
	p.Deletion = &p.detail.deletion
	e.record.podDeleted(e.now, p)
	switch p.state {
	case podNew, podPending:
		p.timer++
		e.scheduler.remove(id, p)
		e.changed(id, p)
		e.collectPod(id, p)
	case podEnded:
		e.changed(id, p)
		e.collectPod(id, p)
	default:
		e.changed(id, p)
		if !p.lost {
			e.stopPod(id, p, grace)
		}
	}
}

// stopPod ends a pod that is being deleted, within its grace period.
func (e *engine) stopPod(id int32, p *pod, grace time.Duration) {
	p.timer++
	stop := time.Duration(0)
	if p.state == podRunning {
		stop = p.of.of.Pod.Stop.Draw(e.chance.of(p.of.key, p.number, forStop))
	}
	code := int32(exitStopped)
	if stop > grace || p.state == podBound {
		stop, code = min(stop, grace), exitKilled
	}
	if ends := time.Duration(p.running) + p.run.For - time.Duration(e.now); p.state == podRunning && ends <= stop {
		stop = max(ends, 0) // it ends by itself before
	} else {
		p.run.ExitCode = code
	}
	e.at(e.now+int64(stop), evEnd, id, p.timer)
}

// untrackPod removes the finalizer.
func (e *engine) untrackPod(id int32, p *pod) {
	if p.Untracked {
		return
	}
	p.Untracked = true
	p.of.tracked--
	e.changed(id, p)
	e.collectPod(id, p)
}

// collectPod removes a deleted pod that nothing holds any more.
func (e *engine) collectPod(id int32, p *pod) {
	if p.Deletion == nil || !p.Untracked || p.state == podBound || p.state == podRunning {
		return
	}
	js := p.of
	if p.state == podEnded {
		e.gc.ended--
	}
	e.record.podGone(e.now, p)
	if p.next >= 0 {
		e.pods.all[p.next].prev = p.prev
	}
	if p.prev >= 0 {
		e.pods.all[p.prev].next = p.next
	} else {
		js.pods = p.next
	}
	js.existing--
	e.vanished(id, p)
	if e.view.immediate {
		e.pods.used = append(e.pods.used, p.detail)
	}
	p.of, p.Detail, p.Deletion, p.detail = nil, nil, nil, nil
	p.timer++
	e.jobEmptied(js)
}
