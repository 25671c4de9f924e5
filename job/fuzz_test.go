package job_test

import (
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobcheck"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/job/jobstatus"
	"github.com/batchplan/batchplan/job/release"
)

// FuzzReconcile plans from snapshots that contradict themselves, and settles outcomes that
// contradict the plan: the result is an error that names a field, or a plan within its bounds, and
// never a panic, an overflow or a storm of creations.
func FuzzReconcile(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("contradictory snapshots are drawn from these bytes"))
	f.Fuzz(rapid.MakeFuzz(garbage))
}

// TestGarbage is FuzzReconcile with rapid's own choice of bytes.
func TestGarbage(t *testing.T) { rapid.Check(t, garbage) }

func garbage(t *rapid.T) {
	s := drawGarbage(t)
	before := encodeAnyTime(s)
	plan, err := job.Reconcile(s)
	if encodeAnyTime(s) != before {
		t.Fatal("JI24: the snapshot was modified")
	}

	if err != nil {
		if !hasInputError(err) {
			t.Fatalf("the error names no field: %v", err)
		}
		return
	}

	checkShortcuts(t, s)
	checkQuiet(t, s, &plan)
	if n := len(plan.Create); n > 500 || n > 0 && int64(n) > int64(*s.Job.Spec.Parallelism) {
		t.Fatalf("%d creates, parallelism %d", n, *s.Job.Spec.Parallelism)
	}
	if len(plan.Create) > 0 && len(plan.Delete) > 0 {
		t.Fatal("creates and deletes")
	}

	outcome := drawOutcome(t, &plan, jobreason.ResultNotTried, jobreason.ResultDone, jobreason.ResultGone,
		jobreason.ResultUnsuccessful, jobreason.ResultRefused, 99)
	conclusion := plan.Conclude(outcome)
	recording := plan.Record(outcome.Writes)
	checkGarbageStatus(t, recording.Status)
	checkGarbageStatus(t, recording.Settle(outcome.Recorded, outcome.Untracked).Status)

	for _, w := range plan.Waits {
		if w.String() == "" {
			t.Fatal("a wait without a sentence")
		}
	}
	if conclusion.Memory.JobUID != "" && conclusion.Memory.JobUID != s.Job.UID {
		t.Fatalf("the memory is about %q", conclusion.Memory.JobUID)
	}
	if s.Job.Status.Finished() != "" && (len(plan.Create)+len(plan.Delete) > 0 || recording.Write) {
		t.Fatal("JI16: a finished job changes")
	}
}

// encodeAnyTime also encodes what JSON refuses: years before 0 and after 9999.
func encodeAnyTime(s job.Snapshot) string {
	var b strings.Builder
	e := gob.NewEncoder(&b)
	for _, part := range []any{s.Job.Spec, s.Job.Status} {
		if err := e.Encode(part); err != nil {
			panic(err)
		}
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		fmt.Fprintf(&b, "%+v %+v %+v\n", *p, p.Deletion, p.Detail)
	}
	return b.String()
}

func hasInputError(err error) bool {
	var input *job.InputError
	return errors.As(err, &input) && input.Field != "" && strings.Contains(err.Error(), input.Field)
}

func checkGarbageStatus(t *rapid.T, s job.Status) {
	if s.Active < 0 || s.Succeeded < 0 || s.Failed < 0 {
		t.Fatalf("JI20: %v", s)
	}
	if s.Ready != nil && *s.Ready < 0 || s.Terminating != nil && *s.Terminating < 0 {
		t.Fatalf("JI20: %v", s)
	}
}

var extremes = []int32{math.MinInt32, -1, 0, 1, 2, 3, 500, 501, math.MaxInt32 - 1, math.MaxInt32}

func drawInt32(t *rapid.T, label string) int32 {
	return rapid.OneOf(rapid.SampledFrom(extremes), rapid.Int32Range(0, 6)).Draw(t, label)
}

// drawSane mostly draws a number that Snapshot.check accepts.
func drawSane(t *rapid.T, label string) int32 {
	if rapid.IntRange(0, 15).Draw(t, label+" insane") == 0 {
		return drawInt32(t, label)
	}
	return rapid.SampledFrom([]int32{0, 1, 2, 3, 600, math.MaxInt32}).Draw(t, label)
}

