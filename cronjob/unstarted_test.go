package cronjob_test

import (
	"slices"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
)

func TestC9_MissSchedule(t *testing.T) {
	s := hourly(cronjob.Spec{StartingDeadlineSeconds: ptr[int64](60)}, hours(2).Add(5*time.Minute))
	plan := remember(t, &s)
	if got := reasons(plan.Events); !slices.Equal(got, []string{"MissSchedule"}) || plan.Missed.Count != 2 || !plan.Missed.TooLate {
		t.Error(plan.String())
	}
	if !s.Memory.Kept().Accounted.Equal(hours(2)) {
		t.Errorf("accounted up to %v, want the latest missed run", s.Memory.Kept().Accounted)
	}
	if plan := reconcile(t, s); len(plan.Events) > 0 || plan.Missed.Count != 2 {
		t.Errorf("once a run: %s", plan.String())
	}
	s.Now = s.Now.Add(time.Hour)
	if plan := reconcile(t, s); len(plan.Events) != 1 {
		t.Errorf("the next run, too: %s", plan.String())
	}
	if plan := reconcile(t, kubernetes(s)); len(plan.Events) > 0 {
		t.Errorf("the reference never says so: %s", plan.String())
	}
}

// In the sum of Metrics.Unstarted each missed run counts once, although each round sees the same
// missed runs while a run is held back.
func TestMetrics_UnstartedCountsOnce(t *testing.T) {
	s := second(cronjob.Forbid, child(hours(1)))
	for _, tc := range []struct {
		now       float64
		seen, new int
	}{{4.1, 2, 2}, {4.2, 2, 0}, {4.9, 2, 0}, {5, 3, 1}, {7.5, 5, 2}} {
		s.Now = hours(tc.now)
		plan := reconcile(t, s)
		end := plan.Conclude(cronjob.Outcome{})
		if plan.Missed.Count != tc.seen || end.Metrics.Unstarted != tc.new {
			t.Errorf("at %v: %d missed, %d of them new; want %d and %d", tc.now, plan.Missed.Count, end.Metrics.Unstarted, tc.seen, tc.new)
		}
		s.Memory = end.Memory
	}
}

// lostCreation returns the snapshot after a round in which the creation of the job of 1:00 had no
// reply.
func lostCreation(t *testing.T, spec cronjob.Spec, o cronjob.Options) cronjob.Snapshot {
	t.Helper()
	s := in(hourly(spec, hours(1)), o)
	plan := reconcile(t, s)
	s.Memory = plan.Conclude(creation(cronjobreason.ResultUnsuccessful)).Memory
	return s
}

// C9: a job that was perhaps created is looked up before its run is reported as unstarted.
func TestC9_PerhapsCreated(t *testing.T) {
	short := cronjob.Spec{StartingDeadlineSeconds: ptr[int64](20)}
	for _, tc := range []struct {
		name   string
		spec   cronjob.Spec
		now    time.Time
		found  cronjobreason.Result
		missed []int // in two rounds
		events []string
	}{
		{"it runs", short, hours(1.5), cronjobreason.ResultDone, []int{0, 0}, nil},
		{"it is not there", short, hours(1.5), cronjobreason.ResultGone, []int{1, 0}, []string{"MissSchedule"}},
		{"nobody knows", short, hours(1.5), cronjobreason.ResultUnsuccessful, []int{0, 0}, nil},
		{"a later run is due, and it runs", cronjob.Spec{}, hours(3), cronjobreason.ResultDone, []int{1, 0}, []string{"SuccessfulCreate"}},
		{"a later run is due, and it is not there", cronjob.Spec{}, hours(3), cronjobreason.ResultGone, []int{2, 0}, []string{"SuccessfulCreate"}},
	} {
		s := lostCreation(t, tc.spec, cronjob.Options{})
		s.Now = tc.now
		for i, want := range tc.missed {
			plan := reconcile(t, s)
			o := found(&plan, tc.found)
			if i == 0 && (len(plan.Verify) != 1 || !plan.MayCreate(o.Writes)) {
				t.Errorf("%s: the job is looked up, and holds nothing back:\n%s", tc.name, plan.String())
			}
			end := plan.Conclude(o)
			if end.Metrics.Unstarted != want || i == 0 && !slices.Equal(reasons(end.Events), tc.events) {
				t.Errorf("%s, round %d: %v and %v:\n%s", tc.name, i, end.Unstarted, end.Events, plan.String())
			}
			s.Memory, s.CronJob.Status = end.Memory, end.Status
		}
	}
	// Another owner has taken the name meanwhile.
	s := lostCreation(t, short, cronjob.Options{})
	s.Now = hours(1.5)
	remember(t, &s)
	s.Children = []cronjob.Child{foreign(child(hours(1)))}
	taken := []cronjob.Unstarted{{Reason: cronjobreason.UnstartedNameTaken, Count: 1, Latest: hours(1)}}
	if plan := reconcile(t, s); !slices.Equal(plan.Unstarted, taken) {
		t.Errorf("another owner's job has the name: %v", plan.Unstarted)
	}
	// The job was created, and has ended.
	s.Children = []cronjob.Child{ended(1, cronjob.Complete)}
	if plan := reconcile(t, s); len(plan.Unstarted) > 0 {
		t.Errorf("the run has taken place: %v", plan.Unstarted)
	}
}

