package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/cmd/batchwhy/read"
	"github.com/batchplan/batchplan/job"
)

// findings are everything that is wrong with the Job, or will hurt, the worst first.
func (l *look) findings(troubles []*podTrouble) []Finding {
	return worstFirst(slices.Concat(
		l.failedFinding(), l.deletionFindings(), l.namespaceFindings(), l.refusedFindings(),
		l.unsaid(l.groupTroubles(troubles)), l.heldFindings(), l.adoptionFindings(), l.behindFindings(), l.activeFailures(), l.deadlineFindings(),
		l.specFindings(), l.widthFindings(), l.expiryFindings(), l.counterFindings(), l.keptFindings()))
}

// unsaid leaves out what the finding about the deletion of the Job says.
func (l *look) unsaid(all []Finding) []Finding {
	if len(l.deletionFindings()) == 0 || !slices.Contains(l.job.Finalizers, "foregroundDeletion") {
		return all
	}
	return slices.DeleteFunc(all, func(f Finding) bool { return f.Code == "FinalizerLeftBehind" || f.Code == "PodTerminating" })
}

// activeFailures are the findings about failed pods of a Job that goes on. A Job that
// has failed names them in its own finding.
func (l *look) activeFailures() []Finding {
	if l.status.Finished() == job.ConditionFailed || l.fails() {
		return l.unhandledFindings()
	}
	if l.plan.Verdict.Type == job.ConditionSuccessCriteriaMet {
		return nil
	}
	return slices.Concat(l.failureFindings(), l.goneFindings(), l.failedIndexFindings(), l.unhandledFindings())
}

// failedIndexFindings report that indexes have failed for good while others go on, so that the
// Job fails at its end. The finding about failed pods that still exist does not say so.
func (l *look) failedIndexFindings() []Finding {
	failed := l.found.FailedIndexes
	if failed.Len() == 0 || l.isElsewhere() || !l.isIndexed() || l.spec.MaxFailedIndexes != nil {
		return nil
	}
	n := int64(failed.Len())
	return []Finding{finding(Warning, "IndexesFailed", fmt.Sprintf("%s failed for good (%s), as often as backoffLimitPerIndex %d allows: the others go on, and the Job fails with FailedIndexes at its end",
		count(n, "index", "indexes"), failed, *l.spec.BackoffLimitPerIndex),
		when("the others are of no use without it", l.again("set maxFailedIndexes: 0, so that the Job ends at the first index that fails")),
		when("failed indexes are acceptable", l.again("say which must succeed in successPolicy: without one, any failed index fails the Job")),
		inspect("look which pods of these indexes are left, and read their logs", kubectl(l.job.Namespace, "get", "pods", "-l", "batch.kubernetes.io/job-name="+l.job.Name, "-L", "batch.kubernetes.io/job-completion-index")))}
}

// specFindings report what the API server would refuse, and limits that do nothing.
func (l *look) specFindings() (all []Finding) {
	all = unknownFindings(l.job.Unknown)
	edit := l.again("correct the field")
	if err := job.Validate(*l.spec); err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			all = append(all, finding(Error, "InvalidSpec", "an API server refuses the spec: "+line, edit))
		}
	}
	if l.isFinished() {
		return all
	}
	for _, text := range l.unreachable() {
		all = append(all, finding(Warning, "LimitUnreachable", text, l.again("decide which of the limits should end the Job, and lower that one")))
	}
	if text, limit := sharedRestarts(l.spec); text != "" {
		all = append(all, finding(Note, "RestartsShared", text,
			when("each container should have that many", remedy("raise backoffLimit", patch(l.job.Namespace, "job", l.job.Name, "spec.backoffLimit", limit),
				"safe at any time before the Job has failed; a container that fails alone is also restarted as often")),
			when("pods should be replaced as a whole", l.again("set restartPolicy: Never: then backoffLimit counts failed pods"))))
	}
	return all
}

// sharedRestarts says that containers share the restarts that backoffLimit allows with
// restartPolicy OnFailure, and returns the limit that allows each of them as many. The text is
// empty if nothing shares them.
func sharedRestarts(s *job.Spec) (text string, enough int64) {
	limit, containers, pods := int64(*s.BackoffLimit), int64(len(s.Template.Containers)), int64(*s.Parallelism)
	if s.Completions != nil {
		pods = min(pods, int64(*s.Completions))
	}
	all := containers * pods
	if s.Template.RestartPolicy != job.RestartOnFailure || all < 2 || limit < 2 || limit == math.MaxInt32 {
		return "", 0
	}
	return fmt.Sprintf("with restartPolicy OnFailure, backoffLimit %d counts the restarts of all containers of all active pods together (%s with %s): if they fail equally often, the Job fails when each has had %s",
		limit, count(pods, "pod"), count(containers, "container"), atMost(limit, all)), min(limit*all, math.MaxInt32)
}

