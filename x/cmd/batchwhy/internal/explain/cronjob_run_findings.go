package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

// refusedFindings report that the API server refuses new Jobs, and what the controller warns about.
func (l *cronLook) refusedFindings() (all []Finding) {
	ns, name := l.cron.Namespace, l.cron.Name
	if e := refusal(l.events, l.now); e != nil {
		remedies := []*Remedy{
			inspect("read the whole message; the controller retries by itself",
				kubectl(ns, "describe", "cronjob", name)),
		}
		switch {
		case contains(e.Message, "exceeded quota"):
			remedies = []*Remedy{l.roomForJobs(),
				when("the quota is too small",
					remedy("raise it", editQuota(ns, e.Message), "needs the rights of an administrator")),
			}
		case contains(e.Message, "webhook"):
			remedies = []*Remedy{inspect("look at the webhook that the message names: its policy, or whether its "+
				"pods run; the controller retries by itself", "kubectl get "+
				"mutatingwebhookconfigurations,validatingwebhookconfigurations"),
				l.edit("change spec.jobTemplate as its policy demands")}
		case contains(e.Message, "invalid dns label") && l.cron.Jobs != nil && l.cron.Jobs.Completions != nil:
			last := fmt.Sprint(*l.cron.Jobs.Completions - 1)
			remedies = []*Remedy{
				remedy(fmt.Sprintf("a pod's host name, JOB-%s for the last index, has at most 63 characters, 9 of "+
					"which are the time of the run: create the CronJob under a name of at most %d characters "+
					"(now %d), and suspend this one", last, 63-9-1-len(last), len(name)),
					kubectl(ns, "apply", "-f", "cronjob.yaml"),
					"a new CronJob starts with its next run"),
				l.edit("or lower completions, and parallelism with it, so that the last index has fewer digits"),
			}
		case contains(e.Message, "is invalid"):
			remedies = []*Remedy{l.edit("correct the field of spec.jobTemplate that the message names")}
		}
		all = append(all, finding(Error, "FailedCreate", fmt.Sprintf("the API server refuses new Jobs, reported "+
			"%s, last %s: %s", times(e.Count), l.at(e.Last), brief(e.Message)), remedies...))
	}

	for _, e := range lastWarnings(l.events) {
		text := fmt.Sprintf("the controller reported %s, last %s: %s", times(e.Count), l.at(e.Last), brief(e.Message))
		if j := l.byHand(e.Message); e.Reason == "UnexpectedJob" && j != "" {
			all = append(all, finding(Note, e.Reason, fmt.Sprintf("the controller reported %s that it has not "+
				"created Job %s: it was started by hand, and is none of the runs", times(e.Count), j),
				inspect("look at the Job if it is not known who has started it",
					kubectl(ns, "describe", "job", j))))
			continue
		}

		isNamesake := func(c cronjob.Child) bool { return strings.HasSuffix(strings.TrimSpace(e.Message), " "+c.Name) }
		if e.Reason == "UnexpectedJob" && slices.ContainsFunc(l.namesakes(), isNamesake) {
			continue // namesakeFindings report it
		}

		switch e.Reason {
		case "FailedDelete", "FailedGet", "UnexpectedJob":
			all = append(all, finding(Error, e.Reason, text, inspect("look at the Job that the message names; the "+
				"controller retries by itself", kubectl(ns, "get", "jobs"))))
		}
	}
	return all
}

// roomForJobs says which Jobs to delete if a quota counts them: the oldest that are complete, and
// that no other object or tool keeps or deletes.
func (l *cronLook) roomForJobs() *Remedy {
	const most = 5
	ns := l.cron.Namespace
	all := l.e.needless[ns]

	var acts []*Act
	for _, j := range all[:min(most, len(all))] {
		acts = append(acts, remove(ns, "job", j.Name))
	}

	const keep = ", and set ttlSecondsAfterFinished where they are created, which need not be this CronJob"
	if len(acts) == 0 {
		return inspect("make room: finished Jobs count as well. Delete those that nobody needs"+keep,
			kubectl(ns, "get", "resourcequota")+" && "+kubectl(ns, "get", "jobs"))
	}

	more, rest := "", len(all)-len(acts)
	if rest > 0 {
		more = fmt.Sprintf(" (these are the oldest; %d more %s there)", rest,
			verb(int64(rest), "is", "are"))
	}
	return does("make room: finished Jobs count as well. Delete the complete ones that nothing else deletes"+more+keep,
		"their logs are deleted with them: save what must stay", acts...)
}

