package cronjob_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
)

// asked returns the hours of the runs that the plan starts for backfills.
func asked(p *cronjob.Plan) []float64 {
	var all []float64
	for _, c := range p.Create {
		if c.Backfill != "" {
			all = append(all, c.ScheduledTime.Sub(start).Hours())
		}
	}
	return all
}

// settled returns an hourly CronJob at 9:30, whose run of 9:00 is recorded.
func settled(policy cronjob.ConcurrencyPolicy, children ...cronjob.Child) cronjob.Snapshot {
	s := hourly(cronjob.Spec{ConcurrencyPolicy: policy}, hours(9.5), children...)
	s.CronJob.Status.LastScheduleTime = hours(9)
	for _, child := range children {
		if child.Finished == "" && !child.Foreign {
			s.CronJob.Status.Active = append(s.CronJob.Status.Active, ref(child))
		}
	}
	return s
}

// between returns a backfill of the runs in (after, until], both in hours since start. An empty
// overlap means Forbid.
func between(id string, after, until float64, overlap cronjob.ConcurrencyPolicy) cronjob.Backfill {
	return cronjob.Backfill{ID: id, After: hours(after), Until: hours(until), Overlap: cmp.Or(overlap, cronjob.Forbid)}
}

func TestBackfill_WhichRunsStart(t *testing.T) {
	running := child(hours(9))
	failed := finished(child(hours(4)), job.ConditionFailed, hours(4.5))
	suspended := func(s *cronjob.Snapshot) { s.CronJob.Spec.Suspend = ptr(true) }

	for _, tc := range []struct {
		name         string
		after, until float64
		overlap      cronjob.ConcurrencyPolicy
		children     []cronjob.Child
		change       func(*cronjob.Snapshot)
		want         []float64
		wait         string
	}{
		{"one by one by default", 3, 6, "", nil, nil, []float64{4}, `the run of 2026-01-01T05:00:00Z is held back: 1 active job`},
		{"all beside each other", 3, 6, cronjob.Allow, nil, nil, []float64{4, 5, 6}, ""},
		{"so many at a time", 3, 6, cronjob.Allow, nil, func(s *cronjob.Snapshot) { s.Backfills[0].MaxActive = 2 }, []float64{4, 5}, "held back: 2 active jobs"},
		{"the CronJob's own limit", 3, 6, cronjob.Allow, []cronjob.Child{running},
			func(s *cronjob.Snapshot) { s.Options.MaxActive = 2 }, []float64{4}, "held back: 2 active jobs"},
		{"none beside an active job", 3, 6, "", []cronjob.Child{running}, nil, nil, "held back: 1 active job"},
		{"a run that took place does not run again", 3, 5, "", []cronjob.Child{failed}, nil, []float64{5}, ""},
		{"nor one whose name is taken", 3, 5, "", []cronjob.Child{foreign(child(hours(4)))}, nil, []float64{5}, ""},
		{"nor one that is named", 3, 5, "", nil, func(s *cronjob.Snapshot) { s.Backfills[0].Except = []time.Time{hours(5), hours(4), hours(4)} }, nil, ""},
		{"nor one that shares the name of a named one", 3, 6, cronjob.Allow, nil, func(s *cronjob.Snapshot) {
			daily := func(parent string, run time.Time) string {
				return fmt.Sprintf("%s-%d", parent, run.Truncate(24*time.Hour).Unix())
			}
			s.Options.Naming = cronjob.Naming{Form: cronjob.NameCustom, Namer: namer(daily)}
			s.Backfills[0].Except = []time.Time{hours(4)}
		}, nil, ""},
		{"from before the creation", -48, -46, cronjob.Allow, nil, nil, []float64{-47, -46}, ""},
		{"while it is suspended", 3, 4, "", nil, suspended, []float64{4}, ""},
		{"past the deadline", 3, 4, "", nil, func(s *cronjob.Snapshot) { s.CronJob.Spec.StartingDeadlineSeconds = ptr[int64](10) }, []float64{4}, ""},
		{"ten in a round", -20, 0, cronjob.Allow, nil, nil, []float64{-19, -18, -17, -16, -15, -14, -13, -12, -11, -10}, ""},
		{"not while it is being deleted", 3, 4, "", nil, func(s *cronjob.Snapshot) { s.CronJob.DeletionTimestamp = s.Now }, nil, ""},
		{"not without a schedule", 3, 4, "", nil, func(s *cronjob.Snapshot) { s.CronJob.Spec.Schedule = "soon" }, nil, "there is no schedule"},
		{"a run that comes later waits for its time", 9, 10, "", nil, suspended, nil, "the run of 2026-01-01T10:00:00Z is not due"},
		{"a run that is due is the schedule's", 9, 10, "", nil,
			func(s *cronjob.Snapshot) { s.Now = hours(10) }, nil, "the run of 2026-01-01T10:00:00Z is left to the schedule"},
		{"one that was given up is not", 9, 10, cronjob.Allow, []cronjob.Child{running}, func(s *cronjob.Snapshot) {
			s.Now, s.CronJob.Spec.ConcurrencyPolicy, s.Options.SkipHeld = hours(10), cronjob.Forbid, true
		}, []float64{10}, ""},
		{"one that waits for its jitter is", 9, 10, "", nil,
			func(s *cronjob.Snapshot) { s.Now, s.Options.Jitter = hours(10), time.Hour }, nil, "left to the schedule"},
		{"one that waits for a newer snapshot is", 9, 10, "", nil, func(s *cronjob.Snapshot) {
			s.Now, s.CronJob.Spec.ConcurrencyPolicy = hours(10), cronjob.Forbid
			s.Memory = cronjob.Remember(cronjob.Remembered{CronJobUID: "cj-1", Recorded: hours(9.5)})
		}, nil, "left to the schedule"},
		{"missed ones before it are not", 8, 12, cronjob.Allow, nil,
			func(s *cronjob.Snapshot) { s.Now = hours(12) }, []float64{9, 10, 11}, "12:00:00Z is left to the schedule"},
		{"runs that are caught up are also left to the schedule", 8, 12, cronjob.Allow, nil,
			func(s *cronjob.Snapshot) { s.Now, s.Options.CatchUp = hours(12), cronjob.CatchUpAll }, []float64{9}, "10:00:00Z is left to the schedule"},
		{"none while a run that is due is held back", 3, 4, cronjob.Allow, []cronjob.Child{running},
			func(s *cronjob.Snapshot) { s.Now, s.CronJob.Spec.ConcurrencyPolicy = hours(10), cronjob.Forbid }, nil, "held back: 1 active job"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := settled("", tc.children...)
			s.Backfills = []cronjob.Backfill{between("b", tc.after, tc.until, tc.overlap)}
			if tc.change != nil {
				tc.change(&s)
			}

			s.Schedule = cronjob.Compile(&s.CronJob)
			plan := reconcile(t, s)

			if got := asked(&plan); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
			if text := plan.String(); tc.wait != "" && !strings.Contains(text, "wait: backfill \"b\": ") || !strings.Contains(text, tc.wait) {
				t.Errorf("want %q:\n%s", tc.wait, text)
			}
		})
	}
}

