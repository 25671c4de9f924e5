//go:build linux

package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// wantCronKills is the number of kills in TestCronRunnerKilledAtRandom.
const wantCronKills = 30

// killCronJobs returns three CronJobs, one for each policy. Each job writes a line "begin JOB" and,
// unless it is replaced, a line "end JOB". A run is due every minute of the fast clock, which is
// every half second.
func killCronJobs() string {
	var all []string
	for _, c := range []struct{ policy, time string }{{"Allow", "0.2"}, {"Forbid", "0.7"}, {"Replace", "0.7"}} {
		text := tickWith("concurrencyPolicy: "+c.policy, c.time)
		text = strings.ReplaceAll(text, "TRACES/runs", "TRACES/"+strings.ToLower(c.policy))
		all = append(all, strings.Replace(text, "name: tick", "name: "+strings.ToLower(c.policy), 1))
	}
	return strings.Join(all, "---")
}

// A runner is killed again and again, at any moment. It starts each run and each trigger at most
// once, and in the end it knows the result of each.
func TestCronRunnerKilledAtRandom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, begin := w.manifest(killCronJobs()), time.Now()
	triggers := 0
	for kill := range wantCronKills {
		cmd := w.command("run", "--speed", "120", file)
		var errOut bytes.Buffer
		cmd.Stderr = &errOut
		must.OK(t, cmd.Start())
		time.Sleep(rand.N(600 * time.Millisecond))
		if kill%10 == 5 && w.call("trigger", "allow").code == 0 {
			triggers++
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if !cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
			t.Fatalf("the runner ended by itself:\n%s", &errOut)
		}
	}
	w.want(0, "run", "--speed", "120", "--runs", "3", file)
	t.Logf("%d kills in %v", wantCronKills, time.Since(begin).Round(time.Millisecond))
	for _, key := range []string{"allow", "forbid", "replace"} {
		w.checkRuns(key)
	}
	if pods := w.pods(); len(w.folders()) != pods {
		t.Errorf("%d folders are left of %d pods", len(w.folders()), pods)
	}
	manual := 0
	for _, words := range w.trace("allow") {
		if words[0] == "begin" && strings.HasPrefix(words[1], "allow-manual-") {
			manual++
		}
	}
	if manual != triggers {
		t.Errorf("%d triggers have started %d jobs", triggers, manual)
	}
}

// pods returns the number of pods in the state folder.
func (w *world) pods() (n int) {
	s, err := store.Open(w.state)
	must.OK(w.t, err)
	defer s.Close()
	jobs, err := s.Jobs()
	for i := range jobs {
		pods, podsErr := s.Pods(jobs[i].UID)
		n, err = n+len(pods), errors.Join(err, podsErr)
	}
	must.OK(w.t, err)
	return n
}

// checkRuns compares the traces of a CronJob's jobs with the state folder.
func (w *world) checkRuns(key string) {
	w.t.Helper()
	begun, ended := map[string]bool{}, map[string]bool{}
	var last string
	for _, words := range w.trace(key) {
		name := words[1]
		if words[0] == "end" {
			ended[name] = true
			continue
		}
		if begun[name] {
			w.t.Errorf("%s ran twice", name)
		}
		if begun[name] = true; !strings.Contains(name, "manual") {
			last = max(last, name)
		}
	}
	c, jobs := w.cronJob(key)
	// The number of runs depends on the speed of the machine.
	if run := (cronjob.Naming{}).JobName(key, c.Status.LastScheduleTime); run < last || len(begun) == 0 {
		w.t.Errorf("%s: the last of %d runs is %s, and the status says %s", key, len(begun), last, run)
	}
	if len(c.Status.Active) != 0 || len(jobs) == 0 || len(jobs) > 4 {
		w.t.Errorf("%s: %d jobs are left; %v", key, len(jobs), c.Status)
	}
	for i := range jobs {
		j := &jobs[i]
		if j.Status.Finished() != job.ConditionComplete || !ended[j.Name] {
			w.t.Errorf("%s: ended %v, stored as %v", j.Name, ended[j.Name], j.Status)
		}
	}
	lastRun := cronjob.Naming{}.JobName(key, c.Status.LastScheduleTime)
	if !slices.ContainsFunc(jobs, func(j store.Job) bool { return j.Name == lastRun }) {
		w.t.Errorf("%s: the last run, %s, is not in the history", key, lastRun)
	}
}
