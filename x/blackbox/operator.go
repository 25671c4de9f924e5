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

// The checks of an operator. In a finding, the kind that differs is added to the name of the check,
// as in RemainsService. Off accepts names with and without a kind.
const (
	// Remains: once all is calm, the objects are the same as after the same life without faults.
	Remains Check = "Remains"
	// Edited: the objects after an edit are the same as those of a parent that was created in its edited form.
	Edited Check = "Edited"
	// Heals: objects that a user has deleted exist again.
	Heals Check = "Heals"
	// Apart: the objects of several parents are those of each parent alone, taken together.
	Apart Check = "Apart"
)

// Operator is a program of any kind. No check knows what it does: the kit compares the objects
// after a life with those after the same life without faults. It leaves out times, counters of
// versions, and names that differ even without faults.
//
// The API serves the built-in kinds that operators use. Jobs and pods begin to run; Deployments,
// StatefulSets, ReplicaSets and DaemonSets become ready. Resources are the kinds of the CRDs. The
// field Child is not used.
type Operator struct {
	Program
	// Parents are examples of the parent: objects, or YAML as string or []byte. The kit varies their fields by the
	// schema of the CRD (FromCRD).
	Parents []any
	// MayDiffer has the fields that faults may change, each with a reason: their values are not
	// compared with those of the same life without faults. A key is a kind and a prefix of a path,
	// such as "Deployment status.restarts".
	MayDiffer map[string]string
	Known     []Known[OperatorSettings]

	seen   map[string]remains // what remains of lives without faults, by their source
	warned map[string]bool    // the errors that were reported as warnings
}

// OperatorSettings are the settings of a parent.
type OperatorSettings struct {
	// Example is the index in Operator.Parents.
	Example int
	// Set is a JSON merge patch of the example; empty changes nothing.
	Set string
}

// OperatorLife is a life of an Operator's parent.
type OperatorLife = Life[OperatorSettings]

// String describes the settings.
func (s OperatorSettings) String() string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", s.Example, s.Set))
}

// Test plays the lives of Known and those of a search, and fails with a report for each other check that does not hold.
func (o *Operator) Test(t *testing.T, s Search) {
	t.Helper()
	test(t, profile[OperatorSettings](o), s)
}

// Find plays lives, and returns the findings that are not Known, the most frequent first.
func (o *Operator) Find(t *testing.T, s Search) []Finding[OperatorSettings] {
	t.Helper()
	return find(t, profile[OperatorSettings](o), s)
}

// Play plays a life, and the lives without faults that it is compared with. The caller must not be
// in a synctest bubble.
func (o *Operator) Play(t *testing.T, life OperatorLife) Result {
	t.Helper()
	result, got := o.play(t, life, 0, everyone)
	if got.calm == nil {
		return result
	}

	v := verdict{off: o.Off}
	faultless := withoutFaults(life)
	switch {
	case faultless.source() != life.source():
		if want := o.reference(t, faultless, everyone); want.calm != nil {
			v.compare(Remains, want.calm, got.calm, want.free)
			v.compare(Remains, want.gone, got.gone, want.free)
		}
	// A program may count a deleted object as a failure, and then wait longer after later failures.
	case has(life.Steps, Remove) && !has(life.Steps, Fail):
		if want := o.reference(t, without(life, Remove), everyone); want.calm != nil {
			v.compare(Heals, want.calm, got.calm, want.free)
		}
	case len(life.Beside) > 0:
		free := o.reference(t, life, everyone).free
		v.compare(Left, got.before, got.gone, free)
		o.compareApart(t, &v, life, got.calm, free)
	default:
		free := o.reference(t, life, everyone).free
		v.compare(Left, got.before, got.gone, free)
		if got.edited != nil && !has(life.Steps, Succeed, Fail, Delete) {
			want := o.reference(t, OperatorLife{Settings: *got.edited, Begin: life.Begin}, everyone)
			isAccepted := want.calm != nil // by the API
			if isAccepted && !want.isRefused {
				v.compare(Edited, want.calm, got.calm, want.free)
			}
		}
	}
	result.Violations = append(result.Violations, v.broken...)
	return result
}

// everyone means that all parents of a life are created.
const everyone = -1

