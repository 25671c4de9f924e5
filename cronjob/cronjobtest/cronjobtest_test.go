package cronjobtest_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/cronjob/cronjobtest"
	"github.com/batchplan/batchplan/internal/cronjobgen"
	"github.com/batchplan/batchplan/internal/kittest"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
)

// bug is a mistake that is easily made.
type bug string

const (
	none          bug = ""
	late          bug = "none, but the jobs are read from a replica"
	nameIsNoLock  bug = "a job of the name does not keep another from being created"
	staleReplica  bug = "the jobs are read from a stale replica"
	statusFirst   bug = "the status is written without a condition"
	swallowed     bug = "an error of a status write is swallowed"
	neverAgain    bug = "nobody waits for the next run"
	statusForgets bug = "lastScheduleTime is kept by the day"
	deletesByName bug = "a job is deleted by its name alone"
	uidOfName     bug = "the UID of a job is made of its name"
	overwrites    bug = "a creation overwrites the job of another owner"
	lyingGet      bug = "a look-up says that the CronJob controls any job of the name"
	wallClock     bug = "a job's creation time is the wall clock, read as UTC"
	dropsSuspend  bug = "suspend is not stored"
)

// store is a store in memory.
type store struct {
	env     *cronjobtest.Env
	bug     bug
	cronJob cronjob.CronJob
	version int
	jobs    []cronjob.Child
	behind  []cronjob.Child
	created int
	late    bool // reads the jobs from a replica, and is not Consistent
	dates   bool // sets SpecChanged
	isMap   bool // returns jobs in any order, and draws their UIDs
	changes []string

	triggers  []cronjob.Trigger
	backfills []cronjob.Backfill
}

func (s *store) CreateCronJob(c cronjob.CronJob) error {
	s.cronJob = c
	s.version++
	return nil
}

func (s *store) RemoveCronJob() error {
	s.jobs = slices.DeleteFunc(slices.Clone(s.jobs), func(c cronjob.Child) bool { return !c.Foreign })
	s.behind, s.triggers, s.backfills = nil, nil, nil
	s.cronJob = cronjob.CronJob{}
	return nil
}

func (s *store) UpdateSpec(spec cronjob.Spec) error {
	s.cronJob.Spec = spec
	if s.bug == dropsSuspend {
		s.cronJob.Spec.Suspend = nil
	}
	if s.dates {
		s.cronJob.SpecChanged = s.env.Now()
	}
	s.version++
	return nil
}

func (s *store) CronJob() (cronjob.CronJob, error) {
	c := s.cronJob
	c.Version = int64(s.version)
	return c, nil
}

func (s *store) Children() ([]cronjob.Child, error) { return kittest.Listed(s.jobs, s.isMap), nil }

func (s *store) index(name string) int {
	return slices.IndexFunc(s.jobs, func(c cronjob.Child) bool { return c.Name == name })
}

func (s *store) UpdateChild(c cronjob.Child) error {
	s.jobs[s.index(c.Name)] = c
	s.changes = append(s.changes, c.Name+" ends")
	return nil
}

func (s *store) RemoveChild(name string) error {
	i := s.index(name)
	s.jobs = slices.Delete(slices.Clone(s.jobs), i, i+1)
	s.changes = append(s.changes, name+" goes")
	return nil
}

func (s *store) Look(context.Context) (cronjob.Snapshot, cronjobapply.Backend, error) {
	children := kittest.Listed(s.jobs, s.isMap)
	if s.bug == staleReplica || s.late {
		children, s.behind = s.behind, children
	}
	return cronjob.Snapshot{CronJob: s.cronJob, Children: children, Consistent: !s.late}, &backend{s, s.version}, nil
}

func (s *store) AddChild(c cronjob.Child) error {
	s.jobs = append(slices.Clip(s.jobs), c)
	return nil
}

func (s *store) AddTrigger(t cronjob.Trigger) error {
	s.triggers = append(slices.Clip(s.triggers), t)
	return nil
}

func (s *store) AddBackfill(b cronjob.Backfill) error {
	s.backfills = append(slices.Clip(s.backfills), b)
	return nil
}

func (s *store) Triggers() ([]cronjob.Trigger, error)   { return slices.Clone(s.triggers), nil }
func (s *store) Backfills() ([]cronjob.Backfill, error) { return slices.Clone(s.backfills), nil }

