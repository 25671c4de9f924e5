package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
)

// findings are everything that is wrong with the CronJob, or will hurt, the worst first.
func (l *cronLook) findings() []Finding {
	return worstFirst(slices.Concat(
		l.specFindings(), l.namespaceFindings(), l.refusedFindings(), l.heldFindings(), l.lateFindings(), l.startedLate(), l.differenceFindings(),
		l.replaceFindings(), l.failedRunFindings(), l.missedFindings(), l.staleFindings(), l.activeFindings(), l.historyFindings(),
		l.lintFindings(), l.restartFindings(), l.suspendedFindings(), l.zoneFindings(), l.contradictions()))
}

func (l *cronLook) set(do, field string, value any, risk string) Remedy {
	if l.cron.IsManifest {
		return l.edit(fmt.Sprintf("%s (%s: %v)", do, field, value))
	}
	return remedy(do, patch(l.cron.Namespace, "cronjob", l.cron.Name, field, value), risk)
}

func (l *cronLook) edit(do string) Remedy {
	if l.cron.IsManifest {
		return remedy(do+", in the manifest", kubectl(l.cron.Namespace, "apply", "-f", "cronjob.yaml"), "safe: no server has the CronJob yet")
	}
	return remedy(do, kubectl(l.cron.Namespace, "edit", "cronjob", l.cron.Name), "safe: Jobs that exist are not changed, and the next run uses the new values; if the manifest is kept elsewhere (git, Helm), change it there as well")
}

// runNow is the remedy to start a run by hand.
func (l *cronLook) runNow(do string) Remedy {
	return remedy(do, kubectl(l.cron.Namespace, "create", "job", "--from=cronjob/"+l.cron.Name, l.cron.Name+"-by-hand"),
		"starts immediately, also beside an active run: concurrencyPolicy does not hold it back, but it holds back scheduled runs while it is active")
}

// specFindings report what the API server would refuse, and a schedule that cannot be used.
func (l *cronLook) specFindings() (all []Finding) {
	all = unknownFindings(l.cron.Unknown)
	if c := l.snapshot.Schedule; c.Problem != "" {
		return append(all, finding(Error, "NoSchedule", c.Message+", so no run starts", l.scheduleRemedies()...))
	}
	if err := l.snapshot.CronJob.Validate(); err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			all = append(all, finding(Error, "InvalidSpec", "an API server refuses the CronJob: "+line, l.edit("correct the field")))
		}
	}
	return all
}

// scheduleRemedies say what to do about a schedule or a zone that cannot be used.
func (l *cronLook) scheduleRemedies() []Remedy {
	const risk = "safe: nothing runs now; the runs that have come due since the last one are not made up, except for the latest"
	zone := ""
	if l.spec.TimeZone != nil {
		zone = *l.spec.TimeZone
	}
	fields := strings.Fields(l.spec.Schedule)
	switch {
	case l.snapshot.Schedule.Problem == "UnknownTimeZone":
		if near, why := zoneMeant(zone); near != "" {
			return []Remedy{when(fmt.Sprintf("you mean %s%s", near, why), l.set("correct the time zone", "spec.timeZone", near, risk)),
				when("you mean another zone", l.edit("use its name in the IANA time zone database, such as America/New_York"))}
		}
		return []Remedy{l.set("use a name of the IANA time zone database, such as Europe/Berlin or Etc/UTC", "spec.timeZone", "Etc/UTC", risk)}
	case strings.Contains(l.spec.Schedule, "TZ="):
		named, rest, _ := strings.Cut(l.spec.Schedule, " ")
		_, zone, _ = strings.Cut(named, "=")
		if meant, _ := zoneMeant(zone); meant != "" {
			zone = meant
		}
		return []Remedy{remedy("name the zone in spec.timeZone, and not in the schedule, which API servers from Kubernetes 1.29 on refuse", kubectl(l.cron.Namespace, "patch", "cronjob", l.cron.Name, "--type=merge", "-p",
			fmt.Sprintf(`{"spec":{"schedule":%q,"timeZone":%q}}`, strings.TrimSpace(rest), zone)), risk)}
	case len(fields) == 5 && strings.EqualFold(fields[2], "L"):
		fields[2] = "28-31"
		return []Remedy{l.set(`run on the 28th to the 31st, and let the program end unless tomorrow is the 1st: [ "$(date -d tomorrow +%d)" = 01 ] || exit 0`, "spec.schedule", strings.Join(fields, " "), risk)}
	case len(fields) == 6:
		return []Remedy{l.set("a schedule has 5 fields and no seconds (minute, hour, day of month, month, day of week): leave the first of the 6 fields out", "spec.schedule", strings.Join(fields[1:], " "), risk)}
	}
	return []Remedy{l.edit("correct spec.schedule: 5 fields for minute, hour, day of month, month and day of week, or a name such as @daily")}
}

