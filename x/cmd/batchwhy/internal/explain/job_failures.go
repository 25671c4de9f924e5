package explain

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// failureKind is the reason why a pod has failed. Reasons with the same remedies are one kind.
type failureKind string

const (
	failedOther  failureKind = "PodsFail"
	failedMemory failureKind = "OutOfMemory"
	failedStart  failureKind = "CannotStart"
	failedEvict  failureKind = "Evicted"
	failedNode   failureKind = "DisruptionsCount"
	failedAdmit  failureKind = "NodeRefused"
	failedLate   failureKind = "PodDeadline"
	failedLost   failureKind = "ContainerLost"
)

// failure is a failed pod that still exists.
type failure struct {
	place int // in look.pods
	kind  failureKind
	// container is the container that has failed, or the zero Container.
	container read.Container
}

// failedPods returns the failed pods that still exist, latest last.
func (l *look) failedPods() (all []failure) {
	for i, found := range l.found.Pods {
		if found.Failed && l.snapshot.Pods[i].Phase == job.PodFailed {
			kind, container := l.kindOf(i)
			all = append(all, failure{i, kind, container})
		}
	}
	return sortedStably(all, func(a, b *failure) int {
		return l.found.Pods[a.place].FinishTime.Compare(l.found.Pods[b.place].FinishTime)
	})
}

// kindOf returns why a pod has failed, and which of its containers has failed.
func (l *look) kindOf(i int) (failureKind, read.Container) {
	p := l.pods[i]
	var bad read.Container
	for _, c := range p.Containers {
		failed := c.Ended && c.ExitCode != 0
		if failed && (bad.Name == "" || c.Reason == "OOMKilled") {
			bad = c
		}
	}

	switch {
	case bad.Reason == "OOMKilled", l.killReport(p, &bad) != nil:
		return failedMemory, bad
	case p.Reason == "DeadlineExceeded":
		return failedLate, bad
	case p.Reason == "Evicted" && !contains(p.Message, "taint"):
		return failedEvict, bad
	case p.Condition("DisruptionTarget").Status == "True",
		p.Reason == "Terminated",
		p.Reason == "NodeLost",
		p.Reason == "Shutdown",
		p.Reason == "Preempting",
		p.Reason == "NodeShutdown":
		return failedNode, bad
	case strings.HasPrefix(p.Reason, "OutOf"),
		p.Reason == "UnexpectedAdmissionError",
		p.Reason == "NodeAffinity",
		p.Reason == "NodePorts":
		return failedAdmit, bad
	case bad.Reason == "ContainerStatusUnknown":
		return failedLost, bad
	case bad.Reason == "StartError",
		bad.Reason == "ContainerCannotRun",
		bad.ExitCode == 127,
		bad.ExitCode == 126,
		contains(bad.Message, "exec format error"):
		return failedStart, bad
	}
	return failedOther, bad
}

// failureFindings report the pods that have failed. There is one finding for each kind of failure,
// and another one if many failures are not counted.
func (l *look) failureFindings() (all []Finding) {
	if l.isElsewhere() || l.status.Finished() == job.ConditionComplete {
		return nil
	}

	byKind := make(map[failureKind][]failure)
	var order []failureKind
	for _, f := range l.failedPods() {
		if !l.found.Pods[f.place].Counts {
			continue
		}
		if byKind[f.kind] == nil {
			order = append(order, f.kind)
		}
		byKind[f.kind] = append(byKind[f.kind], f)
	}

	for _, kind := range order {
		all = append(all, l.failureFinding(kind, byKind[kind]))
	}
	return append(all, l.ignoredFindings()...)
}

// failureFinding reports the failed pods of one kind. The remedies are those for the latest pod.
func (l *look) failureFinding(kind failureKind, failed []failure) Finding {
	var ends tally
	for _, f := range failed {
		ends.add(l.endOf(f.place))
	}

	last := failed[len(failed)-1]
	p, n := l.pods[last.place], int64(len(failed))
	text := fmt.Sprintf("%s failed with %s", count(n, "pod"), ends.each())

	switch kind {
	case failedMemory:
		text = fmt.Sprintf("%s ran out of memory: %s%s%s", count(n, "pod"), ends.list(),
			l.memoryLimit(p, last.container.Name), l.killed(p, &last.container))
	case failedEvict:
		text = fmt.Sprintf("%s evicted by the kubelet, and %s as failed: %s",
			count(n, "pod was", "pods were"), verb(n, "counts", "count"), brief(p.Message))
	case failedNode:
		text = l.disrupted(failed)
	case failedAdmit:
		text += after(": ", brief(p.Message))
	case failedLate:
		text = fmt.Sprintf("%s ended by %s: each further pod has as long again", count(n, "pod was", "pods were"),
			podDeadline(p))
		// A limit of 1000 or more is in fact no limit. The default with backoffLimitPerIndex is
		// such a limit.
		if limit := int64(*l.spec.BackoffLimit); limit > 0 && limit < 1000 {
			text += fmt.Sprintf(", and all %d that backoffLimit %d allows have %s together, besides the backoffs "+
				"between them",
				limit+1, limit, span(time.Duration((limit+1)*value.Of(p.Spec.Deadline))*time.Second))
		}
	case failedLost:
		text += l.containerLost(p)
	default:
		text += said(last.container.Reason, last.container.Message)
	}
	text += l.vainText()
	clue, first := l.clues(last)
	text += clue
	if why := l.overcome(last.place); why != "" {
		alone := []*Remedy{inspect("leave the Job alone: it goes on, and a restart would lose what is done",
			kubectl(l.job.Namespace, "get", "job", l.job.Name, "--watch"))}
		if r := l.remediesOf(last)[0]; len(r.Acts()) == 0 {
			alone = append(alone, r)
		}
		return finding(Note, string(kind), text+"; "+why, alone...)
	}
	return finding(Warning, string(kind), text, append(first, l.remediesOf(last)...)...)
}