func TestBackfill_Errors(t *testing.T) {
	good := between("b", 1, 2, "")
	for _, tc := range []struct {
		want   string
		change func(*cronjob.Backfill)
	}{
		{"backfills.id", func(b *cronjob.Backfill) { b.ID = "" }},
		{"backfills[b].after", func(b *cronjob.Backfill) { b.After = time.Time{} }},
		{"backfills[b].until", func(b *cronjob.Backfill) { b.Until = hours(0.5) }},
		{"backfills[b].overlap", func(b *cronjob.Backfill) { b.Overlap = cronjob.Replace }},
		{"backfills[b].overlap", func(b *cronjob.Backfill) { b.Overlap = "" }},
		{"backfills[b].maxActive", func(b *cronjob.Backfill) { b.MaxActive = -1 }},
	} {
		s, bad := settled(""), good
		tc.change(&bad)
		s.Backfills = []cronjob.Backfill{bad}
		if _, err := cronjob.Reconcile(s); !slices.Equal(fields(err), []string{tc.want}) {
			t.Errorf("%s: %v", tc.want, err)
		}
	}
	s := settled("")
	s.Backfills = []cronjob.Backfill{good, good}
	if _, err := cronjob.Reconcile(s); !slices.Equal(fields(err), []string{"backfills.id"}) {
		t.Errorf("two of one ID: %v", err)
	}
}

