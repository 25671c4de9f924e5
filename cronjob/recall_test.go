package cronjob_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// behind returns the snapshot after a first round that has started the run of 1:00. It has the
// memory of that round, but shows none of its writes.
func behind(t *testing.T, spec cronjob.Spec, options cronjob.Options, settled cronjobreason.Result) cronjob.Snapshot {
	t.Helper()
	s := in(hourly(spec, hours(1.1)), options)
	plan := reconcile(t, s)
	if got := created(t, plan); !got.Equal(hours(1)) {
		t.Fatalf("the first round starts %s", got)
	}
	o := done(&plan)
	o.Settled = cronjob.Reply{Result: settled}
	s.Memory, s.Now = plan.Conclude(o).Memory, hours(2.1)
	return s
}

// CI15: the second run waits until the snapshot shows the first, and another round is requested.
func TestCI15_WaitsForOwnWrites(t *testing.T) {
	for _, tc := range []struct {
		name    string
		policy  cronjob.ConcurrencyPolicy
		options cronjob.Options
		waits   bool
	}{
		{"Forbid", cronjob.Forbid, cronjob.Options{}, true},
		{"Forbid, one run after the other", cronjob.Forbid, cronjob.Options{CatchUp: cronjob.CatchUpAll}, true},
		{"Replace", cronjob.Replace, cronjob.Options{}, true},
		{"Replace when gone", cronjob.Replace, cronjob.Options{ReplaceWhenGone: true}, true},
		{"MaxActive", cronjob.Allow, cronjob.Options{MaxActive: 1}, true},
		{"Allow", cronjob.Allow, cronjob.Options{}, false},
		{"Forbid as in Kubernetes", cronjob.Forbid, cronjob.Options{Quirks: cronjobquirk.SetOf(cronjobquirk.Stale)}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := behind(t, cronjob.Spec{ConcurrencyPolicy: tc.policy}, tc.options, cronjobreason.ResultDone)

			plan, end := play(t, s)
			if waits := len(plan.Create) == 0; waits != tc.waits || waitsForNewer(&end) != tc.waits || end.Retry {
				t.Fatalf("waits %t, again %v, retry %t:\n%s", waits, end.Requeue, end.Retry, plan.String())
			}
			if !tc.waits {
				return
			}

			// If the snapshot shows the status and the end of the job, the run starts.
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

// CI15: a backfill that must not overlap waits for the controller's own writes, even if the
// schedule's runs may overlap.
func TestCI15_ABackfillWaitsForOwnWrites(t *testing.T) {
	s := behind(t, cronjob.Spec{}, cronjob.Options{}, cronjobreason.ResultDone)
	s.Now, s.Backfills = hours(1.5), []cronjob.Backfill{between("b", -2, -1, cronjob.Forbid)}
	plan, end := play(t, s)
	held := func(w cronjob.Wait) bool { return w.Reason == cronjobreason.WaitStale && w.Name == "b" }
	if len(plan.Create) > 0 || !slices.ContainsFunc(plan.Waits, held) || !waitsForNewer(&end) {
		t.Errorf("again %v:\n%s", end.Requeue, plan.String())
	}
}

// If the snapshot shows the last write, the next round need not wait.
func TestCI15_FreshSnapshotsDoNotWait(t *testing.T) {
	s := in(hourly(cronjob.Spec{ConcurrencyPolicy: cronjob.Replace}, hours(3.5)), cronjob.Options{CatchUp: cronjob.CatchUpAll})
	for hour := 1.0; hour <= 3; hour++ {
		plan, _ := goOn(t, &s)
		if got := created(t, plan); !got.Equal(hours(hour)) {
			t.Fatalf("round %v starts %s:\n%s", hour, got, plan.String())
		}
		s.Children = []cronjob.Child{child(hours(hour))}
	}
}

// A status that another client has set back must not hold runs back forever: no cache is five
// minutes late.
func TestCI15_PatienceEnds(t *testing.T) {
	s := behind(t, cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid}, cronjob.Options{}, cronjobreason.ResultDone)
	at := remember(t, &s).Requeue.At
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

// A run also waits if only the memory's field Recorded is ahead of the snapshot.
func TestCI15_RecordedIsAhead(t *testing.T) {
	s := hourly(cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid}, hours(3.1))
	s.Memory = cronjob.Remember(cronjob.Remembered{CronJobUID: "cj-1", Recorded: hours(2)})
	plan := reconcile(t, s)
	if end := plan.Conclude(cronjob.Outcome{}); len(plan.Create) > 0 || !waitsForNewer(&end) {
		t.Errorf("again %v:\n%s", end.Requeue, plan.String())
	}
	if end := plan.Conclude(cronjob.Outcome{}); !end.Requeue.At.Equal(s.Now.Add(time.Second)) {
		t.Errorf("again at %s, want a second later", end.Requeue.At)
	}
	// A run that need not wait is recorded. The wait starts again, now for that status write.
	s.CronJob.Spec.ConcurrencyPolicy = cronjob.Allow
	s.Memory.Kept().Behind = hours(3.09)
	if plan, end := play(t, s); !created(t, plan).Equal(hours(3)) || !end.Memory.Kept().Behind.IsZero() {
		t.Errorf("it has waited since %s:\n%s", end.Memory.Kept().Behind, plan.String())
	}
	s.Memory.Kept().Behind = time.Time{}
	// The recorded run never starts again (CI1).
	s.Now = hours(2.9)
	if got := created(t, reconcile(t, s)); !got.IsZero() {
		t.Errorf("the run of %s starts again", got)
	}
}

// CI15: a job whose status write failed is active, although neither the status nor the children
// show it. This holds for jobs of runs, triggers and backfills.
func TestCI15_UnrecordedJobsAreActive(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*cronjob.Snapshot)
		job    string
	}{
		{"a run", func(s *cronjob.Snapshot) { s.Now = hours(1) }, cronjob.Naming{}.JobName("report", hours(1))},
		{"a trigger", func(s *cronjob.Snapshot) { s.Triggers = []cronjob.Trigger{{ID: "a"}} }, "report-manual-a"},
		{"a backfill", func(s *cronjob.Snapshot) { s.Backfills = []cronjob.Backfill{between("b", -1.5, -0.5, "")} }, cronjob.Naming{}.JobName("report", hours(-1))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := hourly(cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid}, hours(0.9))
			tc.change(&s)

			plan, end := playUnwritten(t, s)
			if len(plan.Create) != 1 || plan.Create[0].Name != tc.job {
				t.Fatal(plan.String())
			}

			s.Memory, s.Now = end.Memory, hours(2)
			plan = reconcile(t, s)
			status := plan.Settle(cronjob.Writes{Verified: []cronjob.Reply{{Result: cronjobreason.ResultDone}}})
			if len(plan.Create) > 0 || !slices.Equal(names(plan.Verify), []string{tc.job}) || !slices.Equal(names(status.Status.Active), []string{tc.job}) || !status.Write {
				t.Fatal(plan.String())
			}

			// A look-up finds that the job is gone. The next round follows immediately and starts
			// the run.
			_, end = goOn(t, &s)
			if !end.Requeue.At.Equal(s.Now) || slices.Contains(reasons(end.Events), "JobAlreadyActive") {
				t.Fatalf("again at %s, events %v", end.Requeue.At, end.Events)
			}
			s.Triggers, s.Backfills = nil, nil
			if got := created(t, reconcile(t, s)); !got.Equal(hours(2)) {
				t.Errorf("got %s", got)
			}
		})
	}
}