// overcome returns a text if the Job has gone on after its last failure and is far from its limits, or
// else "". With backoffLimitPerIndex, the success of one index says nothing about another.
func (l *look) overcome(last int) string {
	n, since := int64(0), l.found.Pods[last].FinishTime
	for i := range l.pods {
		if l.snapshot.Pods[i].Phase == job.PodSucceeded && l.found.Pods[i].FinishTime.After(since) {
			n++
		}
	}

	limit := int64(*l.spec.BackoffLimit)
	switch {
	case n == 0, l.failures()*4 > limit, l.works() == 0, l.spec.BackoffLimitPerIndex != nil:
		return ""
	case len(l.deadlineFindings()) > 0:
		return ""
	}
	return fmt.Sprintf("%s since then, and %s of backoffLimit %d %s left", count(n, "pod has succeeded",
		"pods have succeeded"), count(limit-l.failures(), "retry", "retries"), limit,
		verb(limit-l.failures(), "is", "are"))
}

// remediesOf say what to do about a pod that has failed, by the kind of its failure.
func (l *look) remediesOf(f failure) []*Remedy {
	p := l.pods[f.place]
	switch f.kind {
	case failedMemory:
		return l.memoryRemedies(p, f.container.Name)
	case failedStart:
		return l.startRemedies(p, f.container.Message+" "+exit(f.container.ExitCode, ""))
	case failedEvict:
		return l.evictedRemedies(p)
	case failedNode:
		return l.ignoreRemedies()
	case failedAdmit:
		return l.refusedPodRemedies(p)
	case failedLate:
		return l.lateRemedies(p)
	case failedLost:
		return l.containerLostRemedies(p)
	}
	return l.failedRemedies(f)
}

// failedRemedies say how to find out why a pod has failed.
func (l *look) failedRemedies(f failure) []*Remedy {
	p := l.pods[f.place]
	all := l.startWith(p, &f.container, read.End{Reason: f.container.Reason, Message: f.container.Message}, false)
	if l.found.Pods[f.place].FinishTime.IsZero() || p.Object.Deletion != nil {
		for i, r := range all {
			if strings.Contains(r.Command, " logs ") {
				all[i] = withRisk(r, readsOnly+"; the logs are there as long as the pod is")
			}
		}
	}

	memory := l.memoryRemedies(p, f.container.Name)
	switch {
	case contains(f.container.Message, "outofmemoryerror", "heap out of memory", "cannot allocate memory",
		"memoryerror"):
		return append(memory, all[len(all)-1])
	case f.container.ExitCode == 137:
		killed := when("a process in it was killed for its memory, which the kubelet does not always see", memory[0])
		return slices.Insert(all, 1, killed)
	}
	return append(l.vainRemedies(f), all...)
}

// vainText describes the work that pods have done although they failed because of another container.
func (l *look) vainText() string {
	did := l.didInVain()
	if len(did.order) == 0 {
		return ""
	}
	return fmt.Sprintf("; container %s ended with exit code 0 there: its work is done, and a pod of which another "+
		"container fails is repeated as a whole", did.list())
}

// vainRemedies say what to do about a pod whose first container has done its work.
func (l *look) vainRemedies(f failure) (all []*Remedy) {
	p, did, bad := l.pods[f.place], l.didInVain(), f.container.Name
	main := firstOf(&p.Spec)
	if did.counts[main] == 0 || bad == main {
		return nil
	}
	all = append(all, inspect(fmt.Sprintf("look whether the work is done, before it is done again: container %s has "+
		"ended with exit code 0", main), kubectl(p.Namespace, "logs", p.Name, "-c", main)))
	if !l.isFinished() && !l.fails() && !l.isSuspended() {
		all = append(all, when("it is done", does("suspend the Job, so that no further pod repeats it",
			"the pods that run are deleted with their logs, and their work is ended",
			patch(l.job.Namespace, "job", l.job.Name, "spec.suspend", true))))
	}
	return append(all, when(bad+" only supports "+main, l.again(fmt.Sprintf("move %s into initContainers with "+
		"restartPolicy: Always (a native sidecar, whose exit code does not count),", bad))))
}

