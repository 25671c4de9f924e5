package blackbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// script is the part of a life that depends on the profile.
type script interface {
	// begin creates the parent.
	begin() error
	// step carries out a step of the profile.
	step(Step) error
	// calm plays the end of the life, without faults, and checks that everything recovers.
	calm() error
	// saw looks at a write. The API must be locked.
	saw(write)
}

// play plays a life. The caller must not be in a synctest bubble.
func play[S Settings](t *testing.T, program *Program, life Life[S], newScript func(*player, Program) script) Result {
	t.Helper()
	complete, err := program.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	p := &player{Program: complete, lag: life.Lag, errors: make(map[string]int)}

	handlers := utilruntime.ErrorHandlers
	p.hearHandled()
	defer func() { utilruntime.ErrorHandlers = handlers }()

	inBubble(t, func() { err = p.play(life.Begin, life.Steps, newScript(p, complete)) })
	if err != nil {
		t.Fatalf("%v\n%s", err, strings.Join(p.story, "\n"))
	}
	return Result{p.broken, p.story, p.writes, p.api.total, p.reports, p.changing, p.errors}
}

// inBubble runs f in a synctest bubble. Goroutines that a program leaves behind when it returns are
// not a finding, since they would end with its process. They stay blocked.
func inBubble(t *testing.T, f func()) {
	t.Helper()
	done := false
	defer func() {
		if p := recover(); p != nil && !(done && strings.Contains(fmt.Sprint(p), "blocked goroutines remain")) {
			panic(p)
		}
	}()
	synctest.Test(t, func(*testing.T) {
		f()
		done = true
	})
}

// player plays one life.
type player struct {
	Program
	verdict
	script
	api   *server
	lag   time.Duration
	story []string

	replicas []*replica // two of them during an Overlap
	events   chan event
	began    time.Time // the last start of a replica
	skew     atomic.Int64
	writes   int
	fault    Fault // the fault of the nth write from now
	nth      int
	attempts int   // writes that were tried since the start
	changing []int // the numbers of the attempts that changed something
	refused  error
	errors   map[string]int // how often the program has logged each error, by its text
	reports  []Event
	// lost has the times in which the program may not know what it did: around the end of a replica,
	// after a lost reply, and while two replicas run. overlaps has only the times with two replicas.
	// down has the past times without a replica, and ended is when the last replica ended. skewed is
	// set once the program's clock has jumped.
	lost, overlaps, down []span
	holds                []span // the times in which watches are held
	ended                time.Time
	skewed               bool
}

// event is the end of a replica: it was killed, or it has returned.
type event struct {
	of       *replica
	returned bool
	err      error
}

// tell adds a line to the story. The API must be locked.
func (p *player) tell(format string, args ...any) {
	p.story = append(p.story, time.Now().UTC().Format("2 Jan 15:04:05  ")+fmt.Sprintf(format, args...))
}

// note calls a function while the API is locked, since the program's writes change the story and
// the checks as well.
func (p *player) note(do func()) {
	p.api.mu.Lock()
	defer p.api.mu.Unlock()
	do()
}

// say adds an action of the kit to the story.
func (p *player) say(format string, args ...any) { p.note(func() { p.tell(format, args...) }) }

// hears adds an error of the program to the story, three times at most.
func (p *player) hears(err error, message string) {
	text := strings.TrimSuffix(fmt.Sprintf("%s: %v", message, err), ": <nil>")
	if errors.Is(err, errDead) || errors.Is(err, context.Canceled) {
		return
	}
	p.note(func() {
		if p.errors[text]++; p.errors[text] <= 3 {
			p.tell("it logs: %s", text)
		}
	})
}

// refuse notes that the API has refused a write of the kit. The findings of such a life are wrong.
// The API must be locked.
func (p *player) refuse(what string, child Object, err error) {
	if err != nil && p.refused == nil {
		p.refused = fmt.Errorf("the API refuses the %s of %s %q: %w", what, child.Text("kind"), child.Name(), err)
	}
}

