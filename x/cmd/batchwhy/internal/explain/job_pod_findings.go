package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// activeFailures returns the findings about failed pods of a Job that continues. If the Job has
// failed, the finding about the Job names the pods.
func (l *look) activeFailures() []Finding {
	if l.status.Finished() == job.ConditionFailed || l.fails() {
		return l.unhandledFindings()
	}
	if l.plan.Verdict.Type == job.ConditionSuccessCriteriaMet {
		return nil
	}
	return slices.Concat(l.failureFindings(), l.goneFindings(), l.failedIndexFindings(), l.indexFindings(),
		l.unhandledFindings())
}

// failedIndexFindings report that some indexes have failed for good while others continue. Such a
// Job will fail at its end, which failureFindings do not report.
func (l *look) failedIndexFindings() []Finding {
	failed := l.found.FailedIndexes
	switch {
	case failed.Len() == 0, l.isElsewhere(), !l.isIndexed(), l.spec.MaxFailedIndexes != nil:
		return nil
	}

	n := int64(failed.Len())
	text := fmt.Sprintf("%s failed for good (%s), as often as backoffLimitPerIndex %d allows: the others go on, and "+
		"the Job fails with FailedIndexes at its end",
		count(n, "index", "indexes"), failed, *l.spec.BackoffLimitPerIndex)
	return oneFinding(Warning, "IndexesFailed", text,
		inspect(fmt.Sprintf("let the others go on: what they do counts, and only %s %s must run again after it",
			verb(n, "index", "indexes"), failed), kubectl(l.job.Namespace, "get", "job", l.job.Name, "--watch")),
		when("the others are of no use without it", l.set("set maxFailedIndexes, so that the Job ends at the first "+
			"index that fails", "spec.maxFailedIndexes", 0, "safe as long as no index has failed")),
		when("failed indexes are acceptable",
			l.again("say which must succeed in successPolicy: without one, any failed index fails the Job")),
		inspect("look which pods of these indexes are left, and read their logs", kubectl(l.job.Namespace, "get",
			"pods", "-l", "batch.kubernetes.io/job-name="+l.job.Name, "-L",
			"batch.kubernetes.io/job-completion-index")))
}

// indexFindings report pods that count for another index than the one in their names and labels,
// because a user has edited the annotation (J13).
func (l *look) indexFindings() []Finding {
	if !l.isIndexed() {
		return nil
	}

	const most = 3 // annotations that one command sets back
	text, others, back := "", []string(nil), []*Act(nil)
	for i, p := range l.pods {
		index, label := l.snapshot.Pods[i].Index.Int32(), p.Labels[job.IndexLabel]
		was, err := strconv.ParseInt(label, 10, 32)
		isOurs := l.snapshot.Pods[i].Owner != jobpod.Foreign && strings.HasPrefix(p.Name, l.job.Name+"-"+label+"-")
		isCounted := l.snapshot.Pods[i].Phase == job.PodSucceeded && l.snapshot.Pods[i].Untracked
		isEdited := err == nil && int64(index) != was
		if !isOurs || isCounted || !isEdited {
			continue
		}

		if len(back) < most {
			back = append(back, merge(p.Namespace, "pod", p.Name,
				fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, job.IndexLabel, label)))
		}
		if text != "" {
			others = append(others, p.Name)
			continue
		}

		says, counts := "says otherwise", fmt.Sprintf("it counts for index %d", index)
		switch {
		case index < 0:
			says, counts = "has no index", "it counts for none"
		case l.spec.Completions != nil && index >= *l.spec.Completions:
			counts = fmt.Sprintf("index %d does not exist", index)
		}
		if slices.ContainsFunc(l.plan.Delete, func(d job.Deletion) bool { return d.UID == p.UID }) {
			counts += ", and the controller deletes it"
		}
		text = fmt.Sprintf("pod %s was created for index %d, and its annotation %s %s: %s",
			p.Name, was, job.IndexLabel, says, counts)
	}

	if text == "" {
		return nil
	}
	if n := int64(len(others)); n > 0 {
		text += fmt.Sprintf("; %s %s either", podsNamed(others),
			verb(n, "does not count for the index in its name", "do not count for the indexes in their names"))
	}
	return oneFinding(Warning, "IndexEdited", text, does("set the annotation back",
		"the pod counts for its own index again; what has been counted for another one stays", back...))
}

