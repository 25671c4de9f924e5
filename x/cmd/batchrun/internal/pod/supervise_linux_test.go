package pod

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// begin is when the pods of these tests begin.
var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// supervisorOf returns a supervisor that has started nothing.
func supervisorOf(policy job.RestartPolicy, kinds ...jobpod.Kind) *supervisor {
	spec := Spec{RestartPolicy: policy, RestartDelay: 10 * time.Second, RestartDelayMax: 35 * time.Second, GracePeriod: 10 * time.Second}
	for i, kind := range kinds {
		spec.Containers = append(spec.Containers, ContainerSpec{Name: fmt.Sprint(i), Kind: kind})
	}
	return &supervisor{spec: spec, state: newState(&spec), runs: make([]run, len(kinds))}
}

// TestEnd: a container that has ended is started again or not. Its restarts are delayed the longer
// the more often it has ended, unless it has run for long.
func TestEnd(t *testing.T) {
	const never, onFailure = job.RestartNever, job.RestartOnFailure
	for _, c := range []struct {
		name     string
		policy   job.RestartPolicy
		kind     jobpod.Kind
		stopping bool
		code     int32
		crashes  int
		ran      time.Duration
		delay    time.Duration // until the restart; -1 means never
	}{
		{"success", onFailure, jobpod.App, false, 0, 0, 0, -1},
		{"failure", never, jobpod.App, false, 1, 0, 0, -1},
		{"failure at the end of the pod", onFailure, jobpod.App, true, 1, 0, 0, -1},
		{"first failure", onFailure, jobpod.App, false, 1, 0, 0, 0},
		{"second failure", onFailure, jobpod.App, false, 1, 1, 0, 10 * time.Second},
		{"third failure", onFailure, jobpod.App, false, 1, 2, longRun, 20 * time.Second},
		{"fourth failure", onFailure, jobpod.App, false, 1, 3, 0, 35 * time.Second},
		{"fifth failure", onFailure, jobpod.App, false, 1, 4, 0, 35 * time.Second},
		{"failure after a long run", onFailure, jobpod.App, false, 1, 4, longRun + 1, 0},
		{"an init container succeeds", onFailure, jobpod.Init, false, 0, 0, 0, -1},
		{"an init container fails", onFailure, jobpod.Init, false, 1, 0, 0, 0},
		{"and ends the pod", never, jobpod.Init, false, 1, 0, 0, -1},
		{"a sidecar succeeds", never, jobpod.RestartableInit, false, 0, 0, 0, 0},
		{"a sidecar fails", never, jobpod.RestartableInit, false, 1, 1, 0, 10 * time.Second},
		{"a sidecar at the end of the pod", never, jobpod.RestartableInit, true, 0, 0, 0, -1},
	} {
		s := supervisorOf(c.policy, jobpod.App, c.kind)
		s.stopping = c.stopping
		s.state.Containers[1].StartedAt, s.runs[1].crashes = begin, c.crashes
		at := begin.Add(c.ran)
		s.ended(exit{container: 1, code: c.code, at: at})

		reason := map[bool]string{true: ReasonCompleted, false: ReasonError}[c.code == 0]
		exits := []Exit{{Code: c.code, Reason: reason, StartedAt: begin, FinishedAt: at}}
		got, state, crashes, restart := s.state.Containers[1], jobpod.Terminated, c.crashes, time.Time{}
		if c.delay >= 0 {
			state, reason, restart = jobpod.Waiting, ReasonBackOff, at.Add(c.delay)
			if crashes++; c.ran > longRun {
				crashes = 1
			}
		}
		if got.State != state || got.Reason != reason || got.ExitCode != c.code || !got.FinishedAt.Equal(at) {
			t.Errorf("%s: %+v", c.name, got)
		}
		if r := s.runs[1]; !r.restartAt.Equal(restart) || r.crashes != crashes || !s.dirty || !reflect.DeepEqual(got.Exits, exits) {
			t.Errorf("%s: %+v, exits %+v", c.name, r, got.Exits)
		}
	}

	s := supervisorOf(onFailure, jobpod.App)
	for code := range int32(maxExits + 5) {
		s.ended(exit{code: code + 1, at: begin})
	}
	if exits := s.state.Containers[0].Exits; len(exits) != maxExits || exits[0].Code != 6 || exits[maxExits-1].Code != maxExits+5 {
		t.Errorf("%+v", exits)
	}
	s.spec.RestartDelay = time.Minute
	if got := s.restartDelay(1); got != s.spec.RestartDelayMax {
		t.Errorf("restart after %v", got)
	}
}

