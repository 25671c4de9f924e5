package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The output of kubectl get -w -o json for a Job and its pod.
const (
	watchedJob = `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a", "namespace": "n", "uid": "job-a", "resourceVersion": "%d", "creationTimestamp": "2026-10-14T09:13:00Z"},
		"spec": {"backoffLimit": 1, "completions": 1, "parallelism": 1, "selector": {"matchLabels": {"a": "b"}}, "template": {"spec": {"restartPolicy": "Never"}}},
		"status": {"startTime": "2026-10-14T09:13:00Z", "uncountedTerminatedPods": {}, "ready": 0, "terminating": 0, "active": %d, "failed": %d}}` + "\n"
	watchedPod = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a-x", "namespace": "n", "uid": "pod-x", "resourceVersion": "%d", "creationTimestamp": "2026-10-14T09:13:10Z",
		"labels": {"a": "b"}, "finalizers": ["batch.kubernetes.io/job-tracking"], "ownerReferences": [{"apiVersion": "batch/v1", "controller": true, "kind": "Job", "name": "a", "uid": "job-a"}]},
		"spec": {"nodeName": "node-1"}, "status": {"phase": "%s", "startTime": "2026-10-14T09:13:20Z", "containerStatuses": [{"name": "main", "restartCount": 0, "state": {%s}}]}}` + "\n"
	terminated = `"terminated": {"exitCode": 3, "reason": "Error", "finishedAt": "2026-10-14T09:14:02Z"}`
)

// follow runs the command in virtual time from 09:14. The inputs arrive one after the other.
func follow(t *testing.T, inputs []string, pause time.Duration, args ...string) (status int, out, errOut string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		in, to := io.Pipe()
		go func() {
			for _, text := range inputs {
				_, _ = io.WriteString(to, text)
				time.Sleep(pause)
			}
			to.Close()
		}()
		start := time.Now()
		now := func() time.Time { return time.Date(2026, 10, 14, 9, 14, 0, 0, time.UTC).Add(time.Since(start)) }
		var o, e bytes.Buffer
		status = Main(context.Background(), append([]string{"explain", "--follow"}, args...), in, &o, &e, now)
		out, errOut = o.String(), e.String()
	})
	return status, out, errOut
}

var watchedLife = []string{
	fmt.Sprintf(watchedJob, 1, 1, 0), fmt.Sprintf(watchedPod, 2, "Running", `"running": {}`),
	fmt.Sprintf(watchedPod, 3, "Failed", terminated), fmt.Sprintf(watchedJob, 4, 0, 1),
	`{"type": "DELETED", "object": ` + strings.TrimSpace(fmt.Sprintf(watchedJob, 5, 0, 1)) + "}\n",
}

// TestFollow: each change is explained when it arrives, and the explanation shows what is new.
func TestFollow(t *testing.T) {
	status, out, errOut := follow(t, watchedLife, 10*time.Second)
	parts := strings.Split(out, "\n\n")
	want := [][]string{
		{"09:14:00 Job n/a", "(Job n/a)"},
		{"09:14:10 Job n/a  running", "(Pod n/a-x)", "pod a-x: Runs for 51s"},
		{"09:14:20 Job n/a", "pod a-x: Failed at 09:14:02", "exit code 3"},
		{"09:14:30 Job n/a", "(Job n/a)"},
		{"09:14:40 Job n/a  is gone"},
	}
	if len(parts) != len(want) {
		t.Fatalf("%d parts, want %d:\n%s", len(parts), len(want), out)
	}
	for i, texts := range want {
		for _, text := range texts {
			if !strings.Contains(parts[i], text) {
				t.Errorf("part %d has no %q:\n%s", i, text, parts[i])
			}
		}
	}
	if status != exitFine || errOut != "" {
		t.Errorf("status %d, %s", status, errOut)
	}
}

// TestFollow_Event: an event about a pod concerns the pod's Job.
func TestFollow_Event(t *testing.T) {
	_, out, _ := follow(t, append(watchedLife[:2:2], `{"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": "n", "uid": "e"}, "involvedObject": {"kind": "Pod", "namespace": "n", "name": "a-x", "uid": "pod-x"},
		"type": "Warning", "reason": "Unhealthy", "message": "m", "count": 1, "lastTimestamp": "2026-10-14T09:14:15Z"}`), 10*time.Second)
	if parts := strings.Split(out, "\n\n"); len(parts) != 3 || !strings.Contains(parts[2], "09:14:20 Job n/a") ||
		!strings.Contains(parts[2], "(Event Unhealthy") {
		t.Errorf("got %s", out)
	}
}

// TestFollow_Together: changes that arrive together are explained once. Changes that never pause
// are explained now and then.
func TestFollow_Together(t *testing.T) {
	_, out, _ := follow(t, watchedLife[:4], 0)
	if n := strings.Count(out, "Job n/a  "); n != 1 {
		t.Errorf("%d explanations of what came together:\n%s", n, out)
	}
	var busy []string
	for i := range 100 {
		busy = append(busy, fmt.Sprintf(watchedJob, i, 1, 0))
	}
	_, out, _ = follow(t, busy, 100*time.Millisecond)
	if n := strings.Count(out, "Job n/a  "); n < 4 || n > 8 { // in ten seconds
		t.Errorf("%d explanations of what never pauses", n)
	}
}

// TestFollow_CronJob: a change of a Job concerns its CronJob. If there are findings, the exit
// status at the end shows it.
func TestFollow_CronJob(t *testing.T) {
	cron := `{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c", "namespace": "n", "uid": "cron-c", "creationTimestamp": "2026-10-14T08:55:00Z"},
		"spec": {"schedule": "*/10 * * * *", "concurrencyPolicy": "Forbid", "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never"}}}}},
		"status": {"lastScheduleTime": "2026-10-14T09:00:00Z", "active": [{"kind": "Job", "name": "c-29865660", "namespace": "n", "uid": "job-c"}]}}` + "\n"
	child := `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "c-29865660", "namespace": "n", "uid": "job-c", "creationTimestamp": "2026-10-14T09:00:00Z",
		"annotations": {"batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-10-14T09:00:00Z"},
		"ownerReferences": [{"apiVersion": "batch/v1", "controller": true, "kind": "CronJob", "name": "c", "uid": "cron-c"}]},
		"spec": {"template": {"spec": {"restartPolicy": "Never"}}}, "status": {"startTime": "2026-10-14T09:00:00Z"}}` + "\n"
	status, out, errOut := follow(t, []string{cron, child}, time.Second)
	for _, want := range []string{"CronJob n/c  held  (Job n/c-29865660)", "warning RunHeld"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if n := strings.Count(out, " CronJob n/c  "); n != 2 {
		t.Errorf("%d explanations of the CronJob", n)
	}
	if status != exitFindings || errOut != "" {
		t.Errorf("status %d, %s", status, errOut)
	}
}

// TestFollow_Manifest: the manifest of a Job is explained again when that Job or its pods change, and when
// the Job is gone.
func TestFollow_Manifest(t *testing.T) {
	const bare, whole = `{"restartPolicy": "Never"}`, `{"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]}`
	manifest := `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a", "namespace": "n"},
		"spec": {"backoffLimit": 1, "completions": 1, "parallelism": 2, "template": {"spec": ` + whole + `}}}` + "\n"
	inputs := []string{manifest + strings.Replace(manifest, `"name": "a"`, `"name": "b"`, 1)}
	for _, text := range watchedLife {
		inputs = append(inputs, strings.Replace(text, bare, whole, 1))
	}
	_, out, errOut := follow(t, inputs, 10*time.Second)
	const is = "A manifest of the Job in the cluster"
	for _, want := range []string{
		"09:14:00 Job n/a  starting", "09:14:00 Job n/b  starting",
		"09:14:10 Job n/a  running  (Job n/a)\n  " + is, "note AppliesToExisting",
		"09:14:20 Job n/a  running  (Pod n/a-x)\n  " + is,
		"09:14:50 Job n/a  starting  (Job n/a is gone)", "no longer AppliesToExisting",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if n := strings.Count(out, " Job n/b  "); n != 1 || errOut != "" {
		t.Errorf("%d explanations of what did not change, %s\n%s", n, errOut, out)
	}
}

// TestFollow_JSON: each line is a report.
func TestFollow_JSON(t *testing.T) {
	_, out, _ := follow(t, watchedLife, time.Second, "--output=json")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for _, line := range lines {
		var report struct {
			SchemaVersion int
			At            time.Time
			Objects       []struct{ Name, Summary string }
		}
		if err := json.Unmarshal([]byte(line), &report); err != nil || report.SchemaVersion != 1 ||
			len(report.Objects) != 1 || report.Objects[0].Name != "a" {
			t.Errorf("%v: %s", err, line)
		}
	}
	if len(lines) != 4 {
		t.Errorf("%d lines", len(lines))
	}
}

// TestFollow_BadInput: a part that cannot be read is reported, and the rest is explained.
func TestFollow_BadInput(t *testing.T) {
	bad := `{"apiVersion": "batch/v1beta1", "kind": "CronJob", "metadata": {"name": "old"}}` + "\n"
	status, out, errOut := follow(t, append([]string{bad}, watchedLife[:2]...), time.Second)
	if status != exitBadInput || !strings.Contains(errOut, "standard input:1: apiVersion") ||
		strings.Count(errOut, "batchwhy:") != 1 || !strings.Contains(out, "Runs for") {
		t.Errorf("status %d\n%s\n%s", status, errOut, out)
	}
	if status, _, errOut := run(t, "", "explain", "--follow", at); status != exitBadInput ||
		!strings.Contains(errOut, "leave out --at") {
		t.Errorf("status %d, %s", status, errOut)
	}
}
