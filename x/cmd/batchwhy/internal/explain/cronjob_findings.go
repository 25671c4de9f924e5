package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
	"github.com/batchplan/batchplan/x/cmd/internal/manifest"
)

// findings returns everything that is wrong with the CronJob or will become a problem, worst first. A
// missing time zone is left out if something is wrong: who asks about that did not ask for the zone.
func (l *cronLook) findings() []Finding {
	all := worstFirst(slices.Concat(l.doubtFindings(), l.specFindings(), l.namespaceFindings(), l.refusedFindings(),
		l.heldFindings(), l.reportFindings(), l.namesakeFindings(), l.lateFindings(), l.startedLate(),
		l.differenceFindings(), l.replaceFindings(), l.activeFindings(), l.failedRunFindings(), l.shrunkFindings(),
		l.successFindings(), l.overrunFindings(), l.missedFindings(), l.clockFindings(), l.staleFindings(),
		l.historyFindings(), l.lintFindings(), l.restartFindings(), l.suspendedFindings(), l.zoneFindings(),
		l.contradictions()))

	for _, h := range l.e.keptHints(&l.cron.Meta) {
		all = append(all, finding(Note, "Related", h.text, h.remedies...))
	}
	isWrong := func(f Finding) bool { return f.Severity != Note }
	if slices.ContainsFunc(all, isWrong) || hasDoubts(all) {
		all = slices.DeleteFunc(all,
			func(f Finding) bool { return f.Code == "NoTimeZone" || f.Code == "HistoryTooShort" })
	}
	return all
}

func (l *cronLook) set(do, field string, value any, risk string) *Remedy {
	if l.cron.IsManifest {
		return l.edit(fmt.Sprintf("%s (%s: %v)", do, field, value))
	}
	change := patch(l.cron.Namespace, "cronjob", l.cron.Name, field, value)
	if err := l.accepts(change); err != nil {
		return l.edit(fmt.Sprintf("%s (%s: %v)", do, field, value))
	}
	return l.change(do, risk, change)
}

// change returns the remedy of a patch. The risk names a run that the planner starts because of it.
func (l *cronLook) change(do, risk string, change *Act) *Remedy {
	if s := l.startedBy(change); !s.run.IsZero() {
		starts := fmt.Sprintf("the run of %s, which has not started so far, then starts%s: do not start it by hand "+
			"as well; those before it are lost", l.moment(s.run), s.how)
		if risk = starts + "; " + risk; strings.HasPrefix(risk, starts+"; safe") {
			risk = starts
		}
	}
	return does(do, risk+setBack(&l.cron.Meta), change)
}

// started is a run that starts with a patch and not without it.
type started struct {
	run time.Time // zero if there is none
	// how continues "starts": it names the Jobs that the run waits for, or that it replaces.
	how string
}

// startedBy returns the run that starts with a patch and does not start without it: a run that
// starts now, or when an active Job has ended. A new schedule or zone can have a time between the
// last recorded run and now, which then counts as missed.
func (l *cronLook) startedBy(change *Act) (s started) {
	next := l.theirSnapshot
	next.CronJob.Spec = cronjob.Spec{}
	if patched(&next.CronJob.Spec, l.spec, change.Patch) != nil {
		return s
	}

	next.Schedule = cronjob.Compile(&next.CronJob, schedule.Kubernetes(release.Newest()))
	plan, err := cronjob.Reconcile(next)
	if err != nil {
		return s
	}

	run, isHeld := runOf(plan)
	was, wasHeld := runOf(l.theirs)
	if isSame := run.Equal(was) && (isHeld || !wasHeld); run.IsZero() || isSame {
		return s
	}
	s.run = run
	if isHeld {
		s.how = " as soon as the active Job has ended"
		if active := l.holding(); len(active) == 1 && active[0].Name != "" {
			s.how = fmt.Sprintf(" as soon as %s has ended", active[0].Name)
		}
		return s
	}

	var replaced []string
	for _, d := range plan.Delete {
		if d.Reason == cronjobreason.DeleteReplaced {
			replaced = append(replaced, cmp.Or(d.Name, "the active Job"))
		}
	}
	if len(replaced) > 0 {
		s.how = fmt.Sprintf(", and replaces %s, whose work is ended, and whose pods are deleted with their logs",
			list(replaced))
	}
	return s
}