// CI15: a creation without a reply may have succeeded. Jobs that must not run beside it wait for a
// look-up in the same round.
func TestCI15_CreatedWithoutAReply(t *testing.T) {
	s := lostCreation(t, cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid}, cronjob.Options{})
	plan := reconcile(t, s)
	if len(plan.Verify) > 0 || len(plan.Create) != 1 {
		t.Fatalf("the same run needs no look, its name is its lock:\n%s", plan.String())
	}
	s.Now = hours(2)
	plan = reconcile(t, s)
	if len(plan.Create) != 1 || len(plan.Verify) != 1 || plan.Verify[0].Name != (cronjob.Naming{}).JobName("report", hours(1)) || plan.Verify[0].UID != "" {
		t.Fatal(plan.String())
	}
	for result, may := range map[cronjobreason.Result]bool{cronjobreason.ResultGone: true, cronjobreason.ResultDone: false, cronjobreason.ResultUnsuccessful: false, cronjobreason.ResultNotTried: false} {
		if got := plan.MayCreate(cronjob.Writes{Verified: []cronjob.Reply{{Result: result}}}); got != may {
			t.Errorf("%s: may create %t", result, got)
		}
	}
	// The job was created: the run waits until the children show it.
	end := plan.Conclude(cronjob.Outcome{Writes: cronjob.Writes{Verified: []cronjob.Reply{{Result: cronjobreason.ResultDone}}}})
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

