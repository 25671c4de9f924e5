package probe

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
)

var jobReject = []Probe{
	{"job status: how a job may end", func(s *script) { s.statuses(endings) }},
	{"job status: counters", func(s *script) { s.statuses(counters) }},
	{"job status: uncounted pods", func(s *script) { s.statuses(uncounted) }},
	{"job status: indexes", func(s *script) { s.statuses(indexes) }},
	{"job status: what cannot be undone", func(s *script) { s.statuses(undone) }},
	{"job status: with a success policy", func(s *script) { s.statuses(successes) }},
	{"job status: completedIndexes after scaling down", func(s *script) {
		s.jobs.create(newJob("j", indexed(4)))
		s.jobs.report("j", "0-3", status(func(o *batchv1.JobStatus) { o.CompletedIndexes, o.Succeeded = "0-3", 4 }))
		s.jobs.change("j", "2 of 2", spec(func(o *batchv1.JobSpec) { o.Completions, o.Parallelism = p(int32(2)), p(int32(2)) }))
		s.jobs.report("j", "counters only", status(func(o *batchv1.JobStatus) { o.Failed = 1 }))
		s.jobs.report("j", "0-2", status(func(o *batchv1.JobStatus) { o.CompletedIndexes = "0-2" }))
		s.jobs.report("j", "0,1", status(func(o *batchv1.JobStatus) { o.CompletedIndexes, o.Succeeded = "0,1", 2 }))
	}},
	{"job status: conditions in disorder", func(s *script) {
		s.statuses([]statusCase{
			{"unknown type", plain, nil, condition("Mine", "True")},
			{"empty type", plain, nil, condition("", "True")},
			{"unknown value", plain, nil, condition("Mine", "Maybe")},
			{"the same twice", plain, nil, all(condition("Mine", "True"), condition("Mine", "False"))},
			{"Suspended, though it is not", plain, nil, condition(batchv1.JobSuspended, "True")},
			{"Suspended removed", suspended, condition(batchv1.JobSuspended, "True"), noConditions},
		})
	}},
}

// plain leaves a job as it is.
func plain(*batchv1.Job) {}

func noConditions(o *batchv1.Job) { o.Status.Conditions = nil }

func zeroCompletions(o *batchv1.Job) { o.Spec.Completions = p(int32(0)) }

var endings = []statusCase{
	{"complete", plain, nil, finished(complete)},
	{"failed", plain, nil, failed},
	{"complete and failed", plain, nil, all(finished(complete), condition(batchv1.JobFailed, "True"))},
	{"complete and failure target", plain, nil, all(finished(complete), condition(batchv1.JobFailureTarget, "True"))},
	{"complete after failed", plain, failed, finished(complete)},
	{"failed after complete", plain, finished(complete), all(condition(batchv1.JobFailureTarget, "True"), condition(batchv1.JobFailed, "True"))},
	{"complete without success criteria", plain, nil, all(started, complete)},
	{"complete without completion time", plain, nil, finished(condition(batchv1.JobComplete, "True"))},
	{"complete without start", plain, nil, all(condition(batchv1.JobSuccessCriteriaMet, "True"), complete)},
	{"complete without start, suspended, of nothing", all(suspended, zeroCompletions), nil, all(condition(batchv1.JobSuccessCriteriaMet, "True"), complete)},
	{"complete without start, of nothing", zeroCompletions, nil, all(condition(batchv1.JobSuccessCriteriaMet, "True"), complete)},
	{"completed before it started", plain, nil, finished(all(complete, status(func(o *batchv1.JobStatus) { o.CompletionTime = at(-1) })))},
	{"completed as it started", plain, nil, finished(all(complete, status(func(o *batchv1.JobStatus) { o.CompletionTime = at(0) })))},
	{"completion time alone", plain, started, status(func(o *batchv1.JobStatus) { o.CompletionTime = at(60) })},
	{"failed with completion time", plain, nil, all(failed, status(func(o *batchv1.JobStatus) { o.CompletionTime = at(60) }))},
	{"failed without failure target", plain, nil, all(started, condition(batchv1.JobFailed, "True"))},
	{"failed without start", plain, nil, all(condition(batchv1.JobFailureTarget, "True"), condition(batchv1.JobFailed, "True"))},
	{"failed with success criteria", plain, nil, all(failed, condition(batchv1.JobSuccessCriteriaMet, "True"))},
	{"success criteria and failure target", plain, nil, all(started, condition(batchv1.JobSuccessCriteriaMet, "True"), condition(batchv1.JobFailureTarget, "True"))},
	{"success criteria alone", plain, nil, condition(batchv1.JobSuccessCriteriaMet, "True")},
	{"failure target alone", plain, nil, condition(batchv1.JobFailureTarget, "True")},
	{"failure target, then failed", plain, condition(batchv1.JobFailureTarget, "True"), all(started, condition(batchv1.JobFailed, "True"))},
	{"failed with active pods", plain, nil, all(failed, status(func(o *batchv1.JobStatus) { o.Active = 1 }))},
	{"complete with active pods", plain, nil, all(finished(complete), status(func(o *batchv1.JobStatus) { o.Active = 1 }))},
	{"failed with terminating pods", plain, nil, all(failed, status(func(o *batchv1.JobStatus) { o.Terminating = p(int32(1)) }))},
	{"complete with terminating pods", plain, nil, all(finished(complete), status(func(o *batchv1.JobStatus) { o.Terminating = p(int32(1)) }))},
	{"failed with uncounted pods", plain, nil, all(failed, status(func(o *batchv1.JobStatus) {
		o.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Failed: []types.UID{strange}}
	}))},
	{"active pods after the end", plain, failed, status(func(o *batchv1.JobStatus) { o.Active = 1 })},
	{"terminating pods after the end", plain, failed, status(func(o *batchv1.JobStatus) { o.Terminating = p(int32(1)) })},
	{"more failed after the end", plain, failed, status(func(o *batchv1.JobStatus) { o.Failed = 3 })},
}