// playBackfill plans until the backfills are complete, at most n rounds. Jobs end after each round,
// and the history limits apply.
func playBackfill(t *testing.T, s cronjob.Snapshot, n int) (runs []float64, rounds int) {
	t.Helper()
	for rounds = range n {
		if len(s.Backfills) == 0 {
			break
		}

		plan, end := play(t, s)
		s.CronJob.Status = end.Status
		runs = append(runs, asked(&plan)...)

		s.Children = slices.DeleteFunc(s.Children, func(c cronjob.Child) bool {
			return slices.ContainsFunc(plan.Delete, func(d cronjob.Deletion) bool { return d.UID == c.UID })
		})
		for _, c := range plan.Create {
			made := child(c.ScheduledTime)
			made.Backfilled = c.Backfill != ""
			s.Children = append(s.Children, finished(made, job.ConditionComplete, s.Now))
		}

		for _, b := range end.Backfills {
			s.Backfills[slices.IndexFunc(s.Backfills, func(old cronjob.Backfill) bool { return old.ID == b.ID })] = b
		}
		s.Backfills = slices.DeleteFunc(s.Backfills, func(b cronjob.Backfill) bool { return b.IsComplete() })
	}
	return runs, rounds
}

// Each run starts once, in order, although the history keeps only one job.
func TestBackfill_CI1_HistoryDoesNotRepeatRuns(t *testing.T) {
	for _, overlap := range []cronjob.ConcurrencyPolicy{cronjob.Forbid, cronjob.Allow} {
		s := settled("", finished(child(hours(-3)), job.ConditionComplete, hours(-3)))
		s.CronJob.Spec.SuccessfulJobsHistoryLimit = ptr[int32](1)
		s.Backfills = []cronjob.Backfill{between("a", -30, 0, overlap), between("b", -20, 2, overlap)}
		var want []float64
		for run := -29.0; run <= 2; run++ {
			if run != -3 {
				want = append(want, run)
			}
		}
		got, _ := playBackfill(t, s, 80)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", overlap, got, want)
		}
	}
}

// A backfill passes runs that have jobs, a limited number in each round, until it is complete.
func TestBackfill_CI13_BoundedRounds(t *testing.T) {
	s := settled("")
	s.Backfills = []cronjob.Backfill{between("b", -1000, -1, "")}
	for h := -999; h < 0; h++ {
		s.Backfills[0].Except = append(s.Backfills[0].Except, hours(float64(h)))
	}
	if runs, rounds := playBackfill(t, s, 50); len(runs) > 0 || rounds != 10 {
		t.Errorf("%d runs in %d rounds", len(runs), rounds)
	}

	for _, ends := range []float64{-7, -13} { // a round creates ten jobs for backfills, and the due run's
		s := hourly(cronjob.Spec{}, hours(1))
		s.Backfills = []cronjob.Backfill{between("a", -20, ends, cronjob.Allow), between("b", ends, 0, cronjob.Allow)}
		plan, end := play(t, s)
		if len(asked(&plan)) != 10 || len(plan.Create) != 11 {
			t.Errorf("%d creations for backfills, %d in all", len(asked(&plan)), len(plan.Create))
		}
		if got := end.Backfills[0].After; !got.Equal(hours(min(-10, ends))) {
			t.Errorf("the first one is at %s", got)
		}
	}

	s.Backfills = []cronjob.Backfill{between("b", -1.5, -1.2, ""), between("none", 1, 1, "")}
	if _, end := play(t, s); len(end.Backfills) != 1 || !end.Backfills[0].IsComplete() {
		t.Errorf("nothing is in the range: %+v", end.Backfills)
	}
}

