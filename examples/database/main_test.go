package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/job"
)

func init() { slog.SetLogLoggerLevel(slog.LevelError + 1) }

// world is a database whose clock the test sets.
type world struct {
	*testing.T
	*Store
	time time.Time
}

func newWorld(t *testing.T, address string) *world {
	t.Helper()
	s, err := Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.db.Close() })
	w := &world{T: t, Store: s}
	w.at(time.Unix(1e9, 0).UTC())
	return w
}

// at sets the clock.
func (w *world) at(now time.Time) {
	w.time, w.clock = now, fmt.Sprint("SELECT CAST(", now.UnixMilli(), " AS BIGINT)")
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// worker returns a worker whose lease lasts a minute.
func (w *world) worker(id string, do func(context.Context, string, job.Pod) (string, int32)) *Worker {
	w.Helper()
	worker := &Worker{Store: w.Store, ID: id, Lease: time.Minute, Poll: time.Millisecond, Slots: 1, Do: do, fuse: time.NewTimer(time.Hour)}
	w.beat(worker)
	return worker
}

func (w *world) beat(worker *Worker) {
	w.Helper()
	_, err := worker.beat(w.Context())
	w.must(err)
}

func (w *world) add(spec job.Spec) job.UID {
	w.Helper()
	uid, err := w.Add(w.Context(), "job", "text", spec)
	w.must(err)
	return uid
}

// indexed returns the spec of a job whose indexes run at the same time.
func indexed(n int32) job.Spec {
	return job.Spec{
		Completions: &n, Parallelism: &n, CompletionMode: job.Indexed,
		Template: job.Template{RestartPolicy: job.RestartNever, Containers: []string{"main"}},
	}
}

// job reads a job with its pods.
func (w *world) job(uid job.UID) (j job.Job, pods []job.Pod) {
	w.Helper()
	w.must(w.within(w.Context(), func(t *tx) {
		for _, j = range list(t, func(j *job.Job) []any { return []any{asJSON{j}} }, "SELECT job FROM jobs WHERE uid = $1", uid) {
			pods = list(t, pod, "SELECT pod FROM pods WHERE job = $1 ORDER BY uid", uid)
		}
	}))
	return j, pods
}

// count counts rows.
func (w *world) count(from string, arguments ...any) int {
	w.Helper()
	var n int
	w.must(w.db.QueryRow("SELECT count(*) FROM "+from, arguments...).Scan(&n))
	return n
}

// settle lets a worker do everything that is due.
func (w *world) settle(worker *Worker) {
	w.Helper()
	for did := true; did; {
		planned, err := worker.Plan(w.Context())
		w.must(err)
		ran, err := worker.runPod(w.Context())
		w.must(err)
		did = planned || ran
	}
}

// finish lets time pass until the job has ended.
func (w *world) finish(worker *Worker, uid job.UID) job.Status {
	w.Helper()
	for range 200 {
		w.settle(worker)
		if j, _ := w.job(uid); j.Status.Finished() != "" {
			return j.Status
		}
		w.at(w.time.Add(10 * time.Second))
		w.beat(worker)
	}
	w.Fatal("the job does not end")
	return job.Status{}
}

func succeed(context.Context, string, job.Pod) (string, int32) { return "done", 0 }

// TestPerIndex: a job with backoffLimitPerIndex ends, and its pods know how often their index has
// failed.
func TestPerIndex(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		w := newWorld(t, address)
		spec, limit := indexed(3), int32(2)
		spec.BackoffLimitPerIndex = &limit
		var failures []int32
		worker := w.worker("a", func(_ context.Context, _ string, p job.Pod) (string, int32) {
			if p.Index.Int32() != 1 {
				return "done", 0
			}
			failures = append(failures, p.Detail.FailureCount)
			return "", 1
		})
		s := w.finish(worker, w.add(spec))
		if s.Finished() != job.ConditionFailed || s.CompletedIndexes != "0,2" || *s.FailedIndexes != "1" || s.Failed != 3 {
			t.Errorf("the job is %v", s)
		}
		if fmt.Sprint(failures) != "[0 1 2]" {
			t.Errorf("the pods of index 1 have seen %v failures, want 0, 1 and 2", failures)
		}
	})
}

