package jobgen

import (
	"errors"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobreason"
)

// AllFaults are the faults that one write of a round can have.
var AllFaults = []world.Fault{world.Fail, world.LoseReply, world.Crash}

// Lives generates worlds in which a job with a generated spec has lived for a while, with faults,
// edits and restarts. If late is true, the controller sees its objects late.
func Lives(late bool) *rapid.Generator[*world.Job] {
	return rapid.Custom(func(t *rapid.T) *world.Job {
		w := DrawWorld(t)
		w.Stale = late
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			Step(t, w, AllFaults)
			if w.Err() != nil {
				t.Fatalf("%v", w.Err())
			}
		}
		w.Fault = nil
		return w
	})
}

// Snapshots generates snapshots that a controller can see, taken from [Lives].
func Snapshots() *rapid.Generator[job.Snapshot] {
	return rapid.Custom(func(t *rapid.T) job.Snapshot {
		return Lives(rapid.Bool().Draw(t, "late")).Draw(t, "life").Snapshot()
	})
}

// Statuses generates statuses that a job can have.
func Statuses() *rapid.Generator[job.Status] {
	return rapid.Map(Lives(false), func(w *world.Job) job.Status { return w.Job.Status })
}

// Pods generates the pods that a job can have at one time.
func Pods() *rapid.Generator[[]job.Pod] {
	return rapid.Map(Lives(false), func(w *world.Job) []job.Pod { return w.Snapshot().Pods })
}

// Memories generates memories that a controller can have, as they are stored.
func Memories() *rapid.Generator[job.Memory] {
	return rapid.Map(Lives(true), func(w *world.Job) job.Memory { return w.Memory })
}

// Step makes one thing happen in a world: a round with at most one of the faults, a step of a pod,
// a delivery, an edit, or a restart.
func Step(t *rapid.T, w *world.Job, faults []world.Fault) {
	switch n := rapid.IntRange(0, 19).Draw(t, "step"); {
	case n < 8:
		DrawFaults(t, w, faults)
		if _, err := w.Round(); err != nil {
			t.Fatalf("the snapshot was refused: %v", err)
		}
	case n < 16:
		Act(t, w)
	case n < 18:
		Deliver(t, w)
	case n < 19:
		Meddle(t, w)
	default:
		Restart(t, w)
	}
}

// Deliver updates one object of a stale view, or all of them.
func Deliver(t *rapid.T, w *world.Job) {
	switch {
	case !w.Stale:
	case rapid.Bool().Draw(t, "all"):
		w.DeliverAll()
	case rapid.Bool().Draw(t, "job"):
		w.DeliverJob()
	case w.Options.Gangs && rapid.Bool().Draw(t, "groups"):
		w.DeliverGroups()
	default:
		if p := drawPod(t, w, func(*job.Pod) bool { return true }); p != nil {
			w.Deliver(p.UID)
		}
	}
}

// Restart restarts the controller in half of the cases, with or without its memory.
func Restart(t *rapid.T, w *world.Job) {
	switch rapid.IntRange(0, 3).Draw(t, "restart") {
	case 0:
		w.Restart(w.Stale && rapid.Bool().Draw(t, "older list"))
	case 1:
		w.Resume()
	}
}

// drawPod picks a live pod for which allows is true, or nil.
func drawPod(t *rapid.T, w *world.Job, allows func(*job.Pod) bool) *job.Pod {
	var pods []*job.Pod
	for _, p := range w.Pods {
		if allows(p) {
			pods = append(pods, p)
		}
	}
	if len(pods) == 0 {
		return nil
	}
	return pods[rapid.IntRange(0, len(pods)-1).Draw(t, "pod")]
}

func unfinished(p *job.Pod) bool { return p.Phase < job.PodSucceeded }

// DrawFaults makes at most one write of the round go wrong.
func DrawFaults(t *rapid.T, w *world.Job, faults []world.Fault) {
	life.DrawFaults(t, &w.Injector, faults, 7)
}