// C9: a crash after the creation, or after the status write, loses no report. Runs with jobs are
// not reported as unstarted.
func TestC9_AfterACrash(t *testing.T) {
	for _, recorded := range []bool{false, true} {
		s := hourly(cronjob.Spec{}, hours(0.5))
		remember(t, &s)
		s.Now = hours(5)
		_, end := play(t, s)
		// The program ends, and starts with the memory of the round before.
		s.Children, s.Now = []cronjob.Child{child(hours(2)), child(hours(5))}, hours(5.1)
		if recorded {
			s.CronJob.Status = end.Status
		}
		plan, end := play(t, s)
		if end.Metrics.Unstarted != 3 || end.Unstarted[0].Reason != cronjobreason.UnstartedForLater || !end.Unstarted[0].Latest.Equal(hours(4)) {
			t.Errorf("recorded %t: %v\n%s", recorded, end.Unstarted, plan.String())
		}
	}
}

// C9: a run whose name is taken is reported once, whichever way to catch up is chosen.
func TestC9_NameTaken(t *testing.T) {
	other := foreign(child(hours(2)))

	for _, catchUp := range []cronjob.CatchUp{cronjob.CatchUpLatest, cronjob.CatchUpNone, cronjob.CatchUpAll} {
		for _, children := range [][]cronjob.Child{{other}, nil} {
			s := in(hourly(cronjob.Spec{}, hours(1), children...), cronjob.Options{CatchUp: catchUp})
			missed, started := 0, 0

			for n := range 10 {
				s.Now = hours(float64(n/2 + 1))

				plan := reconcile(t, s)
				o := done(&plan)
				for i := range o.Created {
					if started++; plan.Create[i].Name == other.Name {
						started--
						o.Created[i] = cronjob.Effect{Result: cronjobreason.ResultNameTaken}
					}
				}

				end := plan.Conclude(o)
				missed += end.Metrics.Unstarted
				s.Memory, s.CronJob.Status = end.Memory, end.Status
			}

			if missed != 1 || started != 4 {
				t.Errorf("%s, the children %v: %d runs start, %d are reported", catchUp, children, started, missed)
			}
		}
	}
}

