// Package world is a small API server in memory with one job, its pods, a
// controller and an environment that does what kubelets and users do. Property
// tests run jobs in it, with faults between any two writes, and it checks the
// invariants on every write that it accepts. It draws no random numbers: the caller
// decides what happens.
package world

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/batchplan/batchplan/expectations"
	"github.com/batchplan/batchplan/internal/faults"
	"github.com/batchplan/batchplan/job"
)

// Start is the time at which a world begins.
var Start = faults.Start

// Grace is how long a running pod may take to end when it is deleted.
const Grace = 30 * time.Second

// World is the live state, as an API server would have it.
type World struct {
	faults.Injector

	Now     time.Time
	Job     job.Job
	Pods    []*job.Pod
	Options job.Options
	// Memory is the controller's memory.
	Memory job.Memory
	// Stale makes the controller see View instead of the live state.
	Stale bool
	View  View
	// Consistent tells the controller that its snapshots contain its own writes, where the
	// live state is what it sees.
	Consistent bool
	// Untimed hides all times of pods from the controller, except their deletion
	// times.
	Untimed bool
	// Versions tells the controller the versions of its own writes (E6).
	Versions bool
	// Events holds the events that the controller has reported.
	Events []job.Event
	// Again and Retry come from the last conclusion. A crash is followed by a round.
	Again job.Requeue
	Retry bool
	// Metrics holds the metrics of the rounds so far.
	Metrics []job.Metrics
	// LastPlan is the text of the last plan, and Failed the violations so far.
	LastPlan string
	Failed   []error

	planner   job.Planner
	version   int // of the job
	readAt    int // the version in the round's snapshot
	acked     int // the version of the last status write that was confirmed
	nextUID   int
	revision  int // of pods
	ghost     ghost
	tally     tally
	maxActive int64 // the greatest parallelism so far
}

// View is an older state: what was delivered to the controller so far.
type View struct {
	Job     job.Job
	Version int
	Pods    []job.Pod
}

// Fault is what goes wrong with one write.
type Fault = faults.Fault

// The faults, of which package faults says more.
const (
	None      = faults.None
	Fail      = faults.Fail
	LoseReply = faults.LoseReply
	Crash     = faults.Crash
)

// New returns a world with a job of that spec, completed by Default.
func New(spec job.Spec) *World {
	job.Default(&spec)
	w := &World{
		Now: Start,
		Job: job.Job{Namespace: "default", Name: "j", UID: "job-1", CreationTimestamp: Start, Spec: spec},
	}
	w.ghost.init()
	w.tally = newTally(w.Job.UID)
	w.maxActive = int64(*spec.Parallelism)
	w.DeliverAll()
	return w
}