func drawTime(t *rapid.T, label string) time.Time {
	return rapid.SampledFrom([]time.Time{
		{},
		world.Start,
		world.Start.Add(time.Second),
		world.Start.Add(-time.Second),
		world.Start.AddDate(200, 0, 0),
		world.Start.AddDate(-300, 0, 0),
		time.Unix(1<<60, 0),
		time.Unix(-1<<60, 0),
	}).Draw(t, label)
}

func drawIndexText(t *rapid.T, label string) string {
	if rapid.Bool().Draw(t, label+" in ranges") {
		return drawRanges(t, label)
	}
	return rapid.SampledFrom([]string{"", "0", "0,1", "0-2147483646", "3-1", "x", "1,,2", "-1", "2147483647",
		"0-99999,5", ",", "1-"}).Draw(t, label)
}

// drawRanges draws a list of a few ranges in any order. Some of them hold billions of indexes.
func drawRanges(t *rapid.T, label string) string {
	border := rapid.SampledFrom([]int64{0, 1, 5, 8191, 8192, 100_000, 1 << 30, 1<<31 - 3, 1<<31 - 2, 1<<31 - 1})
	var pieces []string
	for range rapid.IntRange(1, 4).Draw(t, label+" ranges") {
		first, last := border.Draw(t, label+" first"), border.Draw(t, label+" last")
		pieces = append(pieces, fmt.Sprintf("%d-%d", min(first, last), max(first, last)))
	}
	return strings.Join(pieces, ",")
}

// TestBoundedWork_Ranges plans rounds of jobs with two billion indexes, and runs all checks on
// them. The memory that this takes is bounded by the length of the lists. A loop over the indexes
// would take minutes.
func TestBoundedWork_Ranges(t *testing.T) { rapid.Check(t, boundedWork) }

// FuzzBoundedWork is TestBoundedWork_Ranges for fuzzing.
func FuzzBoundedWork(f *testing.F) {
	f.Add([]byte("ranges of indexes are drawn from these bytes"))
	f.Fuzz(rapid.MakeFuzz(boundedWork))
}

func boundedWork(t *rapid.T) {
	s := drawManyIndexes(t)
	const enough = 32 << 20 // page tables of two billion indexes take one megabyte each
	used := allocated(func() {
		plan := job.PlanOf(t, s)
		conclusion := plan.Conclude(drawOutcome(t, plan, jobreason.ResultDone, jobreason.ResultDone,
			jobreason.ResultUnsuccessful))
		_ = plan.String() + conclusion.Status.String()
		_ = errors.Join(job.Validate(s.Job.Spec),
			jobstatus.CheckTransition(s.Job.Status, conclusion.Status, s.Job.Spec, release.Newest()))
		if _, err := job.Inspect(s); err != nil {
			t.Fatal(err)
		}
		jobcheck.Plan(&s, plan)
		(&jobcheck.State{Job: &s.Job, History: &jobcheck.History{}}).Status(&conclusion.Status)
	})
	if used > enough {
		t.Fatalf("a round allocates %d bytes", used)
	}
}

