package explain

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// This file looks for what shows that the work of a Job is not done although the Job is Complete, which
// only means that enough programs have ended with exit code 0.

// doubtCode is the code of the finding about such a Job.
const doubtCode = "CompleteBut"

// doubtFindings report what contradicts the success of a Job.
func (l *look) doubtFindings() []Finding {
	if l.status.Finished() != job.ConditionComplete || l.job.IsManifest {
		return nil
	}

	policy := l.byPolicy()
	all := slices.Concat(policy, l.lastWords(), l.stoppedEarly(), l.shortTime(), l.notReplaced())
	twice := l.beside()
	if len(all)+len(twice) == 0 {
		return nil
	}

	ns, name := l.job.Namespace, l.job.Name
	show := kubectl(ns, "describe", "job", name)
	if len(l.pods) > 0 {
		show = kubectl(ns, "logs", "job/"+name)
	}
	remedies := []*Remedy{inspect("look at the result of the work before anything relies on it or does it again",
		show)}

	if len(policy) > 0 {
		remedies = append(remedies, when("all indexes are needed", l.again("leave out successPolicy")))
	}
	if len(all) > len(policy) {
		fix := "let the program end with an exit code other than 0 in that case"
		if l.spec.Completions == nil {
			fix = "let a program end with exit code 0 only if the queue is empty"
		}
		if c, _ := pipe(&l.job.Template); c != "" {
			all = append(all, fmt.Sprintf("the shell of container %s runs a pipe without pipefail, so that only the "+
				"exit code of the last program in it counts", c))
			fix += ", with bash and set -euo pipefail"
		}
		remedies = append(remedies, when("the work is not done", l.again(fix)))
	}

	return []Finding{inferred(finding(Note, doubtCode, "complete, but "+strings.Join(append(all, twice...), "; "),
		remedies...))}
}

// doubtFindings report the doubts about the last run that has succeeded.
func (l *cronLook) doubtFindings() (all []Finding) {
	good := l.e.goodRuns(l.cron.UID)
	if len(good) == 0 {
		return nil
	}
	last := good[len(good)-1]
	if k := l.lookOf(last); k != nil {
		all = k.doubtFindings()
		for i := range all {
			all[i].Text = sentence(fmt.Sprintf("the last good run, Job %s: %s", last.Name, lowerFirst(all[i].Text)))
		}
	}
	return all
}

// byPolicy reports a successPolicy that has ended the Job before all indexes were done.
func (l *look) byPolicy() []string {
	isPolicy := l.status.Condition(job.ConditionComplete).Reason == "SuccessPolicy" && l.spec.Completions != nil
	if !isPolicy || l.succeeded() >= int64(*l.spec.Completions) {
		return nil
	}
	return []string{fmt.Sprintf("its successPolicy has ended it with %d of %s done, and the pods of the others were "+
		"deleted: their work may not be done", l.succeeded(), count(int64(*l.spec.Completions), "index", "indexes"))}
}

// hasDoubts reports whether a finding contradicts a success.
func hasDoubts(all []Finding) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.Code == doubtCode })
}

var (
	gaveUp   = regexp.MustCompile(`(?i)\bsigterm\b|\bgiving up\b|\babort(ed|ing)( *$|[,.;!])`)
	noFault  = regexp.MustCompile(`(?i)\b(0|no|not|without) +(\w+ +)?(abort|sigterm)|handler|ignor`)
	goesOn   = regexp.MustCompile(`(?i)\bretrying\b|\b(will|to) retry\b`)
	progress = regexp.MustCompile(`(?i)\b(?:processed|imported|indexed|loaded|migrated|read) +` +
		`(\d+)(?:/| of )(\d+)(?: \w+)?[.!]?$`)
)

// isUnfinished reports whether a line that a program has printed shows that its work is not done. It is
// one of the last lines if isLast.
func isUnfinished(line string, isLast bool) bool {
	hasGivenUp := gaveUp.MatchString(line) && !noFault.MatchString(line)
	if hasGivenUp || read.LooksBad(line) && !goesOn.MatchString(line) {
		return true
	}
	m := progress.FindStringSubmatch(line)
	if m == nil || !isLast {
		return false
	}
	done, errDone := strconv.ParseFloat(m[1], 64)
	all, errAll := strconv.ParseFloat(m[2], 64)
	return errDone == nil && errAll == nil && done < all*0.9 // the last of 0 to n-1 is done
}

// lastWords quotes what a program has printed that ended with exit code 0, if that shows that its work is
// not done. What a pod has printed that then failed does not count, because another pod has replaced it.
func (l *look) lastWords() []string {
	quote := func(pod, container, log string) []string {
		if isHelper(container, l.job.Template.Container(container).Image) {
			return nil
		}
		lines := strings.Split(log, "\n")
		for i := len(lines) - 1; i >= 0; i-- {
			line := lines[i]
			if isUnfinished(line, i == len(lines)-1) {
				who := "pod " + pod
				if container != "" {
					who = "container " + container + " of " + who
				}
				return []string{who + " printed " + inQuotes(line)}
			}
		}
		return nil
	}

	for _, p := range l.pods {
		if p.Object.Phase != job.PodSucceeded {
			continue
		}

		for _, c := range p.Containers {
			log := c.Message
			if log == "" {
				log = l.e.objects.Log(read.LogKey{Namespace: p.Namespace, Pod: p.Name, Container: c.Name})
			}
			if isDone := c.Ended && c.ExitCode == 0 && !c.Init; isDone {
				if all := quote(p.Name, c.Name, log); all != nil {
					return all
				}
			}
		}
	}

	for _, key := range l.e.loggedOf(l.job) {
		if key.Previous || l.status.Failed > 0 {
			continue
		}
		if all := quote(key.Pod, key.Container, l.e.objects.Log(key)); all != nil {
			return all
		}
	}
	return nil
}

