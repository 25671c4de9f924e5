package cronjob

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/job"
)

// The obstacles to the due run, in the order of the rules.
func TestFindObstacle(t *testing.T) {
	run := time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC)
	own := Child{Name: Naming{}.JobName("report", run), UID: "own"}
	foreign := own
	foreign.Foreign = true
	other := Reference{Name: "report-1", UID: "other"}
	backfilled := Child{Name: Naming{}.JobName("report", run.Add(-time.Hour)), UID: "b", ScheduledTime: run.Add(-time.Hour), Backfilled: true}

	for _, tc := range []struct {
		name    string
		policy  ConcurrencyPolicy
		options Options
		census  census
		want    obstacle
	}{
		{"nothing", Forbid, Options{}, census{}, obstacle{standing: isFree}},
		{"C10: the active list names its job", Forbid, Options{}, census{active: []Reference{other, {Name: own.Name}}, recalled: recalled{behind: true}}, obstacle{standing: isStarted}},
		{"C14: its job is a child", Forbid, Options{}, census{family: family{children: []Child{own}}, active: []Reference{other}}, obstacle{standing: isFound}},
		{"C14: another owner's job has the name", Forbid, Options{}, census{family: family{children: []Child{foreign}}, recalled: recalled{behind: true}}, obstacle{standing: isTaken}},
		{"CI15: a stale snapshot holds what active jobs decide", Forbid, Options{}, census{recalled: recalled{behind: true}}, obstacle{standing: isStale}},
		{"CI15: with Allow they decide nothing", Allow, Options{}, census{recalled: recalled{behind: true}}, obstacle{standing: isFree}},
		{"CI15: with a limit they do", Allow, Options{MaxActive: 9}, census{recalled: recalled{behind: true}}, obstacle{standing: isStale}},
		{"C11: Forbid", Forbid, Options{}, census{active: []Reference{other}}, obstacle{standing: isForbidden, jobs: 1}},
		{"SkipHeld gives the run up", Forbid, Options{SkipHeld: true}, census{active: []Reference{other}}, obstacle{standing: isSkipped, jobs: 1}},
		{"SkipHeld looks the jobs up first", Forbid, Options{SkipHeld: true}, census{active: []Reference{other}, verify: make([]Reference, 1)}, obstacle{standing: isForbidden, jobs: 1}},
		{"SkipHeld looks up first what was perhaps deleted", Forbid, Options{SkipHeld: true}, census{active: []Reference{other}, recalled: recalled{doubtful: []Reference{other}}}, obstacle{standing: isForbidden, jobs: 1}},
		{"Allow starts beside others", Allow, Options{MaxActive: 2}, census{active: []Reference{other}}, obstacle{standing: isFree}},
		{"MaxActive", Allow, Options{MaxActive: 1}, census{active: []Reference{other}}, obstacle{standing: isFull, jobs: 1}},
		{"C12: Replace", Replace, Options{MaxActive: 1}, census{active: []Reference{other}, kept: 1}, obstacle{standing: isFree}},
		{"CI1: Replace records first", Replace, Options{}, census{active: []Reference{other}}, obstacle{standing: isUnsettled, jobs: 1}},
		{"ReplaceWhenGone waits for those that are looked up", Replace, Options{ReplaceWhenGone: true}, census{verify: make([]Reference, 2)}, obstacle{standing: isReplacing, jobs: 2}},
		{"Replace spares a backfill, which counts against MaxActive", Replace, Options{MaxActive: 1},
			census{active: []Reference{{Name: backfilled.Name, UID: "b"}}, kept: 1, family: family{children: []Child{backfilled}}}, obstacle{standing: isFull, jobs: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := Snapshot{CronJob: CronJob{Name: "report", Spec: Spec{ConcurrencyPolicy: tc.policy}}, Options: tc.options}
			tc.census.names.cronJob = "report"
			if got := findObstacle(&s, &tc.census, &timing{pick: pick{due: run}}); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
			if got := findObstacle(&s, &tc.census, &timing{}); got != (obstacle{}) {
				t.Errorf("with no run due: %+v", got)
			}
		})
	}
}

// While a run is held, no backfill starts before it.
func TestObstacle_Holds(t *testing.T) {
	held := map[standing]bool{isStale: true, isForbidden: true, isFull: true, isReplacing: true}
	for st := notDue; st <= isReplacing; st++ {
		if got := (obstacle{standing: st}).holds(); got != held[st] {
			t.Errorf("standing %d: holds %t", st, got)
		}
	}
}

// A job counts once for a trigger or a backfill, also if it is both active and deleted.
func TestCountBusy(t *testing.T) {
	c := census{active: []Reference{{UID: "a"}, {UID: "b"}}, recalled: recalled{deleted: map[job.UID]bool{"a": true}}}
	for _, whenGone := range []bool{false, true} {
		if c.whenGone = whenGone; c.countBusy() != 2 {
			t.Errorf("when gone %t: %d jobs", whenGone, c.countBusy())
		}
	}
}

// CI1: a backfill has not settled the run of a job, and the active list lacks the job. The job
// counts only with ReplaceWhenGone, because only then does a run delete it.
func TestCountUnsettled(t *testing.T) {
	run := time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC)
	naming := Naming{}
	forgotten := Child{Name: naming.JobName("report", run), UID: "f", ScheduledTime: run}
	c := census{family: family{names: naming.of("report"), children: []Child{forgotten}}, verdicts: []verdict{childForgotten}}
	c.awaited = awaitedBy([]Backfill{{ID: "b", After: run.Add(-1), Until: run}}, &c.names)
	for whenGone, want := range map[bool]int{false: 0, true: 1} {
		if c.whenGone = whenGone; c.countUnsettled() != want {
			t.Errorf("when gone %t: %d jobs, want %d", whenGone, c.countUnsettled(), want)
		}
	}
}
