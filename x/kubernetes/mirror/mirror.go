// Package mirror writes the statuses of Jobs that run elsewhere, in the types of k8s.io/api: it is
// [jobstatus] for batch/v1. Missing fields of a spec get their defaults.
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

// CheckServed is [jobstatus.CheckServed]: what an API server of the release refuses when the status
// of a job is replaced by next.
func CheckServed(old *batchv1.Job, next *batchv1.JobStatus, r release.Release) error {
	return jobstatus.CheckServed(batch.Status(&old.Status), batch.Status(next), batch.Defaulted(&old.Spec), r)
}

// Aggregate is [jobstatus.Aggregate]: the next status of a job that runs as parts. The parts of an
// Indexed job run the same indexes; use [jobstatus.Aggregate] where they are divided.
func Aggregate(old *batchv1.Job, parts []*batchv1.JobStatus, at time.Time, r release.Release) batchv1.JobStatus {
	all := make([]jobstatus.Part, len(parts))
	for i, part := range parts {
		all[i].Status = batch.Status(part)
	}
	return batch.JobStatus(jobstatus.Aggregate(batch.Status(&old.Status), batch.Defaulted(&old.Spec), all, at, r))
}

// Finish is [jobstatus.Finish]: the status of a job that has ended.
func Finish(old *batchv1.Job, end job.Verdict, at time.Time, r release.Release) (batchv1.JobStatus, error) {
	next, err := jobstatus.Finish(batch.Status(&old.Status), batch.Defaulted(&old.Spec), end, at, r)
	return batch.JobStatus(next), err
}
