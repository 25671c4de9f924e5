package pod

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/leftover"
)

func TestMain(m *testing.M) {
	Main()
	if len(os.Args) == 4 && os.Args[1] == launchCommand {
		launchAndLeave(Folder(os.Args[2]), Containment(os.Args[3]))
	}
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // supervisors end immediately
	os.Exit(leftover.Run(m))
}

// prepare creates the folder of a pod whose containers run shell scripts.
func prepare(t *testing.T, policy job.RestartPolicy, containers ...ContainerSpec) Folder {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.OK(t, err)
	folder := Folder(filepath.Join(dir, "pod"))
	spec := Spec{UID: job.UID(filepath.Base(filepath.Dir(dir))), Name: "p", Namespace: "default", Job: "j", RestartPolicy: policy,
		GracePeriod: 300 * time.Millisecond, RestartDelay: 20 * time.Millisecond, RestartDelayMax: 40 * time.Millisecond,
		Containers: containers}
	for i := range containers {
		containers[i].Env = []string{"PATH=" + os.Getenv("PATH")}
		if len(containers[i].Mounts) > 0 && spec.Isolation == "" {
			if spec.Isolation, err = ProbeIsolation(filepath.Join(dir, "probe")); err != nil {
				t.Skipf("no mounts of its own for a process here: %v", err)
			}
		}
	}
	writeSpec(t, folder, spec)
	return folder
}

func writeSpec(t *testing.T, folder Folder, spec Spec) {
	t.Helper()
	data, err := json.Marshal(spec)
	must.OK(t, err)
	must.OK(t, folder.Prepare(data))
}

func shell(name string, kind jobpod.Kind, script string) ContainerSpec {
	return ContainerSpec{Name: name, Kind: kind, Argv: []string{"sh", "-c", script}}
}

// launch starts a supervisor and returns a function that waits for it.
func launch(t *testing.T, folder Folder) (wait func()) {
	t.Helper()
	return launchIn(t, folder, best())
}

// best returns the containment that a runner would choose here.
var best = sync.OnceValue(func() Containment {
	c, err := ChooseContainment("auto", ProbeContainment)
	if err != nil {
		panic(err)
	}
	return c
})

func launchIn(t *testing.T, folder Folder, c Containment) (wait func()) {
	t.Helper()
	cmd, err := Command(folder, c)
	must.OK(t, err)
	must.OK(t, cmd.Start())
	wait = sync.OnceFunc(func() { _ = cmd.Wait() })
	t.Cleanup(func() {
		_ = folder.Stop(0)
		defer time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() }).Stop()
		wait()
	})
	return wait
}

func final(t *testing.T, folder Folder) State {
	t.Helper()
	s, _, err := folder.State()
	if err != nil || !s.Done {
		log, _ := os.ReadFile(folder.SupervisorLog())
		t.Fatalf("no final state: %+v, %v\n%s", s, err, log)
	}
	return s
}

