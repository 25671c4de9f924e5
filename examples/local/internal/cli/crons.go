package cli

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/examples/local/internal/control"
	"github.com/batchplan/batchplan/examples/local/internal/manifest"
	"github.com/batchplan/batchplan/examples/local/internal/store"
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

// zone returns the name of the schedule's zone.
func (s *scheduled) zone() string {
	if s.spec.TimeZone == nil {
		return "UTC"
	}
	return *s.spec.TimeZone
}

// show formats a time in the schedule's zone, "-" if there is none.
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
	case s.compiled.Problem != "":
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

func (p *program) tableOfCronJobs(s *store.Store, cronJobs []store.CronJob) error {
	now, err := timeOf(s)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CRONJOB\tSCHEDULE\tZONE\tACTIVE\tLAST RUN\tNEXT RUN")
	for i := range cronJobs {
		c, err := loadScheduled(&cronJobs[i])
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\n", c.Key(), c.spec.Schedule, c.zone(), len(c.Status.Active),
			c.show(c.Status.LastScheduleTime), c.nextRun(now))
	}
	return w.Flush()
}

// writeCronJob writes the CronJob object as an API server would show it.
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
	fmt.Fprintf(p.out, "%s: %q, %s: %s\n", c.Key(), c.spec.Schedule, c.zone(), c.compiled.Schedule.Describe())
	fmt.Fprintf(p.out, "%s, active %d, last run %s, last success %s, next run %s\n", c.spec.ConcurrencyPolicy, len(c.Status.Active),
		c.show(c.Status.LastScheduleTime), c.show(c.Status.LastSuccessfulTime), c.nextRun(now))
	for _, t := range triggers {
		fmt.Fprintf(p.out, "requested jobs: %s\n", t.JobName(c.Name))
	}
	fmt.Fprintln(p.out)
	if err := tableOfJobs(p.out, jobs); err != nil {
		return err
	}
	return tableOfEvents(p.out, events)
}