var counters = []statusCase{
	{"more failed", plain, status(func(o *batchv1.JobStatus) { o.Failed = 2 }), status(func(o *batchv1.JobStatus) { o.Failed = 3 })},
	{"fewer failed", plain, status(func(o *batchv1.JobStatus) { o.Failed = 2 }), status(func(o *batchv1.JobStatus) { o.Failed = 1 })},
	{"fewer succeeded", plain, status(func(o *batchv1.JobStatus) { o.Succeeded = 2 }), status(func(o *batchv1.JobStatus) { o.Succeeded = 1 })},
	{"fewer succeeded, indexed, elastic", indexed(3), status(func(o *batchv1.JobStatus) { o.Succeeded = 2 }), status(func(o *batchv1.JobStatus) { o.Succeeded = 1 })},
	{"fewer succeeded, indexed, not elastic", all(indexed(3), spec(func(o *batchv1.JobSpec) { o.Parallelism = p(int32(1)) })),
		status(func(o *batchv1.JobStatus) { o.Succeeded = 2 }), status(func(o *batchv1.JobStatus) { o.Succeeded = 1 })},
	{"more succeeded than completions", plain, nil, status(func(o *batchv1.JobStatus) { o.Succeeded = 5 })},
	{"active -1", plain, nil, status(func(o *batchv1.JobStatus) { o.Active = -1 })},
	{"failed -1", plain, nil, status(func(o *batchv1.JobStatus) { o.Failed = -1 })},
	{"succeeded -1", plain, nil, status(func(o *batchv1.JobStatus) { o.Succeeded = -1 })},
	{"ready -1", plain, nil, status(func(o *batchv1.JobStatus) { o.Ready = p(int32(-1)) })},
	{"terminating -1", plain, nil, status(func(o *batchv1.JobStatus) { o.Terminating = p(int32(-1)) })},
	{"more ready than active", plain, nil, status(func(o *batchv1.JobStatus) { o.Active, o.Ready = 1, p(int32(2)) })},
	{"fewer active than ready", plain, status(func(o *batchv1.JobStatus) { o.Active, o.Ready = 2, p(int32(2)) }), status(func(o *batchv1.JobStatus) { o.Active = 1 })},
	{"more active than parallelism", plain, nil, status(func(o *batchv1.JobStatus) { o.Active = 9 })},
	{"terminating", plain, nil, status(func(o *batchv1.JobStatus) { o.Terminating = p(int32(4)) })},
	{"ready forgotten", plain, status(func(o *batchv1.JobStatus) { o.Active, o.Ready = 2, p(int32(2)) }), status(func(o *batchv1.JobStatus) { o.Ready = nil })},
}

var uncounted = []statusCase{
	{"one each", plain, nil, uids([]types.UID{strange}, []types.UID{"b"})},
	{"twice", plain, nil, uids([]types.UID{strange, strange}, nil)},
	{"on both sides", plain, nil, uids([]types.UID{strange}, []types.UID{strange})},
	{"empty UID", plain, nil, uids(nil, []types.UID{""})},
	{"out of order", plain, nil, uids([]types.UID{"b", "a"}, nil)},
	{"counted", plain, uids([]types.UID{strange}, nil), all(uids(nil, nil), status(func(o *batchv1.JobStatus) { o.Succeeded = 1 }))},
	{"forgotten", plain, uids([]types.UID{strange}, nil), status(func(o *batchv1.JobStatus) { o.UncountedTerminatedPods = nil })},
	{"after the end", plain, failed, uids([]types.UID{strange}, nil)},
	{"empty after the end", plain, failed, uids(nil, nil)},
}

func uids(succeeded, failed []types.UID) func(*batchv1.Job) {
	return status(func(o *batchv1.JobStatus) {
		o.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: succeeded, Failed: failed}
	})
}

func completedIndexes(text string) func(*batchv1.Job) {
	return status(func(o *batchv1.JobStatus) { o.CompletedIndexes = text })
}

