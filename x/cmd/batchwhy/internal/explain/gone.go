package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// gonePod is a pod that occurs only in events: it does not exist any more, or it was not read.
type gonePod struct {
	name   string
	events []read.Event
}

// sortGone finds the pods that occur only in events or logs. A pod's name is its Job's name, a dash and
// five letters.
func (e *Explainer) sortGone() {
	e.gone = make(map[string][]gonePod)
	there := make(map[string]bool, len(e.objects.Pods))
	for _, p := range e.objects.Pods {
		if p != nil {
			there[p.Key()], there["/"+p.Name] = true, true
		}
	}

	e.logged = make(map[string][]read.LogKey)
	logs := make(map[string]*read.LogKey)
	for key := range e.objects.Logs() {
		logs[fmt.Sprint(key)] = &key
	}
	for _, text := range sortedKeys(logs) {
		key := *logs[text]
		at := strings.LastIndexByte(key.Pod, '-')
		if isOfJob := at > 0 && len(key.Pod)-at == 6 && !there[key.Namespace+"/"+key.Pod]; isOfJob {
			e.logged[key.Pod[:at]] = append(e.logged[key.Pod[:at]], key)
		}
	}

	for _, key := range sortedKeys(e.objects.EventPods) {
		if at := strings.LastIndexByte(key, '-'); at > 0 && len(key)-at == 6 && !there[key] {
			_, name, _ := strings.Cut(key, "/")
			e.gone[key[:at]] = append(e.gone[key[:at]], gonePod{name, e.objects.Events[e.objects.EventPods[key]]})
		}
	}
}

// goneOf returns the pods of a Job that occur only in events. Events from before the Job's creation
// concern an earlier Job of the same name.
func (e *Explainer) goneOf(j *read.Job) (all []gonePod) {
	for _, name := range podNames(j) {
		for _, p := range e.gone[j.Namespace+"/"+name] {
			if last := p.events[len(p.events)-1]; !last.Last.Before(j.CreationTimestamp) {
				all = append(all, p)
			}
		}
	}
	return all
}

// podNames returns the names of the pods of a Job, without the dash and the five letters at their ends.
func podNames(j *read.Job) (names []string) {
	n := j.Object.Spec.Completions
	if j.Object.Spec.CompletionMode != "Indexed" || n == nil {
		return []string{j.Name}
	}
	for i := range min(*n, 1000) {
		names = append(names, fmt.Sprintf("%s-%d", j.Name, i))
	}
	return names
}

// disruptions describes how pods are ended from outside. The keys are the reasons of the events
// that report this.
var disruptions = map[string]string{
	"Preempted":            "preempted for a pod of higher priority",
	"Preempting":           "ended by the kubelet to make room for a critical pod",
	"TaintManagerEviction": "evicted from a node with a taint, as when it is not ready",
	"Evicted":              "evicted from its node",
	"ScaleDown":            "deleted with a node that the autoscaler took away",
	"NodeShutdown":         "ended with its node, which was shut down",
}

// goneDisruptions returns how many of the gone pods were disrupted, and what disrupted them.
func (l *look) goneDisruptions() (n int64, why string) {
	var all tally
	var latest read.Event
	name := ""
	for _, p := range l.gone {
		for _, e := range p.events {
			if text := disruptions[e.Reason]; text != "" && !contains(e.Message, "cancelling deletion") {
				n++
				all.add(text)
				if !e.Last.Before(latest.Last) {
					latest, name = e, p.name
				}
				break
			}
		}
	}

	if n == 0 {
		return 0, ""
	}
	return n, all.list() + fmt.Sprintf(", the last one %s %s", name, l.at(latest.Last))
}

// goneRemedies are about pods that were disrupted and do not exist any more. They say how to
// prevent such disruptions, or how to keep them from counting.
func (l *look) goneRemedies() []*Remedy {
	for _, p := range l.gone {
		if lastEvent(p.events, "ScaleDown") != nil {
			keep := l.again("let the autoscaler wait for its pods: set the annotation " +
				"cluster-autoscaler.kubernetes.io/safe-to-evict: \"false\" " +
				"(for Karpenter karpenter.sh/do-not-disrupt: \"true\") on the pod template,")
			keep.Risk += " Nodes with such pods stay, and cost, until the pods end."
			return append([]*Remedy{keep}, l.ignoreRemedies()...)
		}
	}
	return l.ignoreRemedies()
}