// Act makes one thing happen in the environment. Clocks jump forwards and back (F8).
func Act(t *rapid.T, w *world.Job) {
	acts := []string{
		"run", "run", "succeed", "fail", "fail", "kubelet", "tick", "tick", "evict", "disrupt",
		"restart container", "clock back",
	}
	switch rapid.SampledFrom(acts).Draw(t, "act") {
	case "run":
		if p := drawPod(t, w, func(p *job.Pod) bool { return p.Phase == job.PodPending }); p != nil {
			w.Run(p)
		}
	case "succeed":
		if p := drawPod(t, w, unfinished); p != nil {
			w.Finish(p, 0)
		}
	case "fail":
		if p := drawPod(t, w, unfinished); p != nil {
			w.Finish(p, rapid.SampledFrom([]int32{1, 42}).Draw(t, "exit code"))
		}
	case "kubelet":
		Kubelet(w)
	case "clock back":
		w.Now = w.Now.Add(-rapid.SampledFrom([]time.Duration{time.Second, time.Minute, time.Hour}).Draw(t, "back"))
	case "tick":
		ticks := []time.Duration{time.Second, 11 * time.Second, time.Minute, 20 * time.Minute}
		w.Now = w.Now.Add(rapid.SampledFrom(ticks).Draw(t, "tick"))
	case "evict":
		if p := drawPod(t, w, unfinished); p != nil {
			w.Delete(p)
		}
	case "disrupt":
		if p := drawPod(t, w, unfinished); p != nil {
			w.Evict(p)
		}
	case "restart container":
		if p := drawPod(t, w, func(p *job.Pod) bool { return p.Phase == job.PodRunning }); p != nil {
			w.RestartContainer(p)
		}
	}
}

// Kubelet ends the pods that are being deleted.
func Kubelet(w *world.Job) {
	for _, p := range append([]*job.Pod(nil), w.Pods...) {
		if p.Deletion != nil {
			w.Finish(p, 137)
		}
	}
}

// Meddle changes the job or its pods, as another client does (F6, F7).
func Meddle(t *rapid.T, w *world.Job) {
	if w.Options.Gangs && rapid.IntRange(0, 3).Draw(t, "groups") == 0 {
		meddleWithGroups(t, w)
		return
	}
	acts := []string{"suspend", "parallelism", "elastic", "delete", "orphan", "unlabel", "strip"}
	switch rapid.SampledFrom(acts).Draw(t, "meddle") {
	case "suspend":
		w.Edit(func(s *job.Spec) { s.Suspend = ptr(!*s.Suspend) })
	case "parallelism":
		w.Edit(func(s *job.Spec) { s.Parallelism = ptr(rapid.Int32Range(0, 5).Draw(t, "new parallelism")) })
	case "elastic":
		s := &w.Job.Spec
		if s.CompletionMode == job.Indexed && s.SuccessPolicy == nil && s.MaxFailedIndexes == nil {
			n := rapid.Int32Range(1, 5).Draw(t, "new completions")
			w.Edit(func(s *job.Spec) { s.Completions, s.Parallelism = ptr(n), ptr(n) })
		}
	case "delete":
		if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
			w.DeleteJob()
		}
	case "orphan":
		index := job.IndexAt(rapid.Int32Range(-1, 6).Draw(t, "index"))
		w.AddPod(job.Pod{Owner: jobpod.Orphan, Index: index, Untracked: true})
	case "unlabel":
		if p := drawPod(t, w, func(p *job.Pod) bool { return p.Owner == jobpod.Owned }); p != nil {
			p.Owner = jobpod.OwnedUnmatched
		}
	case "strip":
		if p := drawPod(t, w, unfinished); p != nil {
			p.Untracked = true
		}
	}
}

// MustRound runs one round of the controller. The world must find no violation.
func MustRound(t rapid.TB, w *world.Job) *job.Plan {
	t.Helper()
	plan, err := w.Round()
	if err = errors.Join(err, w.Err()); err != nil {
		t.Fatalf("%v\n%s", err, w.State())
	}
	return plan
}

// DrawOutcome draws results that need not fit the plan.
func DrawOutcome(t *rapid.T, plan *job.Plan, from ...jobreason.Result) job.Outcome {
	result := rapid.SampledFrom(from)
	effects := func(n int, label string) (out []job.Effect) {
		for range rapid.IntRange(0, n+1).Draw(t, label) {
			out = append(out, job.Effect{Result: result.Draw(t, label)})
		}
		return out
	}

	o := job.Outcome{
		Writes: job.Writes{
			Claimed: job.Reply{Result: result.Draw(t, "claimed")},
			Deleted: effects(min(len(plan.Delete), 5), "deleted"),
			Created: effects(min(len(plan.Create), 5), "created"),
		},
		Recorded: job.Reply{Result: result.Draw(t, "recorded")},
		Settled:  job.Reply{Result: result.Draw(t, "settled")},
	}

	for range rapid.IntRange(0, len(plan.Groups)).Draw(t, "grouped") {
		o.Grouped = append(o.Grouped, jobgroup.Effect{Result: result.Draw(t, "grouped"), UID: "group"})
	}
	for range rapid.IntRange(0, min(len(plan.Untrack), 5)+1).Draw(t, "untracked") {
		o.Untracked = append(o.Untracked, job.Reply{Result: result.Draw(t, "untracked")})
	}
	return o
}
