package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
	"github.com/batchplan/batchplan/x/cmd/internal/manifest"
)

// findings returns everything that is wrong with the Job or will become a problem, worst first.
func (l *look) findings(troubles []*podTrouble) []Finding {
	return l.guarded(l.join(worstFirst(slices.Concat(l.deletionFindings(), l.failedFinding(), l.namespaceFindings(),
		l.refusedFindings(), l.reportFindings(), l.unsaid(l.groupTroubles(troubles)), l.heldFindings(),
		l.gangFindings(), l.remainderFindings(),
		l.adoptionFindings(), l.behindFindings(), l.activeFailures(), l.deadlineFindings(), l.hookFindings(),
		l.specFindings(), l.widthFindings(), l.surplusFindings(), l.remadeFindings(),
		l.doubtFindings(), l.expiryFindings(), l.counterFindings(), l.keptFindings()))))
}

// guarded leaves out advice to delete a Job that is being deleted. It adds an end for the Jobs to come, as
// the last advice about a Job that has waited for long and would do so without end.
func (l *look) guarded(all []Finding) []Finding {
	if isLeaving := !l.snapshot.Job.DeletionTimestamp.IsZero(); isLeaving { // to delete it again changes nothing
		isAgain := func(a *Act) bool { return a.Verb == Deletes && a.Kind == "job" }
		for i := range all {
			all[i].Remedies = slices.DeleteFunc(slices.Clone(all[i].Remedies),
				func(r *Remedy) bool { return slices.ContainsFunc(r.Acts(), isAgain) })
		}
	}

	const waits = " ImagePull ConfigMissing CannotStart Unschedulable InitRuns SidecarRuns FailedMount " +
		"FailedAttachVolume FailedCreatePodSandBox PodPending FailedCreate "
	isLong := l.now.Sub(l.start()) > time.Hour/2 && l.works() == 0
	hasEnd := l.spec.ActiveDeadlineSeconds != nil || l.isFinished() || l.ownerCronJob() != nil // which says it
	if !isLong || hasEnd || l.job.IsManifest {
		return all
	}

	for i := range all {
		f := &all[i]
		if f.Severity != Error || !strings.Contains(waits, " "+f.Code+" ") {
			continue
		}

		enough, why := int64(3600), "choose more than the longest good run"
		if good := l.lastGood(); good != nil {
			took := timeOf(good)
			enough, why = max(300, 3*int64(took.Seconds())), "the last good run took "+span(took)
		}

		fix := fmt.Sprintf("for the next time, set activeDeadlineSeconds: %d (%s): without one, a Job waits forever "+
			"and never fails", enough, why)
		f.Remedies = append(slices.Clip(f.Remedies), inspect(fix, "kubectl explain job.spec.activeDeadlineSeconds"))
		return all
	}
	return all
}

// unsaid leaves out findings about pods if the finding about the deletion of the Job includes them.
func (l *look) unsaid(all []Finding) []Finding {
	if len(l.deletionFindings()) == 0 || !slices.Contains(l.job.Finalizers, "foregroundDeletion") {
		return all
	}
	return slices.DeleteFunc(all,
		func(f Finding) bool { return f.Code == "FinalizerLeftBehind" || f.Code == "PodTerminating" })
}

// specFindings report what the API server would refuse, and limits that do nothing.
func (l *look) specFindings() (all []Finding) {
	var live error
	if !l.job.IsManifest {
		live = job.Validate(*l.spec)
	}
	all = invalidFindings(l.job.Unknown, l.job.Refused, live, l.again("correct the field"))
	if l.isFinished() {
		return all
	}

	all = slices.Concat(all, l.selectorFindings(), l.unreachable())
	if text, limit := sharedRestarts(l.spec); text != "" {
		all = append(all, finding(Note, "RestartsShared", text,
			when("each container should have that many", l.set("raise backoffLimit", "spec.backoffLimit", limit,
				"safe at any time before the Job has failed; a container that fails alone is also restarted as often")),
			when("pods should be replaced as a whole",
				l.again("set restartPolicy: Never: then backoffLimit counts failed pods"))))
	}
	return all
}