// runOf returns the run that a plan starts, or holds back because a Job is active.
func runOf(p cronjob.Plan) (run time.Time, isHeld bool) {
	for _, w := range p.Waits {
		if w.Reason == cronjobreason.WaitActive && !w.Run.IsZero() {
			run, isHeld = w.Run, true
		}
	}
	if len(p.Create) > 0 {
		return p.Create[0].ScheduledTime, false
	}
	return run, isHeld
}

// reschedule returns the remedy to choose other times by hand, with the times that start a run now.
func (l *cronLook) reschedule(do string) *Remedy {
	return withRisk(l.edit(do), l.edit(do).Risk+l.timesMissed())
}

// shortDeadline is the least startingDeadlineSeconds that gives a busy controller time.
const shortDeadline = 200

// timesMissed warns of times between the last recorded run and now. It returns "" if no such time
// starts a run, or if they all start one even with the shortDeadline.
func (l *cronLook) timesMissed() string {
	from := later(l.status.LastScheduleTime, l.snapshot.CronJob.CreationTimestamp)
	if d := l.spec.StartingDeadlineSeconds; d != nil {
		from = later(from, l.now.Add(-time.Duration(min(*d, 1<<30))*time.Second))
	}
	if l.isSuspended() || l.cron.IsManifest || l.now.Sub(from) <= shortDeadline*time.Second {
		return ""
	}
	return fmt.Sprintf(" But if the new schedule or zone has a time between %s (UTC) and now, that counts as missed, "+
		"and a run of it starts soon: set startingDeadlineSeconds to %d in the same change, if that is not wanted",
		l.moment(from), shortDeadline)
}

func (l *cronLook) edit(do string) *Remedy {
	if l.cron.IsManifest {
		return does(do+", in the manifest", "safe: no server has the CronJob yet",
			apply(l.cron.Namespace, "cronjob", l.cron.Name))
	}
	const safe = "safe: Jobs that exist are not changed, and the next run uses the new values"
	if k := keeperOf(&l.cron.Meta); k.name != "" {
		change := edit(l.cron.Namespace, "cronjob", l.cron.Name)
		change.Command = k.command
		return does(fmt.Sprintf("%s, in %s, from which %s has made the CronJob", do, k.source, k.name), safe, change)
	}
	return does(do, safe+"; if the manifest is kept elsewhere (git, Helm), change it there as well",
		edit(l.cron.Namespace, "cronjob", l.cron.Name))
}

func (l *cronLook) accepts(change *Act) error {
	var next cronjob.Spec
	if err := patched(&next, l.spec, change.Patch); err != nil {
		return err
	}
	return cronjob.ValidateUpdate(&l.snapshot.CronJob, next, release.Newest())
}

// runNow returns the remedy that starts a run by hand.
func (l *cronLook) runNow(do string) *Remedy {
	return does(do,
		"starts immediately, also beside an active run: concurrencyPolicy does not hold it back, "+l.beside(),
		start(l.cron.Namespace, l.cron.Name, l.e.byHand(l.cron.Namespace, l.cron.Name)))
}

// beside describes how a Job that is started by hand affects the next run.
func (l *cronLook) beside() string {
	s := l.theirSnapshot
	byHand := cronjob.Child{Name: l.cron.Name + "-by-hand", UID: "by-hand", CreationTimestamp: l.now, StartTime: l.now}
	s.Now, s.Children, s.CronJob.Status.Active = l.theirs.NextRun, []cronjob.Child{byHand}, nil
	s.CronJob.Status.LastScheduleTime = l.now

	plan, err := cronjob.Reconcile(s)
	waits := err == nil && len(plan.Create) == 0 && len(plan.Waits) > 0
	if waits && plan.Waits[0].Reason == cronjobreason.WaitActive {
		return "but it holds back scheduled runs while it is active"
	}
	return "and it holds back no scheduled run, which would start beside it"
}

