// Package jobstatus is for programs that write the status of a Job and do not plan it: mirrors,
// which copy or join the statuses of jobs that run elsewhere, controllers of jobs with
// spec.managedBy (KEP-4368), services without an API server, and tests.
//
// [Announce], [Finish], [Suspend] and [Resume] return the status after a step, and [Aggregate]
// the one of a job that runs as several. A server of the release serves each of them.
// [CheckServed] says what an API server of a release refuses, and [CheckTransition] also keeps
// the counts true, which no server checks.
//
// All functions are pure, as those of package job.
package jobstatus