// CI15: a creation had no reply. Its job is looked up before any job is created that it may hold
// back. One look-up is enough for several jobs.
func TestCI15_LostBeforeSeveral(t *testing.T) {
	s := lostCreation(t, cronjob.Spec{}, cronjob.Options{MaxActive: 5})
	s.Now = hours(2)
	for n, triggers := range [][]cronjob.Trigger{nil, {{ID: "a"}}, {{ID: "a"}, {ID: "b"}}} {
		s.Triggers = triggers
		if plan := reconcile(t, s); len(plan.Create) != n+1 || len(plan.Verify) != 1 {
			t.Errorf("%d creations, want %d, and %d look-ups, want one:\n%s", len(plan.Create), n+1, len(plan.Verify), plan.String())
		}
	}
	// The Overlap of a trigger is enough to make it wait for the look-up.
	s = lostCreation(t, cronjob.Spec{}, cronjob.Options{})
	s.CronJob.Spec.Suspend = ptr(true)
	s.Triggers = []cronjob.Trigger{{ID: "a", Overlap: cronjob.Forbid}}
	plan := reconcile(t, s)
	if len(plan.Create) != 1 || len(plan.Verify) != 1 || plan.MayCreate(cronjob.Writes{Verified: []cronjob.Reply{{Result: cronjobreason.ResultDone}}}) {
		t.Errorf("the trigger does not wait for the look-up:\n%s", plan.String())
	}
}

// CI8, CI15: a job was deleted with its pods, and the children have never shown that job. It is
// looked up until it is gone.
func TestCI15_ReplacedAndNotSeen(t *testing.T) {
	s := in(second(cronjob.Replace), cronjob.Options{ReplaceWhenGone: true})
	plan := reconcile(t, s)
	end := plan.Conclude(found(&plan, cronjobreason.ResultDone))
	s.CronJob.Status, s.Memory = end.Status, end.Memory
	for range 2 {
		plan = reconcile(t, s)
		if len(plan.Create)+len(plan.Delete) > 0 || len(plan.Verify) != 1 {
			t.Fatalf("its pods still run:\n%s", plan.String())
		}
		end := plan.Conclude(found(&plan, cronjobreason.ResultDone))
		if s.Memory = end.Memory; !waitsForNewer(&end) {
			t.Error("nothing asks for a round")
		}
	}
	// If the children still show the job as before its deletion, it is not deleted again.
	shown := s
	shown.Children = []cronjob.Child{child(hours(1))}
	if plan := reconcile(t, shown); len(plan.Create)+len(plan.Delete) > 0 {
		t.Error(plan.String())
	}
	_, end = play(t, s) // it is gone
	if !end.Requeue.At.Equal(s.Now) || len(reasons(end.Events)) > 0 {
		t.Errorf("again at %s, events %v", end.Requeue.At, end.Events)
	}
	s.Memory = end.Memory
	if got := created(t, reconcile(t, s)); !got.Equal(hours(2)) {
		t.Errorf("got %s", got)
	}
}

// CL2: the job of 1:00 was deleted or may have been, and the status still lists it. Children that
// show the job may be older than its deletion, and no event reports the controller's own writes.
// The CronJob is suspended, so no due run is a reason to look the job up.
func TestCL2_DeletedAndStillNamed(t *testing.T) {
	const works, gone, fails, notTried = cronjobreason.ResultDone, cronjobreason.ResultGone, cronjobreason.ResultUnsuccessful, cronjobreason.ResultNotTried

	for _, tc := range []struct {
		name                   string
		deleted, settled, look cronjobreason.Result
		looks                  int
		named, remembered      bool // at the end
		quirks                 cronjobquirk.Set
		consistent             bool
	}{
		{name: "the status write conflicts", deleted: works, settled: fails, look: gone, looks: 1, remembered: true},
		{name: "the status without it is not seen yet", deleted: works, settled: works, look: gone, looks: 1, remembered: true},
		{name: "it was gone already", deleted: gone, settled: fails, look: gone, looks: 1, remembered: true},
		{name: "the reply is lost", deleted: fails, settled: works, look: gone, looks: 1, remembered: true},
		{name: "the deletion has failed", deleted: fails, settled: works, look: works, looks: 1, named: true},
		{name: "the look-up fails as well", deleted: fails, settled: works, look: fails, looks: 1, named: true, remembered: true},
		{name: "not tried", deleted: notTried, settled: works, named: true},
		{name: "with the quirk", deleted: works, settled: fails, named: true, quirks: cronjobquirk.SetOf(cronjobquirk.Stale)},
		{name: "consistent", deleted: works, settled: fails, named: true, consistent: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := second(cronjob.Replace, child(hours(1)))
			s.Options.Quirks, s.Consistent = tc.quirks, tc.consistent

			plan := reconcile(t, s)
			o := creation(cronjobreason.ResultNameTaken)
			o.Deleted, o.Settled = []cronjob.Effect{{Result: tc.deleted}}, cronjob.Reply{Result: tc.settled}
			s.Memory = plan.Conclude(o).Memory

			s.CronJob.Spec.Suspend = ptr(true)
			if plan = reconcile(t, s); len(plan.Verify) != tc.looks || len(plan.Delete) > 0 {
				t.Fatalf("want %d look-ups:\n%s", tc.looks, plan.String())
			}

			end := plan.Conclude(found(&plan, tc.look))
			if named := len(end.Status.Active) > 0; named != tc.named || len(end.Memory.Kept().Deleted) > 0 != tc.remembered || end.Retry != (tc.look == fails) {
				t.Errorf("named %t, retry %t, memory %v", named, end.Retry, end.Memory.Kept().Deleted)
			}
		})
	}
}

