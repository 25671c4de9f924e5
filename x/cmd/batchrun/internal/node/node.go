// Package node runs the pods of the store, as a kubelet does. It starts and stops supervisors, and
// stores what they record.
//
// It is level-triggered: each pass looks at the store and at the folders of the pods, and does what
// is missing. No decision depends on what the node remembers between passes, so the node may be
// killed at any time.
package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/patience"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// interval is the longest time between two passes. Wake requests a pass earlier.
const interval = 50 * time.Millisecond

// probeInterval is how often a node checks whether there is room on the disk, and whether a
// supervisor is alive whose recorded state does not change.
const probeInterval = time.Second

// maxLaunches is how often the node starts a supervisor for a pod if no supervisor records
// anything.
const maxLaunches = 3

// Node runs pods. One goroutine calls Run. The other methods are safe to call at any time.
type Node struct {
	Store *store.Store
	// Clock translates the times that supervisors record. They record times of the machine's clock.
	Clock *clock.Clock
	// Containment keeps the processes of a pod together.
	Containment pod.Containment
	// Parallel is the maximum number of pods that run concurrently; others stay Pending.
	Parallel int
	// Notify is called for each job whose pods have changed.
	Notify func(jobUID job.UID)
	// Output, if set, is called repeatedly for a pod that has begun. end is true in the last call,
	// when the pod's logs are complete. here is true if this node has started the pod.
	Output func(p *store.Pod, here, end bool)
	// Warn is called with warnings for the user.
	Warn func(text string)
	// Patience limits how long passes that fail are retried, for example on a full disk.
	Patience patience.Patience

	wake  chan struct{}
	known map[job.UID]*knowledge
	// room is Store.Room, looked is the time of its last call, and full is true if that call failed.
	room   func() error
	looked time.Time
	full   bool
}

// knowledge is what a node remembers about a pod to save work.
type knowledge struct {
	stamp    pod.Stamp
	probed   time.Time
	stopped  bool
	launches int
	child    *child // nil before the first launch
	cut      bool   // a log of the pod is known to be cut
	// notBefore is set when a supervisor could not begin: the next one must not be started earlier.
	notBefore time.Time
}

// child is a supervisor, or its watcher, that this node started.
type child struct {
	ended chan struct{}
	// again is true if the supervisor could not begin for a temporary reason. It is valid once
	// ended is closed.
	again bool
}

// New returns a node.
func New(s *store.Store, c *clock.Clock, parallel int, notify func(jobUID job.UID)) *Node {
	return &Node{Store: s, Clock: c, Parallel: parallel, Notify: notify,
		wake: make(chan struct{}, 1), known: map[job.UID]*knowledge{}, room: s.Room}
}

// Wake requests a pass soon.
func (n *Node) Wake() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// Run runs passes until the context ends.
func (n *Node) Run(ctx context.Context) error {
	return n.Patience.Repeat(ctx, n.wake, n.Warn, func() (time.Duration, error) {
		begin := time.Now()
		if err := n.pass(); err != nil {
			return 0, err // a full disk makes a pass slow, so how long it took does not matter
		}
		// Even with very many pods, passes use at most a tenth of the time.
		return max(interval, 10*time.Since(begin)), nil
	})
}

// standing is the state of a pod's folder.
type standing uint8

const (
	waiting standing = iota // the pod has not begun
	running                 // a supervisor lives, or was just started
	later                   // the pod begins when a supervisor can be started again
	ended                   // nothing more happens to the pod
)

func (n *Node) pass() error {
	pods, err := n.Store.Pending()
	if err != nil {
		return err
	}
	busy := 0
	var idle []*store.Pod
	var problems []error // of single pods: the problem of one must not delay the others
	for i := range pods {
		p := &pods[i]
		where, err := n.tend(p)
		if err != nil {
			problems = append(problems, fmt.Errorf("pod %s: %w", p.Name, err))
		}
		switch where {
		case running:
			busy++
		case waiting:
			idle = append(idle, p)
		}
	}
	for _, p := range idle {
		if busy >= n.Parallel {
			break
		}
		if err := n.launch(p); err != nil {
			problems = append(problems, fmt.Errorf("pod %s: %w", p.Name, err))
		}
		busy++
	}
	if len(pods) > 0 {
		problems = append(problems, n.lookForRoom(time.Now()))
	}
	return errors.Join(problems...)
}

