package job

import (
	"cmp"
	"slices"
	"time"
)

// byAge orders pods by creation, then by UID: a total order that does not
// depend on the order of the snapshot (B3).
func byAge(a, b *Pod) int {
	if c := a.detail().CreationTimestamp.Compare(b.detail().CreationTimestamp); c != 0 {
		return c
	}
	return cmp.Compare(a.UID, b.UID)
}

// sortPlaces sorts places in a list of pods.
func sortPlaces(pods []Pod, places []int32, compare func(a, b *Pod) int) {
	if len(places) > 1 {
		slices.SortFunc(places, func(a, b int32) int { return compare(&pods[a], &pods[b]) })
	}
}

func sortClaims(claims []Claim) {
	if len(claims) > 1 {
		slices.SortFunc(claims, func(a, b Claim) int { return cmp.Compare(a.UID, b.UID) })
	}
}

// falseFirst compares two booleans that differ. a is the first of them.
func falseFirst(a bool) int {
	if a {
		return 1
	}
	return -1
}

// earliest returns the earlier of two times. A zero time means never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
