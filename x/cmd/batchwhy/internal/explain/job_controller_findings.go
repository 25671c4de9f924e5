package explain

import (
	"fmt"
	"strings"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobreason"
)

// heldFindings report that a user, a queue or another controller holds the Job back.
func (l *look) heldFindings() (all []Finding) {
	ns, name := l.job.Namespace, l.job.Name
	switch {
	case l.isElsewhere() && !l.isFinished():
		by := l.waits(jobreason.WaitManagedBy).Name
		show := inspect("ask the controller that has this name: its logs and the events of the Job say what it does",
			kubectl(ns, "describe", "job", name))
		if contains(by, "multikueue") {
			show = inspect("look at the Job's workload: it says which worker cluster runs it, or why none does",
				kubectl(ns, "describe", "workloads.kueue.x-k8s.io"))
		}
		severity, text := Note, fmt.Sprintf("spec.managedBy is %q: the controllers of this cluster create no pod for "+
			"the Job and end it never", by)
		isTouched := !l.status.StartTime.IsZero() || len(l.status.Conditions) > 0 || l.isSuspended()
		if age := l.now.Sub(l.created()); !isTouched && age > pendingLong && !l.job.IsManifest {
			severity, text = Warning, text+"; nobody has started it in "+span(age)
		}
		return oneFinding(severity, "ManagedElsewhere", text, show,
			when("that is not meant", withRisk(l.again("leave out managedBy, which cannot be changed"),
				"what the other controller has begun is ended, and its logs go with the pods")))
	case l.isFinished() || !l.snapshot.Job.DeletionTimestamp.IsZero():
		return nil
	case l.isSuspended() && l.isQueued():
		all = append(all, l.queueFinding())
	case l.isSuspended():
		since := l.heldSince()
		risk := "safe: its pods are created, and the time for activeDeadlineSeconds begins then"
		if l.spec.ActiveDeadlineSeconds != nil {
			risk = fmt.Sprintf("safe: its pods are created, and the deadline of %d s (activeDeadlineSeconds) "+
				"counts from then", *l.spec.ActiveDeadlineSeconds)
		}

		owner := "whoever has suspended it may suspend it again; ask first"
		if o := l.job.Controller(); o.Kind != "" && o.Kind != "CronJob" {
			owner = fmt.Sprintf("%s %s, which has created the Job, may suspend it again", o.Kind, o.Name)
		}

		resume := does("resume it", risk+". But "+owner, patch(ns, "job", name, "spec.suspend", false))
		if o := l.job.Controller(); o.Kind == "CronJob" {
			resume = does(fmt.Sprintf("resume it, and set suspend to false in spec.jobTemplate.spec of CronJob %s "+
				"if all its Jobs begin so", o.Name), risk, patch(ns, "job", name, "spec.suspend", false))
		}
		text := fmt.Sprintf("spec.suspend is true for %s, and no pod starts until it is false", l.since(since))
		if l.succeeded() > 0 {
			text += fmt.Sprintf("; what is done stays so (%s), and pods that the suspension ended do not count as "+
				"failed", l.successes())
		}
		for _, key := range sortedKeys(l.job.Annotations) {
			if contains(key, "pause", "suspend") {
				text += fmt.Sprintf("; its annotation %s is %q", key, brief(l.job.Annotations[key]))
			}
		}
		all = append(all, finding(Note, "Suspended", text, resume))
	case l.waits(jobreason.WaitParallelism) != nil:
		all = append(all, finding(Warning, "ParallelismZero",
			"parallelism is 0: the controller creates no pod, and nothing else will happen",
			l.set("allow pods", "spec.parallelism", 1,
				"safe: pods are created immediately, as many as parallelism says")))
	}
	return all
}

// checkFinding reports that Kueue has reserved quota for the Job and waits for admission checks.
func (l *look) checkFinding() Finding {
	var checks []string
	severity, isRejected := Note, false
	for _, c := range l.workload.Checks {
		checks = append(checks, fmt.Sprintf("%s (%s%s)", c.Name, c.State, after(": ", told(c.Message))))
		if c.State != "Pending" {
			severity = Warning
		}
		isRejected = isRejected || c.State == "Rejected"
	}
	if isRejected {
		return finding(Error, "QueueWaits", fmt.Sprintf("Kueue has reserved quota for the Job since %s, and does not "+
			"start it: an admission check has rejected it: %s", l.clock(l.workload.Reserved), list(checks)),
			inspect("correct what the check reports; Kueue deactivates a workload that is rejected: look whether its "+
				"spec.active is false, and set it to true then", kubectl(l.job.Namespace, "describe", "workload",
				l.workload.Name)))
	}
	return finding(severity, "QueueWaits", fmt.Sprintf("Kueue has reserved quota for the Job since %s, and starts it "+
		"when its admission checks are ready: %s", l.clock(l.workload.Reserved), list(checks)),
		inspect("wait: Kueue sets spec.suspend to false itself, and sets it back if somebody else does; its workload "+
			"shows how far the check is", kubectl(l.job.Namespace, "describe", "workload", l.workload.Name)))
}

