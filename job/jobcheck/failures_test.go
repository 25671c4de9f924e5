package jobcheck_test

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobcheck"
	"github.com/batchplan/batchplan/job/jobpod"
)

// perIndex limits the failures of each index to one.
func perIndex(s *job.Spec) {
	indexed(s)
	s.BackoffLimitPerIndex = ptr[int32](1)
}

// failedPod returns a pod of index 0 that failed some time before now, after other failures.
func failedPod(uid job.UID, ago time.Duration, failures int32) job.Pod {
	ended := jobpod.Container{Name: "main", State: jobpod.Terminated, ExitCode: 1, FinishedAt: now.Add(-ago)}
	return job.Pod{UID: uid, Name: "j-" + string(uid), Phase: job.PodFailed, Index: job.IndexAt(0),
		Detail: &job.PodDetail{
			Containers: []jobpod.Container{ended}, FailureCount: failures,
		}}
}

// TestPlan_Failures checks plans, most of which create too many pods after failures, or create them
// too soon.
func TestPlan_Failures(t *testing.T) {
	one := creations(-1)
	carried := func(n int32) []job.Creation {
		all := creations(0)
		all[0].FailureCount = n
		return all
	}

	succeeded := job.Pod{UID: "s", Name: "j-s", Phase: job.PodSucceeded, Index: job.IndexAt(1)}
	stripped := failedPod("a", time.Second, 0)
	stripped.Untracked = true
	beyond := failedPod("a", time.Second, 0)
	beyond.Index = job.IndexAt(4)

	for _, c := range []struct {
		name   string
		spec   func(*job.Spec)
		pods   []job.Pod
		edit   func(*job.Snapshot)
		create []job.Creation
		want   string
	}{
		{name: "after the backoff", pods: []job.Pod{failedPod("a", 10*time.Second, 0)}, create: one},
		{name: "during the backoff", pods: []job.Pod{failedPod("a", 9*time.Second, 0)}, create: one, want: "JI21"},
		{name: "during a longer backoff", pods: []job.Pod{failedPod("a", 10*time.Second, 0)}, create: one, want: "JI21",
			edit: func(s *job.Snapshot) { s.Options.Backoff.Base = time.Minute }},
		{name: "a success ends the backoff", pods: []job.Pod{failedPod("a", time.Second, 0), succeeded}, create: one},
		{name: "a failure that is recorded", pods: []job.Pod{failedPod("a", time.Second, 0)}, create: one,
			edit: func(s *job.Snapshot) {
				s.Job.Status.UncountedTerminatedPods = &job.UncountedTerminatedPods{Failed: []job.UID{"a"}}
			}},
		{name: "a failure that is accounted for", pods: []job.Pod{stripped}, create: one},
		{name: "a failure beyond the indexes does not count", spec: indexed, pods: []job.Pod{beyond}, create: creations(0)},
		{name: "failures may be ignored", pods: []job.Pod{failedPod("a", time.Second, 0)}, create: one,
			spec: func(s *job.Spec) { s.PodFailurePolicy = &job.PodFailurePolicy{} }},
		{name: "as many failures as allowed", create: one, edit: func(s *job.Snapshot) { s.Job.Status.Failed = 6 }},
		{name: "one failure too many", create: one, edit: func(s *job.Snapshot) { s.Job.Status.Failed = 7 }, want: "JI21"},
		{name: "one failure too many, not counted yet", create: one, edit: func(s *job.Snapshot) {
			s.Job.Status.Failed, s.Job.Status.UncountedTerminatedPods = 6,
				&job.UncountedTerminatedPods{Failed: []job.UID{"a"}}
		}, want: "JI21"},
		{name: "a failure is carried on", spec: perIndex, pods: []job.Pod{failedPod("a", 10*time.Second, 0)}, create: carried(1)},
		{name: "a failure is forgotten", spec: perIndex, pods: []job.Pod{failedPod("a", 10*time.Second, 0)}, create: carried(0), want: "JI21"},
		{name: "another index has failed", spec: perIndex, pods: []job.Pod{failedPod("a", 10*time.Second, 0)}, create: creations(1)},
		{name: "beyond the limit of the index", spec: perIndex, create: carried(2), want: "JI21"},
		{name: "during the backoff of the index", spec: perIndex, pods: []job.Pod{failedPod("a", 9*time.Second, 0)}, create: carried(1), want: "JI21"},
		{name: "after a later failure, by a clock that went back",
			spec: func(s *job.Spec) { perIndex(s); s.BackoffLimitPerIndex = ptr[int32](2) },
			pods: []job.Pod{failedPod("a", -time.Hour, 0), failedPod("b", 30*time.Second, 1)}, create: carried(2)},
		{name: "successes leave no room", edit: func(s *job.Snapshot) { s.Job.Status.Succeeded = 3 }, create: one, want: "JI10"},
		{name: "successes that are not counted yet leave no room", create: one, want: "JI10", edit: func(s *job.Snapshot) {
			s.Job.Status.Succeeded, s.Job.Status.UncountedTerminatedPods = 2,
				&job.UncountedTerminatedPods{Succeeded: []job.UID{"a"}}
		}},
		{name: "completed indexes leave no room", spec: indexed, pods: []job.Pod{{UID: "r", Phase: job.PodRunning, Index: job.IndexAt(2)}},
			edit: func(s *job.Snapshot) { s.Job.Status.CompletedIndexes = "0,1" }, create: creations(0), want: "JI10"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := job.Snapshot{Job: job.Job{Name: "j", UID: "j", Spec: spec(c.spec)}, Pods: c.pods, Now: now}
			if c.edit != nil {
				c.edit(&s)
			}
			expect(t, jobcheck.Plan(&s, &job.Plan{Create: c.create}), c.want)
		})
	}
}