// lintFindings report what a schedule holds ready.
func (l *cronLook) lintFindings() (all []Finding) {
	if l.snapshot.Schedule.Problem != "" {
		return nil
	}
	lint := func(from time.Time) []schedule.Finding {
		return l.snapshot.Schedule.Schedule.Lint(schedule.Circumstances{From: from, StartingDeadlineSeconds: l.spec.StartingDeadlineSeconds, WakeUpLag: 10 * time.Second})
	}
	recent := lint(l.now.AddDate(0, 0, -3))
	for _, f := range lint(l.now) {
		if i := slices.IndexFunc(recent, func(r schedule.Finding) bool { return r.Kind == f.Kind }); i >= 0 && (f.Kind == schedule.SkippedTime || f.Kind == schedule.RepeatedTime) {
			f = recent[i] // whoever asks may have missed a run in the last days
		}
		severity := Warning
		switch {
		case f.Kind == schedule.NeverRuns:
			severity = Error
		case f.Kind == schedule.DeadlineTooShort && *l.spec.StartingDeadlineSeconds == 0:
			severity, f.Message = Error, "startingDeadlineSeconds is 0: no run is ever in time, so none starts"
		}
		all = append(all, finding(severity, string(f.Kind), f.Message, l.lintRemedy(f.Kind)))
	}
	return all
}

func (l *cronLook) lintRemedy(kind schedule.FindingKind) Remedy {
	switch kind {
	case schedule.NeverRuns:
		return l.edit("correct spec.schedule: no date has this day and this month")
	case schedule.EitherDay:
		return l.edit("restrict only one of the two day fields, and let the program test the other, as in: [ \"$(date +%u)\" = 5 ] || exit 0 (5 is Friday)")
	case schedule.MissingDay, schedule.RareDate:
		return l.edit("if it should run at the end of each month, run on the 28th to the 31st and let the program test whether tomorrow is the 1st: [ \"$(date -d tomorrow +%d)\" = 01 ] || exit 0")
	case schedule.UnevenStep:
		return l.edit("if the distance matters, use a step that divides 60 (minutes) or 24 (hours): a schedule cannot say another, since each field begins anew; or run more often, and let the program end when the last success is too recent")
	case schedule.SkippedTime, schedule.RepeatedTime:
		return l.edit("choose an hour that the change of clocks does not touch (before 01:00 or after 04:00 in most zones), or timeZone Etc/UTC")
	case schedule.DeadlineTooShort:
		return l.set("give the controller time: at least 200 seconds, or the time to the next run", "spec.startingDeadlineSeconds", l.lateness(), "safe: late runs then start instead of being lost")
	case schedule.NameCollision, schedule.RoundedInterval:
		return l.edit("use a schedule of whole minutes")
	}
	return l.edit("change spec.schedule if this is not meant")
}

