package blackbox

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/batchplan/batchplan/schedule"
)

// cronScript plays and watches the life of a parent with a schedule.
type cronScript struct {
	*family
	cron *Cron

	settings  CronSettings
	schedules []schedule.Schedule // all that were in force; the last one still is
	since     time.Time           // when the schedule was last edited, or the parent resumed
	suspended time.Time           // when the parent was suspended; zero if it is not
	invalid   bool                // the current schedule does not parse
	created   time.Time           // when the parent was created
	deleted   time.Time           // when the parent was deleted; zero if it was not
	last      Object              // the parent as it was created last
	runs      map[int64]*run      // the runs that were started or reported, by Unix time
	periods   []period            // one for each change of the settings; the last one is in force
	born      []*cronChild        // in the order of their creation
	byUID     map[string]*cronChild
	cleanups  []cleanup
	backlog   backlog // the latest backlog
}

func (c *cronScript) begin() error { return c.create(c.settings) }

// create creates the parent, and forgets everything about an earlier one.
func (c *cronScript) create(first CronSettings) error {
	c.note(func() {
		c.settings, c.schedules, c.periods, c.suspended = CronSettings{}, nil, nil, time.Time{}
		c.runs, c.byUID, c.born = make(map[int64]*run), make(map[string]*cronChild), nil
		c.cleanups, c.backlog = nil, backlog{}
		c.created, c.deleted = time.Now().Truncate(time.Second), time.Time{}
	})
	var err error
	if c.note(func() { err = c.set(first) }); err != nil {
		return err
	}
	parent, err := c.named(c.cron.New(first))
	if err != nil {
		return err
	}
	c.say("a user creates %s %s%s", c.Parent.Kind, c.title(), first)
	created, err := c.api.Create(c.Parent, parent)
	c.note(func() { c.last = created })
	return err
}

// remove deletes the parent. It reports whether the parent is gone a minute later, and fails if it is not.
func (c *cronScript) remove() (gone bool, err error) {
	c.note(func() { c.deleted = time.Now() })
	c.delete()
	if err := c.pass(time.Minute + 2*c.lag); err != nil || !c.isUp() {
		return false, err
	}
	c.note(func() {
		parent := c.parent()
		if gone = parent == nil; !gone {
			c.fail(Left, "it was deleted, and is still there with the finalizers %v", finalizers(parent))
		}
	})
	return gone, nil
}

// recreate deletes the parent, and creates it again once its children are gone.
func (c *cronScript) recreate() error {
	parent := Object(nil)
	if c.note(func() { parent = c.parent() }); parent == nil || c.invalid {
		return nil
	}
	if gone, err := c.remove(); err != nil || !gone {
		return err
	}
	return c.create(c.settings)
}

// order is the time between two runs. Parents that start nothing come last, since their calm makes them start runs.
func (c *cronScript) order() time.Duration {
	const never = 1000 * time.Hour
	if c.settings.Suspend || c.invalid {
		return never
	}
	first := c.inForce().Next(time.Now())
	second := c.inForce().Next(first)
	if second.IsZero() {
		return never
	}
	return second.Sub(first)
}

// set notes new settings.
func (c *cronScript) set(s CronSettings) error {
	now := time.Now()
	if s.Schedule != c.settings.Schedule {
		parsed, err := schedule.Parse(s.Schedule)
		if err != nil && len(c.schedules) == 0 {
			return err
		}
		if c.invalid = err != nil; !c.invalid {
			c.schedules = append(c.schedules, parsed)
			c.since = now
		}
	}

	switch {
	case s.Suspend && !c.settings.Suspend:
		c.suspended = now
	case !s.Suspend && c.settings.Suspend:
		c.suspended, c.since = time.Time{}, now
	}
	c.settings = s
	c.periods = append(c.periods, period{now, c.inForce(), s.Suspend || c.invalid})
	return nil
}

func (c *cronScript) inForce() schedule.Schedule { return c.schedules[len(c.schedules)-1] }

func (c *cronScript) step(s Step) error {
	next := c.settings
	switch s.Do {
	case Succeed, Fail:
		c.end(s.Do == Succeed)
		return nil
	case Suspend, Resume:
		next.Suspend = s.Do == Suspend
		return c.edit(next)
	case Edit:
		next.Schedule = s.Schedule
		return c.edit(next)
	case Remove:
		if children := c.children(); len(children) > 0 {
			c.note(func() { c.removes(children[0].UID()) })
			c.say("a user deletes %s", children[0].Name())
			c.api.Delete(c.Child, children[0].Namespace(), children[0].Name())
		}
		return nil
	case Delete:
		return c.recreate()
	}
	return fmt.Errorf("step: do: unknown action %q", s.Do)
}

