package validation

import (
	"encoding/json"
	"errors"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// ourJob gives the spec of a new job to the library.
func ourJob(spec []byte) []refusal {
	var s job.Spec
	if err := json.Unmarshal(spec, &s); err != nil {
		return []refusal{{rule: "does not decode: " + err.Error()}}
	}
	job.Default(&s)
	return ourRefusals(job.Validate(s))
}

// ourCronJob gives the spec of a new CronJob to the library.
func ourCronJob(spec []byte) []refusal {
	var s cronjob.Spec
	if err := json.Unmarshal(spec, &s); err != nil {
		return []refusal{{rule: "does not decode: " + err.Error()}}
	}
	cronjob.Default(&s)
	return ourRefusals(cronjob.Validate(s))
}

// ourTransition gives two statuses of a job to the library.
func ourTransition(spec, old, next []byte) []refusal {
	var s job.Spec
	var was, is job.Status
	if err := errors.Join(json.Unmarshal(spec, &s), json.Unmarshal(old, &was), json.Unmarshal(next, &is)); err != nil {
		return []refusal{{rule: "does not decode: " + err.Error()}}
	}
	job.Default(&s)
	return ourRefusals(job.CheckTransition(was, is, s))
}

// ourRefusals takes a joined error apart.
func ourRefusals(err error) (all []refusal) {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			all = append(all, ourRefusals(e)...)
		}
		return all
	}
	var input *job.InputError
	if errors.As(err, &input) {
		return []refusal{{field: input.Field, rule: input.Problem}}
	}
	return []refusal{{rule: err.Error()}}
}