// specFindings report what the API server would refuse, and a schedule that cannot be used.
func (l *cronLook) specFindings() (all []Finding) {
	refused := l.cron.Refused
	var live error
	if c := l.snapshot.Schedule; c.Problem != 0 {
		text := c.Message
		isCause := func(p manifest.Problem) bool {
			return strings.HasPrefix(p.Text, "spec.schedule: ") || strings.HasPrefix(p.Text, "spec.timeZone: ")
		}
		if i := slices.IndexFunc(refused, isCause); i >= 0 {
			text = refused[i].Refusal()
			refused = slices.Delete(slices.Clone(refused), i, i+1)
		}
		all = append(all, finding(Error, "NoSchedule", text+", so no run starts", l.scheduleRemedies()...))
	} else if !l.cron.IsManifest {
		// An update may keep a stored value that a new object may not have.
		live = cronjob.ValidateUpdate(&l.snapshot.CronJob, *l.spec, release.Newest())
	}

	return append(all, invalidFindings(l.cron.Unknown, refused, live, l.edit("correct the field"))...)
}

// scheduleRemedies say what to do about a schedule or a zone that cannot be used.
func (l *cronLook) scheduleRemedies() []*Remedy {
	const risk = "safe: nothing runs now; the runs that have come due since the last one are not made up, " +
		"except for the latest"
	zone := ""
	if l.spec.TimeZone != nil {
		zone = *l.spec.TimeZone
	}

	fields := strings.Fields(l.spec.Schedule)

	switch {
	case l.snapshot.Schedule.Problem == cronjobreason.ProblemUnknownTimeZone:
		if near, why := zoneMeant(zone); near != "" {
			return []*Remedy{
				when(fmt.Sprintf("you mean %s%s", near, why),
					l.set("correct the time zone", "spec.timeZone", near, risk)),
				when("you mean another zone",
					l.edit("use its name in the IANA time zone database, such as America/New_York")),
			}
		}
		return []*Remedy{
			l.set("use a name of the IANA time zone database, such as Europe/Berlin or Etc/UTC", "spec.timeZone",
				"Etc/UTC", risk),
		}
	case strings.Contains(l.spec.Schedule, "TZ="):
		return []*Remedy{l.zoneOut(risk)}
	case len(fields) == 5 && strings.EqualFold(fields[2], "L"):
		fields[2] = "28-31"
		return []*Remedy{l.set("run on the 28th to the 31st, and let the program end unless tomorrow is the 1st: "+
			`[ "$(date -d tomorrow +%d)" = 01 ] || exit 0`, "spec.schedule", strings.Join(fields, " "), risk)}
	case len(fields) == 6:
		return []*Remedy{l.set("a schedule has 5 fields and no seconds (minute, hour, day of month, month, day of "+
			"week): leave the first of the 6 fields out", "spec.schedule", strings.Join(fields[1:], " "), risk)}
	}
	return []*Remedy{l.reschedule("correct spec.schedule: 5 fields for minute, hour, day of month, month and day of " +
		"week, or a name such as @daily")}
}

// zoneOut returns the remedy that moves the zone from the schedule to spec.timeZone.
func (l *cronLook) zoneOut(risk string) *Remedy {
	named, rest, _ := strings.Cut(l.spec.Schedule, " ")
	_, zone, _ := strings.Cut(named, "=")
	if meant, _ := zoneMeant(zone); meant != "" {
		zone = meant
	}
	rest = strings.TrimSpace(rest)
	const do = "name the zone in spec.timeZone, and not in the schedule, which API servers " +
		"from Kubernetes 1.29 on refuse"

	change := merge(l.cron.Namespace, "cronjob", l.cron.Name,
		fmt.Sprintf(`{"spec":{"schedule":%q,"timeZone":%q}}`, rest, zone))
	if l.cron.IsManifest || l.accepts(change) != nil {
		return l.edit(fmt.Sprintf("%s (schedule: %q, timeZone: %q)", do, rest, zone))
	}
	return l.change(do, risk, change)
}

