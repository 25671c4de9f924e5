package cronjob_test

import (
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
)

// behind returns the snapshot that a controller sees whose caches show nothing of its
// first round, which has started the run of 1:00, and the conclusion of that round.
func behind(t *testing.T, spec cronjob.Spec, options cronjob.Options, settled cronjob.Result) cronjob.Snapshot {
	t.Helper()
	spec.Schedule = "@hourly"
	s := snapshot(newCronJob(spec), hours(1.1))
	s.Options = options
	plan := reconcile(t, s)
	if got := created(t, plan); !got.Equal(hours(1)) {
		t.Fatalf("the first round starts %s", got)
	}
	o := done(&plan)
	o.Settled = settled
	s.Memory, s.Now = plan.Conclude(o).Memory, hours(2.1)
	return s
}

// CI15: the second run waits until the snapshot shows the first, and asks for a round.
func TestCI15_WaitsForOwnWrites(t *testing.T) {
	for _, tc := range []struct {
		name    string
		spec    cronjob.Spec
		options cronjob.Options
		waits   bool
	}{
		{"Forbid", cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid}, cronjob.Options{}, true},
		{"Forbid, one run after the other", cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid}, cronjob.Options{CatchUp: cronjob.CatchUpAll}, true},
		{"Replace", cronjob.Spec{ConcurrencyPolicy: cronjob.Replace}, cronjob.Options{}, true},
		{"Replace when gone", cronjob.Spec{ConcurrencyPolicy: cronjob.Replace}, cronjob.Options{ReplaceWhenGone: true}, true},
		{"MaxActive", cronjob.Spec{}, cronjob.Options{MaxActive: 1}, true},
		{"Allow", cronjob.Spec{}, cronjob.Options{}, false},
		{"Forbid as in Kubernetes", cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid}, cronjob.Options{Quirks: cronjobquirk.Stale}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := behind(t, tc.spec, tc.options, cronjob.ResultDone)
			plan := reconcile(t, s)
			end := plan.Conclude(done(&plan))
			if waits := len(plan.Create) == 0; waits != tc.waits || end.Retry != tc.waits {
				t.Fatalf("waits %t, asks for a round %t:\n%s", waits, end.Retry, plan.String())
			}
			if !tc.waits {
				return
			}
			// A snapshot that shows the status, and that the job has ended, is not held back.
			s.Memory = end.Memory
			s.CronJob.Status = cronjob.Status{LastScheduleTime: hours(1), Active: []cronjob.Reference{ref(child(hours(1)))}}
			s.Children = []cronjob.Child{finished(child(hours(1)), job.ConditionComplete, hours(1.5))}
			plan = reconcile(t, s)
			if got := created(t, plan); !got.Equal(hours(2)) || plan.Basis().Memory.Started != nil {
				t.Errorf("got %s:\n%s", got, plan.String())
			}
		})
	}
}

// The round after a write is not slower by a round where the snapshot shows the write.
func TestCI15_FreshSnapshotsDoNotWait(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Replace}), hours(3.5))
	s.Options.CatchUp = cronjob.CatchUpAll
	for i := range 3 {
		plan := reconcile(t, s)
		if got := created(t, plan); !got.Equal(hours(float64(i + 1))) {
			t.Fatalf("round %d starts %s:\n%s", i, got, plan.String())
		}
		o := done(&plan)
		s.CronJob.Status, s.Memory = plan.Settle(o.Writes).Status, plan.Conclude(o).Memory
		s.Children = []cronjob.Child{child(hours(float64(i + 1)))}
	}
}

// A status that another client has set back must not hold runs without end: no cache is
// five minutes late.
func TestCI15_PatienceEnds(t *testing.T) {
	s := behind(t, cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid}, cronjob.Options{}, cronjob.ResultDone)
	plan := reconcile(t, s)
	s.Memory = plan.Conclude(cronjob.Outcome{}).Memory
	at := plan.Requeue.At
	if !at.Equal(s.Now.Add(5 * time.Minute)) {
		t.Fatalf("again at %s", at)
	}
	s.Now = at.Add(-1)
	if got := created(t, reconcile(t, s)); !got.IsZero() {
		t.Errorf("before its time: %s", got)
	}
	s.Now = at
	if got := created(t, reconcile(t, s)); !got.Equal(hours(2)) {
		t.Errorf("got %s", got)
	}
	// A clock that goes back does not make the wait longer than five minutes.
	s.Now = hours(2.05)
	if got := reconcile(t, s).Requeue.At; !got.Equal(s.Now.Add(5 * time.Minute)) {
		t.Errorf("again at %s", got)
	}
}

