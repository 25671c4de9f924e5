package job_test

import (
	"fmt"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

// The options of a release have its quirks, and the gates that are off in it.
func ExampleKubernetes() {
	r, err := release.Parse("1.33,JobPodReplacementPolicy=false")
	if err != nil {
		fmt.Println(err)
		return
	}
	options := job.Kubernetes(r)
	fmt.Println(options.Without.Has(release.JobPodReplacementPolicy))

	_, err = release.Parse("1.34,JobPodReplacementPolicy=false")
	fmt.Println(err)
	// Output:
	// true
	// gate "JobPodReplacementPolicy" of Kubernetes 1.34 is locked to true: can be switched: JobManagedBy
}
