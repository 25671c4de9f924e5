package sim

import "time"

// Admission decides when jobs start, as Kueue does: a job begins suspended, and is resumed
// once it is admitted.
type Admission interface {
	// Submit is called when a job is submitted, Finish when a job has ended or was deleted.
	Submit(r Request)
	Finish(r Request)
	// Next returns the next job to admit or to suspend again, or false if there is none. After each
	// Submit and Finish it is called until it returns false.
	Next(now time.Duration) (d Decision, ok bool)
}

// Request is a job that asks for admission.
type Request struct {
	// ID identifies the job. Pods is how many of its pods run concurrently. Resources are the needs
	// of each pod.
	ID   int64
	Name string
	Pods int32
	Resources
}

// Decision admits a job, or suspends it again.
type Decision struct {
	ID    int64
	Admit bool
}

// admission runs the Admission of a world.
type admission struct {
	e    *engine
	own  Admission
	jobs map[int64]*jobState
	// planned is true while decisions are scheduled.
	planned bool
}

func (a *admission) init(e *engine) {
	a.e, a.own = e, e.world.Admission
	if a.own != nil {
		a.jobs = map[int64]*jobState{}
	}
}

func (a *admission) submit(js *jobState) {
	if a.own == nil || js.truth.Spec.Suspend != &yes {
		return
	}
	r := js.request()
	a.jobs[r.ID] = js
	a.own.Submit(r)
	a.plan()
}

func (a *admission) finish(js *jobState) {
	if a.own == nil {
		return
	}

	r := js.request()
	if a.jobs[r.ID] == nil {
		return
	}
	delete(a.jobs, r.ID)
	a.own.Finish(r)
	a.plan()
}

// plan schedules decisions after the current event.
func (a *admission) plan() {
	if !a.planned {
		a.planned = true
		a.e.at(a.e.now, evAdmit, 0, 0)
	}
}

// decide carries out all decisions.
func (a *admission) decide() {
	a.planned = false
	for {
		d, ok := a.own.Next(time.Duration(a.e.now))
		if !ok {
			return
		}
		js := a.jobs[d.ID]
		if js == nil || js.finished || js.gone {
			continue
		}

		js.truth.Spec.Suspend = &yes
		if d.Admit {
			js.truth.Spec.Suspend = &no
			a.e.record.jobAdmitted(a.e.now, js)
		}
		a.e.specChanged(js)
	}
}
