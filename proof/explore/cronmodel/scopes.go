package cronmodel

import (
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/schedule"
)

func ptr[T any](v T) *T { return &v }

// Edits of a spec.
func suspend(s *cronjob.Spec)   { s.Suspend = ptr(true) }
func resume(s *cronjob.Spec)    { s.Suspend = ptr(false) }
func twoHourly(s *cronjob.Spec) { s.Schedule = "0 */2 * * *" }

// Small are the scopes that are explored completely in each run of the tests.
var Small = []Scope{
	{Name: "allow", Covers: "runs beside each other, lost replies and crashes, jobs that users delete", Runs: 2, Rest: 60,
		Spec:   cronjob.Spec{SuccessfulJobsHistoryLimit: ptr[int32](0)},
		Budget: Budget{Lost: 1, Crashes: 1, Deletes: 1, Ticks: 3},
		Must:   []string{"C2 history", "C13 start"}},
	{Name: "missed", Covers: "outages in which runs are missed, with a deadline", Runs: 4, Rest: 60,
		Spec:   cronjob.Spec{StartingDeadlineSeconds: ptr[int64](2000)},
		Budget: Budget{Crashes: 1, Ticks: 2, Jumps: 1},
		Must:   []string{"C9 missed"}},
	{Name: "missed-many", Covers: "an outage of five days, in which more than a hundred runs are missed",
		Times: []time.Duration{time.Hour, 2 * time.Hour, 120 * time.Hour, 121 * time.Hour}, Jump: 120 * time.Hour, Rest: 60,
		Budget: Budget{Lost: 1, Crashes: 1, Ticks: 3, Jumps: 1},
		Must:   []string{"C9 missed"}},
	{Name: "irregular", Covers: "a schedule without a constant interval, and an outage over a weekend",
		Spec:  cronjob.Spec{Schedule: "30 6-16/4 * * 1-5"},
		Times: []time.Duration{390 * time.Minute, 630 * time.Minute, 870 * time.Minute, 38*time.Hour + 30*time.Minute}, Jump: 72 * time.Hour, Rest: 60,
		Budget: Budget{Lost: 1, Crashes: 1, Ticks: 2, Jumps: 1},
		Must:   []string{"C9 missed"}},
	{Name: "allow-late", Covers: "runs whose jobs are soon deleted, under snapshots that lack own writes: no run is repeated", Runs: 2, Late: true, Rest: 60,
		Spec:   cronjob.Spec{SuccessfulJobsHistoryLimit: ptr[int32](0)},
		Budget: Budget{Lost: 1, Ticks: 3},
		Must:   []string{"C2 history", "C13 start"}},
	{Name: "forbid", Covers: "Forbid: no run beside an active job", Runs: 3, Rest: 60,
		Spec:   cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid},
		Budget: Budget{Fails: 1, Lost: 1, Crashes: 1, Ticks: 3},
		Must:   []string{"C11 held by active"}},
	{Name: "forbid-late", Covers: "Forbid under snapshots that lack own writes: jobs and status each late by themselves", Runs: 3, Late: true, Rest: 60,
		Spec:   cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid},
		Budget: Budget{Fails: 1, Lost: 1, Ticks: 3},
		Must:   []string{"C11 held by active", "C5 verify", "CI15 stale"}},
	{Name: "forbid-late-crash", Covers: "the same with a crash", Runs: 3, Late: true, Rest: 60,
		Spec:   cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid},
		Budget: Budget{Crashes: 1, Fails: 1, Ticks: 3}},
	{Name: "forbid-catch-up", Covers: "Forbid, where one run follows the other at once since all missed runs are made up", Runs: 3, Late: true, Rest: 60,
		Spec: cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid}, Options: cronjob.Options{CatchUp: cronjob.CatchUpAll},
		Budget: Budget{Lost: 1, Ticks: 1, Jumps: 1}},
	{Name: "replace-late", Covers: "Replace under snapshots that lack own writes", Runs: 3, Late: true, Rest: 60,
		Spec:   cronjob.Spec{ConcurrencyPolicy: cronjob.Replace},
		Budget: Budget{Fails: 1, Lost: 1, Ticks: 3},
		Must:   []string{"C12 replace"}},
	{Name: "replace-crash", Covers: "Replace with crashes between a creation and its status", Runs: 3, Rest: 60,
		Spec:   cronjob.Spec{ConcurrencyPolicy: cronjob.Replace},
		Budget: Budget{Lost: 1, Crashes: 1, Ticks: 3},
		Must:   []string{"C12 replace"}},
	{Name: "replace-when-gone", Covers: "Replace that waits for the pods of the jobs it deletes", Runs: 3, Late: true, Rest: 60,
		Spec: cronjob.Spec{ConcurrencyPolicy: cronjob.Replace}, Options: cronjob.Options{ReplaceWhenGone: true},
		Budget: Budget{Fails: 1, Ticks: 2, Jumps: 1},
		Must:   []string{"C12 replace"}},
	{Name: "max-active-late", Covers: "MaxActive with triggers, under snapshots that lack own writes", Runs: 2, Late: true, Rest: 60,
		Options: cronjob.Options{MaxActive: 1}, Overlap: cronjob.Forbid,
		Budget: Budget{Triggers: 2, Lost: 1, Ticks: 2},
		Must:   []string{"trigger starts", "trigger waits"}},
	{Name: "unlisted-forbid-late", Covers: "Forbid for a kind without a list of active jobs, whose names alone tell the runs", Runs: 3, Late: true, Rest: 60,
		Spec: cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid}, Options: unlisted,
		Budget: Budget{Fails: 1, Lost: 1, Ticks: 3},
		Must:   []string{"C11 held by active"}},
	{Name: "unlisted-replace-crash", Covers: "Replace for such a kind, with crashes between a creation and its status", Runs: 3, Rest: 60,
		Spec: cronjob.Spec{ConcurrencyPolicy: cronjob.Replace}, Options: unlisted,
		Budget: Budget{Lost: 1, Crashes: 1, Deletes: 1, Ticks: 3},
		Must:   []string{"C12 replace"}},
	{Name: "pause-after-failures", Covers: "no run after a failure, until a success or a deletion", Runs: 3, Failures: true, Rest: 60,
		Options: cronjob.Options{PauseAfterFailures: 1},
		Budget:  Budget{Triggers: 1, Deletes: 1, Ticks: 3},
		Must:    []string{"C19 pause"}},
	{Name: "unlisted-pause", Covers: "the same for a kind without a time of the last success, whose history keeps no success", Runs: 3, Failures: true, Rest: 60,
		Spec: cronjob.Spec{SuccessfulJobsHistoryLimit: ptr[int32](0)}, Options: unlistedPause,
		Budget: Budget{Deletes: 1, Ticks: 3},
		Must:   []string{"C19 pause", "C13 start"}},
	{Name: "window", Covers: "a window of start and end, with runs before and after it", Times: []time.Duration{2 * time.Hour, 3 * time.Hour}, Rest: 60,
		Schedule: []schedule.Option{schedule.NotBefore(start.Add(90 * time.Minute)), schedule.NotAfter(start.Add(3 * time.Hour))},
		Budget:   Budget{Lost: 1, Crashes: 1, Ticks: 2, Jumps: 1},
		Must:     []string{"C13 start", "C20 no further run"}},
	{Name: "run-at-creation", Covers: "a run at the creation, under snapshots that lack own writes: it starts once", Late: true, Rest: 60,
		Times: []time.Duration{time.Second, time.Hour, 2 * time.Hour}, Schedule: []schedule.Option{schedule.RunAfterAnchor()},
		Spec: cronjob.Spec{SuccessfulJobsHistoryLimit: ptr[int32](0)}, Options: cronjob.Options{Naming: cronjob.Naming{Form: cronjob.NameSeconds}},
		Budget: Budget{Lost: 1, Ticks: 2},
		Must:   []string{"C2 history", "C13 start"}},
	{Name: "seconds", Covers: "two runs in a minute, with Forbid and names that tell the seconds", Rest: 60,
		Times:    []time.Duration{30 * time.Second, 30 * time.Minute, 30*time.Minute + 30*time.Second},
		Schedule: []schedule.Option{schedule.WithSeconds()},
		Spec:     cronjob.Spec{Schedule: "0,30 0,30 * * * *", ConcurrencyPolicy: cronjob.Forbid}, Options: cronjob.Options{Naming: cronjob.Naming{Form: cronjob.NameSeconds}},
		Budget: Budget{Fails: 1, Lost: 1, Crashes: 1, Ticks: 3},
		Must:   []string{"C11 held by active", "C13 start"}},
	{Name: "backfill", Covers: "a backfill beside the schedule, with crashes between its jobs and its progress", Runs: 3, Rest: 60,
		Backfill: cronjob.Backfill{After: start, Until: start.Add(3 * time.Hour)},
		Budget:   Budget{Backfills: 1, Lost: 1, Crashes: 1, Jumps: 1, Ticks: 1},
		Must:     []string{"backfill starts", "backfill waits"}},
	{Name: "backfill-suspended", Covers: "a backfill of a later run while the CronJob is suspended, until the older ones are beyond the limit", Runs: 4, Rest: 60,
		Spec:     cronjob.Spec{Suspend: ptr(true), SuccessfulJobsHistoryLimit: ptr[int32](0)},
		Options:  cronjob.Options{CatchUp: cronjob.CatchUpAll, CatchUpLimit: 2},
		Backfill: cronjob.Backfill{After: start.Add(time.Hour), Until: start.Add(2 * time.Hour)},
		Budget:   Budget{Backfills: 1, Lost: 1, Crashes: 1, Ticks: 3},
		Must:     []string{"C2 history", "C6 suspended", "backfill starts"}},
	{Name: "edits", Covers: "suspend, resume and another schedule", Runs: 4, Rest: 60,
		Edits:  []func(*cronjob.Spec){suspend, resume, twoHourly},
		Budget: Budget{Edits: 2, Crashes: 1, Ticks: 2, Jumps: 1},
		Must:   []string{"C6 suspended"}},
	{Name: "edits-late", Covers: "the same under late snapshots, with runs set aside", Runs: 3, Late: true, Rest: 60,
		Options: cronjob.Options{SkipOnResume: true, SkipOnEdit: true},
		Edits:   []func(*cronjob.Spec){suspend, resume, twoHourly},
		Budget:  Budget{Edits: 1, Lost: 1, Ticks: 3}},
	{Name: "name-taken", Covers: "jobs of other owners that take the names of runs", Runs: 3, Rest: 60,
		Budget: Budget{Taken: 2, Fails: 1, Crashes: 1, Ticks: 3},
		Must:   []string{"C14 name taken"}},
	{Name: "clock", Covers: "a clock that jumps and goes back: no run is repeated", Runs: 5, Rest: 60,
		Spec:   cronjob.Spec{SuccessfulJobsHistoryLimit: ptr[int32](0)},
		Budget: Budget{Crashes: 1, Ticks: 2, Jumps: 1, Backs: 1},
		Must:   []string{"CI14 clock"}},
	{Name: "deletes-late", Covers: "jobs that users delete once their runs are recorded, under snapshots that lack own writes", Runs: 2, Late: true, Rest: 60,
		Budget: Budget{Deletes: 2, Fails: 1, Ticks: 3},
		Must:   []string{"C5 verify"}},
	{Name: "vanished-late", Covers: "jobs that users delete before a status is seen whose write had no reply, with a crash: no run is repeated", Runs: 2, Late: true, Rest: 60,
		Budget: Budget{Lost: 1, Crashes: 1, Deletes: 1, Ticks: 3},
		Must:   []string{"C5 verify", "C13 start"}},
	{Name: "status-late", Covers: "status writes that take effect late or lose their replies, under snapshots that are behind, and jobs that users delete", Runs: 2, Late: true, Rest: 60,
		Budget: Budget{Delays: 1, Lost: 1, Deletes: 1, Ticks: 2},
		Must:   []string{"C5 verify", "C13 start"}},
	{Name: "forbid-status-late", Covers: "the same with Forbid", Runs: 3, Late: true, Rest: 60,
		Spec:   cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid},
		Budget: Budget{Delays: 1, Lost: 1, Ticks: 3},
		Must:   []string{"C11 held by active"}},
}

