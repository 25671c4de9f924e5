package sim

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// None is the time of a step that has not happened.
const None = time.Duration(-1)

// PodRecord is the life of a pod.
type PodRecord struct {
	// Job is the place of the pod's job in Result.Jobs.
	Job int32
	// Number is the number of the pod in its job; Index is its completion index, or -1. Node is -1
	// if the pod never had one.
	Number, Index, Node int32
	Restarts            int32
	ExitCode            int32
	// Created to Gone are the times of the steps of the life, or None for a step that was not reached.
	// Began is when the last container began its work. With a Pod.Quorum, or after a restart, that is
	// later than Started.
	Created, Bound, Started, Began, Ended, Deleted, Gone time.Duration
	// Succeeded is true for a pod that ended in the phase Succeeded, Disrupted for one that
	// was evicted.
	Succeeded, Disrupted bool
}

// JobRecord is the life of a job.
type JobRecord struct {
	Name string
	// Cron is the place of its CronJob in Result.CronJobs, or -1.
	Cron int32
	// Submitted to Deleted are the times of the steps of the life, or None for a step that was not
	// reached. Admitted is when an Admission admitted the job. Started is when its first pod started.
	Submitted, Admitted, Started, Finished, Deleted time.Duration
	// End is the condition with which the job ended, and Reason its reason; empty if it has not ended.
	End    job.ConditionType
	Reason string
	// Pods is how many pods were created; Succeeded and Failed are the counts of the status.
	Pods, Succeeded, Failed int32
	// Writes counts the writes of its status.
	Writes int32
}

// RunRecord is a run of a CronJob that has started.
type RunRecord struct {
	Cron int32
	// Job is the place of its job in Result.Jobs, or -1.
	Job int32
	// Scheduled is the time of the run by the schedule. Created is when the job was created.
	Scheduled, Created, Finished time.Duration
	End                          job.ConditionType
}

// Miss is one or more runs that a CronJob will never start.
type Miss struct {
	Cron int32
	// Runs has the latest of these runs, at most ten; Count is the number of all.
	Runs  []time.Duration
	Count int
	// At is when the controller noticed. Why is the reason.
	At  time.Duration
	Why string
}

// recorder writes records and sums.
type recorder struct {
	*Result
	e       *engine
	records bool
	most    int
	pods    paged[PodRecord]
	jobs    paged[JobRecord]
	runs    paged[RunRecord]
}

// paged is a list in pages. A list in one piece would be copied again and again while it grows.
type paged[T any] struct {
	pages [][]T
	len   int32
}

// pageSize is the number of entries in a page.
const pageSize = 1 << 12

// add adds an entry and returns its place.
func (l *paged[T]) add(entry T) int32 {
	switch {
	case l.len == 0:
		l.pages = append(l.pages, nil) // the first page grows: most worlds are small
	case l.len%pageSize == 0:
		l.pages = append(l.pages, make([]T, 0, pageSize))
	}
	last := &l.pages[len(l.pages)-1]
	*last = append(*last, entry)
	l.len++
	return l.len - 1
}

// at returns an entry, or nil if the place is -1.
func (l *paged[T]) at(place int32) *T {
	if place < 0 {
		return nil
	}
	return &l.pages[place/pageSize][place%pageSize]
}

// join returns the list in one piece, and frees the pages one after the other.
func (l *paged[T]) join() []T {
	if l.len == 0 {
		return nil
	}
	all := make([]T, 0, l.len)
	for i, page := range l.pages {
		all = append(all, page...)
		l.pages[i] = nil
	}
	return all
}

// defaultRecords is the default of World.MaxRecords.
const defaultRecords = 10_000_000

func (r *recorder) init(w *World, result *Result) {
	r.Result, r.records, r.most = result, !w.Summary, w.MaxRecords
	if r.most == 0 {
		r.most = defaultRecords
	}
	result.Nodes = len(w.Nodes)
}

func (r *recorder) podCreated(now int64, js *jobState, p *pod) {
	r.PodsCreated++
	if job := r.job(js); job != nil {
		job.Pods++
	}
	if !r.records {
		return
	}

	if int(r.pods.len) == r.most || js.record < 0 {
		r.Dropped++
		return
	}

	p.record = r.pods.add(PodRecord{
		Job:     js.record,
		Number:  p.number,
		Index:   p.Index.Int32(),
		Node:    -1,
		Created: time.Duration(now),
		Bound:   None,
		Started: None,
		Began:   None,
		Ended:   None,
		Deleted: None,
		Gone:    None,
	})
}

