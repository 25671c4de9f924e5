package cronjob_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// failer is what a world needs of a test.
type failer interface {
	Fatalf(format string, args ...any)
}

// world is an API server with one CronJob, and a controller that may see it late.
// Every write is checked against the invariants.
type world struct {
	now  time.Time
	cj   cronjob.CronJob
	jobs map[string]cronjob.Child

	// seen is what the controller sees; children come late where stale is set, and
	// where late is, the CronJob, too (lag_test.go).
	seen  []cronjob.Child
	stale bool
	late  *lag

	compiled cronjob.Compiled
	options  cronjob.Options
	memory   cronjob.Memory
	requeue  time.Time
	retry    bool

	created map[time.Time]int // by run, over the whole life (CI1)
	uids    int
	// manual counts the runs that no schedule asked for.
	manual   map[string]int
	triggers []cronjob.Trigger
	// backfills is what a store holds: it survives crashes.
	backfills []cronjob.Backfill
}

func newWorld(c cronjob.CronJob, options cronjob.Options) *world {
	return &world{
		now: start, cj: c, jobs: map[string]cronjob.Child{}, compiled: cronjob.Compile(&c), options: options,
		created: map[time.Time]int{}, manual: map[string]int{},
	}
}

// deliver brings the controller's view up to date.
func (w *world) deliver() {
	w.seen = slices.SortedFunc(maps.Values(w.jobs), func(a, b cronjob.Child) int { return cmp.Compare(a.Name, b.Name) })
}

func (w *world) snapshot() cronjob.Snapshot {
	if !w.stale {
		w.deliver()
	}
	seen := w.cj
	if w.late != nil {
		seen, w.seen = w.late.look(w)
	}
	return cronjob.Snapshot{
		CronJob: seen, Children: slices.Clone(w.seen), Now: w.now, Schedule: w.compiled, Memory: w.memory, Options: w.options,
		Triggers: slices.Clone(w.triggers), Backfills: slices.Clone(w.backfills),
	}
}

// fault is what becomes of one write.
type fault uint8

const (
	works fault = iota
	fails
	loosesReply
	crashes
)

// carryOut executes a plan. It returns false after a crash: then the memory is lost.
func (w *world) carryOut(t failer, plan *cronjob.Plan, draw func() fault) bool {
	var o cronjob.Outcome
	for _, r := range plan.Verify {
		result := cronjob.Gone
		if c, ok := w.jobs[r.Name]; ok && (c.UID == r.UID || r.UID == "" && c.Owner == cronjob.Owned) {
			result = cronjob.Done
		}
		o.Verified = append(o.Verified, result)
	}
	for _, d := range plan.Delete {
		f := draw()
		if f == crashes {
			return false
		}
		o.Deleted = append(o.Deleted, w.delete(d, f))
	}
	if plan.MayCreate(o.Writes) {
		for i := range plan.Create {
			f := draw()
			if f == crashes {
				return false
			}
			o.Created = append(o.Created, w.create(t, &plan.Create[i], f))
		}
	}
	settlement := plan.Settle(o.Writes)
	if settlement.Write {
		f := draw()
		if f == crashes {
			return false
		}
		if w.late != nil && !w.late.isCurrent(w) {
			f = fails // the write is on condition of the version that was read
		}
		if f != fails {
			w.writeStatus(t, settlement.Status)
		}
		o.Settled = map[bool]cronjob.Result{true: cronjob.Done, false: cronjob.Unsuccessful}[f == works]
	}
	if len(w.backfills) > 0 && draw() == crashes {
		return false
	}
	end := settlement.Conclude(o.Settled)
	w.store(end.Backfills)
	w.memory, w.requeue, w.retry = end.Memory, end.Requeue.At, end.Retry
	w.triggers = slices.DeleteFunc(w.triggers, func(t cronjob.Trigger) bool { return slices.Contains(end.Triggered, t.ID) })
	return true
}

// store keeps the progress of backfills, and drops those that are complete.
func (w *world) store(progress []cronjob.Backfill) {
	for _, b := range progress {
		w.backfills[slices.IndexFunc(w.backfills, func(old cronjob.Backfill) bool { return old.ID == b.ID })] = b
	}
	w.backfills = slices.DeleteFunc(w.backfills, func(b cronjob.Backfill) bool { return b.IsComplete() })
}

