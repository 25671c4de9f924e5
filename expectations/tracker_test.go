//go:build go1.25

package expectations_test

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/batchplan/batchplan/expectations"
	"pgregory.net/rapid"
)

func TestE1_TrackerWithoutARecord(t *testing.T) {
	var tracker expectations.Tracker[string]
	if !tracker.Satisfied("default/demo", t0) {
		t.Error("held back by nothing")
	}
	tracker.Lower("default/demo", 1, 0) // another client's pod
	tracker.Forget("default/demo")
	if counts, uids := tracker.Snapshot("default/demo"); counts != (expectations.Counts{}) || uids.Len() != 0 {
		t.Errorf("something was recorded: %+v, %d UIDs", counts, uids.Len())
	}
}

func TestE2_TrackerLowersWithoutRenewing(t *testing.T) {
	var tracker expectations.Tracker[string]
	tracker.Expect("demo", 3, 1, t0)
	tracker.Lower("demo", 1, 0)
	tracker.Lower("demo", 1, 0)
	tracker.Lower("demo", 0, 1)
	want := expectations.Counts{Creations: 1, At: t0}
	if got, _ := tracker.Snapshot("demo"); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if tracker.Satisfied("demo", t0) || !tracker.Satisfied("demo", t0.Add(expectations.Timeout)) {
		t.Error("held back for another time than the timeout")
	}
	tracker.Lower("demo", 1, 0)
	if !tracker.Satisfied("demo", t0) {
		t.Error("held back though everything was observed")
	}
}

func TestE3_TrackerReplacesAndRenews(t *testing.T) {
	var tracker expectations.Tracker[string]
	tracker.Expect("demo", 3, 0, t0)
	tracker.Expect("demo", 0, 2, t0.Add(time.Hour))
	want := expectations.Counts{Deletions: 2, At: t0.Add(time.Hour)}
	if got, _ := tracker.Snapshot("demo"); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	tracker.Expect("demo", 0, -1, t0)
	if got, _ := tracker.Snapshot("demo"); got != (expectations.Counts{}) {
		t.Errorf("expecting nothing left %+v", got)
	}
}

// TestE2_Writer: a Writer's methods call the tracker's for its own key, and for no other.
func TestE2_Writer(t *testing.T) {
	var direct, written expectations.Tracker[string]
	w := written.Of("demo", t0)

	check := func(what string) {
		t.Helper()
		for _, key := range []string{"demo", "other"} {
			counts, uids := direct.Snapshot(key)
			if got, gotUIDs := written.Snapshot(key); got != counts || !gotUIDs.Equal(uids) {
				t.Errorf("%s, key %s: got %+v and %d UIDs, want %+v and %d UIDs", what, key, got, gotUIDs.Len(), counts, uids.Len())
			}
		}
	}

	direct.Expect("demo", 5, 3, t0)
	w.Expect(5, 3)
	check("Expect")

	direct.Lower("demo", 2, 1)
	w.Lower(2, 1)
	check("Lower")

	direct.ExpectUntracked("demo", "a", "b")
	w.ExpectUntracked("a", "b")
	check("ExpectUntracked")

	direct.LowerUntracked("demo", "a")
	w.LowerUntracked("a")
	check("LowerUntracked")
}

func TestE4_TrackerOfFinalizers(t *testing.T) {
	var tracker expectations.Tracker[int]
	if added := tracker.ExpectUntracked(1, "b", "a"); !slices.Equal(added, []expectations.UID{"b", "a"}) {
		t.Errorf("added %q", added)
	}
	if added := tracker.ExpectUntracked(1, "c", "a"); !slices.Equal(added, []expectations.UID{"c"}) {
		t.Errorf("added %q, and a was expected already", added)
	}

	_, before := tracker.Snapshot(1)
	tracker.LowerUntracked(1, "a")
	tracker.LowerUntracked(1, "unknown")
	tracker.LowerUntracked(2, "b")
	if _, after := tracker.Snapshot(1); !after.Equal(expectations.NewUIDs("b", "c")) {
		t.Errorf("after one observation %d are left", after.Len())
	}
	if !before.Equal(expectations.NewUIDs("a", "b", "c")) {
		t.Error("an observation changed the snapshot before it")
	}

	if !tracker.Satisfied(1, t0) {
		t.Error("removals in flight hold back creations")
	}

	tracker.Expect(1, 1, 0, t0)
	tracker.Forget(1)
	if counts, uids := tracker.Snapshot(1); counts != (expectations.Counts{}) || uids.Len() != 0 {
		t.Errorf("left after Forget: %+v, %d UIDs", counts, uids.Len())
	}
}