// restartFindings report what the Jobs' backoffLimit means with restartPolicy OnFailure.
func (l *cronLook) restartFindings() []Finding {
	if l.cron.Jobs == nil {
		return nil
	}
	spec := *l.cron.Jobs
	job.Default(&spec)
	text, limit := sharedRestarts(&spec)
	if text == "" {
		return nil
	}
	return []Finding{finding(Note, "RestartsShared", "in its Jobs, "+text,
		when("each container should have that many", l.set("raise backoffLimit", "spec.jobTemplate.spec.backoffLimit", limit,
			"safe: only Jobs created from now on have it; a container that fails alone is also restarted as often")),
		when("pods should be replaced as a whole", l.edit("set restartPolicy: Never in spec.jobTemplate.spec.template.spec: then backoffLimit counts failed pods")))}
}

func (l *cronLook) namespaceFindings() []Finding {
	if l.closing.IsZero() {
		return nil
	}
	return []Finding{finding(Error, "NamespaceEnds", fmt.Sprintf("namespace %s is being deleted since %s: the API server refuses new Jobs", l.cron.Namespace, l.clock(l.closing)),
		remedy("create the CronJob in another namespace", kubectl("OTHER", "apply", "-f", "cronjob.yaml"), "safe: what is in this namespace will be deleted"))}
}

// refusedFindings are about writes that the API server has refused, and events whose advice is
// wrong.
func (l *cronLook) refusedFindings() (all []Finding) {
	ns, name := l.cron.Namespace, l.cron.Name
	if e := refusal(l.events, l.now); e != nil {
		remedies := []Remedy{inspect("read the whole message; the controller retries by itself", kubectl(ns, "describe", "cronjob", name))}
		switch {
		case contains(e.Message, "exceeded quota"):
			remedies = []Remedy{
				remedy("make room: finished Jobs count as well. Let them be deleted by setting ttlSecondsAfterFinished in spec.jobTemplate.spec, or delete them now", kubectl(ns, "get", "resourcequota")+" && "+kubectl(ns, "delete", "jobs", "--field-selector", "status.successful=1"), "the first command changes nothing; the second deletes every Job of the namespace that has one success, with its logs"),
				when("the quota is too small", remedy("raise it", kubectl(ns, "edit", "resourcequota"), "needs the rights of an administrator")),
			}
		case contains(e.Message, "webhook"):
			remedies = []Remedy{inspect("look at the webhook that the message names: its policy, or whether its pods run; the controller retries by itself", "kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations"),
				l.edit("change spec.jobTemplate as its policy demands")}
		case contains(e.Message, "is invalid"):
			remedies = []Remedy{l.edit("correct the field of spec.jobTemplate that the message names")}
		}
		all = append(all, finding(Error, "FailedCreate", fmt.Sprintf("the API server refuses new Jobs, reported %s, last %s: %s", times(e.Count), l.at(e.Last), brief(e.Message)), remedies...))
	}
	for _, e := range lastWarnings(l.events) {
		text := fmt.Sprintf("the controller reported %s, last %s: %s", times(e.Count), l.at(e.Last), brief(e.Message))
		switch e.Reason {
		case "FailedDelete", "FailedGet", "UnexpectedJob":
			all = append(all, finding(Error, e.Reason, text, inspect("look at the Job that the message names; the controller retries by itself", kubectl(ns, "get", "jobs"))))
		}
	}
	return all
}

// heldFindings report a run that is due and does not start.
func (l *cronLook) heldFindings() (all []Finding) {
	for _, w := range l.plan.Waits {
		switch w.Reason {
		case cronjob.WaitActive:
			cause, remedies := l.blocker()
			severity := Warning
			if strings.HasPrefix(cause, "; what") {
				severity = Error
			}
			all = append(all, finding(severity, "RunHeld", fmt.Sprintf("the run of %s, due %s, does not start: concurrencyPolicy is Forbid, and %s%s", l.moment(w.Run), l.at(w.Run), l.activeJobs(), cause), remedies...))
		case cronjob.WaitNameTaken:
			ns := l.cron.Namespace
			all = append(all, finding(Error, "NameTaken", fmt.Sprintf("the run of %s does not start: a Job of another owner has its name, %s", l.moment(w.Run), w.Name),
				inspect("look whose it is", kubectl(ns, "get", "job", w.Name, "-o", "yaml")),
				when("nobody needs it", remedy("delete it: the run then starts", kubectl(ns, "delete", "job", w.Name), "its pods and their logs are deleted, and a Job that runs is ended")),
				when("the run is needed", remedy("start the run by hand under another name", kubectl(ns, "create", "job", "--from=cronjob/"+l.cron.Name, w.Name+"-b"), "the next run of the schedule is not affected"))))
		}
	}
	return all
}

