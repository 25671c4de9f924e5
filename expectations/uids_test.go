package expectations_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/batchplan/batchplan/expectations"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestE4_UIDs(t *testing.T) {
	u := expectations.NewUIDs("c", "a", "b", "a")
	if got := slices.Collect(u.All()); !slices.Equal(got, []expectations.UID{"a", "b", "c"}) {
		t.Errorf("holds %q", got)
	}
	if u.Len() != 3 || !u.Has("b") || u.Has("d") || u.Has("") {
		t.Errorf("%q: wrong length or members", slices.Collect(u.All()))
	}
	if empty := u.Without("a", "b", "c", "x"); !empty.Equal(expectations.UIDs{}) || empty.Has("a") {
		t.Errorf("holds %q after all were taken out", slices.Collect(empty.All()))
	}
	for range u.All() {
		break // a reader may stop early
	}
}

// TestE4_EmptyUIDs: empty sets are deeply equal, however they were made.
func TestE4_EmptyUIDs(t *testing.T) {
	for _, u := range []expectations.UIDs{
		expectations.NewUIDs(), expectations.NewUIDs("a").Without("a"), expectations.NewUIDs("a", "b").Without("b").Without("a"),
	} {
		if !reflect.DeepEqual(u, expectations.UIDs{}) {
			t.Errorf("%#v", u)
		}
	}
}

func TestE4_UIDsDoNotKeepTheArgument(t *testing.T) {
	given := []expectations.UID{"b", "a"}
	u := expectations.NewUIDs(given...)
	v := expectations.UIDs{}.With(given...)
	if !slices.Equal(given, []expectations.UID{"b", "a"}) {
		t.Errorf("the argument became %q", given)
	}
	given[0] = "z"
	if !u.Has("b") || !v.Has("b") {
		t.Error("a later write to the argument reached the set")
	}
}

// TestE4_UIDsAgainstMap compares a tree of sets, each derived from an earlier
// one, with maps: every older set must keep its members.
func TestE4_UIDsAgainstMap(t *testing.T) {
	uid := drawnUID(`[a-e]{0,2}`)
	rapid.Check(t, func(t *rapid.T) {
		sets := []expectations.UIDs{{}}
		models := []map[expectations.UID]bool{{}}

		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			from := rapid.IntRange(0, len(sets)-1).Draw(t, "from")
			uids := rapid.SliceOfN(uid, 0, 6).Draw(t, "uids")
			model := maps.Clone(models[from])
			set := sets[from]

			if rapid.Bool().Draw(t, "add") {
				set = set.With(uids...)
				for _, u := range uids {
					model[u] = true
				}
			} else {
				set = set.Without(uids...)
				for _, u := range uids {
					delete(model, u)
				}
			}
			sets, models = append(sets, set), append(models, model)
		}

		for i, set := range sets {
			want := slices.Sorted(maps.Keys(models[i]))
			if got := slices.Collect(set.All()); !slices.Equal(got, want) || set.Len() != len(want) {
				t.Fatalf("set %d holds %q, %d members, want %q", i, got, set.Len(), want)
			}

			probe := uid.Draw(t, "probe")
			if set.Has(probe) != models[i][probe] {
				t.Fatalf("set %d: Has(%q) = %v", i, probe, set.Has(probe))
			}
			if same := expectations.NewUIDs(want...); !set.Equal(same) || !cmp.Equal(set, same) {
				t.Fatalf("set %d differs from a new one with the same members", i)
			}
		}
	})
}

func TestB5_UIDsRoundTripAsJSON(t *testing.T) {
	type memory struct {
		UIDs expectations.UIDs `json:"uids,omitzero"`
	}

	for _, c := range []struct {
		in, out string
		want    expectations.UIDs
	}{
		{`{"uids":["b","a","b"]}`, `{"uids":["a","b"]}`, expectations.NewUIDs("a", "b")},
		{`{"uids":[]}`, `{}`, expectations.UIDs{}},
		{`{"uids":null}`, `{}`, expectations.UIDs{}},
		{`{}`, `{}`, expectations.UIDs{}},
	} {
		var m memory
		if err := json.Unmarshal([]byte(c.in), &m); err != nil || !m.UIDs.Equal(c.want) {
			t.Errorf("%s: got %q, %v", c.in, slices.Collect(m.UIDs.All()), err)
		}
		if text, err := json.Marshal(m); err != nil || string(text) != c.out {
			t.Errorf("%s: encodes as %s, %v, want %s", c.in, text, err, c.out)
		}
	}

	if text, err := json.Marshal(expectations.UIDs{}); err != nil || string(text) != "[]" {
		t.Errorf("the empty set alone encodes as %s, %v", text, err)
	}
	var u expectations.UIDs
	if err := json.Unmarshal([]byte(`{"a":1}`), &u); err == nil {
		t.Error("an object was read as a set")
	}
}

// TestE4_NothingAdded: adding no UIDs, as in most rounds, allocates nothing.
func TestE4_NothingAdded(t *testing.T) {
	u := expectations.NewUIDs("a", "b")
	if n := testing.AllocsPerRun(10, func() { u.With() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if !u.With().Equal(u) {
		t.Error("the set has changed")
	}
}

// drawnUID generates UIDs that match a regular expression.
func drawnUID(form string) *rapid.Generator[expectations.UID] {
	return rapid.Map(rapid.StringMatching(form), func(s string) expectations.UID { return expectations.UID(s) })
}
