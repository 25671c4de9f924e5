package job

import (
	"slices"
	"testing"
)

// TestJI22_TheEndDeletesOwnPods: when the job ends, its pods go and those that it
// adopts, and no others.
func TestJI22_TheEndDeletesOwnPods(t *testing.T) {
	var pods []Pod
	for _, owner := range []Ownership{Owned, Orphan, OwnedUnmatched, Foreign} {
		p := activePod(owner.String())
		p.Owner = owner
		pods = append(pods, p)
	}
	plan := planOf(t, snapshotOf(t, `{"parallelism": 9, "activeDeadlineSeconds": 1}`, pods...))
	var got []string
	for _, d := range plan.Delete {
		got = append(got, d.Name)
	}
	slices.Sort(got)
	want := []string{Orphan.String(), Owned.String()}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("deleted %q, want %q\n%s", got, want, plan)
	}
}
