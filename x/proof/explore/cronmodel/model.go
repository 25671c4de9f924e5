package cronmodel

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobcheck"
	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/proof/explore"
)

// Model is a scope as a system to explore.
type Model struct {
	rounds
	start state
}

var _ explore.System[state] = (*Model)(nil)

// New returns the model of a scope.
func New(scope Scope) *Model {
	if scope.Spec.Schedule == "" {
		scope.Spec.Schedule = "@hourly"
	}
	cronjob.Default(&scope.Spec)
	scope.Jump = cmp.Or(scope.Jump, 2*time.Hour)
	for hour := range scope.Runs {
		scope.Times = append(scope.Times, time.Duration(hour+1)*time.Hour)
	}

	m := &Model{rounds: rounds{scope: scope}}
	m.addSpecs(scope.Spec, int(scope.Budget.Edits))
	m.addEdits()

	for place := range scope.Times {
		m.names = append(m.names, scope.Options.Naming.JobName(cronJobName, m.run(place)))
	}
	for place := len(scope.Times); place < len(scope.Times)+int(scope.Budget.Triggers); place++ {
		m.names = append(m.names, scope.Options.Naming.TriggerName(cronJobName, triggerOf(place)))
	}

	if len(m.names) > maxJobs {
		panic("the scope " + scope.Name + " is too large for a state")
	}
	m.start = state{status: m.statusNumber(cronjob.Status{}), left: scope.Budget}
	m.start.control.dirty = true
	if scope.Late {
		m.start.control.status = m.start.status
	}
	return m
}

// addSpecs adds a spec, and the specs that edits turn it into.
func (m *Model) addSpecs(spec cronjob.Spec, edits int) {
	if slices.ContainsFunc(m.specs, func(s cronjob.Spec) bool { return explore.Text(s) == explore.Text(spec) }) {
		return
	}
	c := cronjob.CronJob{Name: cronJobName, UID: "cronjob-1", CreationTimestamp: start, Spec: spec}
	m.specs, m.compiled = append(m.specs, spec), append(m.compiled, cronjob.Compile(&c, m.scope.Schedule...))
	if edits == 0 {
		return
	}
	for _, edit := range m.scope.Edits {
		m.addSpecs(m.edited(spec, edit), edits-1)
	}
}

// addEdits notes the result of each edit of each spec: the number of the new spec. It is -1 if the
// model does not have that spec, because the budget does not have so many edits.
func (m *Model) addEdits() {
	for _, spec := range m.specs {
		var to []int
		for _, edit := range m.scope.Edits {
			changed := explore.Text(m.edited(spec, edit))
			to = append(to, slices.IndexFunc(m.specs, func(s cronjob.Spec) bool { return explore.Text(s) == changed }))
		}
		m.edits = append(m.edits, to)
	}
}

// edited returns the spec after an edit.
func (m *Model) edited(spec cronjob.Spec, edit func(*cronjob.Spec)) (out cronjob.Spec) {
	if err := json.Unmarshal([]byte(explore.Text(spec)), &out); err != nil {
		panic(err)
	}
	edit(&out)
	return out
}

// Planned returns the number of plans that were made.
func (m *Model) Planned() int { return int(m.planned.Load()) }

// Bytes returns about how much memory the model takes, most of it for rounds.
func (m *Model) Bytes() int64 {
	return int64(m.all.Len()) * int64(unsafe.Sizeof(round{})+unsafe.Sizeof(roundKey{}))
}

// Start returns the state of a new CronJob.
func (m *Model) Start() []state { return []state{m.start} }

// Worker returns a worker.
func (m *Model) Worker() explore.Worker[state] { return &worker{Model: m} }

// Moves names the kinds of moves.
func (m *Model) Moves() []string { return kinds[:] }

// Rules names what plans can do or decide.
func (m *Model) Rules() []string { return rules.Names() }

// kind is a kind of move.
type kind int

const (
	kindRound kind = iota
	kindWrite
	kindFail
	kindLose
	kindDelay
	kindTakeEffect
	kindCrash
	kindDeliverJob
	kindDeliverCronJob
	kindComplete
	kindFailJob
	kindPodsGone
	kindDeleteJob
	kindTake
	kindEdit
	kindTrigger
	kindBackfill
	kindTick
	kindJump
	kindBack
	kindCount
)

var kinds = [kindCount]string{
	"round begins", "call", "call fails", "reply is lost", "status write is delayed",
	"delayed status takes effect", "crash", "deliver job", "deliver CronJob", "job completes", "job fails",
	"pods of a deleted job end", "user deletes a job", "another owner takes a name", "edit spec", "trigger", "backfill",
	"tick", "jump by two hours", "clock back",
}

var rule = explore.NewRule[cronjob.Snapshot, cronjob.Plan]

