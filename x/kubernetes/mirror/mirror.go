// Package mirror computes the statuses of Jobs that run elsewhere: it has Aggregate, CheckServed
// and Finish of [jobstatus] for the types of batch/v1. Missing fields of a spec get their defaults.
//
// It needs k8s.io/api and k8s.io/apimachinery, and no client. A program that imports it links no
// planner of CronJobs.
package mirror

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobstatus"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/kubernetes/internal/batch"
)

// CheckServed is [jobstatus.CheckServed]: it returns why an API server of the release would refuse
// the new status of the job.
func CheckServed(old *batchv1.Job, next *batchv1.JobStatus, r release.Release) error {
	return jobstatus.CheckServed(batch.Status(&old.Status), batch.Status(next), batch.Defaulted(&old.Spec), r)
}

// Part returns a part of a job, for [Aggregate]. A part that has not reported yet has an empty
// status. Set [jobstatus.Part.First] if the parts divide the indexes of an Indexed job.
func Part(name string, s *batchv1.JobStatus) jobstatus.Part {
	return jobstatus.Part{Name: name, Status: batch.Status(s)}
}

// Aggregate is [jobstatus.Aggregate]: it returns the next status of a job that runs in parts.
func Aggregate(old *batchv1.Job, parts []jobstatus.Part, at time.Time, r release.Release) batchv1.JobStatus {
	return AggregateFunc(old, parts, jobstatus.JoinFailures, at, r)
}

// AggregateFunc is [jobstatus.AggregateFunc]: [Aggregate] with your own words for failures.
func AggregateFunc(
	old *batchv1.Job, parts []jobstatus.Part, words jobstatus.Words, at time.Time, r release.Release,
) batchv1.JobStatus {
	was, spec := batch.Status(&old.Status), batch.Defaulted(&old.Spec)
	return batch.JobStatus(jobstatus.AggregateFunc(was, spec, parts, words, at, r))
}

// Finish is [jobstatus.Finish]: it returns the status of a job that has ended.
func Finish(old *batchv1.Job, end job.Verdict, at time.Time, r release.Release) (batchv1.JobStatus, error) {
	next, err := jobstatus.Finish(batch.Status(&old.Status), batch.Defaulted(&old.Spec), end, at, r)
	return batch.JobStatus(next), err
}