func (s *store) StoreProgress(triggered []string, backfills []cronjob.Backfill) error {
	s.triggers = slices.DeleteFunc(s.triggers, func(t cronjob.Trigger) bool { return slices.Contains(triggered, t.ID) })
	for _, b := range backfills {
		s.backfills[slices.IndexFunc(s.backfills, func(old cronjob.Backfill) bool { return old.ID == b.ID })] = b
	}
	s.backfills = slices.DeleteFunc(s.backfills, func(b cronjob.Backfill) bool { return b.IsComplete() })
	return nil
}

var newYork, _ = time.LoadLocation("America/New_York")

type backend struct {
	*store
	seen int // the version of the CronJob
}

func (b *backend) Get(_ context.Context, name string) (cronjobapply.Job, error) {
	i := b.index(name)
	if i < 0 {
		return cronjobapply.Job{}, cronjobapply.ErrGone
	}
	c := b.jobs[i]
	found := cronjobapply.Job{Reference: cronjob.Reference{UID: c.UID}, Controller: b.cronJob.UID, CreationTimestamp: c.CreationTimestamp}
	if c.Foreign && b.bug != lyingGet {
		found.Controller = "another"
	}
	return found, nil
}

func (b *backend) Create(_ context.Context, n cronjob.Creation) (cronjobapply.Job, error) {
	if i := b.index(n.Name); i >= 0 {
		if b.bug != nameIsNoLock && !(b.bug == overwrites && b.jobs[i].Foreign) {
			return cronjobapply.Job{}, cronjobapply.ErrExists
		}
		b.jobs = slices.Delete(slices.Clone(b.jobs), i, i+1)
	}

	b.created++
	c := cronjob.Child{
		Name: n.Name, UID: job.UID(fmt.Sprint("uid-", b.created)), CreationTimestamp: b.env.Now(), StartTime: b.env.Now(),
		ScheduledTime: n.ScheduledTime, Backfilled: n.Backfill != "",
	}

	switch {
	case b.isMap:
		c.UID = job.UID(fmt.Sprint("uid-", rand.Uint64()))
	case b.bug == uidOfName:
		c.UID = job.UID("uid-of-" + n.Name)
	case b.bug == wallClock:
		_, offset := c.CreationTimestamp.In(newYork).Zone()
		c.CreationTimestamp = c.CreationTimestamp.Add(time.Duration(offset) * time.Second)
	}

	b.jobs = append(b.jobs, c)
	return cronjobapply.Job{Reference: cronjob.Reference{UID: c.UID}, CreationTimestamp: c.CreationTimestamp}, nil
}

func (b *backend) Delete(_ context.Context, d cronjob.Deletion) error {
	i := b.index(d.Name)
	switch {
	case i < 0 || b.jobs[i].UID != d.UID && b.bug != deletesByName:
		return cronjobapply.ErrGone
	case d.Foreground: // the job stays until its pods are gone
		b.jobs = slices.Clone(b.jobs)
		b.jobs[i].DeletionTimestamp = b.env.Now()
		return nil
	}
	return b.RemoveChild(d.Name)
}

func (b *backend) WriteStatus(_ context.Context, s cronjob.Status) error {
	switch {
	case b.bug == statusForgets:
		s.LastScheduleTime = s.LastScheduleTime.Truncate(24 * time.Hour)
	case b.bug == statusFirst:
	case b.seen != b.version && b.bug == swallowed:
		return nil
	case b.seen != b.version:
		return world.ErrConflict
	}
	s.Active = slices.Clone(s.Active)
	b.cronJob.Status = s
	b.version++
	b.seen = b.version
	return nil
}

func open(bug bug) func(*cronjobtest.Env) cronjobtest.Subject {
	return func(env *cronjobtest.Env) cronjobtest.Subject {
		s := &store{env: env, bug: bug, late: bug == nameIsNoLock || bug == late}
		start := cronjobtest.Loop(env, s.Look)
		if bug != neverAgain {
			return cronjobtest.Subject{Store: s, Start: start, Late: s.late}
		}
		return cronjobtest.Subject{Store: s, Start: func(forget bool) cronjobtest.Program {
			program := start(forget)
			return func(ctx context.Context) (time.Time, error) {
				again, err := program(ctx)
				if again.Sub(env.Now()) > time.Second {
					again = time.Time{}
				}
				return again, err
			}
		}}
	}
}

// TestBackend_Right: a correct store passes.
func TestBackend_Right(t *testing.T) { cronjobtest.TestBackend(t, open(none)) }