// blocker says what is wrong with the active Job that holds a run back, and what to do.
func (l *cronLook) blocker() (cause string, remedies []Remedy) {
	var stuck []Remedy
	for _, c := range l.active() {
		j := l.jobs[c.UID]
		if j == nil {
			continue
		}
		if f := l.troubleOf(j); f != nil && cause == "" {
			cause = "; what is wrong there, " + f.Code + ": " + strings.TrimSuffix(lowerFirst(f.Text), ".")
			stuck = f.Remedies
		}
	}
	ns := l.cron.Namespace
	if active := l.active(); len(active) > 0 {
		name := active[0].Name
		end := remedy("delete the active Job: the run that is due then starts", kubectl(ns, "delete", "job", name), "its work is ended, and its pods are deleted with their logs: read them before")
		switch long := l.runsLong(active[0]); {
		case cause == "" && long != "":
			cause, remedies = "; "+long, l.longRemedies(active[0])
		case cause == "" && !l.podsRead:
			remedies = []Remedy{inspect("collect the pods and events as well: without them nobody can tell whether it works or hangs", collect(ns)), when("it hangs", end)}
		case cause == "":
			remedies = []Remedy{
				when("the run does its work and only takes longer", inspect("wait: the run that is due starts when it has ended, if no deadline passes; look what it prints", kubectl(ns, "logs", "job/"+name, "--tail=20"))),
				when("it hangs", end)}
		default:
			remedies = append(slices.Clone(stuck[:min(2, len(stuck))]), end)
		}
	}
	if !l.cron.JobsEnd {
		remedies = append(remedies, l.set("for the next time, let each run end by itself after a time, so that one that hangs holds back no more than that", "spec.jobTemplate.spec.activeDeadlineSeconds", l.enough(), "a run that takes longer fails; choose more than the longest good run"))
	}
	return cause, remedies
}

func lowerFirst(text string) string {
	if len(text) > 1 && text[1] >= 'a' && text[1] <= 'z' {
		return lower(text)
	}
	return text
}

// lateFindings report a run that should have started, and one that runs much longer than others.
func (l *cronLook) lateFindings() (all []Finding) {
	for _, c := range l.plan.Create {
		if late := l.now.Sub(c.ScheduledTime); late > slack && !l.cron.IsManifest && len(l.theirs.Create) > 0 && refusal(l.events, l.now) == nil && l.closing.IsZero() && !l.isSuspended() {
			all = append(all, inferred(finding(Error, "ControllerBehind", fmt.Sprintf("the run of %s was due %s and should have started immediately", l.moment(c.ScheduledTime), l.at(c.ScheduledTime)),
				controllerRemedies(l.cron.Namespace, "cronjob", l.cron.Name)...)))
		}
	}
	if len(l.plan.Waits) > 0 && slices.ContainsFunc(l.plan.Waits, func(w cronjob.Wait) bool { return w.Reason == cronjob.WaitActive }) {
		return nil // the finding about the run that is held back says it
	}
	for _, c := range l.active() {
		if long := l.runsLong(c); long != "" {
			return append(all, inferred(finding(Warning, "RunsLong", fmt.Sprintf("Job %s runs for %s, and %s", c.Name, l.since(c.CreationTimestamp), long), l.longRemedies(c)...)))
		}
	}
	return all
}