// deletionFindings report a Job that should be gone.
func (l *look) deletionFindings() []Finding {
	since := l.snapshot.Job.DeletionTimestamp
	if since.IsZero() || l.now.Sub(since) < time.Minute {
		return nil
	}

	ns, name := l.job.Namespace, l.job.Name
	foreground := slices.Contains(l.job.Finalizers, "foregroundDeletion")
	others := slices.DeleteFunc(slices.Clone(l.job.Finalizers),
		func(f string) bool { return f == "foregroundDeletion" || f == "orphan" })

	text := fmt.Sprintf("the Job is being deleted for %s and still exists", l.since(since))
	if !l.closing.IsZero() {
		text += fmt.Sprintf(", and namespace %s, which has been terminating since %s, waits for it: removing the "+
			"namespace's finalizer leaves the Job behind", ns, l.clock(l.closing))
	}
	var remedies []*Remedy

	if foreground {
		var held []string
		for i, p := range l.pods {
			switch {
			case l.snapshot.Pods[i].Owner == jobpod.Foreign:
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
			remedies = append(remedies, inspect("look for pods that it still waits for",
				kubectl(ns, "get", "pods", "-l", "batch.kubernetes.io/job-name="+name)))
		}
	}

	if slices.Contains(l.job.Finalizers, "orphan") {
		text += ": it was deleted without its pods (--cascade=orphan, finalizer orphan), and the garbage " +
			"collector, a part of the kube-controller-manager, has not let go of them"
		remedies = append(remedies, controllerRemedies(ns, "job", name)[0],
			when("it runs", inspect("read its log: the garbage collector waits while an API service or a "+
				"conversion webhook does not answer; this lists those that are not available",
				"kubectl get apiservices | grep -v True")),
			when("you cannot wait",
				remedy("take the owner off the Job's pods, and then the finalizer off the Job, by hand: "+
					"pods whose owner is gone are deleted",
					kubectl(ns, "get", "pods", "-l", "batch.kubernetes.io/job-name="+name, "-o", "name"),
					"the command changes nothing; with the steps in the other order the pods are lost")))
	}

	if len(others) > 0 {
		text += fmt.Sprintf("; its finalizer %s keeps it until whoever has set it is done", list(others))
		still, who := "whoever has set it still runs", inspect("find out from its logs why it does not remove "+
			list(others)+"; this shows what the Job says", kubectl(ns, "get", "job", name, "-o", "yaml"))
		gone := "it is gone"
		if k := keeperOf(&l.job.Meta); k.name == "Argo CD" && contains(others[0], "argocd.argoproj.io/") {
			still, gone = "application "+k.of+" still exists", "application "+k.of+" is gone, so that nobody removes it"
			who = inspect("let Argo CD end its sync or its deletion: it then removes "+others[0],
				kubectl("", "get", "applications.argoproj.io", "-A"))
		}
		remedies = append(remedies, when(still, who),
			when(gone, does("remove the finalizer by hand",
				"safe if nobody waits for it any more; what the finalizer should have cleaned up stays",
				merge(ns, "job", name, `{"metadata":{"finalizers":null}}`))))
	}

	if len(remedies) == 0 {
		remedies = controllerRemedies(ns, "job", name)
	}
	return oneFinding(Error, "DeletionHangs", text, remedies...)
}

// recently is how long a refused write counts as a problem that still exists.
const recently = 15 * time.Minute

// refusedFindings report writes that the API server has refused.
func (l *look) refusedFindings() (all []Finding) {
	if e := refusal(l.events, l.now); e != nil && !l.isFinished() && l.closing.IsZero() {
		text := fmt.Sprintf("the API server refuses new pods, reported %s, last %s: %s", times(e.Count),
			l.at(e.Last), told(e.Message))
		remedies := l.refusalRemedies(e.Message)
		if b, ok := l.e.backendOf(e.Message); ok {
			why, first := backendRemedies(b)
			text, remedies = text+why, append(first, remedies...)
		}
		text += l.quotaText(e.Message)
		all = append(all, finding(Error, "FailedCreate", text, remedies...))
	}

	all = append(all, l.quotaFindings()...)
	if e := lastEvent(l.events, "FailedDelete"); e != nil && l.now.Sub(e.Last) < recently {
		text := fmt.Sprintf("the controller reported %s, last %s: %s", times(e.Count), l.at(e.Last), brief(e.Message))
		all = append(all, finding(Error, "FailedDelete", text,
			inspect("look at the pods and their finalizers; the controller retries by itself", kubectl(l.job.Namespace,
				"get", "pods", "-l", "batch.kubernetes.io/job-name="+l.job.Name, "-o", "wide"))))
	}

	if e := lastEvent(l.events, "TooManySucceededPods"); e != nil {
		all = append(all,
			finding(Warning, e.Reason, fmt.Sprintf("the controller reported %s: %s", l.at(e.Last), brief(e.Message)),
				inspect("look for pods with the Job's labels that others have created", kubectl(l.job.Namespace, "get",
					"pods", "-l", "batch.kubernetes.io/job-name="+l.job.Name, "--show-labels"))))
	}
	return all
}

// quotaFindings report that a quota has refused pods for a while, and the Job goes on.
func (l *look) quotaFindings() []Finding {
	e := lastEvent(l.events, "FailedCreate")
	isQuota := e != nil && contains(e.Message, "exceeded quota") && !e.Last.Before(l.start())
	goesOn := !l.isFinished() && l.found.Active > 0
	if !isQuota || !goesOn || refusal(l.events, l.now) != nil {
		return nil
	}
	_, why, _ := strings.Cut(e.Message, "exceeded quota: ")
	text := fmt.Sprintf("a quota has let fewer pods run at a time than parallelism %d, reported %s, last %s: %s. A "+
		"pod that is refused has not failed", value.Of(l.spec.Parallelism), times(e.Count), l.at(e.Last), told(why))
	wait := "the controller creates the other pods as these end"
	if left := l.remaining(); left > 0 && left <= l.found.Active || l.drains() {
		wait = "the pods that exist are all that are left to do"
	}
	return oneFinding(Note, "QuotaHolds", text, inspect("wait: "+wait,
		kubectl(l.job.Namespace, "get", "job", l.job.Name, "--watch")),
		when("more should run at a time", remedy("raise the quota", editQuota(l.job.Namespace, e.Message),
			"needs the rights of an administrator; the cluster must have the capacity")))
}

// configsOf returns the configurations that have a webhook of a name, which is unique only within each of them.
func (e *Explainer) configsOf(hook string) (all []*read.Other) {
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		for _, x := range e.othersIn(kind, "") {
			if slices.ContainsFunc(elements(x.Fields["webhooks"]), func(h any) bool { return str(h, "name") == hook }) {
				all = append(all, x)
			}
		}
	}
	return all
}