// TestBackend_Replica: a store that reads the jobs from a replica passes the test, since its
// snapshots are not Consistent.
func TestBackend_Replica(t *testing.T) { cronjobtest.TestBackend(t, open(late)) }

// openLate returns a subject whose program sees the objects of its store late, through a Mirror.
func openLate(env *cronjobtest.Env) cronjobtest.Subject {
	s := &store{env: env, dates: true}
	start, cache := cronjobtest.LateLoop(env, func(seen cronjob.CronJob) cronjobapply.Backend { return &backend{s, int(seen.Version)} })
	return cronjobtest.Subject{Store: s, Start: start, Cache: cache}
}

// TestBackend_Late: a program passes if it sees each object late, and keeps its memory.
func TestBackend_Late(t *testing.T) { cronjobtest.TestBackend(t, openLate) }

// TestBackend_Kinds: stores with children that are not jobs pass, with all options together. The
// number of lives in -rapid.checks is divided among the subtests. The target "lives" of the Makefile
// runs more.
func TestBackend_Kinds(t *testing.T) {
	lives, err := strconv.Atoi(flag.Lookup("rapid.checks").Value.String())
	if err != nil {
		t.Fatal(err)
	}
	kittest.Set(t, map[string]string{"rapid.checks": strconv.Itoa((lives + 5) / 6)})

	for _, store := range []struct {
		name string
		open func(*cronjobtest.Env) cronjobtest.Subject
	}{{"consistent", open(none)}, {"replica", open(late)}, {"late", openLate}} {
		for _, inSeconds := range []bool{false, true} {
			test := cronjobtest.Test{
				Specs: cronjobgen.Specs(), Options: cronjobgen.AllOptions(inSeconds), Schedule: cronjobgen.ScheduleOptions(inSeconds),
				Endings: []cronjob.Ending{cronjob.Complete, cronjob.Complete, cronjob.Failed, world.Aborted, world.Skipped},
			}

			name := store.name
			if inSeconds {
				test.Specs, name = cronjobgen.SpecsInSeconds(), name+" in seconds"
			}
			t.Run(name, func(t *testing.T) { test.Run(t, store.open) })
		}
	}
}

// TestBackend_Wrong: the test finds each of the bugs.
func TestBackend_Wrong(t *testing.T) {
	for _, c := range []struct {
		bug  bug
		rule string
	}{
		{nameIsNoLock, "Store"}, {staleReplica, "Store"}, {statusFirst, "Store"}, {swallowed, "Store"}, {neverAgain, "CL4"}, {statusForgets, "Store"},
		{deletesByName, "Store"}, {uidOfName, "Store"}, {overwrites, "Store"}, {lyingGet, "Store"}, {wallClock, "Store"}, {dropsSuspend, "Store"},
	} {
		t.Run(string(c.bug), func(t *testing.T) {
			story := kittest.Find(t, "2000", func(tb testing.TB) { cronjobtest.TestBackend(tb, open(c.bug)) })
			if !strings.Contains(story, "  "+c.rule+": ") || !strings.Contains(story, " lives went well before this one.") {
				t.Errorf("the story does not tell of %s, or not how to repeat it:\n%s", c.rule, story)
			}
		})
	}
}

// TestBackend_Map: a life can be repeated even if a store returns its jobs in any order, with any
// UIDs.
func TestBackend_Map(t *testing.T) {
	for name, open := range map[string]func(*cronjobtest.Env) cronjobtest.Subject{"consistent": open(none), "late": openLate} {
		t.Run(name, func(t *testing.T) {
			kittest.Repeats(t, "20", func(note func([]string)) {
				cronjobtest.TestBackend(t, func(env *cronjobtest.Env) cronjobtest.Subject {
					s := open(env)
					s.Store.(*store).isMap = true
					s.Close = func() { note(s.Store.(*store).changes) }
					return s
				})
			})
		})
	}
}

// observer counts the rounds whose results it gets.
type observer struct {
	cronjobapply.Backend
	told int
}

func (o *observer) Executed(cronjob.Writes) { o.told++ }

// TestEnv_BackendIsAsAble: the executor finds the optional interfaces of the program's backend.
func TestEnv_BackendIsAsAble(t *testing.T) {
	o := &observer{}
	if _, err := (cronjobapply.Executor{}).Apply(t.Context(), new(cronjobtest.Env).Backend(o), &cronjob.Plan{}); err != nil || o.told != 1 {
		t.Errorf("told %d times, %v", o.told, err)
	}
}
