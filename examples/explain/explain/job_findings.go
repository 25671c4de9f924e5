package explain

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/examples/explain/read"
	"github.com/batchplan/batchplan/job"
)

// slack is how long a controller may take before it counts as late, and pendingLong how
// long a pod may be pending or terminating.
const (
	slack       = 30 * time.Second
	pendingLong = 5 * time.Minute
)

// findSpec reports what the API server would refuse, and limits that do nothing.
func (l *look) findSpec() {
	if err := job.Validate(*l.spec); err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			l.find(Error, "InvalidSpec", "an API server refuses the spec: %s", line)
		}
	}
	l.findUnreachable()
	l.findUnhandled()
}

// findUnreachable reports failure limits that other limits overtake.
func (l *look) findUnreachable() {
	s := l.spec
	completions := int64(math.MaxInt32)
	if s.Completions != nil {
		completions = int64(*s.Completions)
	}
	if most := s.MaxFailedIndexes; most != nil && int64(*most) >= completions {
		l.find(Warning, "LimitUnreachable", "maxFailedIndexes is %d and there are only %s: the Job never fails early",
			*most, count(completions, "index", "indexes"))
	}
	limit := int64(*s.BackoffLimit)
	if s.BackoffLimitPerIndex != nil && limit != math.MaxInt32 {
		most := completions * (int64(*s.BackoffLimitPerIndex) + 1)
		if limit >= most {
			l.find(Warning, "LimitUnreachable", "backoffLimit is %d, and %s with backoffLimitPerIndex %d fail at most %s: the limit is never passed",
				limit, count(completions, "index", "indexes"), *s.BackoffLimitPerIndex, count(most, "time"))
		}
		return
	}
	if d := s.ActiveDeadlineSeconds; d != nil && s.BackoffLimitPerIndex == nil && *d < math.MaxInt64/int64(time.Second) {
		wait := totalBackoff(limit, time.Duration(*d)*time.Second)
		if wait >= time.Duration(*d)*time.Second && limit > 0 {
			l.find(Warning, "LimitUnreachable", "the backoffs between the failures that backoffLimit %d allows are longer than activeDeadlineSeconds, %d: if pods fail in a row, the deadline ends the Job before its retries are used up",
				limit, *d)
		}
	}
}

// totalBackoff is how long a job waits that fails again and again, up to a limit.
func totalBackoff(failures int64, most time.Duration) (sum time.Duration) {
	for n := int64(1); n <= failures && sum < most; n++ {
		sum += backoff.Policy{}.Delay(int(min(n, math.MaxInt32)))
	}
	return sum
}

// findUnhandled reports exit codes that no rule of the podFailurePolicy matches.
func (l *look) findUnhandled() {
	if l.spec.PodFailurePolicy == nil {
		return
	}
	var ends tally
	for i, found := range l.found.Pods {
		if found.Failed && found.Rule < 0 && l.snapshot.Pods[i].Phase == job.PodFailed {
			ends.add(l.endOf(i))
		}
	}
	if len(ends.order) > 0 {
		l.find(Warning, "UnhandledFailure", "no rule of the podFailurePolicy matches pods that ended with %s: each of them counts as a failure", ends.list())
	}
}

// findProgress reports what keeps the Job from going on.
func (l *look) findProgress() {
	switch {
	case l.out.State == Failed:
		l.find(Error, "JobFailed", "the Job failed: %s", l.status.Condition(job.ConditionFailed).Reason)
	case l.out.State == Ending && l.plan.Verdict.Type == job.ConditionFailureTarget:
		l.find(Error, "JobFails", "the Job is about to fail: %s", l.plan.Verdict.Reason)
	}
	if !l.closing.IsZero() {
		l.find(Error, "NamespaceEnds", "namespace %s is being deleted since %s: the API server refuses new pods", l.job.Namespace, l.closing.UTC().Format("15:04:05"))
	}
	l.findBehind()
	l.findOverdue()
}

// findBehind reports that the controller has not done for a while what it does at once.
func (l *look) findBehind() {
	late := l.now.Sub(l.changed)
	if l.changed.IsZero() || late < slack || l.job.IsManifest || l.out.State == Elsewhere || !l.closing.IsZero() || l.isRefused() {
		return
	}
	var what []string
	if n := len(l.plan.Create); n > 0 {
		what = append(what, "create "+count(int64(n), "pod"))
	}
	if n := len(l.plan.Delete); n > 0 {
		what = append(what, "delete "+count(int64(n), "pod"))
	}
	if n := l.toAccount(); n > 0 && l.status.Finished() == "" {
		what = append(what, "account for "+count(n, "ended pod"))
	}
	if len(what) > 0 {
		l.find(Error, "ControllerBehind", "nothing has changed for %s, although the controller should %s at once: it does not run, its writes are refused (quota, webhook, permissions), or the input lacks pods",
			span(late), list(what))
		l.out.Findings[len(l.out.Findings)-1].Inferred = true
	}
}