// removes notes that a user or the kit deletes a child. The API must be locked.
func (c *cronScript) removes(uid string) {
	if child := c.byUID[uid]; child != nil {
		child.removed = true
	}
}

// end ends the oldest running child. It reports whether there was one.
func (c *cronScript) end(succeeded bool) bool {
	for _, child := range c.children() {
		if c.Ended(child) || child.isDeleted() {
			continue
		}
		c.note(func() {
			if of := c.byUID[child.UID()]; of != nil {
				of.succeeded = succeeded
			}
		})
		c.say("%s ends, succeeded %v", child.Name(), succeeded)
		err := c.api.Change(c.Child, child.Namespace(), child.Name(), func(o Object) { c.End(o, succeeded) })
		c.note(func() { c.refuse("end", child, err) })
		return err == nil
	}
	return false
}

// edit gives the parent other settings. An API that checks schedules refuses an invalid one.
func (c *cronScript) edit(next CronSettings) error {
	if next == c.settings {
		return nil
	}
	parent, err := c.named(c.cron.New(next))
	if err != nil {
		return err
	}
	before := *c
	if c.note(func() { err = c.set(next) }); err != nil {
		return err
	}
	c.say("a user edits %s: %s", c.it(), next)
	err = c.change(func(o Object) { o["spec"] = parent["spec"] })
	if err == nil || !c.invalid {
		return err
	}
	c.say("the API refuses that: %v", err)
	c.note(func() { c.settings, c.invalid, c.periods = before.settings, before.invalid, before.periods })
	return nil
}

// saw checks a write. The API must be locked.
func (c *cronScript) saw(w write) {
	if w.BySubject && w.Resource.reports {
		for _, e := range eventsOf(w) {
			isAbout := e.Regarding.Text("name") == c.name && e.Regarding.Text("namespace") == c.namespace
			if len(c.scripts) == 1 || isAbout {
				c.reported(e)
			}
		}
	}

	if w.Resource.GroupVersionKind == c.Parent && w.BySubject && c.cron.Times != nil {
		c.sawTimes(w.Old, w.New)
	}
	if w.Resource.GroupVersionKind != c.Child {
		return
	}

	if w.Old != nil {
		if child := c.byUID[w.Old.UID()]; child != nil {
			c.changed(child, w)
		}
		return
	}
	parent := c.parent()
	isDeleted := parent == nil && w.BySubject && c.owned(c.last, w.New)
	if isDeleted && time.Now().After(c.shown(c.deleted).Add(time.Second)) {
		c.fail(Left, "%s is started, and the %s was deleted %s ago", w.New.Name(), c.Parent.Kind, time.Since(c.deleted))
	}
	if w.BySubject && parent != nil && c.owned(parent, w.New) {
		child := &cronChild{name: w.New.Name(), run: c.runOf(w.New), created: time.Now()}
		c.started(parent, w.New, child.run)
		c.born = append(c.born, child)
		c.byUID[w.New.UID()] = child
	}
}

// sawTimes checks that the times in the status of the parent do not go back.
func (c *cronScript) sawTimes(old, next Object) {
	if old == nil || next == nil || next.UID() != c.last.UID() {
		return
	}
	is := c.cron.Times(next)
	for i, was := range c.cron.Times(old) {
		if was.IsZero() || !is[i].Before(was) {
			continue
		}
		c.fail(KeepsTimes, "a time in its status was %s, and is now %s", clock(was), clock(is[i]))
	}
}

// runOf returns the scheduled time of a child.
func (c *cronScript) runOf(child Object) time.Time {
	if c.cron.Run != nil {
		return c.cron.Run(child)
	}
	run, _ := c.inForce().Latest(time.Now().AddDate(-1, 0, 0), c.now())
	return run
}