// join puts the records into the result.
func (r *recorder) join() { r.Pods, r.Jobs, r.Runs = r.pods.join(), r.jobs.join(), r.runs.join() }

// pod returns the record of a pod, or nil.
func (r *recorder) pod(p *pod) *PodRecord { return r.pods.at(p.record) }

// job returns the record of a job, or nil.
func (r *recorder) job(js *jobState) *JobRecord { return r.jobs.at(js.record) }

func (r *recorder) podBound(now int64, p *pod) {
	if x := r.pod(p); x != nil {
		x.Bound, x.Node = time.Duration(now), p.node
	}
}

func (r *recorder) podStarted(now int64, p *pod) {
	x := r.pod(p)
	if p.restarts > 0 {
		if x != nil {
			x.Began = None
		}
		return
	}

	r.Waiting.Add(time.Duration(now - p.created))
	if x != nil {
		x.Started = time.Duration(now)
	}

	js := p.of
	if js.hasStarted {
		return
	}
	js.hasStarted = true
	if x := r.job(js); x != nil {
		x.Started = time.Duration(now)
	}
}

func (r *recorder) podRestarted(p *pod) {
	r.Restarted++
	if x := r.pod(p); x != nil {
		x.Restarts = p.restarts
	}
}

func (r *recorder) workBegan(now int64, p *pod) {
	if x := r.pod(p); x != nil {
		x.Began = time.Duration(now)
	}
}

func (r *recorder) podEnded(now int64, p *pod) {
	used := time.Duration(0)
	if p.running >= 0 {
		began := p.began
		if began < 0 {
			began = now
		}
		used = time.Duration(now - began)
		r.Idle += time.Duration(began - p.running)
	}

	if p.Phase == job.PodSucceeded {
		r.PodsSucceeded++
		r.Used += used
	} else {
		r.PodsFailed++
		r.Wasted += used
	}

	if x := r.pod(p); x != nil {
		x.Ended, x.ExitCode = time.Duration(now), p.run.ExitCode
		x.Succeeded, x.Disrupted = p.Phase == job.PodSucceeded, p.run.Disrupted
	}
}

func (r *recorder) podDeleted(now int64, p *pod) {
	if x := r.pod(p); x != nil {
		x.Deleted = time.Duration(now)
	}
}

func (r *recorder) podGone(now int64, p *pod) {
	if x := r.pod(p); x != nil {
		x.Gone = time.Duration(now)
	}
}

func (r *recorder) jobCreated(now int64, js *jobState) {
	js.submitted = now
	r.JobsSubmitted++
	if !r.records {
		return
	}
	if int(r.jobs.len) == r.most {
		r.Dropped++
		return
	}

	record := JobRecord{
		Name:      js.truth.Name,
		Cron:      -1,
		Submitted: time.Duration(now),
		Admitted:  None,
		Started:   None,
		Finished:  None,
		Deleted:   None,
	}

	if js.cron != nil {
		record.Cron = js.cron.id
		js.runRecord = r.runs.add(RunRecord{
			Cron:      js.cron.id,
			Job:       r.jobs.len,
			Scheduled: js.run.Sub(r.e.start),
			Created:   time.Duration(now),
			Finished:  None,
		})
	}
	js.record = r.jobs.add(record)
}

func (r *recorder) jobAdmitted(now int64, js *jobState) {
	if x := r.job(js); x != nil && x.Admitted == None {
		x.Admitted = time.Duration(now)
	}
}

func (r *recorder) statusWritten(_ int64, js *jobState) {
	r.StatusWrites++
	if x := r.job(js); x != nil {
		x.Writes++
		x.Succeeded, x.Failed = js.truth.Status.Succeeded, js.truth.Status.Failed
	}
}

