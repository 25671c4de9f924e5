package job

import (
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// TestJ23_Deadline: activeDeadlineSeconds count from the start. A suspended job has no deadline,
// nor has a job that has not started. A deadline after more than 292 years counts as never.
func TestJ23_Deadline(t *testing.T) {
	var never time.Time
	for _, c := range []struct {
		name, spec string
		start      time.Time
		want       time.Time
	}{
		{"none", `{}`, second(1), never},
		{"a minute", `{"activeDeadlineSeconds": 60}`, second(1), second(61)},
		{"at once", `{"activeDeadlineSeconds": 0}`, second(1), second(1)},
		{"suspended", `{"activeDeadlineSeconds": 60, "suspend": true}`, second(1), never},
		{"not started", `{"activeDeadlineSeconds": 60}`, never, never},
		{"as far away as a duration reaches", `{"activeDeadlineSeconds": 9223372036}`, second(1), second(1).Add(9223372036 * time.Second)},
		{"further away than a duration reaches", `{"activeDeadlineSeconds": 9223372037}`, second(1), never},
	} {
		spec := specOf(t, c.spec)
		if got := deadline(&spec, c.start); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}

	for now, want := range map[time.Time]bool{second(60): false, second(61): true, second(62): true} {
		if got := pastDeadline(second(61), now).decided(); got != want {
			t.Errorf("at %v: %v", now, got)
		}
	}
	if pastDeadline(never, second(62)).decided() {
		t.Error("a job without a deadline is past it")
	}
}

// TestJ12_StartInTheFuture: the note names the field and the value.
func TestJ12_StartInTheFuture(t *testing.T) {
	s := snapshotOf(t, `{"activeDeadlineSeconds": 60}`, activePod("a"))
	s.Job.Status.StartTime = second(50)
	plan := PlanOf(t, s)
	want := []Note{{"job.status.startTime", value.Time(second(50)),
		"lies in the future; the deadline counts from there"}}
	if !slices.Equal(plan.Notes, want) {
		t.Errorf("notes %+v, want %+v", plan.Notes, want)
	}
}