// namesakes returns the Jobs whose controller has the CronJob's name and is not the CronJob.
func (l *cronLook) namesakes() (all []cronjob.Child) {
	for _, c := range l.children {
		if c.Foreign && c.Misnamed && l.jobs[c.UID].Controller().Name != "" {
			all = append(all, c)
		}
	}
	return all
}

// namesakeFindings report Jobs of other controllers that have the CronJob's name. A CronJob
// controller up to 1.36 takes such a Job for the CronJob's own, because it compares only the names
// (C1).
func (l *cronLook) namesakeFindings() []Finding {
	all := l.namesakes()
	if len(all) == 0 || l.cron.IsManifest {
		return nil
	}

	var names, owners []string
	for _, c := range all {
		names = append(names, c.Name)
		owner := l.jobs[c.UID].Controller()
		whose := fmt.Sprintf("%s %s", owner.Kind, owner.Name)
		if owner.Kind == "CronJob" {
			whose = "an earlier CronJob of the same name"
		}
		if !slices.Contains(owners, whose) {
			owners = append(owners, whose)
		}
	}

	// Only a CronJob controller up to 1.36 reports a namesake.
	reported, seen := "", false
	for _, e := range l.events {
		if e.Reason == "UnexpectedJob" && slices.ContainsFunc(names, func(name string) bool {
			return strings.HasSuffix(strings.TrimSpace(e.Message), " "+name)
		}) {
			reported, seen = fmt.Sprintf(", by UnexpectedJob, reported %s, last %s", times(e.Count), l.at(e.Last)), true
		}
	}

	// When the controller of 1.36 or older starts a run, it deletes old Jobs. If Jobs still exist
	// that it would have deleted at the last run, the controller is a newer one.
	had := slices.DeleteFunc(slices.Clone(l.children), func(c cronjob.Child) bool {
		return c.Finished == "" || !c.FinishTime.Before(l.status.LastScheduleTime)
	})
	if !seen && len(l.olderDeletes(names, had)) > 0 {
		return nil
	}

	n, ns := int64(len(names)), l.cron.Namespace
	text := fmt.Sprintf("%s %s %s to %s, and a controller up to Kubernetes 1.36 takes %s for the "+
		"CronJob's own, since it compares only the name of a controller: it warns of such Jobs while they run%s, "+
		"counts their successes, and deletes them by the history limits of the CronJob", verb(n, "Job", "Jobs"),
		list(names), verb(n, "belongs", "belong"), list(owners), verb(n, "it", "them"), reported)
	if lost := l.olderDeletes(names, l.children); len(lost) > 0 {
		text += "; the next to be deleted: " + list(lost)
	}

	f := finding(Warning, "SameName", text,
		when("the control plane is older than 1.37", inspect("update it: from 1.37 on, the UID of the controller "+
			"counts", "kubectl version")),
		remedy("let the two have different names: a CronJob cannot be renamed, so create it anew under another name, "+
			"and suspend this one", kubectl(ns, "get", "cronjob", l.cron.Name, "-o", "yaml"),
			"a new CronJob starts with its next run; the Jobs of this one stay with it"))
	f.Inferred = !seen
	return []Finding{f}
}

// olderDeletes returns the Jobs among names that the controller of Kubernetes 1.36 or older deletes
// next, if these children exist.
func (l *cronLook) olderDeletes(names []string, children []cronjob.Child) (lost []string) {
	s := l.theirSnapshot
	s.Children, s.Options = children, cronjob.Kubernetes(release.V136())
	plan, err := cronjob.Reconcile(s)
	if err != nil {
		return nil
	}
	for _, d := range plan.Delete {
		if slices.Contains(names, d.Name) {
			lost = append(lost, d.Name)
		}
	}
	return lost
}

