package sim

import (
	"time"

	"github.com/batchplan/batchplan/job"
)

// pull takes the next job of the stream.
func (e *engine) pull() error {
	j, err, ok := e.arrivals()
	switch {
	case err != nil:
		return err
	case !ok:
		e.arrivals = nil
		return nil
	case j.Submit < 0:
		return problem(j.Source, j.Name, "submit time %v is negative", j.Submit)
	case int64(j.Submit) < e.now:
		return problem(j.Source, j.Name, "submitted at %v, before the job in front of it, at %v: "+
			"jobs must be in the order of their submit times", j.Submit, time.Duration(e.now))
	}

	e.next = j
	e.at(int64(j.Submit), evArrive, 0, 0)
	return nil
}

// arrive submits the next job of the stream.
func (e *engine) arrive() {
	j := e.next
	number := e.arrived
	e.arrived++
	if e.err = e.pull(); e.err != nil {
		return
	}

	own := j // this copy stays when the stream goes on
	js, err := e.submit(&own, j.Name, mix(uint64(number)+1))
	if err != nil {
		e.err = err
		return
	}
	e.admission.submit(js)
}

// submit creates a job.
func (e *engine) submit(j *Job, name string, key uint64) (*jobState, error) {
	spec := j.Spec
	job.Default(&spec)
	if err := job.Validate(spec); err != nil {
		return nil, problem(j.Source, name, "%v", err)
	}
	if err := j.Pod.validate(); err != nil {
		return nil, problem(j.Source, name, "pod.%v", err)
	}
	js := e.newJob()
	e.createJob(js, j, spec, name, key)
	return js, nil
}
