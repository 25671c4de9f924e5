package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/job"
)

// tick is one round of a schedule, and its cronjobapply.Backend. It is one transaction, which locks
// the schedule and its jobs: nothing changes meanwhile, and a process that is killed leaves nothing
// behind. So it needs neither a lease nor a version. The same transaction writes the status, and
// adds the runs that will not start to the table missed.
type tick struct {
	*tx
	row
	snapshot cronjob.Snapshot
	end      cronjob.Conclusion
}

// row is a row of schedules.
type row struct {
	uid             job.UID // known even if the rest cannot be read
	cron            cronjob.CronJob
	job             job.Spec
	payload, memory string
}

const rowColumns = "uid, cron, job, payload, memory"

func (r *row) columns() []any {
	return []any{&r.uid, asJSON{&r.cron}, asJSON{&r.job}, &r.payload, &r.memory}
}

// cronBackend is the part of a tick that tests replace.
type cronBackend interface {
	cronjobapply.Backend
	save(cronjob.Conclusion) error
}

// Tick makes a round of the schedule that is due first, and reports whether there was one. A round
// that fails is rolled back, and its schedule is delayed: otherwise it would stay the first and
// delay the others.
func (w *Worker) Tick(ctx context.Context) (bool, error) {
	var r *tick
	err := w.within(ctx, func(t *tx) {
		var err error
		r, err = w.tick(ctx, t)
		t.fail(err)
	})
	switch {
	case r == nil:
		return false, err
	case err != nil:
		return false, errors.Join(fmt.Errorf("schedule %s: %w", r.uid, err), w.putOff(ctx, r.uid))
	}

	for _, e := range r.end.Events { // not earlier: after a rollback, the next round has them again
		slog.Info(e.Message, "schedule", r.cron.Name, "reason", e.Reason)
	}
	for _, u := range r.end.Unstarted {
		slog.Warn("runs will not start: "+u.Reason.String(), "schedule", r.cron.Name, "runs", u.Count, "latest", u.Latest)
	}
	return true, nil
}

func (w *Worker) tick(ctx context.Context, t *tx) (*tick, error) {
	r := w.look(t)
	if r == nil || t.err != nil {
		return r, t.err
	}

	plan, err := cronjob.Reconcile(r.snapshot)
	if err != nil {
		return r, err // Put accepts no schedule that cannot be planned
	}

	var b cronBackend = r
	if w.aroundTick != nil {
		b = w.aroundTick(r, &plan)
	}
	if r.end, err = (cronjobapply.Executor{Parallel: 1}).Apply(ctx, b, &plan); err == nil {
		err = b.save(r.end)
	}
	return r, err
}

// putOff delays a schedule, even if news of a job has made it due. Its next round reads everything
// again.
func (s *Store) putOff(ctx context.Context, id job.UID) error {
	return s.within(ctx, func(t *tx) {
		t.exec("UPDATE schedules SET planned = $2, due = $3 WHERE uid = $1",
			id, t.now.UnixMilli(), t.now.Add(10*time.Second).UnixMilli())
		t.exec("DELETE FROM news WHERE schedule = $1", id)
	})
}

// look locks the schedule that is due first, and reads all that a round needs. A schedule that was
// last planned at a later time than now is also due: the clock was set back.
func (w *Worker) look(t *tx) *tick {
	rows := list(t, (*row).columns, "SELECT "+rowColumns+` FROM schedules
		WHERE due <= $1 OR planned > $1 OR uid IN (SELECT schedule FROM news) ORDER BY due LIMIT 1`+t.skip, t.now.UnixMilli())
	if len(rows) == 0 {
		return nil
	}
	r := &tick{tx: t, row: rows[0]}
	if t.err != nil {
		return r
	}

	id := r.uid

	compiled := w.compiled[id]
	if !compiled.IsFor(&r.cron) { // new or edited
		compiled = compile(&r.cron)
		if len(w.compiled)%1000 == 0 { // none, or so many that some may be of removed schedules
			w.compiled = map[job.UID]cronjob.Compiled{}
		}
		w.compiled[id] = compiled
	}

	t.exec("DELETE FROM news WHERE schedule = $1", id) // before the jobs are read, so that later news is kept
	r.snapshot = cronjob.Snapshot{
		CronJob:    r.cron,
		Children:   t.children(&r.cron, t.lock),
		Now:        t.now,
		Schedule:   compiled,
		Options:    t.crons,
		Consistent: true,
		Triggers: list(t, func(r *cronjob.Trigger) []any { return []any{asJSON{r}} },
			"SELECT request FROM requests WHERE schedule = $1 AND kind = 'trigger' ORDER BY id", id),
		Backfills: list(t, func(r *cronjob.Backfill) []any { return []any{asJSON{r}} },
			"SELECT request FROM requests WHERE schedule = $1 AND kind = 'backfill' ORDER BY id", id),
	}
	_ = r.snapshot.Memory.UnmarshalJSON([]byte(r.memory)) // a memory that cannot be read counts as lost
	return r
}

