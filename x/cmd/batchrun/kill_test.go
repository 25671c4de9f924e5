//go:build linux

package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// wantKills is the number of kills in TestRunnerKilledAtRandom.
const wantKills = 60

// killJobs are two jobs whose pods write lines "begin UID INDEX" and "end UID INDEX CODE".
// Every fifth index fails at first, and so do four pods of the other job.
const killJobs = `
apiVersion: batch/v1
kind: Job
metadata: {name: indexed}
spec:
  completions: 40
  parallelism: 5
  completionMode: Indexed
  backoffLimit: 1000
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      containers:
      - name: main
        image: none
        env:
        - {name: UID_OF_POD, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}
        command: [sh, -c, '
          i=$JOB_COMPLETION_INDEX; code=0;
          echo begin $UID_OF_POD $i >> TRACES/indexed;
          sleep 0.$((i % 4 + 1));
          if [ $((i % 5)) = 0 ] && mkdir TRACES/failed-$i 2>/dev/null; then code=7; fi;
          echo end $UID_OF_POD $i $code >> TRACES/indexed; exit $code']
---
apiVersion: batch/v1
kind: Job
metadata: {name: counted}
spec:
  completions: 30
  parallelism: 4
  backoffLimit: 1000
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      containers:
      - name: main
        image: none
        env:
        - {name: UID_OF_POD, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}
        command: [sh, -c, '
          code=0;
          echo begin $UID_OF_POD -1 >> TRACES/counted;
          sleep 0.2;
          for n in 1 2 3 4; do if mkdir TRACES/counted-$n 2>/dev/null; then code=$((n + 20)); break; fi; done;
          echo end $UID_OF_POD -1 $code >> TRACES/counted; exit $code']
`

// A runner is killed again and again, at any moment. It counts no pod twice, runs no finished index
// again, and loses no exit code.
func TestRunnerKilledAtRandom(t *testing.T) {
	kills, begin := 0, time.Now()
	for kills < wantKills {
		w := newWorld(t)
		args := []string{"run", "-o", "json", "--backoff", "20ms", "--backoff-max", "100ms", w.manifest(killJobs)}
		for killed := true; killed; {
			cmd := w.command(args...)
			var errOut bytes.Buffer
			cmd.Stderr = &errOut
			must.OK(t, cmd.Start())
			if kills < wantKills {
				time.AfterFunc(rand.N(350*time.Millisecond), func() { _ = cmd.Process.Kill() })
			}
			_ = cmd.Wait()
			status := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if killed = status.Signaled(); killed {
				kills++
			} else if status.ExitStatus() != 0 {
				t.Fatalf("the last run ended with exit status %d\n%s%v", status.ExitStatus(), &errOut,
					w.call("status", "indexed"))
			}
		}
		checkCounts(t, w, "indexed", 40, 8)
		checkCounts(t, w, "counted", 30, 4)
	}
	t.Logf("%d kills in %v", kills, time.Since(begin).Round(time.Millisecond))
}

// A runner gets Ctrl-C, Ctrl-C twice, and SIGKILL in any order. No pod runs twice, only real
// failures are counted, and the jobs complete.
func TestRunnerStoppedAtRandom(t *testing.T) {
	w := newWorld(t)
	file := w.manifest(killJobs)
	for i := range 25 {
		cmd := w.command("run", "-o", "json", "--backoff", "20ms", "--backoff-max", "100ms", file)
		must.OK(t, cmd.Start())
		if i < 24 {
			time.Sleep(rand.N(500 * time.Millisecond))
			_ = cmd.Process.Signal([]os.Signal{os.Interrupt, os.Interrupt, os.Kill}[i%3])
			if i%3 == 1 {
				time.Sleep(rand.N(50 * time.Millisecond))
				_ = cmd.Process.Signal(os.Interrupt)
			}
		}
		_ = cmd.Wait()
	}
	for key, want := range map[string][2]int32{"indexed": {40, 8}, "counted": {30, 4}} {
		j, pods := w.job(key)
		if s := j.Status; s.Finished() != job.ConditionComplete || s.Succeeded != want[0] || s.Failed > want[1] {
			t.Errorf("%s: want Complete, %d succeeded, at most %d failed; have %v", key, want[0], want[1], s)
		}
		begun := map[string]bool{}
		for _, words := range w.trace(key) {
			if words[0] == "begin" && begun[words[1]] {
				t.Errorf("%s: pod %s ran twice", key, words[1])
			}
			begun[words[1]] = true
		}
		counted := int32(0)
		for i := range pods {
			if !pods[i].Gone {
				counted++
			}
		}
		if have := j.Status.Succeeded + j.Status.Failed; counted != have {
			t.Errorf("%s: %d pods are left, %d are counted", key, counted, have)
		}
	}
}

// checkCounts compares the traces of the pods with the counters of the job.
func checkCounts(t *testing.T, w *world, key string, succeeded, failed int32) {
	t.Helper()
	begun, codes, perIndex := map[job.UID]bool{}, map[job.UID]int32{}, map[string]int{}
	for _, words := range w.trace(key) {
		uid, index := job.UID(words[1]), words[2]
		if words[0] == "begin" {
			if begun[uid] {
				t.Errorf("%s: pod %s ran twice", key, uid)
			}
			if index != "-1" && perIndex[index] > 0 {
				t.Errorf("%s: index %s began again after it had succeeded", key, index)
			}
			begun[uid] = true
			continue
		}
		code, err := strconv.Atoi(words[3])
		must.OK(t, err)
		if codes[uid] = int32(code); code == 0 {
			perIndex[index]++
		}
	}
	j, pods := w.job(key)
	if j.Status.Finished() != job.ConditionComplete || j.Status.Succeeded != succeeded || j.Status.Failed != failed {
		t.Errorf("%s: want Complete with %d succeeded, %d failed; have %v", key, succeeded, failed, j.Status)
	}
	if len(begun) != int(succeeded+failed) || len(pods) != len(begun) {
		t.Errorf("%s: want %d pods; %d began, %d are stored", key, succeeded+failed, len(begun), len(pods))
	}
	for i := range pods {
		checkCode(t, &pods[i], codes)
	}
}

// checkCode checks that the stored exit code is the one with which the process has ended.
func checkCode(t *testing.T, p *store.Pod, codes map[job.UID]int32) {
	t.Helper()
	code, ended := codes[p.UID]
	if !ended || len(p.State.Containers) != 1 {
		t.Errorf("pod %s: ended %v, stored containers %d", p.Name, ended, len(p.State.Containers))
		return
	}
	if c := p.State.Containers[0]; c.State != jobpod.Terminated || c.ExitCode != code || p.Tracked {
		t.Errorf("pod %s: exit code %d is stored as %+v, tracked %v", p.Name, code, c, p.Tracked)
	}
}