// lookForRoom returns an error while the disk is full. While pods run, nothing else would notice a
// full disk: the supervisors wait for room without a message, and the node has nothing to write.
func (n *Node) lookForRoom(now time.Time) error {
	if !n.full && now.Sub(n.looked) < probeInterval {
		return nil
	}
	err := n.room()
	n.looked, n.full = now, patience.IsTransient(err)
	if !n.full {
		return nil // whatever uses the folder next reports another error
	}
	return err
}

// tend does the work for one pod, and returns the pod's standing.
func (n *Node) tend(p *store.Pod) (standing, error) {
	k := n.known[p.UID]
	if k == nil {
		k = &knowledge{}
		n.known[p.UID] = k
	}
	if p.Finished() {
		delete(n.known, p.UID)
		defer n.Notify(p.Job)
		return ended, n.Store.Bury(p.UID) // the pod is deleted and has no finalizer
	}
	folder := pod.Folder(n.Store.PodFolder(p.UID))
	if !p.Deleted.IsZero() && !k.stopped {
		// If a stop file exists already and has a shorter grace period, it stays as it is.
		if err := n.stop(p, folder); err != nil {
			return running, err
		}
		k.stopped = true
	}
	stamp := folder.Stamp()
	now := time.Now()
	if stamp == k.stamp && now.Sub(k.probed) < probeInterval {
		return running, nil
	}
	return n.observe(p, k, folder, stamp, now)
}

// stop asks a pod to end. A pod that has not begun ends immediately.
func (n *Node) stop(p *store.Pod, folder pod.Folder) error {
	if !hasBegun(p) && folder.Stamp() == (pod.Stamp{}) {
		if cancelled, err := folder.Cancel(time.Now()); cancelled || err != nil {
			return err
		}
	}
	return folder.Stop(time.Duration(p.GraceSeconds) * time.Second)
}

// hasBegun reports whether an earlier pass has seen the pod begin.
func hasBegun(p *store.Pod) bool { return len(p.State.Containers) > 0 }

// read reads the supervisor's record. lost is not nil if the pod has begun and its record cannot be
// read.
func read(p *store.Pod, folder pod.Folder) (state pod.State, begun bool, lost, err error) {
	state, begun, err = folder.State()
	switch {
	case pod.IsUnreadable(err):
		return state, true, err, nil
	case err == nil && !begun && hasBegun(p):
		return state, true, folder.StateGone(), nil
	}
	return state, begun, nil, err
}

// observe reads the supervisor's record and stores it. If the record cannot be read, the pod has
// failed once its supervisor has ended. Until then, the supervisor may replace the record.
//
// The order matters: observe reads the state, checks whether the supervisor is alive, and reads the
// state again. A supervisor is alive from before its first record until after its last one. So if
// there is a record, and no supervisor is alive after that, the supervisor has ended, and the
// second read returns its last state.
func (n *Node) observe(
	p *store.Pod, k *knowledge, folder pod.Folder, stamp pod.Stamp, now time.Time,
) (standing, error) {
	state, begun, lost, err := read(p, folder)
	if err != nil {
		return running, err
	}

	if !state.Done {
		over, err := n.reap(p, folder, now)
		switch {
		case err != nil:
			return running, err
		case !over && (!begun || lost != nil):
			return running, nil
		case !begun:
			return n.unbegun(p, k, now)
		case over:
			if state, err = n.last(p, folder, now); err != nil {
				return running, err
			}
		}
	}

	if n.Output != nil {
		n.Output(p, k.launches > 0, state.Done)
	}
	n.warnOfCut(p, k, &state)

	if stamp != k.stamp || state.Done {
		if err := n.record(p, state); err != nil {
			return running, err
		}
		n.Notify(p.Job)
	}

	k.stamp, k.probed = stamp, now
	if state.Done {
		delete(n.known, p.UID)
		n.Wake() // a slot is free, and the pod may be ready to be removed
		return ended, nil
	}
	return running, nil
}

