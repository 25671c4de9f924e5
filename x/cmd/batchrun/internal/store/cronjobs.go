package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// CronJob is a stored CronJob.
type CronJob struct {
	UID       job.UID
	Namespace string
	Name      string
	Created   time.Time
	// Deleted is set once the CronJob and its jobs are to be removed.
	Deleted time.Time
	// Manifest is the CronJob object as JSON.
	Manifest json.RawMessage
	Status   cronjob.Status
	Memory   cronjob.Memory
}

// Key returns the name of the CronJob as users write it.
func (c *CronJob) Key() string { return joinKey(c.Namespace, c.Name) }

const cronJobColumns = "uid, namespace, name, created, deleted, manifest, status, memory"

// AddCronJob stores a new CronJob and gives it its UID.
func (s *Store) AddCronJob(namespace, name string, manifest []byte, now time.Time) (CronJob, error) {
	c := CronJob{
		UID:       job.UID(uuid.NewString()),
		Namespace: namespace,
		Name:      name,
		Created:   now.Truncate(time.Second),
		Manifest:  manifest,
	}
	_, err := s.db.Exec("INSERT INTO cronjobs (uid, namespace, name, created, manifest) VALUES (?, ?, ?, ?, ?)",
		c.UID, namespace, name, c.Created.UnixNano(), string(manifest))
	return c, err
}

// SetCronJobManifest replaces the object of a CronJob.
func (s *Store) SetCronJobManifest(uid job.UID, manifest []byte) error {
	_, err := s.db.Exec("UPDATE cronjobs SET manifest = ? WHERE uid = ?", string(manifest), uid)
	return err
}

