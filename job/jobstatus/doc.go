// Package jobstatus is for programs that write the status of a Job and do not plan it: mirrors,
// which copy or join the statuses of jobs that run elsewhere, controllers of jobs with
// spec.managedBy (KEP-4368), services without an API server, and tests.
//
// [Announce], [Finish], [Suspend] and [Resume] return the status after a step, and [Aggregate] the
// status of a job that runs as several jobs. Each of these functions takes a release of Kubernetes,
// and an API server of that release accepts the status. [CheckServed] reports what an API server
// refuses, and [CheckTransition] also checks that the counts are true, which no server does.
//
// All functions are pure, like those of package job.
package jobstatus
