// Package sqlite keeps jobs in a SQLite database and plans them from there. It is an
// example of a backend: the database is the source of truth, its transactions make
// snapshots consistent, and the memory lies beside the job.
//
// What runs the pods is not here: a worker reads pending pods with [Store.Pods] and tells
// what becomes of them with [Store.UpdatePod].
package sqlite

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/batchplan/batchplan/job"
)

const schema = `
CREATE TABLE jobs (
	uid     TEXT PRIMARY KEY,
	version INTEGER NOT NULL, -- of all columns but the memory
	job     TEXT NOT NULL,    -- JSON of a job.Job
	memory  TEXT NOT NULL DEFAULT ''
);
CREATE TABLE pods (
	uid     TEXT PRIMARY KEY,
	job     TEXT NOT NULL REFERENCES jobs ON DELETE CASCADE,
	version INTEGER NOT NULL,
	pod     TEXT NOT NULL -- JSON of a job.Pod
);
CREATE INDEX pods_of_job ON pods (job);
`

// Store is a database of jobs.
type Store struct{ db *sql.DB }

// Open opens a database and creates its tables. The name ":memory:" is a database of its own
// that is gone when it is closed.
func Open(name string) (*Store, error) {
	db, err := sql.Open("sqlite", name+"?_pragma=foreign_keys(1)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // SQLite has one writer; one connection also keeps :memory: together
	if _, err := db.Exec(schema); err != nil {
		return nil, errors.Join(fmt.Errorf("create the tables: %w", err), db.Close())
	}
	return &Store{db}, nil
}

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// AddJob stores a new job. Its spec must have its defaults.
func (s *Store) AddJob(j job.Job) error {
	if err := job.Validate(j.Spec); err != nil {
		return err
	}
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	_, err = s.db.Exec("INSERT INTO jobs (uid, version, job) VALUES (?, 1, ?)", j.UID, text)
	return err
}

// RemoveJob removes a job with its pods and its memory.
func (s *Store) RemoveJob(uid job.UID) error {
	_, err := s.db.Exec("DELETE FROM jobs WHERE uid = ?", uid)
	return err
}

// Job reads a job.
func (s *Store) Job(uid job.UID) (j job.Job, err error) {
	err = s.within(func(tx *sql.Tx) error {
		j, _, err = readJob(tx, uid)
		return err
	})
	return j, err
}

// UpdateSpec replaces the spec of a job.
func (s *Store) UpdateSpec(uid job.UID, spec job.Spec) error {
	return s.updateJob(uid, func(j *job.Job) error {
		j.Spec = spec
		return job.Validate(spec)
	})
}

// DeleteJob marks a job as being deleted.
func (s *Store) DeleteJob(uid job.UID, at time.Time) error {
	return s.updateJob(uid, func(j *job.Job) error {
		j.DeletionTimestamp = at
		return nil
	})
}

// Pods reads the pods of a job.
func (s *Store) Pods(uid job.UID) (pods []job.Pod, err error) {
	err = s.within(func(tx *sql.Tx) error {
		pods, err = readPods(tx, uid)
		return err
	})
	return pods, err
}

// UpdatePod stores what a worker says of a pod.
func (s *Store) UpdatePod(p job.Pod) error {
	return s.updatePod(p.UID, func(old *job.Pod) error {
		owner, untracked := old.Owner, old.Untracked
		*old = p
		old.Owner, old.Untracked = owner, untracked // these are the controller's
		return nil
	})
}

// within runs a transaction.
func (s *Store) within(do func(*sql.Tx) error) error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func readJob(tx *sql.Tx, uid job.UID) (j job.Job, version int64, err error) {
	var text []byte
	if err := tx.QueryRow("SELECT version, job FROM jobs WHERE uid = ?", uid).Scan(&version, &text); err != nil {
		return j, 0, fmt.Errorf("job %s: %w", uid, err)
	}
	err = json.Unmarshal(text, &j)
	j.Version = version
	return j, version, err
}

// updateJob changes a job, whatever its version.
func (s *Store) updateJob(uid job.UID, change func(*job.Job) error) error {
	return s.within(func(tx *sql.Tx) error {
		j, version, err := readJob(tx, uid)
		if err == nil {
			err = change(&j)
		}
		if err != nil {
			return err
		}
		return writeJob(tx, &j, version)
	})
}

func writeJob(tx *sql.Tx, j *job.Job, version int64) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	_, err = tx.Exec("UPDATE jobs SET job = ?, version = ? WHERE uid = ?", text, version+1, j.UID)
	return err
}

func readPods(tx *sql.Tx, uid job.UID) (pods []job.Pod, err error) {
	rows, err := tx.Query("SELECT version, pod FROM pods WHERE job = ? ORDER BY rowid", uid)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var version int64
		var text []byte
		if err := rows.Scan(&version, &text); err != nil {
			return nil, err
		}
		p, err := decodePod(text, version)
		if err != nil {
			return nil, err
		}
		pods = append(pods, p)
	}
	return pods, rows.Err()
}

// decodePod reads a pod, and gives it its version.
func decodePod(text []byte, version int64) (p job.Pod, err error) {
	err = json.Unmarshal(text, &p)
	if p.Detail == nil {
		p.Detail = &job.PodDetail{}
	}
	p.Detail.ResourceVersion = fmt.Sprint(version)
	return p, err
}

// Forget removes the memory of a job. Nothing is lost by it but the record of its backoff.
func (s *Store) Forget(uid job.UID) error {
	_, err := s.db.Exec("UPDATE jobs SET memory = '' WHERE uid = ?", uid)
	return err
}