// CronJobs returns all CronJobs in the order of their creation.
func (s *Store) CronJobs() ([]CronJob, error) {
	rows, err := s.db.Query("SELECT " + cronJobColumns + " FROM cronjobs ORDER BY created, rowid")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []CronJob
	for rows.Next() {
		c, err := scanCronJob(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, rows.Err()
}

// FindCronJob returns a CronJob by its name, or by namespace/name.
func (s *Store) FindCronJob(key string) (CronJob, error) {
	namespace, name := splitKey(key)
	c, err := scanCronJob(s.db.QueryRow("SELECT "+cronJobColumns+" FROM cronjobs WHERE namespace = ? AND name = ?",
		namespace, name))
	return c, notFound("CronJob", key, err)
}

// CronJob returns a CronJob by its UID.
func (s *Store) CronJob(uid job.UID) (CronJob, error) {
	c, err := scanCronJob(s.db.QueryRow("SELECT "+cronJobColumns+" FROM cronjobs WHERE uid = ?", uid))
	return c, notFound("CronJob", string(uid), err)
}

func scanCronJob(row interface{ Scan(...any) error }) (CronJob, error) {
	var c CronJob
	var created, deleted int64
	var manifest, status, memory string
	if err := row.Scan(&c.UID, &c.Namespace, &c.Name, &created, &deleted, &manifest, &status, &memory); err != nil {
		return CronJob{}, err
	}
	c.Created, c.Deleted, c.Manifest = fromNano(created), fromNano(deleted), json.RawMessage(manifest)
	return c, errors.Join(json.Unmarshal([]byte(status), &c.Status), readMemory(memory, &c.Memory))
}

// SetCronJobStatus writes the status of a CronJob.
func (s *Store) SetCronJobStatus(uid job.UID, status cronjob.Status) error {
	data, err := json.Marshal(status)
	if err != nil {
		return err
	}
	_, err = s.db.Exec("UPDATE cronjobs SET status = ? WHERE uid = ?", string(data), uid)
	return err
}

// ConcludeCronJob ends a round. It stores the memory and the events, and deletes completed
// triggers.
func (s *Store) ConcludeCronJob(uid job.UID, end *cronjob.Conclusion, now time.Time) error {
	data, err := json.Marshal(end.Memory)
	if err != nil {
		return err
	}

	return s.write(func(tx *sql.Tx) error {
		found, err := affected(tx.Exec("UPDATE cronjobs SET memory = ? WHERE uid = ?", string(data), uid))
		if err == nil && !found {
			return fmt.Errorf("CronJob %q: %w", uid, ErrNotFound)
		}
		for _, id := range end.Triggered {
			if _, err := tx.Exec("DELETE FROM triggers WHERE id = ? AND cronjob = ?", id, uid); err != nil {
				return err
			}
		}

		if err != nil || len(end.Events) == 0 {
			return err
		}
		err = addEvents(tx, "INSERT INTO cronjob_events (cronjob, at, type, reason, message) VALUES (?, ?, ?, ?, ?)",
			uid, end.Events, now)
		if err == nil {
			_, err = tx.Exec("DELETE FROM cronjob_events WHERE rowid IN "+
				"(SELECT rowid FROM cronjob_events WHERE cronjob = ? ORDER BY rowid DESC LIMIT -1 OFFSET ?)", uid,
				keptEvents)
		}
		return err
	})
}

// keptEvents is the maximum number of events of a CronJob that are kept.
const keptEvents = 100

// CronJobEvents returns the events of a CronJob, oldest first.
func (s *Store) CronJobEvents(uid job.UID) ([]StoredEvent, error) {
	return s.queryEvents("SELECT at, type, reason, message FROM cronjob_events WHERE cronjob = ? ORDER BY at, rowid",
		uid)
}

// AddTrigger requests a job outside of the schedule.
func (s *Store) AddTrigger(cronJobUID job.UID) (cronjob.Trigger, error) {
	result, err := s.db.Exec("INSERT INTO triggers (cronjob) VALUES (?)", cronJobUID)
	if err != nil {
		return cronjob.Trigger{}, err
	}
	id, err := result.LastInsertId()
	return cronjob.Trigger{ID: strconv.FormatInt(id, 10)}, err
}

// Triggers returns the requests for jobs that have not been started yet.
func (s *Store) Triggers(cronJobUID job.UID) ([]cronjob.Trigger, error) {
	rows, err := s.db.Query("SELECT id FROM triggers WHERE cronjob = ? ORDER BY id", cronJobUID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var triggers []cronjob.Trigger
	for rows.Next() {
		var t cronjob.Trigger
		if err := rows.Scan(&t.ID); err != nil {
			return nil, err
		}
		triggers = append(triggers, t)
	}
	return triggers, rows.Err()
}

// DeleteCronJob marks a CronJob and all its jobs for removal.
func (s *Store) DeleteCronJob(uid job.UID, now time.Time) error {
	return s.write(func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE cronjobs SET deleted = ? WHERE uid = ? AND deleted = 0", now.UnixNano(), uid)
		if err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE jobs SET deleted = ? WHERE cronjob = ? AND deleted = 0", now.UnixNano(), uid)
		return err
	})
}

// RemoveDeletedCronJobs removes the marked CronJobs that have no job left.
func (s *Store) RemoveDeletedCronJobs() error {
	_, err := s.db.Exec("DELETE FROM cronjobs WHERE deleted <> 0 AND uid NOT IN (SELECT cronjob FROM jobs WHERE " +
		"cronjob IS NOT NULL)")
	return err
}

// Child returns the job as the planner of a CronJob sees it.
func (j *Job) Child(cronJobUID job.UID) cronjob.Child {
	c := cronjob.Child{
		Name: j.Name, UID: j.UID, Foreign: j.CronJob != cronJobUID,
		CreationTimestamp: j.Created, DeletionTimestamp: j.Deleted, ScheduledTime: j.ScheduledTime,
		StartTime: j.Status.StartTime, CompletionTime: j.Status.CompletionTime, Finished: j.Status.Finished(),
	}
	if c.Finished != "" {
		c.FinishTime = j.Status.Condition(c.Finished).LastTransitionTime
	}
	return c
}