func TestBackfill_Progress(t *testing.T) {
	s := settled("")
	s.Backfills = []cronjob.Backfill{between("b", 3, 6, cronjob.Allow)}
	plan := reconcile(t, s)
	const works, fails = cronjobreason.ResultDone, cronjobreason.ResultUnsuccessful
	for _, tc := range []struct {
		results []cronjobreason.Result
		settled cronjobreason.Result
		want    string // After and Except, in hours
		retry   bool
	}{
		{[]cronjobreason.Result{works, works, works}, works, "6 []", false},
		{[]cronjobreason.Result{cronjobreason.ResultAlreadyExists, cronjobreason.ResultNameTaken, works}, works, "6 []", false},
		{[]cronjobreason.Result{works, works, fails}, works, "5 []", true},
		{[]cronjobreason.Result{works, fails, works}, works, "4 [6]", true},
		{[]cronjobreason.Result{fails, works, works}, works, "3 [5 6]", true},
		{nil, works, "", true},
		{[]cronjobreason.Result{cronjobreason.ResultRefused, cronjobreason.ResultRefused, cronjobreason.ResultRefused}, works, "", false},
		{[]cronjobreason.Result{works, works, works}, fails, "", true}, // the status lacks the jobs: no progress may be stored
	} {
		o := cronjob.Outcome{Settled: cronjob.Reply{Result: tc.settled}}
		for i, r := range tc.results {
			o.Created = append(o.Created, cronjob.Effect{Result: r, Job: cronjob.Reference{UID: job.UID(fmt.Sprint(i))}})
		}
		end, got := plan.Conclude(o), ""
		for _, b := range end.Backfills {
			except := []float64{}
			for _, e := range b.Except {
				except = append(except, e.Sub(start).Hours())
			}
			got = fmt.Sprint(b.After.Sub(start).Hours(), except)
		}
		if got != tc.want || end.Retry != tc.retry {
			t.Errorf("%v, status %s: got %q, retry %t, want %q", tc.results, tc.settled, got, end.Retry, tc.want)
		}
		if len(end.Metrics.CreationSkews) > 0 {
			t.Errorf("C16: only runs of the schedule have a skew: %s", end.Metrics.CreationSkews)
		}
	}

	// A plan that is concluded again has the same result.
	s.Backfills = []cronjob.Backfill{between("b", 3, 8, cronjob.Allow)}
	s.Backfills[0].Except = []time.Time{hours(6), hours(7), hours(8)}
	plan = reconcile(t, s)
	o, want := done(&plan), []time.Time{hours(5), hours(6), hours(7), hours(8)}
	o.Created[0].Result = fails
	for range 2 {
		if got := plan.Conclude(o).Backfills[0].Except; !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Errorf("except %v, want %v", got, want)
		}
	}
}

// CI4: a backfill does not change lastScheduleTime, neither when it creates a job nor when it finds
// that job after a crash.
func TestBackfill_CI3_CI4_LastScheduleTimeStays(t *testing.T) {
	for _, last := range []time.Time{{}, hours(4)} {
		s := hourly(cronjob.Spec{Suspend: ptr(true)}, hours(9.5))
		s.CronJob.Status.LastScheduleTime = last
		s.Backfills = []cronjob.Backfill{between("b", 6, 8, "")}
		plan, end := play(t, s)
		if got, status := asked(&plan), end.Status; !slices.Equal(got, []float64{7}) || len(status.Active) != 1 || !status.LastScheduleTime.Equal(last) {
			t.Errorf("created %v: %s", got, status)
		}
		s.Children = []cronjob.Child{backfilled(child(hours(7)))}
		plan = reconcile(t, s)
		status := plan.Settle(cronjob.Writes{}).Status
		if len(plan.Create)+len(plan.Events) > 0 || len(status.Active) != 1 || !status.LastScheduleTime.Equal(last) {
			t.Errorf("found: %s", plan.String())
		}
	}
}

