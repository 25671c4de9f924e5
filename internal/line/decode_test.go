package line_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/batchplan/batchplan/internal/line"
)

// own is a type that reads its JSON by itself.
type own struct{ text string }

func (o *own) UnmarshalJSON(data []byte) error {
	o.text = string(data)
	return nil
}

type inline struct {
	Kind string `json:"kind"`
}

type rule struct {
	Action string `json:"action"`
}

type spec struct {
	inline
	Limit *int            `json:"limit,omitempty"`
	Rules []*rule         `json:"rules"`
	Named map[string]rule `json:"named"`
	Own   own             `json:"own"`
	Any   any             `json:"any"`
	Plain bool
	skip  int
	Never int `json:"-"`
}

// TestDecode: a field that a type does not have is an error with its path, wherever it is. What the
// JSON does not mention stays as it was.
func TestDecode(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`{}`, ""},
		{` {"kind": "a", "limit": 1, "rules": [{"action": "b"}, null], "named": {"c": {}}, "Plain": true} `, ""},
		{`{"own": {"image": "i", "deep": [{}]}, "limit": null, "any": [{"free": 1}]}`, ""},
		{`{"limt": 1}`, "limt: no such field"},
		{`{"limit": 1, "own": {}, "rules": [{}, {"acton": "b"}], "limt": 1}`, "rules[1].acton: no such field"},
		{`{"named": {"c": {"acton": ""}}}`, "named.c.acton: no such field"},
		{`{"inline": {}}`, "inline: no such field"},
		{`{"Limit": 1}`, "Limit: no such field"},
		{`{"plain": true}`, "plain: no such field"},
		{`{"skip": 1}`, "skip: no such field"},
		{`{"-": 1}`, "-: no such field"},
		{`{"Never": 1}`, "Never: no such field"},
		{`{"limit": 1, "limit": 2}`, "limit: occurs twice"},
		{`{"limit": "1"}`, "json: cannot unmarshal string into Go struct field spec.limit of type int"},
		{`{"limit": 1} {}`, "invalid character '{' after top-level value"},
		{``, "unexpected end of JSON input"},
	} {
		s := spec{inline: inline{"before"}, skip: 1}
		err := line.Decode(test.text, &s)
		if got := fmt.Sprint(err); got != test.want && (err != nil || test.want != "") {
			t.Errorf("%s: got %v, want %q", test.text, err, test.want)
		}
	}

	kept := spec{inline: inline{"before"}}
	if err := line.Decode(`{"own": [1]}`, &kept); err != nil || kept.Kind != "before" || kept.Own.text != "[1]" {
		t.Errorf("got %+v, error %v", kept, err)
	}
	if err := line.Decode(`[1]`, new(json.RawMessage)); err != nil {
		t.Error(err)
	}
}