// goneFindings report that gone pods were disrupted, and count as failed.
func (l *look) goneFindings() []Finding {
	counted := l.failures() - int64(l.countFailed())
	n, why := l.goneDisruptions()
	if l.isElsewhere() {
		return nil
	}

	if n == 0 && counted > 0 && !l.isFinished() {
		return l.stoppedFindings()
	}
	if n > 1 && counted <= 0 && !l.isFinished() {
		return oneFinding(Warning, "DisruptedAgain", fmt.Sprintf("%d pods that are gone were disrupted from outside, "+
			"which counts towards no limit: %s. If that happens more often than a pod takes to do its work, the work "+
			"is never done", n, why),
			inspect("look what disrupts them, and how often: for a preemption, suspend what has the higher priority "+
				"or add nodes", kubectl("", "get", "pods", "-A", "-o",
				"custom-columns=NAME:.metadata.name,NODE:.spec.nodeName,PRIORITY:.spec.priority")),
			l.nextTime("set a priorityClassName that the others do not preempt, or let the program save what it has "+
				"done and go on from there"))
	}

	if n = min(n, counted); n <= 0 {
		return nil
	}

	return []Finding{inferred(finding(Warning, string(failedNode),
		fmt.Sprintf("%s, by the events about %s, and %s against %s although the work did nothing wrong: %s",
			count(n, "pod that is gone was disrupted from outside", "pods that are gone were disrupted from outside"),
			verb(n, "it", "them"), verb(n, "counts", "count"), l.failureLimit(), why),
		l.goneRemedies()...))}
}

// stoppedPod returns a gone pod that something other than the controller has deleted, and the event
// about its end. It returns nil if there is none.
func (l *look) stoppedPod() (*gonePod, *read.Event) {
	for i := range slices.Backward(l.gone) {
		p := &l.gone[i]
		e := lastEvent(p.events, "Killing")
		end := l.failedAt()
		byController := func(own read.Event) bool {
			return own.Reason == "SuccessfulDelete" && strings.HasSuffix(own.Message, p.name)
		}
		switch {
		case e == nil, !l.stopsWork(e.Message), lastEvent(p.events, "DeadlineExceeded") != nil:
			continue
		case !end.IsZero() && !e.Last.Before(end):
			continue // the controller deletes active pods then
		case slices.ContainsFunc(l.events, byController):
			continue
		}
		return p, e
	}
	return nil, nil
}

// stoppedFindings report a gone pod that something other than the controller has deleted.
func (l *look) stoppedFindings() []Finding {
	if p, e := l.stoppedPod(); p != nil {
		all := []*Remedy{inspect("find out who has deleted it: drains and autoscalers leave events about nodes, a "+
			"person only a line in the audit log of the API server", "kubectl get events -A --field-selector "+
			"involvedObject.kind=Node")}
		if l.spec.ActiveDeadlineSeconds == nil {
			all = append(all, when("it happens again", l.moreFailures("allow this Job more failures")))
		}

		return []Finding{inferred(finding(Warning, "PodDeleted", fmt.Sprintf("pod %s was deleted while it ran, and "+
			"counts against %s: its containers were stopped %s, and the controller has not asked for that", p.name,
			l.failureLimit(), l.at(e.Last)), all...))}
	}
	return nil
}

// stopsWork reports whether the message of an event says that a container which does the work is
// stopped. The kubelet also stops sidecars, when the work is done.
func (l *look) stopsWork(message string) bool {
	name, ok := strings.CutPrefix(message, "Stopping container ")
	return ok && slices.Contains(l.spec.Template.Containers, strings.TrimSpace(name))
}

// goneText describes what events report about the gone pods of a failed Job.
func (l *look) goneText() string {
	if n, why := l.goneDisruptions(); n > 0 {
		return fmt.Sprintf("; by the events, %s disrupted from outside: %s",
			count(n, "of them was", "of them were"), why)
	}

	var last *read.Event
	name := ""
	for _, p := range l.gone {
		if e := latestWarning(p.events); e != nil && (last == nil || e.Last.After(last.Last)) {
			last, name = e, p.name
		}
	}
	if last == nil {
		return ""
	}
	return fmt.Sprintf("; the last warning about %s, %s %s: %s", name, last.Reason, l.at(last.Last), told(last.Message))
}

// killReport returns the event in which a node reports that it killed a process for lack of memory,
// if that was when a container ended with exit code 137. Otherwise it returns nil.
func (l *look) killReport(p *read.Pod, c *read.Container) *read.Event {
	switch {
	case c.ExitCode != 137, c.Reason == "OOMKilled", p.Node == "", p.Condition("DisruptionTarget").Status == "True":
		return nil
	}

	events := l.e.objects.NodeEvents(p.Node)
	for i := range events {
		e := &events[i]
		isKill := e.Reason == "OOMKilling" || e.Reason == "SystemOOM"
		if isKill && c.Since.Sub(e.Last).Abs() < slack {
			return e
		}
	}
	return nil
}

// killed describes what a node has reported about a container that it killed.
func (l *look) killed(p *read.Pod, c *read.Container) string {
	e := l.killReport(p, c)
	if e == nil {
		return ""
	}
	what, _, _ := strings.Cut(e.Message, " total-vm")
	return fmt.Sprintf("; node %s reported %s %s: %s", p.Node, e.Reason, l.at(e.Last), told(what))
}
