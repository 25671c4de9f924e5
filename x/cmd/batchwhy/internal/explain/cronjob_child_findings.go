package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// failedRunFindings report that the last runs have failed, and why.
func (l *cronLook) failedRunFindings() []Finding {
	var ended []*cronjob.Child
	for i := range l.children {
		if c := &l.children[i]; !c.Foreign && c.Finished != "" {
			ended = append(ended, c)
		}
	}
	slices.SortFunc(ended, func(a, b *cronjob.Child) int { return b.FinishTime.Compare(a.FinishTime) })

	n := int64(0)
	for _, c := range ended {
		if c.Finished != job.ConditionFailed {
			break
		}
		n++
	}

	base, since := l.successBase()
	if n == 0 {
		return l.goneRunFindings(len(ended) > 0)
	}

	last := ended[0]
	severity, what := Warning, "the last run has failed"
	if n > 1 || base.Before(last.CreationTimestamp.Add(-2*l.interval())) && l.interval() > 0 {
		severity, what = Error, fmt.Sprintf("the last %s failed, and none has succeeded since %s",
			count(n, "run has", "runs have"), since)
		if n == 1 {
			what = fmt.Sprintf("the last run has failed, and none has succeeded since %s", since)
		}
	}

	text, remedies := fmt.Sprintf("%s: %s %s", what, last.Name, l.at(last.FinishTime)), []*Remedy(nil)
	if f := l.troubleOf(l.jobs[last.UID]); f != nil {
		text += "; " + strings.TrimSuffix(lowerFirst(f.Text), ".")
		remedies = slices.Clone(f.Remedies[:min(2, len(f.Remedies))])
	}

	isStart := func(a *Act) bool { return a.Verb == Starts }
	if !slices.ContainsFunc(remedies, func(r *Remedy) bool { return slices.ContainsFunc(r.Acts(), isStart) }) {
		remedies = append(remedies, when("the cause is gone", l.runNow("try it without waiting for the schedule")))
	}
	return oneFinding(severity, "RunsFail", text, remedies...)
}

// successFindings report that runs start but none succeeds, if no other finding explains that.
func (l *cronLook) successFindings() []Finding {
	base, since := l.successBase()
	last := l.status.LastScheduleTime
	known := l.jobsRead || !l.status.LastSuccessfulTime.IsZero()
	switch {
	case !known, last.IsZero(), l.cron.IsManifest:
		return nil
	case l.isSuspended(), l.snapshot.Schedule.Problem != 0, len(l.holding()) > 0: // no run starts now
		return nil
	case len(l.failedRunFindings()) > 0, len(l.replaceFindings()) > 0, len(l.refusedFindings()) > 0:
		return nil
	}
	for i := range l.children {
		if c := &l.children[i]; !c.Foreign && c.Finished == job.ConditionComplete {
			return nil // the status does not show this success yet
		}
	}

	const few = 5
	n := l.snapshot.Schedule.Schedule.Count(base, last)
	if n < few || last.Sub(base) < 24*time.Hour {
		return nil
	}
	return oneFinding(Error, "NoSuccess", fmt.Sprintf("no run has succeeded since %s, although %s due since then "+
		"and the last recorded one was that of %s", since, count(int64(n), "run has come", "runs have come"),
		l.moment(last)),
		append(l.keepLonger(), l.runNow("start a run and watch it"),
			l.set("keep the last failed Jobs, to see why they fail", "spec.failedJobsHistoryLimit",
				max(2, int64(value.Of(l.spec.FailedJobsHistoryLimit))),
				"safe: failed Jobs with their pods are kept"))...)
}

// keepLonger returns the remedy to keep Jobs, if a TTL deletes them so soon that nobody sees why they fail.
func (l *cronLook) keepLonger() []*Remedy {
	if ttl := l.ttl(); ttl == nil || *ttl >= 3600 {
		return nil
	}
	return []*Remedy{l.set("first keep Jobs for a day after their end, to see why they fail",
		"spec.jobTemplate.spec.ttlSecondsAfterFinished", int64(86400), "safe: only Jobs created from now on have it")}
}