// play plays a life and compares nothing. UIDs are numbered from born+1 on. If only is not everyone, only this parent
// is created.
func (o *Operator) play(t *testing.T, life OperatorLife, born, only int) (Result, remains) {
	t.Helper()
	program := o.Program
	program.Resources = slices.Clone(o.Resources)
	for _, r := range builtins {
		isSame := func(own Resource) bool { return own.GroupVersionKind == r.GroupVersionKind }
		if !slices.ContainsFunc(o.Resources, isSame) {
			program.Resources = append(program.Resources, r)
		}
	}

	// The first faults are set after the start of the program, and before the parents are created.
	first := slices.IndexFunc(life.Steps, func(s Step) bool { return s.Do != Break })
	if first < 0 {
		first = len(life.Steps)
	}
	var creations []Step
	for place := range 1 + len(life.Beside) {
		creations = append(creations, Step{Do: create, Parent: place})
	}
	life.Steps = slices.Concat(
		[]Step{{Do: Wait, For: time.Minute}},
		life.Steps[:first],
		creations,
		life.Steps[first:],
	)

	var played *operatorScript
	result := play(t, &program, life, func(f *family, s OperatorSettings) script {
		isAbsent := only != everyone && f.place != only
		of := &operatorScript{family: f, operator: o, settings: s, born: born, absent: isAbsent}
		if f.place == 0 {
			played = of
		}
		return of
	})
	before := 0 // writes that were tried before the parent was created
	for before < len(result.changing) && result.changing[before] <= played.startedAt {
		before++
	}
	result.changing = result.changing[before:]
	for i := range result.changing {
		result.changing[i] -= played.startedAt
	}
	return result, played.remains
}

// reference returns the objects that remain of a life without faults. It plays the life twice, at
// different times of day and with different UIDs. Whatever differs between the two plays may also
// differ in other lives.
func (o *Operator) reference(t *testing.T, life OperatorLife, only int) remains {
	key := fmt.Sprint(only, life.source())
	if known, is := o.seen[key]; is {
		return known
	}

	result, r := o.play(t, life, 0, only)
	if !has(life.Steps, Edit) {
		o.warn(t, result.errors)
	}

	r.isRefused = len(result.changing) == 0
	again := life
	again.Begin += 5*time.Hour + 7*time.Minute + 13*time.Second
	_, second := o.play(t, again, 1000, only)

	r.free = &freedom{
		names:     make(map[string]bool),
		numbers:   make(map[string]bool),
		paths:     make(map[string]bool),
		mayDiffer: slices.Collect(maps.Keys(o.MayDiffer)),
	}
	r.free.learn(r.calm, second.calm)
	r.free.learn(r.gone, second.gone)
	if o.seen == nil {
		o.seen = make(map[string]remains)
	}
	o.seen[key] = r
	return r
}

// warn logs errors that the program has logged again and again, although nothing has gone wrong.
// Then the kit may lack a kind.
func (o *Operator) warn(t *testing.T, errors map[string]int) {
	t.Helper()
	if o.warned == nil {
		o.warned = make(map[string]bool)
	}
	for _, text := range slices.Sorted(maps.Keys(errors)) {
		if errors[text] > 5 && !o.warned[text] && len(o.warned) < 10 {
			o.warned[text] = true
			t.Logf("without a fault, the program logs %d times: %s", errors[text], text)
		}
	}
}

