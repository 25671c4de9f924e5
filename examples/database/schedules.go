package main

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
)

// crons are the options of all schedules. The name of a job contains the time of its run in
// seconds. The list of active jobs is computed from the rows of the jobs. A run that replaces a job
// starts once that job has stopped. Runs that came due during a pause are skipped.
var crons = cronjob.Options{
	Naming:             cronjob.Naming{Form: cronjob.NameSeconds},
	ActiveFromChildren: true,
	ReplaceWhenGone:    true,
	SkipOnResume:       true,
}

// syntax are the options of all schedules: a field of seconds, and days such as L, 15W and fri#2.
var syntax = []schedule.Option{schedule.WithSeconds(), schedule.WithSpecialDays()}

// Schedule is a schedule as users write it: the spec of a CronJob, and the job of each run.
type Schedule struct {
	cronjob.Spec          // its schedule has six fields if the first is for seconds
	Job          job.Spec `json:"job"`
	Payload      string   `json:"payload"` // {run} stands for the time of the run
	// JobTemplate hides the field of cronjob.Spec. A schedule with a jobTemplate is refused.
	JobTemplate json.RawMessage `json:"jobTemplate,omitempty"`
}

// errRefused is an error that the user can fix.
var errRefused = errors.New("refused")

func refuse(err error) error {
	if err != nil {
		err = fmt.Errorf("%w: %w", errRefused, err)
	}
	return err
}

// once returns the default job of a run: one pod, not repeated if it fails or its process is lost.
func once() job.Spec {
	return job.Spec{
		BackoffLimit: new(int32(0)),
		Template:     job.Template{RestartPolicy: job.RestartNever, Containers: []string{"main"}},
	}
}

// compile is the only place where a schedule is parsed. When the clocks change, a schedule of some
// hours of the day, such as @daily or */2, runs once: a skipped time runs at the end of the gap,
// and a repeated time runs the first time. A schedule of every hour keeps its interval.
func compile(c *cronjob.CronJob) cronjob.Compiled {
	options := slices.Clone(syntax)
	if !isHourly(strings.Fields(c.Spec.Schedule)) {
		options = append(options, schedule.RunSkippedAtGapEnd(), schedule.RunRepeatedFirst())
	}
	return cronjob.Compile(c, options...)
}

func isHourly(fields []string) bool {
	if n := len(fields); n >= 5 {
		return fields[n-4] == "*" || fields[n-4] == "?" // with a field of seconds or without
	}
	return slices.Contains(fields, "@hourly") || slices.Contains(fields, "@every")
}

// Put creates a schedule, or edits it. An edit without suspend leaves a paused schedule paused.
func (s *Store) Put(ctx context.Context, name string, o Schedule) error {
	job.Default(&o.Job)
	return s.within(ctx, func(t *tx) {
		t.fail(refuse(job.Validate(o.Job)))

		c := cronjob.CronJob{Name: name, UID: job.UID(s.newID()), CreationTimestamp: t.now}
		t.exec(`INSERT INTO schedules (uid, name, cron, job, payload) VALUES ($1, $2, $3, '', '')
			ON CONFLICT (name) DO NOTHING`, c.UID, name, asJSON{c})

		id := t.changeSchedule(name, func(c *cronjob.CronJob) {
			o.Suspend = cmp.Or(o.Suspend, c.Spec.Suspend)
			cronjob.Default(&o.Spec)
			c.Spec, c.SpecChanged = o.Spec, t.now
		})
		t.exec("UPDATE schedules SET job = $2, payload = $3 WHERE uid = $1", id, asJSON{o.Job}, o.Payload)
	})
}

// Pause pauses or resumes a schedule. Runs that have started continue.
func (s *Store) Pause(ctx context.Context, name string, paused bool) error {
	return s.within(ctx, func(t *tx) {
		t.changeSchedule(name, func(c *cronjob.CronJob) { c.Spec.Suspend, c.SpecChanged = &paused, t.now })
	})
}

// changeSchedule changes a schedule, and makes it due.
func (t *tx) changeSchedule(name string, do func(*cronjob.CronJob)) (id job.UID) {
	crons := list(t, cron, "SELECT cron FROM schedules WHERE name = $1"+t.lock, name)
	for _, c := range crons {
		do(&c)
		id = c.UID
		c.Version++
		t.fail(refuse(t.crons.ValidateFor(&c, syntax...)))
		t.exec("UPDATE schedules SET cron = $2, due = 0 WHERE uid = $1", id, asJSON{c})
	}
	if len(crons) == 0 {
		t.fail(fmt.Errorf("schedule %s: %w", name, sql.ErrNoRows))
	}
	return id
}

func cron(c *cronjob.CronJob) []any { return []any{asJSON{c}} }

// Trigger requests a run now, besides the schedule. While the job of a trigger exists, another
// trigger with the same ID starts nothing.
func (s *Store) Trigger(ctx context.Context, name string, t cronjob.Trigger) error {
	return s.request(ctx, name, "trigger", t.ID, t, cronjob.Snapshot{Triggers: []cronjob.Trigger{t}})
}

// Backfill requests the runs of a period that have no job.
func (s *Store) Backfill(ctx context.Context, name string, b cronjob.Backfill) error {
	return s.request(ctx, name, "backfill", b.ID, b, cronjob.Snapshot{Backfills: []cronjob.Backfill{b}})
}

// request stores a request, unless the planner would refuse it.
func (s *Store) request(ctx context.Context, name, kind, id string, request any, round cronjob.Snapshot) error {
	return s.within(ctx, func(t *tx) {
		of := t.changeSchedule(name, func(c *cronjob.CronJob) {
			round.CronJob, round.Now, round.Schedule, round.Options = *c, t.now, compile(c), t.crons
			_, err := cronjob.Reconcile(round)
			t.fail(refuse(err))
		})
		t.exec("INSERT INTO requests (schedule, id, kind, request) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
			of, id, kind, asJSON{request})
	})
}

// Remove removes a schedule with its jobs. Running jobs are stopped.
func (s *Store) Remove(ctx context.Context, name string) error {
	return s.within(ctx, func(t *tx) {
		for _, id := range list(t, uid, "DELETE FROM schedules WHERE name = $1 RETURNING uid", name) {
			for _, run := range list(t, uid, "SELECT uid FROM jobs WHERE schedule = $1 ORDER BY uid"+t.lock, id) {
				t.wake(run)
				t.deleteJob(run)
			}
			t.exec("DELETE FROM requests WHERE schedule = $1", id)
			t.exec("DELETE FROM missed WHERE schedule = $1", id)
			t.exec("DELETE FROM news WHERE schedule = $1", id) // its jobs are locked, so no more news comes
		}
	})
}
