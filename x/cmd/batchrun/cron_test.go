//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

// tick is a CronJob. Each of its jobs writes a line "begin JOB" and, unless it is stopped, a line
// "end JOB". TIME is replaced by the run time of a job, and MORE by more fields of the spec.
const tick = `
apiVersion: batch/v1
kind: CronJob
metadata: {name: tick}
spec:
  schedule: "* * * * *"
  MORE
  jobTemplate:
    spec:
      backoffLimit: 0
      template:
        spec:
          restartPolicy: Never
          terminationGracePeriodSeconds: 5
          containers:
          - name: main
            image: none
            env:
            - {name: JOB, valueFrom: {fieldRef: {fieldPath: "metadata.labels['job-name']"}}}
            command: [sh, -c, "echo begin $JOB >> TRACES/runs; sleep TIME; echo end $JOB >> TRACES/runs; echo $JOB"]
`

func tickWith(more, time string) string {
	return strings.NewReplacer("MORE", more, "TIME", time).Replace(tick)
}

// runs takes the lines of the trace "runs" that begin with a word, and returns the second word of
// each.
func (w *world) runs(word string) (names []string) {
	for _, words := range w.trace("runs") {
		if words[0] == word {
			names = append(names, words[1])
		}
	}
	return names
}

// cronJob reads a CronJob and its jobs from the state folder.
func (w *world) cronJob(key string) (store.CronJob, []store.Job) {
	w.t.Helper()
	s, err := store.Open(w.state)
	must.OK(w.t, err)
	defer s.Close()
	c, err := s.FindCronJob(key)
	must.OK(w.t, err)
	jobs, err := s.JobsOf(c.UID)
	must.OK(w.t, err)
	return c, jobs
}

// once checks that there are no duplicate names.
func once(t *testing.T, names []string) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(names))
	if len(slices.Compact(sorted)) != len(names) {
		t.Errorf("something ran twice: %v", names)
	}
}

// A schedule runs at 120 times the machine's speed. The test checks the runs, the history, and what
// the commands print afterwards.
func TestCronJobRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.want(0, "run", "--speed", "120", "--runs", "4", w.manifest(tickWith("successfulJobsHistoryLimit: 2", "0")))
	if !strings.Contains(o.out, "tick: SuccessfulCreate: Created job tick-") ||
		!strings.Contains(o.out, "next run at ") {
		t.Error(o)
	}
	ran := w.runs("end")
	once(t, w.runs("begin"))
	if len(ran) < 4 {
		t.Fatalf("want four runs, have %v", ran)
	}
	c, jobs := w.cronJob("tick")
	last := cronjob.Naming{}.JobName("tick", c.Status.LastScheduleTime)
	if len(c.Status.Active) != 0 || last != slices.Max(ran) ||
		c.Status.LastSuccessfulTime.Before(c.Status.LastScheduleTime) {
		t.Errorf("%v; the last of %v", c.Status, ran)
	}
	if len(jobs) != 2 || jobs[1].Name != last || len(w.folders()) != 2 {
		t.Errorf("%d jobs and %d folders are left", len(jobs), len(w.folders()))
	}
	if o := w.want(0, "status"); !strings.Contains(o.out, "* * * * *") || !strings.Contains(o.out, last) {
		t.Error(o)
	}
	if o := w.want(0, "status", "tick"); !strings.Contains(o.out, "every minute") ||
		!strings.Contains(o.out, "SawCompletedJob") {
		t.Error(o)
	}
	if o := w.want(0, "logs", "tick"); !strings.HasSuffix(o.out, last+"\n") {
		t.Error(o)
	}
	decoded, err := cronjob.DecodeCronJob([]byte(w.want(0, "status", "tick", "-o", "json").out))
	if err != nil || !decoded.Status.LastScheduleTime.Equal(c.Status.LastScheduleTime) {
		t.Errorf("%+v, %v", decoded, err)
	}
	w.want(0, "rm", "tick")
	w.want(2, "status", "tick")
	if left := w.folders(); len(left) != 0 {
		t.Errorf("folders left: %v", left)
	}
}

// atSpeeds calls try with a fast clock, and then with slower ones in case the machine is too slow
// or too busy. It stops once try returns "". Otherwise try returns what was missing at this speed.
// The function try reports other errors itself.
func atSpeeds(t *testing.T, speed int, try func(w *world, speed int) (missing string)) {
	t.Helper()
	var missing string
	for _, slower := range []int{1, 4, 12} {
		if missing = try(newWorld(t), speed/slower); missing == "" {
			return
		}
		t.Logf("at %d times the speed: %s", speed/slower, missing)
	}
	t.Error(missing)
}

