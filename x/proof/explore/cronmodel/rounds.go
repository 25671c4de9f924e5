package cronmodel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/cronjob/cronjobcheck"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/proof/explore"
)

const cronJobName = "c"

// rounds holds the values of a scope and its rounds. Each round is planned once, for all states in
// which it is under way.
type rounds struct {
	scope    Scope
	specs    []cronjob.Spec // the spec, and those that edits lead to
	compiled []cronjob.Compiled
	edits    [][]int  // by spec and edit, the spec that the edit leads to
	names    []string // of the jobs, by their place
	children explore.Interned[cronjob.Child, cronjob.Child]
	statuses explore.Interned[string, cronjob.Status]
	memories explore.Interned[string, cronjob.Memory]
	all      explore.Interned[roundKey, *round]
	planned  atomic.Int64
}

// roundKey is a view and the outcomes so far.
type roundKey struct {
	view     view
	outcomes string
}

// round is a round under way: its next write, or its end.
type round struct {
	view     view
	outcomes []outcome
	over     bool
	write    writeStep
	end      ending
	rules    explore.RuleSet
	broken   error
	after    [outcomes]atomic.Uint32
}

func (r *rounds) statusNumber(s cronjob.Status) statusID {
	s.Active = slices.Clone(s.Active)
	if r.scope.Options.ActiveFromChildren {
		s.Active = nil // the status of this kind has no active list
	}
	if r.scope.Options.SuccessFromChildren {
		s.LastSuccessfulTime = time.Time{}
	}
	return statusID(r.statuses.Number(explore.Text(s), func() cronjob.Status { return s }))
}

func (r *rounds) childNumber(c cronjob.Child) childID {
	return explore.Small[childID](r.children.Number(c, func() cronjob.Child { return c }))
}

// run returns the time of the run at a place.
func (r *rounds) run(place int) time.Time { return start.Add(r.scope.Times[place]) }

// isRun reports whether the job at a place belongs to a run; the others belong to triggers.
func (r *rounds) isRun(place int) bool { return place < len(r.scope.Times) }

func triggerOf(place int) cronjob.Trigger { return cronjob.Trigger{ID: "t" + strconv.Itoa(place)} }

func (r *rounds) place(name string) uint8 {
	i := slices.Index(r.names, name)
	if i < 0 {
		panic(errOutside)
	}
	return uint8(i)
}

// errOutside is the value with which the model panics if a plan creates a job for which the scope
// has no place.
var errOutside = errors.New("a job that is out of the scope")

func (r *rounds) of(id roundID) *round { return r.all.Of(uint32(id)) }

func (r *rounds) next(id roundID, o outcome) roundID {
	from := r.of(id)
	if known := from.after[o].Load(); known != 0 {
		return roundID(known)
	}
	to := r.at(from.view, append(slices.Clip(from.outcomes), o))
	from.after[o].Store(uint32(to))
	return to
}

func (r *rounds) at(v view, outcomes []outcome) roundID {
	digits := make([]byte, len(outcomes))
	for i, o := range outcomes {
		digits[i] = '0' + byte(o)
	}
	return roundID(r.all.Number(roundKey{v, string(digits)}, func() *round { return r.play(v, outcomes) }))
}

// play plans a round and carries it out up to the first write whose outcome is unknown.
func (r *rounds) play(v view, outcomes []outcome) *round {
	r.planned.Add(1)
	out := &round{view: v, outcomes: outcomes}

	s := r.snapshot(&v)
	plan, err := cronjob.Reconcile(s)
	if err != nil {
		out.over, out.broken = true, fmt.Errorf("the snapshot is refused: %w", err)
		return out
	}

	if len(outcomes) == 0 {
		if found := cronjobcheck.Plan(&s, &plan); len(found) > 0 {
			out.broken = found[0]
		}
		out.rules = rules.Of(&s, &plan)
	}

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := &player{rounds: r, round: out, cancel: cancel}
	conclusion, _ := cronjobapply.Executor{Parallel: 1}.Apply(ctx, p, &plan)
	if p.paused {
		return out
	}

	out.end = r.endingOf(&conclusion)
	if out.end.stores && p.play(writeStep{verb: verbStore}) != nil && p.paused {
		return out
	}
	out.over = true
	return out
}

