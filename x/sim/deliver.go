package sim

import "github.com/batchplan/batchplan/job"

// deliver shows the oldest change of the line to the controllers.
func (v *views) deliver() {
	e := v.engine
	if v.line.len() == 0 {
		return // a restart has shown it already
	}
	d := v.line.pop()
	if d.cron != nil {
		d.cron()
		return
	}

	js := d.js
	js.underway--
	defer e.jobEmptied(js)
	switch {
	case js.jobView == nil: // the controller does not look at the job any more
		if d.gone {
			e.freePod(d.id, &e.pods.all[d.id])
		}
	case d.job != nil:
		js.snap.Job = *d.job
		e.wakeFor(js, d.wake)
	case d.groups != nil:
		js.snap.Groups = *d.groups
	default:
		e.seePod(js, &d)
		e.wakeJob(js, e.now+batchDelay)
	}
}

// seePod updates a pod of the view, and the expectations (E1, E4).
func (e *engine) seePod(js *jobState, d *delivery) {
	p := &e.pods.all[d.id]
	place := p.place
	var old, now *job.Pod
	if place >= 0 {
		old = &js.snap.Pods[place]
	}
	if !d.gone {
		now = &d.pod
	}
	e.view.tracker.Observe(js.trackerKey(), old.Sight(), now.Sight())

	switch {
	case d.gone:
		e.hide(js, place)
		e.freePod(d.id, p)
	case place < 0:
		e.show(js, d.id, p, now)
	default:
		*old = d.pod
	}
}

// catchUp delivers the whole line: a controller that lists its objects sees all changes.
func (v *views) catchUp() {
	for v.line.len() > 0 {
		v.deliver()
	}
}