// The memory of what was recorded also holds a run back, alone.
func TestCI15_RecordedIsAhead(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Forbid})
	s := snapshot(c, hours(3.1))
	s.Memory = cronjob.Remember(cronjob.Remembered{CronJobUID: "cj-1", Recorded: hours(2)})
	plan := reconcile(t, s)
	if end := plan.Conclude(cronjob.Outcome{}); len(plan.Create) > 0 || !end.Retry || end.Incomplete {
		t.Errorf("retry %t, incomplete %t:\n%s", end.Retry, end.Incomplete, plan.String())
	}
	// And the run that was recorded never starts again (CI1).
	s.CronJob.Spec.ConcurrencyPolicy, s.Now = cronjob.Allow, hours(2.9)
	if got := created(t, reconcile(t, s)); !got.IsZero() {
		t.Errorf("the run of %s starts again", got)
	}
}

// CI15: a job whose status write failed is active, though neither the status nor the
// children show it. This holds for the jobs of runs, triggers and backfills.
func TestCI15_UnrecordedJobsAreActive(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*cronjob.Snapshot)
		job    string
	}{
		{"a run", func(s *cronjob.Snapshot) { s.Now = hours(1) }, cronjob.JobName("report", hours(1))},
		{"a trigger", func(s *cronjob.Snapshot) { s.Triggers = []cronjob.Trigger{{ID: "a"}} }, "report-manual-a"},
		{"a backfill", func(s *cronjob.Snapshot) {
			s.Backfills = []cronjob.Backfill{{ID: "b", After: hours(-1.5), Until: hours(-0.5)}}
		}, cronjob.JobName("report", hours(-1))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Forbid}), hours(0.9))
			tc.change(&s)
			plan := reconcile(t, s)
			if len(plan.Create) != 1 || plan.Create[0].Name != tc.job {
				t.Fatal(plan.String())
			}
			o := done(&plan)
			o.Settled = cronjob.ResultUnsuccessful
			s.Memory, s.Now = plan.Conclude(o).Memory, hours(2)
			plan = reconcile(t, s)
			names := func(refs []cronjob.Reference) (all []string) {
				for _, r := range refs {
					all = append(all, r.Name)
				}
				return all
			}
			status := plan.Settle(cronjob.Writes{Verified: []cronjob.Result{cronjob.ResultDone}})
			if len(plan.Create) > 0 || !slices.Equal(names(plan.Verify), []string{tc.job}) || !slices.Equal(names(status.Status.Active), []string{tc.job}) || !status.Write {
				t.Fatal(plan.String())
			}
			// A look-up finds it gone: the next round, at once, starts the run.
			o = cronjob.Outcome{Writes: cronjob.Writes{Verified: []cronjob.Result{cronjob.ResultGone}}, Settled: cronjob.ResultDone}
			end := plan.Conclude(o)
			if !end.Requeue.At.Equal(s.Now) || slices.Contains(reasons(end.Events), "JobAlreadyActive") {
				t.Fatalf("again at %s, events %v", end.Requeue.At, end.Events)
			}
			s.CronJob.Status, s.Memory = plan.Settle(o.Writes).Status, end.Memory
			s.Triggers, s.Backfills = nil, nil
			if got := created(t, reconcile(t, s)); !got.Equal(hours(2)) {
				t.Errorf("got %s", got)
			}
		})
	}
}

// CI15: a creation without a reply may have worked. What must not run beside its job
// waits for a look-up in the same round.
func TestCI15_CreatedWithoutAReply(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Forbid}), hours(1))
	plan := reconcile(t, s)
	end := plan.Conclude(cronjob.Outcome{Writes: cronjob.Writes{Created: []cronjob.Effect{{Result: cronjob.ResultUnsuccessful}}}})
	s.Memory = end.Memory
	plan = reconcile(t, s)
	if len(plan.Verify) > 0 || len(plan.Create) != 1 {
		t.Fatalf("the same run needs no look, its name is its lock:\n%s", plan.String())
	}
	s.Now = hours(2)
	plan = reconcile(t, s)
	if len(plan.Create) != 1 || len(plan.Verify) != 1 || plan.Verify[0].Name != cronjob.JobName("report", hours(1)) || plan.Verify[0].UID != "" {
		t.Fatal(plan.String())
	}
	for result, may := range map[cronjob.Result]bool{cronjob.ResultGone: true, cronjob.ResultDone: false, cronjob.ResultUnsuccessful: false, cronjob.ResultNotTried: false} {
		if got := plan.MayCreate(cronjob.Writes{Verified: []cronjob.Result{result}}); got != may {
			t.Errorf("%s: may create %t", result, got)
		}
	}
	// It was created: the run waits until the children show it.
	end = plan.Conclude(cronjob.Outcome{Writes: cronjob.Writes{Verified: []cronjob.Result{cronjob.ResultDone}}})
	if s.Memory = end.Memory; !end.Retry {
		t.Error("nothing asks for a round")
	}
	if plan = reconcile(t, s); len(plan.Create) > 0 {
		t.Error(plan.String())
	}
	s.Children = []cronjob.Child{child(hours(1))}
	plan = reconcile(t, s)
	if status := plan.Settle(cronjob.Writes{}).Status; len(plan.Create) > 0 || len(status.Active) != 1 {
		t.Error(plan.String())
	}
}

