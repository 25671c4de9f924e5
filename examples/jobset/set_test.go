package jobset

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
)

// TestSet plays a set with failed writes, lost replies, crashes, conflicts, caches that are late by
// any time, users who delete jobs, and names that others have taken.
func TestSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }
		if err := life(t.Context(), newCluster(pick), Round); err != nil {
			t.Fatal(err)
		}
	})
}

// TestSet_Mistakes: the test finds each of these mistakes.
func TestSet_Mistakes(t *testing.T) {
	on := func(wrong func(*cluster) Backend) round {
		return func(ctx context.Context, b Backend, jobs []Job) error { return Round(ctx, wrong(b.(*cluster)), jobs) }
	}

	for _, tc := range []struct {
		name  string
		round round
		want  string
	}{
		{"a name is not a lock", on(func(c *cluster) Backend { return unlocked{c} }), "is created twice"},
		{"the set comes from a late cache", on(func(c *cluster) Backend { return lateSet{c} }), "is created twice"},
		{"a late cache says what is gone", on(func(c *cluster) Backend { return lateJobs{c} }), "is created beside"},
		{"a restart is counted twice after a lost reply", countAgain, "nothing has failed in attempt"},
		{"the status is written last", writeLast, "is created twice"},
		{"whose job it is does not matter", on(func(c *cluster) Backend { return owner{c} }), "belongs to another owner"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for seed := range uint64(5000) {
				r := rand.New(rand.NewPCG(seed, 0))
				if err := life(t.Context(), newCluster(r.IntN), tc.round); err != nil {
					t.Logf("life %d: %v", seed, err)
					if strings.Contains(err.Error(), tc.want) {
						return
					}
				}
			}
			t.Error("the test does not find it")
		})
	}
}

type round func(context.Context, Backend, []Job) error

// life plays one random life of a set to its end.
func life(ctx context.Context, c *cluster, round round) error {
	for range 5 + c.pick(40) {
		c.step(ctx, round)
		if err := c.settle(ctx); err != nil {
			return err
		}
	}

	c.pick = nil
	for range 100 {
		for _, j := range c.Jobs() {
			c.end(j, 0)
			if _, ours := c.made[j.Job.Name]; !ours {
				c.RemoveJob(j.Job.Name)
			}
		}
		if err := c.settle(ctx); err != nil {
			return err
		}

		c.Fault = nil
		c.Begin()
		if err := round(ctx, c, c.list()); err == nil && c.set.Status.Finished != "" {
			return c.over()
		}
	}
	return errors.New("the set does not end")
}

// step makes one thing happen.
func (c *cluster) step(ctx context.Context, round round) {
	all := c.Jobs()
	if len(all) == 0 || c.pick(2) == 0 {
		c.fault()
		_ = round(ctx, c, c.views[c.pick(len(c.views))])
		return
	}

	j := all[c.pick(len(all))]
	switch c.pick(6) {
	case 0, 1:
		c.end(j, 0)
	case 2, 3:
		c.end(j, 1)
	case 4:
		if made, ours := c.made[j.Job.Name]; ours && j.Job.Status.Finished() != job.ConditionFailed {
			made.deleted++
			c.made[j.Job.Name] = made
			c.remove(j)
		}
	default:
		name := c.set.jobName(c.set.Status.Restarts+c.pick(2), c.set.Jobs[c.pick(2)])
		if c.Job(name) == nil {
			c.AddJob(name, spec()) // another owner's
		}
	}
}

// fault draws what goes wrong in a round.
func (c *cluster) fault() {
	c.Begin()
	at, fault := c.pick(6), []world.Fault{world.None, world.Fail, world.LoseReply, world.Crash}[c.pick(4)]
	c.Fault = func(world.Write) world.Fault {
		if at--; at == -1 {
			return fault
		}
		return world.None
	}
}

// cluster holds a set and its jobs, which have pods and a controller. It checks what is written.
type cluster struct {
	*world.Cluster
	world.Injector
	set    Set
	made   map[string]child
	failed map[int]bool // attempts with a failed job; false if no failure has to count
	views  [][]Job      // the states that a cache may show, the current one last
	sets   []Set        // the same for the set
	broken error
	pick   func(n int) int // draws a number below n; nil when nothing goes wrong any more
}

