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
	UID       job.UID
	Namespace string
	Name      string
	Created   time.Time
	// Manifest is the Job object as JSON.
	Manifest json.RawMessage
	Status   job.Status
	Memory   job.Memory
	// Held is true for a job that is suspended until a runner resumes it.
	Held bool
	// CronJob is the UID of the CronJob that controls the job. It is empty for a job of a manifest.
	CronJob job.UID
	// ScheduledTime is the time of the job's run, if it comes from a schedule.
	ScheduledTime time.Time
	// Deleted is set once the job and its pods are to be removed.
	Deleted time.Time
}

// Key returns the name of the job as users write it.
func (j *Job) Key() string { return joinKey(j.Namespace, j.Name) }

const jobColumns = "uid, namespace, name, created, manifest, status, memory, held, " +
	"coalesce(cronjob, ''), scheduled, deleted"

// ErrNotFound is the error for a job or CronJob that does not exist.
var ErrNotFound = errors.New("not found")

// ErrExists is the error for a new job whose name is already taken.
var ErrExists = errors.New("exists already")

// AddJob stores a new job and gives it its UID. If a job has the same name already, the error is
// ErrExists. If the job's CronJob is gone or marked for removal, the error is ErrNotFound.
func (s *Store) AddJob(j Job) (Job, error) {
	j.UID = job.UID(uuid.NewString())
	err := s.write(func(tx *sql.Tx) error {
		if j.CronJob != "" {
			var deleted bool
			if err := tx.QueryRow("SELECT deleted <> 0 FROM cronjobs WHERE uid = ?",
				j.CronJob).Scan(&deleted); err != nil || deleted {
				return errors.Join(err, ErrNotFound)
			}
		}

		added, err := affected(tx.Exec("INSERT INTO jobs (uid, namespace, name, created, manifest, cronjob, "+
			"scheduled) "+
			"VALUES (?, ?, ?, ?, ?, nullif(?, ''), ?) ON CONFLICT (namespace, name) DO NOTHING",
			j.UID, j.Namespace, j.Name, j.Created.UnixNano(), string(j.Manifest), j.CronJob, toNano(j.ScheduledTime)))

		if err == nil && !added {
			return fmt.Errorf("job %q: %w", j.Key(), ErrExists)
		}
		return err
	})
	return j, err
}

// SetManifest replaces the object of a job.
func (s *Store) SetManifest(uid job.UID, manifest []byte) error {
	_, err := s.db.Exec("UPDATE jobs SET manifest = ? WHERE uid = ?", string(manifest), uid)
	return err
}

// Jobs returns all jobs in the order of their creation.
func (s *Store) Jobs() ([]Job, error) { return s.queryJobs("true") }

// JobsOf returns the jobs of a CronJob in the order of their creation, except those that are marked
// for removal.
func (s *Store) JobsOf(cronJobUID job.UID) ([]Job, error) {
	return s.queryJobs("cronjob = ? AND deleted = 0", cronJobUID)
}

// NamedAs returns jobs that do not belong to a CronJob, but could have the name of one of its runs.
// A run cannot start while another job has its name, even if that job is marked for removal.
func (s *Store) NamedAs(c *CronJob) ([]Job, error) {
	// '.' is the character after '-'.
	return s.queryJobs("namespace = ? AND name > ? AND name < ? AND cronjob IS NOT ?",
		c.Namespace, c.Name+"-", c.Name+".", c.UID)
}

// DeletedJobs returns the jobs that are marked for removal.
func (s *Store) DeletedJobs() ([]Job, error) { return s.queryJobs("deleted <> 0") }

func (s *Store) queryJobs(condition string, args ...any) ([]Job, error) {
	rows, err := s.db.Query("SELECT "+jobColumns+" FROM jobs WHERE "+condition+" ORDER BY created, rowid", args...)
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
	namespace, name := splitKey(key)
	j, err := scanJob(s.db.QueryRow("SELECT "+jobColumns+" FROM jobs WHERE namespace = ? AND name = ?", namespace,
		name))
	return j, notFound("job", key, err)
}

// Job returns a job by its UID.
func (s *Store) Job(uid job.UID) (Job, error) {
	j, err := scanJob(s.db.QueryRow("SELECT "+jobColumns+" FROM jobs WHERE uid = ?", uid))
	return j, notFound("job", string(uid), err)
}