// CL2: the job of a trigger has ended before any snapshot shows the status that lists it. The reply
// to the write of this status may be lost. Nothing else will happen to the CronJob, so rounds are
// requested until a snapshot shows the status, or until no cache can be that late.
func TestCL2_OverBeforeItsStatusShows(t *testing.T) {
	for _, isGone := range []bool{true, false} {
		for _, settled := range []cronjobreason.Result{cronjobreason.ResultDone, cronjobreason.ResultUnsuccessful} {
			t.Run(fmt.Sprintf("gone %t, the write is %s", isGone, settled), func(t *testing.T) {
				s := hourly(cronjob.Spec{Suspend: ptr(true)}, hours(1))
				s.Triggers = []cronjob.Trigger{{ID: "a"}}
				plan := reconcile(t, s)
				o := done(&plan)
				o.Settled = cronjob.Reply{Result: settled}
				end := plan.Conclude(o)
				s.Memory, s.Triggers = end.Memory, nil

				written := cronjob.Status{Active: []cronjob.Reference{end.Memory.Kept().Started[0].Reference}}
				if ref := written.Active[0]; !isGone {
					c := cronjob.Child{Name: ref.Name, UID: ref.UID, CreationTimestamp: s.Now}
					s.Children = []cronjob.Child{finished(c, job.ConditionFailed, s.Now)}
				}
				for i, delay := range []time.Duration{1, 10} {
					plan = reconcile(t, s)
					end = plan.Conclude(found(&plan, cronjobreason.ResultGone))
					if got := end.Requeue.At.Sub(s.Now); !waitsForNewer(&end) || got != delay*time.Second || i > 0 && len(plan.Verify) > 0 {
						t.Fatalf("round %d: again after %s:\n%s", i, got, plan.String())
					}
					s.Memory, s.Now = end.Memory, s.Now.Add(10*time.Second)
				}
				deleted := s
				deleted.Children = nil
				deleted.Triggers = []cronjob.Trigger{{ID: "b", Overlap: cronjob.Forbid}}
				isOver := !isGone || settled != cronjobreason.ResultDone // known from the children or a look-up
				if plan = reconcile(t, deleted); len(plan.Verify) > 0 || len(plan.Create) == 1 != isOver || !plan.Basis().Unshown {
					t.Errorf("a job that is known to be over is looked up, holds another back, or is forgotten:\n%s", plan.String())
				}

				for i := range s.Children { // it is foreign now, or another job
					for _, change := range []func(c *cronjob.Child){
						func(c *cronjob.Child) { c.Foreign = true }, func(c *cronjob.Child) { c.UID = "another" },
					} {
						other := s
						other.Children = slices.Clone(s.Children)
						change(&other.Children[i])
						if plan, end := play(t, other); waitsForNewer(&end) || len(end.Memory.Kept().Started) > 0 {
							t.Errorf("a round is asked for:\n%s", plan.String())
						}
					}
				}

				late := s
				late.Now = s.Now.Add(6 * time.Minute)
				plan = reconcile(t, late)
				if end = plan.Conclude(found(&plan, cronjobreason.ResultGone)); !end.Requeue.At.IsZero() || len(end.Memory.Kept().Started) > 0 {
					t.Error("patience does not end")
				}

				s.CronJob.Status = written
				plan = reconcile(t, s)
				end = plan.Conclude(found(&plan, cronjobreason.ResultGone))
				if len(end.Status.Active) > 0 || waitsForNewer(&end) {
					t.Errorf("active %v, again %v:\n%s", end.Status.Active, end.Requeue, plan.String())
				}
			})
		}
	}
}