func (p *player) play(begin time.Duration, steps []Step, s script) error {
	time.Sleep(begin)
	p.script, p.off = s, p.Off
	p.api = newServer(p.Resources...)
	p.api.lag = map[string]time.Duration{"": p.lag}
	p.api.wrote = p.saw
	p.events = make(chan event, 100)

	for _, o := range p.Objects {
		if err := p.api.add(o); err != nil {
			return err
		}
	}

	if err := s.begin(); err != nil {
		return err
	}

	p.start()
	p.note(func() { p.attempts, p.changing = 0, nil }) // faults are set by steps, and count from there
	err := p.steps(steps)
	if err == nil && p.isUp() {
		p.note(func() {
			p.fault = NoFault
			clear(p.api.held)
			p.api.wake()
		})
		p.skew.Store(0)
		p.say("from here on nothing goes wrong")
		err = s.calm()
	}

	err = errors.Join(err, p.refused, p.stopAll())
	p.api.close()
	time.Sleep(time.Minute) // goroutines that the program has left behind end
	return err
}

func (p *player) steps(steps []Step) error {
	for _, step := range steps {
		if err := p.do(step); err != nil || !p.isUp() {
			return err
		}
	}
	return nil
}

// saw notes a write. The API must be locked.
func (p *player) saw(w write) {
	if w.BySubject && !w.Resource.reports {
		p.writes++
		o := w.New
		if o == nil {
			o = w.Old
		}
		if w.Resource.Plural != "leases" {
			p.tell("%s %s %s", w.Verb, strings.ToLower(w.Resource.Kind), o.Name())
			if n := len(p.changing); n == 0 || p.changing[n-1] != p.attempts {
				p.changing = append(p.changing, p.attempts)
			}
		}
	}
	if w.BySubject && w.Resource.reports {
		p.reports = append(p.reports, eventsOf(w)...)
	}
	p.script.saw(w)
}

// now returns the time of the program's clock.
func (p *player) now() time.Time { return time.Now().Add(time.Duration(p.skew.Load())) }

// nextFault returns the fault of the next write. The API must be locked.
func (p *player) nextFault() Fault {
	p.attempts++
	if p.fault == NoFault {
		return NoFault
	}

	if p.nth--; p.nth > 0 {
		return NoFault
	}

	f := p.fault
	p.fault = NoFault
	p.tell("the next write: %s", f)
	if f == LoseReply {
		p.loses(0)
	}
	return f
}

// pass lets time pass. It restarts a crashed program after a second. A program that crashes at the
// last instant is restarted as well: the order of goroutines must not decide in which step that
// happens.
func (p *player) pass(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()

	for passed := false; !passed || len(p.events) > 0; {
		select {
		case <-timer.C:
			passed = true
			synctest.Wait()
		case e := <-p.events:
			if !slices.Contains(p.replicas, e.of) {
				continue // the kit has stopped it
			}
			if e.returned {
				return fmt.Errorf("the program has returned: %w", e.err)
			}
			if p.tooBusy() {
				p.note(func() { p.fail(Bounded, "more than %d requests in one instant", maxRequests) })
				return p.stopAll()
			}
			if err := p.stop(e.of); err != nil {
				return err
			}
			time.Sleep(time.Second)
			p.say("the program starts again")
			p.start()
		}
	}

	p.api.Collect()
	synctest.Wait()
	return nil
}

// do carries out a step.
func (p *player) do(s Step) error {
	var err error
	switch s.Do {
	case Wait:
		return p.pass(s.For)
	case Restart:
		err = p.restart(s.For, nothing)
	case Overlap:
		err = p.overlap(s.For, nothing)
	case Break:
		p.note(func() { p.fault, p.nth = s.Fault, s.Nth })
	case Hold:
		p.hold(s.Of, s.For)
	case Relist:
		p.say("all watches end")
		p.note(p.api.expire)
	case Touch:
		p.say("a user labels it")
		err = p.touch()
	case Skew:
		p.say("the program's clock jumps: it is %s ahead", s.For)
		p.skew.Store(int64(s.For))
		p.note(func() { p.skewed = true })
	default:
		err = p.script.step(s)
	}
	synctest.Wait()
	return err
}

