package cronjobquirk

import (
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/job/release"
)

// TestOf: each release has all quirks, except that 1.37 looks up jobs in their namespace and by
// UID.
func TestOf(t *testing.T) {
	for _, r := range release.All() {
		want := SetOf(Estimate, SilentMiss, EagerHistory, BlindCreate, Stale, NoNamespace, ByName)
		if r == release.V137() {
			want = want.Without(NoNamespace, ByName)
		}
		if got := Of(r); got != want {
			t.Errorf("%s has %s, want %s", r, got, want)
		}
	}
}

// TestNames: each constant has its name, and each quirk is in the oldest release.
func TestNames(t *testing.T) {
	known := strings.Split(names, "|")
	if all := slices.Collect(Of(release.V131()).All()); len(all) != len(known) || Quirk(len(known)).String() != known[len(known)-1] {
		t.Errorf("%v, and there are %d names", all, len(known))
	}

	for name, quirk := range map[string]Quirk{
		"Estimate":     Estimate,
		"SilentMiss":   SilentMiss,
		"EagerHistory": EagerHistory,
		"BlindCreate":  BlindCreate,
		"Stale":        Stale,
		"NoNamespace":  NoNamespace,
		"ByName":       ByName,
	} {
		if quirk.String() != name || SetOf(quirk).String() != name {
			t.Errorf("%s prints as %q", name, quirk)
		}

		var again Set
		if err := again.UnmarshalText([]byte(name)); err != nil || again != SetOf(quirk) {
			t.Errorf("%s reads as %v, error %v", name, again, err)
		}
		if all := Of(release.V131()); !all.Has(quirk) || all.Without(quirk).Has(quirk) {
			t.Errorf("Has does not find %s", name)
		}
	}
}
