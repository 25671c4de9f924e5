package pod

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// pollInterval is the time between two checks for the stop file. A stop file needs no process ID.
// Unlike a signal, it remains after the runner and the supervisor have ended.
const pollInterval = 50 * time.Millisecond

// Supervise runs the pod of a folder to its end. A pod runs at most once, so Supervise does nothing
// if another supervisor is alive, or if the pod has begun before.
//
// It must be called from a goroutine that is locked to the main thread, because containers are
// killed when the thread that started them ends.
func Supervise(folder Folder, c Containment) error {
	lock, err := folder.lock(superviseLock)
	if err != nil || lock == nil {
		return err
	}
	defer lock.Close()
	if _, begun, err := folder.State(); begun || err != nil {
		return err
	}
	s := &supervisor{folder: folder, lock: lock, containment: c, exits: make(chan exit), abandoned: awaitWatcher(c)}
	if s.spec, err = folder.readSpec(); err != nil {
		return fmt.Errorf("read pod: %w", err)
	}
	s.state, s.runs = newState(&s.spec), make([]run, len(s.spec.Containers))
	if err := s.begin(); err != nil {
		// Nothing has begun. Once these records are removed, another attempt may succeed.
		return errors.Join(err, folder.remove("guard.json"), folder.remove("state.json"))
	}
	return s.loop()
}

// begin prepares everything that containers need, and records that the pod begins.
func (s *supervisor) begin() error {
	if err := s.contain(); err != nil {
		return err
	}
	// No container has run yet that could have replaced the logs by something else.
	if err := s.openStreams(); err != nil {
		return err
	}
	if err := s.folder.writeState(s.state); err != nil {
		return err
	}
	return s.folder.writeRecord("guard.json", s.state.Guard)
}

// contain prepares the pod's containment, and makes its guard.
func (s *supervisor) contain() error {
	g, err := newGuard(s.containment)
	if err == nil {
		err = s.containment.enter()
	}
	if err == nil && s.containment == Cgroup {
		if s.group, err = newCgroup(commandName + "-" + string(s.spec.UID)); err == nil {
			g.Cgroup = s.group.path
		}
	}
	if err != nil {
		return fmt.Errorf("contain the pod (%s): %w", s.containment, err)
	}
	s.state.Guard = g
	return nil
}

// supervisor is the state machine of one pod. One goroutine owns it.
type supervisor struct {
	folder      Folder
	lock        *os.File // held as long as this process lives
	containment Containment
	group       *cgroup // the cgroup of the containers; nil if they need none
	spec        Spec
	state       *State
	runs        []run // one for each container, in the same order
	exits       chan exit
	// abandoned is closed when this supervisor's watcher ends.
	abandoned <-chan struct{}
	// stopping is true once nothing more may be started.
	stopping bool
	grace    time.Duration
	stopAt   time.Time
	dirty    bool
}

// run is the part of a container's state that the supervisor does not record.
type run struct {
	process   *os.Process
	streams   [2]*stream // stdout and stderr
	signalled bool
	killAt    time.Time // when SIGKILL follows SIGTERM
	restartAt time.Time // when a waiting container starts again
	crashes   int       // ends since the last long run
}

// exit is how a container's process ended.
type exit struct {
	container int
	code      int32
	at        time.Time
}

func (s *supervisor) loop() error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		now := time.Now()
		if !s.folder.holds(s.lock) {
			s.abandon(now)
			return fmt.Errorf("pod folder %q was removed", s.folder)
		}
		s.readStop(now)
		done := s.step(now)
		s.noteCuts()
		if s.dirty || done {
			// A late record of the end is better than none.
			err := s.folder.writeState(s.state)
			if s.dirty = err != nil; s.dirty && done {
				fmt.Fprintln(os.Stderr, "record the pod's end; trying again:", err)
				time.Sleep(time.Second)
				continue
			}
		}
		if done {
			return nil
		}
		select {
		case e := <-s.exits:
			s.ended(e)
		case <-s.abandoned:
			s.abandon(time.Now())
		case <-tick.C:
		}
	}
}

func (s *supervisor) readStop(now time.Time) {
	grace, ok := s.folder.stopAsked()
	if !ok || s.stopping && grace == s.grace {
		return
	}
	if !s.stopping {
		s.stopping, s.stopAt = true, now
	}
	s.grace = grace
	for i := range s.runs {
		s.runs[i].killAt = s.stopAt.Add(grace)
	}
}

// step does everything that can be done now. It returns true once the pod has ended and no process
// is left.
func (s *supervisor) step(now time.Time) bool {
	s.kill(now)
	switch {
	case s.state.Done:
		return true
	case s.stopping:
		if s.endApps(now) {
			return s.endSidecars(now) && s.finish(now)
		}
	case s.initFailed():
		return s.endSidecars(now) && s.finish(now)
	case s.startInits(now):
		if s.startApps(now) {
			return s.endSidecars(now) && s.finish(now)
		}
	}
	s.observe(now)
	return false
}

// initFailed reports whether an init container has ended the pod.
func (s *supervisor) initFailed() bool {
	for i := range s.state.Containers {
		c := &s.state.Containers[i]
		if c.Kind == jobpod.Init && c.State == jobpod.Terminated && c.ExitCode != 0 {
			return s.spec.RestartPolicy == job.RestartNever
		}
	}
	return false
}