// startedLate reports an active run that started long after it was due. Which pause has delayed it is not known.
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
		return []Finding{finding(Note, "StartedLate",
			fmt.Sprintf("the run of %s started %s after it was due, %s: %s. After such a pause the latest run that has come due starts immediately, and the others never", l.moment(c.ScheduledTime), span(late), l.at(c.CreationTimestamp), why),
			l.set("for the next time, let no run start that is more than an hour late", "spec.startingDeadlineSeconds", int64(3600), "a run that cannot start within that time is lost; set it before the CronJob is resumed"),
			when("this run is not wanted", remedy("delete its Job", kubectl(l.cron.Namespace, "delete", "job", c.Name), "its work is ended, and its pods are deleted with their logs; the next run starts as scheduled")))}
	}
	return nil
}

// runsLong says that an active Job takes much longer than those before it, or "".
func (l *cronLook) runsLong(active *cronjob.Child) string {
	longest := l.longest()
	age := l.now.Sub(active.CreationTimestamp)
	if longest == 0 || age < 5*longest || age < 5*time.Minute {
		return ""
	}
	return fmt.Sprintf("the runs before took %s at most: it may hang", span(longest))
}

// longest is how long the longest good run took that is known, or 0.
func (l *cronLook) longest() (d time.Duration) {
	for i := range l.children {
		if c := &l.children[i]; !c.Foreign && c.Finished == job.ConditionComplete {
			d = max(d, c.FinishTime.Sub(c.CreationTimestamp))
		}
	}
	return d
}

// enough is an activeDeadlineSeconds for the runs: three times the longest good one, or an hour.
func (l *cronLook) enough() int64 {
	if d := l.longest(); d > 0 {
		return max(300, 3*int64(d.Seconds()))
	}
	return 3600
}

// longRemedies say how to find out whether a Job hangs.
func (l *cronLook) longRemedies(c *cronjob.Child) []Remedy {
	ns := l.cron.Namespace
	return []Remedy{
		inspect("look what it prints", kubectl(ns, "logs", "job/"+c.Name, "--tail=50")),
		inspect("look what it does", kubectl(ns, "exec", "job/"+c.Name, "--", "ps", "-ef")),
		when("it hangs", remedy("delete it: a run that is held back then starts", kubectl(ns, "delete", "job", c.Name), "its work is ended, and its pods are deleted with their logs: read them before")),
	}
}

// differenceFindings report that Kubernetes 1.36 decides otherwise than the schedule says.
func (l *cronLook) differenceFindings() []Finding {
	switch {
	case l.snapshot.Schedule.Problem != "" || l.isSuspended():
		return nil
	case l.isLost():
		return []Finding{finding(Error, "RunLost", fmt.Sprintf("the run of %s is due, and Kubernetes 1.36 does not start it: it takes the distance between the first two missed runs for the distance of all, and this schedule is irregular; the next run, %s, starts again",
			l.moment(l.plan.Create[0].ScheduledTime), l.moment(l.plan.NextRun)), l.runNow("start the lost run by hand"))}
	case !l.plan.NextRun.Equal(l.theirs.NextRun) && l.theirs.NextRun.IsZero():
		return []Finding{finding(Warning, "KubernetesDiffers", fmt.Sprintf("the schedule runs next at %s, and Kubernetes 1.36 finds no run at all within five years", l.moment(l.plan.NextRun)), l.runNow("start that run by hand when its time has come"))}
	case !l.plan.NextRun.Equal(l.theirs.NextRun):
		return []Finding{finding(Warning, "KubernetesDiffers", fmt.Sprintf("the schedule runs next at %s, and Kubernetes 1.36 runs it at %s", l.moment(l.plan.NextRun), l.moment(l.theirs.NextRun)), l.edit("write the schedule so that both agree: see the page's part Schedules"))}
	}
	return nil
}

// interval is the distance of the next two runs.
func (l *cronLook) interval() time.Duration {
	if l.snapshot.Schedule.Problem != "" {
		return 0
	}
	next := slices.Collect(l.snapshot.Schedule.Schedule.NextN(l.now, 2))
	if len(next) < 2 {
		return 0
	}
	return next[1].Sub(next[0])
}

