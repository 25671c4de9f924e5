package explain

import (
	"fmt"
	"slices"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobgroup"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// gangFindings report a Job whose workload or pod group does not exist yet (J44). As long as the
// controller cannot write these objects, it creates and counts no pod, and writes no status.
func (l *look) gangFindings() []Finding {
	switch {
	case l.isFinished(), l.isElsewhere(), l.job.IsManifest, len(l.pods) > 0:
		return nil
	}

	made := lastEvent(l.events, "WorkloadCreated")
	since := func(e, last *read.Event) bool { return e != nil && (last == nil || e.Last.After(last.Last)) }

	if e := lastEvent(l.events, "FailedWorkloadCreate"); since(e, made) && l.now.Sub(e.Last) < recently {
		text := fmt.Sprintf("the API server refuses the workload of the Job, reported %s, last %s: %s; there is no "+
			"pod before it", times(e.Count), l.at(e.Last), told(e.Message))
		return []Finding{finding(Error, "WorkloadRefused", text,
			when("the API does not exist", inspect("look whether the server has it: the controller has the gate "+
				"WorkloadWithJob, and the server needs scheduling.k8s.io/v1beta1 with GenericWorkload",
				"kubectl api-resources --api-group=scheduling.k8s.io")),
			when("the controller may not create it", inspect("ask what it may do; its role needs workloads and "+
				"podgroups", "kubectl auth can-i create workloads.scheduling.k8s.io -n "+l.job.Namespace+
				" --as=system:serviceaccount:kube-system:job-controller")))}
	}

	if e := lastEvent(l.events, "PodGroupCreated"); since(made, e) && l.now.Sub(made.Last) > slack {
		text := fmt.Sprintf("the workload of the Job was created %s, its pod group was not, and there is no pod "+
			"before it; no event says why", l.at(made.Last))
		return []Finding{inferred(finding(Error, "PodGroupMissing", text,
			inspect("look for another pod group that has its name, and for quotas and webhooks",
				kubectl(l.job.Namespace, "get", "podgroups.scheduling.k8s.io,resourcequotas")),
			inspect("read the log of the controller, which retries each minute",
				"kubectl -n kube-system logs -l component=kube-controller-manager --tail=200")))}
	}
	return nil
}

// gangSize returns the number of pods that a new Job with this spec starts together (J45), or 0 if
// the pods are no gang.
func gangSize(j job.Job, now time.Time) int64 {
	j.Status, j.DeletionTimestamp = job.Status{}, time.Time{}
	plan, err := job.Reconcile(job.Snapshot{Job: j, Now: now, Options: job.Options{Gangs: true}})
	if err != nil {
		return 0
	}
	for _, g := range plan.Groups {
		if g.Kind == jobgroup.KindPodGroup {
			return int64(g.MinCount)
		}
	}
	return 0
}

// lacksGang reports whether a pod waits for a gang that cannot become complete, because the Job
// wants fewer pods than the gang needs.
func (l *look) lacksGang(p *read.Pod) bool {
	return p.Spec.Group != "" && l.found.Wanted < l.gang
}

func (l *look) gangLack() string {
	text := fmt.Sprintf("cannot get a node: a scheduler places pods of the gang only while %d of them %s "+
		"(minCount), and the Job wants no more than %d", l.gang, verb(l.gang, "exists", "exist"), l.found.Wanted)
	if n := l.spec.Completions; n != nil && l.succeeded() > 0 {
		text += fmt.Sprintf(", since %d of %s done", l.succeeded(),
			count(int64(*n), "completion is", "completions are"))
	}
	return text
}

// gangRemedy returns the remedy that lets the remaining pods start.
func (l *look) gangRemedy() *Remedy {
	return l.set("lower minCount to the pods that are left", "spec.scheduling.schedulingPolicy.gang.minCount",
		max(l.found.Wanted, 1),
		"safe: pods that have a node keep it, and the controller gives their pod group the new size")
}

// remainderFindings report a gang that never fills, or whose last pods may be too few to start.
func (l *look) remainderFindings() []Finding {
	size, completions := l.gang, int64(value.Of(l.spec.Completions))
	parallelism := int64(value.Of(l.spec.Parallelism))
	isGrouped := func(p *read.Pod) bool { return p.Spec.Group != "" }
	isPlaced := func(p *read.Pod) bool { return p.Node != "" }
	isLeft := func(p *read.Pod) bool { return !isPlaced(p) && l.lacksGang(p) }
	switch {
	case l.isFinished(), !l.snapshot.Job.DeletionTimestamp.IsZero(), size < 2, completions == 0:
		return nil
	case !l.job.IsManifest && !slices.ContainsFunc(l.pods, isGrouped): // the gate may be off
		return nil
	case slices.ContainsFunc(l.pods, isLeft): // a finding about the pod reports it
		return nil
	case completions >= size && completions <= parallelism:
		return nil
	case completions < size && slices.ContainsFunc(l.pods, isPlaced): // these pods started as a smaller gang
		return nil
	}

	const minCount = "spec.scheduling.schedulingPolicy.gang.minCount"
	rule := fmt.Sprintf("a scheduler places pods of the gang only while %d of them %s (minCount), and", size,
		verb(size, "exists", "exist"))
	if l.job.IsManifest {
		rule = "where the gate WorkloadWithJob is on, " + rule
	}

	if completions < size {
		text := fmt.Sprintf("no pod gets a node: %s completions is %d", rule, completions)
		return []Finding{finding(Warning, "GangIncomplete", text,
			l.set("lower minCount", minCount, completions, "safe: no pod has a node yet"))}
	}

	text := fmt.Sprintf("the last pods may get no node: %s with completions %d above parallelism %d fewer may be left "+
		"once others have ended together", rule, completions, parallelism)
	if !l.job.IsManifest {
		return []Finding{finding(Warning, "GangRemainder", text,
			l.set("once the first pods have a node, let the later ones start alone", minCount, 1,
				"safe: pods that have a node keep it; pods that have none yet no longer start together"))}
	}

	var remedies []*Remedy
	isWhole := l.spec.Scheduling.SchedulingPolicy.Gang.MinCount == nil
	if isWhole && completions <= 2*parallelism { // all pods were to start together
		remedies = append(remedies, l.again(fmt.Sprintf("let all pods start together (parallelism: %d)", completions)))
	}
	remedies = append(remedies, l.set("let each pod start alone, as without a gang", minCount, 1, ""))
	return []Finding{finding(Warning, "GangRemainder", text, remedies...)}
}
