package cronjobquirk

import (
	"strings"
	"testing"

	"github.com/batchplan/batchplan/job/release"
)

// TestOf: each release has all quirks, until 1.37 looks jobs up in their namespace and by UID.
func TestOf(t *testing.T) {
	for _, r := range release.All() {
		want := Set(All)
		if r == release.V137 {
			want &^= NoNamespace | ByName
		}
		if got := Of(r); got != want {
			t.Errorf("%s has %s, want %s", r, got, want)
		}
	}
}

// Each constant has its name, and All has every one.
func TestNames(t *testing.T) {
	n := strings.Count(names, "|") + 1
	if All != 1<<n-1 {
		t.Errorf("All = %b, and there are %d names", All, n)
	}
	for name, quirk := range map[string]Set{
		"Estimate":     Estimate,
		"SilentMiss":   SilentMiss,
		"EagerHistory": EagerHistory,
		"BlindCreate":  BlindCreate,
		"Stale":        Stale,
		"NoNamespace":  NoNamespace,
		"ByName":       ByName,
	} {
		if quirk.String() != name {
			t.Errorf("%s prints as %q", name, quirk)
		}
		var again Set
		if err := again.UnmarshalText([]byte(name)); err != nil || again != quirk {
			t.Errorf("%s reads as %b, error %v", name, again, err)
		}
		if !Set(All).Has(quirk) || Set(All&^quirk).Has(quirk) {
			t.Errorf("Has does not find %s", name)
		}
	}
}
