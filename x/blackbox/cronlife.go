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
	*player
	cron *Cron

	settings  CronSettings
	schedules []schedule.Schedule // all that were in force; the last one still is
	since     time.Time           // when the schedule was last edited, or the parent resumed
	suspended time.Time           // when the parent was suspended; zero if it is not
	invalid   bool                // the current schedule does not parse
	created   time.Time           // when the parent was created
	deleted   time.Time           // when the parent was deleted; zero if it was not
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
	parent, err := nameParent(c.cron.New(first))
	if err != nil {
		return err
	}
	c.say("a user creates %s %s", c.Parent.Kind, first)
	_, err = c.api.Create(c.Parent, parent)
	return err
}

// recreate deletes the parent, and creates it again once its children are gone.
func (c *cronScript) recreate() error {
	parent := Object(nil)
	c.note(func() { parent, c.deleted = c.parent(), time.Now() })
	if parent == nil || c.invalid {
		return nil
	}
	c.say("a user deletes it")
	c.api.Delete(c.Parent, parent.Namespace(), parent.Name())
	if err := c.pass(time.Minute + 2*c.lag); err != nil || !c.isUp() {
		return err
	}
	if c.note(func() { parent = c.parent() }); parent != nil {
		c.note(func() { c.fail(Left, "it was deleted, and is still there with the finalizers %v", finalizers(parent)) })
		return nil
	}
	return c.create(c.settings)
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
			c.note(func() {
				if child := c.byUID[children[0].UID()]; child != nil {
					child.removed = true
				}
			})
			c.say("a user deletes %s", children[0].Name())
			c.api.Delete(c.Child, children[0].Namespace(), children[0].Name())
		}
		return nil
	case Delete:
		return c.recreate()
	}
	return fmt.Errorf("step: do: unknown action %q", s.Do)
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
	parent, err := nameParent(c.cron.New(next))
	if err != nil {
		return err
	}
	before := *c
	if c.note(func() { err = c.set(next) }); err != nil {
		return err
	}
	c.say("a user edits it: %s", next)
	err = c.api.Change(c.Parent, parent.Namespace(), "subject", func(o Object) { o["spec"] = parent["spec"] })
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
			c.reported(e)
		}
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
	if parent == nil && w.BySubject && time.Now().After(c.shown(c.deleted).Add(time.Second)) {
		c.fail(Left, "%s is started, and the %s was deleted %s ago", w.New.Name(), c.Parent.Kind, time.Since(c.deleted))
	}
	if w.BySubject && parent != nil && c.owned(parent, w.New) {
		child := &cronChild{name: w.New.Name(), run: c.runOf(w.New), created: time.Now()}
		c.started(parent, w.New, child.run)
		c.born = append(c.born, child)
		c.byUID[w.New.UID()] = child
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

	if d := c.settings.StartingDeadlineSeconds; d != nil && now.Sub(run) > time.Duration(*d)*time.Second+time.Second {
		c.fail(Deadline, "the run of %s starts %s late, startingDeadlineSeconds is %d", at, now.Sub(run), *d)
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
		next := c.inForce().Next(time.Now()).Add(5 * time.Second)
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

// calm plays the end of a life, without faults: the program must start the next runs, and all
// checks must hold in the end. If the policy allows it, the first run comes before any edit and
// before a child ends, since an edit or an end would wake a sleeping program.
func (c *cronScript) calm() error {
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
	if err := c.pass(time.Until(c.inForce().Next(time.Now())) + 25*time.Second + 2*c.lag); err != nil || !c.isUp() {
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
		if n := c.writes - before; n > 200 {
			c.fail(Bounded, "%d writes for a run", n)
		}
	})
	return nil
}

// slack returns how late a run may start if there are no faults.
func (c *cronScript) slack() time.Duration { return cmp.Or(c.cron.Slack, time.Minute) + 2*c.lag }

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

func (c *Cron) edit(r draw) Step {
	if r.IntN(5) == 0 {
		return Step{Do: Edit, Schedule: "61 * * * *"} // not a valid schedule
	}
	return Step{Do: Edit, Schedule: pick(r, c.schedules())}
}

// plain returns a life for each policy, with two runs: the first one succeeds, and the second one fails.
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
	return lives
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

func (c *Cron) program() *Program { return &c.Program }

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