// ask adds a backfill of n runs. It leaves out the runs whose jobs are gone, of
// which a planner cannot know.
func (w *world) ask(b cronjob.Backfill, n int) {
	runs := w.compiled.Schedule.NextN(b.After, n)
	if len(runs) == 0 {
		return
	}
	w.uids++
	b.ID, b.Until = fmt.Sprint(w.uids), runs[len(runs)-1]
	for run := range w.created {
		if _, ok := w.jobs[cronjob.JobName("report", run)]; !ok {
			b.Except = append(b.Except, run)
		}
	}
	w.backfills = append(w.backfills, b)
}

// awaits reports whether a run lies in what is left of a backfill.
func (w *world) awaits(run time.Time) bool {
	return slices.ContainsFunc(w.backfills, func(b cronjob.Backfill) bool {
		return run.After(b.After) && !run.After(b.Until) && !slices.ContainsFunc(b.Except, run.Equal)
	})
}

func (w *world) delete(d cronjob.Deletion, f fault) cronjob.Effect {
	c, ok := w.jobs[d.Name]
	if !ok || c.UID != d.UID {
		return cronjob.Effect{Result: cronjob.Gone}
	}
	switch {
	case f == fails:
	case w.late != nil && d.Foreground:
		c.DeletionTimestamp = w.now // the job stays until its pods are gone
		w.jobs[d.Name] = c
	default:
		delete(w.jobs, d.Name)
	}
	w.commit()
	if f != works {
		return cronjob.Effect{Result: cronjob.Unsuccessful}
	}
	return cronjob.Effect{Result: cronjob.Done}
}

func (w *world) create(t failer, c *cronjob.Creation, f fault) cronjob.Effect {
	if old, ok := w.jobs[c.Name]; ok {
		if old.Owner != cronjob.Owned {
			return cronjob.Effect{Result: cronjob.NameTaken}
		}
		return cronjob.Effect{Result: cronjob.AlreadyExists, Job: ref(old)}
	}
	if f == fails {
		return cronjob.Effect{Result: cronjob.Unsuccessful}
	}
	w.uids++
	made := cronjob.Child{
		Name: c.Name, UID: fmt.Sprintf("uid-%d", w.uids), CreationTimestamp: w.now, StartTime: w.now, ScheduledTime: c.ScheduledTime,
		Backfilled: c.Backfill != "",
	}
	if w.late != nil {
		w.late.checkOverlap(w, c)
	}
	w.jobs[c.Name] = made
	w.commit()
	w.count(t, c)
	if f == loosesReply {
		return cronjob.Effect{Result: cronjob.Unsuccessful}
	}
	return cronjob.Effect{Result: cronjob.Done, Job: ref(made), CreationTimestamp: w.now}
}

func (w *world) count(t failer, c *cronjob.Creation) {
	if c.ScheduledTime.IsZero() {
		if w.manual[c.Name]++; w.manual[c.Name] > 1 {
			t.Fatalf("CI1: %s was started %d times", c.Name, w.manual[c.Name])
		}
		return
	}
	run := c.ScheduledTime.UTC()
	if w.created[run]++; w.created[run] > 1 {
		t.Fatalf("CI1: the run of %s was started %d times", run, w.created[run])
	}
}

func (w *world) writeStatus(t failer, s cronjob.Status) {
	before := &w.cj.Status
	if s.LastScheduleTime.Before(before.LastScheduleTime) {
		t.Fatalf("CI4: lastScheduleTime goes back from %s to %s", before.LastScheduleTime, s.LastScheduleTime)
	}
	if s.LastSuccessfulTime.Before(before.LastSuccessfulTime) {
		t.Fatalf("CI12: lastSuccessfulTime goes back from %s to %s", before.LastSuccessfulTime, s.LastSuccessfulTime)
	}
	if run := s.LastScheduleTime.UTC(); !run.Equal(before.LastScheduleTime) && w.created[run] == 0 {
		t.Fatalf("CI4: lastScheduleTime %s, and no such job was created", run)
	}
	s.Active = slices.Clone(s.Active)
	w.cj.Status = s
	w.commit()
}

// finish ends a running job.
func (w *world) finish(name string, how job.ConditionType) {
	c := w.jobs[name]
	w.jobs[name] = finished(c, how, w.now)
}

// running are the names of the jobs that have not ended.
func (w *world) running() []string {
	var names []string
	for _, c := range w.jobs {
		if c.Finished == "" {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return names
}
