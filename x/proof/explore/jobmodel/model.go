package jobmodel

import (
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/proof/explore"
)

// values holds the values of a scope to which its states refer by number.
type values struct {
	scope    Scope
	pods     podValues
	statuses statusValues
	specs    specValues
	memories memoryValues
}

// Model is the system that is explored for one scope.
type Model struct {
	rounds *rounds
	option Option
	start  state
}

var _ explore.System[state] = (*Model)(nil)

// New returns the model of a scope.
func New(scope Scope, option Option) *Model {
	job.Default(&scope.Spec)
	scope.Controllers = max(scope.Controllers, 1)
	if scope.Controllers > maxControllers || scope.Pods > maxPods {
		panic("the scope " + scope.Name + " is too large for a state")
	}
	m := &Model{rounds: &rounds{values: &values{scope: scope}}, option: option}
	v := m.rounds.values
	m.start = state{
		status: v.statuses.number(job.Status{}),
		spec:   v.specs.number(scope.Spec),
		past:   past{maxParallelism: uint8(*scope.Spec.Parallelism)},
		left:   scope.Budget,
	}
	for c := range scope.Controllers {
		m.start.control[c].dirty = true
		if scope.Late {
			m.start.control[c].see(&m.start)
		}
	}
	return m
}

// Planned returns the number of plans that were made.
func (m *Model) Planned() int { return int(m.rounds.planned.Load()) }

// Bytes returns about how much memory the model takes.
func (m *Model) Bytes() int64 { return m.rounds.bytes() }

// Start returns the state of a new job.
func (m *Model) Start() []state { return []state{m.start} }

// Worker returns a worker with buffers of its own.
func (m *Model) Worker() explore.Worker[state] { return &worker{Model: m, tally: &explore.Tally{}} }

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
	kindOldList
	kindDeliverPod
	kindDeliverJob
	kindDeliverGroups
	kindRun
	kindSucceed
	kindFailPod
	kindKubelet
	kindRestart
	kindDeletePod
	kindEvict
	kindStrip
	kindOrphan
	kindEdit
	kindDeleteJob
	kindTick
	kindBack
	kindCount
)

var kinds = [kindCount]string{
	"round begins", "write", "write fails", "reply is lost", "status write is delayed",
	"delayed status takes effect", "crash", "restart with an older list", "deliver pod", "deliver job",
	"deliver groups", "pod runs", "pod succeeds", "pod fails", "deleted pod ends", "container restarts",
	"delete pod", "evict", "strip finalizer", "orphan appears", "edit spec", "delete job", "tick", "clock back",
}

// detail packs the subject of a step: a controller, a pod and a number.
func detail(controller, pod, number int) uint32 {
	return uint32(controller)<<24 | uint32(pod)<<16 | uint32(number)
}

func undetail(d uint32) (controller, pod, number int) {
	return int(d >> 24), int(d >> 16 & 0xff), int(d & 0xffff)
}

type worker struct {
	*Model
	check checker
	step  func(explore.Step[state])
	tally *explore.Tally
}

// emit passes a step on, with its state in the form in which states are compared.
func (w *worker) emit(s *state, k kind, detail uint32, broken error) {
	if w.option&NoSymmetry != 0 {
		s.compact()
	} else {
		s.compact()
		s.sort()
	}
	fault := false
	switch k {
	case kindFail, kindLose, kindDelay, kindCrash, kindOldList:
		fault = true
	}
	w.step(explore.Step[state]{To: *s, Kind: int(k), Detail: detail, Fault: fault, Broken: broken})
}
