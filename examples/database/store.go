package main

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	_ "modernc.org/sqlite" // the driver, in pure Go

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

//go:embed schema.sql
var schema string

// store keeps jobs and their pods in SQLite.
type store struct{ db *sql.DB }

func open(file string, pragmas ...string) (*store, error) {
	options := "?_pragma=busy_timeout(10000)"
	for _, p := range pragmas {
		options += "&_pragma=" + p
	}
	db, err := sql.Open("sqlite", "file:"+file+options)
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(schema)
	return &store{db}, err
}

// add stores a new job.
func (s *store) add(uid job.UID, name string, spec job.Spec) error {
	job.Default(&spec)
	if err := job.Validate(spec); err != nil {
		return err
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	_, err = s.db.Exec("INSERT INTO jobs (uid, name, spec) VALUES (?, ?, ?)", uid, name, text)
	return err
}

// snapshot reads a job and its pods. It contains all that was written before, since there is
// only one database.
func (s *store) snapshot(uid job.UID, now time.Time) (job.Snapshot, error) {
	out := job.Snapshot{Now: now, Consistent: true, Job: job.Job{UID: uid}}
	var spec, status, memory []byte
	row := s.db.QueryRow("SELECT name, spec, status, memory FROM jobs WHERE uid = ?", uid)
	if err := row.Scan(&out.Job.Name, &spec, &status, &memory); err != nil {
		return out, fmt.Errorf("job %s: %w", uid, err)
	}
	if err := errors.Join(json.Unmarshal(spec, &out.Job.Spec), json.Unmarshal(status, &out.Job.Status)); err != nil {
		return out, fmt.Errorf("job %s: %w", uid, err)
	}
	if len(memory) > 0 {
		_ = out.Memory.UnmarshalJSON(memory) // one that cannot be read counts as lost
	}
	rows, err := s.db.Query("SELECT uid, name, idx, phase, exit_code, finished, untracked FROM pods WHERE job = ? ORDER BY uid", uid)
	if err != nil {
		return out, err
	}
	defer rows.Close()
	for rows.Next() {
		pod, err := scanPod(rows)
		if err != nil {
			return out, err
		}
		out.Pods = append(out.Pods, pod)
	}
	return out, rows.Err()
}

func scanPod(rows *sql.Rows) (job.Pod, error) {
	var pod job.Pod
	var index, code int32
	var phase string
	var finished int64
	if err := rows.Scan(&pod.UID, &pod.Name, &index, &phase, &code, &finished, &pod.Untracked); err != nil {
		return pod, err
	}
	pod.Index = job.IndexAt(index)
	if finished > 0 {
		pod.Detail = &job.PodDetail{Containers: []job.Container{{
			Name: "main", State: job.ContainerTerminated, ExitCode: code, FinishedAt: time.Unix(finished, 0).UTC(),
		}}}
	}
	return pod, pod.Phase.UnmarshalText([]byte(phase))
}

// round plans a job once and carries the plan out.
func (s *store) round(ctx context.Context, uid job.UID, now time.Time) (job.Conclusion, error) {
	snapshot, err := s.snapshot(uid, now)
	if err != nil {
		return job.Conclusion{}, err
	}
	return s.carryOut(ctx, writer{s.db, uid}, snapshot)
}

func (s *store) carryOut(ctx context.Context, b jobapply.Backend, snapshot job.Snapshot) (job.Conclusion, error) {
	plan, err := job.Reconcile(snapshot)
	if err != nil {
		return job.Conclusion{}, fmt.Errorf("job %s: %w", snapshot.Job.UID, err)
	}
	executor := jobapply.Executor{Parallel: 1} // SQLite has one writer at a time
	end, err := executor.Apply(ctx, b, &plan)
	if !end.Memory.Equal(snapshot.Memory) {
		memory, _ := json.Marshal(end.Memory)
		_, failed := s.db.ExecContext(ctx, "UPDATE jobs SET memory = ? WHERE uid = ?", memory, snapshot.Job.UID)
		err = errors.Join(err, failed)
	}
	return end, err
}

// writer is the jobapply.Backend of one job: one statement for each write.
type writer struct {
	db  *sql.DB
	job job.UID
}

func (w writer) Create(ctx context.Context, c job.Creation) (job.PodRef, error) {
	var ref job.PodRef
	err := w.db.QueryRowContext(ctx, `INSERT INTO pods (job, name, idx) VALUES (?1, ?2 || (SELECT count(*) FROM pods WHERE job = ?1), ?3)
		RETURNING uid, name`, w.job, c.NamePrefix, c.Index.Int32()).Scan(&ref.UID, &ref.Name)
	return ref, err
}

// Delete leaves a pod that has ended since the plan was made: the next round counts it.
func (w writer) Delete(ctx context.Context, d job.Deletion) error {
	err := w.one(ctx, "DELETE FROM pods WHERE uid = ? AND phase IN ('Pending', 'Running')", d.UID)
	if errors.Is(err, jobapply.ErrGone) && w.one(ctx, "UPDATE pods SET phase = phase WHERE uid = ?", d.UID) == nil {
		return jobapply.ErrStillTracked
	}
	return err
}

func (w writer) Untrack(ctx context.Context, pod job.PodRef) error {
	return w.one(ctx, "UPDATE pods SET untracked = true WHERE uid = ?", pod.UID)
}

func (w writer) WriteStatus(ctx context.Context, status job.Status) error {
	text, err := json.Marshal(status)
	if err != nil {
		return err
	}
	return w.one(ctx, "UPDATE jobs SET status = ? WHERE uid = ?", text, w.job)
}

// Adopt and Release are for pods that change hands; here each stays with its job.
func (w writer) Adopt(context.Context, job.PodRef) error   { return nil }
func (w writer) Release(context.Context, job.PodRef) error { return nil }

// one makes a write to one row, which may be gone.
func (w writer) one(ctx context.Context, statement string, arguments ...any) error {
	result, err := w.db.ExecContext(ctx, statement, arguments...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); n == 0 && err == nil {
		return jobapply.ErrGone
	}
	return err
}
