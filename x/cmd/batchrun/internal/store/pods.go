package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
)

// Pod is a stored pod.
type Pod struct {
	UID     job.UID
	Job     job.UID
	Name    string
	Created time.Time
	// Spec is the pod.Spec as JSON.
	Spec         json.RawMessage
	Index        int32
	Failures     int32
	Ignored      int32
	Tracked      bool
	Deleted      time.Time
	GraceSeconds int64
	State        pod.State
	Gone         bool
}

// Finished reports whether the pod has reached its last phase.
func (p *Pod) Finished() bool { return p.State.Phase >= job.PodSucceeded }

// View returns the pod as the planner sees it.
func (p *Pod) View() job.Pod {
	detail := &job.PodDetail{
		CreationTimestamp: p.Created, ReadyTransition: p.State.ReadyTransition,
		FailureCount: p.Failures, IgnoredFailureCount: p.Ignored,
	}
	for _, c := range p.State.Containers {
		detail.Containers = append(detail.Containers, c.Container)
	}
	view := job.Pod{
		UID: p.UID, Name: p.Name, Phase: p.State.Phase, Untracked: !p.Tracked, Ready: p.State.Ready,
		// A pod counts as assigned to this machine once its supervisor has begun.
		Assigned: len(p.State.Containers) > 0,
		Index:    job.IndexAt(p.Index), Detail: detail,
	}
	if !p.Deleted.IsZero() {
		view.Deletion = &job.PodDeletion{Timestamp: p.Deleted, GracePeriodSeconds: p.GraceSeconds}
	}
	return view
}

const podColumns = "uid, job, name, created, spec, idx, failures, ignored, tracked, deleted, grace, state, gone"

// AddPod stores a new pod, unless its job is deleted. Nothing would end a pod of a deleted job.
func (s *Store) AddPod(p Pod) error {
	state, err := json.Marshal(p.State)
	if err != nil {
		return err
	}
	added, err := affected(s.db.Exec("INSERT INTO pods ("+podColumns+", phase) SELECT ?, uid, ?, ?, ?, ?, ?, ?, ?, "+
		"0, 0, ?, 0, ? "+
		"FROM jobs WHERE uid = ? AND deleted = 0",
		p.UID, p.Name, p.Created.UnixNano(), string(p.Spec), p.Index, p.Failures, p.Ignored, p.Tracked,
		string(state), p.State.Phase.String(), p.Job))
	if err == nil && !added {
		return fmt.Errorf("job %q: %w", p.Job, ErrNotFound)
	}
	return err
}

// Pods returns all pods that a job has had, including deleted ones.
func (s *Store) Pods(jobUID job.UID) ([]Pod, error) {
	return s.queryPods("SELECT "+podColumns+" FROM pods WHERE job = ? ORDER BY created, rowid", jobUID)
}

// OpenPods returns the pods of a job that the planner has to see in most rounds. It leaves out
// finished pods that are accounted for. In a cluster, such pods may be gone as well.
func (s *Store) OpenPods(jobUID job.UID) ([]Pod, error) {
	return s.queryPods("SELECT "+podColumns+" FROM pods WHERE job = ? AND "+isOpen+" ORDER BY created, rowid", jobUID)
}

// OpenOrFailedPods returns the OpenPods, and failed pods that are accounted for and not removed
// yet.
func (s *Store) OpenOrFailedPods(jobUID job.UID) ([]Pod, error) {
	return s.queryPods(
		"SELECT "+podColumns+" FROM pods WHERE job = ? AND gone = 0 "+
			"AND (phase = 'Failed' OR "+isOpen+") ORDER BY created, rowid",
		jobUID,
	)
}

// Pending returns the pods of all jobs for which the node has work: pods that have not finished,
// and pods that can be removed.
func (s *Store) Pending() ([]Pod, error) {
	return s.queryPods("SELECT " + podColumns + " FROM pods WHERE " + isOpen + " AND " +
		"(phase NOT IN ('Succeeded', 'Failed') OR deleted <> 0 AND tracked = 0) ORDER BY created, rowid")
}

func (s *Store) queryPods(query string, args ...any) ([]Pod, error) {
	rows, err := s.db.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()

	var pods []Pod
	for rows.Next() {
		var p Pod
		var created, deleted int64
		var spec, state string
		if err := rows.Scan(&p.UID, &p.Job, &p.Name, &created, &spec, &p.Index, &p.Failures, &p.Ignored,
			&p.Tracked, &deleted, &p.GraceSeconds, &state, &p.Gone); err != nil {
			return nil, err
		}

		p.Created, p.Deleted, p.Spec = fromNano(created), fromNano(deleted), json.RawMessage(spec)
		if err := json.Unmarshal([]byte(state), &p.State); err != nil {
			return nil, err
		}
		pods = append(pods, p)
	}
	return pods, rows.Err()
}

// SetState writes the state of a pod.
func (s *Store) SetState(uid job.UID, state pod.State) error {
	data, err := json.Marshal(state)
	if err != nil {
		return err
	}
	_, err = s.db.Exec("UPDATE pods SET state = ?, phase = ? WHERE uid = ?", string(data), state.Phase.String(), uid)
	return err
}

// ErrFinished is the error of DeletePod for a pod that has finished in the meantime.
var ErrFinished = errors.New("the pod has finished in the meantime")

// DeletePod marks a pod as deleted. A second call changes nothing. It returns false if the pod does
// not exist. With untrack it also removes the finalizer, in the same transaction. But a pod that
// has finished must be counted first (JI9): with untrack the error is then ErrFinished.
func (s *Store) DeletePod(uid job.UID, graceSeconds int64, untrack bool, now time.Time) (found bool, err error) {
	at := now.Add(time.Duration(graceSeconds) * time.Second)
	err = s.write(func(tx *sql.Tx) error {
		var finished bool
		err := tx.QueryRow("SELECT phase IN ('Succeeded', 'Failed') FROM pods WHERE uid = ? AND gone = 0",
			uid).Scan(&finished)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if found = err == nil; !found {
			return err
		}

		if untrack && finished {
			return ErrFinished
		}
		_, err = tx.Exec("UPDATE pods SET tracked = tracked AND NOT ?, grace = CASE deleted WHEN 0 THEN ? ELSE "+
			"grace END, "+
			"deleted = CASE deleted WHEN 0 THEN ? ELSE deleted END WHERE uid = ?", untrack, graceSeconds,
			at.UnixNano(), uid)
		return err
	})
	return found, err
}

// Untrack removes the finalizer. It returns false if the pod does not exist.
func (s *Store) Untrack(uid job.UID) (bool, error) {
	return affected(s.db.Exec("UPDATE pods SET tracked = 0 WHERE uid = ? AND gone = 0", uid))
}

// Bury hides a pod from the controller. The pod has ended, is deleted, and has no finalizer.
func (s *Store) Bury(uid job.UID) error {
	_, err := s.db.Exec("UPDATE pods SET gone = 1 WHERE uid = ?", uid)
	return err
}

func affected(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}
