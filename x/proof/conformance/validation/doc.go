// Package validation compares what the library refuses with what the API server of
// Kubernetes refuses: specs of jobs and CronJobs when they are created, and statuses of
// jobs when they are updated. The API server's side is its own registry code.
//
// Both get the same random manifests. Messages are not compared, only the verdict and the fields
// that it names. Each field that one side refuses must be refused by the other, except for the
// rules that an API server does not have. TestJudge compares the findings of batchwhy about
// manifests with the same code.
package validation
