package cli

import (
	"fmt"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/control"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// scheduled is a stored CronJob with its schedule.
type scheduled struct {
	*store.CronJob
	spec     cronjob.Spec
	compiled cronjob.Compiled
}

func loadScheduled(c *store.CronJob) (scheduled, error) {
	m, err := manifest.LoadCronJob(c.Manifest)
	if err != nil {
		return scheduled{}, fmt.Errorf("CronJob %s: %w", c.Key(), err)
	}
	return scheduled{CronJob: c, spec: m.Spec, compiled: control.Compile(c, m)}, nil
}

func (s *scheduled) zone() string {
	if s.spec.TimeZone == nil {
		return "UTC"
	}
	return *s.spec.TimeZone
}

// show formats a time in the schedule's zone. The zero time is "-".
func (s *scheduled) show(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.In(s.compiled.Schedule.Location()).Format("2006-01-02 15:04:05 MST")
}

// nextRun describes when the CronJob starts its next job.
func (s *scheduled) nextRun(now time.Time) string {
	switch {
	case !s.Deleted.IsZero():
		return "being deleted"
	case s.compiled.Problem != 0:
		return s.compiled.Message
	case s.spec.Suspend != nil && *s.spec.Suspend:
		return "suspended"
	}
	next := s.compiled.Schedule.Next(now)
	if next.IsZero() {
		return "never"
	}
	return s.show(next)
}

// tableOfCronJobs lists CronJobs. Times are in the zone of the schedule.
func (p *program) tableOfCronJobs(s *store.Store, cronJobs []store.CronJob, wide bool) error {
	now, err := timeOf(s)
	if err != nil {
		return err
	}

	titles := []string{"CRONJOB", "AGE", "SCHEDULE", "ACTIVE", "LAST RUN", "NEXT RUN"}
	if wide {
		titles = []string{"CRONJOB", "AGE", "SCHEDULE", "ZONE", "ACTIVE", "LAST RUN", "NEXT RUN"}
	}
	t := newTable(wide, titles...)

	for i := range cronJobs {
		c, err := loadScheduled(&cronJobs[i])
		if err != nil {
			return err
		}

		active, old := fmt.Sprint(len(c.Status.Active)), age(c.Created, now)
		if wide {
			t.add(c.Key(), old, c.spec.Schedule, c.zone(), active, c.show(c.Status.LastScheduleTime), c.nextRun(now))
			continue
		}

		last := age(c.Status.LastScheduleTime, now)
		if last != "-" {
			last += " ago"
		}
		t.add(c.Key(), old, c.spec.Schedule, active, last, c.nextRun(now))
	}
	return t.write(p.out)
}

// writeCronJob prints the CronJob object as an API server would return it.
func (p *program) writeCronJob(c *store.CronJob) error {
	return p.writeObject(c.Manifest, c.UID, c.Namespace, c.Created, c.Deleted, c.Status)
}

func (p *program) showCronJob(s *store.Store, stored *store.CronJob, output string) error {
	if output == "json" {
		return p.writeCronJob(stored)
	}

	c, err := loadScheduled(stored)
	if err != nil {
		return err
	}
	now, err := timeOf(s)
	if err != nil {
		return err
	}

	jobs, err := s.JobsOf(c.UID)
	if err != nil {
		return err
	}
	triggers, err := s.Triggers(c.UID)
	if err != nil {
		return err
	}
	events, err := s.CronJobEvents(c.UID)
	if err != nil {
		return err
	}

	p.facts(output == "wide",
		fmt.Sprintf("%s: %q, %s: %s", c.Key(), c.spec.Schedule, c.zone(), c.compiled.Schedule.Describe()),
		fmt.Sprintf("%s, active %d, last run %s, last success %s, next run %s", c.spec.ConcurrencyPolicy,
			len(c.Status.Active),
			c.show(c.Status.LastScheduleTime), c.show(c.Status.LastSuccessfulTime), c.nextRun(now)))

	for _, t := range triggers {
		fmt.Fprintf(p.out, "requested jobs: %s\n", cronjob.Naming{}.TriggerName(c.Name, t))
	}

	fmt.Fprintln(p.out)
	if err := p.tableOfJobs(s, jobs, output == "wide"); err != nil {
		return err
	}
	return tableOfEvents(p.out, events, output == "wide")
}
