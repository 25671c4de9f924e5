package cronjob_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
)

// A snapshot without a schedule is the adapter's mistake, not the user's: no event tells
// the user of an invalid schedule.
func TestSnapshotErrors_NotCompiled(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(1.5))
	s.Schedule = cronjob.Compiled{}
	_, err := cronjob.Reconcile(s)
	if !slices.Equal(fields(err), []string{"schedule"}) || !strings.Contains(err.Error(), "cronjob.Compile") {
		t.Errorf("got %v", err)
	}
}

// Without any time from which runs count, all runs since the year 1 would be missed.
func TestSnapshotErrors_NoBeginning(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	c.CreationTimestamp = time.Time{}
	if _, err := cronjob.Reconcile(snapshot(c, hours(1.5))); !slices.Equal(fields(err), []string{"cronJob.creationTimestamp"}) {
		t.Errorf("got %v", err)
	}
	c.Status.LastScheduleTime = start
	if got := created(t, reconcile(t, snapshot(c, hours(1.5)))); !got.Equal(hours(1)) {
		t.Errorf("with a lastScheduleTime got %s", got)
	}
}

// CI9: how long to wait is never 0 with ok, which several work queues read as "never".
func TestCI9_RequeueAfter(t *testing.T) {
	for _, tc := range []struct {
		name string
		at   time.Time
		want time.Duration
		ok   bool
	}{
		{"never", time.Time{}, 0, false},
		{"later", hours(1), time.Hour, true},
		{"at once", hours(0), 1, true},
		{"the time has passed", hours(-1), 1, true},
	} {
		if d, ok := (cronjob.Requeue{At: tc.at}).After(start); d != tc.want || ok != tc.ok {
			t.Errorf("%s: got %d, %t", tc.name, d, ok)
		}
	}
}

// The message is about the schedule that the user wrote.
func TestC6_UnknownTimeZoneQuotesTheSchedule(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "30 6 * * *", TimeZone: ptr("Mars/Base")})
	compiled := cronjob.Compile(&c)
	if m := compiled.Message; !strings.Contains(m, `"30 6 * * *"`) || !strings.Contains(m, `"Mars/Base"`) || strings.Contains(m, "@daily") {
		t.Error(m)
	}
}

func TestC1_ValidateWithName(t *testing.T) {
	long := strings.Repeat("n", 52)
	for _, tc := range []struct {
		name     string
		cronJob  string
		triggers []cronjob.Trigger
		fields   []string
	}{
		{"a name as long as can be", long, nil, nil},
		{"a name that makes the names of jobs too long", long + "n", nil, []string{"metadata.name"}},
		{"a name of several labels", "report.v2", nil, nil},
		{"no name", "", nil, []string{"metadata.name"}},
		{"a name that is none", "Report_1", nil, []string{"metadata.name"}},
		{"an empty label", "report..v2", nil, []string{"metadata.name"}},
		{"a trigger", "report", []cronjob.Trigger{{ID: "2026-a"}}, nil},
		{"an ID that is no label", "report", []cronjob.Trigger{{ID: "By_Hand"}, {ID: "-a"}, {ID: "a-"}, {ID: "a.b"}},
			[]string{"triggers[By_Hand].id", "triggers[-a].id", "triggers[a-].id", "triggers[a.b].id"}},
		{"no ID", "report", []cronjob.Trigger{{}}, []string{"triggers[].id"}},
		{"an ID as long as can be", "report", []cronjob.Trigger{{ID: strings.Repeat("i", 49)}}, nil},
		{"an ID that makes the job's name too long", "report", []cronjob.Trigger{{ID: strings.Repeat("i", 50)}}, []string{"triggers[" + strings.Repeat("i", 50) + "].id"}},
		{"an overlap policy that is none", "report", []cronjob.Trigger{{ID: "a", Overlap: "Replace"}}, []string{"triggers[a].overlap"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
			c.Name = tc.cronJob
			if got := fields(c.Validate(tc.triggers...)); !slices.Equal(got, tc.fields) {
				t.Errorf("got %q, want %q", got, tc.fields)
			}
		})
	}
	c := newCronJob(cronjob.Spec{Schedule: "soon"})
	c.Name = ""
	if got := fields(c.Validate()); !slices.Equal(got, []string{"metadata.name", "spec.schedule"}) {
		t.Errorf("all at once: %q", got)
	}
}