// selectorFindings report a selector that a user has set by hand, if it selects every pod.
func (l *look) selectorFindings() []Finding {
	var manual struct{ ManualSelector bool }
	_ = json.Unmarshal(l.job.Spec, &manual) // if not manual, the server makes the selector
	s := l.spec.Selector
	switch {
	case s == nil, len(s.MatchLabels)+len(s.MatchExpressions) > 0, l.job.IsManifest && !manual.ManualSelector:
		return nil
	}

	text := fmt.Sprintf("manualSelector is true, and selector is empty: it selects every pod in namespace %s, and "+
		"the Job adopts those without a controller: their ends count as its own, and it deletes them as surplus",
		cmp.Or(l.job.Namespace, "default"))
	return oneFinding(Warning, "SelectsAll", text,
		l.again("let the server make the selector: remove selector and manualSelector"))
}

// sharedRestarts returns a text if several containers share the restarts that backoffLimit allows
// with restartPolicy OnFailure, and a limit that would be enough for all of them. The text is empty
// if the containers share nothing, or if the present limit is below 2 or already enough.
func sharedRestarts(s *job.Spec) (text string, enough int64) {
	limit, containers, pods := int64(*s.BackoffLimit), int64(len(s.Template.Containers)), int64(*s.Parallelism)
	if s.Completions != nil {
		pods = min(pods, int64(*s.Completions))
	}
	all := containers * pods

	const enoughEach = 6 // the default of the limit
	switch {
	case s.Template.RestartPolicy != job.RestartOnFailure, all < 2, limit < 2, limit/all >= enoughEach:
		return "", 0
	}

	text = fmt.Sprintf("with restartPolicy OnFailure, backoffLimit %d counts the restarts of all containers of all "+
		"active pods together (%s with %s): if they fail equally often, the Job fails when each has had %s",
		limit, count(pods, "pod"), count(containers, "container"), atMost(limit, all))
	return text, min(max(limit, enoughEach)*all, math.MaxInt32)
}

// atMost describes how often each container restarts until n containers together reach a limit.
func atMost(limit, n int64) string {
	each := (limit + n - 1) / n
	if limit%n == 0 {
		return count(each, "restart")
	}
	return "at most " + count(each, "restart")
}

// invalidFindings report what an API server refuses: unknown fields of a manifest, problems with its
// values, and errors that the library finds in a live object.
func invalidFindings(unknown []manifest.Unknown, refused manifest.Problems, live error, edit *Remedy) (all []Finding) {
	for _, u := range unknown {
		name, fix := u.Path[strings.LastIndexByte(u.Path, '.')+1:], "remove the field"
		switch {
		case u.Belongs != "":
			fix = fmt.Sprintf("move %s into %s", name, u.Belongs)
		case u.Near != "":
			fix = fmt.Sprintf("write %s instead of %s", u.Near, name)
		}
		all = append(all, finding(Error, "UnknownField", u.Problem().Error()+" (kubectl refuses the manifest, and "+
			"without its validation the field is dropped and the default counts)",
			remedy(fix+" in the manifest, and let the server check it before it is applied",
				"kubectl apply --dry-run=server -f FILE", readsOnly)))
	}

	for _, p := range refused {
		all = append(all, finding(Error, "InvalidSpec", p.Refusal(), edit))
	}
	if live != nil {
		for line := range strings.SplitSeq(live.Error(), "\n") {
			all = append(all, finding(Error, "InvalidSpec", "an API server refuses the object: "+line, edit))
		}
	}
	return all
}