// TestTerminate: a container that waits for a restart has ended with its last exit. One that has
// never run stays as it is.
func TestTerminate(t *testing.T) {
	s := supervisorOf(job.RestartOnFailure, jobpod.App, jobpod.App)
	s.ended(exit{container: 0, code: 3, at: begin})
	s.ended(exit{container: 0, code: 0, at: begin})
	s.state.Containers[0].State = jobpod.Waiting
	for i, want := range []jobpod.State{jobpod.Terminated, jobpod.Waiting} {
		s.dirty = false
		c := &s.state.Containers[i]
		if isOver := s.terminate(i, begin); !isOver || c.State != want || s.dirty != (want == jobpod.Terminated) {
			t.Errorf("container %d: %v, %+v, dirty %v", i, isOver, c, s.dirty)
		}
	}
	if got := s.state.Containers[0].Reason; got != ReasonCompleted {
		t.Error(got)
	}
}

// TestKillTime: the grace period is for the whole pod. A sidecar has at least a moment.
func TestKillTime(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		kind             jobpod.Kind
		grace, now, want time.Duration
	}{
		{jobpod.App, 10 * second, 0, 10 * second},
		{jobpod.App, 10 * second, 11 * second, 10 * second},
		{jobpod.Init, second, 5 * second, second},
		{jobpod.RestartableInit, 10 * second, 0, 10 * second},
		{jobpod.RestartableInit, 10 * second, 8 * second, 10 * second},
		{jobpod.RestartableInit, 10 * second, 9 * second, 11 * second},
		{jobpod.RestartableInit, second, 5 * second, 6 * second},
	} {
		s := &supervisor{grace: c.grace, stopAt: begin}
		if got := s.killTime(begin.Add(c.now), c.kind); !got.Equal(begin.Add(c.want)) {
			t.Errorf("%+v: %v", c, got.Sub(begin))
		}
	}
}

// TestReadStop: the grace period begins when the stop file is first seen. It may become shorter.
func TestReadStop(t *testing.T) {
	s := supervisorOf(job.RestartNever, jobpod.App, jobpod.App)
	s.folder = prepare(t, job.RestartNever)
	s.readStop(begin)
	if s.stopping {
		t.Error("nobody has asked to stop")
	}
	for i, grace := range []time.Duration{7 * time.Second, 7 * time.Second, 3 * time.Second} {
		must.OK(t, s.folder.Stop(grace))
		s.readStop(begin.Add(time.Duration(i) * time.Second))
		if !s.stopping || !s.stopAt.Equal(begin) || s.grace != grace {
			t.Errorf("%v: %v, %v, %v", grace, s.stopping, s.stopAt, s.grace)
		}
		for _, r := range s.runs {
			if !r.killAt.Equal(begin.Add(grace)) || !r.restartAt.IsZero() {
				t.Errorf("%v: %+v", grace, r)
			}
		}
	}
}