// podDeadline describes the deadline of a pod, which is not the deadline of its Job.
func podDeadline(p *read.Pod) string {
	return fmt.Sprintf("the deadline of the pod, activeDeadlineSeconds %d in the pod template, which counts for "+
		"each pod from its own start", value.Of(p.Spec.Deadline))
}

// lateRemedies say what to do about pods that have reached the deadline in the pod template.
func (l *look) lateRemedies(p *read.Pod) []*Remedy {
	more := when("its work is not done, and each pod needs more time",
		l.again(fmt.Sprintf("raise activeDeadlineSeconds in the pod template, now %d,", value.Of(p.Spec.Deadline))))
	whole := when("its work is not done, and the deadline was meant for the Job as a whole",
		l.again("move activeDeadlineSeconds from spec.template.spec to spec"))
	if !l.isFinished() && !l.fails() && l.spec.ActiveDeadlineSeconds == nil {
		whole = when("it was meant for the Job as a whole",
			l.set("set spec.activeDeadlineSeconds of the Job, and take it out of the pod template in the manifest",
				"spec.activeDeadlineSeconds", value.Of(p.Spec.Deadline),
				fmt.Sprintf("it counts from the start of the Job, %s: the Job fails %s, and its active pods are "+
					"deleted", l.at(l.start()),
					l.atOrNow(l.start().Add(time.Duration(value.Of(p.Spec.Deadline))*time.Second)))))
	}

	read := l.logs(p, firstOf(&p.Spec), false)
	return []*Remedy{withDo(read, "read what it printed, and look whether its work was done before it hung: each "+
		"further start may do it again"), whole, more}
}

// atOrNow returns the words for a time in the future, or "immediately" for an earlier time.
func (l *look) atOrNow(t time.Time) string {
	if t.After(l.now) {
		return l.at(t)
	}
	return "immediately"
}

// containerLost explains ContainerStatusUnknown.
func (l *look) containerLost(p *read.Pod) string {
	return fmt.Sprintf(": the kubelet of node %s did not find the container any more, as after a restart of the "+
		"node or of its container runtime, and writes 137 since it does not know how it ended; this is not a sign "+
		"of too little memory, and there may be no logs", p.Node)
}

// containerLostRemedies say how to find out why a node has lost a container. Such a pod does not
// have the condition DisruptionTarget, so no pod failure policy can ignore the failure.
func (l *look) containerLostRemedies(p *read.Pod) []*Remedy {
	look := inspect("look what has happened to the node: its conditions and events say whether it was restarted, "+
		"and when", kubectl("", "describe", "node", p.Node))
	if l.isFinished() || l.fails() {
		return []*Remedy{look, l.again("a pod whose container is lost counts as a failure: raise backoffLimit")}
	}
	return []*Remedy{look, when("it happens again", l.moreFailures("allow this Job more failures"))}
}

// refusedPodRemedies say what to do about pods that the kubelet of their node did not accept. Such a
// pod does not have the condition DisruptionTarget, so no pod failure policy can ignore the failure.
func (l *look) refusedPodRemedies(p *read.Pod) []*Remedy {
	more := l.moreFailures("allow this Job more failures: the pod has failed without having begun, and counts")
	full := inspect("look what else runs on the node: something that the scheduler does not count, such as static "+
		"pods or a second scheduler, has taken the room", kubectl("", "describe", "node", p.Node))
	if contains(p.Message, "devices unavailable", "allocate failed") {
		full = inspect("look at the device plugin on that node: it has reported a device that is not free, as "+
			"after its restart, or a broken one",
			kubectl("kube-system", "get", "pods", "-o", "wide", "--field-selector", "spec.nodeName="+p.Node))
	}

	if l.isFinished() || l.fails() {
		return []*Remedy{full, l.again("a pod that a node refuses counts as a failure: raise backoffLimit")}
	}
	return []*Remedy{more, when("it happens again", full)}
}

// disrupted describes what ended pods that did not fail by themselves.
func (l *look) disrupted(failed []failure) string {
	var why tally
	for _, f := range failed {
		p := l.pods[f.place]
		c := p.Condition("DisruptionTarget")
		switch {
		case p.Message != "" && p.Reason != "":
			why.add(plainly(p.Message))
		case c.Reason != "":
			why.add(disruptionText(c.Reason) + " (" + c.Reason + ")")
		default:
			why.add(p.Reason)
		}
	}
	n := int64(len(failed))
	return fmt.Sprintf("%s disrupted from outside, and %s against %s although the work did nothing wrong: %s",
		count(n, "pod was", "pods were"), verb(n, "counts", "count"), l.failureLimit(), why.list())
}

