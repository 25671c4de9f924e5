package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
)

// runCount is the number of past and of future runs to list.
const runCount = 5

// schedule describes when the CronJob runs, how the last runs ended, and which runs come next.
func (l *cronLook) schedule() *Schedule {
	s := l.snapshot.Schedule.Schedule
	out := &Schedule{Spec: l.spec.Schedule, Zone: "UTC", Missed: l.plan.Missed.Count}
	for _, r := range l.plan.Missed.Runs {
		out.MissedRuns = append(out.MissedRuns, r.UTC())
	}

	if l.spec.TimeZone != nil {
		out.Zone = *l.spec.TimeZone
	}

	if l.snapshot.Schedule.Problem != 0 {
		return out
	}

	out.Zone, out.Sentence = s.Location().String(), s.Describe()

	created := l.snapshot.CronJob.CreationTimestamp
	run, ok := s.Latest(created, l.now)
	for ok && len(out.Last) < runCount {
		out.Last = append(out.Last, l.pastRun(run))
		run = s.Prev(run)
		ok = run.After(created)
	}

	for run := range s.NextN(later(l.now, l.status.LastScheduleTime), runCount) {
		out.Next = append(out.Next, l.futureRun(run))
	}
	return out
}

// pastRun describes how a run ended.
func (l *cronLook) pastRun(run time.Time) Run {
	out := Run{At: run.UTC()}
	if c := l.childOf(run); c != nil {
		out.Job = c.Name
		out.Outcome, out.Text = l.outcome(c)
	} else {
		out.Outcome, out.Text = l.noJob(run)
	}
	out.Text = sentence(out.Text)
	return out
}

// noJob describes why a run has no Job, as far as that is known.
func (l *cronLook) noJob(run time.Time) (outcome, text string) {
	last := l.status.LastScheduleTime
	if end := l.seenEnd(run); end != "" {
		return "gone", end
	}
	if text := l.seenDeleted(run); text != "" {
		return "gone", text
	}
	if text := l.seenMissed(run); text != "" {
		return "missed", text
	}
	switch {
	case last.After(l.now) && run.After(l.newestStart()):
		return "lost", "did not start: the last recorded run lies in the future"
	case run.Equal(last) && !l.jobsRead:
		return "gone", "started; the input has no Jobs, so how it ended is not known"
	case run.Equal(last):
		if ttl := l.ttl(); ttl != nil {
			return "gone", fmt.Sprintf("started; its Job is not in the input: it was probably deleted after its "+
				"end, by ttlSecondsAfterFinished %d", *ttl)
		}
		return "gone", "started; its Job is not in the input, so it was probably deleted since"
	case run.Before(last):
		return l.unrecorded(run)
	case l.isSuspended():
		return "suspended", "did not start: the CronJob is suspended"
	}

	for _, c := range l.plan.Create {
		if c.ScheduledTime.Equal(run) {
			switch {
			case len(l.theirs.Create) == 0:
				return "lost", "is due, and Kubernetes 1.37 does not start it"
			case refusal(l.events, l.now) != nil, !l.closing.IsZero():
				return "due", "is due, and the API server refuses its Job"
			case l.staleHolder() != "":
				return "due", "is due, and has not started: status.active names Job " + l.staleHolder()
			case len(l.lateFindings()) > 0:
				return "due", "is due, and has not started"
			}
			return "due", "is due and starts now"
		}
	}

	for _, w := range l.plan.Waits {
		if w.Run.Equal(run) && w.Reason == cronjobreason.WaitActive {
			return "held", "held back"
		}
	}

	if slices.ContainsFunc(l.plan.Missed.Runs, run.Equal) {
		if l.plan.Missed.TooLate {
			return "missed", "missed: " + l.whyTooLate()
		}
		return "missed", "missed: not started before the next run was due" + l.heldBy(run)
	}
	return "unknown", "no Job of this run is left"
}

// seenEnd describes how a run without a Job ended, by the controller's events and the last success.
func (l *cronLook) seenEnd(run time.Time) string {
	name, end, why := l.snapshot.Options.Naming.JobName(l.cron.Name, run), "", ""
	for _, e := range l.events {
		_, of, isEnd := strings.Cut(e.Message, "Saw completed job: ")
		of, condition, _ := strings.Cut(of, ",")
		switch isOurs := isEnd && e.Reason == "SawCompletedJob" && of == name; {
		case isOurs && contains(condition, "complete"):
			end = "succeeded"
		case isOurs && contains(condition, "failed"):
			end = "failed"
		}
	}

	// The last success may belong to another Job, for example to one that was started by hand.
	success := l.status.LastSuccessfulTime
	isKnown := end != "" || !success.After(run)
	for i := range l.children {
		isKnown = isKnown || l.children[i].FinishTime.Equal(success)
	}
	if run.Equal(l.status.LastScheduleTime) && !isKnown {
		end = "probably succeeded, since the last success is after its start"
	}

	limit, ttl := l.spec.SuccessfulJobsHistoryLimit, l.ttl()
	switch {
	case end == "":
		return ""
	case end != "failed" && limit != nil && *limit == 0:
		why = ", since successfulJobsHistoryLimit is 0"
	case ttl != nil:
		why = fmt.Sprintf(": it was probably deleted by ttlSecondsAfterFinished %d", *ttl)
	}
	return end + "; its Job is not in the input" + why
}