// lintFindings report surprises of a schedule, such as runs that are skipped when clocks change.
func (l *cronLook) lintFindings() (all []Finding) {
	if l.snapshot.Schedule.Problem != 0 {
		return nil
	}

	lint := func(from time.Time) []schedule.Finding {
		return l.snapshot.Schedule.Schedule.Lint(schedule.Circumstances{
			From:                    from,
			StartingDeadlineSeconds: l.spec.StartingDeadlineSeconds,
			WakeUpLag:               10 * time.Second,
		})
	}

	recent := lint(l.now.AddDate(0, 0, -3))
	for _, f := range lint(l.now) {
		changesClocks := f.Kind == schedule.SkippedTime || f.Kind == schedule.RepeatedTime
		i := slices.IndexFunc(recent, func(r schedule.Finding) bool { return r.Kind == f.Kind })
		if changesClocks && i >= 0 {
			f = recent[i] // the user may notice a run of the last days that is missing
		}

		severity := Warning
		switch {
		case f.Kind == schedule.NeverRuns:
			severity = Error
		case f.Kind == schedule.DeadlineTooShort && *l.spec.StartingDeadlineSeconds == 0:
			severity, f.Message = Error, "startingDeadlineSeconds is 0: no run is ever in time, so none starts"
		case f.Kind == schedule.DeadlineTooShort:
			f.Message = fmt.Sprintf("startingDeadlineSeconds is %d: a run that the controller cannot start within "+
				"that time, as while it restarts or changes its leader, is lost", *l.spec.StartingDeadlineSeconds)
			if e := lastEvent(l.events, "MissSchedule"); e != nil {
				f.Message += fmt.Sprintf("; the controller reported MissSchedule %s, last %s", times(e.Count),
					l.at(e.Last))
			}
		}

		fix := l.lintRemedy(f.Kind)
		if f.Instead != "" {
			fix = l.set("if once was meant, write it so", "spec.schedule", f.Instead,
				"safe: Jobs that exist go on, and the next run is due when the new schedule says")
		}

		all = append(all, finding(severity, string(f.Kind), f.Message, fix))
	}
	return all
}

// untouchedHour returns the remedy to run at the nearest hour that no change of clocks touches. With it,
// no run starts now, and none is lost or comes twice.
func (l *cronLook) untouchedHour() *Remedy {
	const do = "choose an hour that the change of clocks does not touch"
	fields := strings.Fields(l.spec.Schedule)
	hour, err := strconv.Atoi(fields[min(1, len(fields)-1)])
	due := l.snapshot.Schedule.Schedule.Next(l.now)
	if err != nil || len(fields) != 5 {
		return l.reschedule(do + ", or timeZone Etc/UTC")
	}

	isTouched := func(f schedule.Finding) bool {
		return f.Kind == schedule.SkippedTime || f.Kind == schedule.RepeatedTime
	}
	for _, by := range []int{-1, 1, -2, 2, 3, 4} {
		if hour+by < 0 || hour+by > 23 {
			continue
		}

		c := l.snapshot.CronJob
		fields[1] = strconv.Itoa(hour + by)
		c.Spec.Schedule = strings.Join(fields, " ")
		next := cronjob.Compile(&c).Schedule
		change := patch(l.cron.Namespace, "cronjob", l.cron.Name, "spec.schedule", c.Spec.Schedule)
		first := next.Next(l.now)
		isLost, isTwice := first.Sub(due) > 6*time.Hour, first.Sub(l.status.LastScheduleTime) < 12*time.Hour
		if isLost || isTwice || slices.ContainsFunc(next.Lint(schedule.Circumstances{From: l.now}), isTouched) {
			continue
		}

		if l.startedBy(change).run.IsZero() {
			risk := "safe: no run starts because of it"
			if !l.isSuspended() {
				risk += ", and the next is due at the new time"
			}
			return l.set(do, "spec.schedule", c.Spec.Schedule, risk)
		}
	}
	return l.reschedule(do + ", or timeZone Etc/UTC")
}

// weekdays returns the days of a schedule's last field, as date +%u prints them. It returns nil if it
// does not understand the field.
func weekdays(field string) (days []int) {
	var is [8]bool
	const names = "sunmontuewedthufrisat"
	day := func(text string) (int, bool) {
		if i := strings.Index(names, strings.ToLower(text)); len(text) == 3 && i >= 0 && i%3 == 0 {
			return i / 3, true
		}
		n, err := strconv.Atoi(text)
		return n, err == nil && uint(n) < 7
	}

	for _, part := range strings.Split(field, ",") {
		begin, end, isRange := strings.Cut(part, "-")
		from, ok := day(begin)
		to := from
		if isRange && ok {
			to, ok = day(end)
		}
		if !ok || to < from {
			return nil
		}
		for d := from; d <= to; d++ {
			is[(d+6)%7+1] = true // Sunday is 7
		}
	}

	for d := range is {
		if is[d] {
			days = append(days, d)
		}
	}
	return days
}