// CL2: if no list is stored, a job that has ended need not be remembered, because no status can
// list it. A job that a look-up has found is active.
func TestCL2_OverWithoutAList(t *testing.T) {
	for _, tc := range []struct {
		name      string
		look      cronjobreason.Result
		ended     bool
		remembers int
	}{
		{"it has ended", cronjobreason.ResultGone, true, 0}, {"it is gone", cronjobreason.ResultGone, false, 0}, {"it is there", cronjobreason.ResultDone, false, 1},
	} {
		s := in(hourly(cronjob.Spec{Suspend: ptr(true)}, hours(1)), cronjob.Options{ActiveFromChildren: true})
		s.Triggers = []cronjob.Trigger{{ID: "a"}}
		plan, end := playUnwritten(t, s)
		s.Memory, s.Triggers = end.Memory, nil
		if made := end.Memory.Kept().Started[0].Reference; tc.ended {
			c := cronjob.Child{Name: made.Name, UID: made.UID, CreationTimestamp: s.Now}
			s.Children = []cronjob.Child{finished(c, job.ConditionFailed, s.Now)}
		}

		for range 2 {
			plan = reconcile(t, s)
			end = plan.Conclude(found(&plan, tc.look))
			if s.Memory = end.Memory; waitsForNewer(&end) {
				t.Errorf("%s: again %v:\n%s", tc.name, end.Requeue, plan.String())
			}
		}

		if got := len(end.Memory.Kept().Started); got != tc.remembers {
			t.Errorf("%s: %d are remembered:\n%s", tc.name, got, plan.String())
		}
	}
}

// CI15: each of several started jobs is treated independently of the others.
func TestCI15_OneOfSeveralIsNotShown(t *testing.T) {
	started := func(name string, recorded bool) cronjob.StartedJob {
		j := cronjob.StartedJob{Reference: cronjob.Reference{Name: "report-manual-" + name}, Recorded: recorded}
		if recorded || name == "unrecorded" {
			j.UID = job.UID(name)
		}
		return j
	}

	recorded, lost, unrecorded := started("recorded", true), started("lost", false), started("unrecorded", false)

	for _, tc := range []struct {
		started          []cronjob.StartedJob
		unstored         bool
		behind, isUnseen bool
	}{
		{[]cronjob.StartedJob{lost}, false, false, false},
		{[]cronjob.StartedJob{recorded, lost}, false, true, true},
		{[]cronjob.StartedJob{lost, recorded}, false, true, true},
		{[]cronjob.StartedJob{unrecorded}, true, false, false},
		{[]cronjob.StartedJob{unrecorded, lost}, false, false, true},
	} {
		s := in(hourly(cronjob.Spec{Suspend: ptr(true)}, hours(1)), cronjob.Options{ActiveFromChildren: tc.unstored})
		s.Memory = cronjob.Remember(cronjob.Remembered{CronJobUID: "cj-1", Started: tc.started})

		plan := reconcile(t, s)
		if b := plan.Basis(); b.Unshown != tc.isUnseen || b.Memory.Behind.IsZero() == (tc.behind || tc.isUnseen) {
			t.Errorf("%v: unshown %t, behind since %v", tc.started, b.Unshown, b.Memory.Behind)
		}

		s.Triggers = []cronjob.Trigger{{ID: "b", Overlap: cronjob.Forbid}}
		plan = reconcile(t, s)
		if waits := plan.Waits[len(plan.Waits)-1].Reason == cronjobreason.WaitStale; waits != tc.behind {
			t.Errorf("%v: waits %t:\n%s", tc.started, waits, plan.String())
		}
	}
}

// If a status with a later run was written, deletions need not be remembered. A snapshot without
// that run is older than the status (CI15).
func TestCL2_DeletedForALaterRun(t *testing.T) {
	plan := reconcile(t, second(cronjob.Replace, child(hours(1))))
	o := done(&plan)
	for result, want := range map[cronjobreason.Result]int{cronjobreason.ResultDone: 0, cronjobreason.ResultGone: 0, cronjobreason.ResultUnsuccessful: 1} {
		o.Deleted[0].Result = result
		if got := len(kept(plan.Conclude(o).Memory).Deleted); got != want {
			t.Errorf("%s: %d are remembered, want %d", result, got, want)
		}
	}
}

// CL2: a deleted job is remembered while the status cannot be written. Once the status does not
// list it, nothing is looked up. A later snapshot that is behind may still list it.
func TestCL2_DeletedUntilTheStatusSaysSo(t *testing.T) {
	s := second(cronjob.Replace, child(hours(1)))
	for range 4 {
		plan, end := playUnwritten(t, s)
		if s.Memory = end.Memory; len(s.Memory.Kept().Deleted) != 1 {
			t.Fatalf("forgotten:\n%s", plan.String())
		}
		s.CronJob.Spec.Suspend = ptr(true)
	}
	s.CronJob.Status.Active = nil
	for _, tc := range []struct {
		name     string
		recorded time.Time
		kept     int
	}{{"as late as the last write", hours(1), 0}, {"behind it", hours(2), 1}} {
		s.Memory.Kept().Recorded, s.Memory.Kept().Started = tc.recorded, nil
		plan := reconcile(t, s)
		if got := len(plan.Basis().Memory.Deleted); got != tc.kept || len(plan.Verify) > 0 {
			t.Errorf("%s: kept %d:\n%s", tc.name, got, plan.String())
		}
	}
}

