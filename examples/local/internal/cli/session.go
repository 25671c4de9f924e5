package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/batchplan/batchplan/examples/local/internal/control"
	"github.com/batchplan/batchplan/examples/local/internal/manifest"
	"github.com/batchplan/batchplan/examples/local/internal/node"
	"github.com/batchplan/batchplan/examples/local/internal/report"
	"github.com/batchplan/batchplan/examples/local/internal/store"
	"github.com/batchplan/batchplan/job"
)

// session is one run: a node and a loop for each job.
type session struct {
	*program
	store    *store.Store
	options  runOptions
	settings manifest.Settings
	reporter report.Reporter
	loops    map[string]*control.Loop // by UID; fixed once started
	node     *node.Node
}

// result is how a loop ended.
type result struct {
	job    store.Job
	status job.Status
	err    error
}

// run drives the jobs to their ends and returns the exit status.
func (r *session) run(jobs []store.Job) (int, error) {
	if err := r.prepare(jobs); err != nil {
		return exitBadInput, err
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()

	results := make(chan result, len(jobs))
	nodeEnd := make(chan error, 1)
	var loops sync.WaitGroup
	loops.Go(func() { nodeEnd <- r.node.Run(ctx) })
	for i := range jobs {
		loops.Go(func() {
			status, err := r.loops[jobs[i].UID].Run(ctx)
			results <- result{jobs[i], status, err}
		})
	}
	status, err := r.await(len(jobs), results, nodeEnd, signals, cancel)
	cancel()
	loops.Wait()
	r.reporter.Close()
	return status, err
}

// prepare makes the loops and lets held jobs go on.
func (r *session) prepare(jobs []store.Job) error {
	r.loops = map[string]*control.Loop{}
	r.node = node.New(r.store, r.options.parallel, func(uid string) {
		if l := r.loops[uid]; l != nil {
			l.Wake()
		}
	})
	for i := range jobs {
		l, err := control.NewLoop(r.store, &jobs[i])
		if err != nil {
			return err
		}
		l.Settings, l.Changed, l.Report = r.settings, r.node.Wake, r.reporter.Round
		l.Options.Backoff = r.options.backoff
		r.loops[jobs[i].UID] = l
		if err := r.store.SetHeld(jobs[i].UID, false); err != nil {
			return err
		}
	}
	return nil
}

// await collects the results, and suspends when it is told to.
func (r *session) await(n int, results <-chan result, nodeEnd <-chan error, signals <-chan os.Signal, cancel func()) (int, error) {
	status, interrupted := exitComplete, false
	var problems []error
	for n > 0 {
		select {
		case <-signals:
			if interrupted {
				// Pods that are being deleted are not counted, so killing them is safe.
				// Others, if any, run on, and the next run finds them.
				problems = append(problems, r.node.Kill())
				cancel()
				return exitInterrupted, errors.Join(problems...)
			}
			interrupted = true
			r.reporter.Note("suspending: processes get SIGTERM, then SIGKILL after their grace period; Ctrl-C again kills at once")
			if err := r.hold(); err != nil {
				return exitFailed, err
			}
		case err := <-nodeEnd:
			return exitFailed, err
		case got := <-results:
			n--
			r.reporter.End(got.job.Key(), got.status)
			if got.err != nil {
				problems = append(problems, got.err)
			}
			if got.err != nil || got.status.Finished() != job.Complete {
				status = max(status, exitFailed)
			}
			if interrupted && got.status.Finished() == "" {
				status = exitInterrupted
			}
		}
	}
	if status == exitInterrupted {
		r.reporter.Note("suspended; run again to go on")
	}
	return status, errors.Join(problems...)
}

// hold suspends all jobs until the next run.
func (r *session) hold() error {
	for uid, l := range r.loops {
		if err := r.store.SetHeld(uid, true); err != nil {
			return err
		}
		l.Wake()
	}
	return nil
}