// byHand returns the name at the end of a message if it is the name of a Job that was started by
// hand. Otherwise it returns "".
func (l *cronLook) byHand(message string) string {
	for i := range l.children {
		if c := &l.children[i]; l.isByHand(c) && strings.HasSuffix(strings.TrimSpace(message), " "+c.Name) {
			return c.Name
		}
	}
	return ""
}

// heldFindings report a run that is due and does not start.
func (l *cronLook) heldFindings() (all []Finding) {
	for _, w := range l.plan.Waits {
		switch w.Reason {
		case cronjobreason.WaitActive:
			cause, remedies := l.blocker()
			severity := Warning
			if strings.HasPrefix(cause, "; what") {
				severity = Error
			}
			all = append(all, finding(severity, "RunHeld", fmt.Sprintf("the run of %s, due %s, does not start: "+
				"concurrencyPolicy is Forbid, and %s%s", l.moment(w.Run), l.at(w.Run), l.activeJobs(), cause),
				remedies...))
		case cronjobreason.WaitNameTaken:
			ns := l.cron.Namespace
			all = append(all, finding(Error, "NameTaken", fmt.Sprintf("the run of %s does not start: a Job of "+
				"another owner has its name, %s", l.moment(w.Run), w.Name),
				inspect("look whose it is", kubectl(ns, "get", "job", w.Name, "-o", "yaml")),
				when("nobody needs it", does("delete it: the run then starts",
					"its pods and their logs are deleted, and a Job that runs is ended", remove(ns, "job", w.Name))),
				when("the run is needed", does("start the run by hand under another name",
					"the next run of the schedule is not affected", start(ns, l.cron.Name, w.Name+"-b")))))
		}
	}
	return all
}

// blocker describes what is wrong with the active Job that holds a run back, and what to do.
func (l *cronLook) blocker() (cause string, remedies []*Remedy) {
	var stuck []*Remedy
	differs := false
	for _, c := range l.holding() {
		j := l.jobs[c.UID]
		if j == nil {
			continue
		}
		f := l.troubleOf(j)
		if f == nil {
			continue
		}

		cause = "; what is wrong there, " + f.Code + ": " + strings.TrimSuffix(lowerFirst(f.Text), ".")
		stuck = f.Remedies
		if is, was := l.cron.Template.Images(), j.Template.Images(); is != was {
			cause += fmt.Sprintf(". The image of the Job is %s, and that of the CronJob's template, from which "+
				"the next is made, is %s now", was, is)
			differs = true
			editsCronJob := func(r *Remedy) bool { acts := r.Acts(); return len(acts) > 0 && acts[0].Kind == "cronjob" }
			stuck = slices.DeleteFunc(slices.Clone(stuck), editsCronJob)
		}
		break
	}

	ns := l.cron.Namespace
	if active := l.holding(); len(active) > 0 {
		name := active[0].Name
		end := does("delete the active Job: the run that is due then starts",
			"its work is ended, and its pods are deleted with their logs: read them before", remove(ns, "job", name))
		if k := l.lookOf(l.jobs[active[0].UID]); k != nil && !k.hasBegun() {
			end = withRisk(end, k.cost())
		}
		if cause != "" && !differs {
			end.Risk += " The run that starts has the same trouble, unless spec.jobTemplate or its cause is " +
				"corrected first."
		}
		leaving := l.jobs[active[0].UID]
		switch long := l.runsLong(active[0]); {
		case leaving != nil && !leaving.DeletionTimestamp.IsZero():
			cause, remedies = cmp.Or(cause, "; the Job is being deleted"), stuck[:min(2, len(stuck))]
		case cause == "" && long != "":
			cause, remedies = "; "+long, append(l.longRemedies(active[0]), when("it hangs", end))
		case cause == "" && !l.podsRead:
			remedies = []*Remedy{inspect("collect the pods and events as well: without them nobody can tell "+
				"whether it works or hangs", collect(ns)), when("it hangs", end)}
		case cause == "":
			remedies = []*Remedy{
				when("the run does its work and only takes longer", inspect("wait: the run that is due starts when "+
					"it has ended, if no deadline passes; look what it prints",
					kubectl(ns, "logs", "job/"+name, "--tail=20"))),
				when("it hangs", end)}
		default:
			remedies = append(slices.Clone(stuck[:min(2, len(stuck))]), end)
			if differs {
				remedies = append([]*Remedy{end}, stuck[:min(1, len(stuck))]...)
			}
		}
	}

	return cause, append(remedies, l.runsEnd()...)
}

