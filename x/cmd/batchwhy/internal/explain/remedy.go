package explain

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobadmit"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// remedy returns a Remedy without a condition.
func remedy(do, command, risk string) *Remedy {
	return &Remedy{Do: sentence(do), Command: command, Risk: sentence(risk)}
}

// when returns a remedy that helps if a condition is true.
func when(cause string, r *Remedy) *Remedy {
	c := *r
	c.If = cause
	return &c
}

func withRisk(r *Remedy, risk string) *Remedy {
	c := *r
	c.Risk = sentence(risk)
	return &c
}

// readsOnly is the risk of a command that only shows something.
const readsOnly = "changes nothing"

// inspect returns a remedy whose command only shows something.
func inspect(do, command string) *Remedy { return remedy(do, command, readsOnly) }

// kubectl returns a command line whose arguments are quoted for a shell, whatever they contain.
func kubectl(namespace string, args ...string) string {
	line := "kubectl"
	if namespace != "" {
		line += " -n " + quote(namespace)
	}
	for _, a := range args {
		line += " " + quote(a)
	}
	return line
}

// quote quotes an argument for a shell if necessary.
func quote(arg string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"
	if arg != "" && strings.Trim(arg, plain) == "" {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

// finding returns a finding with its remedies. The remedy for the most likely cause comes first.
func finding(s Severity, code, text string, remedies ...*Remedy) Finding {
	return Finding{Severity: s, Code: code, Text: sentence(text), Remedies: remedies}
}

func oneFinding(s Severity, code, text string, remedies ...*Remedy) []Finding {
	return []Finding{finding(s, code, text, remedies...)}
}

// inferred marks a finding that depends on facts that no object shows.
func inferred(f Finding) Finding {
	f.Inferred = true
	return f
}

// worstFirst orders findings by their severity.
func worstFirst(all []Finding) []Finding {
	return sortedStably(all, func(a, b *Finding) int { return a.Severity.rank() - b.Severity.rank() })
}

func (s Severity) rank() int { return slices.Index([]Severity{Error, Warning, Note}, s) }

// worst returns the most severe finding, or nil.
func worst(all []Finding) *Finding {
	if len(all) == 0 {
		return nil
	}
	return &worstFirst(all)[0]
}

// The remedies that many findings share.

// controllerRemedies say what to do if a controller does not act. kind is "job" or "cronjob".
func controllerRemedies(namespace, kind, name string) []*Remedy {
	return []*Remedy{
		when("no controller is running", inspect("look whether the kube-controller-manager runs and holds its "+
			"lease; on a managed control plane, ask its provider",
			kubectl("kube-system", "get", "lease", "kube-controller-manager", "-o",
				"jsonpath={.spec.holderIdentity} {.spec.renewTime}"))),
		when("its writes are refused", inspect("read the events of the "+kindName(kind)+": quotas, webhooks and "+
			"missing permissions are reported there",
			kubectl(namespace, "describe", kind, name))),
		when("the input is old or incomplete",
			inspect("collect all kinds again and explain them together", collect(namespace))),
	}
}

func kindName(kind string) string {
	if kind == "cronjob" {
		return "CronJob"
	}
	return "Job"
}

// collect returns the command that prints everything that an explanation uses.
func collect(namespace string) string {
	command := "kubectl get jobs,cronjobs,pods,events"
	if namespace != "" {
		command += " -n " + quote(namespace)
	}
	return command + " -o json"
}

// cost describes what is lost if the Job is deleted.
func (l *look) cost() string {
	cost, done, works := "deleting the Job deletes its pods and their logs", l.succeeded(), ""
	if n := l.works(); n > 0 {
		works = fmt.Sprintf(", and the work of %s that %s now is done again", count(n, "pod"), verb(n, "works", "work"))
	}
	switch {
	case done > 0 && l.spec.Completions == nil:
		cost += works + "; what pods have taken from the queue is done again only if the queue hands it out again"
	case done > 0:
		cost += fmt.Sprintf(", and %s already done %s done again", count(done, "completion"),
			verb(done, "is", "are")) + works
	case !l.hasBegun() && slices.ContainsFunc(l.pods, hasRun):
		return "no pod of the Job has done any work yet; the logs of its init containers are deleted with its pods"
	case !l.hasBegun():
		return "safe: no pod of the Job has done any work yet"
	case slices.ContainsFunc(l.doing, func(a activity) bool { return len(a.ended) > 0 }):
		cost += ", and its work, which has ended, is done again"
	default:
		cost += works
	}
	if long := l.longestFailure(); long >= time.Minute {
		cost += fmt.Sprintf(", and what a failed pod did in up to %s is done again: look first whether it may be",
			span(long))
	}
	if did := l.didInVain(); len(did.order) > 0 {
		cost += fmt.Sprintf(", and what container %s has done, with exit code 0, is done again", did.list())
	}
	return cost
}

// longestFailure returns how long a failed pod ran, at most.
func (l *look) longestFailure() (long time.Duration) {
	for _, f := range l.failedPods() {
		if p := l.pods[f.place]; hasRun(p) {
			long = max(long, l.found.Pods[f.place].FinishTime.Sub(startOf(p)))
		}
	}
	return long
}

// didInVain returns the containers that ended with exit code 0 in pods that failed because of another
// container. What they did is done again with the pod.
func (l *look) didInVain() (did tally) {
	for _, f := range l.failedPods() {
		p := l.pods[f.place]
		isOwn := f.kind == failedOther || f.kind == failedMemory || f.kind == failedStart
		if !isOwn || p.Object.Deletion != nil {
			continue
		}
		for _, c := range p.Containers {
			isDone := c.Ended && c.ExitCode == 0 && !c.Init
			if isDone && !isHelper(c.Name, p.Spec.Container(c.Name).Image) {
				did.add(c.Name)
			}
		}
	}
	return did
}

// hasRun reports whether a container of a pod has run, so that there are logs.
func hasRun(p *read.Pod) bool {
	return slices.ContainsFunc(p.Containers,
		func(c read.Container) bool { return c.Running || c.Ended || c.Last != nil })
}

// again returns the remedy to correct the manifest of a Job and to run it again.
func (l *look) again(fix string) *Remedy {
	ns, name := l.job.Namespace, l.job.Name
	fix = strings.TrimSuffix(fix, ",")
	if l.job.IsManifest {
		return does(fix+" in the manifest", "safe: no server has the Job yet", apply(ns, "job", name))
	}

	if l.drains() {
		if acts := l.removePending(); len(acts) > 0 {
			return does("delete what is pending: a pod has succeeded, so the Job creates no other, and ends as "+
				"Complete; for the next time, "+fix, "each deleted pod counts as failed against "+
				l.failureLimit()+"; none of them has run", acts...)
		}
		return l.nextTime(fix)
	}

	why := "its pod template cannot be changed"
	switch {
	case l.isFinished():
		why = "it does not start again"
	case l.isSuspended():
		why = "only parts of it can be changed while it is suspended"
	}

	owner, cost := l.job.Controller(), l.cost()
	switch there := fix + " in spec.jobTemplate of CronJob " + owner.Name; {
	case owner.Kind != "CronJob":
	case l.isFinished() || l.fails():
		return l.startAnew(there, edit(ns, "cronjob", owner.Name))
	default:
		return l.keepsLogs(does(there+", and delete this Job, which stays as it was created",
			"the runs to come are created from the new template; "+cost,
			edit(ns, "cronjob", owner.Name), remove(ns, "job", name)))
	}

	switch k := keeperOf(&l.job.Meta); {
	case owner.Kind != "":
		return remedy(fix+fmt.Sprintf(" in %s %s, which has created the Job: what is changed in the Job alone is "+
			"lost with it", owner.Kind, owner.Name),
			kubectl(ns, "get", strings.ToLower(owner.Kind), owner.Name, "-o", "yaml"),
			"changing the owner may create the Job again; "+cost)
	case k.name != "":
		recreate := apply(ns, "job", name)
		recreate.Command = k.command
		return l.keepsLogs(does(fmt.Sprintf("%s in %s, from which %s has made the Job, delete this Job, and let it be "+
			"made anew: %s", fix, k.source, k.name, why),
			cost, remove(ns, "job", name), recreate))
	}
	return l.keepsLogs(does(fix+" (in the manifest), and create the Job anew: "+why, cost, remove(ns, "job", name),
		apply(ns, "job", name)))
}

// keepsLogs begins the command of a remedy with one that saves the logs that the deletion of the Job deletes. If that
// fails, nothing is deleted.
func (l *look) keepsLogs(r *Remedy) *Remedy {
	if args := l.logsToSave(); len(args) > 0 {
		r.Command = kubectl(l.job.Namespace, args...) + " >> " + quote(l.job.Name+".log") + " && " + r.Command
	}
	return r
}

// logsToSave returns the arguments of kubectl that print the logs that are worth to be saved, if there are any. As long
// as pods run, these are only the logs of containers that have been restarted.
func (l *look) logsToSave() []string {
	if !l.isFinished() {
		for _, p := range l.pods {
			for _, c := range p.Containers {
				if c.Last != nil {
					return []string{"logs", p.Name, "-c", c.Name, "--previous"}
				}
			}
		}
		return nil
	}

	label := l.labelOfPods()
	if label == "" || !slices.ContainsFunc(l.pods, hasRun) {
		return nil
	}
	args := []string{"logs", "-l", label, "--all-containers", "--prefix", "--tail=-1"}
	if slices.ContainsFunc(l.pods, func(p *read.Pod) bool { return !hasRun(p) }) {
		args = append(args, "--ignore-errors") // a pod that has not run has no logs
	}
	return args
}

// labelOfPods returns a label that all pods of the Job have, and no other pod, or "".
func (l *look) labelOfPods() string {
	for _, key := range []string{"batch.kubernetes.io/job-name", "job-name", "batch.kubernetes.io/controller-uid"} {
		value := l.job.Name
		if strings.HasSuffix(key, "uid") {
			value = string(l.job.UID)
		}
		lacks := func(p *read.Pod) bool { return p.Labels[key] != value }
		if value != "" && !slices.ContainsFunc(l.pods, lacks) {
			return key + "=" + value
		}
	}
	return ""
}

// Fields of a pod template that may differ, with the same field before and after a change.
var (
	resourcesField = [2]string{
		`{"spec":{"containers":[{"resources":{"limits":{"memory":"1Gi"}}}]}}`, `{"spec":{"containers":[{}]}}`,
	}
	schedulingField = [2]string{`{"spec":{"nodeSelector":{"a":"b"},"tolerations":[{"key":"a"}]}}`, `{}`}
)

// changeSuspended returns the remedy to change a field of the template while the Job is suspended, so that
// completions that are done stay. It returns nil if there are none, or if an API server refuses the change.
func (l *look) changeSuspended(do string, field [2]string) []*Remedy {
	owner := l.job.Controller().Kind
	switch isOwned := owner != "" && owner != "CronJob"; {
	case l.job.IsManifest, l.isFinished(), l.fails(), l.drains(), l.succeeded() == 0:
		return nil
	case !l.closing.IsZero(), !l.snapshot.Job.DeletionTimestamp.IsZero():
		return nil // nothing stays
	case isOwned, keeperOf(&l.job.Meta).name != "", l.isQueued(), l.isSuspended(): // the other sets it back
		return nil
	}

	yes, j := true, l.snapshot.Job
	j.Spec.Suspend, j.Status.Active = &yes, 0
	j.Status.Conditions = []job.Condition{{Type: job.ConditionSuspended, Status: job.ConditionTrue}}
	if jobadmit.ValidateTemplateUpdate(&j, []byte(field[0]), []byte(field[1]), release.Newest()) != nil {
		return nil
	}
	ns, name := l.job.Namespace, l.job.Name
	return []*Remedy{when("what is done is to stay", does(fmt.Sprintf("suspend the Job, %s of its template, which "+
		"servers from Kubernetes 1.36 on allow once no pod is active, and resume it", do),
		"pods that run are deleted with their logs, and begin their work again; completions already done stay; a "+
			"change that is refused, since pods still end, leaves the Job suspended: repeat it",
		patch(ns, "job", name, "spec.suspend", true), edit(ns, "job", name),
		patch(ns, "job", name, "spec.suspend", false)))}
}

// drains reports whether the Job is a work queue that creates no pod any more, since one has
// succeeded.
func (l *look) drains() bool {
	isEmpty := l.spec.Completions == nil && l.found.Succeeded > 0
	return isEmpty && !l.isFinished() && !l.fails()
}

// removePending returns the acts that delete all active pods if each is pending and has not run, so that
// a work queue ends. There are none if the Job would fail.
func (l *look) removePending() (acts []*Act) {
	for i, p := range l.pods {
		switch pod := &l.snapshot.Pods[i]; {
		case pod.Phase >= job.PodSucceeded:
		case pod.Phase != job.PodPending, pod.Deletion != nil, hasRun(p), pod.Owner == jobpod.Foreign:
			return nil
		default:
			acts = append(acts, remove(p.Namespace, "pod", p.Name))
		}
	}
	if l.failures()+int64(len(acts)) > int64(*l.spec.BackoffLimit) || len(acts) > 4 {
		return nil
	}
	return acts
}

// nextTime returns the remedy to correct the manifest for future Jobs and to leave this one as it is.
func (l *look) nextTime(fix string) *Remedy {
	if l.job.IsManifest || l.isFinished() {
		return l.again(fix)
	}
	fix = "for the next time, " + strings.TrimSuffix(fix, ",")
	if owner := l.job.Controller(); owner.Kind == "CronJob" {
		return does(fix+", in spec.jobTemplate of CronJob "+owner.Name, "safe: Jobs that exist are not changed",
			edit(l.job.Namespace, "cronjob", owner.Name))
	}
	return inspect(fix+", in the manifest; this Job cannot be changed any more, and stays as it is",
		"kubectl explain job.spec.template")
}

// set returns a remedy that patches a field of the Job. If the patch is not possible, the remedy
// runs the Job again. TestRemedies checks that API servers allow such a patch while the Job runs.
func (l *look) set(do, field string, value any, risk string) *Remedy {
	change := patch(l.job.Namespace, "job", l.job.Name, field, value)
	s := l.snapshot
	s.Job.Spec = job.Spec{}
	err := patched(&s.Job.Spec, l.spec, change.Patch)
	if err = errors.Join(err, job.Validate(s.Job.Spec)); l.job.IsManifest || l.isFinished() || err != nil {
		return l.again(fmt.Sprintf("%s (%s: %v)", do, field, value))
	}

	if plan, err := job.Reconcile(s); err == nil && plan.Verdict.Type == job.ConditionFailureTarget && !l.fails() {
		risk = "the Job fails now, and its active pods are deleted with their logs"
	}
	return does(do, risk+setBack(&l.job.Meta), change)
}

// patched applies a merge patch to an object that has only the given spec, and decodes the
// resulting spec into next.
func patched(next, spec any, fields []byte) error {
	all := map[string]any{"spec": nil}
	var change map[string]any
	data, err := json.Marshal(map[string]any{"spec": spec})
	if err = errors.Join(err, json.Unmarshal(data, &all), json.Unmarshal(fields, &change)); err != nil {
		return err
	}
	mergeInto(all, change)
	if data, err = json.Marshal(all["spec"]); err == nil {
		err = json.Unmarshal(data, next)
	}
	return err
}

// mergeInto applies a merge patch, in which null deletes a field.
func mergeInto(to, patch map[string]any) {
	for key, value := range patch {
		inner, isMap := value.(map[string]any)
		at, hasMap := to[key].(map[string]any)
		switch {
		case value == nil:
			delete(to, key)
		case isMap && hasMap:
			mergeInto(at, inner)
		default:
			to[key] = value
		}
	}
}

// rerun returns the remedy to correct a cause that may lie outside of the manifest, and to run the Job
// again.
func (l *look) rerun(fix string) *Remedy {
	switch owner := l.job.Controller(); {
	case l.drains():
		return l.nextTime(fix)
	case !l.isFinished() && !l.fails():
		r := l.again("correct it there")
		goesOn := "the Job goes on by itself"
		if n := l.found.FailedIndexes.Len(); n > 0 {
			goesOn = "the indexes that have not failed for good go on by themselves"
		}
		r.Do = sentence(fix + ": if it lies outside of the Job (a service, a Secret), " + goesOn +
			"; if it lies in the manifest or the image, " + lowerWord(r.Do))
		return r
	case owner.Kind == "CronJob":
		return l.startAnew(fix + fmt.Sprintf(", in spec.jobTemplate of CronJob %s if it lies there", owner.Name))
	}
	return l.again(fix)
}

// startAnew returns the remedy to start another run of a Job that has ended, after other acts.
func (l *look) startAnew(do string, acts ...*Act) *Remedy {
	cronJob, kind := l.job.Controller().Name, "failed"
	if l.status.Finished() == job.ConditionComplete {
		kind = "good"
	}
	return does(do+", and start a run without waiting for the schedule",
		"starts immediately, also beside a scheduled run, and does again what the "+kind+" run has done"+l.ranFor()+
			"; this Job and its logs stay as long as the history keeps them",
		append(acts, start(l.job.Namespace, cronJob, l.e.byHand(l.job.Namespace, cronJob)))...)
}

// byHand returns the name of a Job that is started from a CronJob by hand, which no Job has yet.
func (e *Explainer) byHand(namespace, cronJob string) string {
	base := cronJob + "-by-hand"
	name := base
	for n := 2; e.existingOf("Job", &read.Meta{Namespace: namespace, Name: name}) != nil; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name
}

// ranFor returns how long the Job was active, if that is long.
func (l *look) ranFor() string {
	if took := l.endTime().Sub(l.start()); took >= 5*time.Minute {
		return " in " + span(took)
	}
	return ""
}

// logs returns the remedy to read what a container has printed. If previous is true, the remedy
// reads what the container printed before its last restart.
func (l *look) logs(p *read.Pod, container string, previous bool) *Remedy {
	args := []string{"logs", p.Name}
	if container != "" {
		args = append(args, "-c", container)
	}
	do := "read what it printed"
	if previous {
		args, do = append(args, "--previous"), "read what it printed before the last restart"
	}
	return inspect(do, kubectl(l.job.Namespace, args...))
}

// failureLimit names the limit that a failed pod counts against.
func (l *look) failureLimit() string {
	if limit := l.spec.BackoffLimitPerIndex; limit != nil {
		return fmt.Sprintf("backoffLimitPerIndex %d", *limit)
	}
	return fmt.Sprintf("backoffLimit %d", *l.spec.BackoffLimit)
}

// moreFailures returns the remedy to raise backoffLimit. backoffLimitPerIndex cannot be changed.
func (l *look) moreFailures(do string) *Remedy {
	if l.spec.BackoffLimitPerIndex != nil {
		return l.again("raise backoffLimitPerIndex")
	}
	return l.set(do, "spec.backoffLimit", min(int64(*l.spec.BackoffLimit)*2+2, math.MaxInt32),
		"safe at any time before it has failed; real failures are also retried as often")
}

// ignoreRemedies say how to keep disruptions from counting.
func (l *look) ignoreRemedies() []*Remedy {
	ignore := l.again("let the Job ignore disruptions: add " + ignorePolicy + " to its spec, which needs " +
		"restartPolicy: Never,")
	if l.spec.Template.RestartPolicy == job.RestartOnFailure {
		ignore = l.again(
			"set restartPolicy: Never, and let the Job ignore disruptions: add " + ignorePolicy + " to its spec,")
	}

	ignore.Risk += " A Job that ignores disruptions has no limit of them: give it an activeDeadlineSeconds too."
	if l.isFinished() || l.fails() {
		return []*Remedy{ignore}
	}
	return []*Remedy{ignore, when("the Job must not be restarted", l.moreFailures("allow this Job more failures"))}
}

func (l *look) describePodRemedy(p *read.Pod) *Remedy {
	return inspect("read the events at the end of its description", kubectl(p.Namespace, "describe", "pod", p.Name))
}