// CI1: a run later than lastScheduleTime could start again if its job were deleted, so the job is
// kept. A run from before the CronJob's creation cannot start again.
func TestBackfill_CI1_JobsAreKeptUntilTheScheduleHasPassed(t *testing.T) {
	for _, tc := range []struct {
		name string
		run  float64
		last time.Time
		want int
	}{
		{"the schedule has passed", 7, hours(8), 1},
		{"it has not", 7, hours(6), 0},
		{"it has recorded none", 7, time.Time{}, 0},
		{"the run is older than the CronJob", -7, time.Time{}, 1},
	} {
		s := hourly(cronjob.Spec{Suspend: ptr(true), SuccessfulJobsHistoryLimit: ptr[int32](0)}, hours(9.5),
			backfilled(finished(child(hours(tc.run)), job.ConditionComplete, hours(9))))
		s.CronJob.Status = cronjob.Status{LastScheduleTime: tc.last, LastSuccessfulTime: hours(9)}
		if plan := reconcile(t, s); len(plan.Delete) != tc.want {
			t.Errorf("%s: %s", tc.name, plan.String())
		}
		s.Backfills = []cronjob.Backfill{between("b", -10, 9, "")}
		if plan := reconcile(t, s); len(plan.Delete) != 0 {
			t.Errorf("%s, and the backfill goes by it: %s", tc.name, plan.String())
		}

		s.CronJob.Spec.Schedule, s.Backfills = "soon", nil // does not parse, so no run is passed
		s = snapshot(s.CronJob, s.Now, s.Children...)
		plan := reconcile(t, s)
		if got := plan.Settle(cronjob.Writes{}).Status.LastScheduleTime; !got.Equal(tc.last) {
			t.Errorf("%s, and the schedule does not parse: records %s", tc.name, got)
		}
	}
}

// C12: a run does not replace the job of a backfill. It replaces the job of a scheduled run in the
// backfill's range, but only after the backfill has recorded that this run took place.
func TestBackfill_C12_Replace(t *testing.T) {
	for _, whenGone := range []bool{false, true} {
		old := child(hours(9))
		s := settled(cronjob.Replace, backfilled(child(hours(3))), old)
		s.Options.ReplaceWhenGone = whenGone
		s.Now = hours(10)
		s.Backfills = []cronjob.Backfill{between("b", 3, 9, "")}

		plan, end := play(t, s)
		if len(plan.Delete)+len(plan.Create) > 0 {
			t.Fatalf("the run of 9 o'clock is not noted: %s", plan.String())
		}
		if !slices.ContainsFunc(plan.Waits, func(w cronjob.Wait) bool { return w.Reason == cronjobreason.WaitRecord && w.Run.Equal(hours(10)) }) {
			t.Errorf("nothing tells what the run waits for: %v", plan.Waits)
		}
		if want := "backfill b: settled until 2026-01-01T03:00:00Z, and 1 run after it\n"; !strings.Contains(plan.String(), want) {
			t.Errorf("want %q:\n%s", want, plan.String())
		}
		if len(end.Backfills) != 1 || !end.Requeue.At.Equal(s.Now) || !slices.ContainsFunc(end.Backfills[0].Except, hours(9).Equal) {
			t.Fatalf("%+v", end)
		}

		s.Backfills = end.Backfills
		plan, end = play(t, s)
		if len(plan.Delete) != 1 || plan.Delete[0].Name != old.Name {
			t.Fatalf("only the job of the schedule is to be replaced: %s", plan.String())
		}
		if whenGone {
			s.CronJob.Status, s.Children = end.Status, s.Children[:1]
			plan = reconcile(t, s)
		}

		if got := plan.Create; len(got) != 1 || !got[0].ScheduledTime.Equal(hours(10)) {
			t.Errorf("when gone %t: %s", whenGone, plan.String())
		}
	}
}

// C12: a run starts while the job of a backfill runs, even if the backfill has not recorded that
// job yet. Only a job that the run replaces must be recorded first.
func TestBackfill_C12_SparedBeforeItIsNoted(t *testing.T) {
	s := settled(cronjob.Replace, backfilled(child(hours(3))))
	s.Now = hours(10)
	s.Backfills = []cronjob.Backfill{between("b", 2, 3, "")}
	plan := reconcile(t, s)
	if got := created(t, plan); !got.Equal(hours(10)) || len(plan.Delete) > 0 {
		t.Error(plan.String())
	}
}