// seenDeleted describes a run whose Job the controller has deleted, by its events.
func (l *cronLook) seenDeleted(run time.Time) string {
	name := l.snapshot.Options.Naming.JobName(l.cron.Name, run)
	for _, e := range l.events {
		if e.Reason != "SuccessfulDelete" || strings.TrimPrefix(e.Message, "Deleted job ") != name {
			continue
		}

		text := "its Job was deleted by the controller " + l.at(e.Last)
		next := l.snapshot.Schedule.Schedule.Next(run)
		if l.spec.ConcurrencyPolicy == cronjob.Replace {
			if e.Last.Sub(next).Abs() < slack {
				return text + ", when the next run was due: concurrencyPolicy is Replace"
			}
			return text + ", for a later run (concurrencyPolicy is Replace) or by the history limits"
		}

		ok, bad := l.spec.SuccessfulJobsHistoryLimit, l.spec.FailedJobsHistoryLimit
		if ok != nil && bad != nil {
			text += fmt.Sprintf(": successfulJobsHistoryLimit %d and failedJobsHistoryLimit %d keep the last ones only",
				*ok, *bad)
		}
		return text
	}
	return ""
}

// seenMissed describes a run that the controller came to too late, by its events.
func (l *cronLook) seenMissed(run time.Time) string {
	for _, e := range l.events {
		if e.Reason == "MissSchedule" && strings.Contains(e.Message, run.UTC().Format("02 Jan 2006 15:04:05")) {
			text := fmt.Sprintf("missed: the controller came to it at %s, %s late", l.clock(e.Last),
				span(e.Last.Sub(run)))
			if d := l.spec.StartingDeadlineSeconds; d != nil {
				text += fmt.Sprintf(", and startingDeadlineSeconds is %d", *d)
			}
			return text
		}
	}
	return ""
}

// newestStart returns the latest scheduled time of a Job that is not in the future, or zero.
func (l *cronLook) newestStart() (newest time.Time) {
	for i := range l.children {
		if at := l.children[i].ScheduledTime; !at.After(l.now) {
			newest = later(newest, at)
		}
	}
	return newest
}

// unrecorded describes a run that has no Job and was due before the last recorded run. Whether it
// ever had a Job is unknown; an overlapping Job under Forbid suggests that it had none.
func (l *cronLook) unrecorded(run time.Time) (outcome, text string) {
	if why := l.heldBy(run); why != "" {
		return "skipped", "did not start (inferred)" + why
	}
	if !l.jobsRead {
		return "unknown", "the input has no Jobs, so how it ended is not known"
	}
	by := "by the history limits or by hand"
	if l.spec.ConcurrencyPolicy == cronjob.Replace {
		by = "by the next run (Replace), by the history limits or by hand"
	}
	return "unknown", "no Job is left: it was deleted " + by + ", or the run never started"
}

func (l *cronLook) futureRun(run time.Time) Run {
	out := Run{
		At:      run.UTC(),
		Outcome: "scheduled",
		Job:     l.snapshot.Options.Naming.JobName(l.cron.Name, run),
		Text:    "In " + span(run.Sub(l.now)),
	}

	if zone := l.snapshot.Schedule.Schedule.Location(); zone.String() != "UTC" {
		out.Text += run.In(zone).Format(", at 15:04 MST in ") + zone.String()
	}
	if l.isSuspended() {
		out.Outcome, out.Text = "suspended", out.Text+", if the CronJob is resumed by then"
	}
	out.Text = sentence(out.Text)
	return out
}

// facts returns when a run was last recorded, and when one last succeeded.
func (l *cronLook) facts() (all []Fact) {
	if l.snapshot.Schedule.Problem != 0 {
		return nil
	}
	if t := l.status.LastScheduleTime; !t.IsZero() {
		all = append(all, fact("recorded", "the last recorded run was due %s", l.at(t)))
	}
	if t := l.status.LastSuccessfulTime; !t.IsZero() {
		all = append(all, fact("success", "the last success was %s", l.at(t)))
	} else if !l.cron.IsManifest {
		so := "no run has succeeded so far"
		if l.status.LastScheduleTime.IsZero() && l.plan.Missed.Count+len(l.plan.Create)+len(l.plan.Waits) == 0 {
			so = "no run has been due since its creation"
		}
		all = append(all, fact("success", "%s", so))
	}
	if text := l.manyMissed(); text != "" && l.plan.Missed.Count == 0 {
		all = append(all, fact("missed", "%s", text))
	}
	return all
}
