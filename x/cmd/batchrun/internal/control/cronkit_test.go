package control

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/cronjob/cronjobtest"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store/storetest"
)

// cronKit acts as the users, the jobs and the collector of the store. The program under test is
// CronLoop.
type cronKit struct {
	env   *cronjobtest.Env
	store *store.Store
	db    *sql.DB // of the store
	uid   job.UID
	loop  *CronLoop // of the latest runner
}

// TestCronBackend runs random lives of CronJobs on the store, as TestBackend does for jobs.
func TestCronBackend(t *testing.T) {
	fewLives(t)
	dir := t.TempDir()
	s, err := store.Open(dir)
	must.OK(t, err)
	t.Cleanup(func() { _ = s.Close() })
	db := storetest.Open(t, dir)

	test := cronjobtest.Test{Options: rapid.Just(cronjob.Options{})}
	test.Run(t, func(env *cronjobtest.Env) cronjobtest.Subject {
		k := &cronKit{env: env, store: s, db: db}
		return cronjobtest.Subject{Store: k, Start: k.start, OneWriter: true, Close: func() { _ = k.RemoveCronJob() }}
	})
}

func (k *cronKit) start(forget bool) cronjobtest.Program {
	k.loop = nil
	if _, err := k.db.Exec("UPDATE cronjobs SET memory = '{}' WHERE ?", forget); err != nil {
		panic(err)
	}
	return k.round
}

// round calls the loop once, as Run does.
func (k *cronKit) round(ctx context.Context) (time.Time, error) {
	stored, err := k.store.CronJob(k.uid)
	if err != nil {
		return time.Time{}, err
	}

	if k.loop == nil {
		if k.loop, err = NewCronLoop(k.store, nil, &stored); err != nil {
			return time.Time{}, err
		}
		k.loop.Follow, k.loop.Deleted = func([]store.Job) error { return nil }, func() {}
		k.loop.around = k.around
	}

	now := k.env.Now()
	k.loop.Clock = clock.New([]clock.Span{{Real: time.Now(), Virtual: now, Speed: 1e-9}})
	round, again, retry, err := k.loop.round(ctx, false)
	switch {
	case err == nil && round.Err != nil:
		err = round.Err
	case again && !retry:
		return now, err
	}
	return round.Requeue.At, err
}

// around shows a plan to the test, and lets the test fail the writes of the round.
func (k *cronKit) around(s *cronjob.Snapshot, p *cronjob.Plan, w cronWrites) cronWrites {
	k.env.Planned(s, p)
	return faultyWrites{k.env.Backend(w), k.env, w}
}

// faultyWrites is a backend that also lets the test fail the write at the end of a round.
type faultyWrites struct {
	cronjobapply.Backend
	env *cronjobtest.Env
	w   cronWrites
}

func (f faultyWrites) conclude(end *cronjob.Conclusion) error {
	return f.env.Write("end the round", func() error { return f.w.conclude(end) })
}

func (k *cronKit) CreateCronJob(c cronjob.CronJob) error {
	data, err := cronObject(c.Name, c.Spec)
	if err != nil {
		return err
	}
	added, err := k.store.AddCronJob(c.Namespace, c.Name, data, c.CreationTimestamp)
	k.uid, k.loop = added.UID, nil
	return err
}

func cronObject(name string, spec cronjob.Spec) ([]byte, error) {
	data, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	fields["jobTemplate"] = json.RawMessage(`{"spec": {"template": {"spec": {"restartPolicy": "Never"}}}}`)
	return json.Marshal(map[string]any{"metadata": map[string]any{"name": name}, "spec": fields})
}

func (k *cronKit) RemoveCronJob() error {
	jobs, err := k.store.Jobs()
	for i := range jobs {
		err = errors.Join(err, k.store.RemoveJob(jobs[i].UID))
	}
	return errors.Join(err, k.store.DeleteCronJob(k.uid, k.env.Now()), k.store.RemoveDeletedCronJobs())
}

// UpdateSpec replaces the manifest, which the next runner reads.
func (k *cronKit) UpdateSpec(s cronjob.Spec) error {
	c, err := k.CronJob()
	if err != nil {
		return err
	}
	data, err := cronObject(c.Name, s)
	if err != nil {
		return err
	}
	k.loop = nil
	return k.store.SetCronJobManifest(k.uid, data)
}

func (k *cronKit) CronJob() (cronjob.CronJob, error) {
	stored, err := k.store.CronJob(k.uid)
	if err != nil {
		return cronjob.CronJob{}, err
	}
	m, err := manifest.LoadCronJob(stored.Manifest)
	if err != nil {
		return cronjob.CronJob{}, err
	}
	return (&CronLoop{Manifest: m}).snapshot(&stored, nil, nil, time.Time{}, false).CronJob, nil
}

func (k *cronKit) Children() (children []cronjob.Child, err error) {
	jobs, err := k.store.Jobs()
	for i := range jobs {
		if j := &jobs[i]; j.Deleted.IsZero() {
			children = append(children, j.Child(k.uid))
		}
	}
	return children, err
}

// UpdateChild stores how a job has ended. It returns [errors.ErrUnsupported] for a deleted job,
// because the store does not show such jobs to their CronJob.
func (k *cronKit) UpdateChild(c cronjob.Child) error {
	if !c.DeletionTimestamp.IsZero() {
		return errors.ErrUnsupported
	}
	return k.store.SetStatus(c.UID, job.Status{
		StartTime: c.StartTime, CompletionTime: c.CompletionTime,
		Conditions: []job.Condition{{Type: c.Finished, Status: job.ConditionTrue, LastTransitionTime: c.FinishTime}},
	})
}

func (k *cronKit) RemoveChild(name string) error {
	j, err := k.store.FindJob(name)
	if err != nil {
		return err
	}
	return k.store.RemoveJob(j.UID)
}

// AddChild stores a job. Before that it removes deleted jobs, as the collector does, so that their
// names are free.
func (k *cronKit) AddChild(c cronjob.Child) error {
	deleted, err := k.store.DeletedJobs()
	for i := range deleted {
		err = errors.Join(err, k.store.RemoveJob(deleted[i].UID))
	}
	j, added := k.store.AddJob(store.Job{
		Namespace: "default", Name: c.Name, Created: c.CreationTimestamp, Manifest: []byte("{}"),
	})
	_, named := k.db.Exec("UPDATE jobs SET uid = ? WHERE uid = ?", c.UID, j.UID)
	return errors.Join(err, added, named)
}