func failedIndexes(text string) func(*batchv1.Job) {
	return status(func(o *batchv1.JobStatus) { o.FailedIndexes = &text })
}

// four is a job of four indexes with a limit each.
var four = all(indexed(4), limitPerIndex(1))

var indexes = []statusCase{
	{"completed 0,2", indexed(4), nil, completedIndexes("0,2")},
	{"completed 0-3", indexed(4), nil, completedIndexes("0-3")},
	{"completed 0-1,3", indexed(4), nil, completedIndexes("0-1,3")},
	{"completed 4 of 4", indexed(4), nil, completedIndexes("4")},
	{"completed 0-4 of 4", indexed(4), nil, completedIndexes("0-4")},
	{"completed 1,0", indexed(4), nil, completedIndexes("1,0")},
	{"completed 0,0", indexed(4), nil, completedIndexes("0,0")},
	{"completed 0-2,1", indexed(4), nil, completedIndexes("0-2,1")},
	{"completed 2-1", indexed(4), nil, completedIndexes("2-1")},
	{"completed 1-1", indexed(4), nil, completedIndexes("1-1")},
	{"completed a", indexed(4), nil, completedIndexes("a")},
	{"completed 0,", indexed(4), nil, completedIndexes("0,")},
	{"completed 0, 1", indexed(4), nil, completedIndexes("0, 1")},
	{"completed -1", indexed(4), nil, completedIndexes("-1")},
	{"completed 01", indexed(4), nil, completedIndexes("01")},
	{"completed 0, not indexed", plain, nil, completedIndexes("0")},
	{"completed 0 after 0,1", indexed(4), completedIndexes("0,1"), completedIndexes("0")},
	{"failed 0,2", four, nil, failedIndexes("0,2")},
	{"failed nothing", four, nil, failedIndexes("")},
	{"failed 4 of 4", four, nil, failedIndexes("4")},
	{"failed 2,0", four, nil, failedIndexes("2,0")},
	{"failed 0 without limit per index", indexed(4), nil, failedIndexes("0")},
	{"failed nothing without limit per index", indexed(4), nil, failedIndexes("")},
	{"failed nothing, not indexed", plain, nil, failedIndexes("")},
	{"failed and completed 1", four, nil, all(completedIndexes("0-1"), failedIndexes("1-2"))},
	{"failed 1, once it was completed", four, completedIndexes("0-1"), failedIndexes("1")},
	{"completed 1, once it has failed", four, failedIndexes("1"), completedIndexes("1")},
	{"failed indexes of a failed job", four, failed, failedIndexes("1")},
}

var undone = []statusCase{
	{"failed removed", plain, failed, noConditions},
	{"failed turned off", plain, failed, status(func(o *batchv1.JobStatus) { o.Conditions[1].Status = "False" })},
	{"failure target removed", plain, condition(batchv1.JobFailureTarget, "True"), noConditions},
	{"complete removed", plain, finished(complete), status(func(o *batchv1.JobStatus) { o.Conditions = o.Conditions[:1] })},
	{"complete and its time removed", plain, finished(complete), status(func(o *batchv1.JobStatus) { o.Conditions, o.CompletionTime = o.Conditions[:1], nil })},
	{"success criteria removed", plain, condition(batchv1.JobSuccessCriteriaMet, "True"), noConditions},
	{"completion time changed", plain, finished(complete), status(func(o *batchv1.JobStatus) { o.CompletionTime = at(61) })},
	{"completion time removed", plain, finished(complete), status(func(o *batchv1.JobStatus) { o.CompletionTime = nil })},
	{"start time changed after the end", plain, finished(complete), status(func(o *batchv1.JobStatus) { o.StartTime = at(1) })},
	{"start time removed after the end", plain, failed, status(func(o *batchv1.JobStatus) { o.StartTime = nil })},
	{"start time changed while suspended", suspended, started, status(func(o *batchv1.JobStatus) { o.StartTime = at(1) })},
	{"start time removed while suspended", suspended, started, status(func(o *batchv1.JobStatus) { o.StartTime = nil })},
	{"everything removed", plain, all(started, status(func(o *batchv1.JobStatus) { o.Active = 1 })), status(func(o *batchv1.JobStatus) { *o = batchv1.JobStatus{} })},
	{"reason of a condition changed", plain, failed, status(func(o *batchv1.JobStatus) { o.Conditions[1].Reason = "Why" })},
}

// byPolicy is a job that one index decides.
var byPolicy = all(indexed(3), successPolicy(batchv1.SuccessPolicyRule{SucceededIndexes: p("0")}))

var successes = []statusCase{
	{"criteria met", byPolicy, nil, condition(batchv1.JobSuccessCriteriaMet, "True")},
	{"complete with criteria met", byPolicy, nil, finished(complete)},
	{"complete without", byPolicy, nil, all(started, complete)},
	{"criteria met in a job that is complete", indexed(3), finished(complete), condition(batchv1.JobSuccessCriteriaMet, "True")},
}
