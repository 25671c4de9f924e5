package blackbox

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// create is the action of a user who creates the parent. Each life of an Operator has it once.
const create Action = "create"

// operatorScript plays the life of an Operator's parent. The objects that remain are compared afterwards.
type operatorScript struct {
	*family
	operator *Operator
	settings OperatorSettings
	born     int
	absent   bool // nobody creates this parent

	remains          // only for the first parent; the objects are those of all parents
	created   Object // the parent, nil if the API has refused it
	startedAt int    // how many writes were tried before the parent was created
	creations map[string]int
}

// remains has the objects of three moments: before the parent was created, when all is calm, and
// after the parent was deleted.
type remains struct {
	before, calm, gone []Object
	free               *freedom
	edited             *OperatorSettings // the last edit that the API accepted
	// isRefused is true if the program has written nothing: it refuses the parent. After an edit to
	// such a parent, it may leave everything as it was.
	isRefused bool
}

// recovers is the time that the program has after a fault before a user acts again. calmFor is the
// time before the objects are compared.
const (
	recovers = 2 * time.Minute
	calmFor  = 10 * time.Minute
)

func (o *operatorScript) begin() error {
	if o.place > 0 {
		return nil
	}
	o.api.born = o.born
	kinds := maps.Clone(childKinds)
	for _, r := range builtins {
		if r.Group == "apps" {
			kinds[r.GroupVersionKind] = workload
		}
	}
	delete(kinds, o.Parent)
	go o.runChildren(kinds)
	return nil
}

func (o *operatorScript) removes(string) {}

// order is the same for all: only the first parent plays a calm.
func (o *operatorScript) order() time.Duration { return 0 }

func (o *operatorScript) step(s Step) error {
	if s.Do == create {
		return o.create()
	}
	isOfAll := s.Do == Succeed || s.Do == Fail
	if o.created == nil && !isOfAll {
		return nil
	}
	if err := o.pass(recovers + 2*o.lag); err != nil || !o.isUp() {
		return err
	}

	act := func() error { return o.act(s) }
	if s.Do == Edit && s.Amid != "" { // three edits in an instant, of which the program may see only the last
		act = func() error { return errors.Join(o.act(s), o.edit(o.settings.Set), o.act(s)) }
	}
	switch s.Amid {
	case Restart:
		return o.restart(s.For, act)
	case Overlap:
		return o.overlap(s.For, act)
	case Hold:
		o.hold("", s.For)
	case "":
	default:
		return fmt.Errorf("step: amid: unknown action %q", s.Amid)
	}
	return act()
}

// act carries out an action of a user, or ends children.
func (o *operatorScript) act(s Step) error {
	switch s.Do {
	case Succeed, Fail:
		o.endAll(s.Do == Succeed)
		return nil
	case Edit:
		return o.edit(s.Set)
	case Remove:
		o.removeChild(s.Nth)
		return nil
	case Delete:
		o.delete()
		return nil
	}
	return fmt.Errorf("step: do: unknown action %q", s.Do)
}

// create creates the parent. If the API refuses it, the other steps do nothing.
func (o *operatorScript) create() error {
	parent, err := o.operator.parent(o.settings)
	if err != nil {
		return err
	}
	if parent, err = o.named(parent); err != nil {
		return err
	}
	o.note(func() {
		if o.place == 0 {
			o.before, o.startedAt = o.all(), o.attempts
		}
		if o.absent {
			return
		}
		o.tell("a user creates %s", strings.TrimSpace(o.Parent.Kind+" "+o.title()+o.settings.String()))
	})
	if o.absent {
		return nil
	}

	created, err := o.api.Create(o.Parent, parent)
	if err != nil && o.settings.Set == "" {
		return fmt.Errorf("parents: %d: %w", o.settings.Example, err)
	}
	if err == nil {
		o.created = created
	}
	return nil
}

// edit gives the parent other fields. An edit that the API refuses changes nothing.
func (o *operatorScript) edit(set string) error {
	next := o.settings
	next.Set = set
	parent, err := o.operator.parent(next)
	if err != nil {
		return err
	}

	o.say("a user edits %s: %s", o.it(), next)
	err = o.change(func(old Object) {
		for field := range old {
			if !slices.Contains(append(ofEveryObject, "status"), field) {
				delete(old, field)
			}
		}
		for field, v := range specOf(parent) {
			old[field] = v
		}
		for _, field := range []string{"labels", "annotations"} {
			o.editMap(old, parent, field)
		}
	})
	if err != nil {
		o.say("the API refuses that: %v", err)
		return nil
	}
	o.edited = &next
	return nil
}

