package job

import (
	"errors"
	"fmt"

	"github.com/batchplan/batchplan/internal/problems"
	"github.com/batchplan/batchplan/internal/value"
)

// InputError reports a value that breaks the contract of a snapshot, a spec or a status.
type InputError struct {
	// Field is the path of the field, such as "spec.parallelism".
	Field string
	// Value is the offending value, as text.
	Value string
	// Problem tells what is wrong with the value.
	Problem string
	// Err is the error of the package that has found the problem, such as a *schedule.ParseError;
	// nil if this package has found it.
	Err error
}

// Error names the field, the value and the problem.
func (e *InputError) Error() string {
	return fmt.Sprintf("%s: %s: %s", e.Field, e.Value, e.Problem)
}

// Unwrap returns Err.
func (e *InputError) Unwrap() error { return e.Err }

// InputErrors returns the InputErrors that an error joins or wraps, in their order. Other errors
// are left out.
func InputErrors(err error) (all []*InputError) {
	switch e := err.(type) {
	case *InputError:
		return []*InputError{e}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = append(all, InputErrors(one)...)
		}
	case interface{ Unwrap() error }:
		return InputErrors(e.Unwrap())
	}
	return all
}

func invalid(field string, v any, problem string) error {
	return problems.New[InputError](field, v, problem)
}

// check refuses snapshots from which no plan can be made.
func (s *Snapshot) check() error {
	j := &s.Job
	switch {
	case j.UID == "":
		return invalid("job.uid", "", "is required")
	case j.Name == "":
		return invalid("job.name", "", "is required: names of pods begin with it")
	case s.Now.IsZero():
		return invalid("now", "", "is required")
	case j.Spec.Parallelism == nil:
		return invalid("job.spec.parallelism", nil, "is required; Default sets it")
	case j.Spec.BackoffLimit == nil:
		return invalid("job.spec.backoffLimit", nil, "is required; Default sets it")
	case j.Spec.isIndexed() && j.Spec.Completions == nil:
		return invalid("job.spec.completions", nil, "is required when completionMode is Indexed")
	}
	return errors.Join(checkSigns(j), s.Options.Validate())
}

// checkSigns refuses the negative numbers that neither an API server nor this
// package ever writes.
func checkSigns(j *Job) error {
	all := *j.Spec.Parallelism | value.Of(j.Spec.Completions) |
		*j.Spec.BackoffLimit | value.Of(j.Spec.BackoffLimitPerIndex) | value.Of(j.Spec.MaxFailedIndexes) |
		j.Status.Active | value.Of(j.Status.Ready) | value.Of(j.Status.Terminating) |
		j.Status.Succeeded | j.Status.Failed
	if all >= 0 && value.Of(j.Spec.ActiveDeadlineSeconds) >= 0 {
		return nil // the common case: no number has the sign bit
	}

	fields := [...]struct {
		name  string
		value int64
	}{
		{"job.spec.parallelism", int64(*j.Spec.Parallelism)},
		{"job.spec.completions", int64(value.Of(j.Spec.Completions))},
		{"job.spec.backoffLimit", int64(*j.Spec.BackoffLimit)},
		{"job.spec.backoffLimitPerIndex", int64(value.Of(j.Spec.BackoffLimitPerIndex))},
		{"job.spec.maxFailedIndexes", int64(value.Of(j.Spec.MaxFailedIndexes))},
		{"job.spec.activeDeadlineSeconds", value.Of(j.Spec.ActiveDeadlineSeconds)},
		{"job.status.active", int64(j.Status.Active)},
		{"job.status.ready", int64(value.Of(j.Status.Ready))},
		{"job.status.terminating", int64(value.Of(j.Status.Terminating))},
		{"job.status.succeeded", int64(j.Status.Succeeded)},
		{"job.status.failed", int64(j.Status.Failed)},
	}

	for i := range fields {
		if fields[i].value < 0 {
			return invalid(fields[i].name, fields[i].value, "must not be negative")
		}
	}
	return nil
}