// started checks a new child.
func (c *cronScript) started(parent, child Object, run time.Time) {
	now, at := c.now(), clock(run)
	known := slices.ContainsFunc(c.schedules, func(s schedule.Schedule) bool { return isRun(s, run) })
	if !known || run.After(now) {
		c.fail(OnSchedule, "%s is started for %s, which is not a run or not yet due", child.Name(), at)
		return
	}
	if run.Before(c.created) {
		c.fail(OnSchedule, "%s is started for %s, before the parent was created", child.Name(), at)
		return
	}

	r := c.runAt(run)
	if first := c.byUID[r.child]; first != nil && !c.mayStartAgain(first) {
		c.fail(NoRunTwice, "the run of %s is started again, as %s", at, child.Name())
	}
	if !r.reported.IsZero() && !c.mayForget(run) {
		c.fail(ReportsOnce, "the run of %s starts, and was reported as skipped at %s",
			at, r.reported.UTC().Format("15:04:05"))
	}
	if r.child = child.UID(); r.started.IsZero() {
		r.started = time.Now()
	}

	if limit, ok := c.deadline(); ok && now.Sub(run) > limit+time.Second {
		c.fail(Deadline, "the run of %s starts %s late, startingDeadlineSeconds is %d",
			at, now.Sub(run), *c.settings.StartingDeadlineSeconds)
	}
	if !c.suspended.IsZero() && time.Now().After(c.shown(c.suspended).Add(time.Second)) {
		c.fail(Suspended, "%s is started, and the parent is suspended since %s", child.Name(), time.Since(c.suspended))
	}
	c.missed(run, now)
	if run.Before(c.since) && c.hasSeen(c.since) {
		c.fail(NotInRetrospect, "the run of %s starts, and the schedule was resumed or edited at %s",
			at, c.since.UTC().Format("15:04:05"))
	}

	for _, other := range c.childrenOf(parent) {
		switch {
		case other.UID() == child.UID() || c.Ended(other) || c.isHidden(other):
		case c.settings.Policy == "Forbid":
			c.fail(Forbids, "%s is started, and %s has not ended", child.Name(), other.Name())
		case c.settings.Policy == "Replace" && !other.isDeleted():
			c.fail(Replaces, "%s is started, and %s is not deleted", child.Name(), other.Name())
		}
	}
}

// mayStartAgain reports whether a run may start again: a user has deleted its child while it ran, or soon after its
// creation.
func (c *cronScript) mayStartAgain(first *cronChild) bool {
	hadEnded := !first.ended.IsZero() && first.gone.Sub(first.created) > 3*c.slack()
	return first.removed && !(hadEnded && !meets(c.lost, first.created, first.gone) && c.hasSeen(first.ended))
}

// isHidden reports whether a replica may not know of a child yet: the other replica may have
// created it, and the watches have not shown it.
func (c *cronScript) isHidden(child Object) bool {
	created := child.Time("metadata", "creationTimestamp")
	return meets(c.overlaps, created, time.Now()) && !time.Now().After(c.shown(created).Add(time.Second))
}

// passQuickly lets time pass, and ends each child within seconds.
func (c *cronScript) passQuickly(d time.Duration) error {
	for end := time.Now().Add(d); time.Now().Before(end) && c.isUp(); {
		for c.end(true) {
		}
		next := c.inForce().Next(time.Now().Add(-c.cron.Jitter)).Add(c.cron.Jitter + 5*time.Second)
		if soon := time.Now().Add(time.Minute); soon.After(next) {
			next = time.Now().Add(5 * time.Second)
		}
		if next.After(end) {
			next = end
		}
		if err := c.pass(time.Until(next)); err != nil {
			return err
		}
	}
	return nil
}

// calm plays the end of a life. If there are other parents, this one is deleted then.
func (c *cronScript) calm() error {
	if err := c.recover(); err != nil || !c.isUp() || len(c.scripts) == 1 {
		return err
	}
	_, err := c.remove()
	return err
}

