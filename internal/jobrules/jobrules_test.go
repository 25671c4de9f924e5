package jobrules

import (
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/job/release"
)

var (
	zero time.Time
	noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	late = noon.Add(time.Hour)
)

// TestEndsWithoutNotice: jobs end without notice only if both gates are off.
func TestEndsWithoutNotice(t *testing.T) {
	managed, replaced := release.JobManagedBy, release.JobPodReplacementPolicy
	for _, test := range []struct {
		off  release.Gates
		want bool
	}{
		{release.Gates{}, false},
		{release.GatesOf(managed), false},
		{release.GatesOf(replaced), false},
		{release.GatesOf(managed, replaced), true},
		{release.GatesOf(managed, replaced, release.JobSuccessPolicy), true},
	} {
		if got := EndsWithoutNotice(test.off); got != test.want {
			t.Errorf("without %v: %t", test.off, got)
		}
	}
}

func TestTimes(t *testing.T) {
	gate := release.GatesOf(release.MutableSchedulingDirectivesForSuspendedJobs)
	for _, test := range []struct {
		name      string
		got, want time.Time
	}{
		{"JI17: a job ends after its start", CompletionTime(noon, late), late},
		{"JI17: a job ends when it starts", CompletionTime(noon, noon), noon},
		{"JI17: the clock has gone back", CompletionTime(late, noon), late},
		{"J39: resumed", StartTime(zero, late, false, release.Gates{}), late},
		{"J39: resumed, and was never stopped", StartTime(noon, late, false, gate), late},
		{"J39: suspended", StartTime(noon, late, true, release.Gates{}), zero},
		{"J39: suspended without the gate", StartTime(noon, late, true, gate), noon},
	} {
		if !test.got.Equal(test.want) {
			t.Errorf("%s: got %v, want %v", test.name, test.got, test.want)
		}
	}
}

func TestCountIndexes(t *testing.T) {
	for _, test := range []struct {
		text string
		n    int32
		want string
	}{
		{"", 0, ""},
		{"0", 1, ""},
		{"0,2-4", 4, ""},
		{"4", 1, ""},
		{"5", 0, "must hold indexes below completions, 5"},
		{"2-5", 0, "must hold indexes below completions, 5"},
		{"1,1", 0, "must be in increasing order"},
		{"2-3,3", 0, "must be in increasing order"},
		{"2-2", 0, `"2-2" must end after its beginning`},
		{"3-2", 0, `"3-2" is neither an index nor a range`},
		{"0," + strings.Repeat("x", 41), 0, `"` + strings.Repeat("x", 40) + `..." is neither an index nor a range`},
	} {
		if n, problem := CountIndexes(test.text, 5); n != test.n || problem != test.want {
			t.Errorf("%q: %d, %q", test.text, n, problem)
		}
	}
}