func (l *look) refusalRemedies(message string) []*Remedy {
	ns := l.job.Namespace
	const retries = "; the controller retries by itself, at most a minute apart"
	hook := quoted(message, "webhook")
	switch {
	case contains(message, "failed calling webhook", "failed to call webhook"):
		all := []*Remedy{inspect(fmt.Sprintf("webhook %s does not answer: bring the pods of its service back%s", hook,
			retries), "kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations && "+
			"kubectl get pods -A -o wide")}
		if configs := l.e.configsOf(hook); hook != "" && len(configs) == 1 {
			x := configs[0]
			all = append(all, when("it is not needed any more", remedy("delete its configuration", kubectl("", "delete",
				strings.ToLower(x.Kind), x.Name), "from then on nothing is checked or changed by it, in all "+
				"namespaces that it covers")))
		}
		return all
	case contains(message, "denied the request", "denied by", "admission webhook", "validatingadmissionpolicy"):
		policy := "the message"
		if hook != "" {
			policy = "the policy of webhook " + hook
		}
		return []*Remedy{
			l.again(fmt.Sprintf("change the pod template as %s demands", policy)),
			when("the policy is wrong", inspect("look at the policy, or ask its owner for an exception"+retries,
				"kubectl get validatingwebhookconfigurations,validatingadmissionpolicies")),
		}
	case contains(message, "exceeded quota"):
		return l.quotaRemedies(message)
	case contains(message, "must specify limits", "must specify requests", "failed quota"):
		return []*Remedy{l.again("set the resources (requests and limits) that the message names on each container"),
			when("all pods of the namespace should have them", remedy("create a LimitRange, whose defaults are set "+
				"on pods that name none"+retries, kubectl(ns, "apply", "-f", "limitrange.yaml"), "safe for pods "+
				"that exist; new ones get the defaults"))}
	case contains(message, "security context constraint"):
		return []*Remedy{l.again("take out of securityContext and volumes what no constraint allows, such as a " +
			"fixed runAsUser: OpenShift then chooses a user"),
			when("the pods need it", remedy("let their service account use a constraint that allows it"+retries,
				"oc adm policy add-scc-to-user anyuid -z "+quote(l.serviceAccount())+" -n "+quote(ns),
				"every pod of that service account may then do it; needs the rights of an administrator"))}
	case contains(message, "service account", "serviceaccount"):
		if hook := l.job.Annotations["helm.sh/hook"]; runsFirst(hook) {
			weight, _ := strconv.Atoi(l.job.Annotations["helm.sh/hook-weight"])
			status := "helm status " + quote(cmp.Or(l.job.Annotations["meta.helm.sh/release-name"], "RELEASE")) +
				" -n " + quote(ns)
			return []*Remedy{
				inspect(fmt.Sprintf("let the service account be there before the hook, which runs before the other "+
					"objects of the chart: give its manifest the annotations helm.sh/hook: %s and "+
					"helm.sh/hook-weight: \"%d\", or name an account that exists; or make the Job a "+
					"post-install,post-upgrade hook, if it need not run first. Then install the chart again. This "+
					"shows what the release says", hook, weight-5), status),
				inspect("create no account by hand: the Job would start although Helm may have given up, and the "+
					"next install would refuse an account that is not its own", status),
			}
		}
		return []*Remedy{
			when("it was forgotten", remedy("create it"+retries, kubectl(ns, "create", "serviceaccount",
				cmp.Or(quoted(message, "serviceaccount"), quoted(message, "account"), l.serviceAccount())),
				"safe: it has no rights until it is given some")),
			when("the name is misspelled", l.again("correct serviceAccountName")),
		}
	case contains(message, "podsecurity"):
		return []*Remedy{l.again("set the securityContext fields that the message names"),
			when("these pods must be privileged", remedy("lower the level of the namespace"+retries,
				kubectl("", "label", "namespace", ns, "--overwrite", "pod-security.kubernetes.io/enforce=baseline"),
				"every pod of the namespace may then do more: a decision about security"))}
	case contains(message, "maximum", "minimum", "limitrange"):
		return []*Remedy{
			l.again("keep the container's resources within the LimitRange of the namespace"),
			when("the LimitRange is too narrow",
				remedy("widen it"+retries, kubectl(ns, "edit", "limitrange"), "needs the rights of an administrator")),
		}
	case contains(message, "priorityclass", "priority class"):
		return []*Remedy{
			l.again("correct priorityClassName"),
			inspect("look which classes there are", "kubectl get priorityclasses"),
		}
	case contains(message, "cannot create resource"):
		return []*Remedy{remedy("give the controller its rights back"+retries, "kubectl get clusterrolebinding "+
			"system:controller:job-controller -o yaml", "a cluster without them runs no Job at all")}
	case contains(message, "is invalid"):
		return []*Remedy{l.again("correct the field that the message names")}
	}
	return []*Remedy{
		inspect("read the whole message"+retries, kubectl(ns, "describe", "job", l.job.Name)),
		l.again("change what the message complains about"),
	}
}