// TestSupervisor_Observe: a pod runs once one of its app containers has started. It is ready while
// all of them and its sidecars run.
func TestSupervisor_Observe(t *testing.T) {
	s := supervisorOf(job.RestartNever, jobpod.Init, jobpod.RestartableInit, jobpod.App, jobpod.App)
	c := s.state.Containers
	for i, step := range []struct {
		do      func()
		phase   job.PodPhase
		isReady bool
		isNew   bool
	}{
		{func() {}, job.PodPending, false, false},
		{func() { c[0].State, c[0].StartedAt = jobpod.Terminated, begin }, job.PodPending, false, false},
		{func() { c[1].State, c[1].StartedAt = jobpod.Running, begin }, job.PodPending, false, false},
		{func() { c[2].State, c[2].StartedAt = jobpod.Running, begin }, job.PodRunning, false, true},
		{func() { c[3].State, c[3].StartedAt = jobpod.Running, begin }, job.PodRunning, true, true},
		{func() {}, job.PodRunning, true, false},
		{func() { c[1].State = jobpod.Waiting }, job.PodRunning, false, true},
		{func() { c[1].State = jobpod.Running }, job.PodRunning, true, true},
		{func() { c[2].State = jobpod.Terminated }, job.PodRunning, false, true},
	} {
		s.dirty = false
		step.do()
		was, now := s.state.ReadyTransition, begin.Add(time.Duration(i)*time.Second)
		wasReady := s.state.Ready
		s.observe(now)
		if s.state.Phase != step.phase || s.state.Ready != step.isReady || s.dirty != step.isNew {
			t.Errorf("step %d: %v, ready %v, dirty %v", i, s.state.Phase, s.state.Ready, s.dirty)
		}
		if wasReady != step.isReady {
			was = now
		}
		if !s.state.ReadyTransition.Equal(was) {
			t.Errorf("step %d: ready since %v, want %v", i, s.state.ReadyTransition, was)
		}
	}
}

// TestSelf: a supervisor gets no variable of this process that the Go runtime does not read.
func TestSelf(t *testing.T) {
	t.Setenv("SECRET", "x")
	for _, name := range []string{"GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT", "GORACE", "GOTRACEBACK", "GOCOVERDIR"} {
		t.Setenv(name, "")
		must.OK(t, os.Unsetenv(name))
	}
	cmd := self("a", "b")
	if got := cmd.Environ(); len(got) > 0 {
		t.Errorf("%q", got)
	}
	if want := []string{commandName, "a", "b"}; !reflect.DeepEqual(cmd.Args, want) {
		t.Errorf("%q", cmd.Args)
	}

	started, err := Command(prepare(t, job.RestartNever), Watched)
	must.OK(t, err)
	if attr := started.SysProcAttr; !attr.Setsid {
		t.Errorf("Ctrl-C reaches a supervisor: %+v", attr)
	}
}

// A cgroup that an earlier supervisor has left is used again.
func TestNewCgroup(t *testing.T) {
	name := "batchplan-test-" + filepath.Base(t.TempDir()) + fmt.Sprint(os.Getpid())
	first, err := newCgroup(name)
	if err != nil {
		t.Skipf("no cgroup can be made here: %v", err)
	}
	defer first.close()
	second, err := newCgroup(name)
	must.OK(t, err)
	defer second.close()
	must.OK(t, first.remove())
	if err := second.remove(); err != nil || first.path != second.path {
		t.Errorf("%s, %s, %v", first.path, second.path, err)
	}
}

// TestAttributes: which namespaces a supervisor gets. In a user namespace it keeps the IDs of the
// user, and the right to mount.
func TestAttributes(t *testing.T) {
	const pidAndMounts = unix.CLONE_NEWPID | unix.CLONE_NEWNS
	uid, gid := os.Getuid(), os.Getgid()
	for c, want := range map[Containment]syscall.SysProcAttr{
		Cgroup: {}, Watched: {}, Namespace: {Cloneflags: pidAndMounts},
		UserNamespace: {
			Cloneflags:  pidAndMounts | unix.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
			AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN},
		},
	} {
		if got := c.attributes(); !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v", c, got)
		}
	}
}
