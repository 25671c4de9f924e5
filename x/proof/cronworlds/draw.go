package cronworlds

import (
	"fmt"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
)

var (
	schedules = []string{
		"0 * * * *", "*/15 * * * *", "30 1 * * *", "*/20 8-18 * * 1-5", "0 0,12 * * *", "* * * * *",
		"0 */6 1-15 * 1", "@every 45m", "5 2,3 * * *", "*/30 0-3 * * *",
	}
	zones = []string{"", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"}
	// births are times of creation: on ordinary days, and shortly before clocks change.
	births = []string{
		"2026-01-05T00:30:00Z", "2026-03-28T22:10:00Z", "2026-10-24T21:40:00Z", "2026-03-08T05:55:00Z",
		"2026-11-01T04:50:00Z", "2026-04-04T13:20:00Z", "2026-10-03T12:59:30Z",
	}
)

func newWorld(s *source) *world {
	birth, err := time.Parse(time.RFC3339, pick(s, births...))
	if err != nil {
		panic(err)
	}

	w := &world{source: s, now: birth, matchers: map[string]*matcher{}}
	w.Name, w.UID, w.CreationTimestamp = "c", "the-cronjob", birth
	w.Spec = w.drawSpec()
	w.options = w.drawOptions()
	w.compiled = map[string]cronjob.Compiled{}

	w.keeps = !s.chance(25)
	w.consistent = s.n(3) == 1
	w.deaf, w.rereads = s.chance(40), s.chance(40)
	w.goesBack = w.rereads && s.chance(50)
	w.holds = s.chance(40)
	if !w.consistent {
		w.lag = [2]int{pick(s, 0, 3, 30, 240), pick(s, 0, 3, 30, 240)}
	}

	w.faults = pick(s, 0, 0, 5, 25)
	w.book = newBook(birth)
	w.objects.seen, w.lists.seen = w.object, nil
	return w
}

func (w *world) drawSpec() cronjob.Spec {
	spec := cronjob.Spec{
		Schedule:          pick(w.source, schedules...),
		ConcurrencyPolicy: pick(w.source, cronjob.Allow, cronjob.Forbid, cronjob.Replace),
		StartingDeadlineSeconds: pick(w.source, nil, nil, new(int64(20)), new(int64(600)), new(int64(7200)),
			new(int64(0))),
		SuccessfulJobsHistoryLimit: pick(w.source, new(int32(3)), nil, new(int32(1)), new(int32(0))),
		FailedJobsHistoryLimit:     pick(w.source, new(int32(1)), nil, new(int32(0))),
	}
	if zone := pick(w.source, zones...); zone != "" {
		spec.TimeZone = &zone
	}
	if w.chance(15) {
		spec.Suspend = new(true)
	}
	return spec
}

func (w *world) drawOptions() cronjob.Options {
	s := w.source
	return cronjob.Options{
		CatchUp:         pick(s, cronjob.CatchUpLatest, cronjob.CatchUpLatest, cronjob.CatchUpNone, cronjob.CatchUpAll),
		CatchUpWindow:   pick(s, 0, 0, 0, 5*time.Minute, 3*time.Hour),
		CatchUpLimit:    pick[int32](s, 0, 1, 3, 10),
		SkipOnResume:    s.chance(25),
		SkipOnEdit:      s.chance(25),
		SkipHeld:        s.chance(25),
		MaxActive:       pick[int32](s, 0, 0, 0, 1, 3),
		ReplaceWhenGone: s.chance(40),

		TerminatingTimeout: pick(s, 0, 0, 0, 90*time.Second, time.Hour),

		Jitter:         pick(s, 0, 0, 0, 10*time.Second, 10*time.Minute),
		KeepSuccessful: pick(s, 0, 0, 0, 10*time.Minute, 5*time.Hour),
		KeepFailed:     pick(s, 0, 0, 0, 10*time.Minute),

		ActiveFromChildren:  s.chance(30),
		SuccessFromChildren: s.chance(30),
	}
}

// describe returns the settings of the world, to print.
func (w *world) describe() string {
	spec, o := &w.Spec, w.options
	return strings.Join([]string{
		fmt.Sprintf("%q in %s, %s, deadline %s, suspend %s, keeps %s and %s", spec.Schedule, text(spec.TimeZone),
			spec.ConcurrencyPolicy, text(spec.StartingDeadlineSeconds), text(spec.Suspend),
			text(spec.SuccessfulJobsHistoryLimit), text(spec.FailedJobsHistoryLimit)),
		fmt.Sprintf("options %+v", o),
		fmt.Sprintf(
			"memory kept %v, consistent %v, deaf %v, rereads %v, goes back %v, jobs held %v, lag %v, faults %d %%",
			w.keeps, w.consistent, w.deaf, w.rereads, w.goesBack, w.holds, w.lag, w.faults),
	}, "; ")
}

func text[T any](p *T) string {
	if p == nil {
		return "nil"
	}
	return fmt.Sprint(*p)
}