// TestReopen: a service that starts again finds its jobs.
func TestReopen(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		w := newWorld(t, address)
		uid := w.add(indexed(3))
		_, err := w.worker("a", succeed).Plan(t.Context())
		w.must(err)
		w.db.Close()
		again := newWorld(t, address)
		again.at(w.time.Add(2 * time.Minute))
		if s := again.finish(again.worker("b", succeed), uid); s.CompletedIndexes != "0-2" || s.Failed != 0 {
			t.Errorf("the job is %v", s)
		}
		if n := again.count("pods WHERE output = 'done'"); n != 3 {
			t.Errorf("%d outputs", n)
		}
	})
}

// TestWakeUpDuringARound: a change that is made during a round makes the job due again.
func TestWakeUpDuringARound(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		w := newWorld(t, address)
		uid := w.add(indexed(3))
		worker := w.worker("a", succeed)
		worker.around = func(r *round, p *job.Plan) backend {
			w.must(w.Edit(t.Context(), uid, func(s *job.Spec) { *s.Parallelism = 1 }))
			worker.around = nil
			return r
		}

		if _, err := worker.Plan(t.Context()); !errors.Is(err, errChanged) {
			t.Errorf("the status of a job that was edited: %v, want %v", err, errChanged)
		}
		if j, _ := w.job(uid); j.Status.Active != 0 {
			t.Errorf("the status was written over the edit: %v", j.Status)
		}

		if planned, err := worker.Plan(t.Context()); !planned || err != nil {
			t.Errorf("planned again: %v, %v", planned, err)
		}
		if j, pods := w.job(uid); j.Status.Active != 1 || len(pods) != 1 {
			t.Errorf("%d pods, status %v", len(pods), j.Status)
		}
	})
}

// TestManyJobs: the job that is due first is planned first. A job in its backoff delays no other.
func TestManyJobs(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		w := newWorld(t, address)
		var jobs []job.UID
		for range 5 {
			jobs = append(jobs, w.add(indexed(1)))
		}
		worker := w.worker("a", func(context.Context, string, job.Pod) (string, int32) {
			return "", 1
		})
		w.settle(worker)
		for _, uid := range jobs {
			if j, _ := w.job(uid); j.Status.Failed != 1 || j.Status.Active != 0 {
				t.Errorf("job %s: %v", uid, j.Status)
			}
		}
		if n := w.count("jobs WHERE claim = '' AND due > $1 AND due <= $2", w.time.UnixMilli(), w.time.Add(11*time.Second).UnixMilli()); n != 5 {
			t.Errorf("%d jobs wait for their backoff", n)
		}
	})
}

// TestLostWorker: the job of a dead worker continues, and its pods count as disrupted. A worker
// that was only slow has no further effect.
func TestLostWorker(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		w := newWorld(t, address)
		spec, none := indexed(2), int32(0)
		spec.BackoffLimit = &none
		spec.PodFailurePolicy = &job.PodFailurePolicy{Rules: []job.PodFailurePolicyRule{
			{Action: job.IgnoreFailure, OnPodConditions: []job.PodCondition{{Type: "DisruptionTarget"}}},
		}}
		uid := w.add(spec)

		slow, other := w.worker("slow", nil), w.worker("other", succeed)
		_, err := slow.Plan(t.Context())
		w.must(err)

		var stuck *round
		slow.Do = func(context.Context, string, job.Pod) (string, int32) {
			stuck, err = slow.claim(t.Context()) // the start of the pod has woken the job
			w.must(err)
			w.at(w.time.Add(59 * time.Second))
			w.beat(other)
			if planned, err := other.Plan(t.Context()); planned || err != nil {
				t.Errorf("the job was taken from a worker that lives: %v, %v", planned, err)
			}
			w.at(w.time.Add(2 * time.Second))
			w.beat(other)
			if s := w.finish(other, uid); s.Finished() != job.ConditionComplete || s.Failed != 0 || s.Succeeded != 2 {
				t.Errorf("the job is %v", s)
			}
			return "too late", 0
		}

		_, late := slow.runPod(t.Context())
		_, created := stuck.Create(t.Context(), job.Creation{Index: job.IndexAt(0), NamePrefix: "j-"})
		for what, err := range map[string]error{
			"report":    late,
			"create":    created,
			"status":    stuck.WriteStatus(t.Context(), job.Status{Failed: 7}),
			"untrack":   stuck.Untrack(t.Context(), job.Untracking{}),
			"give back": stuck.giveBack(t.Context(), job.Conclusion{}, nil),
		} {
			if !errors.Is(err, errLost) {
				t.Errorf("%s of a lost worker: %v, want %v", what, err, errLost)
			}
		}

		if n := w.count("pods WHERE output = 'too late'"); n != 0 {
			t.Error("the report of a lost worker was stored")
		}
		if j, pods := w.job(uid); j.Status.Failed != 0 || len(pods) != 3 {
			t.Errorf("%d pods, status %v", len(pods), j.Status)
		}
	})
}