// A run is due while an earlier one is active. A run takes two minutes by the clock of the CronJob.
func TestConcurrencyPolicies(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		policy string
		check  func(begin, end []string, overlap bool) bool
	}{
		{"Allow", func(begin, end []string, overlap bool) bool { return overlap && len(end) == len(begin) }},
		{"Forbid", func(begin, end []string, overlap bool) bool { return !overlap && len(end) == len(begin) }},
		{"Replace", func(begin, end []string, _ bool) bool {
			return len(end) == 1 && end[0] == begin[len(begin)-1] && len(begin) > 1
		}},
	} {
		t.Run(test.policy, func(t *testing.T) {
			t.Parallel()
			atSpeeds(t, 60, func(w *world, speed int) string {
				w.want(0, "run", "--speed", fmt.Sprint(speed), "--until", "4m",
					w.manifest(tickWith("concurrencyPolicy: "+test.policy, fmt.Sprint(120/speed))))
				begin, end := w.runs("begin"), w.runs("end")
				once(t, begin)
				overlap, active := false, 0
				for _, words := range w.trace("runs") {
					if active++; words[0] == "end" {
						active -= 2
					}
					overlap = overlap || active > 1
				}
				if c, _ := w.cronJob("tick"); len(c.Status.Active) != 0 {
					t.Errorf("still active: %v", c.Status)
				}
				if test.policy == "Replace" && len(w.folders()) != 1 {
					t.Errorf("want the folder of the last pod, have %v", w.folders())
				}
				if test.check(begin, end, overlap) {
					return ""
				}
				return fmt.Sprintf("begun %v, ended %v, overlapping %v", begin, end, overlap)
			})
		})
	}
}

// The TTL of a CronJob's jobs is honoured, and their logs are removed as well. If a Job has a
// manifest of its own, its TTL is not honoured.
func TestTTL(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := strings.Replace(tickWith("suspend: false", "0"), "backoffLimit: 0", "ttlSecondsAfterFinished: 0", 1)
	w.want(0, "run", "--speed", "120", "--runs", "2", w.manifest(text))
	if _, jobs := w.cronJob("tick"); len(jobs) != 0 || len(w.folders()) != 0 || len(w.runs("end")) < 2 {
		t.Errorf("%d jobs and %d folders are left", len(jobs), len(w.folders()))
	}
	if o := w.want(1, "run", w.manifest(strings.Replace(sleepers, "backoffLimit: 0", "suspend: true\n  ttlSecondsAfterFinished: 0", 1))); !strings.Contains(o.errOut, "ignored, without effect here: ttlSecondsAfterFinished") {
		t.Error(o)
	}
}

// A failed run changes the exit status.
func TestCronJobFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.want(1, "run", "-o", "json", "--speed", "300", "--runs", "1",
		w.manifest(strings.Replace(tickWith("suspend: false", "0"), "echo $JOB\"", "exit 3\"", 1)))
	ends := 0
	for _, text := range strings.Split(strings.TrimSpace(o.out), "\n") {
		var line struct {
			Type, Job, CronJob, Result string
			NextRun                    time.Time
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if line.Type == "end" && line.Result == string(job.ConditionFailed) {
			ends++
		}
		if (line.Job == "") == (line.CronJob == "") {
			t.Errorf("neither of a job nor of a CronJob: %s", text)
		}
	}
	if ends == 0 {
		t.Error(o)
	}
}

// start runs the program in the background, and returns a function that stops it with
// a signal.
func (w *world) start(args ...string) (stop func(os.Signal) int) {
	w.t.Helper()
	cmd := w.command(args...)
	must.OK(w.t, cmd.Start())
	return func(s os.Signal) int {
		if s != nil {
			_ = cmd.Process.Signal(s)
		}
		_ = cmd.Wait()
		return cmd.ProcessState.ExitCode()
	}
}

