package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/control"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/logs"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/report"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// told is a reporter that keeps what it is told. The loops of a session tell it concurrently.
type told struct {
	report.Reporter
	mu    sync.Mutex
	lines []string
}

// all returns the lines so far. A test may read the lines themselves while nothing else runs.
func (r *told) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

func (r *told) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *told) Note(text string)                  { r.add("note: %s", text) }
func (r *told) Removed(_ job.UID, text string)    { r.add("removed: %s", text) }
func (r *told) Log(l logs.Line)                   { r.add("log: %s| %s", l.Name(), l.Text) }
func (r *told) Round(round control.Round)         { r.add("round of %s", round.Job.Name) }
func (r *told) CronRound(round control.CronRound) { r.add("round of %s", round.CronJob.Name) }
func (r *told) Close()                            { r.add("closed") }
func (r *told) End(j *store.Job, s job.Status, f *report.Failure) {
	why := ""
	if f != nil {
		why = fmt.Sprintf(", pod %s with %d", f.Pod, f.ExitCode)
	}
	r.add("end of %s: %s%s", j.Name, s.Finished(), why)
}

// newTestSession returns a session that has n loops open.
func newTestSession(t *testing.T, o runOptions, n int) (*session, *told) {
	t.Helper()
	to := &told{}
	o.parallel = 1
	r := newSession(&program{state: defaultState}, newFolder(t), clock.New(nil), o, to)
	r.open = n
	return r, to
}

// TestEnded has the results of loops: what is reported of them, and the exit status.
func TestEnded(t *testing.T) {
	complete := job.Status{Conditions: ended(job.ConditionComplete, "")}
	failed := job.Status{Conditions: ended(job.ConditionFailed, "")}
	one, run := &store.Job{UID: "j", Name: "j"}, &store.Job{UID: "r", Name: "r", CronJob: "c", ScheduledTime: now}
	asked := &store.Job{UID: "m", Name: "m", CronJob: "c"}
	c := &store.CronJob{UID: "c", Namespace: "default", Name: "c"}
	broken := errors.New("broken")
	for _, test := range []struct {
		name        string
		got         result
		interrupted bool
		status      int
		problem     error
		runs        int
		lines       string
	}{
		{"a job completes", result{job: one, status: complete}, false, 0, nil, 0, "end of j: Complete"},
		{"a job fails", result{job: one, status: failed}, false, exitFailed, nil, 0, "end of j: Failed"},
		{"a job suspends itself", result{job: one}, false, exitFailed, nil, 0, "end of j: "},
		{"a job is suspended", result{job: one}, true, exitInterrupted, nil, 0, "end of j: "},
		{"a job completes after Ctrl-C", result{job: one, status: complete}, true, 0, nil, 0, "end of j: Complete"},
		{"a job is removed", result{job: one, err: control.ErrRemoved}, false, exitFailed, nil, 0, "removed: job /j: removed"},
		{"a job breaks", result{job: one, err: broken}, false, exitBroken, broken, 0, ""},
		{"a run completes", result{job: run, status: complete}, false, 0, nil, 1, "end of r: Complete"},
		{"a run fails", result{job: run, status: failed}, false, exitFailed, nil, 1, "end of r: Failed"},
		{"a run suspends itself", result{job: run}, false, 0, nil, 0, "end of r: "},
		{"a run is suspended", result{job: run}, true, exitInterrupted, nil, 0, "end of r: "},
		{"a run is removed", result{job: run, err: control.ErrRemoved}, false, 0, nil, 1, ""},
		{"a requested job completes", result{job: asked, status: complete}, false, 0, nil, 0, "end of m: Complete"},
		{"a CronJob ends", result{cronJob: c}, false, 0, nil, 0, ""},
		{"a CronJob is interrupted", result{cronJob: c}, true, exitInterrupted, nil, 0, ""},
		{"a CronJob is removed", result{cronJob: c, err: control.ErrRemoved}, false, 0, nil, 0, "removed: CronJob c: removed"},
		{"a CronJob is removed after Ctrl-C", result{cronJob: c, err: control.ErrRemoved}, true, 0, nil, 0, "removed: CronJob c: removed"},
		{"a CronJob breaks", result{cronJob: c, err: broken}, false, exitBroken, broken, 0, ""},
	} {
		r, to := newTestSession(t, runOptions{}, 2)
		r.crons["c"], r.followed["j"], r.followed["r"] = &control.CronLoop{}, true, true
		e := ending{interrupted: test.interrupted}
		r.ended(&e, test.got)
		problem := errors.Join(e.problems...)
		if e.status != test.status || !errors.Is(problem, test.problem) || e.runs != test.runs ||
			strings.Join(to.lines, "; ") != test.lines {
			t.Errorf("%s: status %d, %v, %d runs, %q", test.name, e.status, problem, e.runs, to.lines)
		}

		isCron, isGone := test.got.cronJob != nil, errors.Is(test.got.err, control.ErrRemoved)
		follows := func(uid job.UID) bool { return test.got.job == nil || test.got.job.UID != uid || !isGone }
		if r.left() != 1 || (r.crons["c"] == nil) != isCron || r.followed["j"] != follows("j") ||
			r.followed["r"] != follows("r") {
			t.Errorf("%s: %d are left, %v, %v", test.name, r.left(), r.crons, r.followed)
		}
	}
}