// startInits starts the init containers one after the other. Sidecars keep running beside the next
// ones. It returns true once the app containers may start.
func (s *supervisor) startInits(now time.Time) bool {
	done := true
	for i := range s.state.Containers {
		c := &s.state.Containers[i]
		switch c.Kind {
		case jobpod.RestartableInit:
			if done || !c.StartedAt.IsZero() {
				s.ensure(i, now)
			}
		case jobpod.Init:
			if done && !succeeded(c) {
				s.ensure(i, now)
				done = false
			}
		}
	}
	return done
}

// startApps starts all app containers. It returns true once all have ended and none is restarted.
func (s *supervisor) startApps(now time.Time) bool {
	done := true
	for i := range s.state.Containers {
		c := &s.state.Containers[i]
		if c.Kind != jobpod.App || s.isFinal(c) {
			continue
		}
		s.ensure(i, now)
		done = done && s.isFinal(c)
	}
	return done
}

// isFinal reports whether a container will not be started again.
func (s *supervisor) isFinal(c *Container) bool {
	return succeeded(c) || c.State == jobpod.Terminated && s.spec.RestartPolicy == job.RestartNever
}

func succeeded(c *Container) bool { return c.State == jobpod.Terminated && c.ExitCode == 0 }

// ensure starts a container that is not running, if its start is due.
func (s *supervisor) ensure(i int, now time.Time) {
	c, r := &s.state.Containers[i], &s.runs[i]
	if c.State == jobpod.Running || now.Before(r.restartAt) {
		return
	}
	if r.crashes > 0 {
		c.Restarts++
	}
	s.start(i, now)
}

// endApps ends every container that is not a sidecar. It returns true once none runs.
func (s *supervisor) endApps(now time.Time) bool {
	done := true
	for i := range s.state.Containers {
		if s.state.Containers[i].Kind != jobpod.RestartableInit {
			done = s.terminate(i, now) && done
		}
	}
	return done
}

// endSidecars ends the sidecars one by one, the last one first. It returns true once none runs.
func (s *supervisor) endSidecars(now time.Time) bool {
	if !s.stopping {
		// From now on no container restarts: a sidecar that ends has done its work.
		s.stopping, s.stopAt, s.grace = true, now, s.spec.GracePeriod
	}
	for i := len(s.state.Containers) - 1; i >= 0; i-- {
		if s.state.Containers[i].Kind == jobpod.RestartableInit && !s.terminate(i, now) {
			return false
		}
	}
	return true
}

// finish records the phase, which follows from the app containers' exit codes.
func (s *supervisor) finish(now time.Time) bool {
	s.killAll()
	phase := job.PodSucceeded
	for i := range s.state.Containers {
		if c := &s.state.Containers[i]; c.Kind != jobpod.RestartableInit && !succeeded(c) {
			phase = job.PodFailed
		}
	}
	if _, asked := s.folder.stopAsked(); asked && phase == job.PodFailed {
		s.state.fail(ReasonStopped, "the pod was stopped before it had ended", now)
		return true
	}
	s.state.Phase, s.state.Done = phase, true
	s.state.setReady(false, now)
	return true
}

// abandon ends the pod immediately, because its watcher or its folder is gone. Without the watcher,
// if the supervisor were killed, the processes of the pod would live on. Without the folder,
// nothing could stop the pod or learn how it ended, and another supervisor could begin it again.
func (s *supervisor) abandon(now time.Time) {
	s.abandoned, s.stopping = nil, true
	for i := range s.runs {
		if r := &s.runs[i]; r.process != nil {
			_ = syscall.Kill(-r.process.Pid, syscall.SIGKILL)
		}
	}
	for slices.ContainsFunc(s.runs, func(r run) bool { return r.process != nil }) {
		s.ended(<-s.exits)
	}
	s.killAll()
	lost := s.state.Lost(now)
	lost.fail(ReasonWatcherLost, "the process that watched the pod's supervisor was killed", now)
	s.state = &lost
}

// killAll ends the processes that the containers have left, and removes their cgroup. Then it
// completes the logs.
func (s *supervisor) killAll() {
	defer s.closeStreams()
	if s.group == nil {
		killAll("")
		return
	}
	killAll(s.group.path)
	if err := s.group.remove(); err != nil {
		fmt.Fprintln(os.Stderr, "remove the pod's cgroup:", err)
	}
}

// observe derives the pod's phase and readiness from its containers.
func (s *supervisor) observe(now time.Time) {
	begun, ready := false, true
	for i := range s.state.Containers {
		c := &s.state.Containers[i]
		if c.Kind == jobpod.App && !c.StartedAt.IsZero() {
			begun = true
		}
		// A finished init container does not affect readiness.
		ready = ready && (c.State == jobpod.Running || c.Kind == jobpod.Init)
	}
	if begun && s.state.Phase == job.PodPending {
		s.state.Phase, s.dirty = job.PodRunning, true
	}
	if ready = ready && begun; ready != s.state.Ready {
		s.state.setReady(ready, now)
		s.dirty = true
	}
}
