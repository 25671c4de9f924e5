//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"github.com/batchplan/batchplan/internal/must"
)

// talker prints its argument, and exits with a status.
const talker = `
apiVersion: batch/v1
kind: Job
metadata: {name: talker}
spec:
  completions: 2
  parallelism: 2
  completionMode: Indexed
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: none
        command: [sh, -c, 'i=$JOB_COMPLETION_INDEX; echo out $i; echo err $i >&2; echo begin $i >> TRACES/lives; SCRIPT']
`

func talking(script string) string { return strings.Replace(talker, "SCRIPT", script, 1) }

// While a job runs, the output of its pods is shown. With -f only the output of one pod is shown,
// and with -q none.
func TestRunShowsLogs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args       []string
		have, miss string
	}{
		{nil, " | out 1\n", "never"},
		{nil, " | err 0\n", "never"},
		{[]string{"-f", "talker-1"}, "\nout 1\n", "out 0"},
		{[]string{"-q"}, "talker: Complete", "out 1"},
		{[]string{"-o", "json"}, `"result":"Complete"`, "out 1"},
	} {
		w := newWorld(t)
		o := w.want(0, append([]string{"run", w.manifest(talking("exit 0"))}, test.args...)...)
		if !strings.Contains("\n"+o.out, test.have) || strings.Contains(o.out, test.miss) {
			t.Errorf("%v: want %q and no %q: %v", test.args, test.have, test.miss, o)
		}
	}
	w := newWorld(t)
	if o := w.want(2, "run", "-q", "-f", "x", w.manifest(talker)); !strings.Contains(o.errOut, "--follow: cannot be combined") {
		t.Error(o)
	}
}

// If a job has failed, the command shows its exit status, the last output of its last failed pod,
// and commands to type.
func TestRunSaysWhyItFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.want(1, "run", "-q", w.manifest(talking("seq 1 30 >&2; exit 9")))
	for _, text := range []string{", container main, ended with exit status 9; its last lines:\n    | 21\n", "    | 30\n  next: batchrun logs talker --pod talker-",
		"batchrun rm talker --state "} {
		if !strings.Contains(o.out, text) {
			t.Errorf("no %q in %v", text, o)
		}
	}
	if strings.Contains(o.out, "| 20\n") {
		t.Errorf("more than ten lines: %v", o)
	}
	if o := w.want(0, "status"); !strings.Contains(o.out, "  9     Failed: BackoffLimitExceeded") {
		t.Error(o)
	}
}

// logs -f prints lines as they are written, and ends with the job.
func TestFollowLogs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := w.start("run", "-q", w.manifest(talking("while [ ! -e TRACES/finish ]; do sleep 0.05; done; echo late $i")))
	w.waitFor("lives", "begin", 2)
	cmd := w.command("logs", "talker", "-f")
	var out, errOut lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	one := w.command("logs", "talker", "-f", "--index", "1")
	var oneOut lockedBuffer
	one.Stdout = &oneOut
	must.OK(t, cmd.Start())
	must.OK(t, one.Start())
	awaitText(t, &oneOut, "out 1\n") // the pod has not ended yet
	must.OK(t, os.WriteFile(filepath.Join(w.traces, "finish"), nil, 0o644))
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), " | out 0\n") ||
		!strings.Contains(out.String(), " | late 0\n") || !strings.Contains(out.String(), " | late 1\n") {
		t.Errorf("%v: %q, %q", err, out.String(), errOut.String())
	}
	if err := one.Wait(); err != nil || oneOut.String() != "out 1\nlate 1\n" {
		t.Errorf("%v: %q", err, oneOut.String())
	}
	if code := stop(nil); code != 0 {
		t.Errorf("exit status %d", code)
	}
	if o := w.want(0, "logs", "talker", "--tail", "1", "--index", "0", "-c", "main"); o.out != "late 0\n" ||
		o.errOut != "err 0\n" {
		t.Error(o)
	}
	if o := w.want(0, "logs", "talker", "--since", "1h", "--index", "0", "-c", "main"); o.out != "out 0\nlate 0\n" {
		t.Error(o)
	}
	w.want(2, "logs", "talker", "--since", "soon")
	w.want(2, "logs", "talker", "--tail", "-2")
	w.want(2, "logs", "talker", "-f", "-c", "none")
	w.want(2, "logs", "talker", "-f", "--pod", "none")
}

// If a runner was killed and its pods have ended, logs -f reports that no more lines come.
func TestFollowLogsWithoutRunner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(1, "run", "-q", w.manifest(strings.Replace(talker, "backoffLimit: 0", "suspend: true", 1)))
	if o := w.want(0, "logs", "talker", "-f"); !strings.Contains(o.errOut, "no runner is there and no pod runs; batchrun run --state ") {
		t.Error(o)
	}
}

// The lines of status fit 100 columns.
func TestStatusFits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	name := strings.Repeat("name-", 12) + "x"
	text := strings.Replace(talking("exit 9"), "name: talker", "name: "+name,
		1) + "---" + tickWith("timeZone: America/Argentina/ComodRivadavia", "0")
	w.want(1, "run", "-q", "--speed", "600", "--runs", "1", w.manifest(text))
	for _, args := range [][]string{{"status"}, {"status", name}, {"status", "tick"}} {
		o := w.want(0, args...)
		for line := range strings.Lines(o.out) {
			if n := runewidth.StringWidth(strings.TrimRight(line, "\n")); n > 100 {
				t.Errorf("%v: %d columns: %s", args[:1], n, line)
			}
		}
	}
	if o := w.want(0, "status", "-o", "wide"); !strings.Contains(o.out, name) {
		t.Error(o)
	}
	w.want(2, "status", "-o", "yaml")
}