// CI15: each limit needs a look-up. If the creation of a job had no reply, the job is looked up
// before another job is created that must not run beside it.
func TestCI15_LookUpUnderEachLimit(t *testing.T) {
	for _, tc := range []struct {
		name    string
		policy  cronjob.ConcurrencyPolicy
		options cronjob.Options
		limited bool
	}{
		{"Forbid", cronjob.Forbid, cronjob.Options{}, true},
		{"Replace", cronjob.Replace, cronjob.Options{}, true},
		{"MaxActive", cronjob.Allow, cronjob.Options{MaxActive: 1}, true},
		{"Allow, for the report", cronjob.Allow, cronjob.Options{}, false},
	} {
		s := lostCreation(t, cronjob.Spec{ConcurrencyPolicy: tc.policy}, tc.options)
		s.Now = hours(2)

		plan := reconcile(t, s)
		if len(plan.Verify) != 1 || len(plan.Create) != 1 {
			t.Errorf("%s: want one look-up:\n%s", tc.name, plan.String())
		}
		if plan.MayCreate(cronjob.Writes{Verified: []cronjob.Reply{{Result: cronjobreason.ResultDone}}}) == tc.limited {
			t.Errorf("%s: the job is there, and the run may start: %t", tc.name, tc.limited)
		}
	}
}

// CI15: a round that creates nothing does not forget jobs whose status write failed.
func TestCI15_UnrecordedJobsStayInMemory(t *testing.T) {
	s := behind(t, cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid}, cronjob.Options{}, cronjobreason.ResultUnsuccessful)
	for range 3 {
		plan := reconcile(t, s)
		o := found(&plan, cronjobreason.ResultDone)
		o.Settled = cronjob.Reply{Result: cronjobreason.ResultUnsuccessful}
		s.Memory = plan.Conclude(o).Memory
		if names := s.Memory.Kept().Started; len(names) != 1 || names[0].Name != (cronjob.Naming{}).JobName("report", hours(1)) {
			t.Fatalf("remembered %+v\n%s", names, plan.String())
		}
	}
}

// Recorded is the latest lastScheduleTime that a snapshot has shown or a round has written. A time
// whose write has failed does not count.
func TestCI15_RecordedIsSeenOrWritten(t *testing.T) {
	s := hourly(cronjob.Spec{}, hours(2.5))
	s.CronJob.Status.LastScheduleTime = hours(1)
	if _, end := play(t, s); !kept(end.Memory).Recorded.Equal(hours(2)) {
		t.Errorf("recorded %s, want the run that was started", kept(end.Memory).Recorded)
	}
	if _, end := playUnwritten(t, s); !kept(end.Memory).Recorded.Equal(hours(1)) {
		t.Errorf("recorded %s though the write failed, want what the snapshot shows", kept(end.Memory).Recorded)
	}
	s.Now = hours(1.5)
	if remember(t, &s); !s.Memory.Kept().Recorded.Equal(hours(1)) {
		t.Errorf("recorded %s, want what the snapshot shows", s.Memory.Kept().Recorded)
	}
	// A time in the future may be a mistake.
	for ahead, want := range map[time.Duration]time.Time{0: s.Now, 1: hours(1)} {
		s.CronJob.Status.LastScheduleTime = s.Now.Add(ahead)
		plan, err := cronjob.PlanRound(s)
		if got := plan.Basis().Memory.Recorded; err != nil || !got.Equal(want) {
			t.Errorf("%v ahead: recorded %s, %v, want %s", ahead, got, err, want)
		}
	}
}