// runsEnd says how to give each run an end, if it has none.
func (l *cronLook) runsEnd() []*Remedy {
	if l.cron.JobsEnd {
		return nil
	}

	isIdle, isLong := false, false
	for _, c := range l.active() {
		idles := l.idles(c)
		isIdle = isIdle || idles
		isLong = isLong || !idles && l.now.Sub(runsSince(c)) > time.Duration(l.enough())*time.Second
	}
	if isIdle && isLong { // the one that waits is in trouble, and such an end would stop the one that works
		return nil
	}

	return []*Remedy{l.set("for the next time, let each run end by itself after a time, so that one that hangs holds "+
		"back no more than that", "spec.jobTemplate.spec.activeDeadlineSeconds", l.enough(),
		"a run that takes longer fails; choose more than the longest good run")}
}

func lowerFirst(text string) string {
	if len(text) > 1 && text[1] >= 'a' && text[1] <= 'z' {
		return lower(text)
	}
	return text
}

// lateFindings report a run that should have started, and an active Job that takes much longer than
// earlier ones.
func (l *cronLook) lateFindings() (all []Finding) {
	for _, c := range l.plan.Create {
		since := c.ScheduledTime
		for i := range l.children { // the Job that held the run back may have ended just now
			if c := &l.children[i]; !c.Foreign {
				since = later(since, c.FinishTime)
			}
		}
		mayStart := refusal(l.events, l.now) == nil && l.closing.IsZero() && !l.isSuspended()
		isWanted := !l.cron.IsManifest && len(l.theirs.Create) > 0
		if l.now.Sub(since) > slack && isWanted && mayStart {
			all = append(all, inferred(finding(Error, "ControllerBehind", fmt.Sprintf("the run of %s was due %s "+
				"and should have started immediately", l.moment(c.ScheduledTime), l.at(c.ScheduledTime)),
				controllerRemedies(l.cron.Namespace, "cronjob", l.cron.Name)...)))
		}
	}

	isHeld := func(w cronjob.Wait) bool { return w.Reason == cronjobreason.WaitActive }
	if slices.ContainsFunc(l.plan.Waits, isHeld) {
		return nil // heldFindings report it
	}

	if len(l.activeFindings())+len(l.replaceFindings()) > 0 {
		return all // they say more
	}
	for _, c := range l.active() {
		f := l.idleTrouble(c)
		switch long := l.runsLong(c); {
		case f != nil && f.Severity != Note:
			return append(all, finding(Warning, "RunIdle", fmt.Sprintf("Job %s was created %s, and no container of "+
				"it does its work: %s", c.Name, l.at(c.CreationTimestamp),
				strings.TrimSuffix(lowerFirst(f.Text), ".")),
				append(slices.Clone(f.Remedies[:min(2, len(f.Remedies))]), l.runsEnd()...)...))
		case long != "":
			end := does("delete it", "its work is ended, and its pods are deleted with their logs: read them before; "+
				"runs to come start as scheduled", remove(l.cron.Namespace, "job", c.Name))
			return append(all, inferred(finding(Warning, "RunsLong", fmt.Sprintf("Job %s runs for %s, and %s",
				c.Name, l.since(runsSince(c)), long), append(l.longRemedies(c), when("it hangs", end))...)))
		}
	}
	return all
}