// unreachable reports failure limits that can never be reached, because another limit is reached first.
func (l *look) unreachable() (all []Finding) {
	add := func(text string, remedies ...*Remedy) {
		all = append(all, finding(Warning, "LimitUnreachable", text, remedies...))
	}

	s := l.spec
	completions := int64(math.MaxInt32)
	if s.Completions != nil {
		completions = int64(*s.Completions)
	}

	if most := s.MaxFailedIndexes; most != nil && int64(*most) >= completions {
		add(fmt.Sprintf("maxFailedIndexes is %d and there are only %s: the Job never fails early", *most,
			count(completions, "index", "indexes")),
			l.set("lower it: the Job fails as soon as more indexes have failed", "spec.maxFailedIndexes",
				completions-1, "safe as long as no more have failed"))
	}

	limit := int64(*s.BackoffLimit)
	if s.BackoffLimitPerIndex != nil {
		most := completions * (int64(*s.BackoffLimitPerIndex) + 1)
		if limit != math.MaxInt32 && limit >= most {
			add(fmt.Sprintf("backoffLimit is %d, and %s with backoffLimitPerIndex %d fail at most %s: the limit is "+
				"never passed",
				limit, count(completions, "index", "indexes"), *s.BackoffLimitPerIndex, count(most, "time")),
				l.set("lower backoffLimit", "spec.backoffLimit", most-1, "safe as long as no more pods have failed"))
		}
		return all
	}

	if d := s.ActiveDeadlineSeconds; d != nil && *d < math.MaxInt64/int64(time.Second) && limit > 0 {

		deadline := time.Duration(*d) * time.Second
		if totalBackoff(limit, deadline) >= deadline {
			fewer, sum := int64(0), delayAfter(1)
			for ; sum < deadline; sum += delayAfter(fewer + 1) {
				fewer++
			}
			add(fmt.Sprintf("the backoffs between the failures that backoffLimit %d allows are longer than "+
				"activeDeadlineSeconds, %d: if pods fail in a row, the deadline ends the Job before its retries "+
				"are used up", limit, *d),
				when("the deadline should end the Job", l.set("allow as many retries as it has time for",
					"spec.backoffLimit", fewer, "safe as long as no more pods have failed")),
				when("the retries matter", l.set("give it the time for them", "spec.activeDeadlineSeconds",
					l.enoughFor(limit), "safe at any time before the deadline; a hung pod may then run longer")))
		}
	}
	return all
}

// enoughFor returns an activeDeadlineSeconds that is enough even if the Job fails limit times: the
// present deadline for the work, and twice the sum of the backoffs.
func (l *look) enoughFor(limit int64) int64 {
	const most = math.MaxInt32 * time.Second
	return 2*int64(totalBackoff(limit, most)/time.Second) + *l.spec.ActiveDeadlineSeconds
}

// totalBackoff returns the sum of the backoffs of a Job that fails a number of times in a row. It
// stops adding when the sum reaches most.
func totalBackoff(failures int64, most time.Duration) (sum time.Duration) {
	for n := int64(1); n <= failures && sum < most; n++ {
		sum += delayAfter(n)
	}
	return sum
}

// delayAfter returns the backoff after a number of failures in a row.
func delayAfter(failures int64) time.Duration {
	var policy backoff.Policy
	return policy.Delay(int(min(failures, math.MaxInt32)))
}

// unhandledFindings report exit codes that no rule of the podFailurePolicy matches.
func (l *look) unhandledFindings() []Finding {
	if l.spec.PodFailurePolicy == nil {
		return nil
	}

	var ends tally
	for i, found := range l.found.Pods {
		isEach := contains(l.pods[i].Message, "ephemeral storage limit", "total limit of containers") // of each attempt
		hasFailed := found.Failed && l.snapshot.Pods[i].Phase == job.PodFailed
		if hasFailed && found.Match == nil && !isEach {
			ends.add(l.endOf(i))
		}
	}

	if len(ends.order) == 0 {
		return nil
	}
	return oneFinding(Note, "UnhandledFailure", fmt.Sprintf("no rule of the podFailurePolicy matches pods that "+
		"ended with %s: each of them counts as a failure", ends.list()),
		when("that is not meant", l.again("add a rule for them to podFailurePolicy")))
}

func (l *look) namespaceFindings() []Finding {
	if l.closing.IsZero() || l.isFinished() {
		return nil
	}
	return oneFinding(Error, "NamespaceEnds", fmt.Sprintf("namespace %s has been terminating since %s: the API server "+
		"refuses new pods", l.job.Namespace, l.clock(l.closing)),
		remedy("create the Job in another namespace: what is in this one will be deleted", kubectl("OTHER", "apply",
			"-f", "job.yaml"), "safe; nothing here can be saved but logs, as long as the pods exist"),
		when("the namespace should be gone by now", inspect("look what still holds it: its status names the "+
			"finalizers and kinds", kubectl("", "get", "namespace", l.job.Namespace, "-o", "yaml"))))
}