// The name of an active job shows its run, even if the job is not among the children.
func TestBackfill_C5_MissingActiveJob(t *testing.T) {
	s := settled(cronjob.Replace, child(hours(7)))
	s.Children = nil
	s.CronJob.Status.Active = append(s.CronJob.Status.Active, cronjob.Reference{Name: "report-by-hand", UID: "h"})
	s.Backfills = []cronjob.Backfill{between("b", 5, 7, "")}
	plan, end := play(t, s) // both jobs are gone
	if len(plan.Create) > 0 || !plan.Basis().Blocked {
		t.Fatal(plan.String())
	}
	if len(end.Backfills) != 1 || !slices.ContainsFunc(end.Backfills[0].Except, hours(7).Equal) || !end.Requeue.At.Equal(s.Now) {
		t.Errorf("%+v", end)
	}
	// With many other children, the name still shows the run: the backfill starts only the run of
	// 6:00.
	s.Backfills = []cronjob.Backfill{between("b", 5, 7, cronjob.Allow)}
	for n := range 4 {
		if got := asked(ptr(reconcile(t, s))); !slices.Equal(got, []float64{6}) {
			t.Errorf("beside %d children, it asks for %v", n, got)
		}
		s.Children = append(s.Children, ended(float64(n), job.ConditionComplete))
	}
}

// Two backfills that share a run start it once, and the second waits for the first.
func TestBackfill_CI1_SharedRun(t *testing.T) {
	s := settled("")
	s.Backfills = []cronjob.Backfill{between("b", 3, 4, cronjob.Allow), between("a", 3, 4, cronjob.Allow)}
	plan, end := play(t, s)
	if got := asked(&plan); !slices.Equal(got, []float64{4}) || plan.Create[0].Backfill != "a" {
		t.Fatal(plan.String())
	}
	if len(end.Backfills) != 1 || !end.Requeue.At.Equal(s.Now) {
		t.Errorf("%+v", end)
	}
}

// The names and marks of the jobs can be decoded from API objects.
func TestBackfill_C13_Creation(t *testing.T) {
	s := settled("")
	s.Backfills = []cronjob.Backfill{between("b", 3, 4, "")}
	c := reconcile(t, s).Create[0]
	annotations, err := json.Marshal(c.Annotations)
	must.OK(t, err)
	decoded, err := cronjob.DecodeChild(&s.CronJob, fmt.Appendf(nil,
		`{"metadata":{"name":%q,"uid":"u","annotations":%s,"ownerReferences":[{"name":"report","uid":"cj-1","controller":true}]}}`, c.Name, annotations))
	must.OK(t, err)
	if c.Name != (cronjob.Naming{}).JobName("report", hours(4)) || !decoded.Backfilled || !decoded.ScheduledTime.Equal(hours(4)) {
		t.Errorf("%+v\n%+v", c, decoded)
	}
}

// CI1: CatchUpAll passes a run whose name is taken. The backfill leaves the later overdue runs to
// the schedule. If the backfill started them and their jobs were gone, the schedule would start
// them again.
func TestBackfill_CI1_RunsThatAreMadeUpAreReserved(t *testing.T) {
	s := hourly(cronjob.Spec{}, hours(3.5), foreign(child(hours(1))))
	s.Options.CatchUp = cronjob.CatchUpAll
	s.Backfills = []cronjob.Backfill{between("b", 0, 3, cronjob.Allow)}
	plan := reconcile(t, s)
	if got := asked(&plan); len(got) > 0 {
		t.Errorf("the backfill starts the runs of %v\n%s", got, plan.String())
	}
}

// A backfill passes up to a hundred runs with jobs in one round. Then it requests another round.
func TestBackfill_CI13_GoesOnAfterAHundredLooks(t *testing.T) {
	for runs, again := range map[int]bool{99: false, 100: true, 101: true, 190: true} {
		s := settled("")
		s.Backfills = []cronjob.Backfill{between("b", float64(-runs)-1, -1, "")}
		s.CronJob.Spec.SuccessfulJobsHistoryLimit, s.CronJob.Status.LastSuccessfulTime = ptr[int32](1000), s.Now
		for h := -runs; h < 0; h++ {
			s.Children = append(s.Children, ended(float64(h), cronjob.Complete))
		}
		if _, end := play(t, s); end.Requeue.At.Equal(s.Now) != again {
			t.Errorf("%d runs with jobs: again at %s, %+v", runs, end.Requeue.At, end.Backfills)
		}
	}
}
