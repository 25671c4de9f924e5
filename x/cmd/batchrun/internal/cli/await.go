package cli

import (
	"errors"
	"os"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/control"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/patience"
)

// ending is what await has learned so far about the end of the session.
type ending struct {
	status      int
	interrupted bool
	drained     bool
	runs        int // scheduled runs that have ended
	problems    []error
}

// await collects the results of the loops. It stops the loops when --until or --runs is reached, or
// when the user interrupts the program.
func (r *session) await(signals <-chan os.Signal) (int, error) {
	var e ending
	until := r.untilTime()
	hold := make(<-chan time.Time) // when to suspend the jobs
	endurance := patience.Patience{Limit: r.options.giveUp}
	for r.left() > 0 {
		select {
		case <-signals:
			if e.interrupted {
				return r.kill(&e)
			}
			e.interrupted = true
			r.reporter.Note("suspending: processes get SIGTERM, then SIGKILL after their grace period; Ctrl-C " +
				"again kills immediately")
			hold = time.After(0)
		case <-hold:
			began := time.Now()
			err := r.hold()
			delay, fatal := endurance.Try(err, began, time.Now(), r.reporter.Note)
			if fatal != nil {
				return exitBroken, fatal
			}
			if err != nil {
				hold = time.After(delay)
			}
		case <-until:
			if until = r.untilTime(); r.clock.Until(r.until) == 0 {
				until = nil
				r.drain(&e, "--until is reached")
			}
		case err := <-r.broken:
			return exitBroken, err
		case got := <-r.ends:
			r.ended(&e, got)
		}
	}
	if asked, err := r.awaitCollector(signals); asked || err != nil {
		e.problems = append(e.problems, err)
		return r.kill(&e)
	}
	if e.status == exitInterrupted {
		r.reporter.Note("suspended; run again to resume")
	}
	return e.status, errors.Join(e.problems...)
}

// untilTime returns a channel that fires when it is time to look whether --until is reached.
func (r *session) untilTime() <-chan time.Time {
	if r.until.IsZero() {
		return nil
	}
	return time.After(min(r.clock.Until(r.until), control.LongestNap))
}

// left returns the number of loops that have not ended.
func (r *session) left() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open
}

// ended notes the result of a loop.
func (r *session) ended(e *ending, got result) {
	r.mu.Lock()
	r.open--
	if got.cronJob != nil {
		delete(r.crons, got.cronJob.UID)
	} else if errors.Is(got.err, control.ErrRemoved) {
		delete(r.followed, got.job.UID)
	}
	r.mu.Unlock()
	switch {
	case errors.Is(got.err, control.ErrRemoved):
		r.removed(e, got)
	case got.err != nil:
		e.problems = append(e.problems, got.err)
		e.status = max(e.status, exitBroken)
	case got.cronJob != nil && e.interrupted:
		e.status = exitInterrupted
	}
	if got.job != nil {
		r.jobEnded(e, got)
	}
}

func (r *session) jobEnded(e *ending, got result) {
	over := got.status.Finished()
	if got.err == nil {
		f, err := r.failure(r.store, got.job, &got.status)
		if err != nil {
			r.reporter.Note(err.Error())
		}
		r.reporter.End(got.job, got.status, f)
		switch {
		case e.interrupted && over == "":
			e.status = exitInterrupted
		case over == job.ConditionFailed, over == "" && got.job.CronJob == "":
			e.status = max(e.status, exitFailed)
		}
	}
	if !got.job.ScheduledTime.IsZero() && (over != "" || got.err != nil) {
		if e.runs++; e.runs == r.options.runs {
			r.drain(e, "--runs is reached")
		}
	}
}

// removed reports an object that the user has removed. It does not report Jobs of CronJobs.
func (r *session) removed(e *ending, got result) {
	switch {
	case got.cronJob != nil:
		r.reporter.Removed(got.cronJob.UID, "CronJob "+got.cronJob.Key()+": removed")
	case got.job.CronJob == "":
		r.reporter.Removed(got.job.UID, "job "+got.job.Key()+": removed")
		e.status = max(e.status, exitFailed)
	}
}

// drain lets the current runs end, and starts no more.
func (r *session) drain(e *ending, why string) {
	if e.drained || e.interrupted {
		return
	}
	e.drained = true
	r.reporter.Note(why + ": no more runs start; waiting for those under way")
	r.holdCronJobs()
}

func (r *session) holdCronJobs() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.crons {
		l.Hold()
	}
}

// hold suspends all jobs until the next "batchrun run". A CronJob may be starting a job at the same
// time. Then the loop of that job starts later, and suspends the job.
func (r *session) hold() error {
	r.holdCronJobs()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = true
	for uid, l := range r.loops {
		if err := r.store.SetHeld(uid, true); err != nil {
			return err
		}
		l.Wake()
	}
	return nil
}

// kill immediately ends the pods that are being deleted. Such pods are not counted, so it is safe
// to kill them. Other pods keep running, and the next run finds them.
func (r *session) kill(e *ending) (int, error) {
	return exitInterrupted, errors.Join(append(e.problems, r.node.Kill())...)
}

// awaitCollector waits until all deleted pods have ended. If the user interrupts it, it returns
// true.
func (r *session) awaitCollector(signals <-chan os.Signal) (asked bool, err error) {
	for {
		jobs, err := r.store.DeletedJobs()
		if err != nil || len(jobs) == 0 {
			return false, err
		}
		select {
		case <-signals:
			return true, nil
		case err := <-r.broken:
			return false, err
		case <-time.After(interval):
		}
	}
}
