package jobgen

import (
	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/specgen"
	"github.com/batchplan/batchplan/job"
)

func ptr[T any](v T) *T { return &v }

// SpecOf returns the spec in a JSON text.
func SpecOf(text string) job.Spec {
	const head = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","uid":"u"},"spec":`
	j, err := job.DecodeJob([]byte(head + text + `}`))
	if err != nil {
		panic(err)
	}
	return j.Spec
}

// Specs generates specs that [job.Validate] accepts, with their defaults, of jobs with few
// pods. Only fields that decide something vary. A pod failure policy distinguishes exit code 42 and
// disruptions from other failures.
func Specs() *rapid.Generator[job.Spec] { return rapid.Custom(drawSpec) }

func drawSpec(t *rapid.T) job.Spec {
	s := specgen.Decode[job.Spec](specgen.Generator{Source: specgen.Rapid(t)}.Job())
	job.Default(&s)
	if err := job.Validate(s); err != nil {
		t.Fatalf("the generator made an invalid spec: %v", err)
	}
	return s
}
