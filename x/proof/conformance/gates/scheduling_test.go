//go:build !before137

package gates

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install" // conversions and defaults
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/features"
	jobregistry "k8s.io/kubernetes/pkg/registry/batch/job"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobadmit"
	"github.com/batchplan/batchplan/job/release"
)

// TestJ46_Scheduling gives each spec to the API server's code and to ours, with the gates on and
// off: as a new job, and as an update of every other spec. Both sides must drop the field
// scheduling in the same cases, and refuse it in the same cases.
func TestJ46_Scheduling(t *testing.T) {
	const gang = `"schedulingPolicy":{"gang":{%s}}`
	schedulings := []string{
		``, `{}`, `{"schedulingPolicy":{}}`, `{"schedulingPolicy":{"basic":{}}}`, `{"schedulingPolicy":{"basic":{},"gang":{}}}`,
		`{"schedulingPolicy":{"basic":{},"gang":{"minCount":2}}}`, `{"disruptionMode":{}}`, `{"disruptionMode":{"single":{}}}`, `{"disruptionMode":{"all":{}}}`,
		`{"schedulingPolicy":{"basic":{}},"disruptionMode":{"all":{}}}`, `{"schedulingPolicy":{"basic":{}},"disruptionMode":{"single":{}}}`,
		`{` + fmt.Sprintf(gang, ``) + `,"disruptionMode":{"all":{}}}`, `{` + fmt.Sprintf(gang, ``) + `,"disruptionMode":{"all":{},"single":{}}}`,
		`{` + fmt.Sprintf(gang, `"minCount":2`) + `,"disruptionMode":{"single":{}}}`,
		`{` + fmt.Sprintf(gang, ``) + `,"schedulingConstraints":{"topology":[{"key":"example.com/rack"}]}}`,
		`{` + fmt.Sprintf(gang, ``) + `,"schedulingConstraints":{"topology":[{"key":"example.com/zone"}]}}`,
	}

	for _, size := range []string{``, `"minCount":-1`, `"minCount":0`, `"minCount":1`, `"minCount":2`, `"minCount":3`} {
		schedulings = append(schedulings, `{`+fmt.Sprintf(gang, size)+`}`)
	}

	var specs []string
	for _, s := range schedulings {
		for _, parallelism := range []int{0, 1, 2} {
			scheduling := ""
			if s != "" {
				scheduling = `"scheduling":` + s + `,`
			}
			specs = append(specs, fmt.Sprintf(`{%s"parallelism":%d,"completions":3,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"i"}]}}}`, scheduling, parallelism))
		}
	}

	for _, on := range []bool{false, true} {
		t.Run(fmt.Sprintf("gate %t", on), func(t *testing.T) {
			featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{
				features.GenericWorkload: on, features.WorkloadWithJob: on,
			})

			r := gated(t, on)
			refusals := 0
			for _, next := range specs {
				theirs, ours := theirVerdict(t, "", next), ourVerdict(t, "", next, r)
				if theirs != ours {
					t.Errorf("%s is created: theirs %s, ours %s", next, theirs, ours)
				}
				for _, old := range specs {
					if ourVerdict(t, "", old, gated(t, true)) == "refused" {
						continue // no server has stored it
					}
					theirs, ours := theirVerdict(t, old, next), ourVerdict(t, old, next, r)
					if theirs != ours {
						t.Errorf("%s becomes %s: theirs %s, ours %s", old, next, theirs, ours)
					}
					if theirs == "refused" {
						refusals++
					}
				}
			}

			if refusals == 0 {
				t.Error("no update is refused")
			}
		})
	}
}

// gated returns the release with the gate on or off.
func gated(t *testing.T, on bool) release.Release {
	t.Helper()
	r, err := release.V137().With(release.WorkloadWithJob, on)
	must.OK(t, err)
	return r
}

// theirVerdict returns what the API server's code does with a spec: it refuses the spec, keeps the
// field, or drops it.
func theirVerdict(t *testing.T, old, next string) string {
	t.Helper()
	decode := func(spec string) *batch.Job {
		manifest := fmt.Sprintf(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","namespace":"default","uid":"u","resourceVersion":"1"},"spec":%s}`, spec)
		obj, err := runtime.Decode(legacyscheme.Codecs.UniversalDecoder(), []byte(manifest))
		must.OK(t, err)
		return obj.(*batch.Job)
	}
	ctx := genericrequest.WithRequestInfo(context.Background(), &genericrequest.RequestInfo{APIGroup: "batch", APIVersion: "v1", Resource: "jobs"})
	is := decode(next)
	if old == "" {
		jobregistry.Strategy.PrepareForCreate(ctx, is)
		return verdict(refuses(rest.ValidateCreate(ctx, is, jobregistry.Strategy)), is.Spec.Scheduling != nil)
	}
	was := decode(old)
	jobregistry.Strategy.PrepareForUpdate(ctx, is, was)
	return verdict(refuses(rest.ValidateUpdate(ctx, is, was, jobregistry.Strategy)), is.Spec.Scheduling != nil)
}

// refuses reports whether one of the problems is about the field.
func refuses(found field.ErrorList) bool {
	return slices.ContainsFunc(found, func(e *field.Error) bool { return strings.HasPrefix(e.Field, "spec.scheduling") })
}

func ourVerdict(t *testing.T, old, next string, r release.Release) string {
	t.Helper()
	decode := func(text string) (spec job.Spec) {
		must.OK(t, json.Unmarshal([]byte(text), &spec))
		job.Default(&spec)
		return spec
	}
	is := decode(next)
	if old == "" {
		jobadmit.DropDisabled(nil, &is, r)
		return verdict(job.Validate(is) != nil, is.Scheduling != nil)
	}
	was := decode(old)
	err := jobadmit.ValidateUpdate(&job.Job{Spec: was}, is, r)
	jobadmit.DropDisabled(&was, &is, r)
	return verdict(err != nil, is.Scheduling != nil)
}

func verdict(refused, kept bool) string {
	switch {
	case refused:
		return "refused"
	case kept:
		return "kept"
	}
	return "none"
}