// CI15: the job of a creation without a reply is looked up before any of the others is
// created that it limits, however many there are.
func TestCI15_LostBeforeSeveral(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly"}), hours(1))
	s.Options.MaxActive = 5
	first := reconcile(t, s)
	s.Memory = first.Conclude(cronjob.Outcome{Writes: cronjob.Writes{Created: []cronjob.Effect{{Result: cronjob.ResultUnsuccessful}}}}).Memory
	s.Now = hours(2)
	for n, triggers := range [][]cronjob.Trigger{nil, {{ID: "a"}}, {{ID: "a"}, {ID: "b"}}} {
		s.Triggers = triggers
		if plan := reconcile(t, s); len(plan.Create) != n+1 || len(plan.Verify) != 1 {
			t.Errorf("%d creations, want %d, and %d look-ups, want one:\n%s", len(plan.Create), n+1, len(plan.Verify), plan.String())
		}
	}
}

// A server that refuses all creations is not asked without end (M9).
func TestCI15_FailingCreationsAreNoHotLoop(t *testing.T) {
	s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Forbid}), hours(3.5))
	s.Options.CatchUp = cronjob.CatchUpAll
	s.Triggers = []cronjob.Trigger{{ID: "a"}}
	for range 4 {
		plan := reconcile(t, s)
		o := cronjob.Outcome{Settled: cronjob.ResultUnsuccessful}
		for range plan.Verify {
			o.Verified = append(o.Verified, cronjob.ResultGone)
		}
		for range plan.Create {
			o.Created = append(o.Created, cronjob.Effect{Result: cronjob.ResultUnsuccessful})
		}
		end := plan.Conclude(o)
		if len(plan.Create) == 0 || !end.Retry || !end.Requeue.At.After(s.Now) {
			t.Fatalf("again at %s, retry %t:\n%s", end.Requeue.At, end.Retry, plan.String())
		}
		s.Memory = end.Memory
	}
}

// CI8, CI15: a job that was deleted with its pods is looked up until it is gone, where
// the children have never shown it.
func TestCI15_ReplacedAndNotSeen(t *testing.T) {
	first := child(hours(1))
	c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: cronjob.Replace})
	c.Status = cronjob.Status{Active: []cronjob.Reference{ref(first)}, LastScheduleTime: hours(1)}
	s := snapshot(c, hours(2))
	s.Options.ReplaceWhenGone = true
	plan := reconcile(t, s)
	o := done(&plan)
	o.Verified[0] = cronjob.ResultDone
	s.CronJob.Status, s.Memory = plan.Settle(o.Writes).Status, plan.Conclude(o).Memory
	for range 2 {
		plan = reconcile(t, s)
		if len(plan.Create)+len(plan.Delete) > 0 || len(plan.Verify) != 1 {
			t.Fatalf("its pods still run:\n%s", plan.String())
		}
		end := plan.Conclude(cronjob.Outcome{Writes: cronjob.Writes{Verified: []cronjob.Result{cronjob.ResultDone}}})
		if s.Memory = end.Memory; !end.Retry {
			t.Error("nothing asks for a round")
		}
	}
	// The children show it, before its deletion: it is not deleted again.
	shown := s
	shown.Children = []cronjob.Child{first}
	if plan := reconcile(t, shown); len(plan.Create)+len(plan.Delete) > 0 {
		t.Error(plan.String())
	}
	plan = reconcile(t, s)
	end := plan.Conclude(cronjob.Outcome{Writes: cronjob.Writes{Verified: []cronjob.Result{cronjob.ResultGone}}})
	if !end.Requeue.At.Equal(s.Now) || len(reasons(end.Events)) > 0 {
		t.Errorf("again at %s, events %v", end.Requeue.At, end.Events)
	}
	s.Memory = end.Memory
	if got := created(t, reconcile(t, s)); !got.Equal(hours(2)) {
		t.Errorf("got %s", got)
	}
}

