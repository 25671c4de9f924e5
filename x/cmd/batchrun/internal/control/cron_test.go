package control

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store/storetest"
)

const cronManifest = `{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c"}, "spec": {
	"schedule": "* * * * *", "concurrencyPolicy": "POLICY", "successfulJobsHistoryLimit": 0,
	"jobTemplate": {"spec": {"ttlSecondsAfterFinished": 0, "template": {"spec": {"restartPolicy": "Never"}}}}}}`

// now is the time of all rounds, because the clock of the tests hardly moves.
var now = time.Date(2026, 1, 1, 12, 0, 30, 0, time.UTC)

// life is a state folder with one CronJob. Its jobs succeed immediately and are removed
// as soon as they are deleted.
type life struct {
	*testing.T
	store *store.Store
	cron  store.CronJob
	loop  *CronLoop
}

func newLife(t *testing.T, policy string) *life {
	dir := filepath.Join(t.TempDir(), "state")
	s, err := store.Open(dir)
	must.OK(t, err)
	t.Cleanup(func() { s.Close() })
	l := &life{T: t, store: s}
	l.exec("CREATE TABLE made (name TEXT); CREATE TRIGGER note AFTER INSERT ON jobs BEGIN INSERT INTO made VALUES (new.name); END")
	text := strings.Replace(cronManifest, "POLICY", policy, 1)
	if l.cron, err = s.AddCronJob("default", "c", []byte(text), now.Add(-3*time.Minute)); err != nil {
		t.Fatal(err)
	}
	l.restart()
	return l
}

func (l *life) exec(text string) {
	l.Helper()
	storetest.Exec(l, l.store.Dir, text)
}

// restart does what a new runner does.
func (l *life) restart() {
	loop, err := NewCronLoop(l.store, still(), &l.cron)
	must.OK(l, err)
	loop.Follow, loop.Deleted = func([]store.Job) error { return nil }, func() {}
	l.loop = loop
}

// round runs a round. After it, all jobs have succeeded, and deleted objects are gone.
func (l *life) round() error {
	l.Helper()
	round, _, _, err := l.loop.round(context.Background(), false)
	if err == nil {
		err = round.Err
	}
	jobs, readErr := l.store.Jobs()
	if readErr != nil {
		l.Fatal(readErr)
	}
	for i := range jobs {
		done := job.Status{Conditions: []job.Condition{{Type: job.ConditionComplete, Status: job.ConditionTrue, LastTransitionTime: now}},
			StartTime: jobs[i].Created, CompletionTime: now}
		writeErr := l.store.SetStatus(jobs[i].UID, done)
		if !jobs[i].Deleted.IsZero() {
			writeErr = l.store.RemoveJob(jobs[i].UID)
		}
		if writeErr != nil {
			l.Fatal(writeErr)
		}
	}
	return err
}

// made returns the names of all jobs that have ever been created.
func (l *life) made() (names []string) {
	rows, err := storetest.Open(l, l.store.Dir).Query("SELECT name FROM made")
	must.OK(l, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		must.OK(l, rows.Scan(&name))
		names = append(names, name)
	}
	return names
}

// TestCI1_CrashBetweenWrites: a crash prevents one of the writes. Whichever write that is, the next
// runner starts neither the run nor the trigger again, although the jobs are gone immediately.
func TestCI1_CrashBetweenWrites(t *testing.T) {
	for _, policy := range []string{"Allow", "Forbid", "Replace"} {
		for _, lost := range []string{
			"INSERT ON jobs", "UPDATE OF status ON cronjobs", "UPDATE OF memory ON cronjobs",
			"DELETE ON triggers", "INSERT ON cronjob_events", "UPDATE OF deleted ON jobs",
		} {
			t.Run(policy+", no "+lost, func(t *testing.T) {
				l := newLife(t, policy)
				asked, err := l.store.AddTrigger(l.cron.UID)
				must.OK(t, err)
				run := cronjob.Naming{}.JobName("c", now.Truncate(time.Minute))
				l.exec(storetest.Refuse(lost))
				crashed := false
				for range 6 {
					crashed = l.round() != nil || crashed
					l.restart()
				}
				l.exec("DROP TRIGGER fault")
				for range 6 {
					if err := l.round(); err != nil {
						t.Error(err)
					}
				}
				made := l.made()
				if sorted := slices.Sorted(slices.Values(made)); !crashed || len(slices.Compact(sorted)) != len(made) {
					t.Errorf("crashed %v, made %v", crashed, made)
				}
				if len(made) != 2 || !slices.Contains(made, run) || !slices.Contains(made, (cronjob.Naming{}).TriggerName("c", asked)) {
					t.Errorf("made %v, want the run %s and the trigger", made, run)
				}
				c, err := l.store.CronJob(l.cron.UID)
				if err != nil || (cronjob.Naming{}).JobName("c", c.Status.LastScheduleTime) != run || len(c.Status.Active) > 0 {
					t.Errorf("%v, %v", c.Status, err)
				}
				if left, err := l.store.Triggers(l.cron.UID); err != nil || len(left) > 0 {
					t.Errorf("triggers left: %v, %v", left, err)
				}
			})
		}
	}
}