// drawManyIndexes draws an Indexed job whose lists have a few ranges and many indexes.
func drawManyIndexes(t *rapid.T) job.Snapshot {
	s := job.Snapshot{Now: world.Start.Add(time.Minute), Job: job.Job{UID: "job", Name: "job"}}
	spec, status := &s.Job.Spec, &s.Job.Status
	spec.CompletionMode = job.Indexed
	spec.Completions = ptr(rapid.SampledFrom([]int32{1, 8192, 1 << 30, math.MaxInt32 - 1, math.MaxInt32,
		math.MaxInt32}).Draw(t, "completions"))
	spec.Parallelism = ptr(rapid.SampledFrom([]int32{0, 10, math.MaxInt32}).Draw(t, "parallelism"))
	spec.BackoffLimitPerIndex = maybe(t, "backoffLimitPerIndex", rapid.Int32Range(0, 1))
	spec.SuccessPolicy = maybe(t, "success policy", rapid.Custom(func(t *rapid.T) job.SuccessPolicy {
		return job.SuccessPolicy{Rules: []job.SuccessPolicyRule{{
			SucceededIndexes: ptr(drawRanges(t, "succeededIndexes")),
			SucceededCount:   maybe(t, "succeededCount", rapid.Int32Range(0, math.MaxInt32)),
		}}}
	}))
	job.Default(spec)

	status.StartTime = world.Start
	status.CompletedIndexes = drawRanges(t, "completedIndexes")
	status.FailedIndexes = maybe(t, "failedIndexes",
		rapid.Custom(func(t *rapid.T) string { return drawRanges(t, "failedIndexes") }))

	for i := range rapid.IntRange(0, 3).Draw(t, "pods") {
		p := drawGarbagePod(t, i)
		p.Phase, p.Owner, p.UID = min(p.Phase, job.PodFailed), jobpod.Owned, job.UID(fmt.Sprint("uid-", i))
		s.Pods = append(s.Pods, p)
	}
	return s
}

func drawUIDs(t *rapid.T, label string) []job.UID {
	return rapid.SliceOfN(rapid.SampledFrom([]job.UID{"", "a", "b", "c", "a"}), 0, 4).Draw(t, label)
}

func drawGarbage(t *rapid.T) job.Snapshot {
	s := job.Snapshot{
		Now: world.Start.Add(time.Minute),
		Job: job.Job{UID: "job", Name: strings.Repeat("n", rapid.SampledFrom([]int{0, 1, 80}).Draw(t, "name")),
			Spec: drawGarbageSpec(t), Status: drawGarbageStatus(t)},
	}
	if rapid.IntRange(0, 9).Draw(t, "now") == 0 {
		s.Now = drawTime(t, "now")
	}

	s.Memory = job.Memory{
		JobUID:       rapid.SampledFrom([]job.UID{"job", "other", ""}).Draw(t, "memory of"),
		Backoff:      backoff.Record{Failures: drawInt32(t, "failures"), LastFailure: drawTime(t, "last failure")},
		Expectations: expectations.Counts{Creations: int(drawInt32(t, "creations")), At: drawTime(t, "at")},
		Untracking:   expectations.NewUIDs(drawUIDs(t, "untracking")...),
		Finished:     rapid.IntRange(0, 9).Draw(t, "memory finished") == 0,
	}

	if rapid.IntRange(0, 9).Draw(t, "deleted") == 0 {
		s.Job.DeletionTimestamp = drawTime(t, "job deletion")
	}
	for i := range rapid.IntRange(0, 6).Draw(t, "pods") {
		s.Pods = append(s.Pods, drawGarbagePod(t, i))
	}
	return s
}

func drawGarbageSpec(t *rapid.T) job.Spec {
	return job.Spec{
		Parallelism:  maybeNot(t, "parallelism", drawSane),
		Completions:  maybeNot(t, "completions", drawSane),
		BackoffLimit: maybeNot(t, "backoffLimit", drawSane),
		CompletionMode: rapid.SampledFrom(
			[]job.CompletionMode{"", job.NonIndexed, job.Indexed, job.Indexed, "Round"}).Draw(t, "mode"),
		BackoffLimitPerIndex:  maybe(t, "backoffLimitPerIndex", rapid.SampledFrom([]int32{0, 1, math.MaxInt32})),
		MaxFailedIndexes:      maybe(t, "maxFailedIndexes", rapid.SampledFrom([]int32{0, 1, math.MaxInt32})),
		ActiveDeadlineSeconds: maybe(t, "deadline", rapid.SampledFrom([]int64{0, 1, math.MaxInt64})),
		Suspend:               maybe(t, "suspend", rapid.Bool()),
		PodReplacementPolicy: rapid.SampledFrom(
			[]job.PodReplacementPolicy{"", job.ReplaceFailed, "Never"}).Draw(t, "replacement"),
		PodFailurePolicy: maybe(t, "failure policy", rapid.Just(job.PodFailurePolicy{Rules: []job.PodFailurePolicyRule{
			{},
			{Action: "Panic", OnExitCodes: &job.OnExitCodes{Operator: "About", Values: []int32{1}}},
			{Action: job.FailIndex, OnExitCodes: &job.OnExitCodes{Operator: job.ExitCodeNotIn}},
		}})),
		SuccessPolicy: maybe(t, "success policy", rapid.Just(job.SuccessPolicy{Rules: []job.SuccessPolicyRule{
			{}, {SucceededIndexes: ptr("x")}, {SucceededCount: ptr[int32](-1), SucceededIndexes: ptr("")},
		}})),
		Template: job.Template{RestartPolicy: rapid.SampledFrom(
			[]job.RestartPolicy{"", "Never", "OnFailure", "Always"}).Draw(t, "restartPolicy")},
	}
}

