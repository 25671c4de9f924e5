package explain

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// TestSpecAfter_List: the elements of a list are merged by their names if the names differ. If two
// elements have the same name, for example two variables, both are compared, and any change
// replaces the whole list.
func TestSpecAfter_List(t *testing.T) {
	const twice = `[{"name":"A","value":"1"},{"name":"A","value":"2"}]`
	for _, test := range []struct {
		name, was, next, after string
		changes                []string
	}{
		{"by name", `[{"name":"A","value":"1"},{"name":"B","value":"2"}]`, `[{"name":"B","value":"3"}]`,
			`[{"name":"A","value":"1"},{"name":"B","value":"3"}]`, []string{`spec.env[B].value from "2" to "3"`}},
		{"twice, and nothing changes", twice, twice, twice, nil},
		{"the first of two", twice, `[{"name":"A","value":"9"},{"name":"A","value":"2"}]`, `[{"name":"A","value":"9"},{"name":"A","value":"2"}]`,
			[]string{`spec.env from ` + twice + ` to [{"name":"A","value":"9"},{"name":"A","value":"2"}]`}},
		{"one of two goes", twice, `[{"name":"A","value":"2"}]`, `[{"name":"A","value":"2"}]`,
			[]string{`spec.env from ` + twice + ` to [{"name":"A","value":"2"}]`}},
		{"a text that looks like a quantity", `[{"name":"A","value":"1024Ki"}]`, `[{"name":"A","value":"1Mi"}]`, `[{"name":"A","value":"1Mi"}]`,
			[]string{`spec.env[A].value from "1024Ki" to "1Mi"`}},
		{"arguments that look like quantities", `[{"name":"A","args":["1000","x"]}]`, `[{"name":"A","args":["1e3","x"]}]`, `[{"args":["1e3","x"],"name":"A"}]`,
			[]string{`spec.env[A].args from ["1000","x"] to ["1e3","x"]`}},
		{"another form of a quantity", `[{"name":"A","resources":{"limits":{"memory":"1Gi"}}}]`, `[{"name":"A","resources":{"limits":{"memory":"1024Mi"}}}]`,
			`[{"name":"A","resources":{"limits":{"memory":"1Gi"}}}]`, nil},
		{"characters of HTML", `[{"name":"A","value":"a&b"}]`, `[{"name":"A","value":"<c>"}]`, `[{"name":"A","value":"<c>"}]`,
			[]string{`spec.env[A].value from "a&b" to "<c>"`}},
	} {
		d, spec, ok := specAfter(json.RawMessage(`{"env":`+test.was+`}`), json.RawMessage(`{"env":`+test.next+`}`), &read.Meta{})
		if !ok {
			t.Fatal(test.name)
		}
		var after struct{ Env any }
		if err := json.Unmarshal(spec, &after); err != nil || written(after.Env) != test.after {
			t.Errorf("%s: got %s, want %s", test.name, spec, test.after)
		}
		if !slices.Equal(d, test.changes) {
			t.Errorf("%s: got %q, want %q", test.name, d, test.changes)
		}
	}
}

// TestConcernManifests_Twice: if an object was deleted, created and deleted again, the order of its changes
// is always the same.
func TestConcernManifests_Twice(t *testing.T) {
	const key = "team/x"
	for range 50 {
		manifest := &read.Job{Meta: read.Meta{Namespace: "team", Name: "x", UID: "manifest"}, IsManifest: true}
		gone := func(uid job.UID) []read.Change {
			return []read.Change{{Kind: "Job", Key: key, UID: uid, Gone: true}}
		}
		changes := map[job.UID][]read.Change{"u1": gone("u1"), "u2": gone("u2"), "u3": gone("u3")}
		ConcernManifests(&read.Objects{Jobs: []*read.Job{manifest}}, changes)

		var got []job.UID
		for _, c := range changes["manifest"] {
			got = append(got, c.UID)
		}
		if want := []job.UID{"u1", "u2", "u3"}; !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

// TestWeekdays: a field of days is read whole, or not at all.
func TestWeekdays(t *testing.T) {
	for field, want := range map[string][]int{
		"5": {5}, "0": {7}, "fri": {5}, "SUN": {7}, "1-5": {1, 2, 3, 4, 5}, "MON-FRI": {1, 2, 3, 4, 5}, "1,3,5": {1, 3, 5},
		"6,0": {6, 7}, "*/2": nil, "1-5/2": nil, "*": nil, "8": nil, "unm": nil,
	} {
		if got := weekdays(field); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", field, got, want)
		}
	}
}
