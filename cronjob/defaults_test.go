package cronjob_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/batchplan/batchplan/cronjob"
)

func TestC1_Default(t *testing.T) {
	var spec cronjob.Spec
	cronjob.Default(&spec)
	want := cronjob.Spec{
		ConcurrencyPolicy: cronjob.Allow, Suspend: ptr(false),
		SuccessfulJobsHistoryLimit: ptr[int32](3), FailedJobsHistoryLimit: ptr[int32](1),
	}
	if diff := cmp.Diff(want, spec); diff != "" {
		t.Error(diff)
	}
}
