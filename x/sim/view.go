package sim

import (
	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// views are the controllers' views of the objects. Without lag a view changes with its object;
// otherwise changes wait in a line.
type views struct {
	engine    *engine
	immediate bool
	lag       Dist
	line      fifo[delivery]
	last      int64 // when the last change of the line arrives
	number    int32
	// spare are views of jobs that have ended.
	spare []*jobView
	// tracker knows of writes that are not seen yet.
	tracker expectations.Tracker[uint64]
}

// delivery is a change on its way to the caches.
type delivery struct {
	js *jobState
	// job is set if a job has changed, groups if a group of the job has changed, and cron if a CronJob
	// or one of its jobs has changed. Otherwise a pod has changed.
	job    *job.Job
	groups *jobgroup.Groups
	wake   wakeKind
	id     int32
	pod    job.Pod
	gone   bool
	cron   func()
}

// wakeKind is how a change of a job's object wakes its controller.
type wakeKind uint8

const (
	wakeNow   wakeKind = iota // the job is new, or its spec has changed
	wakeLater                 // its status has changed
)

// changed is called after each change of a pod.
func (e *engine) changed(id int32, p *pod) {
	e.result.PodEvents++
	js := p.of
	if !e.view.immediate {
		e.lagged(delivery{js: js, id: id, pod: p.Pod})
		return
	}

	if js.gone || js.jobView == nil {
		return
	}
	if p.place < 0 {
		e.show(js, id, p, &p.Pod)
	} else {
		js.snap.Pods[p.place] = p.Pod
	}
	e.wakeJob(js, e.now+batchDelay)
}

// show puts a pod into the view of its job.
func (e *engine) show(js *jobState, id int32, p *pod, seen *job.Pod) {
	if cap(js.viewed) == 0 {
		n := min(int(js.request().Pods), 1<<12) // the most that is reserved before the pods exist
		js.viewed, js.snap.Pods = make([]int32, 0, n), make([]job.Pod, 0, n)
	}
	p.place = int32(len(js.viewed))
	js.viewed = append(js.viewed, id)
	js.snap.Pods = append(js.snap.Pods, *seen)
}

// open returns an empty view. It reuses one that another job has left.
func (v *views) open() *jobView {
	last := len(v.spare) - 1
	if last < 0 {
		return new(jobView)
	}
	view := v.spare[last]
	v.spare = v.spare[:last]
	return view
}

// leave takes back the view of a job that the controller does not look at any more.
func (v *views) leave(js *jobState) {
	const most = 1 << 10
	if js.jobView == nil {
		return
	}

	if len(v.spare) < most {
		clear(js.snap.Pods)
		js.snap = job.Snapshot{Pods: js.snap.Pods[:0]}
		js.viewed = js.viewed[:0]
		v.spare = append(v.spare, js.jobView)
	}
	js.jobView = nil
	v.tracker.Forget(js.trackerKey())
}

// vanished is called after a pod has gone.
func (e *engine) vanished(id int32, p *pod) {
	e.result.PodEvents++
	js := p.of
	if !e.view.immediate {
		e.lagged(delivery{js: js, id: id, pod: p.Pod, gone: true})
		return
	}
	e.hide(js, p.place)
	e.freePod(id, p)
	e.wakeJob(js, e.now+batchDelay)
}

// freePod frees the place of a pod that nothing sees any more.
func (e *engine) freePod(id int32, p *pod) {
	p.place = -1
	e.pods.free = append(e.pods.free, id)
}

// hide takes a pod out of the view of its job.
func (e *engine) hide(js *jobState, place int32) {
	if js.jobView == nil || place < 0 {
		return
	}

	last := int32(len(js.viewed)) - 1
	moved := js.viewed[last]
	js.viewed[place], js.snap.Pods[place] = moved, js.snap.Pods[last]
	js.snap.Pods[last] = job.Pod{}
	js.viewed, js.snap.Pods = js.viewed[:last], js.snap.Pods[:last]
	e.pods.all[moved].place = place
}

// phase returns the phase of a pod as the controller sees it. The job of a pod with a place still
// has its view.
func (v *views) phase(p *pod) job.PodPhase {
	if p.place < 0 {
		return p.Phase
	}
	return p.of.snap.Pods[p.place].Phase
}

// lagged delivers a change to the caches after the lag of the watch.
func (e *engine) lagged(d delivery) {
	v := &e.view
	v.engine = e
	v.number++
	lag := int64(v.lag.Draw(e.chance.of(0, v.number, 0)))
	v.last = max(v.last, e.now+lag)

	if d.js != nil {
		d.js.underway++
	}
	v.line.push(d)
	e.at(v.last, evDeliver, 0, 0)
}
