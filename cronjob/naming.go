package cronjob

import (
	"maps"
	"strconv"
	"time"
)

// TimestampAnnotation holds the run that a job belongs to (KEP-4026).
const TimestampAnnotation = "batch.kubernetes.io/cronjob-scheduled-timestamp"

// JobName is the name of the job of a run: that of the CronJob, and the minutes
// from 1970 to the run. It is the lock that keeps a run from starting twice (C13).
func JobName(cronJob string, run time.Time) string {
	return string(appendName(nil, cronJob, run))
}

func appendName(text []byte, cronJob string, run time.Time) []byte {
	text = append(text, cronJob...)
	text = append(text, '-')
	return strconv.AppendInt(text, run.Unix()/60, 10)
}

// creation describes the job of a run (C13).
func (p *Planner) creation(name string, run time.Time, reason CreateReason) Creation {
	template := &p.cj.Spec.JobTemplate
	annotations := make(map[string]string, len(template.Annotations)+1)
	maps.Copy(annotations, template.Annotations)
	annotations[TimestampAnnotation] = p.timestamp(run)
	return Creation{
		Name:          name,
		ScheduledTime: run,
		Labels:        maps.Clone(template.Labels),
		Annotations:   annotations,
		Reason:        reason,
	}
}

// timestamp is the text of a run. Without a timeZone it is in UTC, even where
// the schedule is in another zone, as in the reference.
func (p *Planner) timestamp(run time.Time) string {
	zone := time.UTC
	if p.cj.Spec.TimeZone != nil {
		if zone = p.snap.Schedule.Location; zone == nil {
			zone = p.snap.Schedule.Schedule.Location()
		}
	}
	return run.In(zone).Format(time.RFC3339)
}