// overrunFindings report runs that take longer than the time to the next one.
func (l *cronLook) overrunFindings() []Finding {
	interval, longest := l.interval(), l.longest()
	if interval == 0 || longest <= interval || l.isSuspended() {
		return nil
	}

	becomes := map[cronjob.ConcurrencyPolicy]string{
		cronjob.Forbid:  "a run that comes due meanwhile starts late or never",
		cronjob.Replace: "a run is deleted before it ends",
		cronjob.Allow:   "runs overlap",
	}[l.spec.ConcurrencyPolicy]

	longer := fmt.Sprintf("make the distance of the runs longer than %s", span(longest))
	fix := l.edit(longer + ", or the runs shorter")
	if instead := l.everyAtLeast(longest); instead != "" {
		fix = l.set(longer, "spec.schedule", instead, "safe: Jobs that exist go on; there are fewer runs from then on")
	}
	return oneFinding(Warning, "RunsOverrun", fmt.Sprintf("runs take up to %s, and the next one is due %s after "+
		"each: %s", span(longest), span(interval), becomes), fix)
}

// everyAtLeast returns a schedule such as "*/5 * * * *" with runs that are further apart than a
// duration. It returns "" if the CronJob's own schedule does not have this form.
func (l *cronLook) everyAtLeast(d time.Duration) string {
	step, rest, _ := strings.Cut(l.spec.Schedule, " ")
	if rest != "* * * *" || step != "*" && !strings.HasPrefix(step, "*/") {
		return ""
	}
	for _, minutes := range []int{2, 3, 5, 10, 15, 20, 30} {
		if time.Duration(minutes)*time.Minute > d {
			return fmt.Sprintf("*/%d * * * *", minutes)
		}
	}
	return ""
}

// goneRunFindings report failed runs whose Jobs are already deleted.
func (l *cronLook) goneRunFindings(hasEnded bool) []Finding {
	failures := 0
	var last time.Time
	for _, e := range l.events {
		if e.Reason == "SawCompletedJob" && contains(e.Message, "failed") {
			failures, last = failures+e.Count, later(last, e.Last)
		}
	}

	base, since := l.successBase()
	if hasEnded || failures == 0 || last.Before(base) {
		return nil
	}

	remedies := append(l.keepLonger(), l.runNow("start a run and watch it"))
	keep := int32(1)
	if limit := l.spec.FailedJobsHistoryLimit; limit != nil {
		keep = *limit
	}

	text := fmt.Sprintf("runs fail: the controller saw %s end, the last %s, and none has succeeded since %s",
		count(int64(failures), "failed Job"), l.at(last), since)
	if keep == 0 {
		text += "; failedJobsHistoryLimit is 0, so each failed Job is deleted with its pods and logs as soon as it ends"
		keepThem := l.set("keep the last failed Jobs, to see why they fail", "spec.failedJobsHistoryLimit", 3,
			"safe: three more Jobs with their pods are kept")
		remedies = append([]*Remedy{keepThem}, remedies...)
	}
	return oneFinding(Error, "RunsFail", text, remedies...)
}

