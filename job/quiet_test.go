package job_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/release"
)

// checkQuiet checks that Reconcile and planRound make the same plan, whether or not the round is
// quiet.
func checkQuiet(t rapid.TB, s job.Snapshot, plan *job.Plan) {
	t.Helper()
	whole, err := job.PlanRound(s)
	if diff := cmp.Diff(whole, *plan, cmpopts.EquateEmpty(),
		cmp.Exporter(func(reflect.Type) bool { return true })); err != nil || diff != "" {
		t.Fatalf("quiet (%t), and the whole round has another plan: %v %s", job.IsQuiet(s), err, diff)
	}
}

// TestQuiet_AsTheWholeRound makes one change at a time to a round that has nothing to do. Some of
// these rounds are still quiet. planRound makes the same plan for all of them.
func TestQuiet_AsTheWholeRound(t *testing.T) {
	pod := func(change func(*job.Pod)) func(*job.Snapshot) {
		return func(s *job.Snapshot) { change(&s.Pods[1]) }
	}
	spec := func(change func(*job.Spec)) func(*job.Snapshot) {
		return func(s *job.Snapshot) { change(&s.Job.Spec) }
	}
	status := func(change func(*job.Status)) func(*job.Snapshot) {
		return func(s *job.Snapshot) { change(&s.Job.Status) }
	}
	options := func(o job.Options) func(*job.Snapshot) { return func(s *job.Snapshot) { s.Options = o } }
	condition := func(c job.ConditionType) func(*job.Snapshot) {
		return status(func(s *job.Status) {
			s.Conditions = []job.Condition{{Type: c, Status: job.ConditionTrue, LastTransitionTime: s.StartTime}}
		})
	}
	memory := func(change func(*job.Memory)) func(*job.Snapshot) {
		return func(s *job.Snapshot) { s.Memory.JobUID = s.Job.UID; change(&s.Memory) }
	}
	for _, tt := range []struct {
		name   string
		change func(*job.Snapshot)
		quiet  bool
	}{
		{"pods run", func(*job.Snapshot) {}, true},
		{"the memory of the last round", func(s *job.Snapshot) {
			plan, err := job.Reconcile(*s)
			if err != nil {
				panic(err)
			}
			s.Memory = plan.Conclude(job.Outcome{}).Memory
		}, true},
		{"a memory about an earlier job", func(s *job.Snapshot) {
			s.Memory = job.Memory{JobUID: "earlier", Finished: true, Written: 9}
		}, true},
		{"a failure that is remembered", memory(func(m *job.Memory) { m.Backoff = backoff.Record{}.Failure(steadyStart) }), true},
		{"a pod is not ready", func(s *job.Snapshot) { s.Pods[1].Ready, s.Job.Status.Ready = false, ptr[int32](1) }, true},
		{"a pod is pending", func(s *job.Snapshot) {
			s.Pods[1].Phase, s.Pods[1].Ready, s.Job.Status.Ready = job.PodPending, false, ptr[int32](1)
		}, true},
		{"a pod has succeeded and is counted", func(s *job.Snapshot) {
			s.Pods = append(s.Pods, job.Pod{Name: "done", UID: "done", Phase: job.PodSucceeded, Untracked: true})
			s.Job.Status.Succeeded = 1
		}, true},
		{"a counted pod is being deleted", func(s *job.Snapshot) {
			s.Pods = append(s.Pods,
				job.Pod{Name: "done", UID: "done", Phase: job.PodFailed, Untracked: true, Deletion: &job.PodDeletion{}})
		}, true},
		{"a work queue", spec(func(s *job.Spec) { s.Completions = nil }), true},
		{"no mode", spec(func(s *job.Spec) { s.CompletionMode = "" }), true},
		{"one pod", func(s *job.Snapshot) {
			s.Job.Spec.Parallelism, s.Pods, s.Job.Status.Active, s.Job.Status.Ready = ptr[int32](1), s.Pods[:1], 1,
				ptr[int32](1)
		}, true},
		{"fields for indexes alone", spec(func(s *job.Spec) {
			s.SuccessPolicy = &job.SuccessPolicy{Rules: []job.SuccessPolicyRule{{SucceededCount: ptr[int32](0)}}}
			s.BackoffLimitPerIndex, s.MaxFailedIndexes = ptr[int32](0), ptr[int32](0)
		}), true},
		{"failures up to the limit", status(func(s *job.Status) { s.Failed = 6 }), true},
		{"the deadline is to come", spec(func(s *job.Spec) { s.ActiveDeadlineSeconds = ptr[int64](1) }), true},
		{"the lists of uncounted pods are empty", status(func(s *job.Status) { s.UncountedTerminatedPods = &job.UncountedTerminatedPods{} }), true},

		{"the deadline has passed", spec(func(s *job.Spec) { s.ActiveDeadlineSeconds = ptr[int64](0) }), false},
		{"the start lies in the future", status(func(s *job.Status) { s.StartTime = s.StartTime.Add(time.Hour) }), false},
		{"no start is recorded", status(func(s *job.Status) { s.StartTime = time.Time{} }), false},
		{"failures past the limit", status(func(s *job.Status) { s.Failed = 7 }), false},
		{"the completions are reached", status(func(s *job.Status) { s.Succeeded = 4 }), false},
		{"fewer pods are wanted", status(func(s *job.Status) { s.Succeeded = 3 }), false},
		{"more pods are wanted", spec(func(s *job.Spec) { s.Parallelism = ptr[int32](3) }), false},
		{"a work queue has had its success", func(s *job.Snapshot) { s.Job.Spec.Completions, s.Job.Status.Succeeded = nil, 1 }, false},
		{"no pod is wanted", func(s *job.Snapshot) {
			s.Job.Spec.Parallelism, s.Pods, s.Job.Status.Active, s.Job.Status.Ready = ptr[int32](0), nil, 0,
				ptr[int32](0)
		}, false},
		{"suspended", spec(func(s *job.Spec) { s.Suspend = ptr(true) }), false},
		{"being deleted", func(s *job.Snapshot) { s.Job.DeletionTimestamp = s.Now }, false},
		{"Indexed", spec(func(s *job.Spec) { s.CompletionMode = job.Indexed }), false},
		{"an unknown mode", spec(func(s *job.Spec) { s.CompletionMode = "Round" }), false},
		{"another controller's", spec(func(s *job.Spec) { s.ManagedBy = ptr("example.com/other") }), false},
		{"restarts count", spec(func(s *job.Spec) { s.Template.RestartPolicy = job.RestartOnFailure }), false},
		{"a podFailurePolicy", spec(func(s *job.Spec) { s.PodFailurePolicy = &job.PodFailurePolicy{} }), false},
		{"a gang", spec(func(s *job.Spec) { s.Scheduling = new(jobgroup.Scheduling) }), false},
		{"a pod has ended", pod(func(p *job.Pod) { p.Phase = job.PodSucceeded }), false},
		{"a pod is being deleted", pod(func(p *job.Pod) { p.Deletion = &job.PodDeletion{} }), false},
		{"a pod matches no more", pod(func(p *job.Pod) { p.Owner = jobpod.OwnedUnmatched }), false},
		{"an orphan", pod(func(p *job.Pod) { p.Owner = jobpod.Orphan }), false},
		{"another owner's pod", pod(func(p *job.Pod) { p.Owner = jobpod.Foreign }), false},
		{"an ended pod was never counted", func(s *job.Snapshot) {
			s.Pods = append(s.Pods, job.Pod{Name: "done", UID: "done", Phase: job.PodSucceeded, Untracked: true})
		}, false},
		{"a pod is missing", func(s *job.Snapshot) { s.Pods, s.Job.Status.Ready = s.Pods[:1], ptr[int32](1) }, false},
		{"active is not recorded", status(func(s *job.Status) { s.Active = 1 }), false},
		{"ready is not recorded", status(func(s *job.Status) { s.Ready = nil }), false},
		{"terminating is not recorded", status(func(s *job.Status) { s.Terminating = nil }), false},
		{"terminating was more", status(func(s *job.Status) { s.Terminating = ptr[int32](1) }), false},
		{"a success is uncounted", status(func(s *job.Status) {
			s.UncountedTerminatedPods = &job.UncountedTerminatedPods{Succeeded: []job.UID{"gone"}}
		}), false},
		{"a failure is uncounted", status(func(s *job.Status) {
			s.UncountedTerminatedPods = &job.UncountedTerminatedPods{Failed: []job.UID{"gone"}}
		}), false},
		{"Complete", condition(job.ConditionComplete), false},
		{"Failed", condition(job.ConditionFailed), false},
		{"FailureTarget", condition(job.ConditionFailureTarget), false},
		{"SuccessCriteriaMet", condition(job.ConditionSuccessCriteriaMet), false},
		{"resumed", condition(job.ConditionSuspended), false},
		{"the memory cannot be read", memory(func(m *job.Memory) {
			if err := m.UnmarshalJSON([]byte(`{"formatVersion":99}`)); err != nil {
				panic(err)
			}
		}), false},
		{"the snapshot is older than the last write", memory(func(m *job.Memory) { m.Written = 1 }), false},
		{"an end is not shown", memory(func(m *job.Memory) { m.Finished = true }), false},
		{"a creation is not shown", memory(func(m *job.Memory) { m.Expectations = expectations.Counts{Creations: 1, At: steadyStart} }), false},
		{"a deletion is not shown", memory(func(m *job.Memory) { m.Expectations = expectations.Counts{Deletions: 1, At: steadyStart} }), false},
		{"a removed finalizer is shown", memory(func(m *job.Memory) { m.Untracking = m.Untracking.With("gone") }), false},
		{"pods must start in time", options(job.Options{PendingTimeout: time.Hour}), false},
		{"gates are off", options(job.Options{Without: release.GatesOf(release.JobPodReplacementPolicy)}), false},
		{"as the reference", options(job.Options{Quirks: jobquirk.Of(release.Newest())}), false},
		{"another name of the controller", options(job.Options{ControllerName: "example.com/other"}), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, consistent := range []bool{false, true} {
				s := steady(2, false)
				s.Consistent = consistent
				tt.change(&s)
				if got := job.IsQuiet(s); got != tt.quiet {
					t.Errorf("quiet %t, want %t", got, tt.quiet)
				}
				checkQuiet(t, s, job.PlanOf(t, s))
			}
		})
	}
}

// steadyStart is the time at which the pods of a steady job have started.
var steadyStart = steady(0, false).Now
