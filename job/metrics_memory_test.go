package job_test

import (
	"testing"

	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobquirk"
)

// onWrite lets the first n writes of a kind fail in the given way.
func onWrite(verb world.Verb, n int, fault world.Fault) func(world.Write) world.Fault {
	return func(w world.Write) world.Fault {
		if w.Verb != verb || n == 0 {
			return world.None
		}
		n--
		return fault
	}
}

// told sums a figure of the metrics over all rounds.
func told(w *world.Job, of func(*job.Metrics) int32) (sum int32) {
	for i := range w.Metrics {
		sum += of(&w.Metrics[i])
	}
	return sum
}

// TestJI27_ReportedOnce: metrics count each pod and each index once, even if writes fail or lose
// replies. With the quirk Miscount they may count a pod or an index several times, or not at all.
func TestJI27_ReportedOnce(t *testing.T) {
	ignored := func(m *job.Metrics) int32 { return m.Policy.Ignore }
	counted := func(m *job.Metrics) int32 { return m.Policy.Count }
	pods := func(m *job.Metrics) int32 { return m.PodsSucceeded }
	completed := func(m *job.Metrics) int32 { return m.IndexesSucceeded }
	failed := func(m *job.Metrics) int32 { return m.IndexesFailed }

	for _, c := range []struct {
		name      string
		spec      job.Spec
		exit      int32
		verb      world.Verb
		times     int
		fault     world.Fault
		of        func(*job.Metrics) int32
		withQuirk int32 // how often all rounds together report it with the quirk, instead of once
	}{
		{"the finalizer of an ignored failure cannot be removed", policy(job.IgnoreFailure), 42, world.Untrack, 2, world.Fail, ignored, 3},
		{"the finalizer of an ignored failure goes, and the reply is lost", policy(job.IgnoreFailure), 42, world.Untrack, 1, world.LoseReply, ignored, 1},
		{"the round of an ignored failure cannot be recorded", policy(job.IgnoreFailure), 42, world.WriteStatus, 2, world.Fail, ignored, 1},
		{"a match cannot be recorded", policy(job.CountFailure), 42, world.WriteStatus, 2, world.Fail, counted, 1},
		{"a match is recorded, and the reply is lost", policy(job.CountFailure), 42, world.WriteStatus, 1, world.LoseReply, counted, 0},
		{"a completed index cannot be recorded", indexed(nil), 0, world.WriteStatus, 2, world.Fail, completed, 1},
		{"a completed index is recorded, and the reply is lost", indexed(nil), 0, world.WriteStatus, 1, world.LoseReply, completed, 0},
		{"a failed index cannot be recorded", indexed(ptr[int32](0)), 1, world.WriteStatus, 2, world.Fail, failed, 1},
		{"a failed index is recorded, and the reply is lost", indexed(ptr[int32](0)), 1, world.WriteStatus, 1, world.LoseReply, failed, 0},
		{"a success cannot be counted", policy(job.CountFailure), 0, world.WriteStatus, 2, world.Fail, pods, 1},
	} {
		for quirks, want := range map[jobquirk.Set]int32{{}: 1, jobquirk.SetOf(jobquirk.Miscount): c.withQuirk} {
			w := newWorld(t, c.spec, job.Options{Quirks: quirks})
			mustRound(t, w)
			w.Run(w.Pods[0])
			w.Finish(w.Pods[0], c.exit)
			w.Fault = onWrite(c.verb, c.times, c.fault)

			for range 5 {
				mustRound(t, w)
				w.Resume() // the controller restarts with its memory
			}

			if got := told(w, c.of); got != want {
				t.Errorf("%s, quirks %b: reported %d times, want %d", c.name, quirks, got, want)
			}
			if left := w.Memory.Handled(); left.Len() > 0 {
				t.Errorf("%s, quirks %b: the finalizers are gone, and %v is still remembered", c.name, quirks, left)
			}
		}
	}
}

// TestJI27_PartlyUntracked: one of two finalizers cannot be removed at first. With the quirk, as in
// Kubernetes, the metrics count only the pod whose finalizer is removed in a round without a
// failure.
func TestJI27_PartlyUntracked(t *testing.T) {
	for quirks, want := range map[jobquirk.Set]int32{{}: 2, jobquirk.SetOf(jobquirk.Miscount): 1} {
		w := newWorld(t, job.Spec{Completions: ptr[int32](2), Parallelism: ptr[int32](2)}, job.Options{Quirks: quirks})
		mustRound(t, w)
		w.Finish(w.Pods[0], 0)
		w.Finish(w.Pods[1], 0)
		w.Fault = onWrite(world.Untrack, 1, world.Fail)
		for range 5 {
			mustRound(t, w)
		}
		if got := told(w, func(m *job.Metrics) int32 { return m.PodsSucceeded }); got != want {
			t.Errorf("quirks %b: reported %d pods, want %d", quirks, got, want)
		}
	}
}

// TestJI27_IgnoredOnce: a retry neither uses up the limit of ignored failures nor makes the
// backoff longer.
func TestJI27_IgnoredOnce(t *testing.T) {
	w := newWorld(t, policy(job.IgnoreFailure), job.Options{MaxIgnoredFailures: 2})
	mustRound(t, w)
	w.Finish(w.Pods[0], 42)
	w.Fault = onWrite(world.Untrack, 3, world.Fail)
	for range 4 {
		mustRound(t, w)
	}
	if got := w.Memory.Ignored(); got != 1 {
		t.Errorf("%d failures are ignored, want 1", got)
	}
	if got := w.Memory.Backoff.Failures; got != 1 {
		t.Errorf("J31: %d failures in the record, want 1", got)
	}
	if w.Memory.Handled().Len() != 0 {
		t.Errorf("still remembered: %v", w.Memory.Handled())
	}
}

func policy(action job.FailureAction) job.Spec {
	return job.Spec{PodFailurePolicy: &job.PodFailurePolicy{Rules: []job.PodFailurePolicyRule{
		{Action: action, OnExitCodes: &job.OnExitCodes{Operator: job.ExitCodeIn, Values: []int32{42}}},
	}}}
}

func indexed(perIndex *int32) job.Spec {
	return job.Spec{CompletionMode: job.Indexed, Completions: ptr[int32](2), Parallelism: ptr[int32](2),
		BackoffLimitPerIndex: perIndex}
}

// TestJI27_NextStatusFails: the reply to the status that records a match is lost, and the next
// status, which records another match, cannot be written. Each match is reported once.
func TestJI27_NextStatusFails(t *testing.T) {
	spec := policy(job.CountFailure)
	spec.Completions, spec.Parallelism, spec.BackoffLimit = ptr[int32](2), ptr[int32](2), ptr[int32](9)
	w := newWorld(t, spec, job.Options{})
	mustRound(t, w)
	for i, fault := range []world.Fault{world.LoseReply, world.Fail} {
		w.Run(w.Pods[i])
		w.Finish(w.Pods[i], 42)
		w.Fault = onWrite(world.WriteStatus, 1, fault)
		mustRound(t, w)
		w.Resume()
	}
	for range 4 {
		mustRound(t, w)
		w.Resume()
	}
	if got := told(w, func(m *job.Metrics) int32 { return m.Policy.Count }); got != 2 {
		t.Errorf("%d matches are reported, want 2", got)
	}
}
