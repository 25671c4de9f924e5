package blackbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch"
)

// The checks of an operator. In a finding the name of the kind that differs follows, such as RemainsService; Off takes
// the names with and without a kind.
const (
	// Remains: when all is calm, what there is differs in nothing from what there is after the same life without
	// faults.
	Remains Check = "Remains"
	// Edited: what there is after edits is what there is for a parent that was created so.
	Edited Check = "Edited"
	// Heals: what a user has deleted is there again.
	Heals Check = "Heals"
)

// Operator is a program of any kind. No check knows what it does: the kit compares what remains of a life with what
// remains of the same life without faults. Both are without names that differ anyway, times and counters of versions.
//
// The API serves the built-in kinds that operators use. Jobs and pods begin, Deployments, StatefulSets, ReplicaSets
// and DaemonSets become ready. Resources are the kinds of the CRDs; of the kinds only Parent is used.
type Operator struct {
	Program
	// Parents are examples of the parent: objects, or YAML as string or []byte. The kit varies their fields by the
	// schema of the CRD ([FromCRD]).
	Parents []any
	// MayDiffer are fields whose difference is no finding, each with a reason. They are the kind and the path, such as
	// "Deployment status.restarts", of all that begins so.
	MayDiffer map[string]string

	known map[string]remains // of lives without faults
}

// OperatorSettings are what a parent is made of.
type OperatorSettings struct {
	// Example is the index in Operator.Parents.
	Example int
	// Set is a JSON merge patch of it; empty changes nothing.
	Set string
}

// OperatorLife is a life of an Operator's parent.
type OperatorLife = Life[OperatorSettings]

// String describes the settings.
func (s OperatorSettings) String() string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", s.Example, s.Set))
}

func (s OperatorSettings) source() string {
	return fmt.Sprintf("blackbox.OperatorSettings{Example: %d, Set: %q}", s.Example, s.Set)
}

// Test plays lives, and fails with a report for each check that does not hold.
func (o *Operator) Test(t *testing.T, s Search) {
	t.Helper()
	for _, f := range o.Find(t, s) {
		t.Errorf("%s", f)
	}
}

// Find plays lives, and returns what was found, the most frequent first.
func (o *Operator) Find(t *testing.T, s Search) []Finding[OperatorSettings] {
	t.Helper()
	return find(t, profile[OperatorSettings](o), s)
}

// Play plays a life, and those without faults that it is compared with. It is called outside of a bubble.
func (o *Operator) Play(t *testing.T, life OperatorLife) Result {
	t.Helper()
	result, got := o.play(t, life, 0)
	if got.calm == nil {
		return result
	}

	v := verdict{off: o.Off}
	faultless := withoutFaults(life)
	switch {
	case faultless.source() != life.source():
		if want := o.reference(t, faultless); want.calm != nil {
			v.compare(Remains, want.calm, got.calm, want.free)
			v.compare(Remains, want.gone, got.gone, want.free)
		}
	case has(life.Steps, Remove):
		if want := o.reference(t, without(life, Remove)); want.calm != nil {
			v.compare(Heals, want.calm, got.calm, want.free)
		}
	default:
		free := o.reference(t, life).free
		v.compare(Left, got.before, got.gone, free)
		if got.edited != nil && !has(life.Steps, Succeed, Fail, Delete) {
			want := o.reference(t, OperatorLife{Settings: *got.edited, Begin: life.Begin})
			if want.calm != nil { // the API admits it
				v.compare(Edited, want.calm, got.calm, want.free)
			}
		}
	}
	result.Violations = append(result.Violations, v.broken...)
	return result
}

// play plays a life alone. The first object gets a UID after that many others.
func (o *Operator) play(t *testing.T, life OperatorLife, born int) (Result, remains) {
	t.Helper()
	program := o.Program
	program.Resources = slices.Clone(o.Resources)
	for _, r := range builtins {
		isOther := func(own Resource) bool { return own.GroupVersionKind == r.GroupVersionKind }
		if !slices.ContainsFunc(o.Resources, isOther) {
			program.Resources = append(program.Resources, r)
		}
	}
	played := &operatorScript{operator: o, settings: life.Settings, born: born}

	// Faults of the first writes come before the parent, and after the start.
	first := slices.IndexFunc(life.Steps, func(s Step) bool { return s.Do != Break })
	if first < 0 {
		first = len(life.Steps)
	}
	life.Steps = slices.Concat(
		[]Step{{Do: Wait, For: time.Minute}},
		life.Steps[:first],
		[]Step{{Do: create}},
		life.Steps[first:],
	)

	result := play(t, &program, life, func(p *player, _ Program) script {
		played.player = p
		return played
	})
	result.attempts -= played.startedAt
	return result, played.remains
}