// children reads the jobs of a schedule.
func (t *tx) children(c *cronjob.CronJob, lock string) (children []cronjob.Child) {
	type run struct {
		job   job.Job
		marks map[string]string
	}
	columns := func(r *run) []any { return []any{asJSON{&r.job}, asJSON{&r.marks}} }
	for _, r := range list(t, columns, "SELECT job, marks FROM jobs WHERE schedule = $1 ORDER BY uid"+lock, c.UID) {
		children = append(children, cronjob.ChildOf(c, &r.job, c.UID, r.marks))
	}
	return children
}

// save ends the round: it stores the memory, what is left of the requests, the runs that will not
// start, and the time of the next round.
func (r *tick) save(end cronjob.Conclusion) error {
	id, due := r.cron.UID, int64(math.MaxInt64) // only a change makes it due
	if at := end.Requeue.At; !at.IsZero() {
		due = at.Add(time.Millisecond - 1).UnixMilli() // rounded up: before it there is nothing to do
	}
	r.exec("UPDATE schedules SET memory = $2, planned = $3, due = $4 WHERE uid = $1",
		id, asJSON{end.Memory}, r.now.UnixMilli(), due)

	for _, u := range end.Unstarted {
		r.exec("INSERT INTO missed (schedule, reason, runs, latest) VALUES ($1, $2, $3, $4)",
			id, u.Reason.String(), u.Count, u.Latest.UnixMilli())
	}

	r.progress(end.Triggered, end.Backfills)
	return r.err
}

// progress removes complete requests, and stores the progress of the others.
func (r *tick) progress(triggered []string, backfills []cronjob.Backfill) {
	const which = " WHERE schedule = $1 AND kind = $2 AND id = $3"
	for _, id := range triggered {
		r.exec("DELETE FROM requests"+which, r.cron.UID, "trigger", id)
	}
	for _, b := range backfills {
		if b.IsComplete() {
			r.exec("DELETE FROM requests"+which, r.cron.UID, "backfill", b.ID)
		} else {
			r.exec("UPDATE requests SET request = $4"+which, r.cron.UID, "backfill", b.ID, asJSON{b})
		}
	}
}

func (r *tick) Get(_ context.Context, name string) (cronjobapply.Job, error) {
	for _, id := range list(r.tx, uid, "SELECT uid FROM jobs WHERE schedule = $1 AND name = $2", r.cron.UID, name) {
		return cronjobapply.Job{Reference: cronjob.Reference{UID: id}, Controller: r.cron.UID}, nil
	}
	if r.err != nil {
		return cronjobapply.Job{}, r.err
	}
	return cronjobapply.Job{}, cronjobapply.ErrGone
}

// Create adds the job of a run. If the run has a job already, ErrExists reports that the name is
// taken.
func (r *tick) Create(_ context.Context, c cronjob.Creation) (cronjobapply.Job, error) {
	j := job.Job{Name: c.Name, UID: job.UID(r.newID()), Version: 1, CreationTimestamp: r.now, Spec: r.job}
	run := c.ScheduledTime
	if run.IsZero() { // a trigger
		run = r.now
	}

	payload := strings.ReplaceAll(r.payload, "{run}", run.Format(time.RFC3339))
	rows := r.exec(`INSERT INTO jobs (uid, job, payload, schedule, name, marks) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT DO NOTHING`, j.UID, asJSON{j}, payload, r.cron.UID, j.Name, asJSON{c.Annotations})

	if rows == 0 && r.err == nil {
		return cronjobapply.Job{}, cronjobapply.ErrExists
	}
	return cronjobapply.Job{Reference: cronjob.Reference{UID: j.UID}, CreationTimestamp: r.now}, r.err
}

// Delete deletes a job of the history, or a replaced one. Its row is removed when its pods have
// stopped.
func (r *tick) Delete(_ context.Context, d cronjob.Deletion) error {
	if r.exec("UPDATE jobs SET due = 0, woken = TRUE WHERE uid = $1", d.UID) == 0 && r.err == nil {
		return cronjobapply.ErrGone
	}
	r.deleteJob(d.UID)
	return r.err
}

// WriteStatus does not compare versions, since the schedule is locked.
func (r *tick) WriteStatus(_ context.Context, s cronjob.Status) error {
	r.cron.Status = s
	r.cron.Version++
	r.exec("UPDATE schedules SET cron = $2 WHERE uid = $1", r.cron.UID, asJSON{r.cron})
	return r.err
}