// CI15: what looks up a creation without a reply is whatever must not run beside its
// job, under each limit.
func TestCI15_LookUpUnderEachLimit(t *testing.T) {
	for _, tc := range []struct {
		name    string
		policy  cronjob.ConcurrencyPolicy
		options cronjob.Options
		looks   int
	}{
		{"Forbid", cronjob.Forbid, cronjob.Options{}, 1},
		{"Replace", cronjob.Replace, cronjob.Options{}, 1},
		{"MaxActive", cronjob.Allow, cronjob.Options{MaxActive: 1}, 1},
		{"Allow", cronjob.Allow, cronjob.Options{}, 0},
	} {
		s := snapshot(newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: tc.policy}), hours(1))
		s.Options = tc.options
		plan := reconcile(t, s)
		s.Memory = plan.Conclude(cronjob.Outcome{Writes: cronjob.Writes{Created: []cronjob.Effect{{Result: cronjob.ResultUnsuccessful}}}}).Memory
		s.Now = hours(2)
		if plan = reconcile(t, s); len(plan.Verify) != tc.looks || len(plan.Create) != 1 {
			t.Errorf("%s: want %d look-ups:\n%s", tc.name, tc.looks, plan.String())
		}
	}
}

// CI15: a round that creates nothing forgets none of the jobs whose status write failed.
func TestCI15_UnrecordedJobsStayInMemory(t *testing.T) {
	s := behind(t, cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid}, cronjob.Options{}, cronjob.ResultUnsuccessful)
	for range 3 {
		plan := reconcile(t, s)
		o := cronjob.Outcome{Settled: cronjob.ResultUnsuccessful}
		for range plan.Verify {
			o.Verified = append(o.Verified, cronjob.ResultDone)
		}
		s.Memory = plan.Conclude(o).Memory
		if names := s.Memory.Kept().Started; len(names) != 1 || names[0].Name != cronjob.JobName("report", hours(1)) {
			t.Fatalf("remembered %+v\n%s", names, plan.String())
		}
	}
}

// A round that writes no status has recorded nothing, whatever time it has read.
func TestCI15_OnlyOwnWritesAreRecorded(t *testing.T) {
	c := newCronJob(cronjob.Spec{Schedule: "@hourly"})
	c.Status.LastScheduleTime = hours(1)
	plan := reconcile(t, snapshot(c, hours(1.5)))
	if got := kept(plan.Conclude(cronjob.Outcome{}).Memory).Recorded; !got.IsZero() {
		t.Errorf("recorded %s without a write", got)
	}
	plan = reconcile(t, snapshot(c, hours(2.5)))
	o := done(&plan)
	if got := kept(plan.Conclude(o).Memory).Recorded; !got.Equal(hours(2)) {
		t.Errorf("recorded %s, want the run that was started", got)
	}
	o.Settled = cronjob.ResultUnsuccessful
	if got := kept(plan.Conclude(o).Memory).Recorded; !got.IsZero() {
		t.Errorf("recorded %s though the write failed", got)
	}
}

// A wait that is over does not spare the wait for the next write: what the round has started is not
// in the next snapshot, so nothing starts that must not run beside it.
func TestCI15_AnEarlierWaitIsOver(t *testing.T) {
	for _, tc := range []struct {
		name    string
		policy  cronjob.ConcurrencyPolicy
		trigger cronjob.Trigger
		now     time.Time
	}{
		{"a run has started", cronjob.Forbid, cronjob.Trigger{}, hours(3)},
		{"a trigger has started", cronjob.Allow, cronjob.Trigger{ID: "a"}, hours(2.5)},
	} {
		c := newCronJob(cronjob.Spec{Schedule: "@hourly", ConcurrencyPolicy: tc.policy})
		c.Status.LastScheduleTime = hours(2)
		s := snapshot(c, tc.now)
		stale := ref(child(hours(1)))
		s.Memory = cronjob.Remember(cronjob.Remembered{
			CronJobUID: c.UID, Recorded: hours(1), Behind: hours(1.1),
			Started: []cronjob.StartedJob{{Reference: stale, ScheduledTime: hours(1), Recorded: true}},
		})
		if tc.trigger.ID != "" {
			s.Triggers = []cronjob.Trigger{tc.trigger}
		}
		plan := reconcile(t, s)
		if len(plan.Create) != 1 {
			t.Fatalf("%s: the earlier wait is over:\n%s", tc.name, &plan)
		}
		s.Memory = plan.Conclude(done(&plan)).Memory
		s.Triggers = []cronjob.Trigger{{ID: "b", Overlap: cronjob.Forbid}}
		if plan = reconcile(t, s); len(plan.Create) > 0 {
			t.Errorf("%s: and another starts beside it:\n%s", tc.name, &plan)
		}
		s.Now = s.Now.Add(5 * time.Minute)
		s.Memory = plan.Conclude(done(&plan)).Memory
		if plan = reconcile(t, s); len(plan.Create) != 1 {
			t.Errorf("%s: it waits for longer than five minutes:\n%s", tc.name, &plan)
		}
	}
}