func (r *rounds) snapshot(v *view) cronjob.Snapshot {
	s := cronjob.Snapshot{
		CronJob: r.cronJob(v.spec, v.status), Now: clock(v.now), Schedule: r.compiled[v.spec],
		Options: r.scope.Options, Consistent: !r.scope.Late,
		Triggers: r.triggers(v.triggers), Backfills: r.backfills(v.backfill),
	}
	for _, id := range v.jobs {
		if id != 0 {
			s.Children = append(s.Children, r.children.Of(uint32(id)))
		}
	}
	if v.memory != 0 {
		s.Memory = r.memories.Of(uint32(v.memory))
	}
	return s
}

func (r *rounds) cronJob(spec uint8, status statusID) cronjob.CronJob {
	return cronjob.CronJob{
		Namespace: "default", Name: cronJobName, UID: "cronjob-1", CreationTimestamp: start, Spec: r.specs[spec],
		Status: r.statuses.Of(uint32(status)),
	}
}

func (r *rounds) triggers(bits uint8) (out []cronjob.Trigger) {
	for place := range maxJobs {
		if bits&(1<<place) != 0 {
			t := triggerOf(place)
			t.Overlap = r.scope.Overlap
			out = append(out, t)
		}
	}
	return out
}

func (r *rounds) backfills(after uint32) []cronjob.Backfill {
	if after == 0 {
		return nil
	}
	b := r.scope.Backfill
	b.ID, b.After = "b", clock(after-1)
	return []cronjob.Backfill{b}
}

func (r *rounds) endingOf(c *cronjob.Conclusion) (e ending) {
	if !c.Memory.Equal(cronjob.Memory{}) {
		e.memory = memoryID(r.memories.Number(explore.Text(c.Memory), func() cronjob.Memory { return c.Memory }))
	}
	if !c.Requeue.At.IsZero() {
		e.again = seconds(c.Requeue.At) + 1
	}
	e.retry = c.Retry
	for place := range maxJobs {
		if slices.Contains(c.Triggered, triggerOf(place).ID) {
			e.triggered |= 1 << place
		}
	}
	for _, b := range c.Backfills {
		e.stores = true
		if !b.IsComplete() {
			e.backfill = seconds(b.After) + 1
		}
	}
	return e
}

// player is a backend that answers with the known outcomes. At the first call without one, it notes
// the call and stops the executor.
type player struct {
	*rounds
	round  *round
	at     int
	paused bool
	cancel func()
}

var errFailed = errors.New("injected fault")

// play answers one call.
func (p *player) play(w writeStep) error {
	if p.paused || p.at == len(p.round.outcomes) {
		if !p.paused {
			p.round.write = w
		}
		p.paused = true
		p.cancel()
		return errFailed
	}
	p.at++
	switch p.round.outcomes[p.at-1] {
	case outcomeFailed:
		return errFailed
	case outcomeGone:
		return cronjobapply.ErrGone
	case outcomeExists:
		return cronjobapply.ErrExists
	}
	return nil
}

func uidOf(place uint8) job.UID { return job.UID("uid-" + strconv.Itoa(int(place))) }

func (p *player) Get(_ context.Context, name string) (cronjobapply.Job, error) {
	place := p.place(name)
	err := p.play(writeStep{verb: verbGet, job: place})
	if err != nil {
		return cronjobapply.Job{}, err
	}
	if p.round.outcomes[p.at-1] == outcomeForeign {
		return cronjobapply.Job{Reference: cronjob.Reference{UID: "foreign"}}, nil
	}
	return cronjobapply.Job{Reference: cronjob.Reference{UID: uidOf(place)}, Controller: "cronjob-1"}, nil
}

func (p *player) Delete(_ context.Context, d cronjob.Deletion) error {
	return p.play(writeStep{verb: verbDelete, job: p.place(d.Name), foreground: d.Foreground})
}

func (p *player) Create(_ context.Context, c cronjob.Creation) (cronjobapply.Job, error) {
	place := p.place(c.Name)
	w := writeStep{verb: verbCreate, job: place}
	switch {
	case c.Trigger != "":
		w.creation = ofTrigger
	case c.Backfill != "":
		w.creation = ofBackfill
	}
	w.child = p.childNumber(cronjob.Child{
		Name:          c.Name,
		UID:           uidOf(place),
		ScheduledTime: c.ScheduledTime.UTC(),
		Backfilled:    c.Backfill != "",
	})
	err := p.play(w)
	return cronjobapply.Job{
		Reference:         cronjob.Reference{UID: uidOf(place)},
		CreationTimestamp: clock(p.round.view.now),
	}, err
}

func (p *player) WriteStatus(_ context.Context, s cronjob.Status) error {
	return p.play(writeStep{verb: verbStatus, status: p.statusNumber(s)})
}
