package blackbox

import (
	"testing"
	"time"
)

// TestFind_Several: each mistake that needs several parents, or a parent that is created again, is found within the
// stated number of lives.
func TestFind_Several(t *testing.T) {
	for _, test := range []struct {
		name  string
		wrong naive
		want  Check
		lives int
	}{
		{"remembers runs by the name of the parent, without its namespace", naive{forgetsNamespaces: true}, Retries, 10},
		{"keeps the list of children from one parent to the next", naive{sharesList: true}, ActiveList, 10},
		{"counts the children of others in the history", naive{countsOthers: true}, History, 10},
		{"an invalid schedule keeps the others from being looked at", naive{blocks: true}, Retries, 10},
		{"a child of any parent counts for Forbid", naive{forbidsAll: true}, Starts, 10},
		{"names of children collide, since they are cut off", naive{truncates: true}, Retries, 10},
		{"takes children by a label", naive{byLabel: true}, ActiveList, 10},
		{"takes children by the prefix of their names", naive{byPrefix: true}, History, 10},
		{"deletes the children of others with a parent", naive{deletesOthers: true}, KeepsRunning, 10},
		{"takes a new parent for the old one", naive{remembers: true}, OnSchedule, 10},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.wrong.every = 20*time.Second + 70*time.Millisecond // never at the instant of a step
			expectFind(t, profile[CronSettings](test.wrong.subject()), test.want, 1, 200, test.lives)
		})
	}
	for _, test := range []struct {
		name  string
		wrong worker
		want  Check
		lives int
	}{
		{"takes pods by the prefix of their names", worker{byPrefix: true}, CountedOnce, 10},
		{"a limit over all", worker{limitsAll: true}, Ends, 10},
		{"remembers that a Job of this name has ended", worker{endsForGood: true}, Ends, 10},
		{"forgets a pod that has expired", worker{countsExisting: true}, CountedOnce, 10},
		{"runs the index of a pod again that has expired", worker{runsGone: true}, EndsRightly, 10},
		{"gives up after an error at its start", worker{quitsAtStart: true}, Ends, 10},
	} {
		t.Run(test.name, func(t *testing.T) {
			expectFind(t, profile[BatchSettings](test.wrong.subject()), test.want, 1, 200, test.lives)
		})
	}
	for _, test := range []struct {
		name  string
		wrong keeper
		want  Check
		lives int
	}{
		{"an object without a namespace has the same name for both", keeper{sharesRole: true}, "ApartClusterRole", 100},
		{"remembers by name", keeper{sharesSeen: true, overwrites: true}, "ApartWeb", 100},
		{"a parent that fails keeps the others from being looked at", keeper{blocks: true}, "ApartWeb", 100},
		{"copies labels once", keeper{copiesLabels: true}, "EditedConfigMap", 100},
		{"deletes the jobs of others", keeper{jobsOfAll: true}, "ApartJob", 100},
	} {
		t.Run(test.name, func(t *testing.T) {
			expectFind(t, profile[OperatorSettings](test.wrong.subject()), test.want, 1, 200, test.lives, Break)
		})
	}
}

// expectFind fails if the check is not found within a number of lives.
func expectFind[S Settings](t *testing.T, c profile[S], want Check, short, random, within int, skipped ...Action) {
	t.Helper()
	lives := livesUntil(t, c, want, short, random, skipped...)
	if lives == 0 || lives > within {
		t.Errorf("%s is found in life %d, want at most %d", want, lives, within)
	}
	t.Logf("found in life %d", lives)
}

// TestLiteral: a finding prints each field of its life that is not zero, and no other field of a struct.
func TestLiteral(t *testing.T) {
	life := CronLife{
		Settings: CronSettings{Schedule: "* * * * *", KeepFailed: new(int32(0))},
		Beside:   []CronSettings{{Schedule: "@daily", Suspend: true}, {}},
		Begin:    time.Minute,
		Steps: []Step{
			{Do: Restart, Parent: 2, Amid: Hold, Of: "jobs"},
			{Do: Break, Fault: LoseReply, Nth: 2, For: time.Second, Set: `{"a":"b"}`},
			{Do: Expire, AtOnce: 1},
		},
	}
	want := `blackbox.CronLife{
		Settings: blackbox.CronSettings{Schedule: "* * * * *", KeepFailed: new(int32(0))},
		Beside: []blackbox.CronSettings{
			{Schedule: "@daily", Suspend: true},
			{},
		},
		Begin: 60000000000, // 1m0s
		Lag: 0, // 0s
		Steps: []blackbox.Step{
			{Do: blackbox.Restart, Parent: 2, Amid: blackbox.Hold, Of: "jobs"},
			{Do: blackbox.Break, For: 1000000000, Set: "{\"a\":\"b\"}", Fault: blackbox.LoseReply, Nth: 2},
			{Do: blackbox.Expire, AtOnce: 1},
		},
	}`
	if got := life.source(); got != want {
		t.Errorf("the literal is\n%s\nwant\n%s", got, want)
	}
}
