package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/cronjob/cronjobtest"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
)

// TestSchedules_Backend plays random lives of schedules in both databases. A round is one
// transaction, so none of its writes survives a killed process. In this test, the writes made
// before the kill do survive, which is harder.
func TestSchedules_Backend(t *testing.T) {
	test := cronjobtest.Test{
		Specs:    rapid.Map(cronjobtest.Specs(), inSeconds),
		Options:  rapid.Map(cronjobtest.Options(), asServed),
		Schedule: rapid.Just([]schedule.Option{schedule.WithSeconds()}),
	}
	onBoth(t, func(t *testing.T, address string) {
		s, err := Open(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		defer s.db.Close()
		test.Run(t, func(env *cronjobtest.Env) cronjobtest.Subject {
			o := &clients{outside: &outside{Store: s}, env: env}
			s.newID, s.crons = o.id, env.Options()
			o.must(o.RemoveCronJob())
			return cronjobtest.Subject{Store: o, Start: o.start, OneWriter: true}
		})
	})
}

// inSeconds adds a field of seconds to some schedules.
func inSeconds(s cronjob.Spec) cronjob.Spec {
	if fields := strings.Fields(s.Schedule); len(fields) == 5 && len(fields[0])%2 == 1 {
		s.Schedule = "7 " + s.Schedule
	}
	return s
}

// asServed returns the options with the settings of the service: how jobs are named and marked, and
// what the row of a schedule does not store.
func asServed(o cronjob.Options) cronjob.Options {
	o.Naming, o.Marks, o.ChildKind, o.Without = crons.Naming, crons.Marks, crons.ChildKind, crons.Without
	o.ActiveFromChildren, o.SuccessFromChildren, o.Quirks = crons.ActiveFromChildren, crons.SuccessFromChildren, crons.Quirks
	return o
}

// clients is the store as users see it, and the workers that run the jobs.
type clients struct {
	*outside
	env  *cronjobtest.Env
	name string
	open *tx // of the round in progress
}

// in runs a transaction, or continues that of the round.
func (o *clients) in(do func(*tx)) error {
	if o.open != nil {
		do(o.open)
		return o.open.err
	}
	o.clock = fmt.Sprint("SELECT CAST(", o.env.Now().UnixMilli(), " AS BIGINT)")
	return o.within(context.Background(), do)
}

func (o *clients) start(forget bool) cronjobtest.Program {
	w := &Worker{Store: o.Store}
	w.aroundTick = func(r *tick, p *cronjob.Plan) cronBackend {
		o.env.Planned(&r.snapshot, p)
		return faultyTick{o.env.Backend(r), o.env, r}
	}

	if forget {
		o.must(o.in(func(t *tx) { t.exec("UPDATE schedules SET memory = ''") }))
	}

	return func(ctx context.Context) (next time.Time, err error) {
		o.must(o.in(func(t *tx) {
			o.open = t
			defer func() { o.open = nil }()
			if _, err = w.tick(ctx, t); err != nil {
				t.exec("UPDATE schedules SET due = 0") // as it is after the transaction was rolled back
			}
			for _, next = range list(t, func(at *time.Time) []any { return []any{asTime{at}} }, "SELECT due FROM schedules") {
			}
		}))
		if next.Year() > 9999 {
			next = time.Time{}
		}
		return next, err
	}
}

// faultyTick is a backend whose last write can also fail.
type faultyTick struct {
	cronjobapply.Backend
	env *cronjobtest.Env
	r   *tick
}

func (f faultyTick) save(end cronjob.Conclusion) error {
	return f.env.Write("end the round", func() error { return f.r.save(end) })
}

func (o *clients) CreateCronJob(c cronjob.CronJob) error {
	o.name = c.Name
	o.clock = fmt.Sprint("SELECT CAST(", o.env.Now().UnixMilli(), " AS BIGINT)")
	return o.Put(context.Background(), c.Name, Schedule{Spec: c.Spec, Job: once()})
}

func (o *clients) RemoveCronJob() error {
	return o.in(func(t *tx) {
		for _, table := range []string{"schedules", "jobs", "requests", "missed", "news"} {
			t.exec("DELETE FROM " + table)
		}
	})
}

func (o *clients) UpdateSpec(s cronjob.Spec) error {
	return o.in(func(t *tx) {
		t.changeSchedule(o.name, func(c *cronjob.CronJob) { c.Spec, c.SpecChanged = s, t.now })
	})
}

func (o *clients) CronJob() (c cronjob.CronJob, err error) {
	err = o.in(func(t *tx) {
		for _, c = range list(t, cron, "SELECT cron FROM schedules") {
		}
	})
	return c, err
}

func (o *clients) Children() (jobs []cronjob.Child, err error) {
	c, err := o.CronJob()
	if err != nil {
		return nil, err
	}
	err = o.in(func(t *tx) { jobs = t.children(&c, "") })
	return jobs, err
}

// UpdateChild does what the rounds of the job would do.
func (o *clients) UpdateChild(c cronjob.Child) error {
	return o.in(func(t *tx) {
		t.changeJob(c.UID, func(j *job.Job) {
			j.DeletionTimestamp = c.DeletionTimestamp
			j.Status.StartTime, j.Status.CompletionTime = c.StartTime, c.CompletionTime
			if c.Finished != "" {
				j.Status.Conditions = []job.Condition{{Type: c.Finished, Status: job.ConditionTrue, LastTransitionTime: c.FinishTime}}
			}
		})
	})
}

func (o *clients) RemoveChild(name string) error {
	return o.in(func(t *tx) {
		for _, id := range list(t, uid, "SELECT uid FROM jobs WHERE name = $1", name) {
			t.report(id)
			t.exec("DELETE FROM jobs WHERE uid = $1", id)
		}
	})
}

func (o *clients) AddTrigger(t cronjob.Trigger) error {
	return o.Trigger(context.Background(), o.name, t)
}

func (o *clients) AddBackfill(b cronjob.Backfill) error {
	return o.Backfill(context.Background(), o.name, b)
}

func (o *clients) Triggers() (all []cronjob.Trigger, err error) {
	err = o.in(func(t *tx) { all = requests[cronjob.Trigger](t, "trigger") })
	return all, err
}

func (o *clients) Backfills() (all []cronjob.Backfill, err error) {
	err = o.in(func(t *tx) { all = requests[cronjob.Backfill](t, "backfill") })
	return all, err
}

func requests[T any](t *tx, kind string) []T {
	return list(t, func(r *T) []any { return []any{asJSON{r}} }, "SELECT request FROM requests WHERE kind = $1 ORDER BY id", kind)
}

// StoreProgress is never called: a tick stores its progress itself.
func (o *clients) StoreProgress([]string, []cronjob.Backfill) error {
	panic("a tick stores its progress")
}