// An exit status never becomes a lesser one.
func TestEnded_Worst(t *testing.T) {
	r, _ := newTestSession(t, runOptions{}, 9)
	j := &store.Job{UID: "j", Name: "j", Namespace: "default"}
	var e ending
	for _, step := range []struct {
		got  result
		want int
	}{
		{result{job: j, status: job.Status{Conditions: ended(job.ConditionFailed, "")}}, exitFailed},
		{result{job: j, status: job.Status{Conditions: ended(job.ConditionComplete, "")}}, exitFailed},
		{result{job: j, err: errors.New("broken")}, exitBroken},
		{result{job: j, status: job.Status{Conditions: ended(job.ConditionFailed, "")}}, exitBroken},
		{result{job: j, err: control.ErrRemoved}, exitBroken},
	} {
		if r.ended(&e, step.got); e.status != step.want {
			t.Errorf("after %+v: status %d, want %d", step.got, e.status, step.want)
		}
	}
	e.status = exitInterrupted
	if r.ended(&e, result{job: j, err: errors.New("broken")}); e.status != exitInterrupted {
		t.Errorf("broken after an interrupt: status %d", e.status)
	}
}

// The end of a failed job says why, if that can be found out.
func TestEnded_Failure(t *testing.T) {
	r, to := newTestSession(t, runOptions{}, 2)
	failed := job.Status{Conditions: ended(job.ConditionFailed, "")}
	j := addJob(t, r.store, store.Job{Name: "j"}, failed)
	addPod(t, r.store, store.Pod{UID: "p", Job: j.UID, State: pod.State{Phase: job.PodFailed}}, container("main", 7))
	var e ending
	r.ended(&e, result{job: &j, status: failed})
	must.OK(t, r.store.Close())
	r.ended(&e, result{job: &j, status: failed})
	if len(to.lines) != 3 || to.lines[0] != "end of j: Failed, pod p with 7" ||
		!strings.HasPrefix(to.lines[1], "note: ") || to.lines[2] != "end of j: Failed" {
		t.Errorf("%q", to.lines)
	}
}

// TestDrain: --runs counts runs of the schedule that have ended, and drains once. After Ctrl-C
// nothing is left to drain.
func TestDrain(t *testing.T) {
	for _, interrupted := range []bool{false, true} {
		r, to := newTestSession(t, runOptions{runs: 2}, 9)
		c := addCronJob(t, r.store, "c", `"schedule": "@daily"`, cronjob.Status{})
		loop, err := control.NewCronLoop(r.store, r.clock, &c)
		must.OK(t, err)
		r.crons[c.UID] = loop
		e := ending{interrupted: interrupted}
		run := result{job: &store.Job{UID: "r", Name: "r", CronJob: c.UID, ScheduledTime: now}}
		run.status.Conditions = ended(job.ConditionComplete, "")
		notes := func() int {
			return len(slices.DeleteFunc(slices.Clone(to.lines), func(l string) bool { return !strings.HasPrefix(l, "note: ") }))
		}
		for i, want := range []int{0, 1, 1} {
			if interrupted {
				want = 0
			}
			if r.ended(&e, run); notes() != want || e.drained != (want > 0) {
				t.Errorf("interrupted %v, run %d: %q, drained %v", interrupted, i+1, to.lines, e.drained)
			}
		}
		if r.drain(&e, "--until is reached"); e.runs != 3 || e.drained == interrupted {
			t.Errorf("%+v", e)
		}
	}
}

