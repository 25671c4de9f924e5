package tasks

import (
	"context"
	"errors"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
)

// rows is the ledger. It keeps an ended task, as the list has shown it, until the task is accounted
// for. Then the row keeps only the UID, with Untracked set. A task that was dropped while it ran
// also has such a row.
type rows map[job.UID]job.Pod

// merge returns the pods of a snapshot: the listed tasks, and the tasks that only have a row and
// are not accounted for. It also returns the ended tasks that need a row, and the rows that are no
// longer needed. A row that is accounted for is needed while its task is listed.
func (l rows) merge(tasks []Task) (pods, ended []job.Pod, over []job.UID) {
	listed := map[job.UID]bool{}
	for i := range tasks {
		p := tasks[i].pod()
		listed[p.UID] = true
		row, ok := l[p.UID]
		if p.Untracked = row.Untracked; !ok && tasks[i].State == Ended {
			ended = append(ended, p)
		}

		// A stopped task that is accounted for counts as gone, unless it still runs.
		if isStopped := p.Deletion != nil && p.Phase != job.PodRunning; !isStopped || !p.Untracked {
			pods = append(pods, p)
		}
	}

	for uid, row := range l {
		switch {
		case listed[uid]:
		case row.Untracked:
			over = append(over, uid)
		default:
			pods = append(pods, row)
		}
	}
	return pods, ended, over
}

// backend is the jobapply.Backend of a Runner.
type backend struct{ *Runner }

func (r backend) Create(ctx context.Context, c job.Creation) (job.PodRef, error) {
	id, err := r.Service.Start(ctx, newTask(r.Job, r.Command, &c))
	return job.PodRef{Name: id, UID: job.UID(id)}, err
}

// Delete stops a task. With UntrackFirst, it fails if the task has ended: the list may have been
// too old to show its success. If the task succeeds between this check and the stop, its work is
// done again.
func (r backend) Delete(ctx context.Context, d job.Deletion) error {
	if d.UntrackFirst {
		t, err := r.Service.Task(ctx, string(d.UID))
		if err == nil && t.State == Ended {
			err = ErrEnded
		}
		if err == nil {
			err = r.Untrack(ctx, job.Untracking{PodRef: d.PodRef})
		}
		if err != nil {
			return orGone(err)
		}
	}
	return orGone(r.Service.Stop(ctx, string(d.UID)))
}

// orGone returns the error that the executor expects for a forgotten task.
func orGone(err error) error {
	if errors.Is(err, ErrNoTask) {
		return jobapply.ErrGone
	}
	return err
}

// Untrack records that a task is accounted for.
func (r backend) Untrack(ctx context.Context, u job.Untracking) error {
	return r.keep(ctx, job.Pod{UID: u.UID, Untracked: true})
}

// WriteStatus writes without comparing versions, since no other process writes the status.
func (r backend) WriteStatus(ctx context.Context, s job.Status) error {
	return r.put(ctx, "status", &s)
}
