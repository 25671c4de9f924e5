package blackbox

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Program is the tested program, with the functions that interpret its objects.
type Program struct {
	// Resources are the kinds that the API serves.
	Resources []Resource
	// Start runs the program until the context ends, with clients for the configuration. It runs in a
	// bubble of testing/synctest, and is called again after each end of the program. So create metrics
	// outside of Start. The context has a logr.Logger whose errors become lines of the story.
	Start func(ctx context.Context, config *rest.Config) error
	// Parent and Child are the kinds of the parent and its children.
	Parent, Child schema.GroupVersionKind
	// Owned reports whether the parent owns a child; nil means that the owner references decide.
	Owned func(parent, child Object) bool
	// Ended reports whether a child has ended, and End ends it. For Jobs and pods, nil means the
	// function of Job or Pod.
	Ended func(child Object) bool
	End   func(child Object, succeeded bool)
	// Objects exist before the life begins, such as nodes.
	Objects []any
	// Replicas lets a second replica run for a while. A program that elects a leader must pass the
	// checks then as well, since a leader that hung may come back. A program without an election
	// may leave Replicas false.
	Replicas bool
	// Clock means that the program asks Now for the time, so that its clock can jump.
	Clock bool
	// Without excludes actions, each with a reason.
	Without map[Action]string
	// Off switches checks off, each with a reason.
	Off map[Check]string
}

// Check is the name of a rule that a controller must keep.
type Check string

// The checks of more than one profile.
const (
	// Left is a check of Cron and Operator: nothing is left of a deleted parent, and nothing is started for it.
	Left Check = "Left"
	// Panics: the program does not panic. The kit hears of a panic in the goroutine of Start, and of one that
	// controller-runtime or HandleCrash of apimachinery recovers. Any other panic ends the test.
	Panics Check = "Panics"
)

// Violation is a check that does not hold.
type Violation struct {
	Check   Check
	Problem string
}

// verdict collects the checks that do not hold.
type verdict struct {
	off    map[Check]string
	broken []Violation
}

func (v *verdict) fail(check Check, format string, args ...any) {
	if _, off := v.off[check]; !off {
		v.broken = append(v.broken, Violation{check, fmt.Sprintf(format, args...)})
	}
}

// withDefaults fills in the functions of Jobs and pods.
func (p Program) withDefaults() (Program, error) {
	kind, known := childKinds[p.Child]
	if known {
		if p.Ended == nil {
			p.Ended = kind.Ended
		}
		if p.End == nil {
			p.End = kind.End
		}
	}
	switch {
	case p.Start == nil:
		return p, fmt.Errorf("program: start: is required")
	case p.Child.Kind != "" && (p.Ended == nil || p.End == nil):
		return p, fmt.Errorf("program: ended and end: are required for children of kind %s", p.Child.Kind)
	}
	return p, nil
}

// owned reports whether the parent owns a child. Owners are in the namespace of what they own.
func (p *Program) owned(parent, child Object) bool {
	if ns := parent.Namespace(); ns != "" && ns != child.Namespace() {
		return false
	}
	if p.Owned != nil {
		return p.Owned(parent, child)
	}
	return child.IsOwnedBy(parent.UID())
}

// clockKey is the key of a program's clock in its context.
type clockKey struct{}

// Now returns the clock of a program with [Program.Clock], from the context of Start.
func Now(ctx context.Context) func() time.Time {
	if now, ok := ctx.Value(clockKey{}).(func() time.Time); ok {
		return now
	}
	return time.Now
}