// TestFailure: of the pods that have ended by themselves, the last is to blame, and the advice has
// commands that can be typed.
func TestFailure(t *testing.T) {
	p := &program{state: defaultState}
	at := func(seconds int) time.Time { return now.Add(time.Duration(seconds) * time.Second) }
	type dead struct {
		uid    job.UID
		end    int
		reason string
		phase  job.PodPhase
	}
	for name, test := range map[string]struct {
		pods []dead
		want string
	}{
		"none":             {nil, ""},
		"none has failed":  {[]dead{{"a", 1, "", job.PodSucceeded}, {"b", 2, "", job.PodRunning}}, ""},
		"the last":         {[]dead{{"a", 1, "", job.PodFailed}, {"b", 3, "", job.PodFailed}, {"c", 2, "", job.PodFailed}}, "b"},
		"the later of two": {[]dead{{"a", 1, "", job.PodFailed}, {"b", 1, "", job.PodFailed}}, "b"},
		"not one that was stopped": {[]dead{{"a", 1, "Error", job.PodFailed}, {"b", 3, pod.ReasonStopped, job.PodFailed},
			{"c", 4, pod.ReasonNeverStarted, job.PodFailed}}, "a"},
		"rather than one that was stopped": {[]dead{{"a", 3, pod.ReasonStopped, job.PodFailed}, {"b", 1, "", job.PodFailed}}, "b"},
		"the last that was stopped":        {[]dead{{"a", 3, pod.ReasonStopped, job.PodFailed}, {"b", 1, pod.ReasonNeverStarted, job.PodFailed}}, "a"},
	} {
		s := newFolder(t)
		j := addJob(t, s, store.Job{Name: "j"}, job.Status{})
		for _, d := range test.pods {
			c := container("main", 5)
			c.FinishedAt = at(d.end)
			addPod(t, s, store.Pod{UID: d.uid, Job: j.UID, State: pod.State{Phase: d.phase, Reason: d.reason}}, c)
			writeLog(t, s, d.uid, "main.stdout", strings.Repeat("line\n", lastLines)+"last of "+string(d.uid)+"\n")
		}

		if f, err := p.failure(s, &j, &job.Status{}); f != nil || err != nil {
			t.Errorf("%s: a job that has not failed: %+v, %v", name, f, err)
		}
		f, err := p.failure(s, &j, &job.Status{Conditions: ended(job.ConditionFailed, "")})
		must.OK(t, err)
		if test.want == "" {
			if f != nil {
				t.Errorf("%s: %+v", name, f)
			}
			continue
		}
		if f.Pod != test.want || f.Container != "main" || f.ExitCode != 5 || len(f.Log) != lastLines ||
			f.Log[lastLines-1] != "last of "+test.want {
			t.Errorf("%s: %+v", name, f)
		}
		var next []string
		for _, n := range f.Next {
			next = append(next, n[0])
		}
		want := []string{"batchrun logs j --pod " + test.want, "batchrun status j", "batchrun rm j"}
		if !slices.Equal(next, want) {
			t.Errorf("%s: %q", name, next)
		}

		j.CronJob = "c" // its runs start again by themselves
		if f, _, err := p.lastFailed(s, &j); err != nil || len(f.Next) != 2 {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}

	if got := (&program{state: "x"}).command("run"); got != "batchrun run --state x" {
		t.Error(got)
	}
}

// A failed pod without a container that has failed has no exit status. A log that cannot be read is
// an error beside the rest.
func TestFailure_Unknown(t *testing.T) {
	p, s := &program{state: defaultState}, newFolder(t)
	j := addJob(t, s, store.Job{Name: "j"}, job.Status{})
	failed := job.Status{Conditions: ended(job.ConditionFailed, "")}
	addPod(t, s, store.Pod{UID: "p", Job: j.UID, State: pod.State{Phase: job.PodFailed, Reason: "Evicted"}}, container("main", 0))
	f, err := p.failure(s, &j, &failed)
	if err != nil || f.Pod != "p" || f.Container != "" || f.ExitCode != 0 || f.Reason != "Evicted" {
		t.Errorf("%+v, %v", f, err)
	}

	addPod(t, s, store.Pod{UID: "q", Job: j.UID, State: pod.State{Phase: job.PodFailed}}, container("main", 3))
	must.OK(t, os.MkdirAll(filepath.Join(s.PodFolder("q"), "logs", "main.stdout"), 0o700))
	f, err = p.failure(s, &j, &failed)
	if f == nil || f.ExitCode != 3 || err == nil || !strings.HasPrefix(err.Error(), "the log of pod q: ") {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestFollower: lines of the selected pods are shown once, from their beginning if the pod has begun
// in this session.
func TestFollower(t *testing.T) {
	for _, only := range []string{"", "p", "p-1", "q"} {
		r, to := newTestSession(t, runOptions{follow: only}, 0)
		j := addJob(t, r.store, store.Job{Name: "j"}, job.Status{})
		addPod(t, r.store, store.Pod{UID: "p-1", Job: j.UID}, container("main"))
		pods, err := r.store.Pods(j.UID)
		must.OK(t, err)
		p := &pods[0]

		writeLog(t, r.store, "p-1", "main.stdout", "older\nold\n")
		r.follower.observe(p, only != "", false)
		writeLog(t, r.store, "p-1", "main.stdout", "older\nold\nnew\nrest")
		r.follower.observe(p, true, true)
		r.follower.observe(p, true, true) // it has ended already
		var want []string
		switch only {
		case "":
			want = []string{"log: p-1| new", "log: p-1| rest"}
		case "p", "p-1":
			want = []string{"log: | older", "log: | old", "log: | new", "log: | rest"}
		}
		if !slices.Equal(to.lines, want) {
			t.Errorf("only %q: %q", only, to.lines)
		}

		to.lines, r.follower.ended = nil, map[job.UID]bool{}
		log := filepath.Join(r.store.PodFolder("p-1"), "logs", "main.stdout")
		must.OK(t, errors.Join(os.Remove(log), os.Mkdir(log, 0o700)))
		r.follower.observe(p, true, true)
		if len(to.lines) != min(len(want), 1) || len(want) > 0 && !strings.Contains(to.lines[0], log) {
			t.Errorf("only %q, the log is a folder: %q", only, to.lines)
		}
	}
}

// TestChanges has fields that may change while a job runs, and those that may not.
func TestChanges(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{`{"spec": {"a": 1}}`, `{"spec": {"a": 1}}`, ""},
		{`{"spec": {"parallelism": 1, "suspend": true}}`, `{"spec": {"parallelism": 2}}`, ""},
		{`{"spec": {"activeDeadlineSeconds": 1, "backoffLimit": 1}}`, `{"spec": {"ttlSecondsAfterFinished": 2}}`, ""},
		{`{"spec": {"b": {"x": [1]}, "a": 1}}`, `{"spec": {"b": {"x": [2]}, "c": 1}}`, "spec.a, spec.b, spec.c"},
		{`{"metadata": {"name": "a"}}`, `{"metadata": {"name": "b"}}`, ""},
		{`{`, `{}`, "error"},
		{`{}`, `{`, "error"},
	} {
		fields, err := changes([]byte(c.before), []byte(c.after))
		got := strings.Join(fields, ", ")
		if err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("%s, %s: %q, %v", c.before, c.after, got, err)
		}
	}
}

// given reads manifests of jobs with these names, and of CronJobs.
func given(t *testing.T, jobs, cronJobs []string) manifest.Objects {
	t.Helper()
	var text strings.Builder
	for _, name := range jobs {
		text.WriteString("---\n" + manifestOf(name, "") + "\n")
	}
	for _, name := range cronJobs {
		text.WriteString(`---
{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "` + name + `"}, "spec": {"schedule": "@weekly",
"jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "command": ["true"]}]}}}}}}
`)
	}
	all, err := manifest.Read("f", strings.NewReader(text.String()))
	must.OK(t, err)
	return all
}

// TestChoose: without manifests, everything that has not ended runs. With them, they run, and the
// rest is counted.
func TestChoose(t *testing.T) {
	s := newFolder(t)
	addJob(t, s, store.Job{Name: "open"}, job.Status{})
	addJob(t, s, store.Job{Name: "done"}, job.Status{Conditions: ended(job.ConditionComplete, "")})
	addJob(t, s, store.Job{Namespace: "other", Name: "new"}, job.Status{})
	leaving := addJob(t, s, store.Job{Name: "leaving"}, job.Status{})
	_, err := s.DeleteJob(leaving.UID, now)
	must.OK(t, err)
	c := addCronJob(t, s, "c", `"schedule": "@daily"`, cronjob.Status{})
	addJob(t, s, store.Job{Name: "c-1", CronJob: c.UID}, job.Status{})
	addJob(t, s, store.Job{Name: "c-0", CronJob: c.UID}, job.Status{Conditions: ended(job.ConditionComplete, "")})
	gone := addCronJob(t, s, "gone", `"schedule": "@daily"`, cronjob.Status{})
	must.OK(t, s.DeleteCronJob(gone.UID, now))

	names := func(o objects) string {
		var all []string
		for i := range o.jobs {
			all = append(all, o.jobs[i].Key())
		}
		for i := range o.cronJobs {
			all = append(all, o.cronJobs[i].Key())
		}
		return strings.Join(all, " ")
	}
	sources := func(all []*manifest.Job) string {
		var out []string
		for _, m := range all {
			out = append(out, m.Source)
		}
		return strings.Join(out, ", ")
	}
	known, err := readKnown(s)
	must.OK(t, err)
	if got := names(known); known.len() != 6 || got != "open done other/new c-1 c-0 c" {
		t.Errorf("known are %s", got)
	}

	chosen, others, err := known.choose(s, manifest.Objects{}, now)
	must.OK(t, err)
	if got := names(chosen); got != "open other/new c" || others != 0 {
		t.Errorf("without manifests: %s, %d others", got, others)
	}
	run, err := known.toRun(manifest.Objects{})
	must.OK(t, err)
	if got := sources(run); got != "job open, job other/new, job c-1, CronJob c" {
		t.Errorf("without manifests, to run: %s", got)
	}

	for _, test := range []struct {
		jobs, cronJobs []string
		want           string
		others         int
	}{
		{[]string{"done"}, nil, "done", 3},
		{[]string{"open"}, nil, "open", 2},
		{nil, []string{"c"}, "c", 2},
		{[]string{"new"}, []string{"d"}, "new d", 3},
	} {
		g := given(t, test.jobs, test.cronJobs)
		must.OK(t, known.compare(g))
		g.Jobs = slices.Grow(g.Jobs, 9)
		run, err := known.toRun(g)
		must.OK(t, err)
		if after := g.Jobs[:len(g.Jobs)+1]; after[len(g.Jobs)] != nil {
			t.Errorf("%q: the caller's list was written to", test.want)
		}
		if got := sources(run); !strings.HasSuffix(got, ", job c-1") || len(run) != 1+g.Len() {
			t.Errorf("%q: to run: %s", test.want, got)
		}
		chosen, others, err := known.choose(s, g, now)
		must.OK(t, err)
		if got := names(chosen); got != test.want || others != test.others {
			t.Errorf("%q: %s, %d others", test.want, got, others)
		}
		for i := range chosen.cronJobs {
			stored, err := s.FindCronJob(chosen.cronJobs[i].Key())
			if err != nil || !strings.Contains(string(stored.Manifest), "@weekly") ||
				string(stored.Manifest) != string(chosen.cronJobs[i].Manifest) {
				t.Errorf("%q: stored is %s, %v", test.want, stored.Manifest, err)
			}
		}
		for i := range chosen.jobs {
			stored, err := s.FindJob(chosen.jobs[i].Key())
			if err != nil || string(stored.Manifest) != string(chosen.jobs[i].Manifest) {
				t.Errorf("%q: stored is %s, %v", test.want, stored.Manifest, err)
			}
		}
	}
}

// A manifest that cannot be stored is an error.
func TestChoose_Fails(t *testing.T) {
	s := newFolder(t)
	addJob(t, s, store.Job{Name: "old"}, job.Status{})
	addCronJob(t, s, "known", `"schedule": "@daily"`, cronjob.Status{})
	known, err := readKnown(s)
	must.OK(t, errors.Join(err, s.Close()))
	for _, g := range []manifest.Objects{
		given(t, []string{"old"}, nil), given(t, []string{"new"}, nil), given(t, nil, []string{"known"}), given(t, nil, []string{"new"}),
	} {
		if _, _, err := known.choose(s, g, now); err == nil {
			t.Errorf("%+v", g)
		}
	}
	if _, err := readKnown(s); err == nil {
		t.Error("the store is closed")
	}

	for i, want := range []string{"job old: ", "CronJob known: "} {
		if i > 0 {
			known.jobs = nil
		}
		known.jobs, known.cronJobs = slices.Clone(known.jobs), slices.Clone(known.cronJobs)
		for j := range known.jobs {
			known.jobs[j].Manifest = []byte("{")
		}
		known.cronJobs[0].Manifest = []byte("{")
		if _, err := known.toRun(manifest.Objects{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("a manifest that cannot be read: %v, want %s", err, want)
		}
	}
}

// TestClear: an object that is being removed makes way for a manifest of its name. Others stay.
func TestClear(t *testing.T) {
	s := newFolder(t)
	for _, name := range []string{"leaving", "other", "stays"} {
		j := addJob(t, s, store.Job{Name: name}, job.Status{})
		addPod(t, s, store.Pod{UID: "p-" + j.UID, Job: j.UID})
		if name != "stays" {
			_, err := s.DeleteJob(j.UID, now)
			must.OK(t, err)
		}
	}
	for _, name := range []string{"c", "d", "e"} {
		c := addCronJob(t, s, name, `"schedule": "@daily"`, cronjob.Status{})
		addJob(t, s, store.Job{Name: name + "-1", CronJob: c.UID}, job.Status{})
		if name != "e" {
			must.OK(t, s.DeleteCronJob(c.UID, now))
		}
	}

	var out strings.Builder
	p := &program{out: &out}
	must.OK(t, p.clear(s, given(t, []string{"leaving", "stays", "new"}, []string{"c", "e", "new-too"})))
	if got := out.String(); got != "job leaving removed\njob c-1 removed\nCronJob c removed\n" {
		t.Errorf("%q", got)
	}
	jobs, err := s.Jobs()
	if err != nil || len(jobs) != 4 { // other, stays, d-1, e-1
		t.Errorf("%d jobs are left, %v", len(jobs), err)
	}
	if folders, err := os.ReadDir(filepath.Join(s.Dir, "pods")); err != nil || len(folders) != 2 {
		t.Errorf("%d folders of pods are left, %v", len(folders), err)
	}
	must.OK(t, s.Close())
	if p.clear(s, given(t, []string{"stays"}, nil)) == nil || p.clear(s, given(t, nil, []string{"e"})) == nil {
		t.Error("the store is closed")
	}
}

// TestFollower_Run: a line is shown when it is complete.
func TestFollower_Run(t *testing.T) {
	r, to := newTestSession(t, runOptions{}, 0)
	j := addJob(t, r.store, store.Job{Name: "j"}, job.Status{})
	addPod(t, r.store, store.Pod{UID: "p", Job: j.UID}, container("main"))
	pods, err := r.store.Pods(j.UID)
	must.OK(t, err)
	r.follower.observe(&pods[0], true, false)
	writeLog(t, r.store, "p", "main.stdout", "whole\npart")

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { r.follower.run(ctx); close(ended) }()
	shown := func() int {
		r.follower.mu.Lock()
		defer r.follower.mu.Unlock()
		return len(to.lines)
	}
	for range 6000 {
		if shown() > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	<-ended
	if !slices.Equal(to.lines, []string{"log: p| whole"}) {
		t.Errorf("%q", to.lines)
	}
}

// TestCompare: a job and a CronJob may not have the same name, and a job may not change.
func TestCompare(t *testing.T) {
	s := newFolder(t)
	addJob(t, s, store.Job{Name: "j"}, job.Status{})
	addJob(t, s, store.Job{Name: "k", Manifest: []byte(manifestOf("k", `"completions": 2, `))}, job.Status{})
	addCronJob(t, s, "c", `"schedule": "@daily"`, cronjob.Status{})
	known, err := readKnown(s)
	must.OK(t, err)
	for _, test := range []struct {
		jobs, cronJobs []string
		want           []string
	}{
		{[]string{"j", "x"}, []string{"c", "y"}, nil},
		{[]string{"c"}, []string{"j"}, []string{`"c": a CronJob in the state folder has this name`,
			`"j": a job in the state folder has this name`}},
		{[]string{"k"}, nil, []string{"spec.completions: differs from job k in the state folder and cannot be changed; " +
			"rm k first, or use another name"}},
	} {
		err := known.compare(given(t, test.jobs, test.cronJobs))
		if (err == nil) != (len(test.want) == 0) {
			t.Errorf("%q: %v", test.jobs, err)
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %s", test.jobs, err, want)
			}
		}
	}

	known.jobs[0].Manifest = []byte("{")
	if err := known.compare(given(t, []string{known.jobs[0].Name}, nil)); err == nil {
		t.Error("a stored manifest cannot be read")
	}
}