// successBase is since when no run has succeeded: the last success, or the creation.
func (l *cronLook) successBase() (time.Time, string) {
	if t := l.status.LastSuccessfulTime; !t.IsZero() {
		return t, "the last success, " + l.since(t) + " ago"
	}
	return l.snapshot.CronJob.CreationTimestamp, "its creation, " + l.since(l.snapshot.CronJob.CreationTimestamp) + " ago"
}

// replaceFindings report that each run is replaced before it ends.
func (l *cronLook) replaceFindings() []Finding {
	interval := l.interval()
	base, since := l.successBase()
	if l.spec.ConcurrencyPolicy != cronjob.Replace || interval == 0 || l.now.Sub(base) < 3*interval || l.isSuspended() || len(l.active()) == 0 {
		return nil
	}
	said, severity := "", Warning
	if e := lastEvent(l.events, "SuccessfulDelete"); e != nil && e.Count > 1 {
		said, severity = fmt.Sprintf(", and %d Jobs were deleted", e.Count), Error
	}
	f := finding(severity, "ReplaceKills", fmt.Sprintf("no run has succeeded since %s%s: concurrencyPolicy is Replace, so a run that takes longer than the %s between runs is deleted when the next is due, and never ends", since, said, span(interval)),
		l.set("let a run end before the next one starts", "spec.concurrencyPolicy", "Forbid", "safe: runs that come due meanwhile are skipped, except for the latest"),
		when("each run must be on time", l.edit("make the runs shorter, or their distance longer")))
	f.Inferred = severity == Warning
	return []Finding{f}
}

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
		severity, what = Error, fmt.Sprintf("the last %s failed, and none has succeeded since %s", count(n, "run has", "runs have"), since)
		if n == 1 {
			what = fmt.Sprintf("the last run has failed, and none has succeeded since %s", since)
		}
	}
	text, remedies := fmt.Sprintf("%s: %s %s", what, last.Name, l.at(last.FinishTime)), []Remedy(nil)
	if f := l.troubleOf(l.jobs[last.UID]); f != nil {
		text += "; " + strings.TrimSuffix(lowerFirst(f.Text), ".")
		remedies = slices.Clone(f.Remedies[:min(2, len(f.Remedies))])
	}
	again := when("the cause is gone", l.runNow("try it without waiting for the schedule"))
	if !slices.ContainsFunc(remedies, func(r Remedy) bool { return r.Command == again.Command }) {
		remedies = append(remedies, again)
	}
	return []Finding{finding(severity, "RunsFail", text, remedies...)}
}

// goneRunFindings report that runs fail whose Jobs are deleted already.
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
	remedies := []Remedy{l.runNow("start a run and watch it")}
	keep := int32(1)
	if limit := l.spec.FailedJobsHistoryLimit; limit != nil {
		keep = *limit
	}
	text := fmt.Sprintf("runs fail: the controller saw %s end, the last %s, and none has succeeded since %s", count(int64(failures), "failed Job"), l.at(last), since)
	if keep == 0 {
		text += "; failedJobsHistoryLimit is 0, so each failed Job is deleted with its pods and logs as soon as it ends"
		remedies = append([]Remedy{l.set("keep the last failed Jobs, to see why they fail", "spec.failedJobsHistoryLimit", 2, "safe: two more Jobs with their pods are kept")}, remedies...)
	}
	return []Finding{finding(Error, "RunsFail", text, remedies...)}
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
	text := fmt.Sprintf("%s since %s did not start and will not start any more, the latest first: %s; %s", count(int64(m.Count), "run"), l.base(), list(runs[:min(len(runs), 3)])+moreRuns(m.Count-min(len(runs), 3)), why)
	if e := lastEvent(l.events, "TooManyMissedTimes"); e != nil {
		text += fmt.Sprintf("; the controller's event TooManyMissedTimes (%s) is harmless: since Kubernetes 1.21 the latest run starts however many were missed, and no setting has to be changed", brief(firstPart(e.Message)))
	}
	remedies := []Remedy{l.runNow("if the work of a missed run is needed, start one by hand")}
	if l.isLost() { // the finding about the lost run says it
		remedies = nil
	}
	switch {
	case m.TooLate:
		remedies = append(remedies, l.set("let late runs start later", "spec.startingDeadlineSeconds", l.lateness(), "safe: a run then starts late instead of never, as long as the next is not due"))
	case l.heldBy(m.Runs[0]) == "" && refusal(l.events, l.now) == nil && len(l.lateFindings()) == 0:
		remedies = append(remedies, inspect("look whether the controller was down, or the CronJob suspended, in that time", kubectl("kube-system", "get", "lease", "kube-controller-manager", "-o", "yaml")))
	}
	return []Finding{finding(Warning, "RunsMissed", text, remedies...)}
}

