package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/control"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/logs"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/node"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/patience"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/report"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// session is one run: a node, a collector, and a loop for each job and CronJob.
type session struct {
	*program
	store    *store.Store
	clock    *clock.Clock
	options  runOptions
	until    time.Time
	settings manifest.Settings
	reporter report.Reporter

	node      *node.Node
	follower  *follower // nil if the logs are not shown
	collector *control.Collector
	ctx       context.Context
	group     sync.WaitGroup
	ends      chan result
	broken    chan error

	mu sync.Mutex
	// loops holds the running loops of jobs by the UID of the job, and crons the running loops of
	// CronJobs by the UID of the CronJob.
	loops map[job.UID]*jobLoop
	crons map[job.UID]*control.CronLoop
	// followed holds unfinished jobs of CronJobs. Each of these jobs has a loop, or has had one.
	followed map[job.UID]bool
	// open is the number of loops whose result has not reached await yet.
	open int
	// held is true once the jobs are suspended.
	held bool
}

type jobLoop struct {
	*control.Loop
	job store.Job
}

// result is how the loop of a job or of a CronJob ended.
type result struct {
	job     *store.Job
	status  job.Status
	cronJob *store.CronJob
	err     error
}

func newSession(p *program, s *store.Store, c *clock.Clock, o runOptions, to report.Reporter) *session {
	r := &session{
		program: p, store: s, clock: c, options: o, reporter: to,
		ends: make(chan result), broken: make(chan error),
		loops: map[job.UID]*jobLoop{}, crons: map[job.UID]*control.CronLoop{}, followed: map[job.UID]bool{},
	}

	r.node = node.New(s, c, o.parallel, r.wakeJob)
	r.node.Warn, r.node.Patience.Limit = to.Note, o.giveUp

	if !o.quiet && o.output != "json" {
		r.follower = &follower{
			store: s,
			to:    to,
			only:  o.follow,
			open:  map[job.UID]*logs.Reader{},
			ended: map[job.UID]bool{},
		}
		r.node.Output = r.follower.observe
	}

	r.collector = control.NewCollector(s, c)
	r.collector.Warn, r.collector.Patience.Limit = to.Note, o.giveUp
	r.collector.Stop, r.collector.Changed = r.wakeJob, r.node.Wake
	return r
}

// run runs the jobs to their ends, and the CronJobs until they are stopped. It returns the exit
// status.
func (r *session) run(chosen objects) (int, error) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.ctx = ctx

	if err := r.startAll(chosen); err != nil {
		cancel()
		r.group.Wait()
		return exitBadInput, err
	}
	if err := r.store.Hurry(); err != nil {
		cancel()
		r.group.Wait()
		return exitBroken, err
	}

	if r.follower != nil {
		r.group.Go(func() { r.follower.run(ctx) })
	}
	for _, part := range []func(context.Context) error{r.node.Run, r.collector.Run, r.watchStore, r.keepTime} {
		r.group.Go(func() { r.fail(part(ctx)) })
	}

	status, err := r.await(signals)
	cancel()
	r.group.Wait()

	if !r.clock.IsReal() {
		err = errors.Join(err, r.store.Saw(r.clock.Now()))
	}
	r.reporter.Close()
	return status, err
}

// fail ends the session after an error that it cannot survive.
func (r *session) fail(err error) {
	if err == nil {
		return
	}
	select {
	case r.broken <- err:
	case <-r.ctx.Done():
	}
}

func (r *session) startAll(chosen objects) error {
	for i := range chosen.jobs {
		if err := r.startJob(&chosen.jobs[i]); err != nil {
			return err
		}
	}
	for i := range chosen.cronJobs {
		if err := r.startCronJob(&chosen.cronJobs[i]); err != nil {
			return err
		}
	}
	return nil
}

