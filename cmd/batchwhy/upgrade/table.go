package upgrade

import (
	"slices"
	"strings"

	"github.com/batchplan/batchplan/cmd/batchwhy/read"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/release"
)

// difference is a row of docs/releases.md: what changes with a release, in words for those
// who go up and for those who go back.
type difference struct {
	since    release.Release
	up, down string
	rule     string
	// see is as in [Change].
	see string
}

// cluster are the differences that no single object shows.
var cluster = [...]difference{
	{since: release.V132, rule: "J3", see: "KEP-4368",
		up:   "API servers check statuses strictly: controllers that write them themselves are refused what 1.31 took, such as Failed without FailureTarget, or Complete without SuccessCriteriaMet, startTime or completionTime (job.CheckServed says what a release refuses; kueue#4027, karmada#7844)",
		down: "API servers take most statuses unchecked"},
	{since: release.V132, rule: "J36", see: "kubernetes#127228",
		up:   "the finalizer of a pod whose job has ended or is gone is removed once: if that fails, it stays until the pod changes; the controllers of batchplan try again",
		down: "finalizers of pods whose job has ended or is gone are removed again until that succeeds"},
	{since: release.V132, rule: "J29", see: "kubernetes#124952",
		up:   "restarts of sidecars rank pods for deletion, after those of the other containers",
		down: "restarts of sidecars do not rank pods for deletion"},
	{since: release.V132, rule: "J38", see: "KEP-4368",
		up:   "the end of a suspended job that never started is refused, again and again, since it has no startTime; the planners of batchplan start and end such a job in one round",
		down: "a suspended job that never started can end without a startTime"},
	{since: release.V134, rule: "J6", see: "kubernetes#132305, kubernetes#134654",
		up:   "a pod is looked up by kind, name and UID of its controller: one whose reference has only the Job's UID right is not counted",
		down: "a pod is looked up by the UID of its controller alone"},
	{since: release.V134, rule: "E5", see: "kubernetes#130333",
		up:   "a job whose end is written and not seen yet is left alone",
		down: "a job whose end is written and not seen yet is planned again, and may get a pod more"},
	{since: release.V136, rule: "E6", see: "KEP-5647",
		up:   "rounds wait until the caches show the controller's own writes (StaleControllerConsistencyJob); the metric stale_sync_skips_total counts the rounds that wait",
		down: "rounds do not wait for the caches to show the controller's own writes"},
	{since: release.V136, see: "KEP-5440",
		up:   "the scheduling directives and resources in the template of a suspended job may change even after it has run",
		down: "in the template of a suspended job, scheduling directives may change only before it has run, and resources never"},
}

func clusterChanges(from, to release.Release) []Change {
	changes := []Change{}
	for _, d := range cluster {
		switch {
		case from.IsBefore(d.since) && !to.IsBefore(d.since):
			changes = append(changes, Change{What: sentence("From " + d.since.String() + " on, " + d.up), Rule: d.rule, See: d.see})
		case to.IsBefore(d.since) && !from.IsBefore(d.since):
			changes = append(changes, Change{What: sentence("Before " + d.since.String() + ", " + d.down), Rule: d.rule, See: d.see})
		}
	}
	return changes
}

func sentence(text string) string { return text + "." }

// ofItsJobs begins what changes for the Jobs of a CronJob.
const ofItsJobs = "Of its Jobs: "

// cronJobChanges are about the CronJob itself, and about the Jobs that it makes.
func cronJobChanges(c *read.CronJob, from, to release.Release) (changes []Change) {
	older, newer := from, to
	if to.IsBefore(from) {
		older, newer = to, from
	}
	comes := func(r release.Release) bool { return older.IsBefore(r) && !newer.IsBefore(r) }
	if comes(release.V135) && isPanicking(c.Object.Spec.Schedule) {
		changes = append(changes, Change{Rule: "S1", See: "kubernetes#134526",
			What: "The schedule makes the parser panic: before 1.35 the controller stops, from 1.35 on it reports UnparseableSchedule."})
	}
	if comes(release.V137) {
		changes = append(changes, Change{Rule: "C3", See: "kubernetes#136920",
			What: "A job whose creation was not recorded is found in 1.37, as read in its changes; before, it was reported as unexpected again and again."})
	}
	if c.Jobs == nil {
		return changes
	}
	if comes(release.V134) && hasBareCondition(c.Jobs) {
		changes = append(changes, Change{Rule: "J2", See: "kubernetes#131525",
			What: "A condition in spec.jobTemplate.spec.podFailurePolicy has no status: before 1.34 the API server refuses the CronJob, from 1.34 on it is True."})
	}
	changes = append(changes, fieldChanges("spec.jobTemplate.spec.", *c.Jobs, from, to)...)
	for _, change := range lives(*c.Jobs, from, to) {
		change.What = ofItsJobs + change.What
		changes = append(changes, change)
	}
	return changes
}

// hasBareCondition reports whether a rule asks for a condition and does not say its status.
func hasBareCondition(s *job.Spec) bool {
	return s.PodFailurePolicy != nil && slices.ContainsFunc(s.PodFailurePolicy.Rules, func(r job.PodFailurePolicyRule) bool {
		return slices.ContainsFunc(r.OnPodConditions, func(c job.PodCondition) bool { return c.Status == "" })
	})
}

// isPanicking reports whether a schedule names a zone without a blank after it.
func isPanicking(schedule string) bool {
	for _, prefix := range [...]string{"TZ=", "CRON_TZ="} {
		if strings.HasPrefix(schedule, prefix) && !strings.Contains(schedule, " ") {
			return true
		}
	}
	return false
}
