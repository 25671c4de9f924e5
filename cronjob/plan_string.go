package cronjob

import (
	"fmt"
	"strings"

	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/value"
)

// String returns the plan as text: a line for each action and its reason, in the order in which
// they are carried out, then the waits. If there are neither actions nor waits, it is "nothing to
// do".
func (p Plan) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }

	for _, n := range p.Notes {
		line("note %s: %s: %s", n.Field, n.Value, n.Message)
	}

	for _, r := range p.Verify {
		line("verify %s: active, and perhaps gone (C5)", r.Name)
	}
	for _, d := range p.Delete {
		line("delete %s: %s", d.Name, d.Reason)
	}

	for _, c := range p.Create {
		run := ""
		if c.Trigger == "" {
			run = " for " + shortTime(c.ScheduledTime)
		}
		line("create %s%s: %s", c.Name, run, c.Reason)
	}

	for i := range p.basis.Backfills {
		switch b := &p.basis.Backfills[i]; {
		case b.IsComplete():
			line("backfill %s: complete", b.ID)
		case b.Moved:
			ahead := ""
			if n := len(b.Except); n > 0 {
				ahead = ", and " + value.Count(int64(n), "run") + " after it"
			}
			line("backfill %s: settled until %s%s", b.ID, shortTime(b.After), ahead)
		}
	}

	if m := &p.Missed; m.Count > 0 && len(m.Runs) > 0 {
		line("missed %s, the latest at %s", value.Count(int64(m.Count), "run"), shortTime(m.Runs[0]))
	}
	for i := range p.Unstarted {
		if u := &p.Unstarted[i]; p.Missed.Count == 0 || u.Reason > cronjobreason.UnstartedTooLate {
			line("given up %s, the latest at %s: %s", value.Count(int64(u.Count), "run"), shortTime(u.Latest), u.Reason)
		}
	}

	if b := &p.basis; p.CronJobUID != "" && !equalStatus(&b.Before, &b.Status) {
		line("status %s", b.Status)
	}
	for _, e := range p.Events {
		line("event %s %s: %s", e.Type, e.Reason, e.Message)
	}

	for _, w := range p.Waits {
		line("wait: %s", w)
	}
	if !p.Requeue.At.IsZero() {
		line("again at %s", shortTime(p.Requeue.At))
	}

	if b.Len() == 0 {
		line("nothing to do")
	}
	return b.String()
}

// String returns the names of the active jobs, lastScheduleTime and lastSuccessfulTime, in one
// line.
func (s Status) String() string {
	var names []string
	for i := range s.Active {
		names = append(names, s.Active[i].Name)
	}
	text := fmt.Sprintf("active=%v", names)
	if !s.LastScheduleTime.IsZero() {
		text += " lastScheduleTime=" + shortTime(s.LastScheduleTime)
	}
	if !s.LastSuccessfulTime.IsZero() {
		text += " lastSuccessfulTime=" + shortTime(s.LastSuccessfulTime)
	}
	return text
}