// maybeNot draws a pointer that is nil one time in sixteen.
func maybeNot(t *rapid.T, label string, draw func(*rapid.T, string) int32) *int32 {
	if rapid.IntRange(0, 15).Draw(t, label+" unset") == 0 {
		return nil
	}
	return ptr(draw(t, label))
}

func drawGarbageStatus(t *rapid.T) job.Status {
	s := job.Status{
		Active:           drawSane(t, "active"),
		Succeeded:        drawSane(t, "succeeded"),
		Failed:           drawSane(t, "failed"),
		Ready:            maybe(t, "ready", rapid.Int32Range(0, 2)),
		StartTime:        drawTime(t, "startTime"),
		CompletedIndexes: drawIndexText(t, "completedIndexes"),
		FailedIndexes:    ptr(drawIndexText(t, "failedIndexes")),
		UncountedTerminatedPods: &job.UncountedTerminatedPods{
			Succeeded: drawUIDs(t, "uncounted succeeded"),
			Failed:    drawUIDs(t, "uncounted failed"),
		},
	}
	for _, c := range []job.ConditionType{job.ConditionSuspended, job.ConditionFailureTarget,
		job.ConditionSuccessCriteriaMet, job.ConditionComplete} {
		if rapid.IntRange(0, 7).Draw(t, string(c)) == 0 {
			s.Conditions = append(s.Conditions, job.Condition{Type: c, Status: job.ConditionTrue})
		}
	}
	return s
}

func drawGarbagePod(t *rapid.T, i int) job.Pod {
	p := job.Pod{
		Phase:     job.PodPhase(rapid.SampledFrom([]uint8{0, 1, 2, 2, 3, 3, 4, 4, 4, 200}).Draw(t, "phase")),
		Owner:     jobpod.Ownership(rapid.SampledFrom([]uint8{0, 0, 0, 0, 1, 2, 3, 99}).Draw(t, "owner")),
		Untracked: !rapid.Bool().Draw(t, "tracked"),
		Ready:     rapid.Bool().Draw(t, "pod ready"),
		Index:     job.IndexAt(drawInt32(t, "index")),
		UID:       rapid.SampledFrom([]job.UID{"a", "b", "c", "", "d"}).Draw(t, "uid"),
		Name:      fmt.Sprintf("pod-%d", i),
	}

	if rapid.IntRange(0, 15).Draw(t, "same uid") > 0 {
		p.UID = job.UID(fmt.Sprintf("uid-%d", i))
	}
	if rapid.IntRange(0, 3).Draw(t, "pod deleted") == 0 {
		p.Deletion = &job.PodDeletion{Timestamp: drawTime(t, "deletion"), GracePeriodSeconds: int64(drawInt32(t, "grace"))}
	}

	if rapid.Bool().Draw(t, "detail") {
		p.Detail = &job.PodDetail{
			CreationTimestamp: drawTime(t, "creation"),
			ReadyTransition:   drawTime(t, "ready transition"),
			FailureCount:      drawInt32(t, "failure count"),
			Containers: []jobpod.Container{{
				Restarts:   drawInt32(t, "restarts"),
				State:      jobpod.State(rapid.SampledFrom([]uint8{0, 1, 2, 77}).Draw(t, "state")),
				ExitCode:   drawInt32(t, "exit code"),
				FinishedAt: drawTime(t, "finishedAt"),
			}},
		}
	}
	return p
}

func containsField(err error, field string) bool {
	var input *job.InputError
	return errors.As(err, &input) && input.Field == field
}
