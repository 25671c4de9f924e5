package cronjob_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// lag shows the CronJob and its jobs late, each by itself, as caches do: never back in
// time, and never later than most.
type lag struct {
	versions      []version
	cronJob, jobs int // the versions that the controller sees
	most          time.Duration
	draw          func(from, to int) int
	// violations are the jobs that were started beside others, against CI8, CI15 or
	// Options.MaxActive.
	violations []string
}

// version is the state of the world after a write.
type version struct {
	since time.Time
	cj    cronjob.CronJob
	jobs  []cronjob.Child
}

// commit notes the state of the world after a write.
func (w *world) commit() {
	if w.late == nil {
		return
	}
	w.deliver()
	w.late.versions = append(w.late.versions, version{w.now, w.cj, w.seen})
}

// look lets the controller see what it must see by now, or more.
func (l *lag) look(w *world) (cronjob.CronJob, []cronjob.Child) {
	w.commit()
	last := len(l.versions) - 1
	due := last
	for due > 0 && l.versions[due].since.Add(l.most).After(w.now) {
		due--
	}
	l.cronJob = l.draw(max(due, l.cronJob), last)
	l.jobs = l.draw(max(due, l.jobs), last)
	return l.versions[l.cronJob].cj, l.versions[l.jobs].jobs
}

// catchUp shows everything: a controller lists when it starts.
func (l *lag) catchUp(w *world) {
	w.commit()
	l.cronJob, l.jobs = len(l.versions)-1, len(l.versions)-1
}

// isCurrent reports whether the CronJob that was seen is the latest version.
func (l *lag) isCurrent(w *world) bool {
	seen := &l.versions[l.cronJob].cj
	return cronJobVersion(seen) == cronJobVersion(&w.cj)
}

// cronJobVersion tells versions of a CronJob apart.
func cronJobVersion(c *cronjob.CronJob) string { return fmt.Sprint(c.Status, *c.Spec.Suspend) }

// checkOverlap notes a job that is created beside others which it must not run beside.
func (l *lag) checkOverlap(w *world, c *cronjob.Creation) {
	all, leaving, spared := 0, 0, 0
	for _, j := range w.jobs {
		switch {
		case j.Owner != cronjob.Owned || j.Finished != "":
		case !j.DeletionTimestamp.IsZero():
			leaving++
		case j.Backfilled:
			spared++
			all++
		default:
			all++
		}
	}
	note := func(rule string) {
		l.violations = append(l.violations, fmt.Sprintf("%s: %s beside %d jobs, %d leaving, at %s", rule, c.Name, all, leaving, w.now))
	}
	policy := w.cj.Spec.ConcurrencyPolicy
	switch {
	case c.Trigger != "":
		i := slices.IndexFunc(w.triggers, func(t cronjob.Trigger) bool { return t.ID == c.Trigger })
		if w.triggers[i].Overlap == cronjob.Forbid && all > 0 {
			note("a trigger with Forbid")
		}
	case c.Backfill != "":
		i := slices.IndexFunc(w.backfills, func(b cronjob.Backfill) bool { return b.ID == c.Backfill })
		if b := w.backfills[i]; b.Overlap != cronjob.Allow && all > 0 || b.MaxActive > 0 && all >= int(b.MaxActive) {
			note("a backfill")
		}
	case policy == cronjob.Forbid && all > 0:
		note("CI8 Forbid")
	case policy == cronjob.Replace && all > spared:
		note("CI8 Replace")
	case policy == cronjob.Replace && w.options.ReplaceWhenGone && leaving > 0:
		note("CI8 ReplaceWhenGone")
	}
	if n := int(w.options.MaxActive); n > 0 && all >= n {
		note("MaxActive")
	}
}

// TestCI15_LivesBehindOwnWrites: what must not overlap does not, although the
// controller sees the CronJob and its jobs several seconds late, each by itself.
func TestCI15_LivesBehindOwnWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if l := lateLife(t); len(l.violations) > 0 {
			t.Fatal(l.violations)
		}
	})
}