// ignorePolicy is a pod failure policy under which disruptions do not count.
const ignorePolicy = "podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}"

// evictedRemedies say what to do about pods that were evicted because their node ran out of a
// resource.
func (l *look) evictedRemedies(p *read.Pod) []*Remedy {
	if name := quoted(p.Message, "EmptyDir volume"); name != "" {
		return []*Remedy{l.again(fmt.Sprintf("raise sizeLimit of emptyDir %s, which the pod has filled, or let the "+
			"program write less to it", name))}
	}
	if contains(p.Message, "exceeded its local ephemeral storage limit", "exceeds the total limit of containers") {
		return []*Remedy{l.again("raise requests and limits for ephemeral-storage, or let the program write to a " +
			"PersistentVolumeClaim: the pod has used more than its own limit, whatever else the node runs")}
	}
	if contains(p.Message, "ephemeral-storage", "ephemeral local storage") {
		return []*Remedy{
			l.again("give the container requests and limits for ephemeral-storage that it keeps to, or write to a " +
				"PersistentVolumeClaim instead of an emptyDir or the image's own files,"),
			when("others fill the node", l.ignoreRemedies()[0]),
		}
	}
	return []*Remedy{l.again("set resources.requests to what the container really uses: pods that use more than " +
		"they request are evicted first,"), when("others fill the node", l.ignoreRemedies()[0])}
}

// ignoredFindings report a podFailurePolicy that ignores failure after failure.
func (l *look) ignoredFindings() []Finding {
	var ends tally
	rule, n := 0, int64(0)
	for i, found := range l.found.Pods {
		match := found.Match
		ignored := match != nil && match.Action == job.IgnoreFailure
		ignored = ignored && (match.Condition == "" || l.pods[i].Reason == "Evicted")
		if ignored && found.Failed && l.snapshot.Pods[i].Phase == job.PodFailed {
			n, rule = n+1, match.Rule
			ends.add(l.endOf(i))
		}
	}

	if n < 3 || l.isFinished() || l.spec.ActiveDeadlineSeconds != nil {
		return nil
	}

	severity := Warning
	if l.found.Succeeded == 0 {
		severity = Error
	}

	failed := l.failedPods()
	last := failed[len(failed)-1]
	cause := l.remediesOf(last)
	if last.kind == failedNode || last.kind == failedOther {
		cause = nil
	}
	return oneFinding(severity, "IgnoredForever",
		fmt.Sprintf("rule %d of the podFailurePolicy (Ignore) has ignored %s with %s: ignored failures "+
			"count towards no limit and have no end, since activeDeadlineSeconds is not set%s%s", rule,
			count(n, "failure"), ends.list()+said(last.container.Reason, last.container.Message), l.nodeSaid(&last),
			l.limitOf(&last)),
		append(slices.Clone(cause[:min(1, len(cause))]), l.logs(l.pods[last.place], last.container.Name, false),
			l.set("give the Job an end", "spec.activeDeadlineSeconds", int64(l.now.Sub(l.start()).Seconds())+3600,
				"the Job fails when the time has passed since its start, and its running pods are deleted"),
			when("these failures should count",
				l.again("narrow the rule to the exit codes or conditions that are nobody's fault")))...)
}

// limitOf names the memory limit at which a container was killed.
func (l *look) limitOf(f *failure) string {
	if f.kind != failedMemory {
		return ""
	}
	return "; memory ran out" + l.memoryLimit(l.pods[f.place], f.container.Name)
}