// C9: runs that an option sets aside are reported, with the reason.
func TestC9_SetAside(t *testing.T) {
	for _, tc := range []struct {
		name    string
		options cronjob.Options
		change  func(*cronjob.Spec)
		want    cronjob.Unstarted
	}{
		{"suspended", cronjob.Options{SkipOnResume: true}, func(s *cronjob.Spec) { s.Suspend = ptr(true) },
			cronjob.Unstarted{Reason: cronjobreason.UnstartedSuspended, Count: 3, Latest: hours(4)}},
		{"edited", cronjob.Options{SkipOnEdit: true}, func(s *cronjob.Spec) { s.Schedule = "30 * * * *" },
			cronjob.Unstarted{Reason: cronjobreason.UnstartedEdited, Count: 3, Latest: hours(3.5)}},
		{"in another zone", cronjob.Options{SkipOnEdit: true}, func(s *cronjob.Spec) { s.TimeZone = ptr("Asia/Kolkata") }, // half past each hour
			cronjob.Unstarted{Reason: cronjobreason.UnstartedEdited, Count: 3, Latest: hours(3.5)}},
		{"held back", cronjob.Options{SkipHeld: true}, func(s *cronjob.Spec) { s.ConcurrencyPolicy = cronjob.Forbid },
			cronjob.Unstarted{Reason: cronjobreason.UnstartedHeld, Count: 1, Latest: hours(4)}},
	} {
		s := in(second("", child(hours(1))), tc.options)
		s.Now = hours(1.5)
		remember(t, &s)

		s.Now = hours(4)
		tc.change(&s.CronJob.Spec)
		s.Schedule = cronjob.Compile(&s.CronJob)

		var all []cronjob.Unstarted
		for range 2 {
			_, end := play(t, s)
			if len(all) == 0 && !slices.Contains(reasons(end.Events), "SkippedSchedule") {
				t.Errorf("%s: events %v", tc.name, end.Events)
			}
			all = append(all, end.Unstarted...)
			s.Memory = end.Memory
		}

		if len(all) == 0 || all[len(all)-1].Reason != tc.want.Reason || all[len(all)-1].Count != tc.want.Count || !all[len(all)-1].Latest.Equal(tc.want.Latest) {
			t.Errorf("%s: %v, want %v", tc.name, all, tc.want)
		}
		if total := all[0].Count; tc.name == "held back" && (len(all) != 2 || total != 2) {
			t.Errorf("%s: a later run takes the place of two: %v", tc.name, all)
		}
	}
}

// TestC9_NoMissScheduleOfARunThatStarts: the deadlines of older runs have passed, and the due run
// starts. The older runs are counted, but there is no MissSchedule event.
func TestC9_NoMissScheduleOfARunThatStarts(t *testing.T) {
	s := hourly(cronjob.Spec{StartingDeadlineSeconds: ptr[int64](5400)}, hours(10.25))
	s.CronJob.Status.LastScheduleTime = hours(1)
	plan, end := play(t, s)
	if got := created(t, plan); !got.Equal(hours(10)) || plan.Missed.TooLate || plan.Missed.Count != 8 {
		t.Errorf("started %s\n%s", got, plan.String())
	}
	if got := reasons(end.Events); !slices.Equal(got, []string{"SuccessfulCreate"}) {
		t.Errorf("events %v", got)
	}
}

// C9: an earlier run is due again, because the clock goes back, or the deadline or the limit of
// CatchUpAll is raised. Without an edit of the schedule, no run is reported twice.
func TestC9_EarlierRunWithoutAnEdit(t *testing.T) {
	for name, tc := range map[string]struct {
		rounds []float64
		raise  func(s *cronjob.Snapshot) // after the second round
		want   int
	}{
		"clock back": {[]float64{0.5, 5.25, 1.25, 1.75, 2.75, 3.75, 4.75}, func(*cronjob.Snapshot) {}, 4},
		"deadline": {[]float64{0.5, 5.25, 5.3, 6.9, 12.9}, func(s *cronjob.Snapshot) {
			s.CronJob.Spec.StartingDeadlineSeconds = ptr[int64](5 * 3600)
		}, 8},
		"limit": {[]float64{0.5, 5.25, 6.3, 7.3, 8.3}, func(s *cronjob.Snapshot) {
			s.CronJob.Spec.StartingDeadlineSeconds, s.Options.CatchUpLimit = nil, 8
		}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			s := hourly(cronjob.Spec{ConcurrencyPolicy: cronjob.Forbid, StartingDeadlineSeconds: ptr[int64](1800)}, start, child(start))
			s.CronJob.Status = cronjob.Status{Active: []cronjob.Reference{ref(child(start))}, LastScheduleTime: start}
			s.Options = cronjob.Options{CatchUp: cronjob.CatchUpAll, CatchUpLimit: 4}

			missed := 0
			for i, hour := range tc.rounds {
				if i == 2 {
					tc.raise(&s)
				}
				s.Now = hours(hour)
				_, end := goOn(t, &s)
				missed += end.Metrics.Unstarted
			}
			if missed != tc.want {
				t.Errorf("%d runs were reported, want %d", missed, tc.want)
			}
		})
	}
}
