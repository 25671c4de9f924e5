package cronjobtest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/kit/cronjobcheck"
	"github.com/batchplan/batchplan/kit/cronjobgen"
	"github.com/batchplan/batchplan/kit/internal/life"
	"github.com/batchplan/batchplan/kit/world"
	"github.com/batchplan/batchplan/schedule"
)

// Env is the environment of one life. A program reads its clock, sends its writes through
// it, and shows it each plan.
type Env struct {
	life    *life.Life
	subject Subject
	program *life.Program

	truth     truth
	history   cronjobcheck.History
	options   cronjob.Options
	schedules []schedule.Option
	endings   []cronjob.Ending
	watch     *life.Late
	edited    bool             // the CronJob has changed since the program looked
	respec    bool             // its spec has
	seen      cronjob.CronJob  // as the program has looked at it
	schedule  cronjob.Compiled // as the program has compiled it
	compiles  job.UID          // the CronJob that it was compiled for
	memory    cronjob.Memory   // as the last plan alone leaves it
	before    aside            // what was set aside before the round
	aside     aside            // what is set aside with it

	compiling sync.Mutex // guards sources: a program may compile in any goroutine
	sources   map[source]cronjob.Compiled

	uids     map[job.UID]bool // of all CronJobs and jobs
	order    life.Order       // in which the jobs came into sight
	requests int              // how many triggers and backfills there were
	foreign  int              // how many jobs of other owners there were
	triggers []cronjob.Trigger
}

// truth is what the store held when the test looked last.
type truth struct {
	cronJob   cronjob.CronJob
	jobs      []cronjob.Child
	triggers  []cronjob.Trigger
	backfills []cronjob.Backfill
}

