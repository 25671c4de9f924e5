package jobquirk

import (
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/job/release"
)

// TestOf checks which quirks each release has besides those of the newest release.
func TestOf(t *testing.T) {
	lasting := Of(release.Newest())
	for r, gone := range map[release.Release][]Quirk{
		release.V131(): {HeldIsIdle, UnseenEnd, SidecarsUnranked},
		release.V132(): {HeldIsIdle, UnseenEnd}, release.V133(): {HeldIsIdle, UnseenEnd},
		release.V134().At(9): {HeldIsIdle}, release.V134().At(10): nil, release.V134(): nil,
		release.V135().At(7): {HeldIsIdle}, release.V135().At(8): nil, release.V135(): nil,
		release.V136().At(0): nil, release.V136(): nil, release.V137().At(0): nil, release.V137(): nil,
	} {
		if got := Of(r); got != lasting.With(gone...) {
			t.Errorf("%s has %s, want %s besides those of %s", r, got, SetOf(gone...), release.Newest())
		}
	}
}

// TestNames: each constant has a name, and the oldest release has all quirks.
func TestNames(t *testing.T) {
	known := strings.Split(names, "|")
	if all := slices.Collect(Of(release.V131()).All()); len(all) != len(known) ||
		Quirk(len(known)).String() != known[len(known)-1] {
		t.Errorf("%v, and there are %d names", all, len(known))
	}

	for name, quirk := range map[string]Quirk{
		"DeleteCounts":       DeleteCounts,
		"UncheckedUntrack":   UncheckedUntrack,
		"CoarseRequeue":      CoarseRequeue,
		"UnseenCompletion":   UnseenCompletion,
		"EarlyEvents":        EarlyEvents,
		"RefusedAreActive":   RefusedAreActive,
		"EarlierFailure":     EarlierFailure,
		"UnmatchedStay":      UnmatchedStay,
		"FullRound":          FullRound,
		"SuspendedRewritten": SuspendedRewritten,
		"WaitingTakeRoom":    WaitingTakeRoom,
		"Miscount":           Miscount,
		"HeldIsIdle":         HeldIsIdle,
		"UnseenEnd":          UnseenEnd,
		"SidecarsUnranked":   SidecarsUnranked,
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
