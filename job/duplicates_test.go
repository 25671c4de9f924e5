package job

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestB3_DuplicateUIDs: two pods with one UID are refused as soon as anything is
// written, be it a single pod or the status alone. A quiet round does not look.
func TestB3_DuplicateUIDs(t *testing.T) {
	for _, test := range []struct {
		name, spec    string
		active, ready int32
		refused       bool
	}{
		{"nothing is written", `{"parallelism": 2}`, 2, 2, false},
		{"only the status is written", `{"parallelism": 2}`, 1, 1, true},
		{"one pod is created", `{"parallelism": 3}`, 2, 2, true},
		{"one pod is deleted", `{"parallelism": 1}`, 2, 2, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			twin := activePod("a")
			twin.Name = "b"
			s := snapshotOf(t, test.spec, activePod("a"), twin)
			s.Job.Status.Active, s.Job.Status.Ready = test.active, &test.ready
			_, err := Reconcile(s)
			if refused := err != nil && strings.Contains(err.Error(), "is the UID of two pods"); refused != test.refused {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestB3_FirstTwin holds the table of places against a map: ordinary UIDs of many lengths, UIDs
// that collide by design, and a table that was larger before.
func TestB3_FirstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		uid := rapid.SampledFrom([]func(uint32) UID{
			func(n uint32) UID { return collidingUID(n) },
			func(n uint32) UID { return UID(fmt.Sprint(n)) },
			func(n uint32) UID { return UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", n, n)) },
		}).Draw(t, "kind")
		var table placeTable
		for range 2 {
			numbers := rapid.SliceOfN(rapid.Uint32Range(1, 5000), 0, 300).Draw(t, "numbers")
			pods := make([]Pod, len(numbers))
			for i, n := range numbers {
				pods[i].UID = uid(n)
			}
			place, found := table.firstTwin(pods)
			wantPlace, want := firstTwinOf(pods)
			if place != wantPlace || found != want {
				t.Fatalf("%d %t, want %d %t", place, found, wantPlace, want)
			}
		}
	})
}

// TestB3_CollidingTwins: UIDs made to collide are not probed one by one, and the last of them
// still finds its twin.
func TestB3_CollidingTwins(t *testing.T) {
	var table placeTable
	pods := make([]Pod, 4*maxProbe)
	for i := range pods {
		pods[i].UID = collidingUID(uint32(i))
	}
	if place, found := table.firstTwin(pods); found {
		t.Errorf("%d is no twin", place)
	}
	last := len(pods) - 1
	pods[last].UID = pods[last-1].UID
	if place, found := table.firstTwin(pods); !found || place != last {
		t.Errorf("%d %t, want %d", place, found, last)
	}
}