// stoppedEarly reports a pod that the kubelet has stopped before the Job was complete, and that no other has
// replaced. A pod that is gone may have failed.
func (l *look) stoppedEarly() []string {
	if l.status.Condition(job.ConditionComplete).Reason == "SuccessPolicy" {
		return nil
	}

	type begun struct {
		name string
		at   time.Time
	}
	var pods []gonePod
	var newest []begun
	for _, p := range l.gone {
		if newest = append(newest, begun{p.name, p.events[0].First}); l.status.Failed == 0 {
			pods = append(pods, p)
		}
	}
	for i, p := range l.pods {
		if newest = append(newest, begun{p.Name, p.CreationTimestamp}); p.Object.Phase == job.PodSucceeded {
			pods = append(pods, gonePod{p.Name, l.podEvents[i]})
		}
	}
	slices.SortFunc(newest, func(a, b begun) int { return b.at.Compare(a.at) })

	for _, p := range pods {
		e := lastEvent(p.events, "Killing")
		if e == nil || e.Last.After(l.endTime()) || e.Last.Before(l.start()) {
			continue
		}
		name := strings.TrimPrefix(e.Message, "Stopping container ")
		c := l.job.Template.Container(name)
		other := slices.IndexFunc(newest, func(b begun) bool { return b.name != p.name })
		isReplaced := other >= 0 && newest[other].at.After(e.Last.Add(-slack)) // before the kubelet stops it
		if c.Name == "" || c.Init || isReplaced {
			continue
		}

		text := fmt.Sprintf("the kubelet stopped container %s of pod %s at %s, before the Job was complete: a program "+
			"that ends with exit code 0 on SIGTERM counts as done", name, p.name, l.clock(e.Last))
		if l.e.objects.Nodes[e.Host].Cordoned {
			text += fmt.Sprintf("; node %s is cordoned, as in a drain", e.Host)
		}
		return []string{text}
	}
	return nil
}

// shortTime reports a run that took a tenth of the time of each one before it, or less.
func (l *look) shortTime() []string {
	before, _ := l.goodRuns()
	if len(before) < 3 || l.status.StartTime.IsZero() {
		return nil
	}

	before = before[max(0, len(before)-5):]
	took, long := l.endTime().Sub(l.start()), timeOf(before[0])
	for _, j := range before {
		long = min(long, timeOf(j))
	}
	if long < 2*time.Minute || long < 10*took {
		return nil
	}
	return []string{fmt.Sprintf("it took %s, and the %d good runs before it took %s or more", span(took), len(before),
		span(long))}
}

// notReplaced reports pods of a work queue that have failed after the first success.
func (l *look) notReplaced() []string {
	if l.spec.Completions != nil {
		return nil
	}

	var first time.Time
	for i, p := range l.pods {
		at := l.found.Pods[i].FinishTime
		if p.Object.Phase == job.PodSucceeded && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	n := int64(0)
	for i, p := range l.pods {
		if p.Object.Phase == job.PodFailed && !first.IsZero() && l.found.Pods[i].FinishTime.After(first) {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s failed after the first success: completions is not set, and from then on no pod "+
		"of such a work queue is replaced, whatever backoffLimit is; what %s had taken from the queue may not be done",
		count(n, "pod"), verb(n, "it", "they"))}
}

// beside reports a run of the same CronJob at the same time, if one of the two was started by hand or the
// CronJob forbids it.
func (l *look) beside() []string {
	owner, c := l.job.Controller(), l.ownerCronJob()
	all := l.e.children[owner.UID]
	const most = 200 // to compare each with each other
	if owner.Kind != "CronJob" || len(all) > most || c == nil {
		return nil
	}

	for _, j := range all {
		from, to := l.timesOf(j)
		isTimed := j.UID != l.job.UID && !from.IsZero() && !l.status.StartTime.IsZero()
		isBeside := from.Before(l.endTime()) && l.start().Before(to)
		if !isTimed || !isBeside {
			continue
		}

		who := "Job " + j.Name
		switch {
		case isByHand(j):
			who += ", which was started by hand,"
		case !isByHand(l.job) && c.Object.Spec.ConcurrencyPolicy == cronjob.Allow:
			continue
		}
		return []string{fmt.Sprintf("%s ran at the same time, from %s to %s: look whether their work was done twice "+
			"(concurrencyPolicy %s counts only the Jobs that the CronJob controller has started; before a run by "+
			"hand, suspend the CronJob)", who, l.clock(from), l.clock(to), c.Object.Spec.ConcurrencyPolicy)}
	}
	return nil
}

// isByHand reports whether a user has created a Job from a CronJob.
func isByHand(j *read.Job) bool {
	return j.Annotations["cronjob.kubernetes.io/instantiate"] == "manual"
}

// loggedOf returns the containers of a Job's pods that occur only in logs.
func (e *Explainer) loggedOf(j *read.Job) (all []read.LogKey) {
	for _, name := range podNames(j) {
		for _, key := range e.logged[name] {
			if key.Namespace == "" || key.Namespace == j.Namespace {
				all = append(all, key)
			}
		}
	}
	return all
}