// A round no longer waits for an earlier write, and starts a job. The next snapshot does not show
// that job yet, so nothing starts that must not run beside it.
func TestCI15_AnEarlierWaitIsOver(t *testing.T) {
	for _, tc := range []struct {
		name     string
		policy   cronjob.ConcurrencyPolicy
		triggers []cronjob.Trigger
		now      time.Time
	}{
		{"a run has started", cronjob.Forbid, nil, hours(3)},
		{"a trigger has started", cronjob.Allow, []cronjob.Trigger{{ID: "a"}}, hours(2.5)},
	} {
		s := hourly(cronjob.Spec{ConcurrencyPolicy: tc.policy}, tc.now)
		s.CronJob.Status.LastScheduleTime = hours(2)
		s.Memory = cronjob.Remember(cronjob.Remembered{
			CronJobUID: s.CronJob.UID, Recorded: hours(1), Behind: hours(1.1),
			Started: []cronjob.StartedJob{{Reference: ref(child(hours(1))), ScheduledTime: hours(1), Recorded: true}},
		})
		s.Triggers = tc.triggers

		plan, end := play(t, s)
		if len(plan.Create) != 1 {
			t.Fatalf("%s: the earlier wait is over:\n%s", tc.name, &plan)
		}

		s.Memory, s.Triggers = end.Memory, []cronjob.Trigger{{ID: "b", Overlap: cronjob.Forbid}}
		plan, end = play(t, s)
		if len(plan.Create) > 0 {
			t.Errorf("%s: and another starts beside it:\n%s", tc.name, &plan)
		}

		s.Memory, s.Now = end.Memory, s.Now.Add(5*time.Minute)
		if plan = reconcile(t, s); len(plan.Create) != 1 {
			t.Errorf("%s: it waits for longer than five minutes:\n%s", tc.name, &plan)
		}
	}
}

// CI15: a fresh read of the status lists a job that was started, but the next snapshot comes from a
// cache that is behind. No other job starts beside it.
func TestCI15_AFreshLookBetweenStaleOnes(t *testing.T) {
	forbidden := cronjob.Trigger{ID: "b", Overlap: cronjob.Forbid}
	triggers, backfills := []cronjob.Trigger{{ID: "a"}}, []cronjob.Backfill{between("a", -1.5, -0.5, "")}

	for _, tc := range []struct {
		name      string
		triggers  []cronjob.Trigger
		backfills []cronjob.Backfill
		shown     bool // the children show the job
		noName    bool // the reply to the creation is lost
	}{
		{"a trigger's job that no child shows", triggers, nil, false, false},
		{"a trigger's job", triggers, nil, true, false},
		{"a trigger's job without a reply", triggers, nil, false, true},
		{"a backfill's job that no child shows", nil, backfills, false, false},
		{"a backfill's job", nil, backfills, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := hourly(cronjob.Spec{}, hours(0.5))
			s.Triggers, s.Backfills = tc.triggers, tc.backfills

			plan := reconcile(t, s)
			o := done(&plan)
			if len(o.Created) != 1 {
				t.Fatal(plan.String())
			}

			fresh, made := plan.Settle(o.Writes).Status, plan.Create[0]
			if tc.noName {
				o.Created[0], o.Settled = cronjob.Effect{Result: cronjobreason.ResultUnsuccessful}, cronjob.Reply{Result: cronjobreason.ResultNotTried}
			}
			s.Memory, s.Triggers, s.Backfills = plan.Conclude(o).Memory, []cronjob.Trigger{forbidden}, nil

			if tc.shown {
				s.Children = []cronjob.Child{{
					Name: made.Name, UID: fresh.Active[0].UID, CreationTimestamp: s.Now, StartTime: s.Now,
					ScheduledTime: made.ScheduledTime, Backfilled: made.Backfill != "",
				}}
			}

			looked := s
			looked.CronJob.Status = fresh
			plan = reconcile(t, looked)
			s.Memory = plan.Conclude(found(&plan, cronjobreason.ResultDone)).Memory
			if plan = reconcile(t, s); len(plan.Create) > 0 {
				t.Errorf("another job starts beside %s:\n%s", made.Name, &plan)
			}

			// A later snapshot shows that the job has ended: the trigger starts.
			looked.Memory, looked.Children = plan.Conclude(cronjob.Outcome{}).Memory, []cronjob.Child{
				{Name: made.Name, UID: fresh.Active[0].UID, Finished: job.ConditionFailed, FinishTime: s.Now}}
			if plan = reconcile(t, looked); len(plan.Create) != 1 || len(plan.Basis().Memory.Started) > 0 {
				t.Errorf("the job has ended:\n%s", &plan)
			}
		})
	}
}

// CI15: a status write has removed a job from the list, and the program ended before it stored its
// memory. A status that records a run without listing its job is newer than the status that listed
// the job, so nothing waits for the older status.
func TestCI15_TheStatusIsNewerThanTheMemory(t *testing.T) {
	for name, children := range map[string][]cronjob.Child{
		"the job has ended": {finished(child(hours(1)), job.ConditionComplete, hours(1.5))},
		"the job is gone":   nil,
	} {
		s := behind(t, cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid}, cronjob.Options{}, cronjobreason.ResultDone)
		s.CronJob.Status.LastScheduleTime, s.Children = hours(1), children
		plan, end := play(t, s)
		if got := created(t, plan); !got.Equal(hours(2)) || end.Retry {
			t.Errorf("%s: starts %s, asks for a round %t:\n%s", name, got, end.Retry, &plan)
		}
	}
}