// last returns the final state of a pod that has begun, and whose supervisor has ended.
func (n *Node) last(p *store.Pod, folder pod.Folder, now time.Time) (pod.State, error) {
	state, _, lost, err := read(p, folder)
	switch {
	case err != nil:
		return pod.State{}, err
	case lost != nil:
		return n.lose(p, lost, now)
	case !state.Done:
		return state.Lost(now), nil
	}
	return state, nil
}

// lose returns the final state of a pod whose record is lost, and warns the user. Argument why is
// the error of reading the record, and names its file.
func (n *Node) lose(p *store.Pod, why error, now time.Time) (pod.State, error) {
	var spec pod.Spec
	if err := json.Unmarshal(p.Spec, &spec); err != nil {
		return pod.State{}, fmt.Errorf("state.db: the spec of the pod: %w", err)
	}
	n.Warn(fmt.Sprintf("pod %s: %v: it counts as failed", p.Name, why))
	return spec.Unrecorded(why, now), nil
}

// warnOfCut warns once that a log of the pod was cut.
func (n *Node) warnOfCut(p *store.Pod, k *knowledge, state *pod.State) {
	for i := range state.Containers {
		if c := &state.Containers[i]; c.LogCut && !k.cut {
			k.cut = true
			n.Warn(fmt.Sprintf("pod %s: container %s has written more than --max-log: the rest of its log is cut",
				p.Name, c.Name))
		}
	}
}

// reap kills a supervisor that has not ended in time, and the processes that a dead supervisor has
// left. It reports whether no process of the pod is left.
func (n *Node) reap(p *store.Pod, folder pod.Folder, now time.Time) (bool, error) {
	over, err := folder.Reap()
	if err == nil && !over && !p.Deleted.IsZero() {
		err = folder.Enforce(now)
	}
	return over, err
}

// record stores the state. It translates the times of the state to the clock of the store.
func (n *Node) record(p *store.Pod, state pod.State) error {
	if n.Clock.IsReal() {
		return n.Store.SetState(p.UID, state)
	}
	if err := n.Store.Saw(n.Clock.Now()); err != nil {
		return err
	}
	return n.Store.SetState(p.UID, state.Translate(n.Clock.At))
}

// unbegun handles a pod that has no record and no supervisor.
func (n *Node) unbegun(p *store.Pod, k *knowledge, now time.Time) (standing, error) {
	if k.child != nil {
		select {
		case <-k.child.ended:
			if k.child.again {
				k.launches, k.notBefore = k.launches-1, now.Add(time.Second)
			}
			k.child = nil
		default:
			return running, nil // the supervisor was started a moment ago
		}
	}
	if now.Before(k.notBefore) && p.Deleted.IsZero() {
		return later, nil
	}
	if k.launches < maxLaunches && p.Deleted.IsZero() {
		return waiting, nil
	}
	folder := pod.Folder(n.Store.PodFolder(p.UID))
	if cancelled, err := folder.Cancel(now); !cancelled || err != nil {
		return running, err // the pod has begun after all: the next pass reads its record
	}
	n.Wake()
	return running, nil
}

// launch starts the supervisor of a pod. An extra launch is harmless.
func (n *Node) launch(p *store.Pod) error {
	k := n.known[p.UID]
	folder := pod.Folder(n.Store.PodFolder(p.UID))
	if err := folder.Prepare(p.Spec); err != nil {
		return err
	}

	cmd, err := pod.Command(folder, n.Containment)
	if err != nil {
		return err
	}
	defer cmd.Stdout.(*os.File).Close()

	k.launches++
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start supervisor: %w", err)
	}

	c := &child{ended: make(chan struct{})}
	k.child = c
	go func() {
		_ = cmd.Wait() // the pod's folder shows how it ended
		c.again = cmd.ProcessState.ExitCode() == pod.ExitTryAgain
		close(c.ended)
		n.Wake()
	}()
	return nil
}

// Kill immediately ends the processes of the pods that are being deleted.
func (n *Node) Kill() error {
	pods, err := n.Store.Pending()
	if err != nil {
		return err
	}
	for i := range pods {
		if p := &pods[i]; !p.Deleted.IsZero() && !p.Finished() {
			if err := pod.Folder(n.Store.PodFolder(p.UID)).Stop(0); err != nil {
				return err
			}
		}
	}
	return nil
}
