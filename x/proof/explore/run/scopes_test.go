package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/x/proof/explore"
	"github.com/batchplan/batchplan/x/proof/explore/cronmodel"
	"github.com/batchplan/batchplan/x/proof/explore/jobmodel"
)

// TestSmallScopes explores the small worlds completely. The invariants are checked on each plan and
// each write, and from each state the job (L1, L4, L5, L7, L9) or the CronJob (CL1, CL2, CL4) must
// come to rest.
func TestSmallScopes(t *testing.T) {
	for _, s := range jobmodel.Small {
		t.Run("job/"+s.Name, func(t *testing.T) { searchAll(t, jobmodel.New(s, 0), s.Rest, s.Must) })
	}
	for _, s := range cronmodel.Small {
		t.Run("cronjob/"+s.Name, func(t *testing.T) { searchAll(t, cronmodel.New(s), cronmodel.Rest, s.Must) })
	}
}

func searchAll[S any](t *testing.T, m explore.System[S], rest int, must []string) {
	r := explore.Breadth(m, explore.Options{Rest: rest})
	var text bytes.Buffer
	r.Write(&text, m)
	t.Logf("%s", &text)
	if r.Found != nil {
		t.Fatalf("%v\n%s", r.Found.Err, strings.Join(r.Found.Words(m.Worker()), "\n"))
	}
	if missing := r.Missing(m, must); r.Incomplete == nil && len(missing) > 0 {
		t.Errorf("not exercised: %s", strings.Join(missing, ", "))
	}
}

// TestLargeScopes explores the beginning of the large worlds.
func TestLargeScopes(t *testing.T) {
	for _, s := range jobmodel.Large {
		searchBeginning(t, s.Name, jobmodel.New(s, 0), s.Rest)
	}
	for _, s := range cronmodel.Large {
		searchBeginning(t, s.Name, cronmodel.New(s), cronmodel.Rest)
	}
	names := map[string]bool{}
	for _, s := range append(targets("small"), targets("large")...) {
		if names[s.name] || s.covers == "" {
			t.Errorf("%s: a name of its own, and what it covers, are required", s.name)
		}
		names[s.name] = true
	}
}

func searchBeginning[S any](t *testing.T, name string, m explore.System[S], rest int) {
	r := explore.Breadth(m, explore.Options{Rest: rest, Depth: 7})
	if r.Found != nil || r.States < 20 {
		t.Errorf("%s: %d states, found %v", name, r.States, r.Found)
	}
}