// TestRunPod_NeedsLease: a worker whose lease has not begun, or has ended, takes no pod. The others
// would count the pod as disrupted immediately, and start its index again while it runs.
func TestRunPod_NeedsLease(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		w := newWorld(t, address)
		w.add(indexed(1))
		other := w.worker("other", succeed)
		_, err := other.Plan(t.Context())
		w.must(err)
		fresh := &Worker{Store: w.Store, ID: "fresh", Lease: time.Minute, Do: succeed, fuse: time.NewTimer(time.Hour)}
		for _, state := range []string{"new", "late"} {
			if ran, err := fresh.runPod(t.Context()); ran || err != nil {
				t.Errorf("a %s worker without a lease has run a pod: %v, %v", state, ran, err)
			}
			w.beat(fresh)
			w.at(w.time.Add(time.Minute))
			w.beat(other)
		}
		w.beat(fresh)
		if ran, err := fresh.runPod(t.Context()); !ran || err != nil {
			t.Errorf("a worker with a lease has run no pod: %v, %v", ran, err)
		}
	})
}

// TestDelete: a deleted job stops its pods, and is removed with them.
func TestDelete(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		w := newWorld(t, address)
		uid := w.add(indexed(2))
		var worker *Worker
		worker = w.worker("a", func(ctx context.Context, _ string, p job.Pod) (string, int32) {
			w.must(w.Delete(t.Context(), uid))
			w.beat(worker)
			<-ctx.Done()
			return "", 143
		})
		w.settle(worker)
		if n := w.count("jobs") + w.count("pods"); n != 0 {
			j, pods := w.job(uid)
			t.Errorf("%d rows are left: %v with %d pods", n, j.Status, len(pods))
		}
	})
}

// TestExpire: a job with ttlSecondsAfterFinished deletes itself.
func TestExpire(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		w := newWorld(t, address)
		spec, ttl := indexed(2), int32(60)
		spec.TTLSecondsAfterFinished = &ttl
		worker := w.worker("a", succeed)
		w.finish(worker, w.add(spec))
		w.at(w.time.Add(50 * time.Second))
		w.beat(worker)
		w.settle(worker)
		if w.count("jobs") != 1 {
			t.Error("the job went too early")
		}
		w.at(w.time.Add(11 * time.Second))
		w.settle(worker)
		if n := w.count("jobs") + w.count("pods"); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}

// TestRefused: a job that the planner refuses is planned again after a growing delay.
func TestRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		w := newWorld(t, address)
		uid := w.add(indexed(2))
		w.must(w.within(t.Context(), func(t *tx) {
			t.changeJob(uid, func(j *job.Job) { j.Spec.Completions = nil })
		}))
		worker := w.worker("a", succeed)
		for _, seconds := range []int64{1, 2, 4} {
			if planned, err := worker.Plan(t.Context()); !planned || err == nil || !strings.Contains(err.Error(), string(uid)) {
				t.Fatalf("planned %v, %v", planned, err)
			}
			if n := w.count("jobs WHERE claim = '' AND due = $1", w.time.UnixMilli()+1000*seconds); n != 1 {
				t.Errorf("the job is not due in %d seconds", seconds)
			}
			w.at(w.time.Add(time.Duration(seconds) * time.Second))
		}
	})
}

// TestProgram adds a job and lets it run, as a user does.
func TestProgram(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		w := newWorld(t, address)
		w.must(run(t.Context(), "", address, "text"))
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan error)
		go func() { over <- run(ctx, "", address) }()
		for w.count("jobs WHERE job LIKE '%\"Complete\"%'") == 0 {
			time.Sleep(20 * time.Millisecond)
		}
		stop()
		if err := <-over; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if n := w.count("pods WHERE phase = 'Succeeded' AND length(output) = 64"); n != 3 {
			t.Errorf("%d checksums", n)
		}
		if n := w.count("workers"); n != 0 {
			t.Error("the worker has not signed off")
		}
	})
}
