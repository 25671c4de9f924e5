package jobmodel

import (
	"bytes"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/proof/explore"
)

// TestSmallScopes explores the small worlds completely. The invariants are checked on each
// plan and each write, and from each state on the job must come to rest (L1, L4, L5, L7, L9).
func TestSmallScopes(t *testing.T) {
	for _, scope := range Small {
		t.Run(scope.Name, func(t *testing.T) {
			m := New(scope, 0)
			o := explore.Options{Rest: scope.Rest}
			if raceDetector {
				o.Depth = 10 // the race detector looks at the searching, not at every state
			}
			r := explore.Breadth(m, o)
			var text bytes.Buffer
			r.Write(&text, m)
			t.Logf("%s", &text)
			if r.Found != nil {
				t.Fatalf("%v\n%s", r.Found.Err, strings.Join(r.Found.Words(m.Worker()), "\n"))
			}
			if r.Incomplete != nil {
				return
			}
			if missing := r.Missing(m, scope.Must); len(missing) > 0 {
				t.Errorf("not exercised: %s", strings.Join(missing, ", "))
			}
		})
	}
}

// TestLargeScopes explores the beginning of the large worlds.
func TestLargeScopes(t *testing.T) {
	names := map[string]bool{}
	for _, scope := range append(Small[:len(Small):len(Small)], Large...) {
		if names[scope.Name] || scope.Covers == "" {
			t.Errorf("%s: a name of its own, and what it covers, are required", scope.Name)
		}
		names[scope.Name] = true
	}
	for _, scope := range Large {
		r := explore.Breadth(New(scope, 0), explore.Options{Rest: scope.Rest, Depth: 7})
		if r.Found != nil || r.States < 20 {
			t.Errorf("%s: %d states, found %v", scope.Name, r.States, r.Found)
		}
	}
}
