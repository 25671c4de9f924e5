package sim

// deliver brings the oldest change of the line to the controllers.
func (v *views) deliver() {
	e := v.engine
	if v.line.len() == 0 {
		return // a restart has brought it already
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
	case d.job != nil:
		js.snap.Job = *d.job
		e.wakeFor(js, d.wake)
	default:
		e.seePod(js, &d)
		e.wakeJob(js, e.now+batchDelay)
	}
}

// seePod brings a pod of the view up to date, and tells the expectations (E1, E4).
func (e *engine) seePod(js *jobState, d *delivery) {
	key := js.trackerKey()
	p := &e.pods.all[d.id]
	place := p.place
	going := d.pod.Deletion != nil
	switch {
	case d.gone:
		if place >= 0 && js.snap.Pods[place].Deletion == nil {
			e.view.tracker.DeletionObserved(key)
		}
		e.view.tracker.UntrackObserved(key, d.pod.UID)
		e.hide(js, place)
		e.freePod(d.id, p)
	case place < 0:
		e.show(js, d.id, p, &d.pod)
		e.view.tracker.CreationObserved(key)
		if going {
			e.view.tracker.DeletionObserved(key)
		}
	default:
		if going && js.snap.Pods[place].Deletion == nil {
			e.view.tracker.DeletionObserved(key)
		}
		if d.pod.Untracked {
			e.view.tracker.UntrackObserved(key, d.pod.UID)
		}
		js.snap.Pods[place] = d.pod
	}
}

// catchUp brings all of the line immediately, as a controller does that lists its objects.
func (v *views) catchUp() {
	for v.line.len() > 0 {
		v.deliver()
	}
}