// widthFindings report that the pods of a Job run one after another because parallelism is 1.
func (l *look) widthFindings() []Finding {
	left := l.remaining()
	switch {
	case l.spec.Parallelism == nil, *l.spec.Parallelism != 1, left < 2, l.found.Active != 1:
		return nil
	case l.isFinished(), l.isElsewhere(), l.isSuspended(), l.job.IsManifest:
		return nil
	}

	width := min(left, 10)
	return oneFinding(Note, "OneAtATime",
		fmt.Sprintf("%d completions are left and 1 pod runs at a time: parallelism is 1, which is the default", left),
		when("they may run side by side", l.set("raise parallelism", "spec.parallelism", width,
			fmt.Sprintf("up to %d pods run concurrently from then on, if the cluster has room and nothing that "+
				"they share objects", width))))
}

// surplusFindings report an Indexed Job whose parallelism is above its completions.
func (l *look) surplusFindings() []Finding {
	isGoing := l.isIndexed() && !l.isFinished() && !l.job.IsManifest
	if !isGoing || l.isSuspended() || *l.spec.Parallelism <= *l.spec.Completions {
		return nil
	}
	n := int64(*l.spec.Parallelism)
	return oneFinding(Warning, "ParallelismUnused", fmt.Sprintf("parallelism is %d and completions is %d: an index "+
		"has one pod at a time, so there %s at most", n, *l.spec.Completions,
		verb(int64(*l.spec.Completions), "is", "are")+" "+count(int64(*l.spec.Completions), "pod")),
		when("there should be more indexes", l.set("set completions to the same number", "spec.completions", n,
			"the new indexes are more work, and pods are created for them; those that run go on")))
}

// remadeFindings report a Job that its TTL deletes and a tool makes again.
func (l *look) remadeFindings() []Finding {
	k, ttl := keeperOf(&l.job.Meta), l.spec.TTLSecondsAfterFinished
	isHook := l.job.Annotations["argocd.argoproj.io/hook"]+l.job.Annotations["helm.sh/hook"] != ""
	if isOwned := l.job.Controller().Kind != ""; ttl == nil || isHook || isOwned {
		return nil
	}
	unless, stop := "", []*Remedy(nil)
	app := l.e.keeperOf("Application", k)
	switch isSource := strings.HasPrefix(k.source, "the source of Kustomization"); {
	case k.name == "Argo CD" && app != nil:
		automated := app.At("spec.syncPolicy.automated")
		if automated == nil || read.At(automated, "enabled") == false {
			return nil
		}
		unless = fmt.Sprintf(" (Application %s syncs by itself)", app.Key())
		stop = []*Remedy{remedy("stop that first: switch off the automatic sync (where the application itself is kept "+
			"in a source, there), and look what was done more than once", "argocd app set "+quote(k.of)+
			" --sync-policy none", "nothing of the application is synced by itself until it is switched on again")}
	case k.name == "Argo CD":
		unless = ", if its application syncs by itself"
	case !isSource:
		return nil
	}
	return oneFinding(Warning, "MadeAgain", fmt.Sprintf("ttlSecondsAfterFinished %d deletes the Job after its end, "+
		"and %s, which wants what its source has, makes it again%s: its work is done again and again", *ttl, k.name,
		unless), append(stop,
		inspect(fmt.Sprintf("take ttlSecondsAfterFinished out of %s, or make the Job a hook, which is run once for "+
			"each sync", k.source), kubectl(l.job.Namespace, "get", "job", l.job.Name, "-o", "yaml")))...)
}

// remaining returns the number of completions that are left, or 0 for a work queue.
func (l *look) remaining() int64 {
	if l.spec.Completions == nil {
		return 0
	}
	return int64(*l.spec.Completions) - l.found.Succeeded
}

