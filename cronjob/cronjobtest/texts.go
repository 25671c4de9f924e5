package cronjobtest

import (
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/internal/value"
)

// specText describes a spec in a line.
func specText(s *cronjob.Spec) string {
	var w life.Words
	kept, failed := s.SuccessfulJobsHistoryLimit, s.FailedJobsHistoryLimit

	w.Add(true, "%q, %s", s.Schedule, s.ConcurrencyPolicy)
	w.Add(s.TimeZone != nil, "in %s", value.Of(s.TimeZone))
	w.Add(s.StartingDeadlineSeconds != nil, "startingDeadlineSeconds %d", value.Of(s.StartingDeadlineSeconds))
	w.Add(kept != nil && failed != nil, "keeps %d and %d", value.Of(kept), value.Of(failed))
	w.Add(value.Of(s.Suspend), "suspended")
	return w.String()
}

// optionsText describes the options in a line; it is empty for the zero value.
func optionsText(o *cronjob.Options) string {
	var w life.Words
	all := o.CatchUp == cronjob.CatchUpAll
	w.Add(o.CatchUp != cronjob.CatchUpLatest, "catchUp %s", o.CatchUp)
	w.Add(o.CatchUpWindow > 0, "catchUpWindow %s", o.CatchUpWindow)
	w.Add(all && o.CatchUpLimit > 0, "catchUpLimit %d", o.CatchUpLimit)

	w.Add(o.SkipOnResume, "skipOnResume")
	w.Add(o.SkipOnEdit, "skipOnEdit")
	w.Add(o.SkipHeld, "skipHeld")
	w.Add(o.MaxActive > 0, "maxActive %d", o.MaxActive)
	w.Add(o.ReplaceWhenGone, "replaceWhenGone")
	w.Add(o.TerminatingTimeout > 0, "terminatingTimeout %s", o.TerminatingTimeout)

	w.Add(o.Jitter > 0, "jitter %s", o.Jitter)
	w.Add(o.KeepSuccessful > 0, "keepSuccessful %s", o.KeepSuccessful)
	w.Add(o.KeepFailed > 0, "keepFailed %s", o.KeepFailed)
	w.Add(o.PauseAfterFailures > 0, "pauseAfterFailures %d", o.PauseAfterFailures)

	w.Add(o.Naming.Form != cronjob.NameMinutes, "names of %s", strings.ToLower(o.Naming.Form.String()))
	w.Add(o.Naming.Prefix != "", "names begin with %q", o.Naming.Prefix)
	w.Add(o.Marks.TimeIn != cronjob.InAnnotation, "the time is in the %s", strings.ToLower(o.Marks.TimeIn.String()))
	w.Add(o.ActiveFromChildren, "activeFromChildren")
	w.Add(o.SuccessFromChildren, "successFromChildren")
	return w.String()
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

func overlapText(p cronjob.ConcurrencyPolicy) string {
	if p == "" {
		return ""
	}
	return ", overlap " + string(p)
}