// withoutFaults returns the life without its faults. It takes as long as the original.
func withoutFaults(life OperatorLife) OperatorLife {
	life = without(life, Break, Hold, Relist, Skew)
	life.Lag = 0
	steps := life.Steps
	life.Steps = nil
	for _, s := range steps {
		wait := Step{Do: Wait, For: s.For}
		switch {
		case s.Do == Restart || s.Do == Overlap:
			s = wait
		case s.Amid != "":
			takesTime := s.Amid != Hold
			s.Amid, s.For = "", 0
			life.Steps = append(life.Steps, s)
			if s = wait; !takesTime {
				continue
			}
		}
		life.Steps = append(life.Steps, s)
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

// compareApart compares the objects of several parents with those of each parent in a life of its own. An object that
// two parents write differently may hold what both want. It fails if the object is what only one of them wants.
func (o *Operator) compareApart(t *testing.T, v *verdict, life OperatorLife, got []Object, free *freedom) {
	t.Helper()
	var want []Object
	contested := make(map[string][]Object) // what different parents want
	for place := range 1 + len(life.Beside) {
		alone := life
		alone.Steps = slices.DeleteFunc(slices.Clone(life.Steps), func(s Step) bool {
			isOfAll := s.Do == Succeed || s.Do == Fail
			return s.Parent != place && ofParents[s.Do] && !isOfAll
		})
		for i := range alone.Steps {
			alone.Steps[i].Parent = place
		}
		only := everyone
		if alone.Beside = nil; place > 0 { // the settings of the others do not matter
			only, alone.Settings, alone.Beside = place, OperatorSettings{}, make([]OperatorSettings, place)
			alone.Beside[place-1] = life.Beside[place-1]
		}

		r := o.reference(t, alone, only)
		free = free.with(r.free)
		for _, object := range r.calm {
			i := slices.IndexFunc(want, func(other Object) bool { return nameOf(other) == nameOf(object) })
			switch {
			case i < 0:
				want = append(want, object)
			case free.isDifferent(want[i], object):
				name := nameOf(object)
				contested[name] = append(contested[name], want[i], object)
			}
		}
	}

	for _, object := range got {
		isGot := func(wanted Object) bool { return !free.isDifferent(wanted, object) }
		if _, off := v.off[Apart]; !off && slices.ContainsFunc(contested[nameOf(object)], isGot) {
			v.fail(Apart+Check(object.Text("kind")), "not all parents that write %s want it as it is", nameOf(object))
		}
	}
	isContested := func(object Object) bool { return contested[nameOf(object)] != nil }
	v.compare(Apart, slices.DeleteFunc(want, isContested), slices.DeleteFunc(slices.Clone(got), isContested), free)
}

// parent returns the parent with settings.
func (o *Operator) parent(s OperatorSettings) (Object, error) {
	parent, err := toObject(o.Parents[s.Example])
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

// variations returns merge patches of an example, each for one field. Those that the schema refuses
// come last.
func (o *Operator) variations(example int) []string {
	parent, err := o.parent(OperatorSettings{Example: example})
	if err != nil {
		return nil // its first life reports the error
	}
	for _, r := range o.Resources {
		if r.GroupVersionKind == o.Parent && r.structure != nil {
			spec := r.structure.schema.Properties["spec"]
			var accepted, refused []string
			for _, set := range variations(&spec, parent["spec"]) {
				next, err := o.parent(OperatorSettings{Example: example, Set: set})
				if err == nil && admit(&r, nil, next) == nil {
					accepted = append(accepted, set)
				} else {
					refused = append(refused, set)
				}
			}
			return append(accepted, refused...)
		}
	}
	return nil
}

func (o *Operator) random(r draw) OperatorSettings {
	return OperatorSettings{Example: r.IntN(len(o.Parents))}
}

// beside draws settings, half of them with an edited field, which the API or the operator may refuse.
func (o *Operator) beside(r draw) OperatorSettings {
	s := o.random(r)
	if all := o.variations(s.Example); len(all) > 0 && r.IntN(2) == 0 {
		s.Set = pick(r, all)
	}
	return s
}

// later returns lives in which a user edits the labels and annotations, and lives of three parents. One is deleted or
// edited, while another has an edited field.
func (o *Operator) later() (all []OperatorLife) {
	wait := Step{Do: Wait, For: 2 * time.Minute}
	for i := range o.Parents {
		if o.has(Edit) {
			edit := Step{Do: Edit, Set: `{"metadata":{"annotations":{"edited":"x"},"labels":{"edited":"x"}}}`}
			settings := OperatorSettings{Example: i}
			all = append(all,
				OperatorLife{Settings: settings, Steps: []Step{wait, edit, wait}},
				OperatorLife{Settings: settings, Steps: []Step{wait, edit, {Do: Edit}, wait}},
			)
		}
	}
	if o.has(Several) {
		all = append(all, o.crowded()...)
	}
	return all
}

// crowded returns lives of three parents. One is deleted or edited, while another has an edited field.
func (o *Operator) crowded() (all []OperatorLife) {
	wait := Step{Do: Wait, For: 2 * time.Minute}
	for i := range o.Parents {
		settings := OperatorSettings{Example: i}
		next := OperatorSettings{Example: (i + 1) % len(o.Parents)}
		add := func(steps ...Step) {
			if !slices.ContainsFunc(steps, func(s Step) bool { return !o.has(s.Do) }) {
				beside := []OperatorSettings{next, next}
				all = append(all, OperatorLife{Settings: settings, Beside: beside, Steps: steps})
			}
		}

		for deleted := range 2 {
			add(wait, Step{Do: Delete, Parent: deleted}, wait)
		}
		sets := o.variations(i)
		const most = 20
		for n := range min(most, len(sets)) {
			settings.Set = sets[n*len(sets)/min(most, len(sets))]
			add(wait, Step{Do: Edit, Parent: 1, Set: sets[0]}, wait)
		}
	}
	return all
}

// edit changes one field or two.
func (o *Operator) edit(r draw) Step {
	all := o.variations(r.IntN(len(o.Parents)))
	if len(all) == 0 || r.IntN(4) == 0 {
		return Step{Do: Edit} // back to the example
	}
	set := pick(r, all)
	if r.IntN(3) == 0 {
		if both, err := jsonpatch.MergeMergePatches([]byte(set), []byte(pick(r, all))); err == nil {
			set = string(both)
		}
	}
	return Step{Do: Edit, Set: set}
}

// plain returns several lives of each example. Its Jobs and pods succeed, or it is deleted, or a
// user deletes one of its objects. Or a user edits one field; the first few edits are also made
// during each kind of fault. In the last life with edits, up to 40 of them follow one another. Each
// takes the place of the one before, and at the end the example is again as it was.
func (o *Operator) plain() (all []OperatorLife) {
	wait := Step{Do: Wait, For: 2 * time.Minute}
	for i := range o.Parents {
		add := func(steps ...Step) {
			isOut := func(s Step) bool { return !o.has(s.Do) || s.Amid != "" && !o.has(s.Amid) }
			if !slices.ContainsFunc(steps, isOut) {
				all = append(all, OperatorLife{Settings: OperatorSettings{Example: i}, Steps: steps})
			}
		}

		add(wait, Step{Do: Succeed}, wait)
		add(wait, Step{Do: Delete}, wait)

		tour := []Step{wait}
		for n, set := range o.variations(i) {
			edit := Step{Do: Edit, Set: set}
			add(wait, edit, wait)
			if n < 40 {
				tour = append(tour, edit)
			}

			for _, amid := range []Action{Restart, Overlap, Hold} {
				if n < 3 {
					add(wait, Step{Do: Edit, Set: set, Amid: amid, For: time.Minute}, wait)
				}
			}
		}

		if len(tour) > 1 {
			add(append(tour, Step{Do: Edit}, wait)...)
		}
		for nth := range 6 {
			add(wait, Step{Do: Remove, Nth: nth}, wait)
		}
	}
	return all
}

// adapt limits the length of steps, since objects are only compared at the end of a life. Some of a
// user's actions happen in the midst of a fault.
func (o *Operator) adapt(r draw, s Step) (Step, bool) {
	s.For = min(s.For, 6*time.Minute)
	switch s.Do {
	case Remove:
		s.Nth = r.IntN(6)
	case Hold:
		s.Of = pick(r, []string{s.Of, "pods", "jobs", "deployments", "services"})
	}
	isUser := s.Do == Edit || s.Do == Remove || s.Do == Delete
	if amid := pick(r, []Action{"", "", Restart, Overlap, Hold}); isUser && o.has(amid) && amid != "" {
		s.Amid, s.For = amid, pick(r, times[:3])
	}
	return s, !slices.Contains([]Action{Suspend, Resume, Touch, Expire}, s.Do)
}

func (o *Operator) program() *Program { return &o.Program }

func (o *Operator) known() []Known[OperatorSettings] { return o.Known }

func (o *Operator) plainer() []func(*OperatorSettings) {
	return []func(*OperatorSettings){
		func(s *OperatorSettings) { s.Set = "" },
		func(s *OperatorSettings) { s.Example = 0 },
	}
}
