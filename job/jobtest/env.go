package jobtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobcheck"
	"github.com/batchplan/batchplan/world"
)

// Env is the environment of one life. A program reads its clock, sends its writes through
// it, and shows it each plan. Its methods may be called concurrently, but writes that run at
// once come in another order each time, and then a seed repeats nothing: plan with one
// worker, and let executors have Parallel 1.
type Env struct {
	writing sync.Mutex // held during a write
	t       *rapid.T

	clock   sync.Mutex // guards now and lines: stores may ask for the time during a write
	now     time.Time
	lines   []string
	options job.Options
	subject Subject
	program Program
	again   time.Time // when the program wants to be called

	injector  world.Injector
	quiet     bool // nothing goes wrong
	trouble   trouble
	truth     truth
	history   jobcheck.History
	told      string // the last plan
	planned   map[job.UID]bool
	edited    bool   // the job has changed since the program looked
	changed   bool   // a job or a pod has changed during the round
	meanwhile string // begins what happens in the middle of a round
	writes    int    // of pods and statuses
	broken    []jobcheck.Violation
}

// truth is what the store held when the test looked last.
type truth struct {
	job  job.Job
	pods []*job.Pod
}

func (t *truth) pod(uid job.UID) *job.Pod {
	for _, p := range t.pods {
		if p.UID == uid {
			return p
		}
	}
	return nil
}

// Now is the time in this life.
func (e *Env) Now() time.Time {
	e.clock.Lock()
	defer e.clock.Unlock()
	return e.now
}

// setNow moves the clock.
func (e *Env) setNow(now time.Time) {
	e.clock.Lock()
	defer e.clock.Unlock()
	e.now = now
}

// Options are the options to plan with. Some lives have small limits, so that one round
// cannot do all that has to be done. A program that has options of its own may ignore
// them.
func (e *Env) Options() job.Options { return e.options }

// Planned shows the test what the program has planned, before anything is written. The
// plan and its snapshot are checked, and told in the story.
func (e *Env) Planned(s *job.Snapshot, p *job.Plan) {
	e.writing.Lock()
	defer e.writing.Unlock()
	e.options, e.edited = s.Options, false
	if text := p.String(); text == e.told {
		e.tell("plan: as before")
	} else {
		e.told = text
		e.tell("plan:\n%s", indent(text, "    "))
	}
	for _, v := range jobcheck.Plan(s, p) {
		e.breaks(v.Rule, "%s", v.Problem)
	}
	e.checkSnapshot(s)
	e.checkWaits(s, p)
}

// Write makes a write of the program other than those of a backend, such as storing its
// memory. It can fail, lose its reply, or be the one before which the program ends.
func (e *Env) Write(what string, write func() error) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	_, err := e.try(world.Write{Verb: world.Verb(what)}, write)
	return err
}

// Backend stands between an executor and the program's backend. It makes writes go wrong,
// and checks each before it is made and what has become of it.
func (e *Env) Backend(b jobapply.Backend) jobapply.Backend { return &checked{e, b} }

// Logf adds a line to the story.
func (e *Env) Logf(format string, args ...any) { e.tell(format, args...) }

// try makes one write under the faults, and tells what became of it.
func (e *Env) try(w world.Write, write func() error) (lost bool, err error) {
	fault := world.None
	e.injector.Fault = func(world.Write) world.Fault {
		fault = e.trouble.next()
		return fault
	}
	lost, err = e.injector.Try(w, write)
	switch {
	case lost:
		e.tell("%s: done, and the reply is lost", w)
	case fault == world.Crash:
		e.tell("the program is killed before: %s", w)
	case fault == world.Fail:
		e.tell("%s: fails", w)
	case err == world.ErrInjected: // after the end of the program
	case err != nil:
		e.tell("%s: %v", w, err)
	case w.Name != "" || w.Verb == world.WriteStatus: // a memory that is stored is no news
		e.tell("%s: done", w)
	}
	return lost, err
}

// trouble is what goes wrong in one round. It is drawn before the round, as a whole: so a
// life that has failed can be made smaller piece by piece.
type trouble struct {
	fault   world.Fault
	faultAt int // the number of the write
	happens int // the number of the write before which something happens; -1 for none
	picks   []int
	writes  int // so far
}

func (e *Env) drawTrouble() (t trouble) {
	t.happens = -1
	if e.quiet {
		return t
	}
	if rapid.IntRange(0, 2).Draw(e.t, "faulty") == 2 {
		t.fault = rapid.SampledFrom([]world.Fault{world.Fail, world.LoseReply, world.Crash}).Draw(e.t, "fault")
		t.faultAt = rapid.IntRange(0, 6).Draw(e.t, "at write")
	}
	if rapid.IntRange(0, 4).Draw(e.t, "meanwhile") == 4 {
		t.happens = rapid.IntRange(0, 5).Draw(e.t, "before write")
		t.picks = rapid.SliceOfN(rapid.IntRange(0, 29), 4, 4).Draw(e.t, "what happens")
	}
	return t
}

// next returns the fault of the next write.
func (t *trouble) next() world.Fault {
	t.writes++
	if t.writes-1 == t.faultAt {
		return t.fault
	}
	return world.None
}

// tell adds a line to the story.
func (e *Env) tell(format string, args ...any) {
	e.clock.Lock()
	defer e.clock.Unlock()
	e.lines = append(e.lines, e.now.Format("15:04:05")+"  "+fmt.Sprintf(format, args...))
}

// breaks notes a violation.
func (e *Env) breaks(rule, format string, args ...any) {
	v := jobcheck.Violation{Rule: rule, Problem: fmt.Sprintf(format, args...)}
	e.broken = append(e.broken, v)
	e.tell("%s", v.Error())
}

// stop ends the life if something is broken.
func (e *Env) stop() {
	if len(e.broken) > 0 {
		e.t.Fatalf("%v", e.broken[0])
	}
}

// must notes that the store refuses what the test has to do.
func (e *Env) must(what string, err error) {
	if err != nil {
		e.breaks("Store", "%s: %v", what, err)
	}
}

// story is what happened, from the beginning.
func (e *Env) story() string { return strings.Join(e.lines, "\n") }

func indent(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+by)
}

// sameText reports whether two values have the same JSON.
func sameText(a, b any) bool {
	x, err := json.Marshal(a)
	if err != nil {
		return false
	}
	y, err := json.Marshal(b)
	return err == nil && string(x) == string(y)
}
