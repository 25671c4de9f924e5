package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// Worker plans jobs and schedules, one at a time, and runs pods. Any number of workers, in any
// number of processes, share a database.
type Worker struct {
	*Store
	ID      string // unique for each start
	Options job.Options
	Slots   int           // concurrent pods
	Lease   time.Duration // others take over if it is not renewed for so long
	Poll    time.Duration // how often it looks for something to do
	// Do runs a pod, which knows its index and how often the index has failed. The output is stored
	// together with the end of the pod: put there what must not happen twice. Do must return soon
	// after its context is done.
	Do func(ctx context.Context, payload string, p job.Pod) (output string, exitCode int32)

	running sync.Map                        // the context.CancelFunc of each pod
	fuse    *time.Timer                     // ends the work unless the lease is renewed
	around  func(*round, *job.Plan) backend // set by tests

	compiled   map[job.UID]cronjob.Compiled           // the schedules that Tick has compiled
	aroundTick func(*tick, *cronjob.Plan) cronBackend // set by tests
}

// Run works until the context is done or the lease is over. Other workers take over what is left.
func (w *Worker) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	w.fuse = time.AfterFunc(w.Lease/2, func() { stop(errLost) }) // before the lease ends, even if the database hangs

	var group sync.WaitGroup
	pods := slices.Repeat([]func(context.Context) (bool, error){w.runPod}, w.Slots)
	for _, step := range append(pods, w.beat, w.Plan, w.Tick) {
		group.Go(func() {
			for ctx.Err() == nil {
				did, err := step(ctx)
				if err != nil && ctx.Err() == nil {
					slog.Error(err.Error(), "worker", w.ID)
				}
				if !did {
					time.Sleep(w.Poll)
				}
			}
		})
	}

	group.Wait()
	return errors.Join(context.Cause(ctx), w.bury(context.WithoutCancel(ctx), w.ID))
}

// beat renews the lease, stops the pods that are being deleted, and takes over from dead workers.
func (w *Worker) beat(ctx context.Context) (bool, error) {
	err := w.within(ctx, func(t *tx) {
		t.exec("INSERT INTO workers (id, lease) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET lease = $2", w.ID, t.now.Add(w.Lease).UnixMilli())
		for _, id := range list(t, uid, "SELECT uid FROM pods WHERE phase = 'Running' AND worker = $1 AND leaving", w.ID) {
			if cancel, ok := w.running.Load(id); ok {
				cancel.(context.CancelFunc)()
			}
		}
	})

	if err == nil {
		w.fuse.Reset(w.Lease / 2)
	}
	return false, errors.Join(err, w.bury(ctx, ""))
}

// bury removes a worker, and all workers whose lease is over. Others can take what they held: the
// jobs are due, and the pods count as disrupted, which a podFailurePolicy can ignore.
func (s *Store) bury(ctx context.Context, worker string) error {
	const jobs, pods = "claim <> '' AND claim NOT IN (SELECT id FROM workers)", "phase = 'Running' AND worker NOT IN (SELECT id FROM workers)"
	return s.within(ctx, func(t *tx) {
		t.exec("DELETE FROM workers WHERE id = $1 OR lease <= $2", worker, t.now.UnixMilli())
		// The order prevents that two such transactions wait for each other.
		held := "SELECT uid FROM jobs WHERE " + jobs + " UNION SELECT job FROM pods WHERE " + pods + " ORDER BY 1"
		for _, id := range list(t, uid, held) {
			t.wake(id)
			t.exec("UPDATE jobs SET claim = '' WHERE uid = $1 AND "+jobs, id)
			for _, id := range list(t, uid, "SELECT uid FROM pods WHERE job = $1 AND "+pods, id) {
				t.changePod(id, func(p *job.Pod) {
					p.Detail.Conditions = append(p.Detail.Conditions, job.PodCondition{Type: "DisruptionTarget", Status: job.ConditionTrue})
					t.end(p, 137)
				})
			}
		}
	})
}

// runPod runs the pod that has waited longest. A worker without a lease runs none: the others would
// take the worker for dead, and run the pod a second time.
func (w *Worker) runPod(ctx context.Context) (bool, error) {
	var p job.Pod
	id, payload := job.UID(""), ""
	columns := func(p *job.Pod) []any { return []any{asJSON{p}, &id, &payload} }

	err := w.within(ctx, func(t *tx) {
		for _, p = range list(t, columns, `SELECT p.pod, j.uid, j.payload FROM pods p JOIN jobs j ON j.uid = p.job
			WHERE p.phase = 'Pending' AND EXISTS (SELECT 1 FROM workers WHERE id = $1) ORDER BY p.created LIMIT 1`+t.skip, w.ID) {
			t.wake(id)
			t.exec("UPDATE pods SET worker = $2 WHERE uid = $1", p.UID, w.ID)
			t.changePod(p.UID, func(p *job.Pod) {
				p.Phase, p.Assigned, p.Ready, p.Detail.ReadyTransition = job.PodRunning, true, true, t.now
				p.Detail.Containers = []jobpod.Container{{Name: "main", State: jobpod.Running}}
			})
		}
	})

	if err != nil || id == "" {
		return false, err
	}

	work, cancel := context.WithCancel(ctx)
	defer cancel()
	w.running.Store(p.UID, cancel)
	defer w.running.Delete(p.UID)
	output, code := w.Do(work, payload, p)

	for ctx.Err() == nil || code == 0 { // a pod that fails because Run ends counts as disrupted
		err = w.report(context.WithoutCancel(ctx), p.UID, id, output, code)
		if err == nil || errors.Is(err, errLost) || ctx.Err() != nil {
			break
		}
		time.Sleep(w.Poll)
	}
	return true, err
}

// report ends a pod, unless another worker has done so.
func (w *Worker) report(ctx context.Context, pod, id job.UID, output string, code int32) error {
	return w.within(ctx, func(t *tx) {
		t.wake(id)
		if t.exec("UPDATE pods SET output = $3 WHERE uid = $1 AND worker = $2 AND phase = 'Running'", pod, w.ID, output) == 0 {
			t.fail(errLost)
		}
		t.changePod(pod, func(p *job.Pod) { t.end(p, code) })
	})
}

// end marks a pod as ended.
func (t *tx) end(p *job.Pod, code int32) {
	p.Phase = map[bool]job.PodPhase{true: job.PodSucceeded, false: job.PodFailed}[code == 0]
	p.Ready, p.Detail.ReadyTransition = false, t.now
	p.Detail.Containers = []jobpod.Container{{Name: "main", State: jobpod.Terminated, ExitCode: code, FinishedAt: t.now}}
}
