package play

import (
	"encoding/json"
	"strings"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// GoTest returns a Go test: it plans the snapshot of this state, and expects the same plan.
func (p *Job) GoTest() (string, error) {
	snapshot := p.world.Snapshot()
	plan, err := job.Reconcile(snapshot)
	if err != nil {
		return "", err
	}
	return goTest("job", "", snapshot, plan.String())
}

// GoTest returns a Go test: it plans the snapshot of this state, and expects the same plan.
func (p *CronJob) GoTest() (string, error) {
	snapshot := p.world.Snapshot()
	plan, err := cronjob.Reconcile(snapshot)
	if err != nil {
		return "", err
	}
	return goTest("cronjob", "\n\ts.Schedule = cronjob.Compile(&s.CronJob)", snapshot, plan.String())
}

// goTest writes a test in Go that plans one round from a snapshot.
func goTest(planner, prepare string, snapshot any, plan string) (string, error) {
	data, err := json.MarshalIndent(snapshot, "", "\t")
	if err != nil {
		return "", err
	}
	return strings.NewReplacer("PLANNER", planner, "PREPARE", prepare, "SNAPSHOT", quoted(string(data)), "WANT",
		quoted(plan)).Replace(testTemplate), nil
}

// quoted returns a Go string literal over several lines.
func quoted(text string) string {
	return "`" + strings.ReplaceAll(text, "`", "` + \"`\" + `") + "`"
}

const testTemplate = `package PLANNER_test

import (
	"encoding/json"
	"testing"

	"github.com/batchplan/batchplan/PLANNER"
)

// TestSituation plans one round from a snapshot.
func TestSituation(t *testing.T) {
	const snapshot = SNAPSHOT
	const want = WANT
	var s PLANNER.Snapshot
	if err := json.Unmarshal([]byte(snapshot), &s); err != nil {
		t.Fatal(err)
	}PREPARE
	plan, err := PLANNER.Reconcile(s)
	if err != nil {
		t.Fatal(err)
	}
	if got := plan.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
`
