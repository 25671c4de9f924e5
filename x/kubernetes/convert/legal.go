package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

// CheckServed is [job.CheckServed]: what an API server of the release refuses when the status of
// a job is replaced by next. Missing fields of the spec get their defaults.
func CheckServed(r release.Release, of *batchv1.Job, next *batchv1.JobStatus) error {
	return job.CheckServed(r, jobStatus(&of.Status), jobStatus(next), defaulted(&of.Spec))
}

// Aggregate is [job.Aggregate]: the next status of a job that runs as parts. The parts of an
// Indexed job run the same indexes; use [job.Aggregate] where they are divided.
func Aggregate(r release.Release, of *batchv1.Job, parts []*batchv1.JobStatus, now time.Time) batchv1.JobStatus {
	all := make([]job.Part, len(parts))
	for i, part := range parts {
		all[i].Status = jobStatus(part)
	}
	return JobStatus(job.Aggregate(defaulted(&of.Spec), jobStatus(&of.Status), all, now, r))
}

// Finish is [job.Finish]: the status of a job that has ended.
func Finish(r release.Release, of *batchv1.Job, end job.Verdict, at time.Time) (batchv1.JobStatus, error) {
	next, err := job.Finish(jobStatus(&of.Status), defaulted(&of.Spec), end, at, r)
	return JobStatus(next), err
}

// ValidateUpdate is [job.ValidateUpdate] with [job.ValidateTemplateUpdate]: what an API server of
// the release refuses when the spec of the stored job changes. Missing fields get their
// defaults, except in the templates.
func ValidateUpdate(r release.Release, old *batchv1.Job, next *batchv1.JobSpec) error {
	was, err := json.Marshal(&old.Spec.Template)
	if err != nil {
		return fmt.Errorf("spec.template: %w", err)
	}
	is, err := json.Marshal(&next.Template)
	if err != nil {
		return fmt.Errorf("spec.template: %w", err)
	}

	stored := Job(old)
	stored.Spec = defaulted(&old.Spec)
	return errors.Join(job.ValidateUpdate(&stored, defaulted(next), r), job.ValidateTemplateUpdate(&stored, was, is, r))
}

func defaulted(s *batchv1.JobSpec) job.Spec {
	spec := jobSpec(s)
	job.Default(&spec)
	return spec
}