// lateness is a startingDeadlineSeconds that loses no run for a short outage.
func (l *cronLook) lateness() int64 { return max(200, int64(l.interval().Seconds())) }

func moreRuns(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}

// firstPart is a message without the advice in its later sentences.
func firstPart(message string) string {
	part, _, _ := strings.Cut(message, ". ")
	return part
}

// staleFindings report active Jobs of the status that do not exist.
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
			severity, text = Error, text+fmt.Sprintf(", and concurrencyPolicy is Forbid: if the Job is gone, the entry has probably held back the %s since %s", count(int64(l.plan.Missed.Count), "run"), l.base())
		}
		all = append(all, inferred(finding(severity, "ActiveStale", text+". A controller that runs takes a Job that is gone off the list at its next look",
			inspect("look whether the Job exists", kubectl(ns, "get", "job", ref.Name)),
			when("it is gone and stays on the list", inspect("look whether the kube-controller-manager runs: it should have taken it off", kubectl("kube-system", "get", "lease", "kube-controller-manager", "-o", "jsonpath={.spec.renewTime}"))),
			when("it is gone and the controller runs", remedy("take it off by hand", kubectl(ns, "patch", "cronjob", l.cron.Name, "--subresource=status", "--type=merge", "-p", `{"status":{"active":null}}`), "safe only if no Job of the CronJob is active: otherwise two runs overlap; needs kubectl 1.24")))))
	}
	return all
}

// activeFindings report Jobs that pile up.
func (l *cronLook) activeFindings() []Finding {
	active := l.active()
	if len(active) < 3 || l.spec.ConcurrencyPolicy != cronjob.Allow {
		return nil
	}
	oldest := l.now
	for _, c := range active {
		if c.CreationTimestamp.Before(oldest) {
			oldest = c.CreationTimestamp
		}
	}
	cause := ""
	if j := l.jobs[active[0].UID]; j != nil {
		if f := l.troubleOf(j); f != nil {
			cause = "; " + strings.TrimSuffix(lowerFirst(f.Text), ".")
		}
	}
	return []Finding{finding(Warning, "PileUp", fmt.Sprintf("%d Jobs are active at the same time, the oldest for %s: concurrencyPolicy is Allow, and runs take longer than the %s between them%s", len(active), l.since(oldest), span(l.interval()), cause),
		l.set("let no run start while another is active", "spec.concurrencyPolicy", "Forbid", "safe: the Jobs that run go on; runs that come due meanwhile are skipped, except for the latest"),
		l.set("let runs that hang end by themselves", "spec.jobTemplate.spec.activeDeadlineSeconds", max(3600, int64(2*l.interval().Seconds())), "a run that takes longer fails; only Jobs created from now on have it"),
		inspect("look what the oldest does", kubectl(l.cron.Namespace, "logs", "job/"+oldestName(active), "--tail=20")))}
}

func oldestName(active []*cronjob.Child) string {
	return slices.MinFunc(active, func(a, b *cronjob.Child) int { return a.CreationTimestamp.Compare(b.CreationTimestamp) }).Name
}