// lateLife is a life behind late caches, at the end of which faults stop and everything is
// seen.
func lateLife(t *rapid.T) *lag {
	options := cronjob.Options{}
	switch rapid.IntRange(0, 3).Draw(t, "with options") {
	case 0:
	case 1: // one run follows the other at once
		options.CatchUp = cronjob.CatchUpAll
		options.MaxActive = rapid.Int32Range(0, 2).Draw(t, "max active")
		options.ReplaceWhenGone = rapid.Bool().Draw(t, "when gone")
	default:
		options = drawOptions(t)
	}
	spec := drawSpec(t)
	if rapid.Bool().Draw(t, "minutely") {
		spec.Schedule = "* * * * *"
	}
	w := newWorld(newCronJob(spec), options)
	w.late = &lag{most: time.Duration(rapid.IntRange(1, 10).Draw(t, "most")) * time.Second}
	w.late.draw = func(from, to int) int { return rapid.IntRange(from, to).Draw(t, "version") }
	w.stale = true // what is seen comes from the lag alone
	for range rapid.IntRange(10, 60).Draw(t, "steps") {
		lateStep(t, w)
	}
	w.late.draw = func(_, to int) int { return to }
	for name, j := range w.jobs {
		if !j.DeletionTimestamp.IsZero() {
			delete(w.jobs, name)
		}
	}
	return w.late
}

func lateStep(t *rapid.T, w *world) {
	switch n := rapid.IntRange(0, 23).Draw(t, "late step"); {
	case n < 11:
		lateRound(t, w)
	case n < 15:
		w.now = w.now.Add(time.Duration(rapid.IntRange(1, 4000).Draw(t, "ms")) * time.Millisecond)
	case n < 17:
		w.now = w.now.Add(time.Duration(rapid.IntRange(1, 4*3600).Draw(t, "s")) * time.Second)
	case n < 20:
		if names := w.running(); len(names) > 0 {
			w.finish(rapid.SampledFrom(names).Draw(t, "job"), rapid.SampledFrom([]job.ConditionType{job.Complete, job.Failed}).Draw(t, "how"))
		}
	case n < 21:
		w.cj.Spec.Suspend = ptr(rapid.Bool().Draw(t, "suspend"))
	case n < 22:
		w.uids++
		w.triggers = append(w.triggers, cronjob.Trigger{
			ID: fmt.Sprint(w.uids), Overlap: rapid.SampledFrom([]cronjob.ConcurrencyPolicy{"", cronjob.Forbid}).Draw(t, "overlap"),
		})
	case n < 23:
		w.ask(cronjob.Backfill{
			After:     w.now.Add(-time.Duration(rapid.IntRange(0, 24).Draw(t, "backfill after")) * time.Hour),
			Overlap:   rapid.SampledFrom([]cronjob.ConcurrencyPolicy{"", cronjob.Allow}).Draw(t, "backfill overlap"),
			MaxActive: rapid.Int32Range(0, 3).Draw(t, "backfill max"),
		}, rapid.IntRange(1, 8).Draw(t, "backfill runs"))
	default:
		for name, j := range w.jobs {
			if !j.DeletionTimestamp.IsZero() {
				delete(w.jobs, name) // its pods are gone
			}
		}
	}
	w.commit()
}

// lateRound is a round with faults, and those for which it asks at once. A controller
// that restarts lists anew.
func lateRound(t *rapid.T, w *world) {
	for range rapid.IntRange(1, 4).Draw(t, "rounds") {
		w.requeue = time.Time{}
		if !lateRoundOnce(t, w) || w.requeue.IsZero() || w.requeue.After(w.now) {
			return
		}
		w.now = w.now.Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "ms")) * time.Millisecond)
	}
}

// lateRoundOnce returns false after a crash.
func lateRoundOnce(t *rapid.T, w *world) bool {
	s := w.snapshot()
	plan := planWithLaws(t, s)
	survived := w.carryOut(t, &plan, func() fault {
		return rapid.SampledFrom([]fault{works, works, works, works, works, works, fails, loosesReply, crashes}).Draw(t, "fault")
	})
	if !survived {
		w.memory = cronjob.Memory{}
		w.late.catchUp(w)
	}
	return survived
}