// CI15: nothing shows whether a trigger's job was created. The status write of another job does not
// show it either, so both jobs are remembered.
func TestCI15_LostBeforeAStatusWrite(t *testing.T) {
	s := hourly(cronjob.Spec{}, hours(0.5))
	s.Triggers = []cronjob.Trigger{{ID: "a"}}
	plan := reconcile(t, s)
	s.Memory, s.Triggers, s.Now = plan.Conclude(creation(cronjobreason.ResultUnsuccessful)).Memory, nil, hours(1)
	if _, end := play(t, s); len(end.Memory.Kept().Started) != 2 {
		t.Errorf("remembered %+v", end.Memory.Kept().Started)
	}
}

// CI15: another writer's status has the time of a run, but does not list its job. That does not
// show that the job is gone. The job is looked up, and counts as active until then.
func TestCI15_AnotherStatusThanOurs(t *testing.T) {
	s := behind(t, cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid}, cronjob.Options{}, cronjobreason.ResultUnsuccessful)
	s.CronJob.Status.LastScheduleTime = hours(1)
	if plan := reconcile(t, s); len(plan.Create) > 0 || len(plan.Verify) != 1 {
		t.Error(plan.String())
	}
}

// CI15, C2: a status write has removed a trigger's job from the list. The program has ended since,
// and starts with an older memory. The next status write shows that the snapshot's status was the
// latest. So nothing waits for the job any more, although runs start all the time, and the history
// deletes it.
func TestCI15_AWrittenStatusWasTheLatest(t *testing.T) {
	byTrigger := cronjob.Child{Name: "report-manual-a", UID: "a", CreationTimestamp: start, StartTime: start}
	c := newCronJob(cronjob.Spec{Schedule: "* * * * *", SuccessfulJobsHistoryLimit: ptr[int32](0)})
	s := snapshot(c, hours(1), finished(byTrigger, job.ConditionComplete, hours(0.5)))
	s.CronJob.Status.LastSuccessfulTime = hours(0.5)
	s.Memory = cronjob.Remember(cronjob.Remembered{
		CronJobUID: c.UID, Started: []cronjob.StartedJob{{Reference: ref(byTrigger), Recorded: true}},
	})
	plan, end := goOn(t, &s)
	if len(plan.Delete) > 0 || end.Retry || len(plan.Create) != 1 || end.Requeue.At.After(s.Now.Add(time.Second)) {
		t.Fatalf("the status may be older than the one that names the job:\n%s", &plan)
	}
	s.Now = s.Now.Add(time.Second)
	if plan, end := play(t, s); len(plan.Delete) != 1 || end.Retry {
		t.Errorf("retry %t:\n%s", end.Retry, &plan)
	}
}

// waitsForNewer reports whether the next round is requested because this snapshot is old.
func waitsForNewer(end *cronjob.Conclusion) bool {
	return end.Requeue.Reason == cronjobreason.WaitStale
}

// CI15: the longer snapshots are behind, the less often a round looks for a newer one, whatever it
// wants to start. Such a round does not set Retry.
func TestCI15_LooksAgainLessAndLessOften(t *testing.T) {
	for name, ask := range map[string]func(*cronjob.Snapshot){
		"a run": func(s *cronjob.Snapshot) { s.CronJob.Spec.ConcurrencyPolicy = cronjob.Forbid },
		"a backfill": func(s *cronjob.Snapshot) {
			s.CronJob.Spec.Suspend, s.Backfills = ptr(true), []cronjob.Backfill{between("b", -2, -1, cronjob.Forbid)}
		},
		"a trigger": func(s *cronjob.Snapshot) {
			s.CronJob.Spec.Suspend, s.Triggers = ptr(true), []cronjob.Trigger{{ID: "t", Overlap: cronjob.Forbid}}
		},
	} {
		s := behind(t, cronjob.Spec{}, cronjob.Options{}, cronjobreason.ResultDone)
		ask(&s)
		for i, seconds := range []time.Duration{1, 1, 2, 4, 8, 16, 32, 60, 60, 60, 56} {
			plan, end := play(t, s)
			if delay := end.Requeue.At.Sub(s.Now); len(plan.Create) > 0 || delay != seconds*time.Second || end.Retry {
				t.Fatalf("%s, round %d: again after %s, want %ds; retry %t\n%s", name, i, delay, seconds, end.Retry, &plan)
			}
			s.Memory, s.Now = end.Memory, end.Requeue.At
		}
		if plan := reconcile(t, s); len(plan.Create) != 1 {
			t.Errorf("%s does not start:\n%s", name, &plan)
		}
	}
}
