package cronjobgen

import (
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/specgen"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/schedule"
)

func ptr[T any](v T) *T { return &v }

// Schedules are the schedules that [Specs] chooses from: frequent and rare ones, some with gaps.
var Schedules = []string{
	"*/7 * * * *",
	"@hourly",
	"0 9,17 * * 1-5",
	"*/20 14 * * *",
	"30 6-16/4 * * 1-5",
	"@daily",
	"@every 90m",
	"0 0 1 * *",
}

// Starts are the times at which lives, the random runs of a test, begin. Two of them are less than
// a day before the clocks change in New York.
var Starts = []time.Time{
	world.Start, world.Start,
	time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC),
	time.Date(2026, 10, 31, 12, 0, 0, 0, time.UTC),
}

// Policies are the concurrency policies.
var Policies = []cronjob.ConcurrencyPolicy{cronjob.Allow, cronjob.Forbid, cronjob.Replace}

// Specs generates specs with their defaults, in two zones.
func Specs() *rapid.Generator[cronjob.Spec] { return rapid.Custom(drawSpec) }

func drawSpec(t *rapid.T) cronjob.Spec {
	spec := specgen.Decode[cronjob.Spec](specgen.Generator{Source: specgen.Rapid(t), Schedules: Schedules}.CronJob())
	cronjob.Default(&spec)
	return spec
}

// Seconds are the fields of seconds that [SpecsInSeconds] chooses from.
var Seconds = []string{"*/20", "30", "0,59", "*/10", "0"}

// SpecsInSeconds generates specs with a field of seconds: compile them with [schedule.WithSeconds].
func SpecsInSeconds() *rapid.Generator[cronjob.Spec] {
	return rapid.Custom(func(t *rapid.T) cronjob.Spec {
		spec := drawSpec(t)
		if !strings.HasPrefix(spec.Schedule, "@") {
			spec.Schedule = rapid.SampledFrom(Seconds).Draw(t, "seconds") + " " + spec.Schedule
		}
		return spec
	})
}

// ScheduleOptions generates options to compile schedules with. All allow a field of seconds. Some
// bound the schedule: it begins within two days of one of [Starts], and ends at most 40 days later.
// If inSeconds is true, the names of jobs include the seconds of their runs, and there can be a run
// at the creation of the CronJob. Otherwise there is none, because its name could also be the name
// of a run that a backfill asks for.
func ScheduleOptions(inSeconds bool) *rapid.Generator[[]schedule.Option] {
	return rapid.Custom(func(t *rapid.T) []schedule.Option {
		opts := []schedule.Option{schedule.WithSeconds()}
		if inSeconds && rapid.Bool().Draw(t, "RunAfterAnchor") {
			opts = append(opts, schedule.RunAfterAnchor())
		}

		if rapid.IntRange(0, 2).Draw(t, "bounds") == 0 {
			begin := rapid.SampledFrom(Starts).Draw(t, "NotBefore")
			seconds := rapid.Int64Range(-48*3600, 48*3600).Draw(t, "after the start")
			begin = begin.Add(time.Duration(seconds) * time.Second)
			end := begin.AddDate(0, 0, rapid.IntRange(0, 40).Draw(t, "days"))
			opts = append(opts, schedule.NotBefore(begin), schedule.NotAfter(end))
		}
		return opts
	})
}

// AllOptions generates options in which all fields are drawn. If inSeconds is true, names include
// the seconds of runs.
func AllOptions(inSeconds bool) *rapid.Generator[cronjob.Options] {
	return rapid.Custom(func(t *rapid.T) cronjob.Options {
		o := drawAll(t)
		o.MaxActive = rapid.Int32Range(0, 2).Draw(t, "MaxActive")
		o.ReplaceWhenGone = rapid.Bool().Draw(t, "ReplaceWhenGone")
		return withKind(t, o, inSeconds)
	})
}

// Options generates options. Half of them are the zero value; the others choose how missed runs are
// caught up, which runs are skipped, how many jobs run concurrently, and how long they are kept.
func Options() *rapid.Generator[cronjob.Options] { return rapid.Custom(drawOptions) }