// Large are scopes for runs of minutes and hours.
var Large = []Scope{
	{Name: "allow-faults", Covers: "runs beside each other, any three faults, a clock that goes back", Runs: 3, Rest: 60,
		Spec:   cronjob.Spec{SuccessfulJobsHistoryLimit: ptr[int32](0)},
		Budget: Budget{Fails: 1, Lost: 1, Crashes: 1, Deletes: 1, Ticks: 3, Backs: 1}},
	{Name: "missed-faults", Covers: "outages in which runs are missed, with a deadline and faults", Runs: 5, Rest: 60,
		Spec:   cronjob.Spec{StartingDeadlineSeconds: ptr[int64](2000)},
		Budget: Budget{Fails: 1, Crashes: 1, Ticks: 3, Jumps: 1}},
	{Name: "forbid-catch-up-faults", Covers: "Forbid, where all missed runs are made up, with two faults", Runs: 3, Late: true, Rest: 60,
		Spec: cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid}, Options: cronjob.Options{CatchUp: cronjob.CatchUpAll},
		Budget: Budget{Fails: 1, Lost: 1, Ticks: 2, Jumps: 1}},
	{Name: "backfill-faults", Covers: "a backfill beside the schedule, any three faults", Runs: 3, Rest: 60,
		Backfill: cronjob.Backfill{After: start, Until: start.Add(3 * time.Hour)},
		Budget:   Budget{Backfills: 1, Fails: 1, Lost: 1, Crashes: 1, Ticks: 2, Jumps: 1}},
	{Name: "edits-late-twice", Covers: "two edits under late snapshots, with runs set aside", Runs: 3, Late: true, Rest: 60,
		Options: cronjob.Options{SkipOnResume: true, SkipOnEdit: true},
		Edits:   []func(*cronjob.Spec){suspend, resume, twoHourly},
		Budget:  Budget{Edits: 2, Lost: 1, Ticks: 3}},
}

// unlistedPause is unlisted with a pause after one failure.
var unlistedPause = func() cronjob.Options {
	o := unlisted
	o.PauseAfterFailures = 1
	return o
}()

// unlisted are the options for a kind whose status is lastScheduleTime alone.
var unlisted = cronjob.Options{
	Child:  cronjob.Kind{Kind: "Work", APIVersion: "example.com/v1"},
	Naming: cronjob.Naming{Form: cronjob.NameSeconds, Prefix: "run-"}, Marks: cronjob.Marks{TimeIn: cronjob.InName},
	ActiveFromChildren: true, SuccessFromChildren: true,
}
