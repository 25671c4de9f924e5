package testfile

import (
	"slices"
	"testing"
)

func TestWrongCounts(t *testing.T) {
	for text, want := range map[string][]string{
		"1 pods wait":                   {"1 pods"},
		"1 pod waits, 2 pods wait":      nil,
		"now 1 are active":              {"now 1 are"},
		"1 is active":                   nil,
		"there are 3 index, 10 retry.":  {"are 3 index,", "10 retry."},
		"2 retries, 1 retries":          {"1 retries"},
		"11 pods, 0 pods, 21 pods":      nil,
		"0 pod is wanted":               {"0 pod"},
		"index 1 runs its retry 1 of 3": nil,
		"all but 1 are deleted":         nil,
		"for 0.1 seconds, at 09:1 runs": nil,
		"2 pod-like things":             nil,
		"more than 1 have failed":       {"than 1 have"},
	} {
		if got := WrongCounts(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
