package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver of PostgreSQL
	_ "modernc.org/sqlite"             // the driver of SQLite, in pure Go

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

//go:embed schema.sql
var schema string

// dialect holds the differences between the two databases.
type dialect struct {
	driver string
	conns  int    // the limit of connections of a process; 0 means none
	clock  string // asks the database for the time: machines must agree on which leases are over
	once   string // lets one process at a time create the tables
	lock   string // locks the rows that are read
	skip   string // the same, but skips rows that others have locked
}

// A transaction of SQLite locks the whole database. Goroutines wait in line for the connection, and
// processes wait for each other up to 10 seconds: see Open.
var sqlite = dialect{"sqlite", 1, "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)", "", "", ""}

var postgres = dialect{"pgx", 0, "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
	"SELECT pg_advisory_xact_lock(20260101);", " FOR UPDATE", " FOR UPDATE SKIP LOCKED"}

// Store keeps jobs, their pods and their schedules in a database.
type Store struct {
	db *sql.DB
	dialect
	newID func() string   // random, except in tests
	crons cronjob.Options // of all schedules
}

// Open opens a database and creates the tables that are missing. The address of PostgreSQL begins
// with postgres://; any other address is a file of SQLite.
func Open(ctx context.Context, address string) (*Store, error) {
	s := &Store{dialect: postgres, newID: rand.Text, crons: crons}
	if !strings.HasPrefix(address, "postgres://") {
		// A transaction begins as a writer. One that begins as a reader fails at its first write if
		// another has written in between.
		s.dialect = sqlite
		address = "file:" + (&url.URL{Path: address}).EscapedPath() + // a name can have a # in it
			"?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)"
	}

	var err error
	if s.db, err = sql.Open(s.driver, address); err != nil {
		return nil, err
	}

	s.db.SetMaxOpenConns(s.conns)
	return s, s.within(ctx, func(t *tx) { t.exec(s.once + schema) })
}

// tx is a transaction. After its first error it does nothing more, and it is rolled back.
//
// Before it reads or changes the pods of a job, it locks the job: by a write to the row of the job,
// or by a query with dialect.lock or dialect.skip. Before it locks the jobs of a schedule, it locks
// the schedule. So what it has read stays true until it commits, and no two transactions wait for
// each other.
type tx struct {
	*Store
	sql *sql.Tx
	now time.Time
	err error
}

func (s *Store) within(ctx context.Context, do func(*tx)) error {
	begun, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = begun.Rollback() }() // does nothing after Commit

	t := &tx{Store: s, sql: begun}
	var ms int64
	t.fail(begun.QueryRow(s.clock).Scan(&ms))
	t.now = time.UnixMilli(ms).UTC()

	if do(t); t.err != nil {
		return t.err
	}
	return begun.Commit()
}

// fail ends the transaction, unless the error is nil.
func (t *tx) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// exec makes a write, and returns how many rows it has changed.
func (t *tx) exec(statement string, arguments ...any) (rows int64) {
	if t.err == nil {
		var result sql.Result
		if result, t.err = t.sql.Exec(statement, arguments...); t.err == nil {
			rows, t.err = result.RowsAffected()
		}
	}
	return rows
}

// list reads rows. columns returns where to store the columns of a row.
func list[T any](t *tx, columns func(*T) []any, query string, arguments ...any) (all []T) {
	if t.err != nil {
		return nil
	}
	rows, err := t.sql.Query(query, arguments...)
	if t.fail(err); err != nil {
		return nil
	}

	defer rows.Close()
	for rows.Next() {
		var row T
		t.fail(rows.Scan(columns(&row)...))
		all = append(all, row)
	}

	t.fail(rows.Err())
	return all
}

// asJSON is a value in a text column.
type asJSON struct{ of any }

func (v asJSON) Scan(text any) error { return json.Unmarshal([]byte(text.(string)), v.of) }
func (v asJSON) Value() (driver.Value, error) {
	text, err := json.Marshal(v.of)
	return string(text), err
}

// asTime is a time in a column of milliseconds.
type asTime struct{ of *time.Time }

func (v asTime) Scan(ms any) error { *v.of = time.UnixMilli(ms.(int64)).UTC(); return nil }