// rules lists what plans can do or decide.
var rules = explore.Rules[cronjob.Snapshot, cronjob.Plan]{
	rule("C2 history", deletes(cronjobreason.DeleteSuccessful, cronjobreason.DeleteFailed)),
	rule("C3 unexpected", func(_ *cronjob.Snapshot, p *cronjob.Plan) bool { return len(p.Unexpected) > 0 }),
	rule("C5 verify", func(_ *cronjob.Snapshot, p *cronjob.Plan) bool { return len(p.Verify) > 0 }),
	rule("C6 suspended", waits(cronjobreason.WaitSuspended)),
	rule("C7 next run", waits(cronjobreason.WaitNextRun)),
	rule("C9 missed", func(_ *cronjob.Snapshot, p *cronjob.Plan) bool { return p.Missed.Count > 0 }),
	rule("C11 held by active", waits(cronjobreason.WaitActive)),
	rule("C21 terminating", waits(cronjobreason.WaitTerminating)),
	rule("C20 no further run", waits(cronjobreason.WaitNever)),
	rule("C19 pause", waits(cronjobreason.WaitFailures)),
	rule("C12 replace", deletes(cronjobreason.DeleteReplaced)),
	rule("C13 start", creates(func(c cronjob.Creation) bool { return c.Trigger == "" && c.Backfill == "" })),
	rule("C14 name taken", waits(cronjobreason.WaitNameTaken)),
	rule("CI14 clock", waits(cronjobreason.WaitClock)),
	rule("CI15 stale", waits(cronjobreason.WaitStale)),
	rule("trigger starts", creates(func(c cronjob.Creation) bool { return c.Trigger != "" })),
	rule("trigger waits", waits(cronjobreason.WaitTrigger)),
	rule("backfill starts", creates(func(c cronjob.Creation) bool { return c.Backfill != "" })),
	rule("backfill waits", waits(cronjobreason.WaitBackfill)),
}

func waits(reason cronjobreason.Wait) func(*cronjob.Snapshot, *cronjob.Plan) bool {
	return func(_ *cronjob.Snapshot, p *cronjob.Plan) bool {
		return slices.ContainsFunc(p.Waits, func(w cronjob.Wait) bool { return w.Reason == reason })
	}
}

func deletes(reasons ...cronjobreason.Delete) func(*cronjob.Snapshot, *cronjob.Plan) bool {
	return func(_ *cronjob.Snapshot, p *cronjob.Plan) bool {
		return slices.ContainsFunc(p.Delete,
			func(d cronjob.Deletion) bool { return slices.Contains(reasons, d.Reason) })
	}
}

func creates(like func(cronjob.Creation) bool) func(*cronjob.Snapshot, *cronjob.Plan) bool {
	return func(_ *cronjob.Snapshot, p *cronjob.Plan) bool { return slices.ContainsFunc(p.Create, like) }
}

type worker struct {
	*Model
	step  func(explore.Step[state])
	tally *explore.Tally
}

func (w *worker) emit(s *state, k kind, detail int, broken error) {
	w.step(explore.Step[state]{To: *s, Kind: int(k), Detail: uint32(detail), Broken: broken})
}

// Describe describes a step in words.
func (w *worker) Describe(from *state, step explore.Step[state]) string {
	name := kinds[step.Kind]
	switch k := kind(step.Kind); k {
	case kindRound:
		v := w.look(from)
		s := w.snapshot(&v)
		plan, err := cronjob.Reconcile(s)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%s at %s: %s\n%s", name, s.Now.Format("15:04"), s.CronJob.Status, plan.String())
	case kindWrite, kindFail, kindLose, kindDelay, kindCrash:
		write := w.of(from.control.round).write
		text := name + ": " + verbs[write.verb]
		if write.verb == verbStatus {
			return text + " " + w.statuses.Of(uint32(write.status)).String()
		}
		return text + " " + w.names[write.job]
	case kindDeliverJob, kindComplete, kindFailJob, kindPodsGone, kindDeleteJob, kindTake:
		return name + ": " + w.names[step.Detail]
	case kindTick:
		return name + " to " + clock(step.To.now).Format("15:04:05")
	}
	return name
}

// check returns the true state of the world, for the checks of package cronjobcheck.
func (w *worker) check(s *state) cronjobcheck.State {
	c := w.cronJob(s.spec, s.status)
	st := cronjobcheck.State{
		CronJob:   &c,
		Options:   &w.scope.Options,
		Triggers:  w.triggers(s.triggers),
		Backfills: w.backfills(s.backfill),
	}
	for i := range s.jobs {
		if id := s.jobs[i].live; id != 0 {
			child := w.children.Of(uint32(id))
			st.AddNeighbour(&child, clock(s.now))
		}
	}
	return st
}

func first(found []cronjobcheck.Violation) error {
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

func (r *rounds) finished(id childID, how job.ConditionType, now uint32) childID {
	c := r.children.Of(uint32(id))
	c.Finished, c.FinishTime = how, clock(now)
	if how == job.ConditionComplete {
		c.CompletionTime = clock(now)
	}
	return r.childNumber(c)
}
