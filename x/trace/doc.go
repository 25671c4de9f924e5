// Package trace checks what a cluster did. It reads a log of the cluster's Jobs, Pods and CronJobs:
// the output of "kubectl get -w -o json", or an audit log. It reports every step that no Job or
// CronJob controller of the release could have taken, with its place in the log. The log may be of
// any controller that claims the semantics of Jobs.
//
//	kubectl get jobs -A -w -o json --output-watch-events > jobs.json &
//	kubectl get pods -A -w -o json --output-watch-events > pods.json &
//
// A program reads the two files:
//
//	summary, err := trace.Check(trace.Options{}, report,
//		trace.Log{Name: "jobs.json", Reader: jobs}, trace.Log{Name: "pods.json", Reader: pods})
//
// # What is checked
//
// The numbers are defined in docs/invariants.md and docs/rules.md.
//
//   - Each step of a job's status, by [jobstatus.CheckTransition] and [jobstatus.CheckServed].
//     Errors are counters that fall (JI4), pods that are counted without being listed, or twice
//     (JI1, JI2), conditions that are withdrawn, or come without the condition that announces them
//     (JI14, JI15), wrong times (JI17) or index lists (JI6), and changes after the end (JI16).
//   - The end that a status announces. The planner must decide the same end from the time and from
//     the successes, failures and indexes that this status counts (J22 to J26). Ends that a pod
//     decides (podFailurePolicy), and restarts of containers (OnFailure), are not judged.
//   - The pods that a status lists. Errors are pods that are listed as succeeded without having
//     succeeded, as failed while they run, counted while they have the finalizer, never recorded
//     (JI1, JI3), or unknown (JI22). The planner must list the pod in the same way, given one of
//     the versions of the pod that the controller can have seen (J7, J9, J10). If the failure of
//     the pod ends the job by the podFailurePolicy, the status must announce an end (J21).
//   - The number of active pods, which must not exceed the pods that no status has listed (J11).
//     A namespace that ends refuses creations, so there this number is not checked, if a log also
//     has the namespaces.
//   - Pods that are created beyond parallelism or completions (JI10), beside a pod that they
//     have to wait for (JI11), for an index that has an active pod (JI13), is done (JI7) or out of
//     range, while the job is suspended (JI18), after the end was announced (J27, J20) or reached
//     (JI16), beyond the backoffLimit, or before a backoff is over (JI21), in place of a pod that
//     ends the job by the podFailurePolicy (J21), or after the deletion of the job (J30).
//   - Jobs that a CronJob starts for a run that has a job already (CI1), outside of the schedule,
//     early, or under another name (CI2), too late (CI7), beside a job that Forbid or Replace
//     excludes (CI8), or while the CronJob is suspended (CI10).
//   - The history of a CronJob, whose oldest jobs are deleted first (CI11), and its status:
//     lastScheduleTime (CI4), lastSuccessfulTime (CI12) and active jobs (CI5).
//
// # What a log cannot show
//
// A controller acts on what its caches show, so an edit of a spec counts once the controller has
// written a status after it, or once the edit is ten seconds old. Nothing is known of the time
// before the log. So a job is judged from its creation, or from its second version in the log. The
// resourceVersion decides which of two events came first. Without it, objects of different kinds
// are not compared.
//
// A watch that restarts shows objects again. Versions may be missing before the restart, and
// nothing is concluded about an object until the watch shows it again. The same holds for the
// objects of a log that ends before the others, or that another log continues. So a file for each
// watch is best. Versions may be missing anywhere if a log has no event types
// (--output-watch-events), or if a write in an audit log does not name the version that it
// replaces. Then only what must hold between any two versions is checked. In an audit log, pods
// count as active only once writes of their statuses are logged. [Summary] counts what was not
// judged.
//
// Check concludes that a pod or a job does not exist only if the log shows the creation of its
// owner, and has surely shown all pods or jobs of the owner since then. That needs a watch that has
// not restarted.
//
// Some findings have an Unless: a fault that makes the step possible and that no log shows,
// such as a controller that has lost its memory by a restart.
//
// Check does not check that something happens at all, or in time; the order in which pods are
// deleted; or the time to live. If the Options do not name the controller of a job, only the job's
// statuses are checked.
//
// # Costs
//
// The log is read once, and the cost is linear. The memory holds the objects that exist, 16 bytes
// for each pod that an existing job has had and for each job of a CronJob, and, for each log, 512
// events that are being sorted.
//
// From v1 of the module on, this package may still change with each minor version.
package trace