// queueFinding reports that Kueue has not admitted the Job.
func (l *look) queueFinding() Finding {
	ns, workload := l.job.Namespace, l.workload.Name
	if !l.workload.Reserved.IsZero() && len(l.workload.Checks) > 0 {
		return l.checkFinding()
	}
	why := l.workload.Why
	for _, e := range l.events {
		if _, name, ok := strings.Cut(e.Message, "Created Workload: "); ok && workload == "" {
			_, workload, _ = strings.Cut(strings.TrimSpace(name), "/")
		}
	}

	for _, reason := range []string{"Stopped", "Preempted", "EvictedDueToPodsReadyTimeout", "Pending",
		"ErrWorkloadCompose", "InvalidQueue"} {
		if e := lastEvent(l.events, reason); e != nil && why == "" {
			why = fmt.Sprintf("%s: %s", l.at(e.Last), brief(e.Message))
		}
	}

	since := l.heldSince()
	text := fmt.Sprintf(
		"Kueue holds the Job back for %s (spec.suspend is true), until LocalQueue %s has quota for it",
		l.since(since), orUnknown(l.queue()))
	if why != "" {
		text += "; " + told(why)
	}

	if contains(why, "doesn't exist", "does not exist", "not found", "inactive") {
		text = fmt.Sprintf("Kueue holds the Job back for %s (spec.suspend is true), and will do so until its queue "+
			"can admit it: %s", l.since(since), told(why))
	}

	describe := []string{"describe", "workloads.kueue.x-k8s.io"}
	if workload != "" {
		describe = []string{"describe", "workload", workload}
	}

	if contains(why, "localqueue") && contains(why, "doesn't exist", "does not exist", "not found") {
		queue := "NAME"
		there := namesOf(l.e.othersIn("LocalQueue", ns))
		if len(there) > 0 {
			text += "; the namespace has " + list(there)
		}
		if len(there) == 1 {
			queue = there[0]
		}
		return finding(Error, "QueueWaits", text,
			when("its name is misspelled", remedy("name one that exists: the label of a suspended Job can be changed",
				kubectl(ns, "get", "localqueues")+" && "+kubectl(ns, "label", "job", l.job.Name, "--overwrite",
					"kueue.x-k8s.io/queue-name="+queue),
				"safe: nothing of the Job runs yet")),
			when("it was forgotten", remedy("create it, in this namespace",
				kubectl(ns, "apply", "-f", "localqueue.yaml"),
				"safe: Kueue then admits what waits for it as far as the ClusterQueue has quota")))
	}

	if f, ok := l.tooLarge(why); ok {
		return f
	}
	return finding(Warning, "QueueWaits", text,
		inspect("read why it is not admitted, in the conditions of its workload", kubectl(ns, describe...)),
		inspect("look whether the queue exists, is active, and how much of its quota is taken: a localqueue names "+
			"its clusterqueue", kubectl(ns, "get", "localqueue", l.queue())+" && kubectl get clusterqueue"),
		when("you want it to start anyway", remedy("do not set spec.suspend to false, which Kueue sets back; raise "+
			"the quota or the Job's priority",
			kubectl(ns, "get", "localqueue", l.queue(), "-o", "yaml"), readsOnly)))
}