// failedFinding reports a Job that has failed or is about to fail.
func (l *look) failedFinding() []Finding {
	var reason, message, begin, code string
	switch {
	case l.status.Finished() == job.ConditionFailed:
		c := l.status.Condition(job.ConditionFailed)
		reason, message, begin, code = c.Reason, c.Message, "", "JobFailed"
	case l.fails():
		reason, message, begin, code = l.plan.Verdict.Reason, l.plan.Verdict.Message, "the Job is about to fail: ",
			"JobFails"
	default:
		return nil
	}

	failed := l.failedPods()
	order, swap := l.ruleOrder(message)
	text := begin + l.cause(reason, message) + order
	if done := l.found.CompletedIndexes; l.isIndexed() && done.Len() > 0 && !l.notDone().Equal(l.found.FailedIndexes) {
		text += fmt.Sprintf("; done: %s; not done: %s", done, l.notDone())
		if l.found.FailedIndexes.Len() == 0 {
			text += l.indexesFailed()
		}
	}
	if leaving := l.leavingFailures(); len(failed) == 0 && len(leaving) > 0 && code == "JobFails" {
		return oneFinding(Error, code, text+"; "+l.leavingText(leaving), l.leavingRemedies(leaving)...)
	}
	if len(failed) == 0 {
		spent, _ := l.spent(reason)
		text += l.deletedPods(reason) + spent + l.goneText() + l.stopped() + l.outgrownText(reason)
		return oneFinding(Error, code, text, l.lostRemedies(reason)...)
	}

	last := failed[len(failed)-1]
	for _, f := range failed { // the pod that matched FailJob has made the Job fail
		match := l.found.Pods[f.place].Match
		if match != nil && match.Action == job.FailJob && reason == "PodFailurePolicy" {
			last = f
		}
	}

	remedies := l.remediesOf(last)
	switch last.kind {
	case failedStart:
		if !neverRan(last.container.Reason) && last.container.Message == "" {
			remedies = append([]*Remedy{l.logs(l.pods[last.place], last.container.Name, false)}, remedies...)
		}
	case failedNode:
		remedies = append(remedies,
			when("nodes go away often", inspect("look what has happened to them", kubectl("", "describe", "nodes"))))
	}
	switch {
	case reason == "DeadlineExceeded":
		remedies = append(l.deadlineRemedies(), remedies...)
	case reason == "BackoffLimitExceeded" && l.spec.BackoffLimitPerIndex != nil:
		remedies = append([]*Remedy{l.again("leave out backoffLimit, which is then no limit, and set " +
			"maxFailedIndexes if too many failed indexes should end the Job,")}, remedies...)
	}
	clue, first := l.clues(last)
	// To run a few indexes again comes before running all of them again.
	remedies = slices.Concat(l.lookFirst(last), swap, first, l.narrower(last, reason), l.indexRemedies(), remedies)

	var ends tally
	for _, f := range failed {
		ends.add(l.endOf(f.place))
	}
	text += fmt.Sprintf("; the failed pods that still exist ended with %s%s%s%s", ends.list(),
		said(last.container.Reason, last.container.Message)+l.nodeSaid(&last),
		l.killed(l.pods[last.place], &last.container)+l.vainText(), l.failuresGone()+clue)
	return oneFinding(Error, code, text, remedies...)
}

// narrower says how to let a rule retry an exit code with which a program has ended for an error that passes.
func (l *look) narrower(f failure, reason string) []*Remedy {
	match := l.found.Pods[f.place].Match
	if match == nil || match.Action != job.FailJob || reason != "PodFailurePolicy" {
		return nil
	}

	_, line := symptomOf(f.container.Message)
	passes := slices.Concat(declined, unanswered, silentDNS, []string{"too many requests", "too many connections",
		"rate limit", "502 bad gateway", "503 service", "504 gateway", "service unavailable", "temporar"})
	isCode := l.spec.PodFailurePolicy.Rules[match.Rule].OnExitCodes != nil
	if !isCode || !contains(line, passes...) {
		return nil
	}
	return []*Remedy{when("such an error passes, and the work may be tried again", l.again(fmt.Sprintf("leave exit "+
		"code %d out of rule %d of podFailurePolicy, or let the program end with another code for what passes: it is "+
		"then retried up to backoffLimit %d", f.container.ExitCode, match.Rule, *l.spec.BackoffLimit)))}
}

// effects begin words of names and commands of programs whose work is seen outside.
var effects = regexp.MustCompile(`(?i)(^|[-_/ ])(pay|settle|invoice|mail|send|notify|charge|transfer|import|ingest|` +
	`publish|bill)`)

// lookFirst says that the work of a failed pod may show outside, before it is done again. An error of a known kind
// comes before or instead of such work.
func (l *look) lookFirst(f failure) []*Remedy {
	p, c := l.pods[f.place], &f.container
	spec := p.Spec.Container(c.Name)
	what := l.job.Name + " " + path.Base(repository(spec.Image)) + " " + strings.Join(slices.DeleteFunc(
		slices.Concat(spec.Command, spec.Args), func(arg string) bool { return strings.HasPrefix(arg, "-") }), " ")
	s, _ := symptomOf(c.Message)
	isDone := f.kind == failedOther && s == nil && !contains(c.Message, "nothing was", "rolled back", "usage:")
	isLong := l.longestFailure() >= time.Minute && len(l.didInVain().order) == 0 // vainRemedies say it
	if !effects.MatchString(what) || !isDone || !isLong {
		return nil
	}
	return []*Remedy{inspect("look first what its pods have sent or written: a new run does that again",
		kubectl(p.Namespace, "logs", p.Name, "-c", c.Name))}
}