func (l *cronLook) lintRemedy(kind schedule.FindingKind) *Remedy {
	switch kind {
	case schedule.NeverRuns:
		return l.reschedule("correct spec.schedule: no date has this day and this month")
	case schedule.EitherDay:
		do := "restrict only one of the two day fields, and let the program test the other"
		fields := strings.Fields(l.spec.Schedule)
		switch days := weekdays(fields[len(fields)-1]); {
		case len(days) == 1:
			do += fmt.Sprintf(", as in: [ \"$(date +%%u)\" = %d ] || exit 0 (%d is %s)", days[0], days[0],
				time.Weekday(days[0]%7))
		case len(days) > 1:
			tested := strings.ReplaceAll(strings.Trim(fmt.Sprint(days), "[]"), " ", "|")
			do += fmt.Sprintf(", as in: case $(date +%%u) in %s) ;; *) exit 0;; esac (1 is Monday)", tested)
		}
		return l.reschedule(do)
	case schedule.MissingDay, schedule.RareDate:
		return l.reschedule("if it should run at the end of each month, run on the 28th to the 31st and let the " +
			"program test whether tomorrow is the 1st: [ \"$(date -d tomorrow +%d)\" = 01 ] || exit 0")
	case schedule.UnevenStep:
		return l.reschedule("if the distance matters, use a step that divides 60 (minutes) or 24 (hours): a schedule " +
			"cannot say another, since each field begins anew; or run more often, and let the program end when the " +
			"last success is too recent")
	case schedule.SkippedTime, schedule.RepeatedTime:
		return l.untouchedHour()
	case schedule.ZoneSign:
		return l.reschedule("use the name of a place, such as America/New_York, or the opposite sign")
	case schedule.DeadlineTooShort:
		return l.set("give the controller time: at least 200 seconds, or the time to the next run",
			lateField, l.lateness(), "safe: late runs then start instead of being lost")
	case schedule.NameCollision, schedule.RoundedInterval:
		return l.reschedule("use a schedule of whole minutes")
	}
	return l.reschedule("change spec.schedule if this is not meant")
}

// restartFindings report that all containers share one backoffLimit under restartPolicy OnFailure.
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

	return oneFinding(Note, "RestartsShared", "in its Jobs, "+text,
		when("each container should have that many",
			l.set("raise backoffLimit", "spec.jobTemplate.spec.backoffLimit", limit,
				"safe: only Jobs created from now on have it; a container that fails alone is also restarted as "+
					"often")),
		when("pods should be replaced as a whole", l.edit("set restartPolicy: Never in "+
			"spec.jobTemplate.spec.template.spec: then backoffLimit counts failed pods")))
}

func (l *cronLook) namespaceFindings() []Finding {
	if l.closing.IsZero() {
		return nil
	}
	return oneFinding(Error, "NamespaceEnds", fmt.Sprintf("namespace %s has been terminating since %s: the API server "+
		"refuses new Jobs", l.cron.Namespace, l.clock(l.closing)),
		remedy("create the CronJob in another namespace", kubectl("OTHER", "apply", "-f", "cronjob.yaml"),
			"safe: what is in this namespace will be deleted"))
}

