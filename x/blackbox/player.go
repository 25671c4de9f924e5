package blackbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// script is the part of a life that depends on the profile, for one parent.
type script interface {
	who() *family
	// begin creates the parent.
	begin() error
	// step carries out a step of the profile.
	step(Step) error
	// order says when this script plays its calm: those with a lower order come first.
	order() time.Duration
	// calm plays the end of the life, without faults, and checks that everything recovers.
	calm() error
	// removes notes that a user or the kit deletes a child. The API must be locked.
	removes(uid string)
	// saw looks at a write. The API must be locked.
	saw(write)
}

// play plays a life. The caller must not be in a synctest bubble.
func play[S Settings](t *testing.T, program *Program, life Life[S], newScript func(*family, S) script) Result {
	t.Helper()
	complete, err := program.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	p := &player{
		Program: complete,
		lag:     life.Lag,
		errors:  make(map[string]int),
		logged:  make(map[string]int),
	}
	defer p.hearHandled()()

	for i, settings := range append([]S{life.Settings}, life.Beside...) {
		p.scripts = append(p.scripts, newScript(&family{player: p, place: i}, settings))
	}
	inBubble(t, func() { err = p.play(life.Begin, life.Steps) })
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
	scripts []script // one for each parent
	api     *server
	lag     time.Duration
	story   []string

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
	logged   map[string]int // the same for messages that are no errors
	ttl      *time.Duration // how long children are kept that have ended; nil means for good
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

// hearsMessage adds a message of the program's log to the story, three times at most.
func (p *player) hearsMessage(message string, values ...any) {
	p.note(func() {
		if p.logged[message]++; p.logged[message] > 3 {
			return
		}
		for i := 1; i < len(values); i += 2 {
			message += fmt.Sprintf(", %v %v", values[i-1], values[i])
		}
		p.tell("it logs: %s", message)
	})
}

// hearsPanic adds a panic of the program to the story. It is called while the panic is being recovered.
func (p *player) hearsPanic(value any) {
	at := panicsAt()
	p.note(func() {
		text := fmt.Sprintf("it panics in %s: %v", at, value)
		if p.logged[text]++; p.logged[text] <= 3 {
			p.tell("%s", text)
		}
		p.fail(Panics, "%s", text)
	})
}

// refuse notes that the API has refused a write of the kit. The findings of such a life are wrong.
// The API must be locked.
func (p *player) refuse(what string, child Object, err error) {
	if err != nil && p.refused == nil {
		p.refused = fmt.Errorf("the API refuses the %s of %s %q: %w", what, child.Text("kind"), child.Name(), err)
	}
}

func (p *player) play(begin time.Duration, steps []Step) error {
	time.Sleep(begin)
	p.off = p.Off
	p.api = newServer(p.Resources...)
	p.api.lag = map[string]time.Duration{"": p.lag}
	p.api.wrote = p.saw
	p.events = make(chan event, 100)

	for _, o := range p.Objects {
		if err := p.api.add(o); err != nil {
			return err
		}
	}

	for _, s := range p.scripts {
		if err := s.begin(); err != nil {
			return err
		}
	}

	// The program may write as soon as it starts. So faults of the first steps are set before.
	for len(steps) > 0 && steps[0].Do == Break {
		if err := p.do(steps[0]); err != nil {
			return err
		}
		steps = steps[1:]
	}
	p.start()
	err := p.steps(steps)
	if err == nil && p.isUp() {
		p.note(func() {
			p.fault = NoFault
			clear(p.api.held)
			p.api.wake()
		})
		p.skew.Store(0)
		p.say("from here on nothing goes wrong")
		err = p.calm()
	}

	err = errors.Join(err, p.refused, p.stopAll())
	p.api.close()
	time.Sleep(time.Minute) // goroutines that the program has left behind end
	return err
}

// calm plays the calm of each parent. The fastest schedule comes first. Its parent is deleted then, so that it starts
// nothing during the days that a slow one takes. Otherwise the last parent comes first, since those before it are
// what may keep it waiting.
func (p *player) calm() error {
	scripts := slices.SortedFunc(slices.Values(p.scripts), func(a, b script) int {
		return cmp.Or(cmp.Compare(a.order(), b.order()), b.who().place-a.who().place)
	})
	for _, s := range scripts {
		if err := s.calm(); err != nil || !p.isUp() {
			return err
		}
	}
	return nil
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
			name := o.Name()
			if len(p.scripts) > 1 && o.Namespace() != "" {
				name = o.Namespace() + "/" + name
			}
			p.tell("%s %s %s", w.Verb, strings.ToLower(w.Resource.Kind), name)
			if n := len(p.changing); n == 0 || p.changing[n-1] != p.attempts {
				p.changing = append(p.changing, p.attempts)
			}
		}
	}

	if p.ttl != nil && w.New != nil && w.Resource.GroupVersionKind == p.Child {
		hadEnded := w.Old != nil && p.Ended(w.Old)
		if !hadEnded && p.Ended(w.New) {
			p.expire(w.New)
		}
	}

	if w.BySubject && w.Resource.reports {
		p.reports = append(p.reports, eventsOf(w)...)
	}
	for _, s := range p.scripts {
		s.saw(w)
	}
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

	// At the end of the step, left is the number of events of that instant. What they lead to belongs
	// to the next step: a program may crash at each start.
	for left := -1; left != 0; {
		select {
		case <-timer.C:
			synctest.Wait()
			left = len(p.events)
		case e := <-p.events:
			left = max(left-1, -1)
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
	if s.Parent < 0 || s.Parent >= len(p.scripts) {
		return fmt.Errorf("step: parent: there is no parent %d", s.Parent)
	}
	of := p.scripts[s.Parent]

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
		err = of.who().touch()
	case Expire:
		p.say("from here on, children are deleted %s after their end", s.For)
		p.note(func() {
			p.ttl = &s.For
			for _, child := range p.api.list(p.Child) {
				if p.Ended(child) {
					p.expire(child)
				}
			}
		})
	case Skew:
		p.say("the program's clock jumps: it is %s ahead", s.For)
		p.skew.Store(int64(s.For))
		p.note(func() { p.skewed = true })
	default:
		err = of.step(s)
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

// expire deletes a child that has ended, after a while. The API must be locked.
func (p *player) expire(child Object) {
	remove := func() {
		has := p.api.get(p.Child, child.Namespace(), child.Name())
		if p.api.closed || has == nil || has.UID() != child.UID() {
			return
		}
		p.tell("%s expires", child.Name())
		for _, s := range p.scripts {
			s.removes(child.UID())
		}
		r := p.api.kind(p.Child)
		k := key{r.Plural, child.Namespace(), child.Name()}
		_, _ = p.api.remove(r, k, metav1.DeleteOptions{}, "delete", false) // it is there
	}
	time.AfterFunc(*p.ttl, func() { p.note(remove) })
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