// startJob starts the loop of a job. A job that was held is resumed.
func (r *session) startJob(j *store.Job) error {
	l, err := control.NewLoop(r.store, r.clock, j)
	if err != nil {
		return err
	}

	l.Settings, l.Changed, l.Report = r.settings, r.node.Wake, r.jobRound
	l.Warn, l.Patience.Limit = r.reporter.Note, r.options.giveUp
	l.Options.Backoff = r.options.backoff

	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.store.SetHeld(j.UID, r.held); err != nil {
		return err
	}
	r.loops[j.UID] = &jobLoop{l, *j}
	r.open++

	r.group.Go(func() {
		status, err := l.Run(r.ctx)
		r.mu.Lock()
		delete(r.loops, j.UID)
		r.mu.Unlock()
		r.wakeCronJob(j.CronJob)
		r.end(result{job: j, status: status, err: err})
	})
	return nil
}

func (r *session) startCronJob(c *store.CronJob) error {
	l, err := control.NewCronLoop(r.store, r.clock, c)
	if err != nil {
		return err
	}
	l.Follow, l.Deleted, l.Report = r.follow, r.collector.Wake, r.reporter.CronRound
	l.Warn, l.Patience.Limit = r.reporter.Note, r.options.giveUp
	l.Busy = func() bool { return r.isBusy(c.UID) }
	r.mu.Lock()
	defer r.mu.Unlock()
	r.crons[c.UID] = l
	r.open++
	r.group.Go(func() { r.end(result{cronJob: c, err: l.Run(r.ctx)}) })
	return nil
}

// end sends the result of a loop to await, unless the context has ended.
func (r *session) end(got result) {
	select {
	case r.ends <- got:
	case <-r.ctx.Done():
	}
}

// follow starts a loop for each unfinished job of a CronJob, unless it has already started one for
// that job. The job was just created, or comes from an earlier run of the program. If a job's own
// manifest suspends it, its loop ends, and it gets no second one.
func (r *session) follow(jobs []store.Job) error {
	for i := range jobs {
		j := jobs[i]
		r.mu.Lock()
		known := r.followed[j.UID]
		if finished(&j) {
			delete(r.followed, j.UID)
		}
		r.mu.Unlock()
		if known || finished(&j) {
			continue
		}
		if err := r.startJob(&j); err != nil {
			return err
		}
		r.mu.Lock()
		r.followed[j.UID] = true
		r.mu.Unlock()
	}
	return nil
}

// jobRound reports a round. If the job has ended, it wakes the job's CronJob.
func (r *session) jobRound(round control.Round) {
	r.reporter.Round(round)
	if finished(round.Job) {
		r.wakeCronJob(round.Job.CronJob)
	}
}

func (r *session) wakeJob(uid job.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.loops[uid]; l != nil {
		l.Wake()
	}
}

func (r *session) wakeCronJob(uid job.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.crons[uid]; l != nil {
		l.Wake()
	}
}

// isBusy reports whether loops of a CronJob's jobs are running.
func (r *session) isBusy(cronJobUID job.UID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.loops {
		if l.job.CronJob == cronJobUID {
			return true
		}
	}
	return false
}

// interval is the time between two checks for the writes of other processes.
const interval = 100 * time.Millisecond

// watchStore notices the writes of other processes: triggers and removals.
func (r *session) watchStore(ctx context.Context) error {
	last := int64(-1)
	return r.repeat(ctx, func() (time.Duration, error) {
		version, err := r.store.Version()
		if err != nil || version == last {
			return interval, err
		}

		last = version
		r.collector.Wake()
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, l := range r.crons {
			l.Wake()
		}
		return interval, nil
	})
}

// keepTime regularly stores the time of a virtual clock. Otherwise, if a runner were killed, the
// time that has passed since the last write would be lost.
func (r *session) keepTime(ctx context.Context) error {
	if r.clock.IsReal() {
		return nil
	}
	return r.repeat(ctx, func() (time.Duration, error) { return 2 * interval, r.store.Saw(r.clock.Now()) })
}

// repeat makes passes until the context ends. A temporary failure is retried.
func (r *session) repeat(ctx context.Context, pass func() (rest time.Duration, err error)) error {
	endurance := patience.Patience{Limit: r.options.giveUp}
	return endurance.Repeat(ctx, nil, r.reporter.Note, pass)
}

// sleep waits for a duration. It returns false if the context ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