// isRefused reports whether an event of the last ten minutes says that a write was refused.
// It is a finding of its own.
func (l *look) isRefused() bool {
	for _, e := range lastWarnings(l.events) {
		if (e.Reason == "FailedCreate" || e.Reason == "FailedDelete") && l.now.Sub(e.Last) < 10*time.Minute {
			return true
		}
	}
	return false
}

// toAccount is the number of ended pods that a round would account for.
func (l *look) toAccount() (n int64) {
	for _, u := range l.plan.Untrack {
		if u.Ended && !u.OnEnd {
			n++
		}
	}
	return n
}

// findOverdue reports a finished Job that its TTL has not removed.
func (l *look) findOverdue() {
	expired, at, err := job.Expire(l.snapshot.Job, l.snapshot.Options, l.now)
	switch {
	case err != nil:
		l.find(Warning, "UnknownExpiry", "the TTL controller cannot tell when the Job expires: %v", err)
	case expired && l.now.Sub(at) > slack:
		l.find(Warning, "NotExpired", "the Job should have been deleted %s by its ttlSecondsAfterFinished of %d%s", l.at(at), *l.spec.TTLSecondsAfterFinished, l.heldByFinalizers())
	}
}

func (l *look) heldByFinalizers() string {
	if len(l.job.Finalizers) == 0 {
		return ""
	}
	return "; its finalizers " + list(l.job.Finalizers) + " may hold it"
}

// badReasons are those for which a container waits that does not start by itself soon.
var badReasons = map[string]bool{
	"ImagePullBackOff": true, "ErrImagePull": true, "InvalidImageName": true, "ErrImageNeverPull": true,
	"CreateContainerConfigError": true, "CreateContainerError": true, "RunContainerError": true, "CrashLoopBackOff": true,
}

// findPods reports pods that do not start, do not end, or cannot go.
func (l *look) findPods() {
	groups := make(map[string][]string)
	var order []string
	report := func(key, pod string) {
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], pod)
	}
	for i, p := range l.pods {
		if l.snapshot.Pods[i].Owner == job.Foreign {
			continue
		}
		if key := l.podFinding(i, p); key != "" {
			report(key, l.podAge(i, p))
		}
	}
	for _, key := range order {
		code, text, _ := strings.Cut(key, "|")
		names := groups[key]
		l.find(Warning, code, "%s %s: %s", count(int64(len(names)), "pod"), text, list(names))
	}
}

// podAge names a pod with how long it has been as it is.
func (l *look) podAge(i int, p *read.Pod) string {
	since := p.CreationTimestamp
	if d := p.Object.Deletion; d != nil && l.snapshot.Pods[i].Phase < job.PodSucceeded {
		since = d.Timestamp.Add(-time.Duration(d.GracePeriodSeconds) * time.Second)
	} else if end := l.found.Pods[i].FinishTime; !end.IsZero() {
		since = end
	}
	if since.IsZero() {
		return p.Name
	}
	return p.Name + " for " + l.since(since)
}

// podFinding is a code and a text that pods with the same trouble share, or "".
func (l *look) podFinding(i int, p *read.Pod) string {
	pod := &l.snapshot.Pods[i]
	switch {
	case pod.Phase >= job.PodSucceeded:
		return l.leftBehind(i, p)
	case pod.Deletion != nil && l.now.Sub(pod.Deletion.Timestamp) > time.Minute:
		return "PodTerminating|should be gone since the end of the grace period, but " + whyThere(p)
	case pod.Deletion != nil:
		return ""
	}
	for _, c := range p.Stuck {
		if c.Waiting && badReasons[c.Reason] {
			return fmt.Sprintf("PodPending|cannot run, container %s waits with %s%s%s", c.Container, c.Reason, after(": ", brief(c.Message)), crash(&c))
		}
	}
	switch {
	case p.Unscheduled != "" && l.now.Sub(p.CreationTimestamp) > slack:
		return "PodPending|cannot be scheduled, " + brief(p.Unscheduled)
	case pod.Phase == job.PodPending && l.now.Sub(p.CreationTimestamp) > pendingLong:
		return "PodPending|pending for long without a reason in the status"
	}
	return ""
}