// TestState_Untrack_FailureCount: the failures of an index are counted on its pods. The last pod
// that shows this count must keep its finalizer.
func TestState_Untrack_FailureCount(t *testing.T) {
	replacement := job.Pod{UID: "b", Name: "j-b", Phase: job.PodRunning, Index: job.IndexAt(0),
		Detail: &job.PodDetail{FailureCount: 1}}
	elsewhere, gone, leaving, again := replacement, replacement, replacement, failedPod("b", 0, 1)
	leaving.Detail, leaving.Deletion = nil, &job.PodDeletion{Timestamp: now}
	elsewhere.Index, gone.Phase, gone.Untracked = job.IndexAt(1), job.PodFailed, true

	for _, c := range []struct {
		name  string
		other job.Pod
		edit  func(*jobcheck.State)
		want  string
	}{
		{name: "the replacement runs", other: replacement},
		{name: "the replacement has failed", other: again},
		{name: "there is none", other: elsewhere, want: "JI21"},
		{name: "it is accounted for", other: gone, want: "JI21",
			edit: func(st *jobcheck.State) { st.History.Of("b").Ended = job.PodFailed }},
		{name: "a twin is being deleted that was created before the failure was seen", other: leaving},
		{name: "another pod has failed as often", other: failedPod("b", time.Hour, 0)},
		{name: "the job has deleted it", other: gone, edit: func(st *jobcheck.State) { st.History.Of("b").Removed = true }},
		{name: "a twin is gone without an end", other: elsewhere, edit: func(st *jobcheck.State) {
			st.History.Born(&job.Pod{UID: "c", Phase: job.PodRunning, Index: job.IndexAt(0)})
		}},
		{name: "the index has failed", other: elsewhere, edit: func(st *jobcheck.State) { st.Job.Status.FailedIndexes = ptr("0") }},
		{name: "the job is being deleted", other: elsewhere, edit: func(st *jobcheck.State) { st.Job.DeletionTimestamp = now }},
		{name: "the job fails", other: elsewhere, edit: func(st *jobcheck.State) {
			st.Job.Status.Conditions = []job.Condition{{Type: job.ConditionFailureTarget, Status: job.ConditionTrue}}
		}},
		{name: "the job completes without SuccessCriteriaMet", other: elsewhere, edit: func(st *jobcheck.State) { st.Options.NoSuccessCriteriaMet = true }},
		{name: "no limit per index", other: elsewhere, edit: func(st *jobcheck.State) { st.Job.Spec.BackoffLimitPerIndex = nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := failedPod("a", time.Minute, 0)
			st := &jobcheck.State{
				Job:  &job.Job{Name: "j", UID: "j", Spec: spec(perIndex)},
				Pods: []*job.Pod{&p, &c.other}, History: new(jobcheck.History),
			}

			for _, p := range st.Pods {
				st.History.Born(p)
			}
			if c.edit != nil {
				c.edit(st)
			}
			expect(t, st.Untrack(&p), c.want)
		})
	}
}

// TestState_Status_Finalizer: a job must not end while a pod that has ended keeps its finalizer,
// unless the controller sees the pods late.
func TestState_Status_Finalizer(t *testing.T) {
	p := failedPod("a", time.Minute, 0)
	end := job.Status{StartTime: now, Terminating: ptr[int32](0), Conditions: []job.Condition{
		{Type: job.ConditionFailureTarget, Status: job.ConditionTrue}, {Type: job.ConditionFailed, Status: job.ConditionTrue},
	}}
	st := &jobcheck.State{Job: &job.Job{Name: "j", UID: "j", Spec: spec(nil)}, Pods: []*job.Pod{&p},
		History: new(jobcheck.History)}
	st.History.Born(&p)
	expect(t, st.Status(&end), "JI8")
	st.History.Late = true
	expect(t, st.Status(&end), "")
	p.Untracked, st.History.Late = true, false
	expect(t, st.Status(&end), "")
}