// tooLarge reports that a queue can never admit the Job, since it asks for more than each flavor has at most.
func (l *look) tooLarge(why string) (f Finding, ok bool) {
	const capacity = ") > maximum capacity ("
	if n := strings.Count(why, capacity); n == 0 || n != strings.Count(why, " flavor ") {
		return f, false
	}
	_, rest, _ := strings.Cut(why, "quota for ")
	resource, rest, _ := strings.Cut(rest, " in flavor ")
	flavor, rest, _ := strings.Cut(rest, ",")
	_, rest, _ = strings.Cut(rest, "request (")
	asks, rest, _ := strings.Cut(rest, capacity)
	most, _, ok := strings.Cut(rest, ")")

	ns, cluster := l.job.Namespace, "its ClusterQueue"
	show := kubectl(ns, "get", "localqueue", l.queue(), "-o", "yaml")
	if local := l.e.other("LocalQueue", ns, l.queue()); local != nil && str(local.Fields, "spec.clusterQueue") != "" {
		name := str(local.Fields, "spec.clusterQueue")
		cluster, show = "ClusterQueue "+name, kubectl("", "edit", "clusterqueue", name)
	}
	f = finding(Error, "QueueWaits", fmt.Sprintf("Kueue holds the Job back for %s (spec.suspend is true), and never "+
		"admits it, however long it waits: it asks for %s of %s, and flavor %s has %s at most; %s",
		l.since(l.heldSince()), asks, resource, flavor, most, told(why)),
		l.again(fmt.Sprintf("ask for no more than %s of %s in all, with fewer pods (parallelism) or smaller requests",
			most, resource)),
		when("the hardware is there", remedy(fmt.Sprintf("raise nominalQuota of %s in %s, or let it "+
			"borrow from a cohort: Kueue then starts the Job by itself", resource, cluster), show,
			"needs the rights of an administrator; other Jobs of the queue may use the quota as well")),
		inspect("do not set spec.suspend to false: Kueue sets it back",
			kubectl(ns, "describe", "workloads.kueue.x-k8s.io")))
	return f, ok
}

// behindFindings report that the controller is late with work that it should do immediately.
func (l *look) behindFindings() []Finding {
	late := l.now.Sub(l.changed)
	switch {
	case l.changed.IsZero(), late < slack, l.job.IsManifest, l.isElsewhere(), !l.podsRead:
		return nil
	case !l.closing.IsZero(), !l.snapshot.Job.DeletionTimestamp.IsZero():
		return nil
	case refusal(l.events, l.now) != nil, len(l.gangFindings()) > 0:
		return nil
	}

	// A controller is late only with work that was due a while ago. A retry whose backoff has just
	// passed, for example, is not late.
	earlier := l.snapshot
	earlier.Now = l.now.Add(-slack)
	before, err := job.Reconcile(earlier)
	if err != nil {
		return nil
	}

	var what []string
	if n := min(len(l.plan.Create), len(before.Create)); n > 0 {
		what = append(what, "create "+count(int64(n), "pod"))
	}
	if n := min(len(l.plan.Delete), len(before.Delete)); n > 0 {
		what = append(what, "delete "+count(int64(n), "pod"))
	}
	if ended := l.toAccount(); len(ended) > 0 && !l.isFinished() {
		what = append(what, fmt.Sprintf("account for %s (%s, with the finalizer %s)",
			count(int64(len(ended)), "ended pod"), list(ended), job.Finalizer))
	}

	if len(what) == 0 {
		return nil
	}

	text := fmt.Sprintf("nothing has changed for %s, although the controller should %s immediately", span(late),
		list(what))
	if len(l.toAccount()) > 0 && !l.isFinished() {
		text += "; do not remove the finalizer by hand: what such a pod has done would not be counted, " +
			"and be done again"
	}

	remedies := controllerRemedies(l.job.Namespace, "job", l.job.Name)
	for i := range l.pods {
		e := latestWarning(l.podEvents[i])
		isRefusal := e != nil && e.Last.After(l.found.Pods[i].FinishTime) &&
			contains(e.Reason+" "+e.Message, "policyviolation", "admission webhook", "validatingadmissionpolicy")
		if !isRefusal || l.found.Pods[i].FinishTime.IsZero() {
			continue
		}

		text += fmt.Sprintf("; pod %s may have been refused a change, %s %s: %s", l.pods[i].Name, e.Reason,
			l.at(e.Last), told(e.Message))
		policy := when("the policy refuses the controller's change", inspect(
			"let the policy look at new pods only (CREATE), or leave out the Job controller "+
				"(system:serviceaccount:kube-system:job-controller): the Job then goes on by itself, and nothing is "+
				"done again", "kubectl get validatingwebhookconfigurations,validatingadmissionpolicies"))
		return oneFinding(Error, "ControllerBehind", text, append([]*Remedy{policy}, remedies...)...)
	}
	return []Finding{inferred(finding(Error, "ControllerBehind", text, remedies...))}
}

// toAccount returns the names of the ended pods that the next round would count.
func (l *look) toAccount() (names []string) {
	for _, u := range l.plan.Untrack {
		if u.Ended && !u.OnEnd {
			names = append(names, u.Name)
		}
	}
	return names
}