// startedLate reports an active run that started long after it was due. What delayed it is unknown.
func (l *cronLook) startedLate() []Finding {
	if l.spec.StartingDeadlineSeconds != nil || l.isSuspended() {
		return nil
	}
	for _, c := range l.active() {
		late := c.CreationTimestamp.Sub(c.ScheduledTime)
		if c.ScheduledTime.IsZero() || late < max(5*time.Minute, slack) {
			continue
		}

		why := "the CronJob was suspended until then, or the controller was down"
		if l.spec.ConcurrencyPolicy == cronjob.Forbid {
			why += ", or an earlier run was active (Forbid)"
		}

		return oneFinding(
			Note,
			"StartedLate",
			fmt.Sprintf("the run of %s started %s after it was due, %s: %s. After such a pause the latest run that "+
				"has come due starts immediately, and the others never", l.moment(c.ScheduledTime), span(late),
				l.at(c.CreationTimestamp), why),
			l.set("for the next time, let no run start that is more than an hour late",
				lateField, int64(3600),
				"a run that cannot start within that time is lost; set it before the CronJob is resumed"),
			when("this run is not wanted", does("delete its Job", "its work is ended, and its pods are deleted "+
				"with their logs; the next run starts as scheduled", remove(l.cron.Namespace, "job", c.Name))),
		)
	}
	return nil
}

// idleTrouble returns the trouble of an active Job that does nothing since a while, or nil.
func (l *cronLook) idleTrouble(c *cronjob.Child) *Finding {
	if !l.idles(c) || l.now.Sub(c.CreationTimestamp) < pendingLong {
		return nil
	}
	return l.troubleOf(l.jobs[c.UID])
}

// runsLong returns a text if an active Job takes much longer than earlier ones, or else "".
func (l *cronLook) runsLong(active *cronjob.Child) string {
	longest := l.longest()
	age := l.now.Sub(runsSince(active))
	switch {
	case longest == 0, age < 5*longest, age < 5*time.Minute, l.idles(active):
		return ""
	}
	return fmt.Sprintf("the runs before took %s at most: it may hang", span(longest))
}

// longest returns the duration of the longest known run that succeeded, or 0.
func (l *cronLook) longest() (d time.Duration) {
	for i := range l.children {
		if c := &l.children[i]; !c.Foreign && c.Finished == job.ConditionComplete {
			d = max(d, c.FinishTime.Sub(runsSince(c)))
		}
	}
	return d
}

// enough returns an activeDeadlineSeconds for the Jobs: three times the longest successful run, or an
// hour if none is known.
func (l *cronLook) enough() int64 {
	if d := l.longest(); d > 0 {
		return max(300, 3*int64(d.Seconds()))
	}
	return 3600
}

// longRemedies say how to find out whether a Job hangs.
func (l *cronLook) longRemedies(c *cronjob.Child) []*Remedy {
	ns := l.cron.Namespace
	return []*Remedy{
		inspect("look what it prints", kubectl(ns, "logs", "job/"+c.Name, "--tail=50")),
		inspect("look what it does", kubectl(ns, "exec", "job/"+c.Name, "--", "ps", "-ef")),
	}
}

// replaceFindings report that each run is replaced before it ends.
func (l *cronLook) replaceFindings() []Finding {
	interval := l.interval()
	base, since := l.successBase()
	switch {
	case l.spec.ConcurrencyPolicy != cronjob.Replace, l.isSuspended(), len(l.active()) == 0:
		return nil
	case interval == 0, l.now.Sub(base) < 3*interval:
		return nil
	}
	said, severity := "", Warning
	if e := lastEvent(l.events, "SuccessfulDelete"); e != nil && e.Count > 1 {
		said, severity = fmt.Sprintf(", and %d Jobs were deleted", e.Count), Error
	}

	if f := l.idleTrouble(l.active()[0]); f != nil {
		return oneFinding(severity, "ReplaceKills", fmt.Sprintf("no run has succeeded since %s%s: concurrencyPolicy "+
			"is Replace, and the active Job, which is deleted when the next run is due, does no work: %s", since, said,
			strings.TrimSuffix(lowerFirst(f.Text), ".")), f.Remedies[:min(2, len(f.Remedies))]...)
	}
	f := finding(severity, "ReplaceKills", fmt.Sprintf("no run has succeeded since %s%s: concurrencyPolicy is "+
		"Replace, so a run that takes longer than the %s between runs is deleted when the next is due, and never "+
		"ends", since, said, span(interval)),
		l.set("let a run end before the next one starts", "spec.concurrencyPolicy", "Forbid",
			"safe: runs that come due meanwhile are skipped, except for the latest"),
		when("each run must be on time", l.edit("make the runs shorter, or their distance longer")))
	f.Inferred = severity == Warning
	return []Finding{f}
}

