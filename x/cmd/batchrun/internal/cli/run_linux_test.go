package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/leftover"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod/podtest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

func TestMain(m *testing.M) {
	pod.Main()
	podtest.Main()
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // supervisors end immediately
	os.Exit(leftover.Run(m))
}

// world is a state folder and a file of manifests.
type world struct {
	*testing.T
	dir, file string
}

// newWorld writes a manifest of a job of each name, whose container runs the command.
func newWorld(t *testing.T, command string, jobs ...string) *world {
	w := &world{t, filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "f.yaml")}
	var text strings.Builder
	for _, name := range jobs {
		fmt.Fprintf(&text, `---
apiVersion: batch/v1
kind: Job
metadata: {name: %s}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, command: [sh, -c, %q]}]
`, name, command)
	}
	must.OK(t, os.WriteFile(w.file, []byte(text.String()), 0o600))
	return w
}

func (w *world) call(args ...string) (status int, out, errs string) {
	var o, e bytes.Buffer
	status = Main(append(args, "--state", w.dir), nil, &o, &e)
	return status, o.String(), e.String()
}

// want calls a command, and checks its status and parts of its output.
func (w *world) want(status int, args string, parts ...string) {
	w.Helper()
	got, out, errs := w.call(strings.Fields(args)...)
	if got != status {
		w.Errorf("%s: status %d, want %d\n%s%s", args, got, status, out, errs)
	}
	for _, part := range parts {
		if !strings.Contains(out+errs, part) {
			w.Errorf("%s: no %q in\n%s%s", args, part, out, errs)
		}
	}
}

// meanwhile runs a command, and a function as soon as a pod runs.
func (w *world) meanwhile(do func(*store.Store), args ...string) (status int, text string) {
	w.Helper()
	var wait sync.WaitGroup
	wait.Go(func() {
		for range 6000 {
			time.Sleep(10 * time.Millisecond)
			if _, err := os.Stat(filepath.Join(w.dir, "state.db")); err != nil {
				continue
			}
			s, err := store.Open(w.dir)
			if err != nil {
				continue
			}
			pods, err := s.Pending()
			if err == nil && len(pods) > 0 && pods[0].State.Phase == job.PodRunning {
				do(s)
				_ = s.Close()
				return
			}
			_ = s.Close()
		}
		w.Error("no pod has run within a minute")
	})
	status, out, errs := w.call(args...)
	wait.Wait()
	return status, out + errs
}

