package cronjob

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

// C1: the longest label, and one byte more.
func TestC1_LongestLabel(t *testing.T) {
	for n, want := range map[int]bool{0: false, 1: true, maxLabel: true, maxLabel + 1: false} {
		if got := isLabel(strings.Repeat("a", n)); got != want {
			t.Errorf("%d bytes: %t", n, got)
		}
	}
	for text, want := range map[string]bool{"az-09": true, "9": true, "A": false, "a_b": false, "a.b": false, "a{": false, "a:": false, "-a": false, "a-": false} {
		if got := isLabel(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// C1: the name of a zone can have these bytes and no others.
func TestC1_BytesOfZoneNames(t *testing.T) {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_+/"
	for c := range 256 {
		name := fmt.Sprintf("a%sb", []byte{byte(c)})
		if want := slices.Contains([]byte(allowed), byte(c)); isZoneName(name) != want {
			t.Errorf("%q: %t", name, !want)
		}
	}
	if isZoneName("a/../b") || !isZoneName("a/...") {
		t.Error("two dots are a part, or three are none")
	}
}

// C13: comparing a runName with a text gives the same result as building the whole name first.
func TestRunName_Is(t *testing.T) {
	own := names{cronJob: "report"}
	run := time.Date(2026, 1, 1, 1, 0, 59, 0, time.UTC)
	for name, want := range map[string]bool{
		"report-29453820": true, "report-29453821": false, "report-2945382": false, "report-294538200": false,
		"report29453820": false, "report": false, "report-": false, "": false, "reports-29453820": false,
	} {
		if got := own.of(run).is(name); got != want {
			t.Errorf("%q: got %t", name, got)
		}
	}
	for _, run := range []time.Time{run, time.Unix(0, 0), time.Unix(-60, 0), {}} {
		if name := (Naming{}).JobName("report", run); !own.of(run).is(name) {
			t.Errorf("%q is not its own name", name)
		}
	}
}

// C5: a job is found in a list by UID, and by name if its UID is not known. Short and long lists
// give the same results.
func TestC5_MembersByUIDOrByName(t *testing.T) {
	refs := []Reference{{Name: "a", UID: "1"}, {Name: "b", UID: "2"}}
	for _, times := range []int{1, few} {
		isMember := memberOf(refs, times)
		for ask, want := range map[Reference]bool{
			{UID: "2", Name: "b"}: true, {UID: "2", Name: "other"}: true, {UID: "3", Name: "b"}: false,
			{Name: "b"}: true, {Name: "other"}: false, {UID: "3", Name: "other"}: false,
		} {
			if got := isMember(ask.UID, ask.Name); got != want {
				t.Errorf("asked %d times, UID %q, name %q: %t", times, ask.UID, ask.Name, got)
			}
		}
	}
}

// TestMemberOf: a job without a UID is found by its name, in short and in long lists.
func TestMemberOf(t *testing.T) {
	for _, times := range []int{1, few + 1} {
		isMember := memberOf([]Reference{{Name: "a"}, {Name: "b", UID: "u"}}, times)
		for _, c := range []struct {
			uid  job.UID
			name string
			want bool
		}{{"", "a", true}, {"", "c", false}, {"u", "other", true}, {"v", "a", false}} {
			if got := isMember(c.uid, c.name); got != c.want {
				t.Errorf("%d times: %q %q: %v", times, c.uid, c.name, got)
			}
		}
	}
}

func TestCount(t *testing.T) {
	if count(5).of(3) != 3 || count(2).of(3) != 2 {
		t.Error("not the smaller one")
	}
}

// TestC18_FailuresSince: a failure exactly at the given time does not count, and neither does the
// failure of a foreign job.
func TestC18_FailuresSince(t *testing.T) {
	since := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var children []Child
	for _, after := range []time.Duration{-time.Second, 0, time.Second, time.Minute} {
		children = append(children, Child{Finished: Failed, FinishTime: since.Add(after)})
	}
	if children[3].Foreign = true; failuresSince(children, since) != 1 {
		t.Errorf("%d failures, want 1", failuresSince(children, since))
	}
}

func TestKubernetes_LeavesOutWhatCronJobsHave(t *testing.T) {
	for _, r := range release.All() {
		if got := Kubernetes(r).Without.Without(release.CronJobsScheduledAnnotation); got != (release.Gates{}) {
			t.Errorf("%v: without %v as well", r, got)
		}
	}
}