// atMost is how many restarts each of n containers has when they reach a limit together.
func atMost(limit, n int64) string {
	each := (limit + n - 1) / n
	if limit%n == 0 {
		return count(each, "restart")
	}
	return "at most " + count(each, "restart")
}

// unknownFindings report fields of a manifest that do not exist.
func unknownFindings(unknown []read.Unknown) (all []Finding) {
	for _, u := range unknown {
		name, near := u.Path[strings.LastIndexByte(u.Path, '.')+1:], ""
		least := max(1, len(name)/3) + 1
		for _, n := range u.Names {
			if d := distance(strings.ToLower(name), strings.ToLower(n)); d < least {
				near, least = n, d
			}
		}
		fix, meant := "remove the field, or move it to where it belongs", ""
		if near != "" {
			fix, meant = fmt.Sprintf("write %s instead of %s", near, name), fmt.Sprintf(" (did you mean %s?)", near)
		}
		all = append(all, finding(Error, "UnknownField", fmt.Sprintf("%s: no such field%s: kubectl refuses the manifest, and without its validation the field is dropped and the default counts", u.Path, meant),
			remedy(fix+" in the manifest, and let the server check it before it is applied", "kubectl apply --dry-run=server -f FILE", readsOnly)))
	}
	return all
}

// unreachable are failure limits that other limits overtake.
func (l *look) unreachable() (all []string) {
	s := l.spec
	completions := int64(math.MaxInt32)
	if s.Completions != nil {
		completions = int64(*s.Completions)
	}
	if most := s.MaxFailedIndexes; most != nil && int64(*most) >= completions {
		all = append(all, fmt.Sprintf("maxFailedIndexes is %d and there are only %s: the Job never fails early", *most, count(completions, "index", "indexes")))
	}
	limit := int64(*s.BackoffLimit)
	if s.BackoffLimitPerIndex != nil {
		most := completions * (int64(*s.BackoffLimitPerIndex) + 1)
		if limit != math.MaxInt32 && limit >= most {
			all = append(all, fmt.Sprintf("backoffLimit is %d, and %s with backoffLimitPerIndex %d fail at most %s: the limit is never passed",
				limit, count(completions, "index", "indexes"), *s.BackoffLimitPerIndex, count(most, "time")))
		}
		return all
	}
	if d := s.ActiveDeadlineSeconds; d != nil && *d < math.MaxInt64/int64(time.Second) && limit > 0 {
		deadline := time.Duration(*d) * time.Second
		if totalBackoff(limit, deadline) >= deadline {
			all = append(all, fmt.Sprintf("the backoffs between the failures that backoffLimit %d allows are longer than activeDeadlineSeconds, %d: if pods fail in a row, the deadline ends the Job before its retries are used up", limit, *d))
		}
	}
	return all
}

// totalBackoff is how long a job waits that fails again and again, up to a limit.
func totalBackoff(failures int64, most time.Duration) (sum time.Duration) {
	for n := int64(1); n <= failures && sum < most; n++ {
		sum += backoff.Policy{}.Delay(int(min(n, math.MaxInt32)))
	}
	return sum
}

// unhandledFindings report exit codes that no rule of the podFailurePolicy matches.
func (l *look) unhandledFindings() []Finding {
	if l.spec.PodFailurePolicy == nil {
		return nil
	}
	var ends tally
	for i, found := range l.found.Pods {
		if found.Failed && found.Rule < 0 && l.snapshot.Pods[i].Phase == job.PodFailed {
			ends.add(l.endOf(i))
		}
	}
	if len(ends.order) == 0 {
		return nil
	}
	return []Finding{finding(Note, "UnhandledFailure", fmt.Sprintf("no rule of the podFailurePolicy matches pods that ended with %s: each of them counts as a failure", ends.list()),
		when("that is not meant", l.again("add a rule for them to podFailurePolicy")))}
}