func splitKey(key string) (namespace, name string) {
	namespace, name, ok := strings.Cut(key, "/")
	if !ok {
		return "default", key
	}
	return namespace, name
}

func joinKey(namespace, name string) string {
	if namespace == "default" {
		return name
	}
	return namespace + "/" + name
}

// notFound turns the error of a query that found nothing into an ErrNotFound that names the object.
func notFound(kind, key string, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%s %q: %w", kind, key, ErrNotFound)
	}
	return err
}

func scanJob(row interface{ Scan(...any) error }) (Job, error) {
	var j Job
	var created, scheduled, deleted int64
	var manifest, status, memory string
	if err := row.Scan(&j.UID, &j.Namespace, &j.Name, &created, &manifest, &status, &memory, &j.Held,
		&j.CronJob, &scheduled, &deleted); err != nil {
		return Job{}, err
	}
	j.Created, j.ScheduledTime, j.Deleted = fromNano(created), fromNano(scheduled), fromNano(deleted)
	j.Manifest = json.RawMessage(manifest)
	return j, errors.Join(json.Unmarshal([]byte(status), &j.Status), readMemory(memory, &j.Memory))
}

// readMemory reads a stored memory. It does not decode "{}", which would count as a lost memory:
// "{}" is the default of the column for a job that has not finished a round.
func readMemory(text string, memory any) error {
	if text == "{}" {
		return nil
	}
	return json.Unmarshal([]byte(text), memory)
}

// SetStatus writes the status of a job.
func (s *Store) SetStatus(uid job.UID, status job.Status) error {
	data, err := json.Marshal(status)
	if err != nil {
		return err
	}
	_, err = s.db.Exec("UPDATE jobs SET status = ? WHERE uid = ?", string(data), uid)
	return err
}

// SetHeld holds or resumes a job.
func (s *Store) SetHeld(uid job.UID, held bool) error {
	_, err := s.db.Exec("UPDATE jobs SET held = ? WHERE uid = ?", held, uid)
	return err
}

// DeleteJob marks a job for removal. It returns false if the job does not exist.
func (s *Store) DeleteJob(uid job.UID, now time.Time) (bool, error) {
	return affected(s.db.Exec("UPDATE jobs SET deleted = ? WHERE uid = ? AND deleted = 0", now.UnixNano(), uid))
}

// Conclude ends a round. It stores the memory and the events. If the job has been removed, the
// error is ErrNotFound.
func (s *Store) Conclude(uid job.UID, memory job.Memory, events []job.Event, now time.Time) error {
	data, err := json.Marshal(memory)
	if err != nil {
		return err
	}
	return s.write(func(tx *sql.Tx) error {
		found, err := affected(tx.Exec("UPDATE jobs SET memory = ? WHERE uid = ?", string(data), uid))
		if err == nil && !found {
			return fmt.Errorf("job %q: %w", uid, ErrNotFound)
		}
		return errors.Join(err, addEvents(tx,
			"INSERT INTO events (job, at, type, reason, message) VALUES (?, ?, ?, ?, ?)", uid, events, now))
	})
}

func addEvents(tx *sql.Tx, insert string, uid job.UID, events []job.Event, now time.Time) error {
	for _, e := range events {
		if _, err := tx.Exec(insert, uid, now.UnixNano(), string(e.Type), e.Reason, e.Message); err != nil {
			return err
		}
	}
	return nil
}

// StoredEvent is an event with its time.
type StoredEvent struct {
	At time.Time
	job.Event
}

// Events returns the events of a job, oldest first.
func (s *Store) Events(uid job.UID) ([]StoredEvent, error) {
	return s.queryEvents("SELECT at, type, reason, message FROM events WHERE job = ? ORDER BY at, rowid", uid)
}

func (s *Store) queryEvents(query string, uid job.UID) ([]StoredEvent, error) {
	rows, err := s.db.Query(query, uid)
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

// RemoveJob removes a job with its pods and events.
func (s *Store) RemoveJob(uid job.UID) error {
	_, err := s.db.Exec("DELETE FROM jobs WHERE uid = ?", uid)
	return err
}

func toNano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromNano(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
