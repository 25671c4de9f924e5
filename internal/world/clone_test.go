package world_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
)

func ptr[T any](v T) *T { return &v }

// move makes one thing happen to a job.
func move(w *world.Job, n int) {
	var p *job.Pod
	if len(w.Pods) > 0 {
		p = w.Pods[n/10%len(w.Pods)]
	}
	switch n % 10 {
	case 0, 1, 2:
		_, _ = w.Round()
	case 3:
		w.DeliverAll()
	case 4:
		w.Now = w.Now.Add(time.Duration(n) * time.Second)
	case 5:
		w.Edit(func(s *job.Spec) { s.Parallelism = ptr(int32(n % 7)) })
	case 6:
		if p != nil {
			w.Run(p)
		}
	case 7:
		if p != nil {
			w.Finish(p, int32(n%3))
		}
	case 8:
		if p != nil {
			w.Evict(p)
		}
	case 9:
		if p != nil {
			w.Deliver(p.UID)
		}
	}
}

// see returns everything that a world shows.
func see(w *world.Job) string {
	objects, err := json.Marshal([]any{w.Snapshot(), w.Events, w.Metrics})
	if err != nil {
		panic(err)
	}
	return fmt.Sprint(w.State(), string(objects), w.Requeue, w.Retry, *w.History(), w.Err(), w.Writes)
}

// TestJob_Clone: changes of a clone do not affect the original, which then goes on as the clone did.
func TestJob_Clone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := world.NewJob(job.Spec{Completions: ptr[int32](6), Parallelism: ptr[int32](3)})
		w.Stale = rapid.Bool().Draw(t, "stale")
		if rapid.Bool().Draw(t, "large") {
			w = world.NewJob(job.Spec{Completions: ptr[int32](60), Parallelism: ptr[int32](50)})
		}
		checkClone(t, w, (*world.Job).Clone, move, see)
	})
}

// checkClone moves a clone of a world, which must not change the world. Then it moves the world in
// the same way, and both must look the same.
func checkClone[W any](t *rapid.T, w W, clone func(W) W, move func(W, int), see func(W) string) {
	moves := rapid.SliceOfN(rapid.IntRange(0, 999), 2, 40)
	moveAll := func(w W, all []int) {
		for _, n := range all {
			move(w, n)
		}
	}
	moveAll(w, moves.Draw(t, "before"))
	before, c := see(w), clone(w)
	if got := see(c); got != before {
		t.Fatalf("the clone is another world:\n%s\n%s", before, got)
	}
	after := moves.Draw(t, "after")
	moveAll(c, after)
	if got := see(w); got != before {
		t.Fatalf("the clone changes the original:\n%s\n%s", before, got)
	}
	moveAll(w, after)
	if a, b := see(w), see(c); a != b {
		t.Fatalf("the original goes another way:\n%s\n%s", a, b)
	}
}

// TestCronJob_Clone is like TestJob_Clone, for a CronJob that is sometimes behind late caches.
func TestCronJob_Clone(t *testing.T) {
	spec := cronjob.Spec{Schedule: "*/5 * * * *"}
	cronjob.Default(&spec)
	see := func(w *world.CronJob) string {
		return fmt.Sprint(w.Now, w.CronJob.Status, w.Children(), w.Triggers, w.Err(), w.Writes, w.Requeue)
	}
	move := func(w *world.CronJob, n int) {
		switch names := w.Running(); {
		case n%4 == 0:
			w.Now = w.Now.Add(time.Duration(n%100) * time.Minute)
		case n%4 == 1 && len(names) > 0:
			w.Finish(names[n%len(names)], job.ConditionComplete)
		case n%4 == 2:
			w.Trigger(cronjob.Allow)
		default:
			_, _ = w.Round()
		}
		w.Commit()
	}
	rapid.Check(t, func(t *rapid.T) {
		w := world.NewCronJob(cronjob.CronJob{Name: "c", UID: "c", CreationTimestamp: world.Start, Spec: spec}, cronjob.Options{})
		if rapid.Bool().Draw(t, "late") {
			w.Lag = &world.Lag{Most: time.Minute, Draw: func(from, to int) int { return (from + to) / 2 }}
		}
		checkClone(t, w, (*world.CronJob).Clone, move, see)
	})
}

// BenchmarkJob_CloneAndRound is one step of a search: a clone, and a round in it.
func BenchmarkJob_CloneAndRound(b *testing.B) {
	w := world.NewJob(job.Spec{Completions: ptr[int32](3), Parallelism: ptr[int32](2)})
	w.Stale = true
	_, _ = w.Round()
	w.DeliverAll()
	b.Run("clone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w.Clone()
		}
	})
	b.Run("clone, a pod ends, a round", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c := w.Clone()
			c.Finish(c.Pods[0], 0)
			c.DeliverAll()
			_, _ = c.Round()
		}
	})
}
