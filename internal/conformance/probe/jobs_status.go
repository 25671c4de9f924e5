package probe

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var jobStatus = []Probe{
	{"job status: a life", func(s *script) {
		s.jobs.create(newJob("j"))
		s.jobs.report("j", "started", status(func(o *batchv1.JobStatus) {
			o.StartTime, o.Ready, o.Terminating = at(0), p(int32(0)), p(int32(0))
			o.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
		}))
		s.jobs.report("j", "a pod", status(func(o *batchv1.JobStatus) { o.Active, o.Ready = 1, p(int32(1)) }))
		s.jobs.report("j", "a pod is done", status(func(o *batchv1.JobStatus) {
			o.Active, o.Ready = 0, p(int32(0))
			o.UncountedTerminatedPods.Succeeded = []types.UID{strange}
		}))
		s.jobs.report("j", "counted", func(o *batchv1.Job) {
			o.Status.Succeeded, o.Status.UncountedTerminatedPods = 1, &batchv1.UncountedTerminatedPods{}
			condition(batchv1.JobSuccessCriteriaMet, "True")(o)
		})
		s.jobs.report("j", "complete", complete)
		s.jobs.report("j", "nothing", func(*batchv1.Job) {})
	}},
	{"job status: times are cut to seconds", func(s *script) {
		s.jobs.create(newJob("j"))
		o := s.jobs.report("j", "started at half past", status(func(o *batchv1.JobStatus) {
			o.StartTime = &metav1.Time{Time: then.Add(half)}
			o.Conditions = []batchv1.JobCondition{{Type: "Mine", Status: "True", LastTransitionTime: *o.StartTime}}
		}))
		s.say("start %v, transition %v after the second", o.Status.StartTime.Sub(then), o.Status.Conditions[0].LastTransitionTime.Sub(then))
		o = s.jobs.live("j")
		s.say("read again: start %v, transition %v after the second", o.Status.StartTime.Sub(then), o.Status.Conditions[0].LastTransitionTime.Sub(then))
		s.jobs.report("j", "the same half", status(func(o *batchv1.JobStatus) { o.StartTime = &metav1.Time{Time: then.Add(half)} }))
	}},
	{"job status: what is empty", func(s *script) {
		s.jobs.create(newJob("j"))
		o := s.jobs.report("j", "empty lists", status(func(o *batchv1.JobStatus) {
			o.Conditions = []batchv1.JobCondition{}
			o.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: []types.UID{}, Failed: []types.UID{}}
		}))
		s.say("nil: conditions %t, uncounted %t, succeeded %t", o.Status.Conditions == nil,
			o.Status.UncountedTerminatedPods == nil, o.Status.UncountedTerminatedPods.Succeeded == nil)
		s.jobs.report("j", "nothing uncounted", status(func(o *batchv1.JobStatus) { o.UncountedTerminatedPods = nil }))
		s.jobs.create(newJob("indexed", indexed(2), limitPerIndex(1)))
		s.jobs.report("indexed", "no failed index", status(func(o *batchv1.JobStatus) { o.FailedIndexes = p("") }))
		s.jobs.report("indexed", "failed indexes unset", status(func(o *batchv1.JobStatus) { o.FailedIndexes = nil }))
	}},
	{"job status: versions", func(s *script) {
		first := s.jobs.create(newJob("j"))
		s.jobs.report("j", "a pod", status(func(o *batchv1.JobStatus) { o.Active = 1 }))
		first.Status.Active = 2
		s.jobs.updateStatus("from a stale version", first)
		first.ResourceVersion = ""
		s.jobs.updateStatus("without a version", first)
		first.UID = strange
		s.jobs.updateStatus("without a version, another UID", first)
		first.Name = "missing"
		s.jobs.updateStatus("missing", first)
	}},
	{"job status: goes on after the end", func(s *script) {
		s.jobs.create(newJob("j"))
		s.jobs.report("j", "complete", finished(complete))
		s.jobs.report("j", "an annotation too", func(o *batchv1.Job) { o.Annotations = map[string]string{"a": "1"} })
		s.jobs.report("j", "more have succeeded", status(func(o *batchv1.JobStatus) { o.Succeeded = 2 }))
		s.jobs.change("j", "spec", spec(func(o *batchv1.JobSpec) { o.Parallelism = p(int32(9)) }))
	}},
}

const half = 500_000_000

func status(how func(*batchv1.JobStatus)) func(*batchv1.Job) {
	return func(o *batchv1.Job) { how(&o.Status) }
}

func condition(t batchv1.JobConditionType, value corev1.ConditionStatus) func(*batchv1.Job) {
	return func(o *batchv1.Job) { o.Status.Conditions = append(o.Status.Conditions, jobCondition(t, value)) }
}

// all does one after the other.
func all(how ...func(*batchv1.Job)) func(*batchv1.Job) {
	return func(o *batchv1.Job) {
		for _, f := range how {
			f(o)
		}
	}
}

// finished adds the start and the condition that every end needs.
func finished(how func(*batchv1.Job)) func(*batchv1.Job) {
	return all(started, condition(batchv1.JobSuccessCriteriaMet, "True"), how)
}

func started(o *batchv1.Job) { o.Status.StartTime = at(0) }

func complete(o *batchv1.Job) {
	condition(batchv1.JobComplete, "True")(o)
	o.Status.CompletionTime = at(60)
}

// failed is the whole end of a failed job.
var failed = all(started, condition(batchv1.JobFailureTarget, "True"), condition(batchv1.JobFailed, "True"))

// statusCase is one line of a table: a status that a job has, and the one that is asked for.
type statusCase struct {
	what   string
	job    func(*batchv1.Job)
	before func(*batchv1.Job)
	after  func(*batchv1.Job)
}

// statuses plays a table, each line on a job of its own.
func (s *script) statuses(cases []statusCase) {
	s.deaf = true
	for i, c := range cases {
		s.statusOf(fmt.Sprintf("j%d", i), c)
	}
}

func (s *script) statusOf(name string, c statusCase) {
	o, err := s.jobs.api.Create(s.ctx, newJob(name, c.job), metav1.CreateOptions{})
	if err == nil && c.before != nil {
		c.before(o)
		o, err = s.jobs.api.UpdateStatus(s.ctx, o, metav1.UpdateOptions{})
	}
	if err != nil {
		s.say("%s: not even the start: %s", c.what, s.rec.failure(err))
		return
	}
	s.rec.change(s.jobs.name, o, s.jobs.fields(o))
	c.after(o)
	s.jobs.updateStatus(c.what, o)
}
