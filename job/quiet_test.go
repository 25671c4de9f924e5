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
// these rounds are still quiet. In all of them, quiet or not, planRound makes the same plan as
// Reconcile.
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
	stored := func(text string) func(*job.Snapshot) {
		return memory(func(m *job.Memory) {
			if err := m.UnmarshalJSON([]byte(text)); err != nil {
				panic(err)
			}
		})
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
		{"a memory of no job, with a creation in flight", func(s *job.Snapshot) {
			s.Memory = job.Memory{Expectations: expectations.Counts{Creations: 1}}
		}, false},
		{"a memory of no job, with a finalizer in flight", func(s *job.Snapshot) {
			s.Memory = job.Memory{Untracking: expectations.UIDs{}.With("x")}
		}, false},
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
		{"no deadline, and the clock is before the zero time", func(s *job.Snapshot) {
			s.Now = time.Time{}.Add(-1)
			s.Job.Status.StartTime = s.Now.Add(-time.Hour)
		}, true},
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
		{"the indexes are given, and the list of successes is missing", func(s *job.Snapshot) {
			s.Job.Spec.CompletionMode, s.Job.Status.Succeeded = job.Indexed, 1
		}, false},
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
		{"the memory cannot be read", stored(`{"formatVersion":99}`), false},
		{"a pod that was ignored has lost its finalizer",
			stored(`{"formatVersion":1,"jobUID":"6f1c2a9e-0000-4000-8000-000000000000","internal":{"handled":["gone"]}}`), false},
		{"an untimed failure is counted", stored(`{"formatVersion":1,"jobUID":"6f1c2a9e-0000-4000-8000-000000000000",
			"internal":{"untimed":[{"uid":"gone","at":"2026-01-01T00:00:00Z"}]}}`), false},
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
		t.Run(tt.name, func(t *testing.T) { checkChanged(t, steady(2, false), tt.change, tt.quiet) })
	}
}

// checkChanged changes a quiet round, and checks whether it is still quiet and has the plan of the
// whole round.
func checkChanged(t *testing.T, s job.Snapshot, change func(*job.Snapshot), quiet bool) {
	t.Helper()
	change(&s)
	for _, consistent := range []bool{false, true} {
		s.Consistent = consistent
		if got := job.IsQuiet(s); got != quiet {
			t.Errorf("quiet %t, want %t", got, quiet)
		}
		checkQuiet(t, s, job.PlanOf(t, s))
	}
}

// TestQuiet_Indexed is TestQuiet_AsTheWholeRound for an Indexed job: two of four indexes run, one
// has succeeded.
func TestQuiet_Indexed(t *testing.T) {
	pod := func(change func(*job.Pod)) func(*job.Snapshot) {
		return func(s *job.Snapshot) { change(&s.Pods[1]) }
	}
	lists := func(succeeded int32, completed string, failed *string) func(*job.Snapshot) {
		return func(s *job.Snapshot) {
			s.Job.Status.Succeeded, s.Job.Status.CompletedIndexes, s.Job.Status.FailedIndexes = succeeded, completed, failed
		}
	}
	perIndex := func(limit *int32, failed *string) func(*job.Snapshot) {
		return func(s *job.Snapshot) {
			s.Job.Spec.BackoffLimitPerIndex, s.Job.Spec.MaxFailedIndexes = ptr[int32](1), limit
			s.Job.Status.FailedIndexes = failed
		}
	}
	success := func(indexes *string, count *int32) func(*job.Snapshot) {
		return func(s *job.Snapshot) {
			rule := job.SuccessPolicyRule{SucceededIndexes: indexes, SucceededCount: count}
			s.Job.Spec.SuccessPolicy = &job.SuccessPolicy{Rules: []job.SuccessPolicyRule{rule}}
		}
	}
	ended := func(p job.Pod) func(*job.Snapshot) {
		return func(s *job.Snapshot) {
			p.Name, p.UID, p.Untracked = "done", "done", true
			s.Pods = append(s.Pods, p)
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*job.Snapshot)
		quiet  bool
	}{
		{"pods run", func(*job.Snapshot) {}, true},
		{"the pod of the success is there", ended(job.Pod{Phase: job.PodSucceeded, Index: job.IndexAt(2)}), true},
		{"a failed pod is counted", ended(job.Pod{Phase: job.PodFailed, Index: job.IndexAt(1)}), true},
		{"an ended pod has no index", ended(job.Pod{Phase: job.PodFailed, Index: job.NoIndex()}), true},
		{"more pods have ended than are counted", func(s *job.Snapshot) {
			for _, name := range []string{"a", "b"} {
				s.Pods = append(s.Pods, job.Pod{Name: name, UID: job.UID(name), Phase: job.PodSucceeded,
					Index: job.IndexAt(7), Untracked: true})
			}
		}, true},
		{"the last index runs", pod(func(p *job.Pod) { p.Index = job.IndexAt(3) }), true},
		{"a succeeded index runs again", pod(func(p *job.Pod) { p.Index = job.IndexAt(2) }), true},
		{"no index has succeeded", lists(0, "", nil), true},
		{"no index has failed", perIndex(nil, ptr("")), true},
		{"as many indexes have failed as may", perIndex(ptr[int32](1), ptr("3")), true},
		{"a success policy that is not met", success(ptr("0,2"), nil), true},
		{"a success policy that cannot be met", success(ptr("0-"), nil), true},
		{"a success policy, and no success", func(s *job.Snapshot) {
			success(nil, ptr[int32](0))(s)
			lists(0, "", nil)(s)
		}, true},
		{"a list of failed indexes that nobody reads is missing", func(s *job.Snapshot) {
			s.Job.Spec.MaxFailedIndexes = ptr[int32](0)
		}, true},

		{"an index is out of range", pod(func(p *job.Pod) { p.Index = job.IndexAt(4) }), false},
		{"an active pod has no index", pod(func(p *job.Pod) { p.Index = job.NoIndex() }), false},
		{"two pods have the same index", pod(func(p *job.Pod) { p.Index = job.IndexAt(0) }), false},
		{"the list has more than the counter", lists(0, "2", nil), false},
		{"the counter has more than the list", lists(1, "", nil), false},
		{"a corrupt list", lists(1, "2,x", nil), false},
		{"a list in other words", lists(1, "2-2", nil), false},
		{"a list beyond the completions", lists(1, "2,4", nil), false},
		{"fewer pods are wanted", lists(3, "1-3", nil), false},
		{"a list of failed indexes that is dropped", lists(1, "2", ptr("")), false},
		{"the list of failed indexes is missing", perIndex(nil, nil), false},
		{"a corrupt list of failed indexes", perIndex(nil, ptr("3,x")), false},
		{"a list of failed indexes in other words", perIndex(nil, ptr("3-3")), false},
		{"an index in both lists", perIndex(nil, ptr("2")), false},
		{"more indexes have failed than may", perIndex(ptr[int32](0), ptr("3")), false},
		{"all other indexes have failed", perIndex(nil, ptr("0,1,3")), false},
		{"a success policy that is met", success(ptr("2"), nil), false},
		{"a success policy that any index meets", success(nil, ptr[int32](1)), false},
		{"a podFailurePolicy", func(s *job.Snapshot) { s.Job.Spec.PodFailurePolicy = &job.PodFailurePolicy{} }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := steady(2, true)
			lists(1, "2", nil)(&s)
			checkChanged(t, s, tt.change, tt.quiet)
		})
	}
}

// steadyStart is the time at which the pods of a steady job started.
var steadyStart = steady(0, false).Now