// editMap sets the labels or annotations of a new form of the parent, and removes those that its form before had. It
// leaves those that the operator has set.
func (o *operatorScript) editMap(old, next Object, field string) {
	was := o.settings
	if o.edited != nil {
		was = *o.edited
	}
	before, err := o.operator.parent(was)
	if err != nil {
		return // it was read before
	}
	had, _ := before.Get("metadata", field).(map[string]any)
	for name := range had {
		old.Unset("metadata", field, name)
	}
	has, _ := next.Get("metadata", field).(map[string]any)
	for name, v := range has {
		old.Set(v, "metadata", field, name)
	}
}

// endAll ends all running Jobs and pods.
func (o *operatorScript) endAll(succeeded bool) {
	for _, r := range o.Resources {
		kind, known := childKinds[r.GroupVersionKind]
		if !known || r.GroupVersionKind == o.Parent {
			continue
		}
		for _, child := range o.api.List(r.GroupVersionKind) {
			if kind.Runs(child) && !child.isDeleted() {
				o.say("%s ends, succeeded %v", child.Name(), succeeded)
				end := func(o Object) { kind.End(o, succeeded) }
				err := o.api.Change(r.GroupVersionKind, child.Namespace(), child.Name(), end)
				o.note(func() { o.refuse("end", child, err) })
			}
		}
	}
}

// removeChild deletes the nth of the objects that were created after the parent.
func (o *operatorScript) removeChild(nth int) {
	var made []Object
	o.note(func() { made = missing(o.before, o.all()) })
	made = slices.DeleteFunc(made, func(child Object) bool {
		kind, known := childKinds[child.kind()]
		hasEnded := known && !kind.Runs(child) // its work need not be repeated
		isOne := func(s *operatorScript) bool { return child.UID() == s.created.UID() }
		return hasEnded || slices.ContainsFunc(o.siblings(), isOne)
	})
	if len(made) > 0 {
		child := made[nth%len(made)]
		o.say("a user deletes %s %s", child.Text("kind"), child.Name())
		o.api.Delete(child.kind(), child.Namespace(), child.Name())
	}
}

// calm waits, notes the objects that remain, and deletes the parents.
func (o *operatorScript) calm() error {
	isCreated := func(s *operatorScript) bool { return s.created != nil }
	if o.place > 0 || !slices.ContainsFunc(o.siblings(), isCreated) {
		return nil
	}
	if err := o.rest(); err != nil || !o.isUp() {
		return err
	}

	var calm []Object
	before := 0
	o.note(func() {
		calm, before = o.all(), o.writes
		clear(o.creations)
	})

	if err := o.rest(); err != nil || !o.isUp() {
		return err
	}
	o.note(func() {
		if n := o.writes - before; n > 100*len(o.scripts) {
			o.fail(Bounded, "%d writes in %s, while nothing happens", n, calmFor)
		}
		for _, name := range slices.Sorted(maps.Keys(o.creations)) {
			if n := o.creations[name]; n > 5 {
				o.fail(Bounded, "%s is created %d times in %s, while nothing happens", name, n, calmFor)
			}
		}
	})

	for _, s := range o.siblings() {
		if s.created != nil {
			s.delete()
		}
	}
	if err := o.rest(); err != nil || !o.isUp() {
		return err
	}
	o.note(func() { o.remains.calm, o.gone = calm, o.all() })
	return nil
}

// rest lets the time calmFor pass in ten parts. The garbage collector works after each part. What
// it deletes may still exist for a while, because of finalizers and grace periods.
func (o *operatorScript) rest() error {
	for range 10 {
		if err := o.pass(calmFor/10 + o.lag); err != nil || !o.isUp() {
			return err
		}
	}
	return nil
}

// siblings returns the scripts of all parents.
func (o *operatorScript) siblings() (scripts []*operatorScript) {
	for _, s := range o.scripts {
		scripts = append(scripts, s.(*operatorScript))
	}
	return scripts
}

// saw counts, for each name, how often the program creates an object of that name.
func (o *operatorScript) saw(w write) {
	isCreated := w.BySubject && w.Old == nil && !w.Resource.reports
	if o.place == 0 && isCreated {
		if o.creations == nil {
			o.creations = make(map[string]int)
		}
		o.creations[nameOf(w.New)]++
	}
}

// all returns all objects except events and leases, and never nil. The API must be locked.
func (o *operatorScript) all() []Object {
	all := []Object{}
	for _, k := range o.api.keys() {
		object := o.api.objects[k].object
		if r := o.api.resourceOf(object); !r.reports && r.Plural != "leases" {
			all = append(all, object)
		}
	}
	return all
}

// missing returns the objects of b that are not in a.
func missing(a, b []Object) (more []Object) {
	for _, o := range b {
		if !slices.ContainsFunc(a, func(other Object) bool { return other.UID() == o.UID() }) {
			more = append(more, o)
		}
	}
	return more
}