func uid(u *job.UID) []any { return []any{u} }
func pod(p *job.Pod) []any { return []any{asJSON{p}} }

// Add stores a new job.
func (s *Store) Add(ctx context.Context, name, payload string, spec job.Spec) (job.UID, error) {
	job.Default(&spec)
	id := job.UID(s.newID())
	return id, s.within(ctx, func(t *tx) {
		t.fail(job.Validate(spec))
		t.exec("INSERT INTO jobs (uid, job, payload) VALUES ($1, $2, $3)", id,
			asJSON{job.Job{Name: name, UID: id, Version: 1, CreationTimestamp: t.now, Spec: spec}}, payload)
	})
}

// Edit changes the spec of a job.
func (s *Store) Edit(ctx context.Context, id job.UID, change func(*job.Spec)) error {
	return s.within(ctx, func(t *tx) {
		t.wake(id)
		t.changeJob(id, func(j *job.Job) { change(&j.Spec); t.fail(job.Validate(j.Spec)) })
	})
}

// Delete deletes a job and its pods. The rows are removed when the pods have stopped.
func (s *Store) Delete(ctx context.Context, id job.UID) error {
	return s.within(ctx, func(t *tx) { t.wake(id); t.deleteJob(id) })
}

// deleteJob marks a locked job and its pods as being deleted.
func (t *tx) deleteJob(id job.UID) {
	t.changeJob(id, func(j *job.Job) { j.DeletionTimestamp = cmp.Or(j.DeletionTimestamp, t.now) })
	for _, pod := range list(t, uid, "SELECT uid FROM pods WHERE job = $1", id) {
		t.changePod(pod, t.deletePod)
	}
}

// wake locks a job and makes it due. A round in progress has not seen the change. So wake sets
// woken, which makes the job due again when that round ends.
func (t *tx) wake(id job.UID) {
	if t.exec("UPDATE jobs SET due = 0, woken = TRUE WHERE uid = $1", id) == 0 {
		t.fail(fmt.Errorf("job %s: %w", id, sql.ErrNoRows))
	}
}

// changeJob changes a locked job.
func (t *tx) changeJob(id job.UID, do func(*job.Job)) {
	for _, j := range list(t, func(j *job.Job) []any { return []any{asJSON{j}} }, "SELECT job FROM jobs WHERE uid = $1", id) {
		do(&j)
		j.Version++
		t.exec("UPDATE jobs SET job = $2 WHERE uid = $1", id, asJSON{j})
		if j.Status.Finished() != "" || !j.DeletionTimestamp.IsZero() {
			t.report(id)
		}
	}
}

// report makes the schedule of a job due, unless it was removed. It does not lock the schedule,
// since a transaction that has locked the schedule may be waiting for the job.
func (t *tx) report(id job.UID) {
	t.exec(`INSERT INTO news (schedule) SELECT schedule FROM jobs
		WHERE uid = $1 AND schedule IN (SELECT uid FROM schedules)`, id)
}

// changePod changes a pod whose job is locked. Then it removes the pod if the pod is being deleted,
// is accounted for, and does not run.
func (t *tx) changePod(id job.UID, do func(*job.Pod)) {
	pods := list(t, pod, "SELECT pod FROM pods WHERE uid = $1", id)
	for _, p := range pods {
		do(&p)
		version, _ := strconv.Atoi(p.Detail.ResourceVersion)
		p.Detail.ResourceVersion = strconv.Itoa(version + 1) // the condition of a deletion
		t.exec("UPDATE pods SET pod = $2, phase = $3, leaving = $4 WHERE uid = $1", id, asJSON{p}, p.Phase.String(), p.Deletion != nil)
		if p.Deletion != nil && p.Untracked && p.Phase != job.PodRunning {
			t.exec("DELETE FROM pods WHERE uid = $1", id)
		}
	}
	if len(pods) == 0 {
		t.fail(jobapply.ErrGone)
	}
}

// deletePod marks a pod as being deleted. Its worker stops it.
func (t *tx) deletePod(p *job.Pod) {
	p.Deletion = cmp.Or(p.Deletion, &job.PodDeletion{Timestamp: t.now.Add(30 * time.Second), GracePeriodSeconds: 30})
}