// indexesFailed names the indexes whose failed pods still exist.
func (l *look) indexesFailed() string {
	var failed tally
	for _, f := range l.failedPods() {
		failed.add(fmt.Sprint("index ", l.snapshot.Pods[f.place].Index))
	}
	if len(failed.order) == 0 {
		return ""
	}
	return ", of which failed " + failed.list()
}

// notDone returns the indexes that have not succeeded.
func (l *look) notDone() job.Indexes {
	return job.Indexes{}.With(0, *l.spec.Completions-1).Minus(l.found.CompletedIndexes)
}

// ruleOrder returns a text if a rule has made the Job fail for a pod that a later rule would have treated
// otherwise, or before a later rule could ignore a disruption; and what to do.
func (l *look) ruleOrder(message string) (text string, fix []*Remedy) {
	_, index, _ := strings.Cut(message, "rule at index ")
	matched, err := strconv.Atoi(index)
	isRule := err == nil && matched >= 0 && l.spec.PodFailurePolicy != nil
	if !isRule || matched >= len(l.spec.PodFailurePolicy.Rules) {
		return "", nil
	}

	const first = "the first rule that matches decides: put rule %d, which %s, before rule %d"
	swap := func(n int) []*Remedy {
		return []*Remedy{l.again(fmt.Sprintf("put rule %d of podFailurePolicy before rule %d, if it should decide", n,
			matched))}
	}

	// The planner judges the same pods by the later rules alone.
	s, later := l.snapshot, *l.spec.PodFailurePolicy
	later.Rules = later.Rules[matched+1:]
	s.Job.Spec.PodFailurePolicy = &later
	found, err := job.Inspect(s)
	for i, p := range l.pods {
		match := l.found.Pods[i].Match
		if err != nil || match == nil || match.Action != job.FailJob {
			continue
		}
		next := found.Pods[i].Match
		if next != nil && next.Action != job.FailJob {
			n := matched + 1 + next.Rule
			does := map[job.FailureAction]string{job.IgnoreFailure: "ignores it", job.CountFailure: "counts it",
				job.FailIndex: "fails its index only"}[next.Action]
			if next.Condition != "" {
				does = "ignores disruptions"
			}
			return fmt.Sprintf("; rule %d matches pod %s as well, and "+first, n, p.Name, n, does, matched), swap(n)
		}
		if p.Condition("DisruptionTarget").Status != "True" {
			return "", nil
		}
	}

	for i, rule := range l.spec.PodFailurePolicy.Rules {
		isLater := rule.Action == job.IgnoreFailure && len(rule.OnPodConditions) > 0 && i > matched
		if isLater && contains(message, "exit code 143", "exit code 137") {
			return fmt.Sprintf("; a pod that is ended from outside, as in a drain, may have this exit code, and "+first,
				i, "ignores disruptions", matched), swap(i)
		}
	}
	return "", nil
}

// indexRemedies say how to run only the indexes again that have not succeeded. Besides the failed
// ones, that are those that had no time to run.
func (l *look) indexRemedies() []*Remedy {
	const most = 50
	if !l.isIndexed() || !l.isFinished() {
		return nil
	}
	open := l.notDone()
	n := int32(open.Len())
	if n == 0 || n > most || n == *l.spec.Completions {
		return nil
	}

	var places []string
	for index := range open.All() {
		places = append(places, fmt.Sprint(index))
	}
	copied, without := *l.spec, ","
	if copied.Completions = &n; job.Validate(copied) != nil {
		without = ", without maxFailedIndexes and successPolicy, which are for more of them,"
	}
	return []*Remedy{when("what the other indexes have done is to stay", inspect(
		fmt.Sprintf("run only %s %s again, with the cause corrected: create a copy of the Job under another name with "+
			"completions %d%s and let its command find the old index before it begins: set -- %s; shift "+
			"$JOB_COMPLETION_INDEX; export JOB_COMPLETION_INDEX=$1",
			verb(int64(n), "index", "indexes"), open, n, without, strings.Join(places, " ")),
		kubectl(l.job.Namespace, "get", "job", l.job.Name, "-o", "yaml")))}
}

// leavingFailures returns the pods that count as failed because something other than the controller
// deletes them (J7).
func (l *look) leavingFailures() (all []int) {
	for i, found := range l.found.Pods {
		if found.Failed && l.snapshot.Pods[i].Phase < job.PodSucceeded {
			all = append(all, i)
		}
	}
	return all
}

// leavingText describes which pods are being deleted. It says why, if a condition of the first pod
// shows it.
func (l *look) leavingText(leaving []int) string {
	var names []string
	for _, i := range leaving {
		names = append(names, l.pods[i].Name)
	}

	d, reason := l.snapshot.Pods[leaving[0]].Deletion, l.pods[leaving[0]].Condition("DisruptionTarget").Reason
	who := "deleted by somebody else than the controller, such as a person, an eviction or the drain of its node"
	if reason != "" {
		who = disruptionText(reason)
	}

	n := int64(len(names))
	return fmt.Sprintf("%s been terminating since %s and %s %s", list(names)+verb(n, " has", " have"),
		l.clock(d.Begun()), verb(n, "counts as failed: it was", "count as failed: they were"), who)
}

