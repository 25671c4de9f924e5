package cronjob

import (
	"maps"
	"strconv"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job/release"
)

// backfill returns the creation of a requested run's job.
func backfill(s *Snapshot, id, name string, run time.Time) Creation {
	c := creationOf(s, name, run, cronjobreason.CreateBackfilled)
	c.Backfill = id
	c.Annotations[s.Options.Marks.requestKey()] = backfilled
	return c
}

// triggered returns the creation of a trigger's job.
func triggered(s *Snapshot, id, name string) Creation {
	c := creation(s, name, cronjobreason.CreateTriggered)
	c.Trigger = id
	c.Annotations[s.Options.Marks.requestKey()] = "manual"
	return c
}

// creationOf returns the creation of a run's job (C13).
func creationOf(s *Snapshot, name string, run time.Time, reason cronjobreason.Create) Creation {
	c := creation(s, name, reason)
	c.ScheduledTime = run

	switch marks := &s.Options.Marks; {
	case s.Options.Without.Has(release.CronJobsScheduledAnnotation):
	case marks.TimeIn == InAnnotation:
		c.Annotations[marks.timeKey()] = timestamp(s, run)
	case marks.TimeIn == InLabel:
		if c.Labels == nil {
			c.Labels = make(map[string]string, 1)
		}
		c.Labels[marks.timeKey()] = strconv.FormatInt(run.Unix(), 10)
	}
	return c
}

// creation returns the creation of a job from the template.
func creation(s *Snapshot, name string, reason cronjobreason.Create) Creation {
	template := &s.CronJob.Spec.JobTemplate
	annotations := make(map[string]string, len(template.Annotations)+1)
	maps.Copy(annotations, template.Annotations)
	return Creation{Name: name, Labels: maps.Clone(template.Labels), Annotations: annotations, Reason: reason}
}

// timestamp formats the time of a run. Without a timeZone it is in UTC, even if the schedule is in
// another zone, as in Kubernetes.
func timestamp(s *Snapshot, run time.Time) string {
	zone := time.UTC
	if s.CronJob.Spec.TimeZone != nil && !s.Options.Marks.UTC {
		if zone = s.Schedule.Location; zone == nil {
			zone = s.Schedule.Schedule.Location()
		}
	}
	return run.In(zone).Format(time.RFC3339)
}
