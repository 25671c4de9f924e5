package cronjob

import (
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// invalid is the error about a field that breaks the contract.
func invalid(field string, v any, problem string) error {
	return &job.InputError{Field: field, Value: value.Text(v), Problem: problem}
}