// leavingRemedies say what to do about pods that are deleted while they work.
func (l *look) leavingRemedies(leaving []int) []*Remedy {
	p := l.pods[leaving[0]]
	look := inspect("look who has deleted it: its events name an eviction or a preemption, those of the node a drain",
		kubectl(p.Namespace, "get", "events", "--field-selector=involvedObject.name="+p.Name))
	logs := withRisk(l.logs(p, "", false), readsOnly+"; the logs are there as long as the pod is")
	return append([]*Remedy{look, logs}, l.ignoreRemedies()[0])
}

// nodeSaid describes why a node has evicted, refused or ended a pod, or lost its container.
func (l *look) nodeSaid(f *failure) string {
	switch p := l.pods[f.place]; f.kind {
	case failedLate:
		return "; it was ended by " + podDeadline(p)
	case failedLost:
		return l.containerLost(p)
	}
	if p := l.pods[f.place]; (f.kind == failedEvict || f.kind == failedAdmit) && p.Message != "" {
		return "; the kubelet said: " + told(p.Message)
	}
	return ""
}

// deletedPods names the pods that were deleted according to events, or describes why they are gone.
func (l *look) deletedPods(reason string) string {
	if names := l.deletedAtEnd(); len(names) > 0 {
		if e := l.neverScheduled(); e != nil {
			return fmt.Sprintf("; none of them ever had a node, so nothing ran and there are no logs: the time in "+
				"which they were pending counts as well; the controller deleted %s at the end", list(names))
		}
		return fmt.Sprintf("; the controller deleted %s at the end, with the logs", list(names))
	}
	if l.failures() == 0 {
		return ""
	}
	if l.spec.Template.RestartPolicy == job.RestartOnFailure || reason == "DeadlineExceeded" {
		return "; no failed pod of it was read: the controller deletes active pods at a limit, and the logs with them"
	}
	return "; none of the failed pods is among those that were read"
}

// neverScheduled returns the last report of the scheduler if no pod that is gone ever had a node.
func (l *look) neverScheduled() (last *read.Event) {
	for _, p := range l.gone {
		if lastEvent(p.events, "Scheduled") != nil || lastEvent(p.events, "Started") != nil {
			return nil
		}
		if e := lastEvent(p.events, "FailedScheduling"); e != nil {
			last = e
		}
	}
	return last
}

// lostRemedies say what to do about a failed Job whose pods are gone.
func (l *look) lostRemedies(reason string) (all []*Remedy) {
	if e := l.neverScheduled(); e != nil && reason == "DeadlineExceeded" {
		p := &read.Pod{Meta: l.job.Meta, Spec: l.job.Template}
		return append(nowEnded(l.scheduleRemedies(p, e.Message, l.gone[len(l.gone)-1].events)), l.deadlineRemedies()[0])
	}
	if reason == "DeadlineExceeded" {
		all = l.deadlineRemedies()
		for i, p := range l.pods {
			if l.snapshot.Pods[i].Phase == job.PodRunning {
				return append(all, inspect("read what the pod prints, as long as it is there: the controller "+
					"deletes it", kubectl(p.Namespace, "logs", p.Name)))
			}
		}
	}

	if n, _ := l.goneDisruptions(); n > 0 || l.stopped() != "" && reason != "DeadlineExceeded" {
		all = append(all, l.goneRemedies()...)
		if owner := l.job.Controller(); owner.Kind == "JobSet" {
			all = append(all, inspect("a JobSet fails with its first Job that fails, unless "+
				"spec.failurePolicy.maxRestarts lets it start its Jobs again: set it in the next one",
				kubectl(l.job.Namespace, "get", "jobset", owner.Name, "-o", "yaml")))
		}
		return all
	}

	search := inspect("search the cluster's log store for the Job's name: the API server has no logs of deleted "+
		"pods; events are kept for an hour",
		kubectl(l.job.Namespace, "get", "events", "--field-selector=involvedObject.kind=Pod",
			"--sort-by=.lastTimestamp"))
	keep := l.again("set restartPolicy: Never, under which failed pods stay with their logs (with OnFailure the " +
		"pod is deleted at the limit),")

	if l.spec.Template.RestartPolicy == job.RestartOnFailure {
		return append(all, keep, search)
	}
	if all = append(all, search); reason == "DeadlineExceeded" {
		return all // the Job needs more time
	}
	return append(all, l.rerun("correct what makes the pods fail"))
}