// runsFirst reports whether a hook of Helm runs only before the other objects of its chart.
func runsFirst(hook string) bool {
	isFirst := hook != ""
	for _, event := range strings.Split(hook, ",") {
		event = strings.TrimSpace(event)
		isFirst = isFirst && (event == "pre-install" || event == "pre-upgrade")
	}
	return isFirst
}

// editQuota returns the command that edits the quota that a message names.
func editQuota(namespace, message string) string {
	args := []string{"edit", "resourcequota"}
	if _, name, ok := strings.Cut(message, "exceeded quota: "); ok {
		name, _, _ = strings.Cut(name, ",")
		args = append(args, name)
	}
	return kubectl(namespace, args...)
}

func orUnknown(name string) string {
	if name == "" {
		return "(see the message)"
	}
	return name
}

// adoptionFindings report pods without a controller that the Job adopts (J6).
func (l *look) adoptionFindings() []Finding {
	var names []string
	for i, p := range l.pods {
		if l.snapshot.Pods[i].Owner == jobpod.Orphan {
			names = append(names, p.Name)
		}
	}
	switch {
	case len(names) == 0, l.isFinished(), l.isElsewhere(), !l.snapshot.Job.DeletionTimestamp.IsZero():
		return nil
	}

	ns, name := l.job.Namespace, names[0]
	off := []string{"label", "pod", name}
	for _, key := range sortedKeys(l.snapshot.Job.Spec.Selector.MatchLabels) {
		off = append(off, key+"-")
	}

	labels := l.snapshot.Job.Spec.Selector.MatchLabels // a generated selector has the UID of the Job
	if labels["batch.kubernetes.io/controller-uid"] == "" && labels["controller-uid"] == "" {
		return oneFinding(Error, "Adoption", fmt.Sprintf("manualSelector is true, and the selector of the Job "+
			"matches %s, which another has made: the Job takes %s over, counts %s like its own, and deletes pods "+
			"when there are more than parallelism %d",
			podsNamed(names), verb(int64(len(names)), "it", "them"), verb(int64(len(names)), "it", "them"),
			*l.spec.Parallelism),
			remedy("take the label off the pod before it is adopted: it would be deleted with the Job",
				kubectl(ns, off...), "the pod runs on; a Service that finds it by this label loses it"),
			l.again("then leave out manualSelector and selector, so that the Job gets labels that no other pod has"))
	}

	return oneFinding(Note, "Adoption", fmt.Sprintf("%s without a controller %s the Job's labels: the Job takes %s "+
		"over now, and counts %s like its own", podsNamed(names), verb(int64(len(names)), "has", "have"),
		verb(int64(len(names)), "it", "them"), verb(int64(len(names)), "it", "them")),
		when("that is not meant", remedy("take the Job's label off the pod before it is adopted",
			kubectl(ns, off...), "safe: the pod runs on, and the Job creates one of its own")))
}