func (r *recorder) jobFinished(now int64, js *jobState, end job.ConditionType) {
	condition := js.truth.Status.Condition(end)
	if end == job.ConditionComplete {
		r.JobsComplete++
	} else {
		r.JobsFailed++
	}
	r.Turnaround.Add(time.Duration(now - js.submitted))
	r.LastEnd = time.Duration(now)

	x := r.job(js)
	if x == nil {
		return
	}

	x.Finished, x.End, x.Reason = time.Duration(now), end, condition.Reason
	if run := r.runs.at(js.runRecord); run != nil {
		run.Finished, run.End = time.Duration(now), end
	}
}

func (r *recorder) jobGone(now int64, js *jobState) {
	if x := r.job(js); x != nil {
		x.Deleted = time.Duration(now)
	}
}

func (r *recorder) cronCreated(cs *cronState) {
	for len(r.CronJobs) <= int(cs.id) {
		r.CronJobs = append(r.CronJobs, "")
	}
	r.CronJobs[cs.id] = cs.of.Name
}

// cronRound notes the runs that a round has started, and the runs that it has given up.
func (r *recorder) cronRound(now int64, cs *cronState, plan *cronjob.Plan, c *cronjob.Conclusion) {
	for i := range plan.Create {
		created := &plan.Create[i]
		isDone := i < len(c.Outcome.Created) && c.Outcome.Created[i].Result == cronjobreason.ResultDone
		if isDone && !created.ScheduledTime.IsZero() {
			r.RunsStarted++
			cs.ran = true
			r.RunDelay.Add(time.Duration(now) - created.ScheduledTime.Sub(r.e.start))
		}
	}

	if len(c.Unstarted) > 0 {
		cs.ran = true
		r.miss(now, cs, plan, c.Unstarted)
	}

	cs.held = 0
	for i := range plan.Waits {
		if w := &plan.Waits[i]; w.Reason == cronjobreason.WaitActive {
			cs.held = w.Run.Unix()
		}
	}
}

// miss notes the runs that were given up, grouped by reason. A controller that has lost its memory
// gives up some runs again. The repetitions are left out.
func (r *recorder) miss(now int64, cs *cronState, plan *cronjob.Plan, unstarted []cronjob.Unstarted) {
	var groups []Miss
	n, latest := 0, cs.missed
	for _, u := range unstarted {
		switch run := u.Latest.Unix(); {
		case len(plan.Missed.Runs) > 0 && u.Reason <= cronjobreason.UnstartedTooLate:
			n += u.Count // plan.Missed names them
		case run > cs.missed:
			groups = append(groups, Miss{
				Cron:  cs.id,
				Runs:  []time.Duration{u.Latest.Sub(r.e.start)},
				Count: u.Count,
				At:    time.Duration(now),
				Why:   u.Reason.String(),
			})
			latest = max(latest, run)
		}
	}

	for i, run := range plan.Missed.Runs {
		if i == n || run.Unix() <= cs.missed {
			break
		}
		why := r.whyMissed(cs, plan, run)
		g := slices.IndexFunc(groups, func(m Miss) bool { return m.Why == why })
		if g < 0 {
			g = len(groups)
			groups = append(groups, Miss{Cron: cs.id, At: time.Duration(now), Why: why})
		}
		groups[g].Runs = append(groups[g].Runs, run.Sub(r.e.start))
		groups[g].Count++
		if i == len(plan.Missed.Runs)-1 { // the oldest named run counts for all before it
			groups[g].Count += n - i - 1
		}
	}

	if len(groups) == 0 {
		return
	}

	if len(plan.Missed.Runs) > 0 {
		latest = max(latest, plan.Missed.Runs[0].Unix())
	}
	cs.missed = latest
	for _, m := range groups {
		r.RunsMissed += int64(m.Count)
		if r.records && len(r.Missed) < r.most {
			r.Missed = append(r.Missed, m)
		}
	}
}

// whyMissed explains why a run never starts.
func (r *recorder) whyMissed(cs *cronState, plan *cronjob.Plan, run time.Time) string {
	at := run.Sub(r.e.start)
	for _, o := range r.e.plane.spec.Outages {
		if o.Of == Controllers && o.contains(at) {
			return "the controllers were down"
		}
	}
	for _, w := range cs.of.Suspend {
		if w.contains(at) {
			return "the CronJob was suspended"
		}
	}

	switch {
	case run.Unix() == cs.held:
		return "an earlier run was active"
	case plan.Missed.TooLate:
		return "its starting deadline has passed"
	}
	return "a later run took its place"
}
