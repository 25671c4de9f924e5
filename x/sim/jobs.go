package sim

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// jobsChunk is the number of jobs that get their memory together.
const jobsChunk = 64

// newJob returns an empty job.
func (e *engine) newJob() *jobState {
	var js *jobState
	if n := len(e.freeJobs); n > 0 {
		js = e.jobs[e.freeJobs[n-1]]
		e.freeJobs = e.freeJobs[:n-1]
		*js = jobState{id: js.id, life: js.life}
	} else {
		if len(e.newJobs) == 0 {
			e.newJobs = make([]jobState, jobsChunk)
		}
		js, e.newJobs = &e.newJobs[0], e.newJobs[1:]
		js.id = int32(len(e.jobs))
		e.jobs = append(e.jobs, js)
	}

	js.life++
	js.pods, js.child, js.record, js.runRecord = -1, -1, -1, -1
	return js
}

// createChild creates the job of a run of a CronJob.
func (e *engine) createChild(cs *cronState, c *cronjob.Creation, key uint64) *jobState {
	js := e.newJob()
	js.cron, js.run = cs, c.ScheduledTime
	e.createJob(js, &cs.of.Job, cs.spec, c.Name, key)
	e.children[c.Name] = js
	return js
}

// createJob creates a job whose spec is valid.
func (e *engine) createJob(js *jobState, j *Job, spec job.Spec, name string, key uint64) {
	js.of, js.key = j, key
	js.container = "main"
	if c := spec.Template.Containers; len(c) > 0 {
		js.container = c[0]
	}

	e.born++
	js.truth = job.Job{
		Namespace:         "default",
		Name:              name,
		Version:           1,
		UID:               job.UID("j" + strconv.FormatUint(e.born, 36)),
		CreationTimestamp: e.stamp(),
		Spec:              spec,
	}
	if e.world.Admission != nil && j.Spec.Suspend == nil {
		js.truth.Spec.Suspend = &yes
	}

	js.jobView = e.view.open()
	js.groups.Controlled = js.cron != nil
	js.snap.Options, js.snap.Groups = j.Options, js.groups
	js.snap.Consistent = e.view.immediate
	e.record.jobCreated(e.now, js)

	if len(j.Edits) > 0 {
		byTime := func(a, b Edit) int { return cmp.Compare(a.After, b.After) }
		js.edits = slices.SortedStableFunc(slices.Values(j.Edits), byTime)
	}
	for i := range js.edits {
		e.at(e.now+int64(js.edits[i].After), evEdit, js.id, js.life)
	}
	e.jobChanged(js, wakeNow)
}

var yes, no = true, false

// edit makes the next edit of a job.
func (e *engine) edit(ev *event) {
	js := e.jobs[ev.id]
	if js.life != ev.gen || js.finished || js.gone {
		return
	}

	change := js.edits[0].Change
	js.edits = js.edits[1:]
	change(&js.truth.Spec)
	e.specChanged(js)
}

// specChanged is called after an edit.
func (e *engine) specChanged(js *jobState) {
	js.truth.Version++
	if err := job.Validate(js.truth.Spec); err != nil && e.err == nil {
		e.err = problem(js.of.Source, js.truth.Name, "after an edit: %v", err)
	}
	e.jobChanged(js, wakeNow)
}

// jobChanged is called after each change of a job's object.
func (e *engine) jobChanged(js *jobState, wake wakeKind) {
	if js.cron != nil {
		e.childChanged(js)
	}
	if !e.view.immediate {
		seen := js.truth
		e.lagged(delivery{js: js, job: &seen, wake: wake})
		return
	}
	if js.jobView != nil {
		js.snap.Job = js.truth
	}
	e.wakeFor(js, wake)
}