// historyFindings report limits of the history that finished jobs pass immediately.
func (l *cronLook) historyFindings() (all []Finding) {
	active := int64(len(l.active()))
	check := func(field string, limit *int32, how string) {
		if limit != nil && active > int64(*limit) && *limit > 0 {
			all = append(all, finding(Note, "HistoryTooShort", fmt.Sprintf("%s is %d and %s active: if all of them %s, all but %d are deleted immediately, logs included",
				field, *limit, count(active, "Job is", "Jobs are"), how, *limit), l.set("keep more", "spec."+field, active, "safe: more finished Jobs with their pods are kept")))
		}
	}
	if ttl := l.ttl(); ttl != nil && time.Duration(*ttl)*time.Second < l.interval() {
		end := "as soon as it has ended"
		if *ttl > 0 {
			end = span(time.Duration(*ttl)*time.Second) + " after its end"
		}
		all = append(all, finding(Note, "JobsExpire", fmt.Sprintf("ttlSecondsAfterFinished is %d in spec.jobTemplate: each Job is deleted %s with its pods and their logs, whatever the history limits say", *ttl, end),
			l.set("keep Jobs for a day, or take the field out: the history limits delete old Jobs as well", "spec.jobTemplate.spec.ttlSecondsAfterFinished", int64(86400), "safe: only Jobs created from now on have it")))
	}
	check("failedJobsHistoryLimit", l.spec.FailedJobsHistoryLimit, "fail")
	check("successfulJobsHistoryLimit", l.spec.SuccessfulJobsHistoryLimit, "succeed")
	return all
}

// suspendedFindings say how to resume.
func (l *cronLook) suspendedFindings() (all []Finding) {
	if l.isSuspended() {
		all = append(all, finding(Note, "Suspended", "spec.suspend is true: no run starts, and none is recorded as missed",
			l.set("resume it", "spec.suspend", false, "the latest run that has come due starts immediately if there is one, unless startingDeadlineSeconds has passed for it; the others are lost. Ask first why it was suspended")))
	}
	if l.cron.JobsSuspended {
		all = append(all, finding(Warning, "JobsSuspended", "spec.jobTemplate.spec.suspend is true: each Job is created suspended and starts only when a user or a controller such as Kueue resumes it",
			when("nobody does", l.set("create Jobs that start", "spec.jobTemplate.spec.suspend", false, "safe: Jobs that exist stay as they are"))))
	}
	return all
}

// zoneFindings say which zone counts if none is named.
func (l *cronLook) zoneFindings() []Finding {
	if l.spec.TimeZone != nil || l.snapshot.Schedule.Problem != "" || l.isEveryHour() || l.plan.NextRun.IsZero() && !l.isSuspended() {
		return nil
	}
	return []Finding{finding(Note, "NoTimeZone", "timeZone is not set: the zone of the kube-controller-manager counts, which is UTC almost everywhere and is taken to be UTC here",
		when("the times are meant in another zone", l.set("name the zone, whose daylight saving time then applies", "spec.timeZone", "Europe/Berlin", "safe: the next run is due at the time of the new zone; replace Europe/Berlin by yours")))}
}

// isEveryHour reports whether the schedule runs alike in all hours and days, so that the zone
// does not matter.
func (l *cronLook) isEveryHour() bool {
	fields := strings.Fields(l.spec.Schedule)
	return len(fields) == 5 && fields[1] == "*" && fields[2] == "*" && fields[3] == "*" && fields[4] == "*" || strings.HasPrefix(l.spec.Schedule, "@every") || l.spec.Schedule == "@hourly"
}

// contradictions report what contradicts itself.
func (l *cronLook) contradictions() (all []Finding) {
	for _, n := range l.plan.Notes {
		if n.Field == "cronJob.spec.startingDeadlineSeconds" && n.Value == "0" {
			continue // DeadlineTooShort says it
		}
		all = append(all, finding(Warning, "Contradiction", fmt.Sprintf("%s %s: %s", strings.TrimPrefix(n.Field, "cronJob."), n.Value, withoutRule(n.Message)),
			inspect("read the object again; if it stays, look at its status", kubectl(l.cron.Namespace, "get", "cronjob", l.cron.Name, "-o", "yaml"))))
	}
	return all
}
