package cronjobtest

import (
	"fmt"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/value"
)

// specText is a spec in a line.
func specText(s *cronjob.Spec) string {
	parts := []string{fmt.Sprintf("%q", s.Schedule), string(s.ConcurrencyPolicy)}
	if s.TimeZone != nil {
		parts = append(parts, "in "+*s.TimeZone)
	}
	if s.StartingDeadlineSeconds != nil {
		parts = append(parts, fmt.Sprintf("startingDeadlineSeconds %d", *s.StartingDeadlineSeconds))
	}
	if s.SuccessfulJobsHistoryLimit != nil && s.FailedJobsHistoryLimit != nil {
		parts = append(parts, fmt.Sprintf("keeps %d and %d", *s.SuccessfulJobsHistoryLimit, *s.FailedJobsHistoryLimit))
	}
	if value.Of(s.Suspend) {
		parts = append(parts, "suspended")
	}
	return strings.Join(parts, ", ")
}

// optionsText is the options in a line; empty for the zero value.
func optionsText(o *cronjob.Options) string {
	var parts []string
	add := func(is bool, format string, args ...any) {
		if is {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	all := o.CatchUp == cronjob.CatchUpAll
	add(o.CatchUp != cronjob.CatchUpLatest, "catchUp %s", o.CatchUp)
	add(o.CatchUpWindow > 0, "catchUpWindow %s", o.CatchUpWindow)
	add(all && o.CatchUpLimit > 0, "catchUpLimit %d", o.CatchUpLimit)
	add(o.SkipOnResume, "skipOnResume")
	add(o.SkipOnEdit, "skipOnEdit")
	add(o.SkipHeld, "skipHeld")
	add(o.MaxActive > 0, "maxActive %d", o.MaxActive)
	add(o.ReplaceWhenGone, "replaceWhenGone")
	add(o.Jitter > 0, "jitter %s", o.Jitter)
	add(o.KeepSuccessful > 0, "keepSuccessful %s", o.KeepSuccessful)
	add(o.KeepFailed > 0, "keepFailed %s", o.KeepFailed)
	add(o.PauseAfterFailures > 0, "pauseAfterFailures %d", o.PauseAfterFailures)
	add(o.Naming.Form != cronjob.NameMinutes, "names of %s", o.Naming.Form)
	add(o.Naming.Prefix != "", "names begin with %q", o.Naming.Prefix)
	add(o.Marks.TimeIn != cronjob.InAnnotation, "the time is in the %s", o.Marks.TimeIn)
	add(o.ActiveFromChildren, "activeFromChildren")
	add(o.SuccessFromChildren, "successFromChildren")
	return strings.Join(parts, ", ")
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

func overlapText(p cronjob.ConcurrencyPolicy) string {
	if p == "" {
		return ""
	}
	return ", overlap " + string(p)
}
