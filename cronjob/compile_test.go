package cronjob_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/cronjobgen"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/schedule"
)

// A time that two schedules share is one run. An excluded time neither runs nor counts as missed.
func TestCompile_SeveralSchedules(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "0 */2 * * *"}), hours(6.5))
	s.Schedule = cronjob.Compile(&s.CronJob, schedule.Also("0 */3 * * *"), schedule.Except("* 4 * * *"))
	s.Options.CatchUp = cronjob.CatchUpAll
	if got, want := starts(t, s, 5), []float64{2, 3, 6}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if bad := cronjob.Compile(&s.CronJob, schedule.Also("0 0 * * 7")); bad.Problem != cronjobreason.ProblemUnparseableSchedule || !strings.Contains(bad.Message, "0 0 * * 7") {
		t.Errorf("%+v", bad)
	}
}

// S1: "@every" counts from the creation of the CronJob, to the second.
func TestCompile_EveryCountsFromTheCreation(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@every 7h"})
	c.CreationTimestamp = at("2026-01-01T01:02:03Z")
	s := snapshot(c, at("2026-01-01T20:00:00Z"))
	if got, want := created(t, reconcile(t, s)), at("2026-01-01T15:02:03Z"); !got.Equal(want) {
		t.Errorf("got %s, want %s", got, want)
	}
	// Without a creation time, "@every" counts from another time.
	c.CreationTimestamp = time.Time{}
	c.Status.LastScheduleTime = start
	if got := created(t, reconcile(t, snapshot(c, at("2026-01-01T20:00:00Z")))); got.Equal(at("2026-01-01T15:02:03Z")) {
		t.Errorf("without a creation time got %s", got)
	}
}

// The message quotes the schedule that the user wrote.
func TestC6_UnknownTimeZoneQuotesTheSchedule(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "30 6 * * *", TimeZone: ptr("Mars/Base")})
	compiled := cronjob.Compile(&c)
	if m := compiled.Message; !strings.Contains(m, `"30 6 * * *"`) || !strings.Contains(m, `"Mars/Base"`) || strings.Contains(m, "@daily") {
		t.Error(m)
	}
}

// A compiled schedule can be used for a CronJob until one of its inputs changes (C17). The inputs
// are the schedule, its zone, and the creation from which "@every" counts.
func TestCompiled_IsFor(t *testing.T) {
	for _, of := range []string{"@every 7h", "at noon"} {
		c := newCronJob(cronjob.Spec{Schedule: of})

		for _, change := range []struct {
			name   string
			change func(*cronjob.CronJob)
			want   bool
		}{
			{"nothing", func(*cronjob.CronJob) {}, true},
			{"what no schedule reads", func(c *cronjob.CronJob) { c.UID, c.Spec.Suspend, c.Status.LastScheduleTime = "u2", ptr(true), start }, true},
			{"the zone of the time", func(c *cronjob.CronJob) { c.CreationTimestamp = c.CreationTimestamp.In(time.FixedZone("", 3600)) }, true},
			{"the creation", func(c *cronjob.CronJob) { c.CreationTimestamp = c.CreationTimestamp.Add(time.Second) }, false},
			{"the schedule", func(c *cronjob.CronJob) { c.Spec.Schedule += " " }, false},
			{"a zone", func(c *cronjob.CronJob) { c.Spec.TimeZone = ptr("Europe/Berlin") }, false},
			{"an empty zone", func(c *cronjob.CronJob) { c.Spec.TimeZone = ptr("") }, false},
			{"an unknown zone", func(c *cronjob.CronJob) { c.Spec.TimeZone = ptr("Mars/Base") }, false},
		} {
			was, is := c, c
			change.change(&is)
			for range 2 { // the second time, the reverse change
				compiled := cronjob.Compile(&was)
				if got := compiled.IsFor(&is); got != change.want {
					t.Errorf("%s, %s: got %t, want %t", of, change.name, got, change.want)
				}
				if !compiled.IsFor(&was) {
					t.Errorf("%s, %s: is not for what it was compiled from", of, change.name)
				}
				was, is = is, was
			}
		}

		if new(cronjob.Compiled).IsFor(&c) {
			t.Error("nothing is for a CronJob")
		}
	}
}

