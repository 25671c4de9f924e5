package cronworlds

import (
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
)

// book records what has happened so far, for the laws.
type book struct {
	asks, taken int
	// wasTaken holds the names that a job of another owner has had.
	wasTaken map[string]bool
	// created holds, for each name, who created its jobs.
	created map[string][]owner
	// started holds the runs that the schedule has started. missed holds the runs that events have
	// reported as missed. Both are in Unix seconds: after an edit, two runs can share a name.
	started, missed map[int64]bool
	// shown holds the names of the jobs that the controller has seen in a round that it concluded.
	// deleted holds the names of the jobs that the controller has deleted.
	shown   map[string]bool
	deleted map[string]bool
	known   map[job.UID]bool
	ranges  map[string]*asked

	// base is a time: the laws account for each run after it. It is unknown while open is set: from
	// an edit until a run starts.
	base     time.Time
	open     bool
	reported int
	// lossy is set once a memory was lost, backfilled once a backfill was asked for.
	lossy, backfilled bool

	// quick is the number of rounds in a row without progress, each within a second of the one
	// before. rounds counts all rounds.
	quick, rounds, seen int
	last                time.Time
}

// asked is a backfill that the world has requested.
type asked struct {
	cronjob.Backfill
	had map[string]int // jobs created before, by name
	// edited is set if the schedule has changed after the request, or if the controller saw an
	// earlier change only after the request. Then the controller uses the old schedule for the
	// range.
	edited bool
}

func newBook(birth time.Time) book {
	return book{
		created:  map[string][]owner{},
		started:  map[int64]bool{},
		missed:   map[int64]bool{},
		wasTaken: map[string]bool{},
		deleted:  map[string]bool{},
		shown:    map[string]bool{},
		known:    map[job.UID]bool{},
		ranges:   map[string]*asked{},
		base:     birth,
	}
}

func (w *world) noteAsk(b cronjob.Backfill) {
	had := map[string]int{}
	for name, all := range w.created {
		had[name] = len(all)
	}
	for i := range w.jobs {
		if j := &w.jobs[i]; !j.Foreign && j.DeletionTimestamp.IsZero() {
			had[j.Name]-- // while the job exists, its run needs no other job
		}
	}
	seen := &w.objects.seen.Spec
	late := !w.consistent && (seen.Schedule != w.Spec.Schedule || text(seen.TimeZone) != text(w.Spec.TimeZone))
	w.ranges[b.ID], w.backfilled = &asked{Backfill: b, had: had, edited: late}, true
}

// noteEdit notes an edit of the schedule. Users withdraw their backfills, which could have
// thousands of runs under the new schedule.
func (w *world) noteEdit() {
	w.open, w.backfills = true, nil
	for _, a := range w.ranges {
		a.edited = true
	}
}

func (w *world) noteCreation(j *aJob) {
	w.created[j.Name] = append(w.created[j.Name], j.by)
	if j.by == bySchedule {
		w.started[j.ScheduledTime.Unix()] = true
	}
	w.known[j.UID] = true
}

// noteConclusion notes the report of a round, and checks that no run is reported twice. After an
// edit of the schedule, it checks only the runs after the first one that the new schedule starts.
func (w *world) noteConclusion(seen *object, p *cronjob.Plan, writes *cronjob.Writes, end *cronjob.Conclusion) {
	w.reported += end.Metrics.Unstarted
	for _, u := range end.Unstarted {
		if !u.Latest.After(w.base) { // these runs are from before the accounts began
			w.reported -= u.Count
		}
	}
	if end.Metrics.Unstarted > 0 && !w.lossy && !w.open {
		due := w.matcher(&w.Spec).between(w.base, w.now)
		if unstarted, byOthers := w.unstarted(due); w.reported > len(unstarted)+byOthers {
			w.fail("C9 reported twice", "%d runs were due, %d were reported, %d have had no job", len(due),
				w.reported, len(unstarted))
		}
	}
	for _, e := range end.Events {
		w.checkEvent(&e)
	}
	for i := range p.Create {
		c := &p.Create[i]
		switch {
		case !w.open, c.Trigger != "", c.Backfill != "":
			continue
		case i >= len(writes.Created), writes.Created[i].Result != cronjobreason.ResultDone:
			continue
		}
		if seen.Spec.Schedule == w.Spec.Schedule && text(seen.Spec.TimeZone) == text(w.Spec.TimeZone) {
			w.open, w.base, w.reported = false, c.ScheduledTime, 0
		}
	}
}