// reference returns what remains of a life without faults. It is played twice, at another time and with other UIDs:
// what differs by itself is free.
func (o *Operator) reference(t *testing.T, life OperatorLife) remains {
	key := life.source()
	if known, is := o.known[key]; is {
		return known
	}

	_, r := o.play(t, life, 0)
	again := life
	again.Begin += 5*time.Hour + 7*time.Minute + 13*time.Second
	_, second := o.play(t, again, 1000)

	r.free = &freedom{
		names:     make(map[string]bool),
		numbers:   make(map[string]bool),
		paths:     make(map[string]bool),
		mayDiffer: slices.Collect(maps.Keys(o.MayDiffer)),
	}
	r.free.learn(r.calm, second.calm)
	r.free.learn(r.gone, second.gone)
	if o.known == nil {
		o.known = make(map[string]remains)
	}
	o.known[key] = r
	return r
}

// withoutFaults returns the life in which nothing goes wrong, and that takes as long.
func withoutFaults(life OperatorLife) OperatorLife {
	life = without(life, Break, Hold, Relist, Skew)
	life.Lag = 0
	for i, s := range life.Steps {
		if s.Do == Restart || s.Do == Overlap {
			life.Steps[i] = Step{Do: Wait, For: s.For}
		}
	}
	return life
}

func without(life OperatorLife, actions ...Action) OperatorLife {
	isOut := func(s Step) bool { return slices.Contains(actions, s.Do) }
	life.Steps = slices.DeleteFunc(slices.Clone(life.Steps), isOut)
	return life
}

func has(steps []Step, actions ...Action) bool {
	return slices.ContainsFunc(steps, func(s Step) bool { return slices.Contains(actions, s.Do) })
}

// parent returns the parent with settings.
func (o *Operator) parent(s OperatorSettings) (Object, error) {
	parent, err := nameParent(o.Parents[s.Example])
	if err != nil || s.Set == "" {
		return parent, err
	}
	data, err := json.Marshal(parent)
	if err != nil {
		return nil, err
	}
	if data, err = jsonpatch.MergePatch(data, []byte(s.Set)); err != nil {
		return nil, fmt.Errorf("set: %w", err)
	}
	return decodeObject(data)
}

// variations returns merge patches of an example, each for one field.
func (o *Operator) variations(example int) []string {
	parent, err := o.parent(OperatorSettings{Example: example})
	if err != nil {
		return nil // its first life says so
	}
	for _, r := range o.Resources {
		if r.GroupVersionKind == o.Parent && r.structure != nil {
			spec := r.structure.schema.Properties["spec"]
			return variations(&spec, parent["spec"])
		}
	}
	return nil
}

func (o *Operator) random(r draw) OperatorSettings {
	return OperatorSettings{Example: r.IntN(len(o.Parents))}
}

// edit changes one field or two.
func (o *Operator) edit(r draw) Step {
	all := o.variations(r.IntN(len(o.Parents)))
	if len(all) == 0 || r.IntN(4) == 0 {
		return Step{Do: Edit} // the way back
	}
	set := pick(r, all)
	if r.IntN(3) == 0 {
		if both, err := jsonpatch.MergeMergePatches([]byte(set), []byte(pick(r, all))); err == nil {
			set = string(both)
		}
	}
	return Step{Do: Edit, Set: set}
}

// plain are a life of each example, from its creation to its deletion, and one in which each field is edited.
func (o *Operator) plain() (lives []OperatorLife) {
	wait := Step{Do: Wait, For: 2 * time.Minute}
	for i := range o.Parents {
		lives = append(lives, OperatorLife{
			Settings: OperatorSettings{Example: i},
			Steps:    []Step{wait, {Do: Succeed}, wait, {Do: Delete}, wait},
		})
	}
	for i := range o.Parents {
		for _, set := range o.variations(i) {
			lives = append(lives, OperatorLife{
				Settings: OperatorSettings{Example: i},
				Steps:    []Step{wait, {Do: Edit, Set: set}, wait},
			})
		}
	}
	return lives
}

// adapt makes no step longer than it has to be: what remains is looked at later.
func (o *Operator) adapt(r draw, s Step) (Step, bool) {
	s.For = min(s.For, 6*time.Minute)
	switch s.Do {
	case Remove:
		s.Nth = r.IntN(6)
	case Hold:
		s.Of = pick(r, []string{s.Of, "pods", "jobs", "deployments", "services"})
	}
	return s, s.Do != Suspend && s.Do != Resume && s.Do != Touch
}

func (o *Operator) program() *Program { return &o.Program }

func (o *Operator) plainer() []func(*OperatorSettings) {
	return []func(*OperatorSettings){
		func(s *OperatorSettings) { s.Set = "" },
		func(s *OperatorSettings) { s.Example = 0 },
	}
}
