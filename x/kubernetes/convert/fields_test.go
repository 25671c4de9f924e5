package convert

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// TestFieldsAreKnown: each field of batch/v1 in k8s.io/api is also a field of ours, or is listed
// here with the reason why the planners do not need it.
func TestFieldsAreKnown(t *testing.T) {
	for _, pair := range []struct {
		theirs, ours reflect.Type
		without      map[string]string
	}{
		{reflect.TypeFor[batchv1.JobSpec](), reflect.TypeFor[job.Spec](), map[string]string{
			"manualSelector": "the selector is there, whoever made it",
		}},
		{reflect.TypeFor[batchv1.JobStatus](), reflect.TypeFor[job.Status](), nil},
		{reflect.TypeFor[batchv1.JobCondition](), reflect.TypeFor[job.Condition](), nil},
		{reflect.TypeFor[batchv1.UncountedTerminatedPods](), reflect.TypeFor[job.UncountedTerminatedPods](), nil},
		{reflect.TypeFor[batchv1.PodFailurePolicyRule](), reflect.TypeFor[job.PodFailurePolicyRule](), nil},
		{reflect.TypeFor[batchv1.PodFailurePolicyOnExitCodesRequirement](), reflect.TypeFor[job.OnExitCodes](), nil},
		{reflect.TypeFor[batchv1.PodFailurePolicyOnPodConditionsPattern](), reflect.TypeFor[job.PodCondition](), nil},
		{reflect.TypeFor[batchv1.SuccessPolicyRule](), reflect.TypeFor[job.SuccessPolicyRule](), nil},
		{reflect.TypeFor[batchv1.CronJobSpec](), reflect.TypeFor[cronjob.Spec](), nil},
		{reflect.TypeFor[batchv1.CronJobStatus](), reflect.TypeFor[cronjob.Status](), nil},
	} {
		ours := jsonNames(pair.ours)

		for _, name := range jsonNames(pair.theirs) {
			if pair.without[name] == "" && !slices.Contains(ours, name) {
				t.Errorf("%v.%s is neither a field of %v nor listed", pair.theirs, name, pair.ours)
			}
		}
	}
}

func jsonNames(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}
