package explain

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// TestSpecAfter_List: the elements of a list are merged by their names if these differ. Two elements of
// one name, as two variables, are both compared, and a list that has such is replaced as a whole.
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
