package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

// ErrChanged is the error of a write to a job or a pod that has changed since it was read.
var ErrChanged = errors.New("it has changed since it was read")

// grace is how long a pod may take to end when it is deleted.
const grace = 30 * time.Second

// backend carries out the plan that was made from one snapshot.
type backend struct {
	store   *Store
	job     job.UID
	version int64 // of the job in the snapshot, and after each status
	now     time.Time
}

func (b *backend) Create(_ context.Context, c job.Creation) (job.PodRef, error) {
	id := rand.Text()
	p := job.Pod{
		Name: c.NamePrefix + id[:6], UID: job.UID(id), Index: c.Index,
		Detail: &job.PodDetail{CreationTimestamp: b.now, FailureCount: c.FailureCount, IgnoredFailureCount: c.IgnoredFailureCount},
	}
	text, err := json.Marshal(p)
	if err != nil {
		return job.PodRef{}, err
	}
	_, err = b.store.db.Exec("INSERT INTO pods (uid, job, version, pod) VALUES (?, ?, 1, ?)", p.UID, b.job, text)
	return job.PodRef{Name: p.Name, UID: p.UID}, err
}

// Delete marks a pod. Its worker ends it; one that never ran or has ended is gone at once,
// unless it has still to be counted.
func (b *backend) Delete(_ context.Context, d job.Deletion) error {
	return b.store.updatePod(d.UID, func(p *job.Pod) error {
		if d.UntrackFirst {
			if d.ResourceVersion != "" && d.ResourceVersion != p.Detail.ResourceVersion {
				return fmt.Errorf("pod %s: %w", d.Name, ErrChanged)
			}
			p.Untracked = true
		}
		if p.Deletion == nil {
			p.Deletion = &job.PodDeletion{Timestamp: b.now.Add(grace), GracePeriodSeconds: int32(grace / time.Second)}
		}
		return nil
	})
}

func (b *backend) Untrack(_ context.Context, pod job.PodRef) error {
	return b.store.updatePod(pod.UID, func(p *job.Pod) error {
		p.Untracked = true
		return nil
	})
}

func (b *backend) WriteStatus(_ context.Context, status job.Status) error {
	return b.store.within(func(tx *sql.Tx) error {
		j, version, err := readJob(tx, b.job)
		if err != nil {
			return err
		}
		if version != b.version {
			return fmt.Errorf("job %s: %w", b.job, ErrChanged)
		}
		j.Status = status
		if err := writeJob(tx, &j, version); err != nil {
			return err
		}
		b.version++
		return nil
	})
}

// A row of the table belongs to its job for good: no plan adopts or releases a pod.

func (b *backend) Adopt(context.Context, job.PodRef) error   { return errors.ErrUnsupported }
func (b *backend) Release(context.Context, job.PodRef) error { return errors.ErrUnsupported }

// updatePod changes a pod, and removes it once it is deleted, not running and accounted
// for.
func (s *Store) updatePod(uid job.UID, change func(*job.Pod) error) error {
	return s.within(func(tx *sql.Tx) error {
		var version int64
		var text []byte
		err := tx.QueryRow("SELECT version, pod FROM pods WHERE uid = ?", uid).Scan(&version, &text)
		if errors.Is(err, sql.ErrNoRows) {
			return jobapply.ErrGone
		}
		if err != nil {
			return err
		}
		p, err := decodePod(text, version)
		if err == nil {
			err = change(&p)
		}
		if err != nil {
			return err
		}
		if p.Deletion != nil && p.Untracked && p.Phase != job.PodRunning {
			_, err := tx.Exec("DELETE FROM pods WHERE uid = ?", uid)
			return err
		}
		if text, err = json.Marshal(p); err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE pods SET pod = ?, version = ? WHERE uid = ?", text, version+1, uid)
		return err
	})
}
