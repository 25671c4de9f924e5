package cronjob

import (
	"maps"
	"strconv"
	"strings"
	"time"
)

// timestampAnnotation holds the run that a job belongs to (KEP-4026).
const timestampAnnotation = "batch.kubernetes.io/cronjob-scheduled-timestamp"

// JobName returns the name of the job of a run: the name of the CronJob, and the minutes
// from 1970 to the run. It is the lock that keeps a run from starting twice (C13). Runs of
// one minute, as "@every 30s" has them, share a name: one of them starts.
func JobName(cronJob string, run time.Time) string { return nameOfRun(cronJob, run).String() }

// runMinute is the number in the name of a run's job, which tells runs apart.
func runMinute(run time.Time) int64 { return run.Unix() / 60 }

// runName is the name of the job of a run in two parts, to compare it without building
// it.
type runName struct {
	cronJob string
	minute  [20]byte
	digits  int
}

func nameOfRun(cronJob string, run time.Time) runName {
	n := runName{cronJob: cronJob}
	n.digits = len(strconv.AppendInt(n.minute[:0], runMinute(run), 10))
	return n
}

// is reports whether a name is this one.
func (n runName) is(name string) bool {
	rest, ok := strings.CutPrefix(name, n.cronJob)
	return ok && len(rest) == 1+n.digits && rest[0] == '-' && rest[1:] == string(n.minute[:n.digits])
}

func (n runName) String() string { return n.cronJob + "-" + string(n.minute[:n.digits]) }

// creation describes the job of a run (C13).
func creation(s *Snapshot, name string, run time.Time, reason CreateReason) Creation {
	template := &s.CronJob.Spec.JobTemplate
	annotations := make(map[string]string, len(template.Annotations)+1)
	maps.Copy(annotations, template.Annotations)
	annotations[timestampAnnotation] = timestamp(s, run)
	return Creation{
		Name:          name,
		ScheduledTime: run,
		Labels:        maps.Clone(template.Labels),
		Annotations:   annotations,
		Reason:        reason,
	}
}

// timestamp returns the text of a run. Without a timeZone it is in UTC, even if the
// schedule is in another zone, as in the reference.
func timestamp(s *Snapshot, run time.Time) string {
	zone := time.UTC
	if s.CronJob.Spec.TimeZone != nil {
		if zone = s.Schedule.Location; zone == nil {
			zone = s.Schedule.Schedule.Location()
		}
	}
	return run.In(zone).Format(time.RFC3339)
}
