//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
)

// sleepers is a job whose pods run until they get SIGTERM, and then write a line "asked". They end
// after ten minutes at the latest. So a test that is killed leaves no process for longer.
const sleepers = `
apiVersion: batch/v1
kind: Job
metadata: {name: sleepers}
spec:
  completions: 3
  parallelism: 3
  completionMode: Indexed
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 30
      containers:
      - name: main
        image: none
        command: [sh, -c, '
          trap "echo asked $JOB_COMPLETION_INDEX >> TRACES/lives; STOP" TERM;
          echo begin $JOB_COMPLETION_INDEX >> TRACES/lives;
          while [ ! -e TRACES/finish ] && [ $((n += 1)) -lt 12000 ]; do sleep 0.05; done']
`

// waitFor waits until a trace has n lines that begin with a word.
func (w *world) waitFor(name, word string, n int) {
	w.t.Helper()
	for range 4800 { // two minutes, for machines that are busy with something else
		have := 0
		for _, words := range w.trace(name) {
			if words[0] == word {
				have++
			}
		}
		if have >= n {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	w.t.Fatalf("%s: no %d lines %q: %v", name, n, word, w.trace(name))
}

// Ctrl-C suspends a job. No failure is counted, and the next run resumes the job (J28, J39).
func TestInterruptSuspends(t *testing.T) {
	w := newWorld(t)
	file := w.manifest(strings.ReplaceAll(sleepers, "STOP", "exit 143"))
	cmd := w.command("run", file)
	must.OK(t, cmd.Start())
	w.waitFor("lives", "begin", 3)
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("want exit status 130, have %d", code)
	}
	w.waitFor("lives", "asked", 3)
	j, _ := w.job("sleepers")
	if c := j.Status.Condition(job.ConditionSuspended); c.Status != job.ConditionTrue || j.Status.Failed != 0 ||
		j.Status.Active != 0 {
		t.Errorf("after Ctrl-C: %v", j.Status)
	}
	must.OK(t, os.WriteFile(filepath.Join(w.traces, "finish"), nil, 0o644))
	w.want(0, "run")
	j, _ = w.job("sleepers")
	if j.Status.Succeeded != 3 || j.Status.Failed != 0 {
		t.Errorf("after the second run: %v", j.Status)
	}
}

// A resumed job gets the mounts of its manifest.
func TestMountsAfterInterrupt(t *testing.T) {
	if _, err := pod.ProbeIsolation(t.TempDir()); err != nil {
		t.Skipf("no mounts of its own for a process here: %v", err)
	}
	w := newWorld(t)
	text := strings.ReplaceAll(sleepers, "STOP", "exit 143")
	text = strings.ReplaceAll(text, "command: [", `volumeMounts: [{name: v, mountPath: /batchplan-test}]
        command: [`)
	text = strings.ReplaceAll(text, "restartPolicy:", "volumes: [{name: v, emptyDir: {}}]\n      restartPolicy:")
	text = strings.ReplaceAll(text, "echo begin", "touch /batchplan-test/x && echo begin")
	cmd := w.command("run", w.manifest(text))
	must.OK(t, cmd.Start())
	w.waitFor("lives", "begin", 3)
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Wait()
	must.OK(t, os.WriteFile(filepath.Join(w.traces, "finish"), nil, 0o644))
	w.want(0, "run")
	w.waitFor("lives", "begin", 6)
}

func TestSuspendedByManifest(t *testing.T) {
	w := newWorld(t)
	text := strings.ReplaceAll(sleepers, "backoffLimit: 0", "suspend: true")
	if o := w.want(1, "run", w.manifest(text)); !strings.Contains(o.out, "sleepers: Suspended") {
		t.Error(o)
	}
	must.OK(t, os.WriteFile(filepath.Join(w.traces, "finish"), nil, 0o644))
	w.want(0, "run", w.manifest(strings.ReplaceAll(text, "suspend: true", "suspend: false")))
}

// A second Ctrl-C kills processes that ignore SIGTERM.
func TestSecondInterruptKills(t *testing.T) {
	w := newWorld(t)
	file := w.manifest(strings.ReplaceAll(sleepers, "STOP", "true"))
	cmd := w.command("run", file)
	must.OK(t, cmd.Start())
	w.waitFor("lives", "begin", 3)
	_ = cmd.Process.Signal(syscall.SIGINT)
	w.waitFor("lives", "asked", 3)
	begin := time.Now()
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Wait()
	if took := time.Since(begin); cmd.ProcessState.ExitCode() != 130 || took > underGrace {
		t.Errorf("exit status %d after %v", cmd.ProcessState.ExitCode(), took)
	}
	w.awaitNoPods()
	must.OK(t, os.WriteFile(filepath.Join(w.traces, "finish"), nil, 0o644))
	w.want(0, "run", file)
	if j, _ := w.job("sleepers"); j.Status.Failed != 0 || j.Status.Succeeded != 3 {
		t.Errorf("after the second run: %v", j.Status)
	}
}

// underGrace is less than the grace period of sleepers, and enough for a busy machine.
const underGrace = 25 * time.Second

// awaitNoPods waits until no process of a pod is left, which must take less than a grace period.
func (w *world) awaitNoPods() {
	w.t.Helper()
	begin := time.Now()
	for _, folder := range w.folders() {
		for {
			if alive, err := folder.Alive(); err != nil {
				w.t.Fatal(err)
			} else if !alive {
				break
			}
			if time.Since(begin) > underGrace {
				w.t.Fatalf("%s: its processes go on", folder)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// If nothing else is left to run, Ctrl-C also kills the pods of a job that is being removed.
func TestInterruptWhileRemoving(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cmd := w.command("run", w.manifest(strings.ReplaceAll(sleepers, "STOP", "true")))
	errOut := &lockedBuffer{}
	cmd.Stderr = errOut
	must.OK(t, cmd.Start())
	w.waitFor("lives", "begin", 3)
	removed := w.start("rm", "sleepers")
	w.waitFor("lives", "asked", 3)
	awaitText(t, errOut, "job sleepers: removed") // now only the collector works
	begin := time.Now()
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Wait()
	if code, took := cmd.ProcessState.ExitCode(), time.Since(begin); code != 130 || took > underGrace {
		t.Errorf("exit status %d after %v", code, took)
	}
	w.awaitNoPods()
	if code := removed(nil); code != 0 {
		t.Errorf("rm ends with %d", code)
	}
}

// If pods outlive a killed runner, the next runner finds them, and does not start them again.
func TestSurvivorsAreFound(t *testing.T) {
	w := newWorld(t)
	file := w.manifest(strings.ReplaceAll(sleepers, "STOP", "exit 143"))
	cmd := w.command("run", file)
	must.OK(t, cmd.Start())
	w.waitFor("lives", "begin", 3)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	must.OK(t, os.WriteFile(filepath.Join(w.traces, "finish"), nil, 0o644))
	w.want(0, "run", file)
	if n := len(w.trace("lives")); n != 3 {
		t.Errorf("want 3 lives, have %v", w.trace("lives"))
	}
}

// If the supervisor of a pod is killed, the pod has failed, is replaced, and leaves no process.
func TestSupervisorKilled(t *testing.T) {
	w := newWorld(t)
	text := strings.ReplaceAll(sleepers, "backoffLimit: 0", "backoffLimit: 5")
	cmd := w.command("run", "--backoff", "50ms", w.manifest(strings.ReplaceAll(text, "STOP", "exit 143")))
	must.OK(t, cmd.Start())
	w.waitFor("lives", "begin", 3)
	victim := w.folders()[0]
	pid, err := victim.Supervisor()
	if err != nil || pid == 0 {
		t.Fatalf("no supervisor: %d, %v", pid, err)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	w.waitFor("lives", "begin", 4)
	must.OK(t, os.WriteFile(filepath.Join(w.traces, "finish"), nil, 0o644))
	if err := cmd.Wait(); err != nil {
		t.Errorf("run: %v", err)
	}
	j, pods := w.job("sleepers")
	lost := 0
	for i := range pods {
		if s := &pods[i].State; s.Reason == pod.ReasonSupervisorLost && s.Phase == job.PodFailed &&
			s.Containers[0].ExitCode == 137 {
			lost++
		}
	}
	if j.Status.Failed != 1 || j.Status.Succeeded != 3 || lost != 1 {
		t.Errorf("%d lost pods; %v", lost, j.Status)
	}
}

func TestOneRunnerAtATime(t *testing.T) {
	w := newWorld(t)
	file := w.manifest(strings.ReplaceAll(sleepers, "STOP", "exit 0"))
	cmd := w.command("run", file)
	must.OK(t, cmd.Start())
	w.waitFor("lives", "begin", 3)
	if o := w.want(2, "run", file); !strings.Contains(o.errOut, "another runner is using it") {
		t.Error(o)
	}
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Wait()
}

// Pods that have begun are asked to end at the deadline. A busy machine may need more than a
// second to begin them.
func TestDeadline(t *testing.T) {
	for _, seconds := range []string{"1", "5", "30"} {
		w := newWorld(t)
		text := strings.ReplaceAll(sleepers, "backoffLimit: 0", "activeDeadlineSeconds: "+seconds)
		o := w.want(1, "run", w.manifest(strings.ReplaceAll(text, "STOP", "exit 1")))
		if !strings.Contains(o.out, "DeadlineExceeded") {
			t.Error(o)
		}
		begun, asked := 0, 0
		for _, words := range w.trace("lives") {
			if words[0] == "begin" {
				begun++
			} else {
				asked++
			}
		}
		if asked != begun {
			t.Errorf("%d of %d pods were asked to end", asked, begun)
		}
		if begun == 3 {
			return
		}
	}
	t.Error("three pods do not begin within 30 s")
}

func TestOutputJSON(t *testing.T) {
	w := newWorld(t)
	o := w.want(1, "run", "-o", "json", "testdata/mixed.yaml")
	ends := map[string]string{}
	scanner := bufio.NewScanner(strings.NewReader(o.out))
	for scanner.Scan() {
		var line struct{ Type, Job, Result string }
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			t.Fatalf("%v in %s", err, scanner.Text())
		}
		if line.Type == "end" {
			ends[line.Job] = line.Result
		}
	}
	if len(ends) != 2 || ends["good"] != "Complete" || ends["other/bad"] != "Failed" {
		t.Errorf("ends %v\n%v", ends, o)
	}
}

// Under "go run -C", relative paths start in the user's folder.
func TestRelativePaths(t *testing.T) {
	if !strings.Contains(os.Args[0], "go-build") {
		t.Skip("the test binary is not where go run puts programs")
	}
	w := newWorld(t)
	data, err := os.ReadFile("testdata/good.json")
	must.OK(t, err)
	must.OK(t, os.WriteFile(filepath.Join(w.traces, "here.json"), data, 0o644))
	for _, file := range []string{"here.json", "testdata/good.json"} {
		cmd := w.command("run", "--state", "state", file)
		cmd.Env = append(cmd.Env, "PWD="+w.traces)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
	if _, err := os.Stat(filepath.Join(w.traces, "state", "state.db")); err != nil {
		t.Error(err)
	}
}

func TestStatusLogsRemove(t *testing.T) {
	w := newWorld(t)
	w.want(2, "status")
	w.want(1, "run", "testdata/mixed.yaml")
	if o := w.want(0, "status"); !strings.Contains(o.out, "BackoffLimitExceeded") || !strings.Contains(o.out, "2/2") {
		t.Error(o)
	}
	if o := w.want(0, "status", "good"); !strings.Contains(o.out, "first=0 main=0") {
		t.Error(o)
	}
	if o := w.want(0, "logs", "good", "--index", "1", "-c", "main"); o.out != "index 1 of good\n" || o.errOut != "" {
		t.Error(o)
	}
	w.want(2, "logs", "good", "--index", "7")
	if o := w.want(2, "logs", "good", "-c", "none"); !strings.HasSuffix(o.errOut, "no pod has a container \"none\"\n") {
		t.Error(o)
	}
	w.want(0, "run", "testdata/good.json") // the same job has finished: nothing runs again
	if o := w.want(2, "run", "testdata/changed.yaml"); !strings.Contains(o.errOut, "spec.template") {
		t.Error(o)
	}
	w.want(0, "rm", "good")
	w.want(2, "status", "good")
	w.want(0, "rm", "other/bad")
	if left := w.folders(); len(left) != 0 {
		t.Errorf("folders left: %v", left)
	}
}

// The manifests of the documentation, including broken ones.
func TestSharedManifests(t *testing.T) {
	const dir = "../../../../shared/manifests"
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no %s: %v", dir, err)
	}
	for _, test := range []struct {
		file string
		code int
		want string
	}{
		{"job.yaml", 0, "pi: Complete"},
		{"indexed-job.yaml", 0, "succeeded 5/5, failed 0"},
		{"job-sidecar.yaml", 0, "myjob: Complete"},
		{"job-backoff-limit-per-index-example.yaml", 1, "succeeded 5/10, failed 10, failed indexes 0,2,4,6,8"},
		{"job-backoff-limit-per-index-failindex.yaml", 1, "failed indexes 0,1"},
		{"job-pod-failure-policy-config-issue.yaml", 2, ":12:9: spec.template.spec.containers[0].command: is required"},
		{"job-pod-failure-policy-ignore.yaml", 2, ":24:1: indented with a tab"},
		{"cronjob.yaml", 2, `:1: apiVersion: "batch/v1beta1" of CronJob hello is not supported; expected "batch/v1"`},
	} {
		t.Run(test.file, func(t *testing.T) {
			t.Parallel()
			o := newWorld(t).want(test.code, "run", "--backoff", "100ms", filepath.Join(dir, test.file))
			if !strings.Contains(o.out+o.errOut, test.want) {
				t.Errorf("no %q in %v", test.want, o)
			}
		})
	}
}