// nowEnded returns the remedies for pods that wait that still make sense if their Job has ended.
func nowEnded(all []*Remedy) []*Remedy {
	all = slices.DeleteFunc(all, func(r *Remedy) bool { return strings.HasPrefix(r.Do, "Wait") })
	for i, r := range all {
		for _, link := range []string{", and", ";", ":"} {
			r = withDo(r, strings.ReplaceAll(r.Do, link+" the scheduler tries again by itself", ""))
		}
		all[i] = r
	}
	return all
}

func (l *look) deadlineRemedies() []*Remedy {
	_, longer := l.outgrown()
	if longer == nil {
		longer = when("the work needs more time",
			l.again(fmt.Sprintf("raise activeDeadlineSeconds, now %d,", value.Of(l.spec.ActiveDeadlineSeconds))))
	}
	if text, pulled := l.spent("DeadlineExceeded"); pulled {
		return []*Remedy{longer, l.again("let the image be there sooner: make it smaller, or have the nodes keep it " +
			"(imagePullPolicy: IfNotPresent, and a DaemonSet that pulls it before)")}
	} else if text != "" {
		return []*Remedy{longer}
	}
	return []*Remedy{
		longer,
		when("its pods were pending, or hung", inspect("look at the events before the deadline: time without a "+
			"running pod counts as well", kubectl(l.job.Namespace, "describe", "job", l.job.Name))),
	}
}

// spent describes how the time up to a deadline was spent, by the events of the only pod, if the program had only a
// part of it. It reports whether most of the rest went to the pull of the image.
func (l *look) spent(reason string) (text string, pulled bool) {
	if len(l.gone) != 1 || reason != "DeadlineExceeded" {
		return "", false
	}
	p, at := l.gone[0], l.start()
	started, end := lastEvent(p.events, "Started"), l.failedAt()
	if started == nil || !end.After(started.Last) {
		return "", false
	}

	var parts []string
	var waited, took time.Duration
	for _, step := range [][2]string{{"Scheduled", "waited for a node"}, {"Pulled", "pulled the image"}} {
		if e := lastEvent(p.events, step[0]); e != nil && e.Last.After(at) {
			took, at = e.Last.Sub(at), e.Last
			if took >= slack {
				parts, waited = append(parts, step[1]+" for "+span(took)), waited+took
			}
		}
	}
	if len(parts) > 0 && waited >= end.Sub(l.start())/10 {
		text = fmt.Sprintf("; the deadline counts from the start of the Job: pod %s %s, and its program ran for %s",
			p.name, list(parts), span(end.Sub(started.Last)))
	}
	return text, text != "" && took > waited/2 && strings.Contains(parts[len(parts)-1], "pulled")
}

// deletedAtEnd returns the active pods that the controller deleted because the Job failed, by its events.
// The status counts them as failed.
func (l *look) deletedAtEnd() (names []string) {
	end := l.failedAt()
	if end.IsZero() {
		return nil
	}
	for _, e := range l.events {
		_, name, ok := strings.Cut(e.Message, "Deleted pod: ")
		if ok && e.Reason == "SuccessfulDelete" && !e.Last.Before(end.Add(-time.Second)) {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

// failedAt returns the time from which on the Job counts as failed, or zero.
func (l *look) failedAt() time.Time {
	if c := l.status.Condition(job.ConditionFailureTarget); !c.LastTransitionTime.IsZero() {
		return c.LastTransitionTime
	}
	return l.status.Condition(job.ConditionFailed).LastTransitionTime
}

// failedBefore returns the number of pods that failed before the Job did, for a reason. If isKnown is
// false, the number may include active pods that the controller deleted then.
func (l *look) failedBefore(reason string) (n int64, isKnown bool) {
	n = l.failures()
	if l.status.Finished() != job.ConditionFailed && !l.fails() {
		return n, true
	}

	least, deleted := int64(len(l.failedPods())), int64(len(l.deletedAtEnd()))
	if !l.isFinished() && deleted == 0 {
		return n, true
	}
	if reason == "BackoffLimitExceeded" && l.spec.Template.RestartPolicy == job.RestartNever {
		least = max(least, int64(*l.spec.BackoffLimit)+1)
	}
	least = min(least, n)
	return max(n-deleted, least), deleted > 0 || n == least
}

// failuresGone describes how many counted failures have no pod any more.
func (l *look) failuresGone() (text string) {
	gone := l.failures() - int64(l.countFailed())
	if n := min(gone, int64(len(l.deletedAtEnd()))); n > 0 {
		gone -= n
		text = fmt.Sprintf("; the controller then deleted %s, which the status counts as failed as well",
			count(n, "active pod"))
	}
	if gone > 0 {
		text += fmt.Sprintf("; %s counted whose %s gone", count(gone, "more failure is", "more failures are"),
			verb(gone, "pod is", "pods are"))
	}
	return text
}
