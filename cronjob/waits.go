package cronjob

import (
	"fmt"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/value"
)

// Wait is one thing that the CronJob waits for. Fields that the reason does not need are zero.
type Wait struct {
	Reason cronjobreason.Wait `json:"reason"`
	// Until is the time at which the wait ends without an event, if there is one.
	Until time.Time `json:"until,omitzero"`
	// Run is the run that is held back.
	Run time.Time `json:"run,omitzero"`
	// Jobs is the number of jobs that String mentions.
	Jobs int `json:"jobs,omitempty"`
	// Name is the name that String mentions, or the reason why there is no schedule.
	Name string `json:"name,omitempty"`
	// Kind is the kind of the children that String mentions; empty means jobs.
	Kind string `json:"kind,omitempty"`
}

// child returns the word for a child.
func (w Wait) child() string { return Kind{Kind: w.Kind}.String() }

// activeText returns the number of active children as text.
func (w Wait) activeText() string { return value.Count(w.Jobs, "active "+w.child()) }

// String returns the wait as a sentence, with times in UTC.
func (w Wait) String() string {
	switch w.Reason {
	case cronjobreason.WaitNextRun:
		return fmt.Sprintf("the next run is at %s", shortTime(w.Until))
	case cronjobreason.WaitNever:
		return "the schedule has no further run"
	case cronjobreason.WaitActive:
		return fmt.Sprintf("the run of %s is held back: %s", shortTime(w.Run), w.activeText())
	case cronjobreason.WaitFailures:
		return fmt.Sprintf("the run of %s is held back: %s in a row", shortTime(w.Run), value.Count(w.Jobs, "failure"))
	case cronjobreason.WaitVerify:
		return w.activeText() + " not among the children, looked up"
	case cronjobreason.WaitStartDeadline:
		return fmt.Sprintf("the run of %s is given up at %s", shortTime(w.Run), shortTime(w.Until))
	case cronjobreason.WaitNameTaken:
		return fmt.Sprintf("the run of %s does not start: %q belongs to another owner", shortTime(w.Run), w.Name)
	case cronjobreason.WaitSuspended:
		return "the CronJob is suspended"
	case cronjobreason.WaitDeleted:
		return "the CronJob is being deleted"
	case cronjobreason.WaitNoSchedule:
		return "there is no schedule: " + w.Name
	case cronjobreason.WaitHistory:
		return fmt.Sprintf("a finished %s is kept until %s", w.child(), shortTime(w.Until))
	case cronjobreason.WaitRecord:
		return fmt.Sprintf("the run of %s is held back: %s to record first",
			shortTime(w.Run), value.Count(w.Jobs, w.child()))
	case cronjobreason.WaitTrigger:
		return fmt.Sprintf("trigger %q is held back: %s", w.Name, w.activeText())
	case cronjobreason.WaitBackfill:
		return fmt.Sprintf("backfill %q: ", w.Name) + w.backfillText()
	case cronjobreason.WaitStale:
		what := "the run of " + shortTime(w.Run)
		if w.Name != "" {
			what = fmt.Sprintf("%q", w.Name)
		}
		return what + " is held back: the snapshot is older than the last write"
	case cronjobreason.WaitTerminating:
		return fmt.Sprintf("%q is terminating, and counts until %s", w.Name, shortTime(w.Until))
	case cronjobreason.WaitClock:
		return fmt.Sprintf("the last run, %s, lies in the future", shortTime(w.Run))
	}
	return fmt.Sprintf("wait for reason %d", w.Reason)
}

func (w Wait) backfillText() string {
	run := "the run of " + shortTime(w.Run)
	switch {
	case w.Run.IsZero():
		return "there is no schedule"
	case !w.Until.IsZero():
		return run + " is not due"
	case w.Jobs == 0:
		return run + " is left to the schedule"
	}
	return run + " is held back: " + w.activeText()
}

// ofKind sets the kind of the children in the waits, unless they are jobs.
func ofKind(waits []Wait, kind Kind) []Wait {
	if kind.isJob() {
		return waits
	}
	for i := range waits {
		waits[i].Kind = kind.Kind
	}
	return waits
}

// Requeue is the next time at which the plan can change without an event; never if it is zero.
type Requeue struct {
	At     time.Time          `json:"at,omitzero"`
	Reason cronjobreason.Wait `json:"reason,omitempty"`
}

// After returns how long to wait from now. It returns false if only events can change the plan.
// Otherwise the wait is at least a nanosecond, as in [job.Requeue.After].
func (r Requeue) After(now time.Time) (d time.Duration, ok bool) { return value.WaitFor(r.At, now) }

func shortTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999Z07:00") }

// skew is added to the time of the next run, because clocks differ (C7).
const skew = 100 * time.Millisecond

// firstEnd returns the earliest time at which a wait ends without an event.
func firstEnd(waits []Wait, isPunctual bool) (first Requeue) {
	for i := range waits {
		w := &waits[i]
		if w.Until.IsZero() {
			continue
		}

		until := w.Until
		if w.Reason == cronjobreason.WaitNextRun && !isPunctual {
			until = until.Add(skew)
		}
		if first.At.IsZero() || until.Before(first.At) {
			first = Requeue{At: until, Reason: w.Reason}
		}
	}
	return first
}