// deadlineFindings report a deadline that passes before the remaining work is done, if the pods to
// come take as long as those that have succeeded.
func (l *look) deadlineFindings() []Finding {
	w := l.waits(jobreason.WaitDeadline)
	if w == nil || l.isSuspended() {
		return nil
	}
	if l.spec.Completions == nil || l.spec.Parallelism == nil || *l.spec.Parallelism <= 0 {
		return nil
	}
	left := l.remaining()
	if left <= 0 {
		return nil
	}

	mean := l.meanTime()
	width := min(int64(*l.spec.Parallelism), left)
	waves := (left + width - 1) / width

	endsWith := func(waves int64) time.Time {
		needs := time.Duration(waves) * mean
		if l.found.Active > 0 { // the running pods have already used some of their time
			needs -= min(mean, l.now.Sub(l.oldestRunning()))
		}
		return l.now.Add(needs)
	}

	ends := endsWith(waves)
	if !ends.After(w.Until) {
		return nil
	}

	enough := int64(ends.Sub(l.start())/time.Second)*5/4 + 1
	remedies := []*Remedy{
		l.set("give it more time: activeDeadlineSeconds of a running Job can be changed",
			"spec.activeDeadlineSeconds", enough,
			"safe at any time before the deadline; a hung pod may then run longer"),
	}

	if fit := int64((w.Until.Sub(l.now) + time.Duration(waves)*mean - ends.Sub(l.now)) / mean); fit > 0 {
		wider := (left + fit - 1) / fit
		remedies = append(remedies, l.set("let more pods run at a time", "spec.parallelism", wider,
			fmt.Sprintf("safe if the nodes, and whatever the pods use, can take %d concurrently", wider)))
	}

	return []Finding{inferred(finding(Warning, "DeadlineNotMet",
		fmt.Sprintf("%s are left, %d at a time, and those done took %s on average: that is %s, until about %s, and "+
			"the deadline passes %s",
			count(left, "completion"), width, span(mean), count(waves, "wave"), l.clock(ends), l.at(w.Until)),
		remedies...))}
}