// recover plays the end of a life, without faults: the program must start the next runs, and all
// checks must hold in the end. If the policy allows it, the first run comes before any edit and
// before a child ends, since an edit or an end would wake a sleeping program.
func (c *cronScript) recover() error {
	if !c.settings.Suspend && !c.invalid && c.settings.Policy != "Forbid" {
		if err := c.pass(c.slack()); err != nil || !c.isUp() {
			return err
		}
		if err := c.nextStarts(c.pass); err != nil || !c.isUp() {
			return err
		}
	}

	next := c.settings
	next.Suspend = false
	if c.invalid {
		next.Schedule = c.cron.schedules()[0]
	}
	if err := c.edit(next); err != nil {
		return err
	}
	if err := c.passQuickly(c.slack()); err != nil || !c.isUp() {
		return err
	}
	for range 3 {
		if err := c.nextStarts(c.passQuickly); err != nil || !c.isUp() {
			return err
		}
	}

	// All children end, and the next run starts. Nothing else happens before the checks.
	for c.end(true) {
	}
	run := c.inForce().Next(time.Now())
	if err := c.pass(time.Until(run) + c.cron.Jitter + 25*time.Second + 2*c.lag); err != nil || !c.isUp() {
		return err
	}
	c.note(func() {
		c.checkHistory()
		c.checkActive()
		c.checkCleanups()
		c.checkRetries()
		c.checkReports()
	})

	// All children end, and nothing else happens until the next run.
	if c.inForce().Next(time.Now()).Before(time.Now().Add(2 * c.slack())) {
		return nil
	}
	for c.end(true) {
	}
	if err := c.pass(c.slack()); err != nil || !c.isUp() {
		return err
	}
	c.note(c.checkActive)
	return nil
}

// nextStarts lets time pass until the next run must have started. If the program is down by then,
// since it was too busy, nothing is checked.
func (c *cronScript) nextStarts(pass func(time.Duration) error) error {
	run, before := c.inForce().Next(time.Now()), 0
	c.note(func() { before = c.writes })
	if err := pass(time.Until(run) + c.slack()); err != nil || !c.isUp() {
		return err
	}
	c.note(func() {
		if c.runAt(run).child == "" {
			c.fail(Starts, "the run of %s has not started by %s", clock(run), time.Now().UTC().Format("15:04:05"))
		}
		if n := c.writes - before; n > 200*len(c.scripts) {
			c.fail(Bounded, "%d writes for a run", n)
		}
	})
	return nil
}

// slack returns how late a run may start if there are no faults.
func (c *cronScript) slack() time.Duration {
	return cmp.Or(c.cron.Slack, time.Minute) + c.cron.Jitter + 2*c.lag
}

// deadline returns how long after its time a run may start, if there is a limit.
func (c *cronScript) deadline() (limit time.Duration, ok bool) {
	if d := c.settings.StartingDeadlineSeconds; d != nil {
		return time.Duration(*d)*time.Second + c.cron.Jitter, true
	}
	return 0, false
}

// checkHistory checks that no more children are kept than the limits allow. The API must be locked.
func (c *cronScript) checkHistory() {
	ended := map[bool]int{}
	for _, child := range c.childrenOf(c.parent()) {
		if of := c.byUID[child.UID()]; of != nil && c.Ended(child) {
			ended[of.succeeded]++
		}
	}
	for _, succeeded := range []bool{true, false} {
		if limit := c.settings.keep(succeeded); limit != nil && ended[succeeded] > int(*limit) {
			c.fail(History, "%d children are kept that have ended (succeeded %v), the limit is %d",
				ended[succeeded], succeeded, *limit)
		}
	}
}

// checkActive checks the parent's list of active children. The API must be locked.
func (c *cronScript) checkActive() {
	if c.cron.Active == nil {
		return
	}

	parent := c.parent()
	var active []string
	for _, child := range c.childrenOf(parent) {
		if !c.Ended(child) {
			active = append(active, child.UID())
		}
	}
	listed := slices.Sorted(slices.Values(c.cron.Active(parent)))
	if slices.Sort(active); !slices.Equal(active, listed) {
		c.fail(ActiveList, "%d children are active, the parent lists %d", len(active), len(listed))
	}
}

// keep returns the history limit for an outcome; nil means no limit.
func (s CronSettings) keep(succeeded bool) *int32 {
	if succeeded {
		return s.KeepSucceeded
	}
	return s.KeepFailed
}

// random draws settings.
func (c *Cron) random(r draw) CronSettings {
	s := CronSettings{Schedule: pick(r, c.schedules()), Policy: pick(r, c.policies())}
	if !c.NoDeadline && r.IntN(3) == 0 {
		s.StartingDeadlineSeconds = pick(r, []*int64{ptr[int64](15), ptr[int64](60), ptr[int64](3600)})
	}
	if !c.NoHistory {
		s.KeepSucceeded = pick(r, []*int32{nil, ptr[int32](0), ptr[int32](1), ptr[int32](3)})
		s.KeepFailed = pick(r, []*int32{nil, ptr[int32](0), ptr[int32](1)})
	}
	return s
}

