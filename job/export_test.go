package job

import (
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job/release"
)

// This file opens internals of the package to the tests of this folder.

// Handled returns the UIDs of ignored pods whose match was reported.
func (m *Memory) Handled() expectations.UIDs { return m.rest.Handled }

// MoveUntimed moves the times at which untimed failures were first seen.
func (m *Memory) MoveUntimed(by time.Duration) {
	for i := range m.rest.Untimed {
		m.rest.Untimed[i].At = m.rest.Untimed[i].At.Add(by)
	}
}

// Ignored returns the number of failures that the podFailurePolicy has ignored.
func (m *Memory) Ignored() int32 { return m.rest.Ignored }

// Attentive returns the plan without its mark as idle, and whether it had that mark.
func Attentive(p Plan) (attentive Plan, idle bool) {
	idle = p.basis.Course.Idle
	p.basis.Course.Idle = false
	return p, idle
}

// Census is the census of a round, for tests outside of the package.
type Census struct{ census }

// TakeCensus takes the census of a snapshot twice: with the shortcuts that a round uses,
// and without any.
func TakeCensus(s *Snapshot) (quick, thorough Census, err error) {
	var memory Memory
	recall(&memory, s)
	for _, c := range []*Census{&quick, &thorough} {
		var known uidTable
		known.learn(&memory, s.Job.Status.UncountedTerminatedPods, UncountedTerminatedPods{}, new(noteList))
		short := shortcuts{}
		if c == &quick {
			short = shortcutsOf(s, &known)
		}
		if err := c.take(s, &known, short); err != nil {
			return Census{}, Census{}, err
		}
	}
	return quick, thorough, nil
}

// PlanOf plans a snapshot that must be accepted. Outside of rapid tests, it also checks that the
// other ways to plan the snapshot give the same plan (JI24).
func PlanOf(t rapid.TB, s Snapshot) *Plan {
	t.Helper()
	plan, err := Reconcile(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, drawn := t.(*rapid.T); !drawn {
		checkOtherWays(t, s, &plan)
	}
	return &plan
}

// busy is a planner that has planned the cases of other tables.
var busy struct {
	sync.Mutex
	Planner
}

// checkOtherWays plans with a planner that has planned other jobs, without a shortcut, and from the
// pods in reverse order.
func checkOtherWays(t rapid.TB, s Snapshot, want *Plan) {
	t.Helper()
	same := func(way string, got *Plan, err error) {
		t.Helper()
		diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.Exporter(func(reflect.Type) bool { return true }))
		if err != nil || diff != "" {
			t.Errorf("JI24: %s: %v %s", way, err, diff)
		}
	}

	busy.Lock()
	got, err := busy.Reconcile(&s)
	same("a planner that is used again", got, err)
	busy.Unlock()

	whole, err := PlanRound(s)
	same("the whole round", &whole, err)

	quick, thorough, err := TakeCensus(&s)
	if err != nil || !reflect.DeepEqual(quick, thorough) {
		t.Errorf("J11: a shortcut changes the census: %v\n%+v\n%+v", err, quick, thorough)
	}

	s.Pods = slices.Clone(s.Pods)
	slices.Reverse(s.Pods)
	reversed, err := Reconcile(s)
	same("the pods in reverse order", &reversed, err)
}

// PlanRound plans a round without the shortcut for quiet rounds.
func PlanRound(s Snapshot) (Plan, error) {
	var p Planner
	plan, err := p.planRound(&s)
	if err != nil {
		return Plan{}, err
	}
	return *plan, nil
}

// IsQuiet reports whether planQuiet recognizes a round as quiet that it has planned before.
func IsQuiet(s Snapshot) bool {
	var p Planner
	p.planQuiet(&s)
	_, ok := p.planQuiet(&s)
	return ok
}

// CheckTransition is jobstatus.CheckTransition. Package jobstatus imports this one.
var CheckTransition func(old, next Status, spec Spec, r release.Release) error

// Same reports the differences between the wanted and the actual value.
func Same(t rapid.TB, what string, want, got any, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