func drawOptions(t *rapid.T) (o cronjob.Options) {
	kind := rapid.IntRange(0, 5).Draw(t, "options")
	if kind < 3 {
		return o
	}

	o.MaxActive = rapid.Int32Range(0, 2).Draw(t, "MaxActive")
	o.ReplaceWhenGone = rapid.Bool().Draw(t, "ReplaceWhenGone")
	if kind == 3 { // one run follows the other immediately
		o.CatchUp, o.CatchUpLimit = cronjob.CatchUpAll, rapid.Int32Range(1, 6).Draw(t, "CatchUpLimit")
		return o
	}

	all := drawAll(t)
	all.MaxActive, all.ReplaceWhenGone = o.MaxActive, o.ReplaceWhenGone
	if rapid.Bool().Draw(t, "another kind") {
		return withKind(t, all, false)
	}
	return all
}

// drawAll draws all options except those about the number of jobs and the kind of the children.
func drawAll(t *rapid.T) (o cronjob.Options) {
	duration := func(label string, most time.Duration) time.Duration {
		seconds := int64(most / time.Second)
		return max(0, time.Duration(rapid.Int64Range(-seconds, seconds).Draw(t, label))*time.Second)
	}
	catchUps := []cronjob.CatchUp{cronjob.CatchUpLatest, cronjob.CatchUpNone, cronjob.CatchUpAll}

	o.CatchUp = rapid.SampledFrom(catchUps).Draw(t, "CatchUp")
	o.CatchUpWindow = duration("CatchUpWindow", 100*time.Hour)
	o.CatchUpLimit = rapid.Int32Range(1, 6).Draw(t, "CatchUpLimit")

	o.SkipOnResume = rapid.Bool().Draw(t, "SkipOnResume")
	o.SkipOnEdit = rapid.Bool().Draw(t, "SkipOnEdit")
	o.SkipHeld = rapid.Bool().Draw(t, "SkipHeld")

	o.Jitter = duration("Jitter", 2*time.Hour)
	o.KeepSuccessful = duration("KeepSuccessful", 100*time.Hour)
	o.KeepFailed = duration("KeepFailed", 100*time.Hour)
	o.TerminatingTimeout = duration("TerminatingTimeout", 2*time.Hour)
	o.PauseAfterFailures = max(0, rapid.Int32Range(-4, 4).Draw(t, "PauseAfterFailures"))
	o.Punctual = rapid.IntRange(0, 3).Draw(t, "Punctual") == 3
	return o
}

func withKind(t *rapid.T, o cronjob.Options, inSeconds bool) cronjob.Options {
	kind := drawKind(t)
	o.ChildKind, o.Naming, o.Marks = kind.ChildKind, kind.Naming, kind.Marks
	if inSeconds && o.Naming.Form == cronjob.NameMinutes {
		o.Naming.Form = cronjob.NameSeconds
	}
	o.ActiveFromChildren, o.SuccessFromChildren = kind.ActiveFromChildren, kind.SuccessFromChildren
	return o
}

// Kinds generates the options for children that are not jobs: their kind, their names and marks,
// and which fields of the status the parent's kind does not store.
func Kinds() *rapid.Generator[cronjob.Options] { return rapid.Custom(drawKind) }

func drawKind(t *rapid.T) (o cronjob.Options) {
	o.ChildKind = cronjob.Kind{Kind: "Work", APIVersion: "example.com/v1"}
	o.Naming = rapid.SampledFrom([]cronjob.Naming{
		{},
		{Form: cronjob.NameSeconds},
		{Prefix: "run-", Form: cronjob.NameSeconds},
		{Form: cronjob.NameCustom, Namer: Stamps{}},
	}).Draw(t, "Naming")
	o.Marks = rapid.SampledFrom([]cronjob.Marks{
		{},
		{TimeKey: "example.com/run", RequestKey: "example.com/by"},
		{TimeIn: cronjob.InLabel, TimeKey: "example.com/run"},
		{TimeIn: cronjob.InName},
	}).Draw(t, "Marks")
	o.ActiveFromChildren = rapid.Bool().Draw(t, "ActiveFromChildren")
	o.SuccessFromChildren = rapid.Bool().Draw(t, "SuccessFromChildren")
	return o
}

// Stamps names runs by their times in UTC, such as "report-20260101t070000": a name that objects of
// Kubernetes can have.
type Stamps struct{}

const stamp = "20060102t150405"

// Name implements [cronjob.Namer].
func (Stamps) Name(parent string, run time.Time) string {
	return parent + "-" + run.UTC().Format(stamp)
}

// Run implements [cronjob.Namer].
func (Stamps) Run(parent, name string) (time.Time, bool) {
	text, ok := strings.CutPrefix(name, parent+"-")
	run, err := time.Parse(stamp, text)
	return run, ok && err == nil
}
