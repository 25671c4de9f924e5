package explain

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// maxPods is the number of pods that an explanation names by default.
const maxPods = 100

// listPods describes the state of each pod: first the pods that have not ended, then the ended
// ones, latest first. from is the number of pods to skip, and most is the maximum number to return.
// more is the number of pods after those. If a pod has a trouble, the description names its
// finding.
func (l *look) listPods(from, most int, troubles []*podTrouble) (all []Pod, more int) {
	if most == 0 {
		most = maxPods
	}

	places := make([]int, 0, len(l.pods))
	for i := range l.pods {
		if l.snapshot.Pods[i].Owner != jobpod.Foreign {
			places = append(places, i)
		}
	}

	sort.Slice(places, func(a, b int) bool { return l.compareForList(places[a], places[b]) < 0 })
	places = places[min(from, len(places)):]
	if len(places) > most {
		more = len(places) - most
		places = places[:most]
	}

	for _, i := range places {
		all = append(all, l.describePod(i, troubles[i]))
	}
	return all, more
}

func (l *look) compareForList(a, b int) int {
	p, q := &l.snapshot.Pods[a], &l.snapshot.Pods[b]
	if x, y := p.Phase >= job.PodSucceeded, q.Phase >= job.PodSucceeded; x != y {
		return boolToInt(x) - boolToInt(y)
	} else if x {
		if c := l.found.Pods[b].FinishTime.Compare(l.found.Pods[a].FinishTime); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(p.Index.Int32(), q.Index.Int32()); c != 0 {
		return c
	}
	return cmp.Compare(p.Name, q.Name)
}

func (l *look) describePod(i int, t *podTrouble) Pod {
	p := &l.snapshot.Pods[i]
	text := l.podText(i, l.pods[i])
	if t != nil && p.Phase < job.PodSucceeded {
		text = fmt.Sprintf("%s for %s%s (%s)", phaseVerb(p), l.since(startOf(l.pods[i])), l.onNode(l.pods[i]), t.Code)
	}

	out := Pod{Name: p.Name, Phase: p.Phase.String(), Text: sentence(text)}
	if n := p.Index.Int32(); n >= 0 && l.isIndexed() {
		out.Index = &n
	}
	if p.Deletion != nil && p.Phase < job.PodSucceeded {
		out.Phase = "Terminating"
	}
	return out
}

func (l *look) podText(i int, p *read.Pod) string {
	pod, found := &l.snapshot.Pods[i], &l.found.Pods[i]
	switch {
	case pod.Phase == job.PodSucceeded:
		return "succeeded " + l.at(found.FinishTime) + l.took(i, p)
	case pod.Phase == job.PodFailed:
		return fmt.Sprintf("failed %s%s with %s%s", l.at(found.FinishTime), l.took(i, p), l.endOf(i), l.ruleOf(found))
	case pod.Deletion != nil:
		return fmt.Sprintf("is being deleted and must be gone %s%s", l.at(pod.Deletion.Timestamp), l.onNode(p))
	case pod.Phase == job.PodRunning:
		return fmt.Sprintf("runs for %s%s%s%s%s", l.since(worksSince(p)), l.onNode(p), l.notReady(pod),
			restarted(pod), l.prints(p))
	}
	return fmt.Sprintf("is pending for %s%s", l.since(p.CreationTimestamp), l.pendingWhy(p))
}

// phaseVerb returns the verb for the phase of a pod that has not ended.
func phaseVerb(p *job.Pod) string {
	switch {
	case p.Deletion != nil:
		return "is terminating, and exists"
	case p.Phase == job.PodRunning:
		return "has phase Running"
	}
	return "is pending"
}

func startOf(p *read.Pod) time.Time {
	if !p.StartTime.IsZero() {
		return p.StartTime
	}
	return p.CreationTimestamp
}

// worksSince returns the time at which the first container that runs was started. Before that time,
// a node may have pulled images.
func worksSince(p *read.Pod) time.Time {
	since := startOf(p)
	for _, c := range p.Containers {
		if c.Restarts > 0 {
			return since
		}
	}
	for _, c := range p.Containers {
		if c.Running && !c.Init && c.Since.After(since) {
			return c.Since
		}
	}
	return since
}

func (l *look) took(i int, p *read.Pod) string {
	if d := l.found.Pods[i].FinishTime.Sub(startOf(p)); d > 0 && !startOf(p).IsZero() {
		return " after " + span(d)
	}
	return ""
}

func (l *look) onNode(p *read.Pod) string { return after(" on node ", p.Node) }

func (l *look) notReady(p *job.Pod) string {
	if p.Ready {
		return ""
	}
	return ", not ready"
}

// prints quotes the last line of the log of a pod's first container that runs.
func (l *look) prints(p *read.Pod) string {
	for _, c := range p.Containers {
		if !c.Running || c.Init || c.Sidecar {
			continue
		}
		log := l.e.objects.Log(read.LogKey{Namespace: p.Namespace, Pod: p.Name, Container: c.Name})
		lines := strings.Split(log, "\n")
		line := strings.ReplaceAll(brief(lines[len(lines)-1]), `"`, "'")
		if line == "" {
			return ""
		}
		return fmt.Sprintf(`; the last line of its log is "%s"`, line)
	}
	return ""
}

func restarted(p *job.Pod) string {
	if p.Detail == nil {
		return ""
	}
	var n int64
	for _, c := range p.Detail.Containers {
		n += int64(c.Restarts)
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", its containers were restarted %s", count(n, "time"))
}

func (l *look) ruleOf(found *job.PodInspection) string {
	switch {
	case found.Match != nil:
		return fmt.Sprintf("; rule %d of the podFailurePolicy (%s) matched", found.Match.Rule, found.Match.Action)
	case l.spec.PodFailurePolicy != nil:
		return "; no rule of the podFailurePolicy matched"
	}
	return ""
}

func (l *look) pendingWhy(p *read.Pod) string {
	for i := range l.pods {
		pull, pulled := lastEvent(l.podEvents[i], "Pulling"), lastEvent(l.podEvents[i], "Pulled")
		if l.pods[i] == p && pull != nil && pulled == nil {
			return fmt.Sprintf(": its node pulls the image since %s, which may take minutes; no error is reported: "+
				"wait", l.clock(pull.Last))
		}
	}
	for _, c := range p.Containers {
		if c.Waiting && c.Reason != "" {
			return fmt.Sprintf(": container %s waits with %s%s", c.Name, c.Reason, after(": ", brief(c.Message)))
		}
	}
	if c := p.Condition("PodScheduled"); c.Status == "False" {
		return ": cannot be scheduled: " + brief(c.Message)
	}
	if p.Node != "" {
		return fmt.Sprintf(": node %s has not started %s containers", p.Node, whichContainers(p))
	}
	return ": it has no node yet"
}

// firstOf returns the name of the first container of a spec, which usually does the work.
func firstOf(spec *read.PodSpec) string {
	for _, c := range spec.Containers {
		if !c.Init {
			return c.Name
		}
	}
	return ""
}

func latestEnd(containers []read.Container) (last time.Time) {
	for _, c := range containers {
		last = later(last, c.Since)
	}
	return last
}

func otherFinalizers(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(f string) bool { return f == job.Finalizer })
}

func (l *look) imageOf(p *read.Pod, c *read.Container) string {
	if image := p.Spec.Container(c.Name).Image; image != "" {
		return image
	}
	return "of container " + c.Name
}

// isRangeLimit reports whether the Job's template has the container, but no memory limit for it.
func (l *look) isRangeLimit(container string) bool {
	spec := l.job.Template.Container(container)
	return spec.Name != "" && spec.MemoryLimit == ""
}

func (l *look) memoryLimit(p *read.Pod, container string) string {
	limit := p.Spec.Container(container).MemoryLimit
	if limit != "" && l.isRangeLimit(container) {
		return fmt.Sprintf(" at its memory limit of %s (not in the Job's template: a LimitRange of the "+
			"namespace sets it when a pod is created)", limit)
	}
	if limit != "" {
		return fmt.Sprintf(" at its memory limit of %s", limit)
	}
	return " (its spec sets no memory limit: it has the limit of a LimitRange, or the memory of the node)"
}