func nothing() error { return nil }

// restart ends the program and starts it again after d. A user acts as soon as it is down.
func (p *player) restart(d time.Duration, act func() error) error {
	p.say("the program is down for %s", d)
	if err := p.stopAll(); err != nil {
		return err
	}
	if err := act(); err != nil {
		return err
	}
	if err := p.pass(d); err != nil {
		return err
	}
	p.say("the program starts again")
	p.start()
	return nil
}

// overlap starts a second replica, and ends the first one after d. It calls act, the step of a
// user, while both run.
func (p *player) overlap(d time.Duration, act func() error) error {
	p.say("a second replica runs too, for %s", d)
	p.note(func() {
		p.loses(d + startup)
		p.overlaps = append(p.overlaps, p.lost[len(p.lost)-1])
	})
	p.start()
	if err := act(); err != nil {
		return err
	}
	if err := p.pass(d); err != nil || !p.isUp() {
		return err
	}

	for len(p.replicas) > 1 { // if the first replica has crashed, it is now in the second place
		p.say("the first replica ends")
		if err := p.stop(p.replicas[0]); err != nil {
			return err
		}
	}
	return nil
}

// hold makes the watches of a kind show nothing new for d.
func (p *player) hold(of string, d time.Duration) {
	p.say("the watches of %s show nothing for %s", plural(of), d)
	p.note(func() {
		p.api.hold(of, d)
		p.holds = append(p.holds, span{time.Now(), time.Now().Add(d + p.lag)})
	})
}

// touch gives the parent another label, which means nothing to the program.
func (p *player) touch() error {
	var parent Object
	if p.note(func() { parent = p.parent() }); parent == nil {
		return nil
	}
	return p.api.Change(p.Parent, parent.Namespace(), parent.Name(), func(o Object) {
		o.Set(itoa(int(time.Now().Unix())), "metadata", "labels", "touched")
	})
}

// loses notes that the program may not know what it does from now until d has passed. The API must be locked.
func (p *player) loses(d time.Duration) { p.lost = append(p.lost, span{time.Now(), time.Now().Add(d)}) }

// meets reports whether any of the spans has an instant in [from, until].
func meets(spans []span, from, until time.Time) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return !s.from.After(until) && !s.until.Before(from) })
}

// shown returns when the watches show a change that was made at the given time.
func (p *player) shown(at time.Time) time.Time {
	at = at.Add(p.lag)
	latest := at
	for _, held := range p.api.held {
		if shown := held.delay(at); shown.After(latest) {
			latest = shown
		}
	}
	return latest
}

// hasSeen reports whether the watches have shown a change that was made at the given time. Without
// a lag they show it at the same instant.
func (p *player) hasSeen(at time.Time) bool {
	shown := p.shown(at)
	return time.Now().After(shown) || shown.Equal(at) && time.Now().Equal(at)
}

func plural(of string) string {
	if of == "" {
		return "all kinds"
	}
	return of
}

// parent returns the parent. The API must be locked.
func (p *player) parent() Object {
	if list := p.api.list(p.Parent); len(list) > 0 {
		return list[0]
	}
	return nil
}

// childrenOf returns the children of a parent. The API must be locked.
func (p *player) childrenOf(parent Object) (children []Object) {
	if parent == nil {
		return nil
	}
	for _, o := range p.api.list(p.Child) {
		if p.owned(parent, o) {
			children = append(children, o)
		}
	}
	return children
}

// children returns the children that exist.
func (p *player) children() (children []Object) {
	p.note(func() { children = p.childrenOf(p.parent()) })
	return children
}