// Pod returns the live pod of that name, or nil.
func (w *World) Pod(name string) *job.Pod {
	for _, p := range w.Pods {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Snapshot returns what the controller sees.
func (w *World) Snapshot() job.Snapshot {
	s := job.Snapshot{Job: w.Job, Now: w.Now, Memory: w.Memory, Options: w.Options}
	w.readAt = w.version
	s.Job.Version = int64(w.readAt)
	if w.Stale {
		if e := w.Memory.Expectations; e != (expectations.Counts{}) && e.Satisfied(w.Now) {
			w.ghost.lagged = true
		}
		s.Job = w.View.Job
		w.readAt = w.View.Version
		s.Job.Version = int64(w.readAt)
		s.Pods = slices.Clone(w.View.Pods)
		w.forgetTimes(s.Pods)
		return s
	}
	// A controller that reads its own writes has nothing left to observe. It says so, or
	// clears the record, as stories do to show it.
	s.Consistent = w.Consistent
	s.Memory.Expectations = expectations.Counts{}
	for _, p := range w.Pods {
		s.Pods = append(s.Pods, *p)
	}
	w.forgetTimes(s.Pods)
	return s
}

// forgetsState reports whether the controller is not told the states of the containers.
func (w *World) forgetsState(p *job.Pod) bool { return w.Untimed && p.UID[len(p.UID)-1]%2 == 0 }

// forgetTimes makes the pods those of an adapter that keeps no times. Of the end of a
// container it forgets the time or else the state, by the parity of the UID.
func (w *World) forgetTimes(pods []job.Pod) {
	if !w.Untimed {
		return
	}
	for i := range pods {
		detail := *detailOf(&pods[i])
		detail.CreationTimestamp, detail.ReadyTransition = time.Time{}, time.Time{}
		detail.Containers = slices.Clone(detail.Containers)
		for n := range detail.Containers {
			if c := &detail.Containers[n]; w.forgetsState(&pods[i]) {
				c.State = job.ContainerWaiting
			} else {
				c.FinishedAt = time.Time{}
			}
		}
		pods[i].Detail = &detail
	}
}

// AddPod adds a pod that another client has created.
func (w *World) AddPod(p job.Pod) *job.Pod {
	w.nextUID++
	if p.UID == "" {
		p.UID = fmt.Sprintf("uid-%d", w.nextUID)
	}
	if p.Name == "" {
		p.Name = fmt.Sprintf("p%d", w.nextUID)
	}
	w.touch(&p)
	detail := detailOf(&p)
	if detail.CreationTimestamp.IsZero() {
		detail.CreationTimestamp = w.Now
	}
	p.Detail = detail
	w.Pods = append(w.Pods, &p)
	w.ghost.born(&p)
	return &p
}

// touch gives the pod a new version, and a detail of its own that may be changed.
func (w *World) touch(p *job.Pod) {
	w.revision++
	p.Detail = detailOf(p)
	p.Detail.ResourceVersion = strconv.Itoa(w.revision)
}

// detailOf copies the detail of a pod, since a view may share the old one.
func detailOf(p *job.Pod) *job.PodDetail {
	if p.Detail == nil {
		return &job.PodDetail{}
	}
	detail := *p.Detail
	return &detail
}

// Edit changes the spec (F7).
func (w *World) Edit(change func(*job.Spec)) {
	change(&w.Job.Spec)
	w.version++
	w.maxActive = max(w.maxActive, int64(*w.Job.Spec.Parallelism))
	w.ghost.edited = true
}

// DeleteJob marks the job as being deleted.
func (w *World) DeleteJob() {
	if w.Job.DeletionTimestamp.IsZero() {
		w.Job.DeletionTimestamp = w.Now
		w.version++
	}
}

// Deliver brings the controller's view of one pod up to date, and tells its
// expectations what an informer would tell (E1, E4).
func (w *World) Deliver(uid string) {
	live := slices.IndexFunc(w.Pods, func(p *job.Pod) bool { return p.UID == uid })
	seen := slices.IndexFunc(w.View.Pods, func(p job.Pod) bool { return p.UID == uid })
	switch {
	case live < 0 && seen < 0:
	case live < 0:
		w.observe(&w.View.Pods[seen], 0, boolToInt(w.View.Pods[seen].Deletion == nil))
		w.View.Pods = slices.Delete(w.View.Pods, seen, seen+1)
	case seen < 0:
		w.View.Pods = append(w.View.Pods, *w.Pods[live])
		w.observe(w.Pods[live], 1, boolToInt(w.Pods[live].Deletion != nil))
	default:
		turned := w.View.Pods[seen].Deletion == nil && w.Pods[live].Deletion != nil
		w.observe(w.Pods[live], 0, boolToInt(turned))
		w.View.Pods[seen] = *w.Pods[live]
	}
}

// observe tells the expectations what an informer has seen of the job's own pods.
func (w *World) observe(p *job.Pod, creations, deletions int) {
	if p.Owner <= job.OwnedUnmatched {
		w.Memory.Expectations = w.Memory.Expectations.Observe(creations, deletions)
	}
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// DeliverJob brings the controller's view of the job up to date.
func (w *World) DeliverJob() { w.View.Job, w.View.Version = w.Job, w.version }

// DeliverAll brings the whole view up to date.
func (w *World) DeliverAll() {
	for _, p := range slices.Clone(w.View.Pods) {
		w.Deliver(p.UID)
	}
	for _, p := range w.Pods {
		w.Deliver(p.UID)
	}
	w.DeliverJob()
}

// Restart makes the controller forget everything and list the objects again (F1).
// With old it keeps the older list (F2).
func (w *World) Restart(old bool) {
	w.Memory = job.Memory{}
	w.planner = job.Planner{}
	w.ghost.restarted, w.tally.forgot = true, true
	if old {
		w.ghost.traveled = true
		return
	}
	w.View.Pods = nil
	for _, p := range w.Pods {
		w.View.Pods = append(w.View.Pods, *p)
	}
	w.DeliverJob()
}

func (w *World) fail(rule, format string, args ...any) {
	w.Failed = append(w.Failed, fmt.Errorf("%s: %s\nafter the plan:\n%s", rule, fmt.Sprintf(format, args...), w.LastPlan))
}

// Err returns the first violated invariant.
func (w *World) Err() error {
	if len(w.Failed) == 0 {
		return nil
	}
	return w.Failed[0]
}