// A compiled schedule is stored with the zone of the spec and the zone of the options, even if the
// schedule does not parse. If stored data is wrong, the error gives the reason.
func TestCompiled_Stored(t *testing.T) {
	berlin := "Europe/Berlin"

	for _, tc := range []struct {
		name string
		spec cronjob.Spec
		opts []schedule.Option
		want string
	}{
		{"plain", cronjob.Spec{Schedule: "@hourly"}, nil, `{"schedule":{"spec":"@hourly","anchor":0},"source":"@hourly"}`},
		{"zone", cronjob.Spec{Schedule: "30 2 * * *", TimeZone: &berlin}, []schedule.Option{schedule.RunSkippedAtGapEnd()},
			`{"schedule":{"spec":"30 2 * * *","timeZone":"Europe/Berlin","skipped":"atGapEnd"},"source":"30 2 * * *","zone":"Europe/Berlin","location":"Europe/Berlin"}`},
		{"two zones", cronjob.Spec{Schedule: "TZ=Asia/Tokyo 0 9 * * *", TimeZone: &berlin}, nil,
			`{"schedule":{"spec":"0 9 * * *","timeZone":"Asia/Tokyo"},"source":"TZ=Asia/Tokyo 0 9 * * *","zone":"Europe/Berlin","location":"Europe/Berlin"}`},
		{"no schedule", cronjob.Spec{Schedule: "x"}, nil,
			`{"problem":"UnparseableSchedule","message":"schedule \"x\": fields \"x\": want 5 fields (minute hour day-of-month month day-of-week), found 1","source":"x"}`},
		{"not compiled", cronjob.Spec{}, nil, `{}`},
	} {
		c := newCronJob(tc.spec)
		c.CreationTimestamp = time.Time{}

		var compiled cronjob.Compiled
		if tc.want != "{}" {
			compiled = cronjob.Compile(&c, tc.opts...)
		}

		data, err := json.Marshal(compiled)
		if want := strings.Replace(tc.want, `,"anchor":0`, "", 1); err != nil || string(data) != want {
			t.Errorf("%s: stored as %s, %v", tc.name, data, err)
		}

		var read cronjob.Compiled
		if err := json.Unmarshal(data, &read); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		zone := func(c cronjob.Compiled) string { return fmt.Sprint(c.Location) }
		if !read.Schedule.Equal(compiled.Schedule) || zone(read) != zone(compiled) || read.Problem != compiled.Problem || read.Source != compiled.Source {
			t.Errorf("%s: read as %+v", tc.name, read)
		}
	}

	for data, want := range map[string]string{
		`{"schedule":{"spec":"61 * * * *"}}`:                 `minute "61"`,
		`{"schedule":{"spec":"@daily","timeZone":"Mars/X"}}`: `zone "Mars/X"`,
		`{"schedule":{"spec":"@daily"},"location":"Mars/X"}`: `compiled schedule: location: schedule "": zone "Mars/X"`,
		`{"schedule":7}`: "compiled schedule: schedule: json: cannot unmarshal",
	} {
		var read cronjob.Compiled
		if err := json.Unmarshal([]byte(data), &read); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", data, err, want)
		}
	}
}

// The error names what is missing in a snapshot that was stored without schedule or namer.
func TestSnapshot_StoredIncomplete(t *testing.T) {
	s := in(hourly(cronjob.Spec{}, hours(1)), cronjob.Options{Naming: cronjob.Naming{Form: cronjob.NameCustom, Namer: cronjobgen.Stamps{}}})
	data, err := json.Marshal(s)
	must.OK(t, err)
	for schedule, want := range map[string]string{
		`"schedule":{"schedule"`: `options.naming.namer: "": is required with form Custom; a stored snapshot leaves it out`,
		`"schedule":{"other"`:    `schedule: "": is not compiled`,
	} {
		var read cronjob.Snapshot
		must.OK(t, json.Unmarshal([]byte(strings.Replace(string(data), `"schedule":{"schedule"`, schedule, 1)), &read))
		if _, err := cronjob.Reconcile(read); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestC17_CompiledForAnotherZone: a schedule that was compiled for another zone is refused.
func TestC17_CompiledForAnotherZone(t *testing.T) {
	for _, zone := range []*string{nil, ptr("America/New_York"), ptr("Etc/UTC")} {
		s := snapshot(newCronJob(cronjob.Spec{Schedule: "0 9 * * *", TimeZone: ptr("Europe/Berlin")}), start)
		s.CronJob.Spec.TimeZone = zone
		if _, err := cronjob.Reconcile(s); !slices.Equal(fields(err), []string{"schedule"}) {
			t.Errorf("%v: a schedule of another zone is accepted: %v", zone, err)
		}
	}
}

// TestCompile_AnchorOfTheOptions: an anchor in the options overrides the creation of the CronJob.
func TestCompile_AnchorOfTheOptions(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@every 7h"})
	c.CreationTimestamp = hours(1)
	want := schedule.WithAnchor(hours(2))
	if got := cronjob.Compile(&c, want).Schedule; !got.Next(hours(3)).Equal(hours(9)) {
		t.Errorf("after 3:00 comes %s, want 9:00", got.Next(hours(3)))
	}
	if got := cronjob.Compile(&c).Schedule; !got.Next(hours(3)).Equal(hours(8)) {
		t.Errorf("after 3:00 comes %s, want 8:00", got.Next(hours(3)))
	}
}