// staleFindings report Jobs that status.active names and that do not exist.
func (l *cronLook) staleFindings() (all []Finding) {
	if !l.jobsRead || l.cron.IsManifest {
		return nil
	}

	ns := l.cron.Namespace
	for _, ref := range l.status.Active {
		if slices.ContainsFunc(l.children, func(c cronjob.Child) bool { return c.UID == ref.UID }) {
			continue
		}

		severity, text := Warning, fmt.Sprintf("status.active names Job %s, which the input does not contain", ref.Name)
		if ref.Name == l.staleHolder() {
			severity, text = Error, text+fmt.Sprintf(", and concurrencyPolicy is Forbid: if the Job is gone, the "+
				"entry has probably held back the %s since %s", count(int64(l.plan.Missed.Count), "run"), l.base())
		}

		all = append(all, inferred(finding(severity, "ActiveStale",
			text+". A controller that runs takes a Job that is gone off the list at its next look",
			inspect("look whether the Job exists", kubectl(ns, "get", "job", ref.Name)),
			when("it is gone and stays on the list", inspect("look whether the kube-controller-manager runs: it "+
				"should have taken it off", kubectl("kube-system", "get", "lease", "kube-controller-manager", "-o",
				"jsonpath={.spec.renewTime}"))),
			when("it is gone and the controller runs", does("take it off by hand",
				"safe only if no Job of the CronJob is active: otherwise two runs overlap; needs kubectl 1.24",
				merge(ns, "cronjob", l.cron.Name, `{"status":{"active":null}}`, "--subresource=status"))))))
	}
	return all
}

// clockFindings report the latest run whose Job the API server created before the run was due.
func (l *cronLook) clockFindings() []Finding {
	var last *cronjob.Child
	for i := range l.children {
		c := &l.children[i]
		early := c.ScheduledTime.Sub(c.CreationTimestamp)
		if c.Foreign || c.ScheduledTime.IsZero() {
			continue
		}
		isEarly := early > 5*time.Second && early < time.Hour
		if isEarly && (last == nil || c.ScheduledTime.After(last.ScheduledTime)) {
			last = c
		}
	}
	if last == nil {
		return nil
	}
	return oneFinding(Warning, "ClockAhead", fmt.Sprintf("Job %s was created %s before its run was due: the clock of "+
		"the kube-controller-manager, which starts runs, was ahead of the API server's by as much",
		last.Name, span(last.ScheduledTime.Sub(last.CreationTimestamp))), inspect("set the clocks of the control "+
		"plane's machines by NTP; runs are early until then",
		"kubectl -n kube-system get lease kube-controller-manager -o yaml"))
}

// activeFindings report Jobs that pile up.
func (l *cronLook) activeFindings() []Finding {
	active := sortedStably(l.active(), func(a, b **cronjob.Child) int {
		return (*a).CreationTimestamp.Compare((*b).CreationTimestamp)
	})
	if len(active) < 3 || l.spec.ConcurrencyPolicy != cronjob.Allow {
		return nil
	}

	var idle []*cronjob.Child
	var names []string
	for _, c := range active {
		if l.idles(c) {
			idle, names = append(idle, c), append(names, c.Name)
		}
	}
	oldest, cause := active[0], ""
	sick := oldest
	if len(idle)*2 > len(active) {
		sick = idle[0]
	}
	f := l.troubleOf(l.jobs[sick.UID])
	if f != nil {
		cause = "; " + strings.TrimSuffix(lowerFirst(f.Text), ".")
	}

	text := fmt.Sprintf("%d Jobs are active at the same time, the oldest for %s: concurrencyPolicy is Allow, and ",
		len(active), l.since(oldest.CreationTimestamp))
	switch n := int64(len(idle)); {
	case n == int64(len(active)) && l.cron.JobsSuspended:
		return nil // suspendedFindings report it
	case n*2 > int64(len(active)):
		remedies := []*Remedy{l.withdraw(idle, idle[n-1], "they start at the same time once the cause is gone: delete "+
			"those that do no work, except for the newest, before")}
		if f != nil {
			remedies = append(slices.Clone(f.Remedies[:min(2, len(f.Remedies))]), remedies...)
		}
		return oneFinding(Warning, "PileUp", fmt.Sprintf("%s%d of them do no work%s", text, n, cause),
			remedies...)
	}

	forbid := "safe: the Jobs that run go on; runs that come due meanwhile are skipped, except for the latest"
	if n := int64(len(idle)); n > 0 {
		forbid += fmt.Sprintf("; %s, which %s no work, %s back all runs unless deleted", list(names),
			verb(n, "does", "do"), verb(n, "holds", "hold"))
	}
	deadline := l.enough()
	if l.longest() == 0 {
		deadline = max(deadline, int64(2*l.interval().Seconds()))
	}
	return oneFinding(Warning, "PileUp", fmt.Sprintf("%sruns take longer than the %s between them%s", text,
		span(l.interval()), cause),
		l.set("let no run start while another is active", "spec.concurrencyPolicy", "Forbid", forbid),
		when("they hinder each other", l.withdraw(active, oldest, "delete all but the oldest")),
		l.set("let runs that hang end by themselves", "spec.jobTemplate.spec.activeDeadlineSeconds", deadline,
			"a run that takes longer fails; only Jobs created from now on have it"),
		inspect("look what the oldest does", kubectl(l.cron.Namespace, "logs", "job/"+oldest.Name, "--tail=20")))
}