// TestRun: a job is run to its end, and what it prints is shown. It can be looked at and removed.
func TestRun(t *testing.T) {
	w := newWorld(t, "echo hello; echo problem >&2", "a", "b")
	w.want(0, "run "+w.file, "| hello", "| problem", "a: Complete", "images are not pulled", "times are in the zone")
	w.want(0, "status", "Complete")
	w.want(0, "logs a", "hello\n", "problem\n")
	w.want(0, "run "+w.file) // nothing is left to do
	w.want(2, "run", "nothing to run: no FILE is given")
	w.want(2, "run --until 1h", "no CronJob is to run")
	w.want(2, "run --until 1h "+w.file, "no CronJob is to run")
	w.want(2, "run "+w.file+" "+w.file, "duplicate name: the job at ")
	w.want(2, "run --contain well "+w.file, `--contain: "well": must be auto`)
	w.want(0, "rm a", "job a removed\n")
	w.want(2, "rm a", `"a": not found`)
	w.want(2, "status a", `"a": not found`)
	w.want(0, "status b", "Complete")
	if left, err := os.ReadDir(filepath.Join(w.dir, "pods")); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestRun_Failed: the status says that a job has failed, and the report says why.
func TestRun_Failed(t *testing.T) {
	w := newWorld(t, "echo last; exit 7", "a")
	w.want(exitFailed, "run -q "+w.file, "ended with exit status 7", "| last", "batchrun logs a --pod a-", "--state "+w.dir)
	w.want(0, "status", "7     Failed: BackoffLimitExceeded")
	w.want(0, "logs a -f", "| last\n")
	w.want(0, "rm a", "job a removed")

	// A pod has run that the database does not know.
	stray := filepath.Join(w.dir, "pods", "stray")
	must.OK(t, os.Mkdir(stray, 0o700))
	must.OK(t, os.WriteFile(filepath.Join(stray, "spec.json"), nil, 0o600))
	w.want(2, "run "+w.file, "state.db does not know 1 pod")
}

// TestRun_Interrupted: after SIGINT the job is suspended, and the next run resumes it. A job that is
// removed meanwhile is reported.
func TestRun_Interrupted(t *testing.T) {
	w := newWorld(t, "sleep 60", "a")
	status, text := w.meanwhile(func(*store.Store) { _ = syscall.Kill(os.Getpid(), syscall.SIGINT) }, "run", w.file)
	if status != exitInterrupted || !strings.Contains(text, "suspended; run again to resume") {
		t.Errorf("status %d\n%s", status, text)
	}
	w.want(0, "status", "Suspended")

	status, text = w.meanwhile(func(s *store.Store) {
		j, err := s.FindJob("a")
		if err == nil && j.Held {
			t.Error("the job is held, and its pods run")
		}
		_, err = s.DeleteJob(j.UID, time.Now())
		if err != nil {
			t.Error(err)
		}
	}, "run", "-o", "json", "--parallel", "1")
	if status != exitFailed || !strings.Contains(text, "job a: removed") {
		t.Errorf("status %d\n%s", status, text)
	}
	w.want(0, "status", "JOB  AGE")
}

// TestRun_Cron: a CronJob runs on the clock of the folder, until as many runs have ended as were
// asked for, or until a time.
func TestRun_Cron(t *testing.T) {
	w := newWorld(t, "")
	must.OK(t, os.WriteFile(w.file, []byte(`apiVersion: batch/v1
kind: CronJob
metadata: {name: c}
spec:
  schedule: "*/10 * * * *"
  successfulJobsHistoryLimit: 99
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: main, command: [echo, "on time"]}]
`), 0o600))
	w.want(2, "run --runs -1 "+w.file, "--runs: -1")
	w.want(0, "run --speed 3000 --runs 2 "+w.file, "--runs is reached: no more runs start", "| on time", "at 3000 times")
	s, err := store.Open(w.dir)
	must.OK(t, err)
	_, seen, err := s.Clock()
	must.OK(t, err)
	if ahead := time.Until(seen); ahead < 10*time.Minute {
		t.Errorf("the clock is at %v", seen)
	}
	jobs, err := s.Jobs()
	if err != nil || len(jobs) < 2 { // more may start before the second has ended
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
	for i := range jobs {
		run := jobs[i].ScheduledTime
		if run.IsZero() || !run.Equal(run.Truncate(10*time.Minute)) || jobs[i].Created.Before(run) {
			t.Errorf("%s is for %v, and was created at %v", jobs[i].Name, run, jobs[i].Created)
		}
	}
	must.OK(t, s.Close())

	w.want(0, "trigger c", "requested job c-manual-1", "no runner uses the state folder")
	w.want(0, "run --speed 3000 --until 25m", "--until is reached: no more runs start", "c-manual-1")
	w.want(0, "rm c", "job c-manual-1 removed", "CronJob c removed")
	w.want(0, "status", "JOB  AGE")
}

// screen keeps what is printed while it is read.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *screen) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(data)
}

// await waits until a text is printed.
func (s *screen) await(t *testing.T, text string) {
	t.Helper()
	for range 6000 {
		s.mu.Lock()
		isThere := strings.Contains(s.text.String(), text)
		s.mu.Unlock()
		if isThere {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%q is not printed within a minute", text)
}

// TestRun_Follow: run and logs -f print lines as they come. Both end when the job is removed.
func TestRun_Follow(t *testing.T) {
	w := newWorld(t, "echo hello; sleep 0.5; echo bye; sleep 60", "a")
	start := func(to *screen, args ...string) <-chan int {
		status := make(chan int, 1)
		go func() { status <- Main(append(args, "--state", w.dir), nil, to, to) }()
		return status
	}
	var shown, followed screen
	runs := start(&shown, "run", w.file)
	shown.await(t, "| hello")
	follows := start(&followed, "logs", "a", "-f")
	followed.await(t, "| bye")
	shown.await(t, "| bye")

	s, err := store.Open(w.dir)
	must.OK(t, err)
	defer s.Close()
	j, err := s.FindJob("a")
	must.OK(t, err)
	_, err = s.DeleteJob(j.UID, time.Now())
	must.OK(t, err)
	if status := <-follows; status != 0 {
		t.Errorf("logs: status %d\n%s", status, followed.text.String())
	}
	if status := <-runs; status != exitFailed {
		t.Errorf("run: status %d\n%s", status, shown.text.String())
	}
}