// differenceFindings report that Kubernetes 1.37 starts runs at other times than the schedule.
func (l *cronLook) differenceFindings() []Finding {
	switch {
	case l.snapshot.Schedule.Problem != 0 || l.isSuspended():
		return nil
	case l.isLost():
		return oneFinding(Error, "RunLost", fmt.Sprintf("the run of %s is due, and Kubernetes 1.37 does not start "+
			"it: it takes the distance between the first two missed runs for the distance of all, and this "+
			"schedule is irregular; the next run, %s, starts again",
			l.moment(l.plan.Create[0].ScheduledTime), l.moment(l.plan.NextRun)), l.runNow("start the lost run by hand"))
	case !l.plan.NextRun.Equal(l.theirs.NextRun) && l.theirs.NextRun.IsZero():
		return oneFinding(Warning, "KubernetesDiffers", fmt.Sprintf("the schedule runs next at %s, and Kubernetes "+
			"1.37 finds no run at all within five years", l.moment(l.plan.NextRun)), l.runNow("start that run by "+
			"hand when its time has come"))
	case !l.plan.NextRun.Equal(l.theirs.NextRun):
		return oneFinding(Warning, "KubernetesDiffers", fmt.Sprintf("the schedule runs next at %s, and Kubernetes "+
			"1.37 runs it at %s", l.moment(l.plan.NextRun), l.moment(l.theirs.NextRun)),
			l.edit("write the schedule so that both agree: see the page's part Schedules"))
	}
	return nil
}

// interval returns the time between the next two runs, or 0.
func (l *cronLook) interval() time.Duration {
	if l.snapshot.Schedule.Problem != 0 {
		return 0
	}
	next := slices.Collect(l.snapshot.Schedule.Schedule.NextN(l.now, 2))
	if len(next) < 2 {
		return 0
	}
	return next[1].Sub(next[0])
}

// successBase returns the time of the last success, or else of the creation, and a text that names
// it. No run has succeeded since that time.
func (l *cronLook) successBase() (time.Time, string) {
	if t := l.status.LastSuccessfulTime; !t.IsZero() {
		return t, "the last success, " + l.since(t) + " ago"
	}
	created := l.snapshot.CronJob.CreationTimestamp
	return created, "its creation, " + l.since(created) + " ago"
}

// suspendedFindings report a suspended CronJob, and Jobs that it creates suspended.
func (l *cronLook) suspendedFindings() (all []Finding) {
	if l.isSuspended() {
		all = append(all,
			finding(Note, "Suspended", "spec.suspend is true: no run starts, and none is recorded as missed",
				l.set("ask why it was suspended, and resume it", "spec.suspend", false,
					"safe: no run that has come due meanwhile starts")))
	}
	if l.cron.JobsSuspended {
		all = append(all, l.jobsSuspended())
	}
	return all
}

// jobsSuspended reports that each Job is created suspended, and the Jobs that wait for that reason. A
// queue resumes its Jobs.
func (l *cronLook) jobsSuspended() Finding {
	f := finding(Warning, "JobsSuspended", "spec.jobTemplate.spec.suspend is true: each Job is created suspended and "+
		"starts only when a user or a controller such as Kueue resumes it",
		when("nobody does", l.set("create Jobs that start", "spec.jobTemplate.spec.suspend", false,
			"safe: Jobs that exist stay as they are")))

	var wait []*cronjob.Child
	for _, c := range l.active() {
		k := l.lookOf(l.jobs[c.UID])
		if k != nil && k.isSuspended() && !k.isQueued() {
			wait = append(wait, c)
		}
	}

	if n := int64(len(wait)); n > 0 {
		byAge := func(a, b *cronjob.Child) int { return a.CreationTimestamp.Compare(b.CreationTimestamp) }
		oldest, newest := slices.MinFunc(wait, byAge), slices.MaxFunc(wait, byAge)
		if n > 1 { // a single one may wait for a user's consent
			f.Severity = Error
		}
		f.Text = fmt.Sprintf("%s; %s so, the oldest, %s, since %s.", strings.TrimSuffix(f.Text, "."),
			count(n, "Job waits", "Jobs wait"), oldest.Name, l.clock(oldest.CreationTimestamp))

		risk := "one run starts now"
		if n > 1 {
			risk += fmt.Sprintf("; all %d, resumed together, would run at the same time", n)
		}
		f.Remedies = append(f.Remedies, when("that run is needed", does("resume the newest", risk,
			patch(l.cron.Namespace, "job", newest.Name, "spec.suspend", false))))
		if n > 1 {
			f.Remedies = append(f.Remedies, when("the other runs are not needed any more",
				l.withdraw(wait, newest, "delete them")))
		}
	}
	return f
}