// withdraw returns the remedy that deletes all of some active Jobs except one.
func (l *cronLook) withdraw(active []*cronjob.Child, kept *cronjob.Child, do string) *Remedy {
	const most = 20
	var acts []*Act
	var names []string
	risk := "safe: no pod of them works"
	others := len(active)
	if slices.Contains(active, kept) {
		others--
	}
	if others > most {
		do += fmt.Sprintf(" (the command names %d of %d: repeat it with the others)", most, others)
	}

	for _, c := range active {
		if c == kept || len(names) == most {
			continue
		}
		acts, names = append(acts, remove(l.cron.Namespace, "job", c.Name)), append(names, c.Name)
		if k := l.lookOf(l.jobs[c.UID]); k == nil || k.hasBegun() {
			risk = "their work is ended, and their pods are deleted with their logs"
		}
	}

	r := does(do, risk+"; what these runs should have done is done only by a later run", acts...)
	r.Command = kubectl(l.cron.Namespace, append([]string{"delete", "job"}, names...)...)
	return r
}

// historyFindings report history limits and TTLs so low that Jobs are deleted soon after their end.
func (l *cronLook) historyFindings() (all []Finding) {
	active := int64(len(l.active()))
	check := func(field string, limit *int32, how string) {
		if limit != nil && *limit == 0 {
			all = append(all, finding(Note, "HistoryZero", fmt.Sprintf("%s is 0: Jobs that %s are deleted "+
				"immediately, with their pods and logs, so that none is to be seen", field, how),
				l.set("keep some", "spec."+field, 3, "safe: more finished Jobs with their pods are kept")))
		}
		if limit != nil && active > int64(*limit) && *limit > 0 {
			text := fmt.Sprintf("%s is %d and %s active: if all of them %s, all but %d are deleted immediately, "+
				"logs included", field, *limit, count(active, "Job is", "Jobs are"), how, *limit)
			all = append(all, finding(Note, "HistoryTooShort", text,
				l.set("keep more", "spec."+field, active, "safe: more finished Jobs with their pods are kept")))
		}
	}

	if ttl := l.ttl(); ttl != nil && time.Duration(*ttl)*time.Second < l.interval() {
		end := "as soon as it has ended"
		if *ttl > 0 {
			end = span(time.Duration(*ttl)*time.Second) + " after its end"
		}
		text := fmt.Sprintf("ttlSecondsAfterFinished is %d in spec.jobTemplate: each Job is deleted %s with its pods "+
			"and their logs, whatever the history limits say", *ttl, end)
		all = append(all, finding(Note, "JobsExpire", text,
			l.set("keep Jobs for a day, or take the field out: the history limits delete old Jobs as well",
				"spec.jobTemplate.spec.ttlSecondsAfterFinished", int64(86400),
				"safe: only Jobs created from now on have it")))
	}

	check("failedJobsHistoryLimit", l.spec.FailedJobsHistoryLimit, "fail")
	check("successfulJobsHistoryLimit", l.spec.SuccessfulJobsHistoryLimit, "succeed")
	return all
}
