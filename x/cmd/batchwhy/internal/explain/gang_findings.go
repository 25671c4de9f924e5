package explain

import (
	"fmt"

	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// gangFindings report a Job whose pods wait for their workload or pod group (J44). As long as the
// controller cannot write these, it creates and counts no pod, and writes no status.
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