// child is a job that the set has created, perhaps several times.
type child struct {
	Job
	created, deleted int  // deleted by users
	succeeded        bool // once at least: a cache may still show it
}

func newCluster(pick func(n int) int) *cluster {
	c := &cluster{
		Cluster: world.NewCluster(), pick: pick, made: map[string]child{}, failed: map[int]bool{}, views: [][]Job{nil},
		set: Set{Name: "train", UID: "set-1", Jobs: []string{"a", "b"}, Limit: 2},
	}
	c.sets = []Set{c.set}
	return c
}

// spec returns the spec of all jobs: a job fails with its pod.
func spec() job.Spec {
	return job.Spec{BackoffLimit: new(int32), Template: job.Template{RestartPolicy: job.RestartNever}}
}

// breaks records a violation.
func (c *cluster) breaks(format string, args ...any) {
	if c.broken == nil {
		c.broken = fmt.Errorf(format, args...)
	}
}

// end lets the pods of a job end.
func (c *cluster) end(j *world.Job, exitCode int32) {
	for _, p := range slices.Clone(j.Pods) {
		j.Finish(p, exitCode)
	}
}

// remove deletes a job and its pods, which may run until they end.
func (c *cluster) remove(j *world.Job) {
	j.DeleteJob()
	for _, p := range slices.Clone(j.Pods) {
		j.Run(p)
		j.Delete(p)
	}
}

// settle runs the rounds of the jobs, and records what caches will show.
func (c *cluster) settle(ctx context.Context) error {
	c.Advance(c.Now().Add(time.Second))
	if err := c.Settle(); err != nil {
		return err
	}
	for _, j := range c.Jobs() {
		if made, ours := c.made[j.Job.Name]; ours {
			switch j.Job.Status.Finished() {
			case job.ConditionComplete:
				made.succeeded = true
			case job.ConditionFailed:
				c.failed[made.Attempt] = c.failed[made.Attempt] || !made.succeeded && j.Job.DeletionTimestamp.IsZero()
			}
			c.made[j.Job.Name] = made
		}
		if !j.Job.DeletionTimestamp.IsZero() && len(j.Pods) == 0 {
			c.RemoveJob(j.Job.Name)
		}
	}
	c.views, c.sets = append(c.views, c.list()), append(c.sets, c.set)
	return errors.Join(c.broken, c.Err())
}

// list returns the current jobs of the set.
func (c *cluster) list() (jobs []Job) {
	for _, j := range c.Jobs() {
		if made, ours := c.made[j.Job.Name]; ours {
			made.Finished = j.Job.Status.Finished()
			jobs = append(jobs, made.Job)
		}
	}
	return jobs
}

func (c *cluster) Read(context.Context) (Set, error) {
	read := c.set
	if c.pick != nil && c.pick(8) == 0 {
		c.set.Version++ // a user edits the set
	}
	return read, nil
}

func (c *cluster) WriteStatus(_ context.Context, s Status, version int) error {
	_, err := c.Try(world.Write{Verb: world.WriteStatus}, func() error {
		was := c.set.Status
		switch {
		case version != c.set.Version:
			return errors.New("conflict")
		case was.Finished != "" || s.Restarts > c.set.Limit || s.Restarts > was.Restarts+1 || s.Restarts < was.Restarts:
			c.breaks("the status %v follows %v", s, was)
		case s.Restarts > was.Restarts || s.Finished == job.ConditionFailed:
			if _, failed := c.failed[was.Restarts]; !failed {
				c.breaks("nothing has failed in attempt %d, and the status becomes %v", was.Restarts, s)
			}
		}
		c.set.Status = s
		c.set.Version++
		return nil
	})
	return err
}

func (c *cluster) Get(_ context.Context, name string) (cronjobapply.Job, error) {
	if c.Job(name) == nil {
		return cronjobapply.Job{}, cronjobapply.ErrGone
	}
	found := cronjobapply.Job{Reference: cronjob.Reference{Name: name, UID: c.Job(name).Job.UID}}
	if _, ours := c.made[name]; ours {
		found.Controller = c.set.UID
	}
	return found, nil
}

