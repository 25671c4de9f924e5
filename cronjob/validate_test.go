package cronjob_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/cronjob"
)

func TestC1_Validate(t *testing.T) {
	for _, tc := range []struct {
		name   string
		spec   cronjob.Spec
		fields []string
	}{
		{"a valid spec", cronjob.Spec{Schedule: "@daily", TimeZone: ptr("Asia/Shanghai")}, nil},
		{"no schedule", cronjob.Spec{}, []string{"spec.schedule"}},
		{"six fields", cronjob.Spec{Schedule: "0 0 0 * * *"}, []string{"spec.schedule"}},
		{"a zone in the schedule", cronjob.Spec{Schedule: "TZ=UTC @daily"}, []string{"spec.schedule"}},
		{"the machine's zone", cronjob.Spec{Schedule: "@daily", TimeZone: ptr("local")}, []string{"spec.timeZone"}},
		{"a zone with a point as a part", cronjob.Spec{Schedule: "@daily", TimeZone: ptr("Europe/./Berlin")}, []string{"spec.timeZone"}},
		{"a zone with two slashes", cronjob.Spec{Schedule: "@daily", TimeZone: ptr("Europe//Berlin")}, []string{"spec.timeZone"}},
		{"an empty zone", cronjob.Spec{Schedule: "@daily", TimeZone: ptr("")}, []string{"spec.timeZone"}},
		{"an unknown zone", cronjob.Spec{Schedule: "@daily", TimeZone: ptr("Mars/Base")}, []string{"spec.timeZone"}},
		{"all at once", cronjob.Spec{
			Schedule: "61 * * * *", TimeZone: ptr("x"), ConcurrencyPolicy: "Maybe", StartingDeadlineSeconds: ptr[int64](-1),
			SuccessfulJobsHistoryLimit: ptr[int32](-1), FailedJobsHistoryLimit: ptr[int32](-2),
		}, []string{
			"spec.schedule", "spec.timeZone", "spec.concurrencyPolicy", "spec.startingDeadlineSeconds",
			"spec.successfulJobsHistoryLimit", "spec.failedJobsHistoryLimit",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cronjob.Default(&tc.spec)
			if got := fields(cronjob.Validate(tc.spec)); !slices.Equal(got, tc.fields) {
				t.Errorf("got %q, want %q", got, tc.fields)
			}
		})
	}
}

// fields lists the fields that an error names. An error whose value reads like a
// problem has exchanged the two.
func fields(err error) []string {
	var all []string
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			all = append(all, fields(e)...)
		}
		return all
	}
	var input *cronjob.InputError
	if errors.As(err, &input) {
		all = append(all, input.Field)
		if value := strings.Trim(input.Value, "\""); strings.HasPrefix(value, "must ") || strings.HasPrefix(value, "is ") {
			all = append(all, "value and problem are exchanged")
		}
	}
	return all
}
