package expectations

import (
	"fmt"
	"testing"
	"time"
)

// TestE1_Sights: a new pod of the job is a creation. A deletion is observed once: when it begins
// or, if that was not shown, when the pod is gone. The removal of a finalizer is observed when the
// pod no longer has it, or is gone.
func TestE1_Sights(t *testing.T) {
	none := (*Sight)(nil)
	is := func(change func(*Sight)) *Sight {
		s := &Sight{UID: "a"}
		if change != nil {
			change(s)
		}
		return s
	}
	there := is(nil)
	leaving := is(func(s *Sight) { s.Deleting = true })
	untracked := is(func(s *Sight) { s.Untracked = true })
	orphan := is(func(s *Sight) { s.Foreign = true })
	leavingOrphan := is(func(s *Sight) { s.Foreign, s.Deleting = true, true })

	for _, test := range []struct {
		name     string
		old, now *Sight
		want     string // what is still expected of two creations, two deletions and two finalizers
	}{
		{"nothing is shown", none, none, "2 2 2"},
		{"a pod is new", none, there, "1 2 2"},
		{"it comes again", there, there, "2 2 2"},
		{"a new pod is being deleted already", none, leaving, "1 1 2"},
		{"the deletion begins", there, leaving, "2 1 2"},
		{"it goes on", leaving, leaving, "2 2 2"},
		{"the pod is gone after its time of grace", leaving, none, "2 2 1"},
		{"the pod is gone without one", there, none, "2 1 1"},
		{"the finalizer is gone", there, untracked, "2 2 1"},
		{"a new pod has no finalizer", none, untracked, "1 2 1"},
		{"an orphan is nobody's creation", none, orphan, "2 2 2"},
		{"an orphan is adopted", orphan, there, "2 2 2"},
		{"the deletion of an orphan begins", orphan, leavingOrphan, "2 2 2"},
		{"an orphan is gone", orphan, none, "2 2 1"},
		{"a pod is released", there, is(func(s *Sight) { s.Foreign, s.Untracked = true, true }), "2 2 1"},
	} {
		var tracker Tracker[string]
		tracker.Expect("j", 2, 2, time.Unix(0, 0))
		tracker.ExpectUntracked("j", "a", "b")
		tracker.Observe("j", test.old, test.now)
		counts, uids := tracker.Snapshot("j")
		if got := fmt.Sprint(counts.Creations, counts.Deletions, uids.Len()); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}