func (t *truth) job(name string) *cronjob.Child {
	i := slices.IndexFunc(t.jobs, func(c cronjob.Child) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &t.jobs[i]
}

// Test is a test of a backend, with what may be chosen. TestBackend is one with the zero
// values.
type Test struct {
	// Specs are the CronJobs; [cronjobgen.Specs] if it is nil.
	Specs *rapid.Generator[cronjob.Spec]
	// Options are the options to plan with; [cronjobgen.Options] if it is nil. A program that plans
	// with options of its own needs none.
	Options *rapid.Generator[cronjob.Options]
	// Schedule are the options to compile schedules with, by [Env.Compile]; none if it is nil.
	Schedule *rapid.Generator[[]schedule.Option]
	// Endings are how children end: Complete or Failed if it is nil. [world.Skipped] is kept as successful,
	// any other word as failed.
	Endings []cronjob.Ending
}

// TestBackend lets random CronJobs live on a store and tests the program that plans them. Open
// is called for each life, with an empty store. There are 100 lives, or as
// many as -rapid.checks says. About 30 things happen in each, or as many as -rapid.steps says.
func TestBackend(t testing.TB, open func(*Env) Subject) {
	t.Helper()
	Test{}.Run(t, open)
}

// Run runs the test.
func (c Test) Run(t testing.TB, open func(*Env) Subject) {
	t.Helper()
	specs, options := c.Specs, c.Options
	if specs == nil {
		specs = cronjobgen.Specs()
	}
	if options == nil {
		options = cronjobgen.Options()
	}
	life.Check(t, func(l *life.Life) {
		e := &Env{
			life: l, options: options.Draw(l.T, "options"), endings: c.Endings,
			sources: map[source]cronjob.Compiled{}, uids: map[job.UID]bool{}, order: life.Order{},
		}
		if e.endings == nil {
			e.endings = []cronjob.Ending{cronjob.Complete, cronjob.Complete, cronjob.Failed}
		}
		if c.Schedule != nil {
			e.schedules = c.Schedule.Draw(l.T, "schedule options")
		}
		e.subject = open(e)
		if e.subject.Close != nil {
			defer e.subject.Close()
		}
		if e.subject.Cache != nil {
			e.subject.Late, e.watch = true, e.newWatch()
		}
		e.program = e.newProgram()
		e.live(specs)
	})
}

// Now is the time in this life.
func (e *Env) Now() time.Time { return e.life.Now() }

// Options are the options to plan with: in half of the lives the zero value. A program that has
// options of its own may ignore them.
func (e *Env) Options() cronjob.Options { return e.options }

// Compile compiles the schedule of a CronJob with the options of this life. A program that has options
// of its own may ignore it.
func (e *Env) Compile(c *cronjob.CronJob) cronjob.Compiled {
	key := source{c.Spec.Schedule, value.Of(c.Spec.TimeZone), c.CreationTimestamp}
	e.compiling.Lock()
	defer e.compiling.Unlock()
	compiled, ok := e.sources[key]
	if !ok {
		compiled = cronjob.Compile(c, e.schedules...)
		e.sources[key] = compiled
	}
	return compiled
}

// source is what a schedule is compiled from.
type source struct {
	schedule, zone string
	created        time.Time
}

// Logf adds a line to the story.
func (e *Env) Logf(format string, args ...any) { e.life.Tell(format, args...) }

// Planned shows the test what the program has planned, before anything is written.
func (e *Env) Planned(s *cronjob.Snapshot, p *cronjob.Plan) {
	e.life.Writing.Lock()
	defer e.life.Writing.Unlock()
	e.options, e.edited = s.Options, !e.watch.HasSeen(life.ObjectKey)
	e.seen, e.schedule, e.compiles, e.memory = s.CronJob, s.Schedule, s.CronJob.UID, p.Conclude(cronjob.Outcome{}).Memory
	e.before, e.aside = e.aside, e.aside.planned(s)
	e.respec = e.edited && !reflect.DeepEqual(e.seen.Spec, e.truth.cronJob.Spec)
	e.life.TellPlan("", p.String())
	e.life.Note(cronjobcheck.Plan(s, p))
	if s.Consistent {
		e.checkSnapshot(s)
	}
}

// Write makes a write of the program that does not go through a backend, such as storing its
// memory. It can fail, lose its reply, or be the one before which the program ends.
func (e *Env) Write(what string, write func() error) error {
	e.life.Writing.Lock()
	defer e.life.Writing.Unlock()
	_, err := e.life.Try(world.Write{Verb: world.Verb(what)}, write)
	return err
}

// Backend stands between an executor and the program's backend. It makes writes go wrong,
// and checks each before it is made and what happened to it.
func (e *Env) Backend(b cronjobapply.Backend) cronjobapply.Backend { return &checked{e, b} }

// checkSnapshot compares a snapshot that says that it is Consistent with the store.
func (e *Env) checkSnapshot(s *cronjob.Snapshot) {
	if s.CronJob.UID != e.truth.cronJob.UID || !sameStatus(&s.CronJob.Status, &e.truth.cronJob.Status) {
		e.life.Breaks("Store", "the snapshot is Consistent, and shows the status %s; it is %s", s.CronJob.Status, e.truth.cronJob.Status)
	}
	if text := life.Difference(&e.truth.cronJob.Spec, &s.CronJob.Spec); text != "" {
		e.life.Breaks("Store", "the snapshot is Consistent, and shows the spec otherwise than the store: %s", text)
	}
	seen := truth{jobs: s.Children}
	for i := range e.truth.jobs {
		c := &e.truth.jobs[i]
		switch old := seen.job(c.Name); {
		case old == nil:
			e.life.Breaks("Store", "the snapshot is Consistent, and lacks %s", c.Name)
		case !sameJob(old, c):
			e.life.Breaks("Store", "the snapshot is Consistent, and shows %s; it is %s", describe(old), describe(c))
		default:
			if text := life.Difference(c, old); text != "" {
				e.life.Breaks("Store", "the snapshot is Consistent, and shows %s otherwise than the store: %s", c.Name, text)
			}
		}
	}
	for i := range s.Children {
		if e.truth.job(s.Children[i].Name) == nil {
			e.life.Breaks("Store", "the snapshot is Consistent, and shows %s, which is gone", s.Children[i].Name)
		}
	}
}

// look reads the store again, and compares it with what it held before the write w; nil
// means that nobody has written.
func (e *Env) look(w *world.Write) {
	was := e.truth
	e.read()
	by := ", and no write has gone through Env"
	if w != nil {
		by = " by " + w.String()
	} else {
		w = &world.Write{}
	}
	if w.Verb != world.WriteStatus && !sameStatus(&was.cronJob.Status, &e.truth.cronJob.Status) {
		e.life.Breaks("Store", "the status has changed%s: %s, it was %s", by, e.truth.cronJob.Status, was.cronJob.Status)
	}
	for i := range e.truth.jobs {
		c := &e.truth.jobs[i]
		old := was.job(c.Name)
		switch {
		case old == nil && (w.Verb != world.Create || w.Name != c.Name):
			e.life.Breaks("Store", "a new job%s: %s", by, describe(c))
		case old == nil:
			e.isNew(c.Name, c.UID)
			e.life.Note(e.history.Started(c.Name, c.ScheduledTime))
		case w.Name != c.Name && !sameJob(old, c), old.UID != c.UID:
			e.life.Breaks("Store", "a job has changed%s: %s, it was %s", by, describe(c), describe(old))
		}
	}
	for i := range was.jobs {
		if c := &was.jobs[i]; e.truth.job(c.Name) == nil && w.Name != c.Name && c.DeletionTimestamp.IsZero() {
			e.life.Breaks("Store", "%s is gone%s", c.Name, by)
		}
	}
}

// read takes over what the store holds.
func (e *Env) read() {
	c, err := e.subject.Store.CronJob()
	e.life.Must("read the CronJob", err)
	jobs, err := e.subject.Store.Jobs()
	e.life.Must("read the jobs", err)
	life.Sort(e.order, jobs, func(c *cronjob.Child) string { return c.Name + " " + string(c.UID) })
	e.truth = truth{cronJob: c, jobs: jobs}
	for i := range jobs {
		e.life.Names(jobs[i].Name)
	}
	e.readRequests()
	e.watch.Note()
}

// isNew notes an object that the store has made: its UID is new.
func (e *Env) isNew(name string, uid job.UID) {
	if uid == "" || e.uids[uid] {
		e.life.Breaks("Store", "the UID of %s is %q, which is empty or belongs to an earlier object: a UID must be new in the whole life", name, uid)
	}
	e.uids[uid] = true
}

func sameJob(a, b *cronjob.Child) bool {
	return a.UID == b.UID && a.Finished == b.Finished && a.Foreign == b.Foreign && a.ScheduledTime.Equal(b.ScheduledTime) &&
		a.DeletionTimestamp.IsZero() == b.DeletionTimestamp.IsZero()
}

// sameStatus compares statuses, times by the second.
func sameStatus(a, b *cronjob.Status) bool {
	same := func(a, b time.Time) bool { return a.Unix() == b.Unix() }
	return same(a.LastScheduleTime, b.LastScheduleTime) && same(a.LastSuccessfulTime, b.LastSuccessfulTime) &&
		slices.EqualFunc(a.Active, b.Active, func(a, b cronjob.Reference) bool { return a.UID == b.UID && a.Name == b.Name })
}

// describe is a job in a few words.
func describe(c *cronjob.Child) string {
	text := c.Name
	if !c.ScheduledTime.IsZero() {
		text += " of " + c.ScheduledTime.UTC().Format(time.DateTime)
	}
	switch c.Finished {
	case "":
		text += ", running"
	default:
		text += ", " + strings.ToLower(string(c.Finished))
	}
	if !c.DeletionTimestamp.IsZero() {
		text += ", being deleted"
	}
	return fmt.Sprintf("%s (%s)", text, c.UID)
}
