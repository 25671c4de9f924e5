package cronjob

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// C1: the longest label, and one byte more.
func TestC1_LongestLabel(t *testing.T) {
	for n, want := range map[int]bool{0: false, 1: true, maxLabel: true, maxLabel + 1: false} {
		if got := isLabel(strings.Repeat("a", n)); got != want {
			t.Errorf("%d bytes: %t", n, got)
		}
	}
}

// C1: each byte that a zone's name can have, and no other.
func TestC1_BytesOfZoneNames(t *testing.T) {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_+/"
	for c := range 256 {
		name := fmt.Sprintf("a%sb", []byte{byte(c)})
		if want := slices.Contains([]byte(allowed), byte(c)); isZoneName(name) != want {
			t.Errorf("%q: %t", name, !want)
		}
	}
}