func crash(c *read.ContainerReason) string {
	if c.Restarts == 0 {
		return ""
	}
	return fmt.Sprintf(" (restarted %s, last %s)", count(int64(c.Restarts), "time"), exit(c.ExitCode, ""))
}

func whyThere(p *read.Pod) string {
	if p.Node == "" {
		return "never had a node"
	}
	return fmt.Sprintf("the kubelet of node %s does not answer, or the containers do not end", p.Node)
}

func after(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}

// leftBehind reports finalizers on ended pods that nothing removes any more.
func (l *look) leftBehind(i int, p *read.Pod) string {
	pod := &l.snapshot.Pods[i]
	if !pod.Untracked && l.status.Finished() != "" && l.now.Sub(l.endTime()) > time.Minute {
		return "FinalizerLeftBehind|of a finished Job cannot be deleted, because of the finalizer " + job.Finalizer + " that the controller has not removed"
	}
	var others []string
	for _, f := range p.Finalizers {
		if f != job.Finalizer {
			others = append(others, f)
		}
	}
	if pod.Deletion != nil && len(others) > 0 && l.now.Sub(pod.Deletion.Timestamp) > time.Minute {
		return "FinalizerLeftBehind|cannot go although deleted and ended, because of the finalizer " + list(others)
	}
	return ""
}

// findCounters reports a status that contradicts the pods.
func (l *look) findCounters() {
	for _, n := range l.plan.Notes {
		l.find(Warning, "Contradiction", "%s %s: %s", strings.TrimPrefix(n.Field, "job."), n.Value, n.Message)
	}
	if l.status.Finished() != "" || l.out.State == Elsewhere || l.out.State == Broken || l.now.Sub(l.changed) < slack {
		return
	}
	compare := func(field string, status, pods int64) {
		if status != pods {
			l.find(Warning, "CountersContradict", "status.%s is %d, and %d of the pods that were read %s", field, status, pods, verb(pods, "is", "are")+" "+field)
			l.out.Findings[len(l.out.Findings)-1].Inferred = true
		}
	}
	compare("active", int64(l.status.Active), l.found.Active)
	if l.status.Ready != nil {
		compare("ready", int64(*l.status.Ready), l.found.Ready)
	}
}

// findEvents adds the latest warnings about the Job that its status does not tell.
func (l *look) findEvents() {
	for _, e := range lastWarnings(l.events) {
		switch e.Reason {
		case "FailedCreate", "FailedDelete":
			l.find(Error, e.Reason, "the controller reported %s, last %s: %s", times(e.Count), l.at(e.Last), brief(e.Message))
		case "TooManySucceededPods":
			l.find(Warning, e.Reason, "the controller reported %s: %s", l.at(e.Last), brief(e.Message))
		}
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// lastWarnings returns the latest warning of each reason.
func lastWarnings(events []read.Event) (last []read.Event) {
	place := make(map[string]int)
	for _, e := range events {
		if e.Type != "Warning" {
			continue
		}
		i, ok := place[e.Reason]
		switch {
		case !ok:
			place[e.Reason] = len(last)
			last = append(last, e)
		case e.Last.After(last[i].Last):
			e.Count += last[i].Count
			last[i] = e
		default:
			last[i].Count += e.Count
		}
	}
	return last
}

// strayFindings are about pods whose Job is not in the input.
func (e *Explainer) strayFindings() (out []Finding) {
	if len(e.objects.Jobs) == 0 || len(e.strays) == 0 || len(e.options.Names) > 0 {
		return nil
	}
	var held, others []string
	for _, p := range e.strays {
		if !p.Object.Untracked && (p.Object.Phase >= job.PodSucceeded || p.Object.Deletion != nil) {
			held = append(held, p.Key())
		} else {
			others = append(others, p.Key())
		}
	}
	if len(held) > 0 {
		out = append(out, Finding{Severity: Warning, Code: "FinalizerLeftBehind", Inferred: true, Text: sentence(fmt.Sprintf(
			"%s of Jobs that the input does not contain %s ended and still %s the finalizer %s, so they cannot be deleted: %s; if these Jobs are gone, the controller has to remove it",
			count(int64(len(held)), "pod"), verb(int64(len(held)), "has", "have"), verb(int64(len(held)), "carries", "carry"), job.Finalizer, list(held)))})
	}
	if len(others) > 0 {
		out = append(out, Finding{Severity: Warning, Code: "JobMissing", Inferred: true, Text: sentence(fmt.Sprintf(
			"%s %s to Jobs that the input does not contain: %s", count(int64(len(others)), "pod"), verb(int64(len(others)), "belongs", "belong"), list(others)))})
	}
	return out
}
