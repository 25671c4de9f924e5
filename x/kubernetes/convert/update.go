package convert

import (
	"encoding/json"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchplan/batchplan/job/jobadmit"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/kubernetes/internal/batch"
)

// ValidateUpdate is [jobadmit.ValidateUpdate] with [jobadmit.ValidateTemplateUpdate]: it returns
// why an API server of the release would refuse to replace the spec of the stored job by the next
// one. Missing fields get their defaults, except in the templates.
func ValidateUpdate(old *batchv1.Job, next *batchv1.JobSpec, r release.Release) error {
	was, err := json.Marshal(&old.Spec.Template)
	if err != nil {
		return fmt.Errorf("spec.template: %w", err)
	}
	is, err := json.Marshal(&next.Template)
	if err != nil {
		return fmt.Errorf("spec.template: %w", err)
	}

	stored := Job(old)
	stored.Spec = batch.Defaulted(&old.Spec)
	return errors.Join(
		jobadmit.ValidateUpdate(&stored, batch.Defaulted(next), r),
		jobadmit.ValidateTemplateUpdate(&stored, was, is, r),
	)
}