// deletionFindings report a Job that should be gone.
func (l *look) deletionFindings() []Finding {
	since := l.snapshot.Job.DeletionTimestamp
	if since.IsZero() || l.now.Sub(since) < time.Minute {
		return nil
	}
	ns, name := l.job.Namespace, l.job.Name
	foreground := slices.Contains(l.job.Finalizers, "foregroundDeletion")
	others := slices.DeleteFunc(slices.Clone(l.job.Finalizers), func(f string) bool { return f == "foregroundDeletion" || f == "orphan" })
	text := fmt.Sprintf("the Job is being deleted for %s and still exists", l.since(since))
	var remedies []Remedy
	if foreground {
		var held []string
		for i, p := range l.pods {
			switch {
			case l.snapshot.Pods[i].Owner == job.Foreign:
			case len(p.Finalizers) > 0:
				held = append(held, p.Name+" (finalizer "+list(p.Finalizers)+")")
				remedies = append(remedies, finalizerRemedies(ns, p.Name, list(p.Finalizers), p.Finalizers)...)
			default:
				held = append(held, p.Name)
				remedies = append(remedies, l.terminatingRemedies(i)...)
			}
		}
		text += ": it was deleted in the foreground (finalizer foregroundDeletion) and waits until its pods are gone"
		if len(held) > 0 {
			text += "; " + list(held) + verb(int64(len(held)), " is", " are") + " still there"
		}
		if len(held) > 2 {
			remedies = remedies[:min(len(remedies), 3)]
		}
		if len(held) == 0 {
			remedies = append(remedies, inspect("look for pods that it still waits for", kubectl(ns, "get", "pods", "-l", "batch.kubernetes.io/job-name="+name)))
		}
	}
	if slices.Contains(l.job.Finalizers, "orphan") {
		text += ": it was deleted without its pods (--cascade=orphan, finalizer orphan), and the garbage collector, a part of the kube-controller-manager, has not let go of them"
		remedies = append(remedies, controllerRemedies(ns, "job", name)[0],
			when("it runs", inspect("read its log: the garbage collector waits while an API service or a conversion webhook does not answer; this lists those that are not available",
				"kubectl get apiservices | grep -v True")),
			when("you cannot wait", remedy("take the owner off the Job's pods, and then the finalizer off the Job, by hand: "+
				"pods whose owner is gone are deleted", kubectl(ns, "get", "pods", "-l", "batch.kubernetes.io/job-name="+name, "-o", "name"), "the command changes nothing; with the steps in the other order the pods are lost")))
	}
	if len(others) > 0 {
		text += fmt.Sprintf("; its finalizer %s keeps it until whoever has set it is done", list(others))
		remedies = append(remedies, when("whoever has set it still runs", inspect("find out why it does not remove "+list(others)+": its logs say", kubectl(ns, "get", "job", name, "-o", "yaml"))), when("it is gone", remedy("remove the finalizer by hand", kubectl(ns, "patch", "job", name, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`),
			"safe if nobody waits for it any more; what the finalizer should have cleaned up stays")))
	}
	if len(remedies) == 0 {
		remedies = controllerRemedies(ns, "job", name)
	}
	return []Finding{finding(Error, "DeletionHangs", text, remedies...)}
}

func (l *look) namespaceFindings() []Finding {
	if l.closing.IsZero() || l.isFinished() {
		return nil
	}
	return []Finding{finding(Error, "NamespaceEnds", fmt.Sprintf("namespace %s is being deleted since %s: the API server refuses new pods", l.job.Namespace, l.clock(l.closing)),
		remedy("create the Job in another namespace: what is in this one will be deleted", kubectl("OTHER", "apply", "-f", "job.yaml"), "safe; nothing here can be saved but logs, as long as the pods exist"),
		when("the namespace should be gone by now", inspect("look what still holds it: its status names the finalizers and kinds", kubectl("", "get", "namespace", l.job.Namespace, "-o", "yaml"))))}
}

// recently is how long a refused write counts as the present state.
const recently = 15 * time.Minute

// refusedFindings are about writes that the API server has refused.
func (l *look) refusedFindings() (all []Finding) {
	if e := refusal(l.events, l.now); e != nil && !l.isFinished() && l.closing.IsZero() {
		text := fmt.Sprintf("the API server refuses new pods, reported %s, last %s: %s", times(e.Count), l.at(e.Last), told(e.Message))
		all = append(all, finding(Error, "FailedCreate", text, l.refusalRemedies(e.Message)...))
	}
	if e := lastEvent(l.events, "FailedDelete"); e != nil && l.now.Sub(e.Last) < recently {
		all = append(all, finding(Error, "FailedDelete", fmt.Sprintf("the controller reported %s, last %s: %s", times(e.Count), l.at(e.Last), brief(e.Message)),
			inspect("look at the pods and their finalizers; the controller retries by itself", kubectl(l.job.Namespace, "get", "pods", "-l", "batch.kubernetes.io/job-name="+l.job.Name, "-o", "wide"))))
	}
	if e := lastEvent(l.events, "TooManySucceededPods"); e != nil {
		all = append(all, finding(Warning, e.Reason, fmt.Sprintf("the controller reported %s: %s", l.at(e.Last), brief(e.Message)),
			inspect("look for pods with the Job's labels that others have created", kubectl(l.job.Namespace, "get", "pods", "-l", "batch.kubernetes.io/job-name="+l.job.Name, "--show-labels"))))
	}
	return all
}

// widthFindings say why the pods of a Job run one after another.
func (l *look) widthFindings() []Finding {
	left := l.remaining()
	if l.spec.Parallelism == nil || *l.spec.Parallelism != 1 || left < 2 || l.found.Active != 1 || l.isFinished() || l.isElsewhere() || l.isSuspended() || l.job.IsManifest {
		return nil
	}
	width := min(left, 10)
	return []Finding{finding(Note, "OneAtATime", fmt.Sprintf("%d completions are left and 1 pod runs at a time: parallelism is 1, which is the default", left),
		when("they may run side by side", remedy("raise parallelism", patch(l.job.Namespace, "job", l.job.Name, "spec.parallelism", width),
			fmt.Sprintf("up to %d pods run concurrently from then on, if the cluster has room and nothing that they share objects", width))))}
}

// remaining is how many completions are left, or 0 for a work queue.
func (l *look) remaining() int64 {
	if l.spec.Completions == nil {
		return 0
	}
	return int64(*l.spec.Completions) - l.found.Succeeded
}

// refusalRemedies say what to do about a pod that the API server refuses.
func (l *look) refusalRemedies(message string) []Remedy {
	ns := l.job.Namespace
	const retries = "; the controller retries by itself, at most a minute apart"
	hook := quoted(message, "webhook")
	switch {
	case contains(message, "failed calling webhook", "failed to call webhook"):
		return []Remedy{
			inspect(fmt.Sprintf("webhook %s does not answer: bring the pods of its service back%s", hook, retries), "kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations && kubectl get pods -A -o wide"),
			when("it is not needed any more", remedy("delete its configuration", "kubectl delete mutatingwebhookconfiguration NAME", "from then on nothing is checked or injected by it, in all namespaces that it covers")),
		}
	case contains(message, "denied the request", "denied by", "admission webhook", "validatingadmissionpolicy"):
		return []Remedy{l.again(fmt.Sprintf("change the pod template as the policy of webhook %s demands", orUnknown(hook))),
			when("the policy is wrong", inspect("look at the policy, or ask its owner for an exception"+retries, "kubectl get validatingwebhookconfigurations,validatingadmissionpolicies"))}
	case contains(message, "exceeded quota"):
		room := []Remedy{
			inspect("make room: wait for pods to end, or end what is not needed; pods that have ended count only against count/pods"+retries, kubectl(ns, "get", "resourcequota")+" && "+kubectl(ns, "get", "pods", "--field-selector=status.phase!=Succeeded,status.phase!=Failed")),
			when("the quota is too small", remedy("raise it", kubectl(ns, "edit", "resourcequota"), "needs the rights of an administrator; the cluster must have the capacity")),
		}
		if contains(message, "cpu=", "memory=", "storage=", "gpu=") {
			room = append(room, when("the pods ask for more than they need", l.again("lower resources.requests")))
		}
		return room
	case contains(message, "must specify limits", "must specify requests", "failed quota"):
		return []Remedy{l.again("set the resources (requests and limits) that the message names on each container"),
			when("all pods of the namespace should have them", remedy("create a LimitRange, whose defaults are set on pods that name none"+retries, kubectl(ns, "apply", "-f", "limitrange.yaml"), "safe for pods that exist; new ones get the defaults"))}
	case contains(message, "security context constraint"):
		return []Remedy{l.again("take out of securityContext and volumes what no constraint allows, such as a fixed runAsUser: OpenShift then chooses a user"),
			when("the pods need it", remedy("let their service account use a constraint that allows it"+retries, "oc adm policy add-scc-to-user anyuid -z "+quote(l.serviceAccount())+" -n "+quote(ns), "every pod of that service account may then do it; needs the rights of an administrator"))}
	case contains(message, "service account", "serviceaccount"):
		return []Remedy{when("it was forgotten", remedy("create it"+retries, kubectl(ns, "create", "serviceaccount", l.serviceAccount()), "safe: it has no rights until it is given some")),
			when("the name is misspelled", l.again("correct serviceAccountName"))}
	case contains(message, "podsecurity"):
		return []Remedy{l.again("set the securityContext fields that the message names"),
			when("these pods must be privileged", remedy("lower the level of the namespace"+retries, kubectl("", "label", "namespace", ns, "--overwrite", "pod-security.kubernetes.io/enforce=baseline"), "every pod of the namespace may then do more: a decision about security"))}
	case contains(message, "maximum", "minimum", "limitrange"):
		return []Remedy{l.again("keep the container's resources within the LimitRange of the namespace"), when("the LimitRange is too narrow", remedy("widen it"+retries, kubectl(ns, "edit", "limitrange"), "needs the rights of an administrator"))}
	case contains(message, "priorityclass", "priority class"):
		return []Remedy{l.again("correct priorityClassName"), inspect("look which classes there are", "kubectl get priorityclasses")}
	case contains(message, "cannot create resource"):
		return []Remedy{remedy("give the controller its rights back"+retries, "kubectl get clusterrolebinding system:controller:job-controller -o yaml", "a cluster without them runs no Job at all")}
	case contains(message, "is invalid"):
		return []Remedy{l.again("correct the field that the message names")}
	}
	return []Remedy{inspect("read the whole message"+retries, kubectl(ns, "describe", "job", l.job.Name)), l.again("change what the message complains about")}
}

func orUnknown(name string) string {
	if name == "" {
		return "(see the message)"
	}
	return name
}

// heldFindings are about a Job that its users, or a queue, hold back.
func (l *look) heldFindings() (all []Finding) {
	ns, name := l.job.Namespace, l.job.Name
	switch {
	case l.isElsewhere() && !l.isFinished():
		by := l.waits(job.WaitManagedBy).Name
		show := inspect("ask the controller that has this name: its logs and the events of the Job say what it does", kubectl(ns, "describe", "job", name))
		if contains(by, "multikueue") {
			show = inspect("look at the Job's workload: it says which worker cluster runs it, or why none does", kubectl(ns, "describe", "workloads.kueue.x-k8s.io"))
		}
		return []Finding{finding(Note, "ManagedElsewhere", fmt.Sprintf("spec.managedBy is %q: the controllers of this cluster create no pod for the Job and end it never", by), show,
			when("that is not meant", remedy("create the Job anew without managedBy, which cannot be changed", kubectl(ns, "delete", "job", name)+" && "+kubectl(ns, "apply", "-f", "job.yaml"), "what the other controller has begun is ended")))}
	case l.isFinished() || !l.snapshot.Job.DeletionTimestamp.IsZero():
		return nil
	case l.isSuspended() && (l.queue() != "" || l.workload.Name != ""):
		all = append(all, l.queueFinding())
	case l.isSuspended():
		since := l.created()
		if c := l.status.Condition(job.ConditionSuspended); c.Status == job.ConditionTrue {
			since = c.LastTransitionTime
		}
		risk := "safe: its pods are created, and the time for activeDeadlineSeconds begins then"
		if l.spec.ActiveDeadlineSeconds != nil {
			risk = fmt.Sprintf("safe: its pods are created, and the deadline of %d s (activeDeadlineSeconds) counts from then", *l.spec.ActiveDeadlineSeconds)
		}
		owner := "whoever has suspended it may suspend it again; ask first"
		if o := l.job.Controller(); o.Kind != "" && o.Kind != "CronJob" {
			owner = fmt.Sprintf("%s %s, which has created the Job, may suspend it again", o.Kind, o.Name)
		}
		resume := remedy("resume it", patch(ns, "job", name, "spec.suspend", false), risk+". But "+owner)
		if o := l.job.Controller(); o.Kind == "CronJob" {
			resume = remedy(fmt.Sprintf("resume it, and set suspend to false in spec.jobTemplate.spec of CronJob %s if all its Jobs begin so", o.Name), patch(ns, "job", name, "spec.suspend", false), risk)
		}
		all = append(all, finding(Note, "Suspended", fmt.Sprintf("spec.suspend is true for %s, and no pod starts until it is false", l.since(since)), resume))
	case l.waits(job.WaitParallelism) != nil:
		all = append(all, finding(Warning, "ParallelismZero", "parallelism is 0: the controller creates no pod, and nothing else will happen",
			remedy("allow pods", patch(ns, "job", name, "spec.parallelism", 1), "safe: pods are created immediately, as many as parallelism says")))
	}
	return all
}

// queueFinding is about a Job that Kueue has not admitted.
func (l *look) queueFinding() Finding {
	ns, workload := l.job.Namespace, l.workload.Name
	why := l.workload.Why
	for _, e := range l.events {
		if _, name, ok := strings.Cut(e.Message, "Created Workload: "); ok && workload == "" {
			_, workload, _ = strings.Cut(strings.TrimSpace(name), "/")
		}
	}
	for _, reason := range []string{"Stopped", "Preempted", "EvictedDueToPodsReadyTimeout", "Pending", "ErrWorkloadCompose", "InvalidQueue"} {
		if e := lastEvent(l.events, reason); e != nil && why == "" {
			why = fmt.Sprintf("%s: %s", l.at(e.Last), brief(e.Message))
		}
	}
	since := l.created()
	if c := l.status.Condition(job.ConditionSuspended); c.Status == job.ConditionTrue {
		since = c.LastTransitionTime
	}
	text := fmt.Sprintf("Kueue holds the Job back for %s (spec.suspend is true), until LocalQueue %s has quota for it", l.since(since), orUnknown(l.queue()))
	if why != "" {
		text += "; " + told(why)
	}
	if contains(why, "doesn't exist", "does not exist", "not found", "inactive") {
		text = fmt.Sprintf("Kueue holds the Job back for %s (spec.suspend is true), and will do so until its queue can admit it: %s", l.since(since), told(why))
	}
	describe := []string{"describe", "workloads.kueue.x-k8s.io"}
	if workload != "" {
		describe = []string{"describe", "workload", workload}
	}
	if contains(why, "localqueue") && contains(why, "doesn't exist", "does not exist", "not found") {
		return finding(Error, "QueueWaits", text,
			when("its name is misspelled", remedy("name one that exists: the label of a suspended Job can be changed", kubectl(ns, "get", "localqueues")+" && "+kubectl(ns, "label", "job", l.job.Name, "--overwrite", "kueue.x-k8s.io/queue-name=NAME"), "safe: nothing of the Job runs yet")),
			when("it was forgotten", remedy("create it, in this namespace", kubectl(ns, "apply", "-f", "localqueue.yaml"), "safe: Kueue then admits what waits for it as far as the ClusterQueue has quota")))
	}
	return finding(Warning, "QueueWaits", text,
		inspect("read why it is not admitted, in the conditions of its workload", kubectl(ns, describe...)),
		inspect("look whether the queue exists, is active, and how much of its quota is taken: a localqueue names its clusterqueue", kubectl(ns, "get", "localqueue", l.queue())+" && kubectl get clusterqueue"),
		when("you want it to start anyway", remedy("do not set spec.suspend to false, which Kueue sets back; raise the quota or the Job's priority, or take the queue-name label off a new copy of the Job", kubectl(ns, "get", "localqueue", l.queue(), "-o", "yaml"), readsOnly)))
}

// behindFindings report that the controller has not done for a while what it does immediately.
func (l *look) behindFindings() []Finding {
	late := l.now.Sub(l.changed)
	if l.changed.IsZero() || late < slack || l.job.IsManifest || l.isElsewhere() || !l.closing.IsZero() || !l.podsRead ||
		refusal(l.events, l.now) != nil || !l.snapshot.Job.DeletionTimestamp.IsZero() {
		return nil
	}
	var what []string
	if n := len(l.plan.Create); n > 0 {
		what = append(what, "create "+count(int64(n), "pod"))
	}
	if n := len(l.plan.Delete); n > 0 {
		what = append(what, "delete "+count(int64(n), "pod"))
	}
	if ended := l.toAccount(); len(ended) > 0 && !l.isFinished() {
		what = append(what, fmt.Sprintf("account for %s (%s, with the finalizer %s)", count(int64(len(ended)), "ended pod"), list(ended), job.Finalizer))
	}
	if len(what) == 0 {
		return nil
	}
	text := fmt.Sprintf("nothing has changed for %s, although the controller should %s immediately", span(late), list(what))
	if len(l.toAccount()) > 0 && !l.isFinished() {
		text += "; do not remove the finalizer by hand: what such a pod has done would not be counted, and be done again"
	}
	return []Finding{inferred(finding(Error, "ControllerBehind", text, controllerRemedies(l.job.Namespace, "job", l.job.Name)...))}
}

// toAccount names the ended pods that a round would account for.
func (l *look) toAccount() (names []string) {
	for _, u := range l.plan.Untrack {
		if u.Ended && !u.OnEnd {
			names = append(names, u.Name)
		}
	}
	return names
}

// adoptionFindings are about pods of nobody that the Job takes over.
func (l *look) adoptionFindings() []Finding {
	var names []string
	for i, p := range l.pods {
		if l.snapshot.Pods[i].Owner == job.Orphan {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 || l.isFinished() || l.isElsewhere() || !l.snapshot.Job.DeletionTimestamp.IsZero() {
		return nil
	}
	ns, name := l.job.Namespace, names[0]
	off := []string{"label", "pod", name}
	for _, key := range sortedKeys(l.snapshot.Job.Spec.Selector.MatchLabels) {
		off = append(off, key+"-")
	}
	labels := l.snapshot.Job.Spec.Selector.MatchLabels // generated ones have the UID of the Job
	if labels["batch.kubernetes.io/controller-uid"] == "" && labels["controller-uid"] == "" {
		return []Finding{finding(Error, "Adoption", fmt.Sprintf("manualSelector is true, and the selector of the Job matches %s, which another has made: the Job takes %s over, counts %s like its own, and deletes pods when there are more than parallelism %d",
			podsNamed(names), verb(int64(len(names)), "it", "them"), verb(int64(len(names)), "it", "them"), *l.spec.Parallelism),
			remedy("take the label off the pod before it is adopted: it would be deleted with the Job", kubectl(ns, off...), "the pod runs on; a Service that finds it by this label loses it"),
			l.again("then leave out manualSelector and selector, so that the Job gets labels that no other pod has"))}
	}
	return []Finding{finding(Note, "Adoption", fmt.Sprintf("%s without a controller %s the Job's labels: the Job takes %s over now, and counts %s like its own", podsNamed(names), verb(int64(len(names)), "has", "have"), verb(int64(len(names)), "it", "them"), verb(int64(len(names)), "it", "them")),
		when("that is not meant", remedy("take the Job's label off the pod before it is adopted", kubectl(ns, off...), "safe: the pod runs on, and the Job creates one of its own")))}
}

func podsNamed(names []string) string {
	return verb(int64(len(names)), "pod ", "pods ") + list(names)
}

// deadlineFindings report a deadline that the remaining work cannot meet, if the pods to come
// take as long as those that have succeeded.
func (l *look) deadlineFindings() []Finding {
	w := l.waits(job.WaitDeadline)
	if w == nil || l.spec.Completions == nil || l.spec.Parallelism == nil || *l.spec.Parallelism <= 0 || l.isSuspended() {
		return nil
	}
	left := l.remaining()
	mean := l.meanTime()
	if left <= 0 {
		return nil
	}
	width := min(int64(*l.spec.Parallelism), left)
	waves := (left + width - 1) / width
	needs := time.Duration(waves) * mean
	if l.found.Active > 0 { // the wave that runs has begun before
		needs -= min(mean, l.now.Sub(l.oldestRunning()))
	}
	ends := l.now.Add(needs)
	if !ends.After(w.Until) {
		return nil
	}
	ns, name := l.job.Namespace, l.job.Name
	enough := int64(ends.Sub(l.start())/time.Second)*5/4 + 1
	return []Finding{inferred(finding(Warning, "DeadlineNotMet",
		fmt.Sprintf("%s are left, %d at a time, and those done took %s on average: that is %s, until about %s, and the deadline passes %s",
			count(left, "completion"), width, span(mean), count(waves, "wave"), l.clock(ends), l.at(w.Until)),
		remedy("give it more time: activeDeadlineSeconds of a running Job can be changed", patch(ns, "job", name, "spec.activeDeadlineSeconds", enough), "safe at any time before the deadline; a hung pod may then run longer"),
		remedy("let more pods run at a time", patch(ns, "job", name, "spec.parallelism", 2*int64(*l.spec.Parallelism)), "safe if the nodes, and whatever the pods use, can take twice as many")))}
}

// meanTime is how long those that are done took, 0 if nothing tells. If their pods are gone, it
// is the time before those that run now, by the number of waves in it.
func (l *look) meanTime() time.Duration {
	var sum time.Duration
	n := int64(0)
	for i := range l.pods {
		if took := l.found.Pods[i].FinishTime.Sub(startOf(l.pods[i])); l.snapshot.Pods[i].Phase == job.PodSucceeded && took > 0 {
			sum, n = sum+took, n+1
		}
	}
	if n == 0 {
		width := min(int64(*l.spec.Parallelism), int64(*l.spec.Completions))
		sum, n = l.oldestRunning().Sub(l.start()), (l.found.Succeeded+width-1)/width
	}
	if n == 0 {
		return 0
	}
	return max(sum, 0) / time.Duration(n)
}

// oldestRunning is when the oldest active pod has started.
func (l *look) oldestRunning() time.Time {
	oldest := l.now
	for i, p := range l.pods {
		if s := startOf(p); l.snapshot.Pods[i].Phase == job.PodRunning && s.Before(oldest) {
			oldest = s
		}
	}
	return oldest
}

// expiryFindings report a finished Job that its TTL has not removed.
func (l *look) expiryFindings() []Finding {
	expired, at, err := job.Expire(l.snapshot.Job, l.snapshot.Options, l.now)
	ns, name := l.job.Namespace, l.job.Name
	switch {
	case err != nil:
		return []Finding{finding(Warning, "UnknownExpiry", "the TTL controller cannot tell when the Job expires: "+err.Error(),
			remedy("delete it by hand", kubectl(ns, "delete", "job", name), "also deletes its pods and their logs"))}
	case !expired || l.now.Sub(at) <= slack || !l.snapshot.Job.DeletionTimestamp.IsZero():
		return nil
	}
	text := fmt.Sprintf("the Job should have been deleted %s by its ttlSecondsAfterFinished of %d", l.at(at), *l.spec.TTLSecondsAfterFinished)
	if len(l.job.Finalizers) > 0 {
		text += "; its finalizers " + list(l.job.Finalizers) + " are not the reason: they keep an object only after its deletion has begun"
	}
	return []Finding{finding(Warning, "NotExpired", text, controllerRemedies(ns, "job", name)...)}
}

// counterFindings report a status that contradicts the pods.
func (l *look) counterFindings() (all []Finding) {
	read := inspect("read the status and the pods again, together", collect(l.job.Namespace))
	for _, n := range l.plan.Notes {
		all = append(all, finding(Warning, "Contradiction", fmt.Sprintf("%s %s: %s", strings.TrimPrefix(n.Field, "job."), n.Value, withoutRule(n.Message)), read))
	}
	if !l.podsRead {
		return append(all, finding(Note, "PodsNotRead", fmt.Sprintf("the input has no pods, although the status counts %d: what they do is not known, and what follows from it is left out", l.status.Active),
			inspect("collect the pods and events as well", collect(l.job.Namespace))))
	}
	if l.isFinished() || l.isElsewhere() || l.waits(job.WaitUnknownMode) != nil || l.now.Sub(l.changed) < slack {
		return all
	}
	compare := func(field string, status, pods int64) {
		if status != pods {
			all = append(all, inferred(finding(Warning, "CountersContradict", fmt.Sprintf("status.%s is %d, and %d of the pods that were read %s", field, status, pods, verb(pods, "is", "are")+" "+field), read)))
		}
	}
	if len(l.behindFindings()) == 0 && len(l.adoptionFindings()) == 0 { // which is why they contradict
		compare("active", int64(l.status.Active), l.found.Active)
	}
	if l.status.Ready != nil && int64(l.status.Active) == l.found.Active {
		compare("ready", int64(*l.status.Ready), l.found.Ready)
	}
	return all
}

// keptFindings say that nothing deletes a finished Job.
func (l *look) keptFindings() []Finding {
	if !l.isFinished() || l.spec.TTLSecondsAfterFinished != nil || len(l.job.Owners) > 0 || l.now.Sub(l.endTime()) < time.Hour || !l.snapshot.Job.DeletionTimestamp.IsZero() {
		return nil
	}
	ns, name := l.job.Namespace, l.job.Name
	return []Finding{finding(Note, "KeptForever", fmt.Sprintf("nothing deletes the Job and its %s, %s after its end: ttlSecondsAfterFinished is not set", count(int64(len(l.pods)), "pod"), l.since(l.endTime())),
		remedy("let it be deleted a day after its end, and set ttlSecondsAfterFinished in the manifests of Jobs to come", patch(ns, "job", name, "spec.ttlSecondsAfterFinished", 86400), "the Job is deleted as soon as that time has passed since its end, which may be now, with its pods and their logs"))}
}

// strayFindings are about pods whose Job is not in the input.
func (e *Explainer) strayFindings() (out []Finding) {
	if len(e.strays) == 0 || len(e.options.Names) > 0 {
		return nil
	}
	var held, others []*read.Pod
	for _, p := range e.strays {
		if !p.Object.Untracked && (p.Object.Phase >= job.PodSucceeded || p.Object.Deletion != nil) {
			held = append(held, p)
		} else {
			others = append(others, p)
		}
	}
	if n := int64(len(held)); n > 0 {
		p := held[0]
		age := ""
		if d := p.Object.Deletion; d != nil {
			age = fmt.Sprintf(", deleted for %s", e.since(d.Timestamp.Add(-time.Duration(d.GracePeriodSeconds)*time.Second)))
		}
		owner := cmp.Or(p.Controller().Name, p.Labels["batch.kubernetes.io/job-name"], p.Labels["job-name"], "NAME")
		whose := "Jobs that the input does not contain"
		look := inspect("look whether the Job is really gone: while it exists, the controller removes the finalizer when it has counted the pod", kubectl(p.Namespace, "get", "job", owner))
		if slices.ContainsFunc(e.objects.Jobs, func(j *read.Job) bool { return j != nil && j.Namespace == p.Namespace && j.Name == owner }) {
			whose = fmt.Sprintf("a deleted Job %s, whose name a newer one has,", owner)
			look = inspect("compare the UID of the Job with that in the pod's ownerReferences: they differ if the pod is of an earlier Job", kubectl(p.Namespace, "get", "job/"+owner, "pod/"+p.Name, "-o", "yaml"))
		}
		out = append(out, inferred(finding(Error, "FinalizerLeftBehind", fmt.Sprintf(
			"%s of %s %s ended or been deleted and still %s the finalizer %s, so %s cannot go: %s%s",
			count(n, "pod"), whose, verb(n, "has", "have"), verb(n, "carries", "carry"), job.Finalizer, verb(n, "it", "they"), list(keys(held)), age),
			look,
			when("the Job is gone", remedy("remove the finalizer by hand: the pod then goes", kubectl(p.Namespace, "patch", "pod", p.Name, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`),
				"safe if the Job does not exist: nothing counts the pod any more")),
			when("many pods hang so", inspect("look whether the kube-controller-manager runs: it removes the finalizers of pods whose Job is gone", kubectl("kube-system", "get", "lease", "kube-controller-manager", "-o", "jsonpath={.spec.renewTime}"))))))
	}
	if n := int64(len(others)); n > 0 && len(e.objects.Jobs) > 0 {
		out = append(out, inferred(finding(Warning, "JobMissing", fmt.Sprintf("%s %s to Jobs that the input does not contain: %s", count(n, "pod"), verb(n, "belongs", "belong"), list(keys(others))),
			inspect("collect the Jobs as well", collect(others[0].Namespace)))))
	}
	return out
}

func keys(pods []*read.Pod) (names []string) {
	for _, p := range pods {
		names = append(names, p.Key())
	}
	return names
}