// meanTime returns how long a completion took on average, or 0 if that is unknown. If the succeeded
// pods are gone, it divides the time until the oldest running pod started by the number of earlier
// waves.
func (l *look) meanTime() time.Duration {
	var sum time.Duration
	n := int64(0)
	for i := range l.pods {
		took := l.found.Pods[i].FinishTime.Sub(startOf(l.pods[i]))
		if l.snapshot.Pods[i].Phase == job.PodSucceeded && took > 0 {
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

// oldestRunning returns the time at which the oldest running pod started, or now.
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
	expired, at, err := job.Expire(&l.snapshot.Job, l.snapshot.Options, l.now)
	ns, name := l.job.Namespace, l.job.Name
	switch {
	case err != nil:
		return oneFinding(Warning, "UnknownExpiry", "the TTL controller cannot tell when the Job expires: "+err.Error(),
			does("delete it by hand", "also deletes its pods and their logs", remove(ns, "job", name)))
	case !expired || l.now.Sub(at) <= slack || !l.snapshot.Job.DeletionTimestamp.IsZero():
		return nil
	}

	text := fmt.Sprintf("the Job should have been deleted %s by its ttlSecondsAfterFinished of %d", l.at(at),
		*l.spec.TTLSecondsAfterFinished)
	if len(l.job.Finalizers) > 0 {
		text += "; its finalizers " + list(l.job.Finalizers) + " are not the reason: they keep an object only " +
			"after its deletion has begun"
	}
	return oneFinding(Warning, "NotExpired", text, controllerRemedies(ns, "job", name)...)
}

// counterFindings report a status that contradicts the pods.
func (l *look) counterFindings() (all []Finding) {
	read := inspect("read the status and the pods again, together", collect(l.job.Namespace))
	for _, n := range l.plan.Notes {
		if n.Field == "job.spec.scheduling" {
			continue // only the gates of the controller decide whether the field counts, and they are unknown
		}
		all = append(all, finding(Warning, "Contradiction",
			fmt.Sprintf("%s %s: %s", strings.TrimPrefix(n.Field, "job."), n.Value, withoutRule(n.Message)), read))
	}

	if !l.podsRead {
		return append(all, finding(Note, "PodsNotRead", fmt.Sprintf("the input has no pods, although the status "+
			"counts %d: what they do is not known, and what follows from it is left out", l.status.Active),
			inspect("collect the pods and events as well", collect(l.job.Namespace))))
	}
	switch {
	case l.isFinished(), l.isElsewhere(), l.waits(jobreason.WaitUnknownMode) != nil, l.now.Sub(l.changed) < slack:
		return all
	}

	compare := func(field string, status, pods int64) {
		if status != pods {
			all = append(all, inferred(finding(Warning, "CountersContradict", fmt.Sprintf("status.%s is %d, and %d "+
				"of the pods that were read %s", field, status, pods, verb(pods, "is", "are")+" "+field), read)))
		}
	}

	if len(l.behindFindings()) == 0 && len(l.adoptionFindings()) == 0 { // they explain a contradiction
		compare("active", int64(l.status.Active), l.found.Active)
	}
	if l.status.Ready != nil && int64(l.status.Active) == l.found.Active {
		compare("ready", int64(*l.status.Ready), l.found.Ready)
	}
	return all
}

// hookFindings report a hook of Helm or Argo CD whose Job may be deleted before the tool sees its end.
func (l *look) hookFindings() []Finding {
	tool, policy := "", ""
	switch {
	case l.job.Annotations["helm.sh/hook"] != "":
		tool, policy = "Helm", "annotation helm.sh/hook-delete-policy: hook-succeeded"
	case l.job.Annotations["argocd.argoproj.io/hook"] != "":
		tool, policy = "Argo CD", "annotation argocd.argoproj.io/hook-delete-policy: HookSucceeded"
	}

	const enough = 60
	ttl := l.spec.TTLSecondsAfterFinished
	if tool == "" || ttl == nil || *ttl >= enough {
		return nil
	}

	return oneFinding(Warning, "HookExpires", fmt.Sprintf("the Job is a hook of %s, and ttlSecondsAfterFinished %d "+
		"deletes it as soon as it has ended: %s may not see that, and then waits until its timeout, or fails", tool,
		*ttl, tool),
		l.set(fmt.Sprintf("keep it for ten minutes after its end, and let %s delete it (%s)", tool, policy),
			"spec.ttlSecondsAfterFinished", 600, "safe: the Job and its logs stay as long"))
}

// isFollowed reports whether a later Job of the same work has not ended.
func (l *look) isFollowed() bool {
	_, after := l.nearby()
	return slices.ContainsFunc(after, func(j *read.Job) bool { return j.Object.Status.Finished() == "" })
}

// keptFindings report that nothing deletes a finished Job.
func (l *look) keptFindings() []Finding {
	switch {
	case !l.isFinished(), l.now.Sub(l.endTime()) < time.Hour, !l.snapshot.Job.DeletionTimestamp.IsZero():
		return nil
	case l.spec.TTLSecondsAfterFinished != nil, l.job.Controller().Kind != "":
		return nil
	case keeperOf(&l.job.Meta).name != "": // it deletes the Job, and makes one anew that others delete
		return nil
	case l.e.failed[l.job.Namespace] || l.isFollowed(): // who asks about that did not ask for this
		return nil
	}

	why := "ttlSecondsAfterFinished is not set"
	if owners := l.job.Owners; len(owners) > 0 {
		i := slices.IndexFunc(owners, func(o read.Owner) bool { return o.Kind == "CronJob" })
		if i < 0 {
			return nil // the Job is deleted with its owner
		}
		why += fmt.Sprintf(", and CronJob %s owns it without being its controller, so that no history limit counts it",
			owners[i].Name)
	}

	ns, name, pods := l.job.Namespace, l.job.Name, ""
	if n := int64(len(l.pods)); n > 0 {
		pods = " and its " + count(n, "pod")
	}

	const day = 24 * time.Hour
	ttl := int64(math.Ceil((l.now.Sub(l.endTime()) + day).Seconds()))
	return oneFinding(Note, "KeptForever", fmt.Sprintf("nothing deletes the Job%s, %s after its end: %s", pods,
		l.since(l.endTime()), why),
		when("nobody needs it as a record", does(fmt.Sprintf("let it be deleted %s, and set "+
			"ttlSecondsAfterFinished, which counts from the end of a Job, in the manifests of Jobs to come",
			l.at(l.now.Add(day))),
			"its status goes with its pods and their logs: save what must stay (kubectl get job -o yaml)",
			patch(ns, "job", name, "spec.ttlSecondsAfterFinished", ttl))))
}
