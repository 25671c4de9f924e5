package jobadmit_test

import (
	"fmt"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobadmit"
	"github.com/batchplan/batchplan/job/release"
)

// The example shows how a server treats a new job and a change of it.
func Example() {
	name, two, three := "example.com/controller", int32(2), int32(3)
	spec := job.Spec{ManagedBy: &name, Completions: &two, Template: job.Template{RestartPolicy: job.RestartNever}}
	fmt.Println("dropped:", jobadmit.DropDisabled(nil, &spec, release.V131()))
	job.Default(&spec)

	next := spec
	next.Parallelism = &two
	fmt.Println(jobadmit.ValidateUpdate(&job.Job{Spec: spec}, next, release.V131()))
	next.Completions = &three
	fmt.Println(jobadmit.ValidateUpdate(&job.Job{Spec: spec}, next, release.V131()))

	was, is := []byte(`{"spec":{"nodeSelector":{"zone":"a"}}}`), []byte(`{"spec":{"nodeSelector":{"zone":"b"}}}`)
	fmt.Println(jobadmit.ValidateTemplateUpdate(&job.Job{Spec: spec}, was, is, release.V131()))
	// Output:
	// dropped: [managedBy]
	// <nil>
	// spec.completions: "3": must not change from 2
	// spec.template.spec.nodeSelector.zone: "changed": must not change, since the job is not suspended
}
