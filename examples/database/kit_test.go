package main

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobtest"
)

// TestBackend plays random lives of jobs in both databases.
func TestBackend(t *testing.T) {
	slog.SetLogLoggerLevel(slog.LevelError + 1)
	onBoth(t, func(t *testing.T, address string) {
		s, err := Open(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		defer s.db.Close()
		jobtest.TestBackend(t, func(env *jobtest.Env) jobtest.Subject {
			o := &outside{Store: s, env: env}
			s.newID = o.id
			o.must(s.within(t.Context(), func(t *tx) {
				t.exec("DELETE FROM jobs")
				t.exec("DELETE FROM workers")
			}))
			return jobtest.Subject{Store: o, Start: o.start}
		})
	})
}

// outside is the store as users and kubelets see it.
type outside struct {
	*Store
	env     *jobtest.Env
	uid     job.UID
	ids     int
	workers int
}

// id returns consecutive numbers, so that a seed repeats a life.
func (o *outside) id() string {
	o.ids++
	return fmt.Sprintf("%06d", o.ids)
}

// start starts a worker. The earlier one is dead, and its lease is over.
func (o *outside) start(forget bool) jobtest.Program {
	o.tick()
	o.workers++
	w := &Worker{Store: o.Store, ID: fmt.Sprint("worker-", o.workers), Options: o.env.Options(), Lease: 1e5 * time.Hour, fuse: time.NewTimer(1e5 * time.Hour)}
	w.around = func(r *round, p *job.Plan) backend {
		o.env.Planned(&r.snapshot, p)
		return faulty{o.env.Backend(r), o.env, r}
	}

	o.must(o.within(context.Background(), func(t *tx) {
		t.exec("DELETE FROM workers")
		t.exec("INSERT INTO workers (id, lease) VALUES ('kubelet', $1)", int64(math.MaxInt64))
		if forget {
			t.exec("UPDATE jobs SET memory = ''")
		}
	}))

	_, err := w.beat(context.Background())
	o.must(err)

	return func(ctx context.Context) (time.Time, error) {
		o.tick()
		_, err := w.Plan(ctx)
		return o.due(), err
	}
}

// faulty is a backend whose last write can also fail.
type faulty struct {
	jobapply.Backend
	env *jobtest.Env
	r   *round
}

func (f faulty) giveBack(ctx context.Context, end job.Conclusion, failed error) error {
	return f.env.Write("give the job back", func() error { return f.r.giveBack(ctx, end, failed) })
}

// tick sets the clock of the store.
func (o *outside) tick() {
	o.clock = fmt.Sprint("SELECT CAST(", o.env.Now().UnixMilli(), " AS BIGINT)")
}

func (o *outside) must(err error) {
	if err != nil {
		panic(err)
	}
}

// due returns when the job is due. A job that was never given back is due immediately.
func (o *outside) due() (at time.Time) {
	o.must(o.within(context.Background(), func(t *tx) {
		for _, ms := range list(t, func(ms *int64) []any { return []any{ms} }, "SELECT due FROM jobs WHERE due < $1", int64(math.MaxInt64)) {
			at = time.UnixMilli(ms).UTC()
			if ms == 0 {
				at = t.now
			}
		}
	}))
	return at
}

func (o *outside) CreateJob(j job.Job) (err error) {
	o.tick()
	o.uid, err = o.Add(context.Background(), j.Name, "", j.Spec)
	return err
}

func (o *outside) RemoveJob() error {
	return o.within(context.Background(), func(t *tx) { t.exec("DELETE FROM jobs") })
}

func (o *outside) UpdateSpec(spec job.Spec) error {
	return o.Edit(context.Background(), o.uid, func(s *job.Spec) { *s = spec })
}

// outside is not a jobtest.JobDeleter, so the kit deletes only jobs that have ended. This store
// removes the row of a deleted job itself, which TestDelete tests.

func (o *outside) Job() (j job.Job, err error) {
	err = o.within(context.Background(), func(t *tx) {
		for _, j = range list(t, func(j *job.Job) []any { return []any{asJSON{j}} }, "SELECT job FROM jobs") {
		}
	})
	return j, err
}

func (o *outside) Pods() (pods []job.Pod, err error) {
	err = o.within(context.Background(), func(t *tx) { pods = list(t, pod, "SELECT pod FROM pods ORDER BY uid") })
	return pods, err
}

func (o *outside) UpdatePod(p job.Pod) error {
	o.tick()
	return o.within(context.Background(), func(t *tx) {
		t.wake(o.uid)
		t.changePod(p.UID, func(old *job.Pod) {
			detail := *p.Detail
			detail.ResourceVersion = old.Detail.ResourceVersion
			p.Untracked, p.Detail = old.Untracked, &detail
			*old = p
		})
		t.exec("UPDATE pods SET worker = 'kubelet'")
	})
}
