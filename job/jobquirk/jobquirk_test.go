package jobquirk

import (
	"strings"
	"testing"

	"github.com/batchplan/batchplan/job/release"
)

// TestOf: what the quirks that are gone were last in.
func TestOf(t *testing.T) {
	const gone = HeldIsIdle | UnseenEnd | SidecarsUnranked
	for r, want := range map[release.Release]Set{
		release.V131: gone, release.V132: HeldIsIdle | UnseenEnd, release.V133: HeldIsIdle | UnseenEnd,
		release.V134.At(9): HeldIsIdle, release.V134.At(10): 0, release.V134: 0,
		release.V135.At(7): HeldIsIdle, release.V135.At(8): 0, release.V135: 0,
		release.V136.At(0): 0, release.V136: 0, release.V137.At(0): 0, release.V137: 0,
	} {
		if got := Of(r); got != All|want {
			t.Errorf("%s has %s, want %s besides those of 1.36", r, got, want)
		}
	}
}

// Each constant has its name, and All has every one.
func TestNames(t *testing.T) {
	n := strings.Count(names, "|") + 1
	if all := Of(release.V131); all != 1<<n-1 || Of(release.V136) != All || Of(release.V137) != All {
		t.Errorf("%b and %b, and there are %d names", all, All, n)
	}
	for name, quirk := range map[string]Set{
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
		if quirk.String() != name {
			t.Errorf("%s prints as %q", name, quirk)
		}
		var again Set
		if err := again.UnmarshalText([]byte(name)); err != nil || again != quirk {
			t.Errorf("%s reads as %b, error %v", name, again, err)
		}
		if all := Of(release.V131); !all.Has(quirk) || (all &^ quirk).Has(quirk) {
			t.Errorf("Has does not find %s", name)
		}
	}
}
