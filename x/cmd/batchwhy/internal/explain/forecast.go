package explain

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
)

const (
	maxForecast = 200  // events that a forecast lists
	maxRounds   = 5000 // rounds that a forecast plans
)

// habit is the way in which pods or Jobs have ended so far: how long they took, and whether they
// failed.
type habit struct {
	known  bool
	took   time.Duration
	code   int32
	failed bool
}

func (f *Forecast) add(reason string, at time.Time, format string, args ...any) {
	if len(f.Events) == maxForecast {
		f.Cut = true
		return
	}
	f.Events = append(f.Events,
		Step{At: at.UTC(), Reason: reason, Text: sentence(fmt.Sprintf(format, args...)), Inferred: true})
}

// future is a Job whose next rounds are planned in advance.
type future struct {
	*Forecast
	snapshot job.Snapshot
	planner  job.Planner
	habit    habit
	// ends has the times at which the pods that the forecast has created will end.
	ends map[job.UID]time.Time
	made int
	last string
}

// forecastJob plans the next rounds. It assumes that existing pods stay as they are, and that new
// pods run and end as the last ended pod did.
func (e *Explainer) forecastJob(l *look) *Forecast {
	f := &future{
		Forecast: &Forecast{Until: l.now.Add(e.options.For).UTC()},
		snapshot: l.snapshot, habit: l.habit(), ends: make(map[job.UID]time.Time),
	}

	f.snapshot.Pods = slices.Clone(l.snapshot.Pods)
	f.Assumption = "pods that are pending, running or terminating stay so, and new pods run on"
	if f.habit.known {
		f.Assumption = fmt.Sprintf("pods that are pending, running or terminating stay so, and new pods do what "+
			"the last pod did: end after %s with exit code %d",
			span(f.habit.took), f.habit.code)
	}

	for range maxRounds {
		if !f.round() {
			break
		}
	}
	return f.Forecast
}

// habit returns how long the pod that ended last took, and how it ended.
func (l *look) habit() (h habit) {
	var last time.Time
	for i := range l.snapshot.Pods {
		p, found := &l.snapshot.Pods[i], &l.found.Pods[i]
		if p.Phase < job.PodSucceeded || p.Owner != jobpod.Owned || !found.FinishTime.After(last) {
			continue
		}

		last = found.FinishTime

		h = habit{
			known:  true,
			took:   max(found.FinishTime.Sub(l.pods[i].CreationTimestamp), time.Second),
			failed: p.Phase == job.PodFailed,
		}

		if p.Detail != nil {
			for _, c := range p.Detail.Containers {
				h.code = cmp.Or(h.code, c.ExitCode)
			}
		}
		if h.failed && h.code == 0 {
			h.code = 1
		}
	}
	return h
}

// round plans one round, carries it out in memory, and advances the time. It returns false if
// nothing more happens until the end of the forecast.
func (f *future) round() bool {
	s := &f.snapshot
	plan, err := f.planner.Reconcile(s)
	if err != nil {
		f.add("Broken", s.Now, "the planner cannot go on: %v", err)
		return false
	}

	end := plan.Conclude(allDone(plan))
	f.tell(plan, &end)
	f.carryOut(plan, &end)

	next := end.Requeue.At
	for _, at := range f.ends {
		next = sooner(next, at)
	}

	_, at, err := job.Expire(&s.Job, s.Options, s.Now)
	if err == nil && !at.IsZero() && !at.After(f.Until) {
		f.add("Expiry", at, "the TTL controller deletes the Job and its pods")
		return false
	}
	switch {
	case next.IsZero(), next.After(f.Until), s.Job.Status.Finished() != "", f.Cut:
		return false
	}
	s.Now = later(s.Now, next)
	f.endPods()
	return true
}

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// tell adds the events of a round to the forecast.
func (f *future) tell(plan *job.Plan, end *job.Conclusion) {
	now := f.snapshot.Now
	if n := len(plan.Create); n > 0 {
		f.add("Create", now, "the controller creates %s (%d failed so far)", count(int64(n), "pod"), end.Status.Failed)
	}
	if n := len(plan.Delete); n > 0 {
		text := withoutRule(plan.Delete[0].Reason.String())
		f.add("Delete", now, "the controller deletes %s: %s", count(int64(n), "pod"), text)
	}
	if done := end.Status.Finished(); done != "" && f.snapshot.Job.Status.Finished() == "" {
		c := end.Status.Condition(done)
		f.add("End", now, "the Job ends: %s, %s: %s", done, c.Reason, plainly(c.Message))
	} else if v := plan.Verdict; v.Type != "" && v.Reason != f.last {
		f.last = v.Reason
		f.add("Verdict", now, "it is decided how the Job ends: %s, %s", v.Reason, plainly(v.Message))
	}
}