func work(t *testing.T, folder Folder, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder.Work(), name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

func readLog(folder Folder, container, stream string) ([]byte, error) {
	file, err := folder.OpenLog(container, stream)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 6000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s: not within a minute", what)
}

func TestLife(t *testing.T) {
	const (
		app     = jobpod.App
		initial = jobpod.Init
		sidecar = jobpod.RestartableInit
	)
	for _, test := range []struct {
		name       string
		policy     job.RestartPolicy
		containers []ContainerSpec
		phase      job.PodPhase
		trace      string  // what the containers wrote to the file "trace"
		codes      []int32 // the last exit code of each container
		restarts   []int32
	}{
		{"one container succeeds", "Never", []ContainerSpec{shell("a", app, "echo a >> trace")},
			job.PodSucceeded, "a\n", []int32{0}, []int32{0}},
		{"one of two fails", "Never", []ContainerSpec{shell("a", app, "exit 3"), shell("b", app, "sleep 0.1; echo b >> trace")},
			job.PodFailed, "b\n", []int32{3, 0}, []int32{0, 0}},
		{"init containers run in order", "Never",
			[]ContainerSpec{shell("i", initial, "sleep 0.1; echo i >> trace"), shell("k", initial, "echo k >> trace"), shell("a", app, "echo a >> trace")},
			job.PodSucceeded, "i\nk\na\n", []int32{0, 0, 0}, []int32{0, 0, 0}},
		{"a failed init container ends the pod", "Never",
			[]ContainerSpec{shell("i", initial, "exit 4"), shell("a", app, "echo a >> trace")},
			job.PodFailed, "", []int32{4, 0}, []int32{0, 0}},
		{"OnFailure restarts until success", "OnFailure",
			[]ContainerSpec{shell("a", app, "echo a >> trace; [ $(wc -l < trace) -ge 3 ] || exit 9")},
			job.PodSucceeded, "a\na\na\n", []int32{0}, []int32{2}},
		{"OnFailure restarts init containers", "OnFailure",
			[]ContainerSpec{shell("i", initial, "echo i >> trace; [ $(wc -l < trace) -ge 2 ] || exit 9"), shell("a", app, "echo a >> trace")},
			job.PodSucceeded, "i\ni\na\n", []int32{0, 0}, []int32{1, 0}},
		{"a sidecar runs beside and ends last", "Never",
			[]ContainerSpec{shell("s", sidecar, "trap 'echo s >> trace; exit 0' TERM; touch up; while :; do sleep 0.02; done"),
				shell("a", app, "while [ ! -e up ]; do sleep 0.02; done; echo a >> trace")},
			job.PodSucceeded, "a\ns\n", []int32{0, 0}, []int32{0, 0}},
		{"a sidecar that ignores SIGTERM is killed and does not fail the pod", "Never",
			[]ContainerSpec{shell("s", sidecar, "trap '' TERM; touch up; while :; do sleep 0.02; done"),
				shell("a", app, "while [ ! -e up ]; do sleep 0.02; done")},
			job.PodSucceeded, "", []int32{137, 0}, []int32{0, 0}},
		{"a signal is 128 and its number", "Never", []ContainerSpec{shell("a", app, "kill -USR1 $$")},
			job.PodFailed, "", []int32{138}, []int32{0}},
		{"a missing program", "Never", []ContainerSpec{{Name: "a", Argv: []string{"no-such-program"}}},
			job.PodFailed, "", []int32{128}, []int32{0}},
		{"processes that a container leaves end with it", "Never",
			[]ContainerSpec{shell("a", app, "(touch one; while sleep 0.02; do echo left >> beats; done) & setsid sh -c 'touch two; while sleep 0.02; do echo away >> beats; done' & while [ ! -e one ] || [ ! -e two ]; do sleep 0.02; done"),
				shell("b", app, "sleep 0.1")},
			job.PodSucceeded, "", []int32{0, 0}, []int32{0, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			folder := prepare(t, test.policy, test.containers...)
			launch(t, folder)()
			s := final(t, folder)
			if s.Phase != test.phase {
				t.Errorf("want phase %v, have %+v", test.phase, s)
			}
			for i, c := range s.Containers {
				if c.ExitCode != test.codes[i] || c.Restarts != test.restarts[i] {
					t.Errorf("container %s: want code %d after %d restarts, have %+v", c.Name, test.codes[i],
						test.restarts[i], c)
				}
			}
			if strings.Contains(test.name, "a container leaves") {
				beats := work(t, folder, "beats")
				time.Sleep(200 * time.Millisecond)
				if more := work(t, folder, "beats"); more != beats {
					t.Errorf("processes are left: they have written %q since", more[len(beats):])
				}
			}
			if trace := work(t, folder, "trace"); trace != test.trace {
				t.Errorf("want trace %q, have %q", test.trace, trace)
			}
		})
	}
}

// However many supervisors are started, only one of them runs the pod, and it runs it once.
func TestRunsOnce(t *testing.T) {
	folder := prepare(t, "Never", shell("a", jobpod.App, "echo a >> trace; sleep 0.1"))
	var waits []func()
	for range 8 {
		waits = append(waits, launch(t, folder))
	}
	for _, wait := range waits {
		wait()
	}
	launch(t, folder)()
	if s := final(t, folder); s.Phase != job.PodSucceeded || work(t, folder, "trace") != "a\n" {
		t.Errorf("trace %q, state %+v", work(t, folder, "trace"), s)
	}
}

func TestStop(t *testing.T) {
	for _, test := range []struct {
		name, script string
		grace        time.Duration
		phase        job.PodPhase
		code         int32
	}{
		{"SIGTERM ends it", "touch up; exec sleep 60", time.Minute, job.PodFailed, 143},
		{"a clean exit is a success", "trap 'exit 0' TERM; touch up; while :; do sleep 0.02; done", time.Minute, job.PodSucceeded, 0},
		{"SIGKILL after the grace period", "trap '' TERM; touch up; while :; do sleep 0.02; done", 100 * time.Millisecond, job.PodFailed, 137},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			folder := prepare(t, "OnFailure", shell("a", jobpod.App, test.script))
			wait := launch(t, folder)
			await(t, "start", func() bool { _, err := os.Stat(filepath.Join(folder.Work(), "up")); return err == nil })
			must.OK(t, folder.Stop(test.grace))
			wait()
			if s := final(t, folder); s.Phase != test.phase || s.Containers[0].ExitCode != test.code {
				t.Errorf("%+v", s)
			}
		})
	}
}