// missedFindings report runs that will not start any more.
func (l *cronLook) missedFindings() []Finding {
	m := l.plan.Missed
	if m.Count == 0 || l.isSuspended() {
		return nil
	}
	var runs []string
	for _, r := range m.Runs {
		runs = append(runs, l.moment(r))
	}

	why := "a later run takes their place" + l.heldBy(m.Runs[0])
	if m.TooLate {
		why = l.whyTooLate()
	}

	text := fmt.Sprintf("%s since %s did not start and will not start any more, the latest first: %s; %s",
		count(int64(m.Count), "run"), l.base(), list(runs[:min(len(runs), 3)])+moreRuns(m.Count-min(len(runs), 3)),
		why)

	text += after("; ", l.manyMissed())

	needed := "the work of a missed run is needed"
	if due := l.due(); !due.IsZero() {
		needed += fmt.Sprintf(" besides that of the run of %s, which is due and still to start", l.moment(due))
	}
	if refusal(l.events, l.now) != nil {
		needed += ", and the API server accepts Jobs again"
	} else if name := l.illRun(); name != "" {
		needed += fmt.Sprintf(", and what is wrong with %s is corrected: the run would meet the same", name)
	}

	remedies := []*Remedy{when(needed, l.runNow("start one by hand"))}
	if l.isLost() { // the finding RunLost has the same remedy
		remedies = nil
	}

	switch {
	case m.TooLate:
		remedies = append(remedies, l.set("let late runs start later", lateField, l.lateness(),
			"safe: a run then starts late instead of never, as long as the next is not due"))
	case l.heldBy(m.Runs[0]) == "" && refusal(l.events, l.now) == nil && len(l.lateFindings()) == 0:
		remedies = append(remedies, inspect("look whether the controller was down, or the CronJob suspended, in "+
			"that time", kubectl("kube-system", "get", "lease", "kube-controller-manager", "-o", "yaml")))
	}
	return oneFinding(Warning, "RunsMissed", text, remedies...)
}

// manyMissed explains the event with which the controller reports many missed runs, or returns "".
func (l *cronLook) manyMissed() string {
	e := lastEvent(l.events, "TooManyMissedTimes")
	if e == nil {
		return ""
	}
	return fmt.Sprintf("the controller's event TooManyMissedTimes (%s) is harmless: since Kubernetes 1.21 the latest "+
		"run starts however many were missed, and no setting has to be changed", brief(firstPart(e.Message)))
}

// illRun returns the name of the newest Job if it has failed, or does not work. A run that is started now
// would do the same.
func (l *cronLook) illRun() string {
	var last *cronjob.Child
	for i := range l.children {
		c := &l.children[i]
		if !c.Foreign && (last == nil || c.CreationTimestamp.After(last.CreationTimestamp)) {
			last = c
		}
	}
	if last == nil || last.Finished == job.ConditionComplete {
		return ""
	}
	if f := l.troubleOf(l.jobs[last.UID]); f != nil && (last.Finished != "" || l.idles(last)) {
		return last.Name
	}
	return ""
}

// due returns a run that is due and has not started, or zero.
func (l *cronLook) due() (run time.Time) {
	for _, c := range l.plan.Create {
		run = c.ScheduledTime
	}
	for _, w := range l.plan.Waits {
		run = later(run, w.Run)
	}
	return run
}

const lateField = "spec.startingDeadlineSeconds"

// lateness returns a startingDeadlineSeconds under which no run is lost because of a short outage.
// It prefers a value that does not start a run that is lost already.
func (l *cronLook) lateness() int64 {
	long := max(shortDeadline, int64(l.interval().Seconds()))
	const enough = 3600
	starts := func(seconds int64) bool {
		return !l.startedBy(patch("", "cronjob", l.cron.Name, lateField, seconds)).run.IsZero()
	}
	if long > enough && starts(long) && !starts(enough) {
		return enough
	}
	return long
}

func moreRuns(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}

// firstPart returns the first sentence of a message, without the advice after it.
func firstPart(message string) string {
	part, _, _ := strings.Cut(message, ". ")
	return part
}