// carryOut applies a plan to the snapshot.
func (f *future) carryOut(plan *job.Plan, end *job.Conclusion) {
	s := &f.snapshot
	untracked := make(map[job.UID]bool)
	for _, u := range plan.Untrack {
		untracked[u.UID] = true
	}

	deleted := make(map[job.UID]bool)
	for _, d := range plan.Delete {
		deleted[d.UID] = true
	}

	pods := s.Pods[:0]
	for _, p := range s.Pods {
		p.Untracked = p.Untracked || untracked[p.UID] || deleted[p.UID]
		if !deleted[p.UID] {
			pods = append(pods, p)
		}
	}
	for i := range plan.Create {
		pods = append(pods, f.newPod(&plan.Create[i]))
	}

	s.Pods, s.Job.Status, s.Memory = pods, end.Status, end.Memory
}

func (f *future) newPod(c *job.Creation) job.Pod {
	f.made++
	p := job.Pod{
		Name: fmt.Sprintf("%s%d", c.NamePrefix, f.made), UID: job.UID(fmt.Sprintf("future %d", f.made)),
		Phase: job.PodRunning, Index: c.Index, Ready: true,
		Detail: &job.PodDetail{
			CreationTimestamp:   f.snapshot.Now,
			FailureCount:        c.FailureCount,
			IgnoredFailureCount: c.IgnoredFailureCount,
		},
	}
	if f.habit.known {
		f.ends[p.UID] = f.snapshot.Now.Add(f.habit.took)
	}
	return p
}

// endPods ends the pods of the forecast whose time has come.
func (f *future) endPods() {
	s, n := &f.snapshot, int64(0)
	for i := range s.Pods {
		p := &s.Pods[i]
		at, ok := f.ends[p.UID]
		if !ok || at.After(s.Now) {
			continue
		}

		delete(f.ends, p.UID)
		n++
		p.Phase, p.Ready = job.PodSucceeded, false
		if f.habit.failed {
			p.Phase = job.PodFailed
		}

		detail := *p.Detail
		detail.Containers = []jobpod.Container{
			{Name: "main", State: jobpod.Terminated, ExitCode: f.habit.code, FinishedAt: at},
		}
		p.Detail = &detail
	}
	if n > 0 {
		f.add("PodEnds", s.Now, "%s with exit code %d", count(n, "pod ends", "pods end"), f.habit.code)
	}
}

// forecast plans the runs to come, as Kubernetes 1.37 starts them.
func (l *cronLook) forecast(ahead time.Duration) *Forecast {
	f := &Forecast{Until: l.now.Add(ahead).UTC()}
	h := l.habit()
	f.Assumption = "Jobs that are active stay so, and new Jobs run on"
	if h.known {
		f.Assumption = fmt.Sprintf("Jobs that are active stay so, and new Jobs do what the last one did: %s after %s",
			ended(h.failed), span(h.took))
	}

	s := l.theirSnapshot
	s.Children = slices.Clone(s.Children)
	for range maxRounds {
		plan, err := cronjob.Reconcile(s)
		if err != nil {
			f.add("Broken", s.Now, "the planner cannot go on: %v", err)
			break
		}

		next := f.playRuns(&s, &plan, h)
		if next.IsZero() || next.After(f.Until) || f.Cut {
			break
		}
		s.Now = later(s.Now, next)
		finishChildren(&s, h)
	}
	return f
}

func ended(failed bool) string {
	if failed {
		return "fail"
	}
	return "succeed"
}

