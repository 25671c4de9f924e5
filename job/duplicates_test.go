package job

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestB3_DuplicateUIDs: two pods with the same UID are refused if the round writes anything, even
// if that is only the status. A quiet round does not check.
func TestB3_DuplicateUIDs(t *testing.T) {
	for _, test := range []struct {
		name, spec string
		active     int32 // status.active
		refused    bool
	}{
		{"nothing is written", `{"parallelism": 2}`, 2, false},
		{"only the status is written", `{"parallelism": 2}`, 1, true},
		{"one pod is created", `{"parallelism": 3}`, 2, true},
		{"one pod is deleted", `{"parallelism": 1}`, 2, true},
	} {
		for name, options := range bothOptions {
			twin := activePod("a")
			twin.Name = "b"
			s := snapshotOf(t, test.spec, activePod("a"), twin)
			s.Options = options
			s.Job.Status.Active, s.Job.Status.Ready = test.active, &test.active

			_, err := Reconcile(s)
			text := fmt.Sprint(err)
			if test.refused && !(strings.HasPrefix(text, "pods[b].uid: ") &&
				strings.Contains(text, "is the UID of two pods")) || !test.refused && err != nil {
				t.Errorf("%s, %s: refused %v, error %v", name, test.name, test.refused, err)
			}
		}
	}
}

// TestB3_FirstTwin compares the table of places with a map, for ordinary UIDs of many lengths, for
// UIDs that collide by design, and for a table that has held more pods before.
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

// TestB3_FirstTwinFollows lets a placeTable follow the snapshots of a large job, and compares its
// answers with those of a map. Pods come, go and change places, and sometimes two have the same
// UID.
func TestB3_FirstTwinFollows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table placeTable
		next := 0
		fresh := func() Pod { next++; return Pod{UID: UID(fmt.Sprintf("pod-%d", next))} }
		pods := make([]Pod, largeJob+rapid.IntRange(-20, 400).Draw(t, "pods"))
		for i := range pods {
			pods[i] = fresh()
		}

		for range rapid.IntRange(1, 30).Draw(t, "rounds") {
			place, found := table.firstTwin(pods)
			if wantPlace, want := firstTwinOf(pods); place != wantPlace || found != want {
				t.Fatalf("%d %t, want %d %t", place, found, wantPlace, want)
			}

			at := func() int { return rapid.IntRange(0, len(pods)-1).Draw(t, "at") }
			for range rapid.IntRange(0, 30).Draw(t, "changes") {
				i, j := at(), at()
				switch rapid.IntRange(0, 9).Draw(t, "change") {
				case 0, 1, 2:
					pods = append(pods, fresh())
				case 3, 4, 5:
					pods[i] = pods[len(pods)-1]
					pods = pods[:len(pods)-1]
				case 6, 7:
					pods[i] = fresh()
				case 8:
					pods[i], pods[j] = pods[j], pods[i]
				case 9:
					if rapid.IntRange(0, 9).Draw(t, "twin") == 0 {
						pods[i].UID = pods[j].UID
					} else { // this may remove a twin
						pods[i] = fresh()
					}
				}
			}
		}
	})
}

// TestB3_FollowsWithoutLooking: if little changes in a large job, only the changes are added to the
// table.
func TestB3_FollowsWithoutLooking(t *testing.T) {
	var table placeTable
	pods := make([]Pod, 4*largeJob)
	for i := range pods {
		pods[i].UID = UID(fmt.Sprintf("pod-%d", i))
	}
	if table.follow(pods) {
		t.Error("an empty table follows")
	}
	table.firstTwin(pods)
	pods[7].UID = "another"
	pods = pods[:len(pods)-1]
	if !table.follow(pods) || table.dead != 2 {
		t.Errorf("two pods of %d have changed: %d slots are dead", len(pods), table.dead)
	}
	pods[9].UID = "another"
	if table.follow(pods) {
		t.Error("a twin is not seen")
	}
}

// TestB3_CollidingTwins: if all UIDs were made to collide, the table does not compare each with all
// others, and it still finds the twin of the last one.
func TestB3_CollidingTwins(t *testing.T) {
	var table placeTable
	pods := make([]Pod, 4*maxProbe)
	for i := range pods {
		pods[i].UID = collidingUID(uint32(i))
	}
	if place, found := table.firstTwin(pods); found {
		t.Errorf("%d is not a twin", place)
	}
	last := len(pods) - 1
	pods[last].UID = pods[last-1].UID
	if place, found := table.firstTwin(pods); !found || place != last {
		t.Errorf("%d %t, want %d", place, found, last)
	}
}