// until repeats a command until its output contains a text.
func (w *world) until(command, object, text string) {
	w.t.Helper()
	for range 1000 {
		if strings.Contains(w.call(command, object).out, text) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	w.t.Fatalf("%s %s never says %q: %v", command, object, text, w.call(command, object))
}

// A running runner starts a triggered job immediately. If no runner runs, the next one starts the
// job.
func TestTrigger(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := w.manifest(tickWith("suspend: true", "0"))
	w.want(2, "trigger", "tick")
	stop := w.start("run", file)
	w.until("status", "tick", "every minute")
	if o := w.want(0, "trigger", "tick"); o.errOut != "" || o.out != "requested job tick-manual-1\n" {
		t.Error(o)
	}
	w.until("status", "tick-manual-1", "Complete") // otherwise Ctrl-C would suspend it
	if code := stop(syscall.SIGINT); code != 130 {
		t.Errorf("exit status %d", code)
	}
	if o := w.want(0, "trigger", "tick"); !strings.Contains(o.errOut, "the next run will start it") {
		t.Error(o)
	}
	if o := w.want(0, "status", "tick"); !strings.Contains(o.out, "requested jobs: tick-manual-2") {
		t.Error(o)
	}
	stop = w.start("run")
	w.waitFor("runs", "end", 2)
	// A runner ends when its last CronJob is removed.
	if o := w.want(0, "rm", "tick"); !strings.Contains(o.out, "CronJob tick removed") {
		t.Error(o)
	}
	if code := stop(nil); code != 0 {
		t.Errorf("exit status %d", code)
	}
	if got := w.runs("begin"); !slices.Equal(got, []string{"tick-manual-1", "tick-manual-2"}) {
		t.Errorf("begun: %v", got)
	}
}

// A running runner stops jobs that are removed.
func TestRemoveWhileRunning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := strings.ReplaceAll(sleepers, "STOP", "exit 143") + "---" + tickWith("concurrencyPolicy: Forbid", "30")
	stop := w.start("run", "--speed", "120", w.manifest(text))
	w.waitFor("lives", "begin", 3)
	w.waitFor("runs", "begin", 1)
	w.want(0, "rm", "sleepers")
	w.waitFor("lives", "asked", 3)
	w.want(0, "rm", "tick")
	if code := stop(nil); code != 1 {
		t.Errorf("exit status %d", code)
	}
	if o := w.want(0, "status"); strings.Contains(o.out, "tick") || strings.Contains(o.out, "sleepers") ||
		len(w.folders()) > 0 {
		t.Errorf("%v\nfolders %v", o, w.folders())
	}
}

// If the runner is killed, rm does the work itself.
func TestRemoveOutlivesRunner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := w.start("run", "--speed", "120", w.manifest(tickWith("concurrencyPolicy: Forbid", "30")))
	w.waitFor("runs", "begin", 1)
	remove := w.start("rm", "tick")
	time.Sleep(20 * time.Millisecond)
	stop(syscall.SIGKILL)
	if code := remove(nil); code != 0 || len(w.folders()) > 0 {
		t.Errorf("exit status %d, folders %v", code, w.folders())
	}
	w.want(2, "status", "tick")
}

// If an interrupted rm has left parts of a job behind, they are removed when a new job gets the
// same name. What is left of other jobs stays.
func TestRemovedNamesAreFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := tickWith("suspend: true", "0")
	file := w.manifest(one + "---" + strings.Replace(one, "name: tick", "name: tock", 1))
	w.want(0, "run", file, "--until", "1s")
	before, _ := w.cronJob("tock")
	s, err := store.Open(w.state)
	must.OK(t, err)
	must.OK(t, errors.Join(s.DeleteCronJob(before.UID, time.Now()), s.Close()))
	w.want(0, "run", file, "--until", "1s")
	if after, _ := w.cronJob("tock"); after.UID == before.UID || !after.Deleted.IsZero() {
		t.Errorf("%+v", after)
	}
}

// Ctrl-C suspends the jobs of a CronJob as well. The next run resumes them.
func TestCronJobInterrupted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := tickWith("concurrencyPolicy: Forbid", "0.1; while [ ! -e TRACES/finish ]; do sleep 0.05; done")
	stop := w.start("run", "--speed", "120", w.manifest(text))
	w.waitFor("runs", "begin", 1)
	if code := stop(syscall.SIGINT); code != 130 {
		t.Errorf("exit status %d", code)
	}
	name := w.runs("begin")[0]
	if j, _ := w.job(name); j.Status.Condition(job.ConditionSuspended).Status != job.ConditionTrue ||
		j.Status.Failed != 0 {
		t.Errorf("after Ctrl-C: %v", j.Status)
	}
	must.OK(t, os.WriteFile(filepath.Join(w.traces, "finish"), nil, 0o644))
	w.want(0, "run", "--runs", "1")
	if begun := w.runs("begin"); begun[1] != name || w.runs("end")[0] != name {
		t.Errorf("want %s to go on, have %v", name, begun)
	}
}

// A CronJob may change between two runs of the program. From then on the new schedule applies
// (C17).
func TestCronJobChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(0, "run", "--speed", "300", "--runs", "1", w.manifest(tickWith("suspend: false", "0")))
	before, _ := w.cronJob("tick")
	text := strings.Replace(tickWith("timeZone: Asia/Kathmandu", "0"), "* * * * *", "5 3 1 1 *", 1)
	w.want(0, "run", "--until", "1ms", w.manifest(text))
	after, _ := w.cronJob("tick")
	if before.UID != after.UID || !after.Status.LastScheduleTime.Equal(before.Status.LastScheduleTime) {
		t.Errorf("%v is not %v", after, before)
	}
	if o := w.want(0, "next", "tick", "-n", "1"); !strings.Contains(o.out, "-01-01 03:05:00 +05:45") {
		t.Error(o)
	}
}

