package trace

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/internal/jobrules"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/release"
)

// ending has the versions of a pod since its end or the beginning of its deletion. A controller
// that counts the pod has seen one of these versions.
type ending struct {
	versions []job.Pod
	// isVague is true if the log may lack some of these versions, or if there are too many.
	isVague bool
}

// maxEndings is how many versions are kept. A pod with more versions after its end is not judged.
const maxEndings = 8

// note notes a version of a pod.
func (g *ending) note(p *job.Pod) {
	isOver := p.Phase >= job.PodSucceeded || p.Deletion != nil
	switch {
	case !isOver || p.Untracked || g.isVague:
	case len(g.versions) == maxEndings:
		*g = ending{isVague: true}
	default:
		version := *p
		version.Owner = jobpod.Owned // the log shows that the job owns the pod
		g.versions = append(g.versions, version)
	}
}

// checkCounted asks the planner how a pod counts. The answer must be the same as in the status, for
// at least one version of the pod that the controller may have seen.
func (c *checker) checkCounted(s *jobState, e *event, before *job.Job, p *podState, as string) {
	// When a job fails, the controller deletes the running pods and counts them as failed. Such a pod
	// may end before it is deleted. If ends are not announced, no status shows that the job fails.
	isUnannounced := jobrules.EndsWithoutNotice(c.options.Release.Off()) && p.isDeleting
	endsPods := isUnannounced || isTrue(&s.job.Status, job.ConditionFailureTarget)
	// With these options, a pod may count for reasons that its versions do not show.
	o := &c.options.Jobs
	countsMore := o.PendingTimeout > 0 || o.TerminatingTimeout > 0 || o.MaxIgnoredFailures > 0
	isKnown := len(p.ending.versions) > 0 && !p.ending.isVague
	if !isKnown || endsPods || countsMore {
		return
	}

	isCounted := func(pod job.Pod) bool { return c.counts(before, pod, as) || c.counts(&s.job, pod, as) }
	if !slices.ContainsFunc(p.ending.versions, isCounted) {
		last := &p.ending.versions[len(p.ending.versions)-1]
		hasIndex := p.index >= 0 || before.Spec.CompletionMode != job.Indexed
		rule, why := "J10", "does not count so"
		switch {
		case as == "succeeded":
			rule = "J9"
		case last.Phase == job.PodSucceeded:
			rule, why = "JI1", "has succeeded"
		case last.Phase < job.PodSucceeded:
			rule, why = "J7", "counts only once it has ended"
		case hasIndex && before.Spec.PodFailurePolicy != nil:
			why = "the podFailurePolicy ignores its failure"
		}
		c.found(finding(e, rule, "", "pod %s is listed as %s, and %s", p.name, as, why))
		return
	}

	spares := func(pod job.Pod) bool { return !c.failsJob(before, pod) || !c.failsJob(&s.job, pod) }
	isEnding := announcedEnd(&s.job.Status).Type != ""
	if as == "failed" && !isEnding && !slices.ContainsFunc(p.ending.versions, spares) {
		c.found(finding(e, "J21", "", "pod %s is listed as failed, its failure ends the job by the podFailurePolicy, "+
			"and the status has no FailureTarget", p.name))
	}
}

// counts reports whether the planner lists a pod as succeeded or as failed. While a job goes on, a
// failed pod may have to wait for its replacement before it is counted (J17). So counts plans a
// round in which the job is about to end. The job ends with success, since a failure would also
// count pods that have not finished (J37).
func (c *checker) counts(j *job.Job, pod job.Pod, as string) bool {
	var status job.Status
	status.Conditions = []job.Condition{{Type: job.ConditionSuccessCriteriaMet, Status: job.ConditionTrue}}
	plan, ok := c.plan(j, status, pod)
	if !ok {
		return true
	}
	recording := plan.Record(job.Writes{})
	lists := value.Of(recording.Status.UncountedTerminatedPods)
	if as == "succeeded" {
		return slices.Contains(lists.Succeeded, pod.UID)
	}
	return slices.Contains(lists.Failed, pod.UID)
}

// failsJob reports whether the planner ends the job by its podFailurePolicy because of a pod.
func (c *checker) failsJob(j *job.Job, pod job.Pod) bool {
	if j.Spec.PodFailurePolicy == nil {
		return false
	}
	plan, ok := c.plan(j, job.Status{}, pod)
	return ok && plan.Verdict.Reason == "PodFailurePolicy"
}

// plan plans a round of a job with the given status and one pod. It raises completions if the index
// of the pod is out of range. It returns false if the planner refuses the job.
func (c *checker) plan(j *job.Job, status job.Status, pod job.Pod) (plan job.Plan, ok bool) {
	probe := *j
	probe.Status, probe.DeletionTimestamp = status, time.Time{}
	probe.Status.StartTime = j.CreationTimestamp
	probe.Spec.ManagedBy = nil // each manager decides the same
	probe.Spec.Suspend, probe.Spec.ActiveDeadlineSeconds = nil, nil
	if i := pod.Index.Int32(); j.Spec.CompletionMode == job.Indexed && i >= value.Of(j.Spec.Completions) {
		n := i + 1
		probe.Spec.Completions = &n // completions may have been greater before
	}

	plan, err := job.Reconcile(job.Snapshot{
		Job:        probe,
		Pods:       []job.Pod{pod},
		Now:        j.CreationTimestamp,
		Consistent: true,
		Options:    c.planner(),
	})
	return plan, err == nil
}

// planner returns the options of the planner. They are those of the newest release, except for the
// features that are off in the release of the log. Older releases announce less, but make the same
// decisions.
func (c *checker) planner() job.Options {
	options, newest := c.options.Jobs, job.Kubernetes(release.Newest())
	options.Quirks, options.Without, options.Gangs = newest.Quirks, newest.Without, newest.Gangs
	options.ControllerName, options.NoSuccessCriteriaMet = "", false
	for _, feature := range [...]release.Gate{
		release.JobSuccessPolicy, release.JobBackoffLimitPerIndex, release.JobPodReplacementPolicy,
	} {
		if !c.options.Release.Has(feature) {
			options.Without = options.Without.With(feature)
		}
	}
	return options
}

// doom is a failed pod that ends its job by the podFailurePolicy.
type doom struct {
	uid  job.UID
	name string
	// active is how many pods were active before it failed.
	active int
}

// noteDoom notes whether the newest version of a pod ends the job. A controller that has not seen
// this version still counts the pods that were active before.
func (c *checker) noteDoom(s *jobState, p *podState, pod *job.Pod, active int) {
	hasPolicy := s.judged && s.known && s.job.Spec.PodFailurePolicy != nil
	isOther := s.doom.uid != "" && s.doom.uid != p.uid
	if !hasPolicy || isOther || p.phase != job.PodFailed {
		return
	}

	version := *pod
	version.Owner, version.Untracked = jobpod.Owned, false
	isGone := !p.tracked && !p.isRecorded // the controller may not have seen the failure
	switch fails := !isGone && c.failsJob(&s.job, version); {
	case !fails:
		s.doom = doom{}
	case s.doom.uid == "" && !p.ending.isVague:
		s.doom = doom{p.uid, p.name, active}
	}
}