// TestE4_TrackerAgainstValues makes the same changes to a tracker and to a map of plain values.
func TestE4_TrackerAgainstValues(t *testing.T) {
	type record struct {
		counts expectations.Counts
		uids   expectations.UIDs
	}

	rapid.Check(t, func(t *rapid.T) {
		var tracker expectations.Tracker[int]
		model := map[int]record{}
		key := rapid.IntRange(0, 2)
		number := rapid.IntRange(-1, 4)
		uid := drawnUID(`[a-d]`)

		t.Repeat(map[string]func(*rapid.T){
			"expect": func(t *rapid.T) {
				k, c, d := key.Draw(t, "key"), number.Draw(t, "creations"), number.Draw(t, "deletions")
				tracker.Expect(k, c, d, t0)
				r := model[k]
				r.counts = expectations.Counts{Creations: c, Deletions: d, At: t0}.Lower(0, 0)
				model[k] = r
			},
			"lower": func(t *rapid.T) {
				k, c, d := key.Draw(t, "key"), number.Draw(t, "creations"), number.Draw(t, "deletions")
				tracker.Lower(k, c, d)
				r := model[k]
				r.counts = r.counts.Lower(c, d)
				model[k] = r
			},
			"expect untracked": func(t *rapid.T) {
				k, u := key.Draw(t, "key"), uid.Draw(t, "uid")
				tracker.ExpectUntracked(k, u)
				r := model[k]
				r.uids = r.uids.With(u)
				model[k] = r
			},
			"lower untracked": func(t *rapid.T) {
				k, u := key.Draw(t, "key"), uid.Draw(t, "uid")
				tracker.LowerUntracked(k, u)
				r := model[k]
				r.uids = r.uids.Without(u)
				model[k] = r
			},
			"forget": func(t *rapid.T) {
				k := key.Draw(t, "key")
				tracker.Forget(k)
				delete(model, k)
			},
			"": func(t *rapid.T) {
				for k := range 3 {
					counts, uids := tracker.Snapshot(k)
					if want := model[k]; counts != want.counts || !uids.Equal(want.uids) {
						t.Fatalf("key %d: got %+v and %v, want %+v", k, counts, uids, want)
					}
				}
			},
		})
	})
}

// TestE2_TrackerFromManyGoroutines observes every write from its own goroutine while others read.
// The race detector finds races that do not change the result.
func TestE2_TrackerFromManyGoroutines(t *testing.T) {
	const jobs, writes = 8, 50
	var tracker expectations.Tracker[int]
	var wg sync.WaitGroup

	for job := range jobs {
		tracker.Expect(job, writes, writes, t0)
		for i := range writes {
			uid := expectations.UID(fmt.Sprint(i))
			tracker.ExpectUntracked(job, uid)
			wg.Go(func() { tracker.Lower(job, 1, 0) })
			wg.Go(func() { tracker.Lower(job, 0, 1) })
			wg.Go(func() { tracker.LowerUntracked(job, uid) })
			wg.Go(func() {
				counts, uids := tracker.Snapshot(job)
				if counts.Creations > writes || uids.Len() > writes {
					t.Errorf("job %d: %+v and %d UIDs", job, counts, uids.Len())
				}
			})
		}
	}

	wg.Wait()
	for job := range jobs {
		if counts, uids := tracker.Snapshot(job); counts != (expectations.Counts{}) || uids.Len() != 0 {
			t.Errorf("job %d: %+v and %d UIDs are left", job, counts, uids.Len())
		}
	}
}

// TestE4_TrackerOfOneJob: each method of a Writer has the same effect as the tracker's method with
// the Writer's key.
func TestE4_TrackerOfOneJob(t *testing.T) {
	var direct, bound expectations.Tracker[string]
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w := bound.Of("a", now)

	for _, step := range []struct {
		name          string
		direct, bound func()
	}{
		{"expect", func() { direct.Expect("a", 3, 2, now) }, func() { w.Expect(3, 2) }},
		{"lower", func() { direct.Lower("a", 1, 1) }, func() { w.Lower(1, 1) }},
		{"expect untracked", func() { direct.ExpectUntracked("a", "u", "v") }, func() { w.ExpectUntracked("u", "v") }},
		{"lower untracked", func() { direct.LowerUntracked("a", "u") }, func() { w.LowerUntracked("u") }},
	} {
		before, beforeUIDs := bound.Snapshot("a")
		step.direct()
		step.bound()

		counts, uids := bound.Snapshot("a")
		wantCounts, wantUIDs := direct.Snapshot("a")
		if counts != wantCounts || !uids.Equal(wantUIDs) {
			t.Errorf("%s: %+v %v, want %+v %v", step.name, counts, uids, wantCounts, wantUIDs)
		}
		if counts == before && uids.Equal(beforeUIDs) {
			t.Errorf("%s changes nothing", step.name)
		}
	}

	if counts, uids := bound.Snapshot("b"); counts != (expectations.Counts{}) || uids.Len() > 0 {
		t.Errorf("another job expects %+v %v", counts, uids)
	}
}

// TestE4_ObservationsAreLinear: observing one pod of many costs no more than observing one of few;
// otherwise a batch of pods would take quadratic time.
func TestE4_ObservationsAreLinear(t *testing.T) {
	const n = 10_000
	uids := make([]expectations.UID, n)
	for i := range uids {
		uids[i] = expectations.UID(fmt.Sprint(i))
	}
	var tracker expectations.Tracker[string]
	tracker.ExpectUntracked("demo", uids...)
	next := 0
	allocs := testing.AllocsPerRun(n/2, func() {
		tracker.LowerUntracked("demo", uids[next])
		next++
	})
	if allocs != 0 {
		t.Errorf("an observation allocates %v times", allocs)
	}
	if _, left := tracker.Snapshot("demo"); left.Len() != n-next || left.Has(uids[0]) || !left.Has(uids[n-1]) {
		t.Errorf("%d are left after %d observations of %d", left.Len(), next, n)
	}
}

// TestE4_TrackerKeepsNoEmptyRecord: a key for which nothing is expected takes no memory.
func TestE4_TrackerKeepsNoEmptyRecord(t *testing.T) {
	var tracker expectations.Tracker[int]
	for key := range 100 {
		tracker.Expect(key, 1, 1, t0)
		tracker.Lower(key, 1, 1)
		tracker.ExpectUntracked(key, "a")
		tracker.LowerUntracked(key, "a")
		tracker.ExpectUntracked(key)
	}
	if n := reflect.ValueOf(&tracker).Elem().FieldByName("jobs").Len(); n > 0 {
		t.Errorf("%d records", n)
	}
}
