package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
)

// The size of the input of TestScale. With -jobs 10000 -pods 5 the file has about 200 MB.
var (
	scaleJobs = flag.Int("jobs", 200, "number of Jobs of the scale test")
	scalePods = flag.Int("pods", 5, "number of pods of each")
	scaleSeed = flag.Uint64("seed", 1, "seed of the scale test")
)

// TestScale explains a large file as kubectl prints it, in a process of its own, and reports
// how much processor time and memory that took.
func TestScale(t *testing.T) {
	file := filepath.Join(t.TempDir(), "large.json")
	size := generate(t, file, *scaleJobs, *scalePods, *scaleSeed)
	program, err := os.Executable()
	must.OK(t, err)
	cmd := exec.Command(program, at, "--progress", "--details", file)
	cmd.Env = append(os.Environ(), asCommand+"=1", "PWD=")
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	before := time.Now()
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != exitFindings {
		t.Fatalf("%v: %s", err, errOut.String())
	}
	took := time.Since(before)
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("no usage")
	}
	busy, memory := cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), usage.Maxrss>>10
	t.Logf("%d jobs, %d pods, %d MB: %v of processor time, %v on the clock, at most %d MB resident",
		*scaleJobs, *scaleJobs**scalePods, size>>20, busy.Round(time.Millisecond), took.Round(time.Millisecond), memory)
	if n := bytes.Count(out.Bytes(), []byte("\nJob ")); n != *scaleJobs {
		t.Errorf("%d of %d jobs are explained", n, *scaleJobs)
	}
	if busy > 20*time.Second || memory > 1<<10 {
		t.Errorf("%v of processor time and %d MB", busy, memory)
	}
}

// asCommand is the variable that makes the test program the command.
const asCommand = "EXPLAIN_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(Main(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr, time.Now))
	}
	os.Exit(m.Run())
}

// generate writes a List of Jobs with their pods, indented as kubectl does, and returns its
// size.
func generate(t *testing.T, file string, jobs, pods int, seed uint64) int64 {
	t.Helper()
	f, err := os.Create(file)
	must.OK(t, err)
	defer f.Close()
	r := rand.New(rand.NewPCG(seed, 0))
	var b bytes.Buffer
	b.WriteString("{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n")
	for i := range jobs {
		generateJob(&b, r, i, pods)
		if i < jobs-1 {
			b.WriteString(",\n")
		}
		if b.Len() > 1<<20 {
			if _, err := b.WriteTo(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.WriteString("\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n")
	if _, err := b.WriteTo(f); err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	must.OK(t, err)
	return info.Size()
}

const (
	largeJob = `        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"creationTimestamp": "2026-10-14T08:00:00Z", "name": "job-%[1]d", "namespace": "default",
            "labels": {"batch.kubernetes.io/job-name": "job-%[1]d"}, "resourceVersion": "%[1]d", "uid": "00000000-0000-0000-0000-%012[1]d"},
            "spec": {"backoffLimit": 6, "completions": 10, "parallelism": 5, "selector": {"matchLabels": {"batch.kubernetes.io/job-name": "job-%[1]d"}},
            "template": {"spec": {"containers": [{"name": "main", "image": "busybox"}], "restartPolicy": "Never"}}},
            "status": {"active": %[2]d, "failed": %[3]d, "startTime": "2026-10-14T08:00:00Z", "ready": %[2]d, "terminating": 0, "uncountedTerminatedPods": {}}}`
	// filler has other fields of a pod, so that pods have their usual size.
	filler = `            "tolerations": [{"effect": "NoExecute", "key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 300}],`
)

func generateJob(b *bytes.Buffer, r *rand.Rand, i, pods int) {
	var failed int
	codes := make([]int, pods)
	for p := range codes {
		if r.IntN(3) == 0 {
			codes[p] = 1 + r.IntN(200)
			failed++
		}
	}
	fmt.Fprintf(b, largeJob, i, pods-failed, failed)
	for p, code := range codes {
		b.WriteString(",\n")
		phase, state := "Running", `"running": {"startedAt": "2026-10-14T08:10:00Z"}`
		if code > 0 {
			phase, state = "Failed", fmt.Sprintf(`"terminated": {"exitCode": %d, "reason": "Error", "finishedAt": "2026-10-14T08:20:00Z"}`, code)
		}
		fmt.Fprintf(b, `        {"apiVersion": "v1", "kind": "Pod", "metadata": {"creationTimestamp": "2026-10-14T08:%02[5]d:00Z", "name": "job-%[1]d-%[2]d", "namespace": "default",
            "labels": {"batch.kubernetes.io/job-name": "job-%[1]d"}, "uid": "10000000-0000-0000-0000-%06[1]d%06[2]d",
            "ownerReferences": [{"apiVersion": "batch/v1", "controller": true, "kind": "Job", "name": "job-%[1]d", "uid": "00000000-0000-0000-0000-%012[1]d"}]},
            "spec": {"nodeName": "node-%[2]d", "containers": [{"name": "main", "image": "busybox", "env": [{"name": "A", "value": "%[6]s"}]}],
%[7]s
            "restartPolicy": "Never"},
            "status": {"phase": "%[3]s", "startTime": "2026-10-14T08:10:00Z", "conditions": [{"type": "Ready", "status": "%[8]s", "lastTransitionTime": "2026-10-14T08:10:00Z"}],
            "containerStatuses": [{"name": "main", "restartCount": 0, "state": {%[4]s}}]}}`,
			i, p, phase, state, p, strings.Repeat("x", 300), strings.Repeat(filler+"\n",
				17)+filler, map[bool]string{true: "False", false: "True"}[code > 0])
	}
}