// playRuns applies a plan to the snapshot, and returns the time of the next round.
func (f *Forecast) playRuns(s *cronjob.Snapshot, plan *cronjob.Plan, h habit) (next time.Time) {
	var w cronjob.Writes
	gone := make(map[job.UID]bool)
	for _, d := range plan.Delete {
		w.Deleted = append(w.Deleted, cronjob.Effect{Result: cronjobreason.ResultDone})
		gone[d.UID] = true
		f.add("Delete", s.Now, "Job %s is deleted: %s", d.Name, withoutRule(d.Reason.String()))
	}

	for range plan.Verify {
		w.Verified = append(w.Verified, cronjob.Reply{Result: cronjobreason.ResultGone})
	}
	s.Children = slices.DeleteFunc(s.Children, func(c cronjob.Child) bool { return gone[c.UID] })

	for _, c := range plan.Create {
		w.Created = append(w.Created, cronjob.Effect{
			Result: cronjobreason.ResultDone,
			Job:    cronjob.Reference{Name: c.Name, UID: futureUID(c.Name)},
		})
		s.Children = append(s.Children, cronjob.Child{
			Name: c.Name, UID: futureUID(c.Name), CreationTimestamp: s.Now, StartTime: s.Now,
			ScheduledTime: c.ScheduledTime,
		})
		f.add("Create", s.Now, "the run of %s starts as Job %s", c.ScheduledTime.UTC().Format("15:04"), c.Name)
	}

	for _, wait := range plan.Waits {
		if wait.Reason == cronjobreason.WaitActive {
			f.add("Held", s.Now, "the run of %s does not start: concurrencyPolicy is Forbid, and %s active",
				wait.Run.UTC().Format("15:04"), count(int64(wait.Jobs), "Job is", "Jobs are"))
		}
	}

	end := plan.Conclude(cronjob.Outcome{Writes: w, Settled: cronjob.Reply{Result: cronjobreason.ResultDone}})
	s.CronJob.Status, s.Memory = end.Status, end.Memory
	next = end.Requeue.At

	if !h.known {
		return next
	}
	for _, c := range s.Children {
		if !c.Foreign && c.Finished == "" && c.UID == futureUID(c.Name) {
			next = sooner(next, c.StartTime.Add(h.took))
		}
	}
	return next
}

// finishChildren ends the Jobs of the forecast whose time has come.
func finishChildren(s *cronjob.Snapshot, h habit) {
	if !h.known {
		return
	}

	for i := range s.Children {
		c := &s.Children[i]
		due := c.StartTime.Add(h.took)
		if c.Finished != "" || c.UID != futureUID(c.Name) || due.After(s.Now) {
			continue
		}
		c.FinishTime, c.Finished = due, job.ConditionComplete
		if h.failed {
			c.Finished = job.ConditionFailed
		} else {
			c.CompletionTime = due
		}
	}
}

// habit returns how long the Job that ended last took, and whether it failed.
func (l *cronLook) habit() (h habit) {
	var last time.Time
	for _, c := range l.children {
		if c.Foreign || c.Finished == "" || !c.FinishTime.After(last) {
			continue
		}
		last = c.FinishTime
		h = habit{
			known:  true,
			took:   max(c.FinishTime.Sub(c.CreationTimestamp), time.Second),
			failed: c.Finished == job.ConditionFailed,
		}
	}
	return h
}

// futureUID returns the UID of a Job that a forecast has created.
func futureUID(name string) job.UID { return job.UID("future " + name) }

// allDone returns the outcome of a plan whose writes all succeed.
func allDone(plan *job.Plan) job.Outcome {
	done := job.Reply{Result: jobreason.ResultDone}
	o := job.Outcome{Writes: job.Writes{Claimed: done}, Recorded: done, Settled: done}
	for range plan.Delete {
		o.Deleted = append(o.Deleted, job.Effect{Result: jobreason.ResultDone})
	}
	for i := range plan.Create {
		ref := job.PodRef{Name: plan.Create[i].NamePrefix, UID: job.UID(fmt.Sprintf("new %d", i))}
		o.Created = append(o.Created, job.Effect{Result: jobreason.ResultDone, Pod: ref})
	}
	recording := plan.Record(o.Writes)
	for range recording.Untrack {
		o.Untracked = append(o.Untracked, done)
	}
	return o
}