// If a pod is cancelled before it has begun, it never runs. Once it has begun, it cannot be
// cancelled.
func TestCancel(t *testing.T) {
	folder := prepare(t, "Never", shell("a", jobpod.App, "echo a >> trace"))
	if ok, err := folder.Cancel(time.Now()); !ok || err != nil {
		t.Fatal(ok, err)
	}
	launch(t, folder)()
	if s := final(t, folder); s.Reason != ReasonNeverStarted || work(t, folder, "trace") != "" {
		t.Errorf("trace %q, state %+v", work(t, folder, "trace"), s)
	}
	begun := prepare(t, "Never", shell("a", jobpod.App, "true"))
	launch(t, begun)()
	if ok, err := begun.Cancel(time.Now()); ok || err != nil {
		t.Error("cancelled after its end", ok, err)
	}
}

// A supervisor can die after it has started a container and before it has recorded the start. Then
// the container is lost, as if it were recorded as running.
func TestLostBeforeTheStartWasRecorded(t *testing.T) {
	s := State{Containers: []Container{
		{Container: jobpod.Container{Name: "done", State: jobpod.Terminated, ExitCode: 3}},
		{Container: jobpod.Container{Name: "started?", State: jobpod.Waiting}},
	}}
	lost := s.Lost(time.Unix(1, 0))
	if c := lost.Containers; c[0].ExitCode != 3 || c[1].State != jobpod.Terminated || c[1].ExitCode != 137 {
		t.Errorf("%+v", c)
	}
	if s.Containers[1].State != jobpod.Waiting {
		t.Error("the old state was changed")
	}
}

// Mounts are at paths that this machine does not have. Only the container sees them.
func TestMounts(t *testing.T) {
	missing, under := "/batchplan-test-missing", filepath.Join(t.TempDir(), "not", "there")
	writer := shell("w", jobpod.Init,
		"echo one > "+missing+"/f && echo two > "+under+"/f && echo three > rel/f && echo kept > kept")
	writer.Mounts = []Mount{{Volume: "v", Path: missing}, {Volume: "v", SubPath: "sub", Path: under}, {Volume: "w", Path: "rel"}}
	reader := shell("r", jobpod.App, "cat "+missing+"/f "+missing+"/sub/f rel/f kept; ls / | grep -c '^etc$'; touch "+missing+"/x 2>/dev/null || echo read-only")
	reader.Mounts = []Mount{{Volume: "v", Path: missing, ReadOnly: true}, {Volume: "w", Path: "rel"}}
	folder := prepare(t, "Never", writer, reader)
	launch(t, folder)()
	s := final(t, folder)
	out, err := readLog(folder, "r", "stdout")
	if want := "one\ntwo\nthree\nkept\n1\nread-only\n"; err != nil || string(out) != want {
		stderr, _ := readLog(folder, "w", "stderr")
		t.Errorf("want %q, have %q, %v; %+v\n%s", want, out, err, s, stderr)
	}
	for _, path := range []string{missing, filepath.Dir(under)} {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s exists on this machine now: %v", path, err)
		}
	}
}

// However much is written, a log is cut at its limit, once and visibly.
func TestLogsAreCut(t *testing.T) {
	folder := prepare(t, "Never",
		shell("a", jobpod.App, "echo first; yes | head -c 300000; sleep 0.2; yes | head -c 300000; echo last"),
		shell("b", jobpod.App, "yes | head -c 1000; echo last >&2"))
	spec, err := folder.readSpec()
	must.OK(t, err)
	spec.MaxLog = 1000
	writeSpec(t, folder, spec)
	launch(t, folder)()
	s := final(t, folder)
	if s.Phase != job.PodSucceeded || !s.Containers[0].LogCut || s.Containers[1].LogCut {
		t.Errorf("%+v", s)
	}
	const mark = "\n[cut here: --max-log is 1000 bytes]\n"
	log, err := readLog(folder, "a", "stdout")
	if err != nil || len(log) != 1000+len(mark) || !strings.HasPrefix(string(log), "first\ny\n") ||
		!strings.HasSuffix(string(log), mark) {
		t.Errorf("%d bytes, %v: %.40q", len(log), err, log)
	}
	for stream, want := range map[string]int{"stdout": 1000, "stderr": 5} {
		if log, err := readLog(folder, "b", stream); err != nil || len(log) != want {
			t.Errorf("%s: %d bytes, %v", stream, len(log), err)
		}
	}
}