func (c *Cron) schedules() []string {
	if c.Schedules != nil {
		return c.Schedules
	}
	return []string{"* * * * *", "*/5 * * * *", "*/5 * * * *", "0 * * * *", "30 2 * * *"}
}

// invalid is not a valid schedule.
const invalid = "61 * * * *"

func (c *Cron) edit(r draw) Step {
	if r.IntN(5) == 0 {
		return Step{Do: Edit, Schedule: invalid}
	}
	return Step{Do: Edit, Schedule: pick(r, c.schedules())}
}

// plain returns a life for each policy, with two runs: the first one succeeds, and the second one fails. Then come
// lives of several parents, and one in which what has ended expires.
func (c *Cron) plain() (lives []Life[CronSettings]) {
	begin := 10*time.Hour + 2*time.Minute + 10*time.Second
	text, each := c.rarest(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(begin))
	run := Step{Do: Wait, For: each / 2 * 3}

	for _, policy := range c.policies() {
		lives = append(lives, CronLife{
			Settings: CronSettings{Schedule: text, Policy: policy},
			Begin:    begin,
			Steps:    []Step{run, {Do: Succeed}, run, {Do: Fail}},
		})
	}

	if c.has(Several) {
		for _, life := range slices.Clone(lives) {
			lives = append(lives, c.crowded(life))
		}
	}

	if c.has(Expire) {
		long := Step{Do: Wait, For: each / 5 * 9} // the child has run for most of the time until the next run
		expires := lives[0]
		expires.Steps = []Step{{Do: Expire, For: 30 * time.Second}, long, {Do: Succeed}, long, {Do: Fail}, run}
		lives = append(lives, expires)
	}
	return lives
}

func (c *Cron) later() []Life[CronSettings] { return nil }

// crowded returns the life with four parents. A child of the second one runs for long, the third one has an invalid
// schedule for a while, and the last one is deleted and created again.
func (c *Cron) crowded(life CronLife) CronLife {
	run := life.Steps[0]
	steps := []Step{
		{Do: Edit, Parent: 2, Schedule: invalid},
		run,
		{Do: Succeed},
		{Do: Delete, Parent: 3},
		{Do: Succeed, Parent: 3},
		run,
		{Do: Edit, Parent: 2, Schedule: life.Settings.Schedule},
		{Do: Fail},
		run,
	}
	life.Steps = slices.DeleteFunc(steps, func(s Step) bool { return !c.has(s.Do) })
	keeping := func(n int32) CronSettings {
		s := life.Settings
		if !c.NoHistory {
			s.KeepSucceeded, s.KeepFailed = &n, &n
		}
		return s
	}
	life.Beside = []CronSettings{keeping(0), keeping(1), keeping(2)}
	life.Settings = keeping(3)
	return life
}

// rarest returns the schedule with the longest time between two runs, up to an hour, or else the first one.
func (c *Cron) rarest(from time.Time) (text string, each time.Duration) {
	text, each = c.schedules()[0], time.Hour
	longest := time.Duration(0)
	for _, other := range c.schedules() {
		s, err := schedule.Parse(other)
		if err != nil {
			continue // the first life with it reports the error
		}
		first := s.Next(from)
		if d := s.Next(first).Sub(first); d <= time.Hour && d > longest {
			text, each, longest = other, d, d
		}
	}
	return text, each
}

func (c *Cron) policies() []string {
	if c.Policies != nil {
		return c.Policies
	}
	return []string{"Allow", "Forbid", "Replace"}
}

func (c *Cron) adapt(_ draw, s Step) (Step, bool) { return s, true }

func (c *Cron) beside(r draw) CronSettings { return c.random(r) }

func (c *Cron) program() *Program { return &c.Program }

func (c *Cron) known() []Known[CronSettings] { return c.Known }

// plainer returns changes that simplify settings.
func (c *Cron) plainer() []func(*CronSettings) {
	return []func(*CronSettings){
		func(s *CronSettings) { s.Policy = c.policies()[0] },
		func(s *CronSettings) { s.StartingDeadlineSeconds = nil },
		func(s *CronSettings) { s.KeepFailed = nil },
		func(s *CronSettings) { s.KeepSucceeded = nil },
		func(s *CronSettings) { s.Schedule = "*/5 * * * *" },
	}
}