// The clock of a state folder never goes back, at whatever speed it ran before.
func TestClockGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := strings.Replace(tickWith("timeZone: Etc/UTC", "0"), "* * * * *", "@daily", 1)
	w.want(0, "run", "--speed", "86400", "--until", "12h", w.manifest(text))
	w.want(0, "run", "--until", "1ms")
	s, err := store.Open(w.state)
	must.OK(t, err)
	defer s.Close()
	c, seen, err := s.Clock()
	if ahead := time.Until(c.Now()); err != nil || ahead < 11*time.Hour || seen.After(c.Now()) {
		t.Errorf("ahead by %v, seen %v, now %v, %v", ahead, seen, c.Now(), err)
	}
}

func TestNext(t *testing.T) {
	w := newWorld(t)
	o := w.want(0, "next", "testdata/cron.yaml", "-n", "3")
	if strings.Count(o.out, "\n") != 8 || !strings.Contains(o.out, "every hour from 09:00 to 17:00 on weekdays") {
		t.Error(o)
	}
	text := strings.Replace(tickWith("timeZone: America/New_York", "0"), "* * * * *", "30 2 * * 0", 1)
	generated := w.manifest(strings.Replace(text, "name: tick", "generateName: tick-", 1))
	if o := w.want(0, "next", generated); !strings.HasPrefix(o.out, "tick-: ") {
		t.Error(o)
	}
	if o := w.want(0, "next", w.manifest(text)); !strings.Contains(o.out, "SkippedTime: ") ||
		!strings.Contains(o.out, "at 02:30 on Sundays") {
		t.Error(o)
	}
	// The same CronJob is stored and suspended, and a job runs beside it. The lines of the job
	// begin with the time of day.
	text = strings.Replace(strings.Replace(text, "timeZone:", "suspend: true\n  timeZone:", 1), "name: tick",
		"name: paused", 1)
	w.want(0, "run", w.manifest(text), "--until", "1s")
	if o := w.want(0, "status"); !strings.Contains(o.out, "suspended") {
		t.Error(o)
	}
	if o := w.want(0, "run", "testdata/good.json"); !regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d good: `).MatchString(o.out) {
		t.Error(o)
	}
	if o := w.want(2, "next", w.manifest(strings.Replace(text, "schedule:", "schedul:", 1))); !strings.Contains(o.errOut, "spec.schedul: ") {
		t.Error(o)
	}
	w.want(2, "next", "testdata/hello.yaml")
	w.want(2, "next", "nothing-of-this-name")
	w.want(2, "next", "testdata/cron.yaml", "-n", "0")
}

// Bad input is refused before anything runs.
func TestBadCronInput(t *testing.T) {
	w := newWorld(t)
	for _, test := range []struct {
		text string
		args []string
		want string
	}{
		{tickWith("timeZone: Mars/Olympus", "0"), nil, `:7:3: spec.timeZone: "Mars/Olympus": `},
		{tickWith("suspend: maybe", "0"), nil, `:7:12: spec.suspend: is the string "maybe", expected true or false`},
		{tickWith("suspend: true", "0") + "---" + strings.Replace(sleepers, "name: sleepers", "name: tick", 1), nil, `duplicate name: the`},
		{tickWith("suspend: true", "0"), []string{"--speed", "0"}, "--speed: 0: must be above 0"},
		{tickWith("suspend: true", "0"), []string{"--until", "soon"}, `--until: "soon": must be a time`},
		{tickWith("suspend: true", "0"), []string{"--until", "2020-01-01"}, `--until: "2020-01-01": is in the past`},
		{sleepers, []string{"--runs", "1"}, "--until and --runs are for CronJobs"},
	} {
		o := w.want(2, append([]string{"run", w.manifest(test.text)}, test.args...)...)
		if !strings.Contains(o.errOut, test.want) {
			t.Errorf("no %q in %v", test.want, o)
		}
	}
	if o := w.call("status"); o.code == 0 && strings.Contains(fmt.Sprint(o), "tick") {
		t.Error(o)
	}
}

// Each run of the example in the README starts at a speed of 3600. No run is held back by the run
// before it.
func TestExampleAtSpeed(t *testing.T) {
	t.Parallel()
	atSpeeds(t, 3600, func(w *world, speed int) string {
		o := w.want(0, "run", "--speed", fmt.Sprint(speed), "--until", "5h", "testdata/cron.yaml")
		starts, held := strings.Count(o.out, "clean-up: SuccessfulCreate"), strings.Count(o.out, "JobAlreadyActive")
		if starts < 3 || held >= starts {
			return fmt.Sprintf("%d started, %d held back: %v", starts, held, o)
		}
		return ""
	})
}
