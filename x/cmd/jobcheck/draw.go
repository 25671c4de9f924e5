package main

import (
	"maps"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/jobgen"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
)

// tries is how many random lives are searched for a snapshot in which the rule of a bug decides.
const tries = 200

// drawQuestion returns the n-th question of a seed. Each question is drawn for one of the bugs, in
// turn. Several lives are drawn, and the question is the first moment in them at which the bug
// shows.
func drawQuestion(bugs []bug, seed, n int) (*asked, error) {
	b := &bugs[n%len(bugs)]
	lives := rapid.Custom(b.live)
	var life *world.Job
	for i := range tries {
		found := lives.Example(seed*1_000_003 + n*tries + i)
		if life == nil || found.decides {
			life = found.life
		}
		if found.decides {
			break
		}
	}
	return ask(life)
}

// ask returns the question about the present state of a life.
func ask(life *world.Job) (*asked, error) {
	s := snapshotOf(life)
	a, err := right(&s)
	if err != nil {
		return nil, err
	}
	return &asked{snapshot: s, life: life, right: a, decision: decisionOf(&s, a)}, nil
}

func snapshotOf(life *world.Job) job.Snapshot {
	s := life.Snapshot()
	s.Memory = job.Memory{}
	return s
}

// moment is a life up to some moment.
type moment struct {
	life    *world.Job
	decides bool
}

// live lets a job live until the bug shows, or for a while.
func (b *bug) live(t *rapid.T) moment {
	spec := jobgen.Specs().Draw(t, "spec")
	if b.spec != nil {
		changed := spec
		b.spec(t, &changed)
		if job.Default(&changed); job.Validate(changed) == nil {
			spec = changed
		}
	}

	w := world.NewJob(spec)
	w.Consistent, w.Options.Gangs = true, b.gangs

	length := rapid.IntRange(1, 40).Draw(t, "length")
	meddleAt := rapid.IntRange(0, length-1).Draw(t, "meddle at")
	for i := range length {
		jobgen.Step(t, w, jobgen.AllFaults)
		if b.meddle != nil && i == meddleAt {
			b.meddle(t, w)
		}

		w.Fault = nil
		if s := snapshotOf(w); b.shows(&s) {
			return moment{w, true}
		}
	}
	return moment{w, false}
}

// shows reports whether the bug's answer to a snapshot differs from the right answer.
func (b *bug) shows(s *job.Snapshot) bool {
	a, err := right(s)
	wrong := b.answer(s)
	return err == nil && wrong != nil && !maps.Equal(decisionOf(s, a), decisionOf(s, wrong))
}