func podsNamed(names []string) string {
	return verb(int64(len(names)), "pod ", "pods ") + list(names)
}

// strayFindings report pods whose Job is not in the input.
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
			age = fmt.Sprintf(", deleted for %s", e.since(d.Begun()))
		}

		owner := cmp.Or(p.Controller().Name, p.Labels["batch.kubernetes.io/job-name"], p.Labels["job-name"], "NAME")
		whose := "Jobs that the input does not contain"
		look := inspect("look whether the Job is really gone: while it exists, the controller removes the "+
			"finalizer when it has counted the pod", kubectl(p.Namespace, "get", "job", owner))

		if slices.ContainsFunc(e.objects.Jobs,
			func(j *read.Job) bool { return j != nil && j.Namespace == p.Namespace && j.Name == owner }) {
			whose = fmt.Sprintf("a deleted Job %s, whose name a newer one has,", owner)
			look = inspect("compare the UID of the Job with that in the pod's ownerReferences: they differ if the "+
				"pod is of an earlier Job", kubectl(p.Namespace, "get", "job/"+owner, "pod/"+p.Name, "-o", "yaml"))
		}

		text := fmt.Sprintf("%s of %s %s ended or been deleted and still %s the finalizer %s, so %s cannot go: %s%s",
			count(n, "pod"), whose, verb(n, "has", "have"), verb(n, "carries", "carry"), job.Finalizer,
			verb(n, "it", "they"), list(keys(held)), age)
		out = append(out, inferred(finding(Error, "FinalizerLeftBehind", text,
			look,
			when("the Job is gone", does("remove the finalizer by hand: the pod then goes",
				"safe if the Job does not exist: nothing counts the pod any more",
				merge(p.Namespace, "pod", p.Name, `{"metadata":{"finalizers":null}}`))),
			when("many pods hang so", inspect("look whether the kube-controller-manager runs: it removes the "+
				"finalizers of pods whose Job is gone",
				kubectl("kube-system", "get", "lease", "kube-controller-manager", "-o",
					"jsonpath={.spec.renewTime}"))))))
	}

	if n := int64(len(others)); n > 0 && len(e.objects.Jobs) > 0 {
		out = append(out, inferred(finding(Warning, "JobMissing", fmt.Sprintf("%s %s to Jobs that the input does "+
			"not contain: %s", count(n, "pod"), verb(n, "belongs", "belong"), list(keys(others))),
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
