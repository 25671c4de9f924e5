package cronworlds

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// violation is a law that does not hold.
type violation struct {
	law, text string
}

func (v *violation) String() string { return v.law + ": " + v.text }

// world is a CronJob in its cluster, the controller that looks after it, and what the
// laws need to know of the past.
type world struct {
	*source
	cluster
	controller
	book
	now time.Time

	options    cronjob.Options
	consistent bool
	// deaf is set if the controller's own writes do not wake it.
	deaf bool
	// rereads is set if the controller reads the CronJob again when a plan names unexpected jobs.
	// goesBack is set if it plans from its cache afterwards, even where the cache is behind.
	rereads, goesBack bool
	// keeps is set if its memory survives a crash.
	keeps bool
	// holds is set if finalizers may keep deleted jobs for a while.
	holds bool
	// lag is how late the caches may be, in seconds: of the CronJob, and of the jobs.
	lag [2]int
	// faults is the percentage of reads and writes that go wrong.
	faults int
	// calm is set in the last part of a world, where nothing goes wrong any more.
	calm bool

	// Laws are checked if their names contain this text. "" selects all laws.
	only string

	matchers map[string]*matcher
	tamper   tamper
	trace    func(string)
}

// tamper plants a bug in the planner's answers.
type tamper struct {
	plan func(*cronjob.Plan)
	end  func(*cronjob.Conclusion)
}

// hotLoop is a law whose breach ends a world even if the law is not checked, since the rounds would
// never end.
const hotLoop = "CL5 hot loop"

var errStop = errors.New("the world ends")

func (w *world) fail(law, format string, args ...any) {
	if !strings.Contains(law, w.only) {
		if law == hotLoop {
			panic(errStop)
		}
		return
	}
	panic(&violation{law, fmt.Sprintf(format, args...)})
}

func (w *world) say(format string, args ...any) {
	if w.trace != nil {
		w.trace(w.now.UTC().Format("02 15:04:05.000 ") + fmt.Sprintf(format, args...))
	}
}

// play plays a world to its end, and returns the law that it broke, if any.
func play(s *source, t tamper, only string, trace func(string)) (broken *violation) {
	defer func() {
		if r := recover(); r != nil {
			v, ok := r.(*violation)
			if !ok && r != any(errStop) {
				panic(r)
			}
			broken = v
		}
	}()
	w := newWorld(s)
	w.tamper, w.only, w.trace = t, only, trace
	w.say("%s", w.describe())
	w.wake = w.now
	for range 15 + s.n(35) {
		w.act()
		w.pass()
	}
	w.end()
	return nil
}

func (w *world) matcher(spec *cronjob.Spec) *matcher {
	key := spec.Schedule
	if spec.TimeZone != nil {
		key += " " + *spec.TimeZone
	}
	m := w.matchers[key]
	if m == nil {
		m = newMatcher(spec.Schedule, spec.TimeZone, w.CreationTimestamp)
		w.matchers[key] = m
	}
	return m
}

// changedObject pushes a new state of the CronJob into its cache. changedJobs pushes the list of
// jobs into its cache.
func (w *world) changedObject(own bool) {
	w.version++
	w.changes++
	if !own {
		w.progress++
	}
	w.objects.push(w.object, w.now.Add(w.delay(0)), own)
}

func (w *world) changedJobs(own bool) {
	w.changes++
	w.progress++
	w.lists.push(w.children(), w.now.Add(w.delay(1)), own)
}

func (w *world) delay(of int) time.Duration {
	if w.lag[of] == 0 {
		return 0
	}
	return time.Duration(w.n(w.lag[of]+1)) * time.Second
}

// deliver shows what is due in the caches, and wakes the controller.
func (w *world) deliver() {
	last := w.objects.seen.Status.LastScheduleTime
	moved1, news1 := w.objects.deliver(w.now)
	moved2, news2 := w.lists.deliver(w.now)
	if news1 || moved2 || !last.Equal(w.objects.seen.Status.LastScheduleTime) {
		w.quick = 0
	}
	switch {
	case news1, news2, moved1 && !w.deaf, moved2 && !w.deaf:
		w.wake = w.now
	}
}

// until lets time pass, with all events on the way.
func (w *world) until(t time.Time) {
	for {
		w.deliver()
		next, what := w.firstEvent()
		if next.IsZero() || next.After(t) {
			w.now = value.Later(w.now, t)
			return
		}
		w.now = value.Later(w.now, next)
		what()
	}
}

// firstEvent returns the next thing that happens by itself.
func (w *world) firstEvent() (at time.Time, what func()) {
	consider := func(t time.Time, do func()) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at, what = t, do
		}
	}
	for i := range w.jobs {
		j := &w.jobs[i]
		if j.Finished == "" && j.gone.IsZero() {
			consider(j.ends, func() { w.finish(j) })
		}
		consider(j.gone, func() { w.vanish(j.Name) })
	}
	consider(w.objects.first(), func() {})
	consider(w.lists.first(), func() {})
	if !w.down {
		consider(w.wake, w.round)
	}
	return at, what
}

func (w *world) finish(j *aJob) {
	j.Finished, j.FinishTime = j.how, w.now
	if j.how == job.ConditionComplete {
		j.CompletionTime = w.now
	}
	w.say("%s: %s", j.Name, j.how)
	w.changedJobs(false)
}

func (w *world) vanish(name string) {
	w.say("%s is gone", name)
	w.remove(name)
	w.changedJobs(false)
}