// zoneFindings report which zone applies if spec.timeZone is not set.
func (l *cronLook) zoneFindings() []Finding {
	switch {
	case l.spec.TimeZone != nil, l.snapshot.Schedule.Problem != 0, l.isEveryHour():
		return nil
	case l.plan.NextRun.IsZero() && !l.isSuspended():
		return nil
	}

	if strings.Contains(l.spec.Schedule, "TZ=") {
		return oneFinding(Warning, "ZoneInSchedule", "the schedule names its zone, which an API server accepts of "+
			"no new CronJob: whoever creates this one again is refused",
			l.zoneOut("safe: the runs stay at the same times"))
	}

	if zone := l.zoneOfContainers(); zone != "" {
		return oneFinding(Note, "NoTimeZone", fmt.Sprintf("timeZone is not set: the zone of the "+
			"kube-controller-manager counts, which is UTC almost everywhere and is taken to be UTC here; TZ=%s in the "+
			"containers does not change when they start", zone),
			when("the times are meant in that zone", l.set("name it, and its daylight saving time applies as well",
				"spec.timeZone", zone, "safe: the next run is due at the time of that zone")))
	}
	return oneFinding(
		Note,
		"NoTimeZone",
		"timeZone is not set: the zone of the kube-controller-manager counts, "+
			"which is UTC almost everywhere and is taken to be UTC here",
		when("the times are meant in another zone", l.set("name the zone, whose daylight saving time then applies",
			"spec.timeZone", "Europe/Berlin",
			"safe: the next run is due at the time of the new zone; replace Europe/Berlin by yours."+
				l.timesMissed())),
	)
}

// zoneOfContainers returns the time zone that the containers of the template have by their environment
// variable TZ. It returns "" if that is UTC, or no zone that spec.timeZone may have.
func (l *cronLook) zoneOfContainers() (zone string) {
	for _, c := range l.cron.Template.Containers {
		zone = cmp.Or(zone, c.Zone)
	}
	change := patch("", "cronjob", l.cron.Name, "spec.timeZone", zone)
	if zone == "" || contains(zone, "utc") || l.accepts(change) != nil {
		return ""
	}
	return zone
}

// isEveryHour reports whether the schedule is the same in every hour and on every day, so that the
// zone does not matter.
func (l *cronLook) isEveryHour() bool {
	_, rest, _ := strings.Cut(strings.Join(strings.Fields(l.spec.Schedule), " "), " ")
	return rest == "* * * *" || strings.HasPrefix(l.spec.Schedule, "@every") || l.spec.Schedule == "@hourly"
}

// contradictions report fields that the planner found to contradict each other.
func (l *cronLook) contradictions() (all []Finding) {
	for _, n := range l.plan.Notes {
		if n.Field == "cronJob.spec.startingDeadlineSeconds" && n.Value == "0" {
			continue // DeadlineTooShort reports it
		}

		var remedies []*Remedy
		text := fmt.Sprintf("%s %s: %s", strings.TrimPrefix(n.Field, "cronJob."), n.Value, withoutRule(n.Message))
		if n.Field == "cronJob.status.lastScheduleTime" && l.status.LastScheduleTime.After(l.now) {
			isAhead := func(c cronjob.Child) bool { return c.CreationTimestamp.After(l.now) }
			if i := slices.IndexFunc(l.children, isAhead); i >= 0 {
				text += fmt.Sprintf("; Job %s was created in the future as well: the clock of the control plane was "+
					"ahead then, or the time of this explanation is behind", l.children[i].Name)
			}
			remedies = append(remedies, when("the clock of the control plane was ahead, and is not any more",
				does("set it back to now: runs start again at their times",
					"the runs between the last one and now are not made up; needs kubectl 1.24",
					merge(l.cron.Namespace, "cronjob", l.cron.Name, fmt.Sprintf(`{"status":{"lastScheduleTime":%q}}`,
						l.now.UTC().Format(time.RFC3339)), "--subresource=status"))))
		}

		all = append(all, finding(Warning, "Contradiction", text, append(remedies,
			inspect("read the object again; if it stays, look at its status",
				kubectl(l.cron.Namespace, "get", "cronjob", l.cron.Name, "-o", "yaml")))...))
	}
	return all
}
