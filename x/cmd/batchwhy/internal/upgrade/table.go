package upgrade

import (
	"slices"
	"strings"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// difference is a row of docs/releases.md: what changes with a release.
type difference struct {
	since release.Release
	// also lists the patch releases that brought the change to older minor releases. until lists
	// the releases that take the change back.
	also     []release.Release
	until    []release.Release
	up, down string
	rule     string
	// see is as in [Change.See].
	see string
	// play plays a case in a release, and when describes the case. The releases differ if the
	// results are of different kinds. If play is nil, the fields since, also and until decide.
	play func(release.Release) string
	when string
	// concerns, if not nil, reports whether the row is about a CronJob.
	concerns func(*read.CronJob) bool
}

// cluster has the differences that do not depend on an object.
var cluster = [...]difference{
	{since: release.V132(), rule: "J3", see: "KEP-4368",
		play: writtenByHand, when: "a controller writes Failed without FailureTarget",
		up: "API servers check statuses strictly: controllers that write them themselves are refused what 1.31 " +
			"took, such as Failed without FailureTarget, or Complete without SuccessCriteriaMet, startTime or " +
			"completionTime (jobstatus.CheckServed says what a release refuses; kueue#4027, karmada#7844)",
		down: "API servers take most statuses unchecked"},
	{since: release.V132(), until: []release.Release{release.V136().At(5), release.V137().At(1)}, rule: "J36",
		see: "kubernetes#127228, kubernetes#141329",
		up: "The finalizer of a pod whose job has ended or is gone is removed once by 1.32 to 1.36.4 and by 1.37.0: " +
			"if that fails, it stays until the pod changes; older and newer releases try again, as the " +
			"controllers of batchplan do"},
	{since: release.V132(), rule: "J29", see: "kubernetes#124952",
		play: surplus, when: "one of two pods must go, and the sidecar of the older one has restarted",
		up:   "restarts of sidecars rank pods for deletion, after restarts of the other containers",
		down: "restarts of sidecars do not rank pods for deletion"},
	{since: release.V132(), rule: "J38", see: "KEP-4368",
		play: endNeverStarted, when: "a suspended job completes without startTime",
		up: "the end of a suspended job that never started is refused, again and again, since it has no " +
			"startTime; the planners of batchplan start and end such a job in one round",
		down: "a suspended job that never started can end without a startTime"},
	{since: release.V134(), rule: "J6", see: "kubernetes#132305, kubernetes#134654",
		up: "a pod is looked up by kind, name and UID of its controller: one whose reference has only the Job's " +
			"UID right is not counted",
		down: "a pod is looked up by the UID of its controller alone"},
	{since: release.V134(), rule: "E5", see: "kubernetes#130333",
		play: unseenEnd, when: "a job is complete, and the cache shows it as it was before",
		up:   "a job whose end is written and not seen yet is left alone",
		down: "a job whose end is written and not seen yet is planned again, and may get a pod more"},
	{since: release.V136(), rule: "E6", see: "KEP-5647",
		play: unseenStart, when: "the first status is written, and the cache does not show it",
		up: "rounds wait until the caches show the controller's own writes (StaleControllerConsistencyJob); the " +
			"metric stale_sync_skips_total counts the rounds that wait",
		down: "rounds do not wait for the caches to show the controller's own writes"},
	{since: release.V136(), see: "KEP-5440, kubernetes#139287",
		play: retemplated(hasRun, plainTemplate,
			movedTemplate), when: "a suspended job that has run gets another nodeSelector",
		up: "the scheduling directives in the template of a suspended job may change even after it has run; as " +
			"read, the first patches of 1.36 refuse that before the condition Suspended is set",
		down: "the scheduling directives in the template of a suspended job may change only before it has run"},
	{since: release.V136(), see: "KEP-5440",
		play: retemplated(job.Status{}, plainTemplate,
			biggerTemplate), when: "a suspended job that never ran gets other resources",
		up:   "the resources in the template of a suspended job may change, and so may the metadata of the template",
		down: "the resources in the template of a job never change"},
	{since: release.V136(), see: "KEP-5440, kueue#12609",
		play: retemplated(isAlive, plainTemplate,
			movedTemplate), when: "a suspended job without startTime gets another nodeSelector while a pod is active",
		up:   "nothing in the template of a suspended job changes while a pod is active, even if there is no startTime",
		down: "the scheduling directives of a suspended job without startTime may change, though pods are active"},
	{since: release.V137().At(2), see: "kubernetes#142247",
		up: "creations in flight are forgotten when a job is deleted, as those of batchplan always are",
		down: "creations in flight outlive a deleted job: one made again under its name may wait five minutes for " +
			"its first pods; that of batchplan does not"},
	{since: release.V137(), see: "KEP-5547",
		play: rescheduled, when: "spec.scheduling gets another policy",
		up: "servers know spec.scheduling: they drop it from a new job and let no stored one change; with the gate " +
			"WorkloadWithJob they keep it, and let schedulingPolicy.gang.minCount change",
		down: "servers do not know spec.scheduling"},
}

// ofCronJobs has the differences that concern a CronJob.
var ofCronJobs = [...]difference{
	{
		since:    release.V135(),
		rule:     "S1",
		see:      "kubernetes#134526",
		concerns: func(c *read.CronJob) bool { return isPanicking(c.Object.Spec.Schedule) },
		up: "The schedule makes the parser panic: before 1.35 the controller stops, from 1.35 on it reports " +
			"UnparseableSchedule",
	},
	{
		since:    release.V134(),
		rule:     "J2",
		see:      "kubernetes#131525",
		concerns: func(c *read.CronJob) bool { return c.Jobs != nil && hasBareCondition(c.Jobs) },
		up: "A condition in spec.jobTemplate.spec.podFailurePolicy has no status: before 1.34 the API server " +
			"refuses the CronJob, from 1.34 on it is True",
	},
	{
		since:    release.V137(),
		rule:     "C1",
		see:      "kubernetes#120181, kubernetes#133313",
		concerns: func(*read.CronJob) bool { return true },
		play:     sameName,
		when:     "a Job of another kind of the CronJob's name has ended, and the history limit is 0",
		up: "The jobs of a CronJob are those whose controller has its UID in 1.37; before, those of the namespace " +
			"whose controller has its name, whatever its kind and UID: they were reported, counted as its " +
			"successes, and deleted by its history limits",
	},
	{since: release.V137(), rule: "C3", see: "kubernetes#136920", concerns: func(*read.CronJob) bool { return true },
		play: unrecorded, when: "a job was created, and no status tells of it",
		up: "A job whose creation was not recorded is recorded in 1.37, after one event UnexpectedJob; before, " +
			"each round reports it and fails, up to 1000 s apart"},
	{since: release.V137(), rule: "C14", see: "kubernetes#136920", concerns: func(*read.CronJob) bool { return true },
		play: taken, when: "another's job has the name of a run",
		up: "If another's job has the name of a run, 1.37 plans no next round: no run starts until the CronJob or " +
			"one of its jobs changes; before, each round fails, up to 1000 s apart, and the next run may start " +
			"that late"},
}

func clusterChanges(from, to release.Release) []Change {
	changes := []Change{}
	for i := range cluster {
		if c, differs := cluster[i].between(from, to); differs {
			changes = append(changes, c)
		}
	}
	return changes
}

// between reports whether two releases differ, and how. If there is a case, it plays the case.
func (d *difference) between(from, to release.Release) (c Change, differs bool) {
	c = Change{Rule: d.rule, See: d.see, FoundBy: foundRead}
	before, is := !d.isIn(from), d.isIn(to)
	if d.play != nil {
		was, now, since := d.play(from), d.play(to), kindOf(d.play(d.since))
		before, is = kindOf(was) != since, kindOf(now) == since
		c.FoundBy, c.Shown = foundCase, &Parting{Once: d.when, Before: was, Behind: now}
	}
	switch {
	case before != is:
		return c, false
	case d.down == "":
		c.What = sentence(d.up)
	case is:
		c.What = sentence(d.begin("From ", " on, ", from, to) + d.up)
	default:
		c.What = sentence(d.begin("Before ", ", ", from, to) + d.down)
	}
	return c, true
}

func (d *difference) isIn(r release.Release) bool {
	return r.IsFrom(append(d.also, d.since)...) && !r.IsFrom(d.until...)
}

// begin names the release that brings the change. If the releases differ only by their feature
// gates, begin names the new release.
func (d *difference) begin(word, end string, from, to release.Release) string {
	if d.isIn(from) == d.isIn(to) {
		return "In " + to.String() + ", "
	}
	newer := from
	if d.isIn(to) {
		newer = to
	}
	for _, patch := range d.also {
		if patch.Minor() == newer.Minor() {
			return word + patch.String() + end
		}
	}
	return word + d.since.String() + end
}

// kindOf returns the result of a case, without the reason for it.
func kindOf(outcome string) string {
	kind, _, _ := strings.Cut(outcome, ":")
	return kind
}

func sentence(text string) string { return text + "." }

// ofItsJobs begins the sentence about a change for the Jobs of a CronJob.
const ofItsJobs = "Of its Jobs: "

// cronJobChanges returns the changes for a CronJob and for the Jobs that it creates.
func cronJobChanges(c *read.CronJob, from, to release.Release) (changes []Change) {
	for i := range ofCronJobs {
		d := &ofCronJobs[i]
		if !d.concerns(c) {
			continue
		}
		if change, differs := d.between(from, to); differs {
			changes = append(changes, change)
		}
	}
	if c.Jobs == nil {
		return changes
	}
	changes = append(changes, fieldChanges("spec.jobTemplate.spec.", *c.Jobs, from, to)...)
	for _, change := range lives(*c.Jobs, from, to) {
		change.What = ofItsJobs + change.What
		changes = append(changes, change)
	}
	return changes
}

// hasBareCondition reports whether a rule of the pod failure policy has a condition without a status.
func hasBareCondition(s *job.Spec) bool {
	return s.PodFailurePolicy != nil &&
		slices.ContainsFunc(s.PodFailurePolicy.Rules, func(r job.PodFailurePolicyRule) bool {
			return slices.ContainsFunc(r.OnPodConditions, func(c job.PodCondition) bool { return c.Status == "" })
		})
}

// isPanicking reports whether a schedule names a zone and has no space after it, on which
// robfig/cron panics.
func isPanicking(schedule string) bool {
	for _, prefix := range [...]string{"TZ=", "CRON_TZ="} {
		if strings.HasPrefix(schedule, prefix) && !strings.Contains(schedule, " ") {
			return true
		}
	}
	return false
}