func (c *cluster) Create(_ context.Context, creation cronjob.Creation) (made cronjobapply.Job, err error) {
	_, err = c.Try(world.Write{Verb: world.Create, Name: creation.Name}, func() error {
		if c.Job(creation.Name) != nil {
			return cronjobapply.ErrExists
		}

		name, _, _ := strings.Cut(creation.Name, "~")
		parts := strings.Split(name, "-")
		is := c.made[name]
		_, _ = fmt.Sscan(parts[1], &is.Attempt)
		is.Name, is.created = parts[2], is.created+1

		switch s := c.set.Status; {
		case is.created > 1+is.deleted || slices.Contains(s.Succeeded, is.Name):
			c.breaks("%s is created twice", name)
		case is.Attempt != s.Restarts || s.Finished != "":
			c.breaks("%s is created in attempt %d of a set that is %q", name, s.Restarts, s.Finished)
		case slices.ContainsFunc(c.list(), func(j Job) bool { return j.Attempt != is.Attempt }):
			c.breaks("%s is created beside another attempt", name)
		}

		c.made[name] = is
		c.AddJob(creation.Name, spec())
		return nil
	})
	return made, err
}

func (c *cluster) Delete(_ context.Context, d cronjob.Deletion) error {
	_, err := c.Try(world.Write{Verb: world.Delete, Name: d.Name}, func() error {
		if c.Job(d.Name) == nil {
			return cronjobapply.ErrGone
		}
		if _, ours := c.made[d.Name]; !ours {
			c.breaks("%s belongs to another owner", d.Name)
		}
		c.remove(c.Job(d.Name))
		return nil
	})
	return err
}

// over checks a set that has ended.
func (c *cluster) over() error {
	s := c.set.Status
	for _, j := range c.list() {
		if j.Finished == "" {
			c.breaks("%s of attempt %d still runs", j.Name, j.Attempt)
		}
	}
	if s.Finished == job.ConditionComplete && (len(s.Succeeded) < len(c.set.Jobs) || c.failed[s.Restarts]) {
		c.breaks("the set ends as %v", s)
	}
	return c.broken
}

// unlocked gives each job a name that no other has.
type unlocked struct{ *cluster }

func (c unlocked) Create(ctx context.Context, creation cronjob.Creation) (cronjobapply.Job, error) {
	if c.Job(creation.Name) != nil {
		creation.Name += fmt.Sprint("~", c.Writes)
	}
	return c.cluster.Create(ctx, creation)
}

// lateSet reads the set from a cache.
type lateSet struct{ *cluster }

func (c lateSet) Read(ctx context.Context) (Set, error) {
	if c.pick == nil {
		return c.cluster.Read(ctx)
	}
	return c.sets[c.pick(len(c.sets))], nil
}

// lateJobs looks jobs up in a cache.
type lateJobs struct{ *cluster }

func (c lateJobs) Get(ctx context.Context, name string) (cronjobapply.Job, error) {
	if c.pick != nil && !slices.ContainsFunc(c.views[c.pick(len(c.views))], func(j Job) bool { return c.set.jobName(j.Attempt, j.Name) == name }) {
		return cronjobapply.Job{}, cronjobapply.ErrGone
	}
	return c.cluster.Get(ctx, name)
}

// owner treats every job as one of the set.
type owner struct{ *cluster }

func (c owner) Get(ctx context.Context, name string) (cronjobapply.Job, error) {
	found, err := c.cluster.Get(ctx, name)
	found.Controller = c.set.UID
	return found, err
}

// countAgain counts each failed job that it sees, whatever its attempt.
func countAgain(ctx context.Context, b Backend, jobs []Job) error {
	jobs = slices.Clone(jobs)
	for i := range jobs {
		if jobs[i].Finished == job.ConditionFailed {
			jobs[i].Attempt = b.(*cluster).set.Status.Restarts
		}
	}
	return Round(ctx, b, jobs)
}

// writeLast writes the status at the end of the round.
func writeLast(ctx context.Context, b Backend, jobs []Job) error {
	d := &deferred{cluster: b.(*cluster)}
	err := Round(ctx, d, jobs)
	if d.write != nil {
		err = errors.Join(err, d.write())
	}
	return err
}

type deferred struct {
	*cluster
	write func() error
}

func (d *deferred) WriteStatus(ctx context.Context, s Status, version int) error {
	d.write = func() error { return d.cluster.WriteStatus(ctx, s, version) }
	return nil
}
