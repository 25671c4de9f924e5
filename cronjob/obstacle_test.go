package cronjob

import (
	"testing"
	"time"
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
