package pod

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// inEach runs a test with each containment that works here.
func inEach(t *testing.T, test func(t *testing.T, c Containment)) {
	for _, c := range Containments {
		t.Run(string(c), func(t *testing.T) {
			if err := ProbeContainment(c); err != nil {
				t.Skipf("not possible here: %v", err)
			}
			test(t, c)
		})
	}
}

// wild is a container that tries to outlive its supervisor. A grandchild does the work, and a
// daemon has its own session and no living parent. All of them ignore the signals that can be
// ignored.
func wild(marker string) ContainerSpec {
	const beat = `trap "" TERM INT HUP; while :; do date +%N >> beat; sleep 0.02; done`
	c := shell("a", jobpod.App, "trap '' TERM INT HUP; (setsid sh -c '"+beat+"' &) ; sh -c '"+beat+"'; exit $?")
	c.Argv = append(c.Argv, marker)
	return c
}

// prepareWild prepares a pod whose processes can be found by their environment.
func prepareWild(t *testing.T) (Folder, string) {
	marker := fmt.Sprintf("BATCHPLAN_MARKER=%d-%d", os.Getpid(), time.Now().UnixNano())
	folder := prepare(t, "Never", wild(marker))
	spec, err := folder.readSpec()
	must.OK(t, err)
	spec.Containers[0].Env = append(spec.Containers[0].Env, marker)
	writeSpec(t, folder, spec)
	t.Cleanup(func() {
		for _, pid := range marked(marker) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return folder, marker
}

// marked returns the processes of this machine that have a variable.
func marked(variable string) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		environ, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if slices.ContainsFunc(bytes.Split(environ, []byte{0}), func(v []byte) bool { return string(v) == variable }) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func awaitBeats(t *testing.T, folder Folder, marker string) {
	t.Helper()
	await(t, "start", func() bool { return len(marked(marker)) >= 3 && work(t, folder, "beat") != "" })
}

func killSupervisor(t *testing.T, folder Folder) {
	t.Helper()
	pid, err := folder.Supervisor()
	if err != nil || pid == 0 {
		t.Fatal(pid, err)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// When a supervisor is killed, its pod counts as ended only once no process of the pod is left,
// whatever the containers have started. No runner is needed for that, since the runner may also be
// dead.
func TestSupervisorKilled(t *testing.T) {
	inEach(t, func(t *testing.T, c Containment) {
		folder, marker := prepareWild(t)
		launchIn(t, folder, c)
		awaitBeats(t, folder, marker)
		killSupervisor(t, folder)
		await(t, "end", func() bool {
			alive, err := folder.Alive()
			must.OK(t, err)
			return !alive
		})
		if left := marked(marker); len(left) > 0 {
			t.Errorf("processes left: %v", left)
		}
		s, _, err := folder.State()
		if err != nil || s.Done {
			t.Fatal(s, err)
		}
		if lost := s.Lost(time.Now()); !lost.Done || lost.Phase != job.PodFailed || lost.Containers[0].ExitCode != 137 {
			t.Errorf("%+v", lost)
		}
	})
}

// If the watcher of a supervisor is killed, the supervisor ends its pod, because it can no longer
// guarantee that its containers end.
func TestWatcherKilled(t *testing.T) {
	inEach(t, func(t *testing.T, c Containment) {
		if c == Namespace || c == UserNamespace {
			t.Skip("it has none")
		}
		folder, marker := prepareWild(t)
		launchIn(t, folder, c)
		awaitBeats(t, folder, marker)
		_, pid, err := folder.holder(watchLock)
		if err != nil || pid == 0 {
			t.Fatal(pid, err)
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
		await(t, "end", func() bool { alive, err := folder.Alive(); return err == nil && !alive })
		if left := marked(marker); len(left) > 0 {
			t.Errorf("processes left: %v", left)
		}
		if s := final(t, folder); s.Phase != job.PodFailed || s.Reason != ReasonWatcherLost ||
			s.Containers[0].ExitCode != 137 {
			t.Errorf("%+v", s)
		}
	})
}

// If the supervisor and the watcher of processes in a cgroup are both gone, the processes count as
// alive, and the next runner ends them.
func TestCgroupOutlivesBoth(t *testing.T) {
	if err := ProbeContainment(Cgroup); err != nil {
		t.Skipf("not possible here: %v", err)
	}
	folder, marker := prepareWild(t)
	launchIn(t, folder, Cgroup)
	awaitBeats(t, folder, marker)
	_, watcher, _ := folder.holder(watchLock)
	supervisor, err := folder.Supervisor()
	if err != nil || watcher == 0 || supervisor == 0 {
		t.Fatal(watcher, supervisor, err)
	}
	_ = syscall.Kill(watcher, syscall.SIGSTOP)
	_ = syscall.Kill(supervisor, syscall.SIGKILL)
	_ = syscall.Kill(watcher, syscall.SIGKILL)
	await(t, "free locks", func() bool {
		one, _, _ := folder.holder(superviseLock)
		other, _, _ := folder.holder(watchLock)
		return !one && !other
	})
	if alive, err := folder.Alive(); err != nil || !alive || len(marked(marker)) == 0 {
		t.Errorf("alive %v, %v, left %v", alive, err, marked(marker))
	}
	await(t, "end", func() bool { over, err := folder.Reap(); return over && err == nil })
	if left := marked(marker); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
	if g, err := folder.guard(); err != nil || g.Cgroup == "" {
		t.Error(g, err)
	} else if _, err := os.Stat(g.Cgroup); !os.IsNotExist(err) {
		t.Errorf("the cgroup is left: %v", err)
	}
}

// A supervisor that SIGSTOP has stopped does not notice that its pod has to end. It is killed when
// its time has passed, and not before.
func TestStoppedSupervisor(t *testing.T) {
	inEach(t, func(t *testing.T, c Containment) {
		folder, marker := prepareWild(t)
		wait := launchIn(t, folder, c)
		awaitBeats(t, folder, marker)
		pid, err := folder.Supervisor()
		if err != nil || pid == 0 {
			t.Fatal(pid, err)
		}
		_ = syscall.Kill(pid, syscall.SIGSTOP)
		must.OK(t, folder.Stop(time.Second))
		late := time.Now().Add(time.Second + overtime)
		must.OK(t, folder.Enforce(late.Add(-2*time.Second)))
		await(t, "a stop, and no end before its time", func() bool {
			stat, err := readStat(pid)
			return err == nil && stat.state == 'T'
		})
		must.OK(t, folder.Enforce(late.Add(time.Second)))
		wait()
		await(t, "end", func() bool { over, err := folder.Reap(); return over && err == nil })
		if left := marked(marker); len(left) > 0 {
			t.Errorf("processes left: %v", left)
		}
	})
}

// When the locks of a pod are free, the kernel may not have ended all processes of the pod's PID
// namespace yet. So the pod counts as alive until the supervisor has ended with all its threads.
func TestGuard(t *testing.T) {
	self, err := readStat(os.Getpid())
	must.OK(t, err)
	boot, err := bootID()
	must.OK(t, err)
	for _, test := range []struct {
		name string
		guard
		want bool
	}{
		{"the process is there", guard{Namespace, os.Getpid(), self.start, boot, ""}, true},
		{"another process has its number", guard{Namespace, os.Getpid(), self.start - 1, boot, ""}, false},
		{"the machine was started anew", guard{Namespace, os.Getpid(), self.start, "before", ""}, false},
		{"no such process", guard{UserNamespace, 1 << 30, 1, boot, ""}, false},
		{"its watcher has seen to it", guard{Watched, os.Getpid(), self.start, boot, ""}, false},
		{"no record", guard{}, false},
	} {
		if have, err := test.remains(); have != test.want || err != nil {
			t.Errorf("%s: %v, %v", test.name, have, err)
		}
	}
	for stat, over := range map[processStat]bool{
		{state: 'S', threads: 1}: false, {state: 'Z', threads: 1}: true, {state: 'Z', threads: 3}: false, {state: 'X', threads: 0}: true,
	} {
		if stat.isOver() != over {
			t.Errorf("%+v: over %v", stat, !over)
		}
	}
}

// The first containment that works is chosen. If the user requests one, it is never replaced by
// another.
func TestChooseContainment(t *testing.T) {
	deny := errors.New("operation not permitted")
	only := func(allowed ...Containment) func(Containment) error {
		return func(c Containment) error {
			if slices.Contains(allowed, c) {
				return nil
			}
			return deny
		}
	}
	for _, test := range []struct {
		wanted  string
		allowed []Containment
		want    Containment
		problem string
	}{
		{"auto", Containments, Namespace, ""},
		{"auto", []Containment{Cgroup, UserNamespace, Watched}, Cgroup, ""},
		{"auto", []Containment{UserNamespace, Watched}, UserNamespace, ""},
		{"auto", []Containment{Watched}, Watched, ""},
		{"auto", nil, "", "its supervisor were killed: namespace: operation not permitted"},
		{"cgroup", []Containment{Namespace}, "", "cgroup: operation not permitted"},
		{"watcher", Containments, Watched, ""},
		{"chroot", Containments, "", `"chroot": must be auto, namespace, cgroup, user-namespace, watcher`},
	} {
		have, err := ChooseContainment(test.wanted, only(test.allowed...))
		if have != test.want || (err == nil) != (test.problem == "") ||
			err != nil && !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%s of %v: %q, %v", test.wanted, test.allowed, have, err)
		}
	}
	for _, c := range Containments {
		if len(c.Promise()) < 40 {
			t.Errorf("%s promises nothing: %q", c, c.Promise())
		}
	}
}

func TestFindCgroup(t *testing.T) {
	const mounts = `24 30 0:22 / /proc rw,nosuid shared:5 - proc proc rw
35 30 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu
36 30 0:29 /ROOT /sys/fs/cgroup\040two rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate
`
	for _, test := range []struct{ membership, root, want string }{
		{"0::/user.slice/a.scope\n", "", "/sys/fs/cgroup two/user.slice/a.scope"},
		{"3:cpu:/x\n0::/\n", "", "/sys/fs/cgroup two"},
		{"0::/docker/c/sub\n", "docker/c", "/sys/fs/cgroup two/sub"},
		{"0::/elsewhere\n", "docker/c", ""},
		{"3:cpu:/x\n", "", ""},
	} {
		have, err := findCgroup(test.membership, strings.Replace(mounts, "ROOT", test.root, 1))
		if have != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%q: %q, %v", test.membership, have, err)
		}
	}
}

// A container inherits no descriptor of the runner's caller, and its supervisor inherits no
// variable. The supervisor has the name of the pod, and so has its watcher if there is one.
func TestNothingLeaks(t *testing.T) {
	inEach(t, func(t *testing.T, c Containment) {
		t.Setenv("SECRET_OF_THE_CALLER", "x")
		file, err := os.Create(filepath.Join(t.TempDir(), "locked"))
		must.OK(t, err)
		defer file.Close()
		must.OK(t, unix.Flock(int(file.Fd()), unix.LOCK_EX))
		// A separate process launches a supervisor as a runner does. It has inherited a descriptor,
		// as a runner inherits descriptors from a shell.
		folder := prepare(t, "Never", shell("a", jobpod.App, "ls -l /proc/self/fd > fds; touch up; sleep 60"))
		launcher := self(launchCommand, string(folder), string(c))
		launcher.Env = os.Environ()
		launcher.ExtraFiles = []*os.File{file}
		if out, err := launcher.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Cleanup(func() { stopAndWait(t, folder) })
		await(t, "start", func() bool { _, err := os.Stat(filepath.Join(folder.Work(), "up")); return err == nil })
		file.Close()
		other, err := os.Open(file.Name())
		must.OK(t, err)
		defer other.Close()
		if err := unix.Flock(int(other.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			t.Errorf("the caller's lock is still held: %v", err)
		}
		if fds := work(t, folder, "fds"); strings.Contains(fds, "locked") || strings.Count(fds, "pipe:") != 1 { // its stderr is a pipe
			t.Errorf("the container holds\n%s", fds)
		}
		for _, name := range []string{superviseLock, watchLock} {
			_, pid, _ := folder.holder(name)
			if environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); bytes.Contains(environ, []byte("SECRET")) {
				t.Errorf("the holder of %s has %q", name, environ)
			}
			if pid == 0 {
				continue // there is no watcher
			}
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
			if !bytes.HasPrefix(line, []byte("batchrun: default/p\x00")) || string(comm) != "batchrun\n" {
				t.Errorf("the holder of %s is %q, %q", name, line, comm)
			}
		}
		checkModes(t, folder)
	})
}

// launchCommand makes the test binary start a supervisor and end.
const launchCommand = "__launch"

func launchAndLeave(folder Folder, c Containment) {
	cmd, err := Command(folder, c)
	if err == nil {
		err = cmd.Start()
	}
	end(err)
}

func stopAndWait(t *testing.T, folder Folder) {
	_ = folder.Stop(0)
	await(t, "end", func() bool { alive, err := folder.Alive(); return err == nil && !alive })
}

// checkModes checks that no other user can read anything of a pod.
func checkModes(t *testing.T, folder Folder) {
	t.Helper()
	err := filepath.Walk(string(folder), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 && !strings.HasPrefix(path, folder.Work()+"/") {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// If a supervisor should be the first process of a namespace and is not, it starts nothing. At the
// end of its pod it would kill all processes that it can see.
func TestNoNamespace(t *testing.T) {
	for _, c := range []Containment{Namespace, UserNamespace} {
		folder := prepare(t, "Never", shell("a", jobpod.App, "echo a >> trace"))
		out, err := self(superviseCommand, string(folder), string(c)).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "is not the first of a PID namespace") {
			t.Errorf("%s: %v, %q", c, err, out)
		}
		if _, begun, err := folder.State(); begun || err != nil || work(t, folder, "trace") != "" {
			t.Errorf("%s: begun %v, %v", c, begun, err)
		}
		if err := ProbeContainment(c); err != nil {
			continue
		}
		launchIn(t, folder, c)()
		if s := final(t, folder); s.Phase != job.PodSucceeded {
			t.Errorf("%s: %+v", c, s)
		}
	}
}
