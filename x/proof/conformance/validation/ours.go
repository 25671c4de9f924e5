package validation

import (
	"encoding/json"
	"errors"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobadmit"
	"github.com/batchplan/batchplan/job/release"
)

// played is the release that both sides play.
var played release.Release

// ourJob gives the spec of a new job to the library.
func ourJob(spec []byte) []refusal {
	var s job.Spec
	if err := json.Unmarshal(spec, &s); err != nil {
		return []refusal{{rule: "does not decode: " + err.Error()}}
	}
	job.Default(&s)
	if len(jobadmit.DropDisabled(nil, &s, played)) > 0 {
		job.Default(&s)
	}
	return ourRefusals(job.Validate(s))
}

// ourUpdate gives the library the manifests of a job before and after a change.
func ourUpdate(old, next []byte) []refusal {
	was, err := job.DecodeJob(old)
	if err != nil {
		return []refusal{{rule: "does not decode: " + err.Error()}}
	}
	is, err := job.DecodeJob(next)
	if err != nil {
		return []refusal{{rule: "does not decode: " + err.Error()}}
	}
	defaults(&was.Spec)
	defaults(&is.Spec)
	err = errors.Join(jobadmit.ValidateUpdate(&was, is.Spec, played),
		jobadmit.ValidateTemplateUpdate(&was, template(old), template(next), played))
	return ourRefusals(err)
}

// defaults sets the defaults as a server does: without its gate, podReplacementPolicy has no
// default.
func defaults(s *job.Spec) {
	policy := s.PodReplacementPolicy
	job.Default(s)
	if !played.Has(release.JobPodReplacementPolicy) {
		s.PodReplacementPolicy = policy
	}
}

// template returns the pod template of a manifest.
func template(manifest []byte) []byte {
	var m struct {
		Spec struct{ Template json.RawMessage }
	}
	if err := json.Unmarshal(manifest, &m); err != nil {
		panic(err) // unreachable: it was decoded before
	}
	return m.Spec.Template
}

func ourCronUpdate(old, next []byte) []refusal {
	var was, is cronjob.Spec
	if err := errors.Join(json.Unmarshal(old, &was), json.Unmarshal(next, &is)); err != nil {
		return []refusal{{rule: "does not decode: " + err.Error()}}
	}
	cronjob.Default(&was)
	cronjob.Default(&is)
	return ourRefusals(cronjob.ValidateUpdate(&cronjob.CronJob{Spec: was}, is, release.Newest()))
}

func ourCronJob(spec []byte) []refusal {
	var s cronjob.Spec
	if err := json.Unmarshal(spec, &s); err != nil {
		return []refusal{{rule: "does not decode: " + err.Error()}}
	}
	cronjob.Default(&s)
	return ourRefusals(cronjob.Validate(s))
}

// ourTransition gives two statuses of a job to a check of the library.
func ourTransition(check func(was, is job.Status, s job.Spec) error, spec, old, next []byte) []refusal {
	var s job.Spec
	var was, is job.Status
	if err := errors.Join(json.Unmarshal(spec, &s), json.Unmarshal(old, &was), json.Unmarshal(next, &is)); err != nil {
		return []refusal{{rule: "does not decode: " + err.Error()}}
	}
	job.Default(&s)
	return ourRefusals(check(was, is, s))
}

// ourRefusals returns the refusals in an error.
func ourRefusals(err error) (all []refusal) {
	for _, input := range job.InputErrors(err) {
		all = append(all, refusal{field: input.Field, rule: input.Problem})
	}
	if len(all) == 0 && err != nil {
		all = []refusal{{rule: err.Error()}}
	}
	return all
}
