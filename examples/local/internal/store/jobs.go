package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/batchplan/batchplan/job"
)

// Job is a stored job.
type Job struct {
	UID       string
	Namespace string
	Name      string
	Created   time.Time
	// Manifest is the Job object as JSON.
	Manifest json.RawMessage
	Status   job.Status
	Memory   job.Memory
	// Held jobs are suspended for as long as no runner goes on with them.
	Held bool
}

// Key is the name under which people know the job.
func (j *Job) Key() string {
	if j.Namespace == "default" {
		return j.Name
	}
	return j.Namespace + "/" + j.Name
}

const jobColumns = "uid, namespace, name, created, manifest, status, memory, held"

// ErrNotFound is the error for a job that is not there.
var ErrNotFound = errors.New("not found")

// AddJob stores a new job and gives it its UID.
func (s *Store) AddJob(namespace, name string, manifest []byte, now time.Time) (Job, error) {
	j := Job{UID: uuid.NewString(), Namespace: namespace, Name: name, Created: now, Manifest: manifest}
	_, err := s.db.Exec("INSERT INTO jobs (uid, namespace, name, created, manifest) VALUES (?, ?, ?, ?, ?)",
		j.UID, namespace, name, now.UnixNano(), string(manifest))
	return j, err
}

// SetManifest replaces the object of a job.
func (s *Store) SetManifest(uid string, manifest []byte) error {
	_, err := s.db.Exec("UPDATE jobs SET manifest = ? WHERE uid = ?", string(manifest), uid)
	return err
}

// Jobs returns all jobs, in the order in which they came.
func (s *Store) Jobs() ([]Job, error) {
	rows, err := s.db.Query("SELECT " + jobColumns + " FROM jobs ORDER BY created, rowid")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var jobs []Job
	for rows.Next() {
		j, err := scanJob(rows)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, rows.Err()
}

// FindJob returns a job by its name, or by namespace/name.
func (s *Store) FindJob(key string) (Job, error) {
	namespace, name, ok := strings.Cut(key, "/")
	if !ok {
		namespace, name = "default", key
	}
	j, err := scanJob(s.db.QueryRow("SELECT "+jobColumns+" FROM jobs WHERE namespace = ? AND name = ?", namespace, name))
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("job %q: %w", key, ErrNotFound)
	}
	return j, err
}

// Job returns a job by its UID.
func (s *Store) Job(uid string) (Job, error) {
	return scanJob(s.db.QueryRow("SELECT "+jobColumns+" FROM jobs WHERE uid = ?", uid))
}

func scanJob(row interface{ Scan(...any) error }) (Job, error) {
	var j Job
	var created int64
	var manifest, status, memory string
	if err := row.Scan(&j.UID, &j.Namespace, &j.Name, &created, &manifest, &status, &memory, &j.Held); err != nil {
		return Job{}, err
	}
	j.Created, j.Manifest = fromNano(created), json.RawMessage(manifest)
	return j, errors.Join(json.Unmarshal([]byte(status), &j.Status), json.Unmarshal([]byte(memory), &j.Memory))
}

// SetStatus writes the status of a job.
func (s *Store) SetStatus(uid string, status job.Status) error {
	data, err := json.Marshal(status)
	if err != nil {
		return err
	}
	_, err = s.db.Exec("UPDATE jobs SET status = ? WHERE uid = ?", string(data), uid)
	return err
}

// SetHeld holds a job or lets it go on.
func (s *Store) SetHeld(uid string, held bool) error {
	_, err := s.db.Exec("UPDATE jobs SET held = ? WHERE uid = ?", held, uid)
	return err
}

// Conclude stores what is left of a round: the memory and the events.
func (s *Store) Conclude(uid string, memory job.Memory, events []job.Event, now time.Time) error {
	data, err := json.Marshal(memory)
	if err != nil {
		return err
	}
	return s.write(func(tx *sql.Tx) error {
		if _, err := tx.Exec("UPDATE jobs SET memory = ? WHERE uid = ?", string(data), uid); err != nil {
			return err
		}
		for _, e := range events {
			if _, err := tx.Exec("INSERT INTO events (job, at, type, reason, message) VALUES (?, ?, ?, ?, ?)",
				uid, now.UnixNano(), string(e.Type), e.Reason, e.Message); err != nil {
				return err
			}
		}
		return nil
	})
}

// StoredEvent is an event with its time.
type StoredEvent struct {
	At time.Time
	job.Event
}

// Events returns the events of a job, oldest first.
func (s *Store) Events(uid string) ([]StoredEvent, error) {
	rows, err := s.db.Query("SELECT at, type, reason, message FROM events WHERE job = ? ORDER BY at, rowid", uid)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var events []StoredEvent
	for rows.Next() {
		var e StoredEvent
		var at int64
		if err := rows.Scan(&at, &e.Type, &e.Reason, &e.Message); err != nil {
			return nil, err
		}
		e.At = fromNano(at)
		events = append(events, e)
	}
	return events, rows.Err()
}

// RemoveJob forgets a job with its pods and events.
func (s *Store) RemoveJob(uid string) error {
	_, err := s.db.Exec("DELETE FROM jobs WHERE uid = ?", uid)
	return err
}

func fromNano(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
