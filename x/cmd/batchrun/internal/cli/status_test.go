package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/clock"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
)

// now is the time that the clock of the state folders of these tests has reached.
var now = time.Date(2126, 7, 1, 12, 0, 0, 0, time.UTC)

// inUTC makes UTC the zone of this machine.
func inUTC(t *testing.T) {
	zone := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = zone })
}

// newFolder returns a state folder whose clock shows now, and its path.
func newFolder(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "state"))
	must.OK(t, err)
	t.Cleanup(func() { s.Close() })
	must.OK(t, s.AddSpan(clock.Span{Real: time.Now(), Virtual: now, Speed: 1}))
	return s
}

func manifestOf(name, spec string) string {
	return `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "` + name + `"}, "spec": {` + spec +
		`"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "command": ["true"]}]}}}}`
}

func addJob(t *testing.T, s *store.Store, j store.Job, status job.Status) store.Job {
	t.Helper()
	if j.Namespace == "" {
		j.Namespace = "default"
	}
	if j.Manifest == nil {
		j.Manifest = json.RawMessage(manifestOf(j.Name, ""))
	}
	j, err := s.AddJob(j)
	must.OK(t, errors.Join(err, s.SetStatus(j.UID, status)))
	j.Status = status
	return j
}

func addCronJob(t *testing.T, s *store.Store, name, spec string, status cronjob.Status) store.CronJob {
	t.Helper()
	c, err := s.AddCronJob("default", name, []byte(`{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "`+
		name+`"}, "spec": {`+spec+`, "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never", `+
		`"containers": [{"name": "main", "command": ["true"]}]}}}}}}`), now.Add(-25*time.Hour))
	must.OK(t, errors.Join(err, s.SetCronJobStatus(c.UID, status)))
	return c
}

// addPod stores a pod with its folder. Its containers have the names, logs and ends of the exits.
func addPod(t *testing.T, s *store.Store, p store.Pod, containers ...pod.Container) {
	t.Helper()
	p.Name, p.State.Containers = string(p.UID), containers
	spec := pod.Spec{UID: p.UID}
	for _, c := range containers {
		spec.Containers = append(spec.Containers, pod.ContainerSpec{Name: c.Name})
	}
	var err error
	p.Spec, err = json.Marshal(spec)
	must.OK(t, errors.Join(err, s.AddPod(p), pod.Folder(s.PodFolder(p.UID)).Prepare(p.Spec)))
}

// newPod returns a state folder whose job j has the pod p, with the folder of the pod.
func newPod(t *testing.T, containers ...pod.Container) (*store.Store, store.Job, pod.Folder) {
	t.Helper()
	s := newFolder(t)
	j := addJob(t, s, store.Job{Name: "j"}, job.Status{})
	addPod(t, s, store.Pod{UID: "p", Job: j.UID}, containers...)
	return s, j, pod.Folder(s.PodFolder("p"))
}

func writeLog(t *testing.T, s *store.Store, uid job.UID, name, text string) {
	t.Helper()
	must.OK(t, os.WriteFile(filepath.Join(s.PodFolder(uid), "logs", name), []byte(text), 0o600))
}

func container(name string, codes ...int32) pod.Container {
	c := pod.Container{Container: jobpod.Container{Name: name, State: jobpod.Terminated, FinishedAt: now}}
	for _, code := range codes {
		c.ExitCode = code
		c.Exits = append(c.Exits, pod.Exit{Code: code})
	}
	return c
}

func ended(kind job.ConditionType, reason string) []job.Condition {
	return []job.Condition{{
		Type: kind, Status: job.ConditionTrue, Reason: reason, Message: "It has " + strings.ToLower(string(kind)) + ".",
		LastTransitionTime: now,
	}}
}

// fill stores jobs and CronJobs in each of their states.
func fill(t *testing.T) *store.Store {
	s := newFolder(t)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }

	addJob(t, s, store.Job{Name: "new", Created: now}, job.Status{})
	five := `"completions": 5, "parallelism": 3, "completionMode": "Indexed", `
	indexed := addJob(t, s, store.Job{
		Name: "indexed", Created: ago(90 * time.Second), Manifest: json.RawMessage(manifestOf("indexed", five)),
	}, job.Status{StartTime: ago(80 * time.Second), Active: 2, Succeeded: 2, Failed: 1, CompletedIndexes: "0,1"})
	addPod(t, s, store.Pod{UID: "i-0", Job: indexed.UID, Index: 0, Created: ago(60 * time.Second), State: pod.State{
		Phase: job.PodSucceeded}}, container("main", 0))
	addPod(t, s, store.Pod{UID: "i-1", Job: indexed.UID, Index: 1, Created: ago(50 * time.Second), State: pod.State{
		Phase: job.PodFailed, Reason: "Stopped"}}, container("init"), container("main", 3, 4), container("other", 7))
	cut := container("main", 1)
	cut.Message, cut.LogCut = "no such file", true
	addPod(t, s, store.Pod{UID: "i-2", Job: indexed.UID, Index: -1, Created: now, Tracked: true,
		State: pod.State{Phase: job.PodRunning}}, cut)
	_, err := s.DeletePod("i-2", 30, false, now)
	must.OK(t, errors.Join(err, s.Bury("i-1")))
	writeLog(t, s, "i-0", "main.stdout", "zero\n")
	writeLog(t, s, "i-1", "main.stdout", "one\ntwo\nthree\n")
	writeLog(t, s, "i-1", "other.stderr", "problem\n")
	must.OK(t, s.Conclude(indexed.UID, job.Memory{}, []job.Event{
		{Type: job.EventNormal, Reason: "SuccessfulCreate", Message: "Created pod: i-0"},
		{Type: job.EventWarning, Reason: "Long", Message: strings.Repeat("a long message ", 10)},
	}, ago(time.Minute)))

	addJob(t, s, store.Job{Namespace: "ns", Name: "done", Created: ago(49 * time.Hour)},
		job.Status{Succeeded: 1, Conditions: ended(job.ConditionComplete, "CompletionsReached")})
	failed := addJob(t, s, store.Job{Name: "failed", Created: ago(time.Hour)},
		job.Status{Failed: 2, Conditions: ended(job.ConditionFailed, "BackoffLimitExceeded")})
	addPod(t, s, store.Pod{UID: "f-0", Job: failed.UID, Index: -1, Created: now, State: pod.State{Phase: job.PodFailed}},
		container("main", 42))
	late := addJob(t, s, store.Job{Name: "late", Created: ago(time.Hour)},
		job.Status{Conditions: ended(job.ConditionFailed, "DeadlineExceeded")})
	_, err = s.DeleteJob(late.UID, now)
	must.OK(t, err)

	berlin := addCronJob(t, s, "berlin", `"schedule": "30 2 * * *", "timeZone": "Europe/Berlin", "concurrencyPolicy": "Forbid"`,
		cronjob.Status{
			Active:           []cronjob.Reference{{Name: "berlin-1"}},
			LastScheduleTime: ago(time.Hour), LastSuccessfulTime: ago(time.Minute),
		})
	addJob(t, s, store.Job{Name: "berlin-1", Created: ago(time.Hour), CronJob: berlin.UID, ScheduledTime: ago(time.Hour)},
		job.Status{Active: 1})
	_, err = s.AddTrigger(berlin.UID)
	must.OK(t, errors.Join(err, s.ConcludeCronJob(berlin.UID, &cronjob.Conclusion{Events: []job.Event{
		{Type: job.EventNormal, Reason: "SuccessfulCreate", Message: "Created job berlin-1"},
	}}, ago(time.Hour))))
	addCronJob(t, s, "suspended", `"schedule": "@hourly", "suspend": true`, cronjob.Status{})
	addCronJob(t, s, "never", `"schedule": "0 0 30 2 *"`, cronjob.Status{})
	gone := addCronJob(t, s, "gone", `"schedule": "@daily"`, cronjob.Status{})
	must.OK(t, s.DeleteCronJob(gone.UID, now))
	writeLog(t, s, "f-0", "main.stdout", "alone\n")
	return s
}

// call runs a command on a state folder and returns what it prints.
func call(s *store.Store, args ...string) (status int, out, errs string) {
	var o, e bytes.Buffer
	status = Main(append(args, "--state", s.Dir), nil, &o, &e)
	return status, o.String(), e.String()
}

// random matches the UIDs that a folder gives to its objects.
var random = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}`)

// TestLooks compares what commands show of a state folder with the stored text.
func TestLooks(t *testing.T) {
	inUTC(t)
	s := fill(t)
	const file = "testdata/looks.txt"
	var got strings.Builder
	for _, line := range []string{
		"status", "status -o wide", "status -o json",
		"status indexed", "status indexed -o wide", "status ns/done -o json", "status failed",
		"status berlin", "status berlin -o wide", "status berlin -o json", "status never", "status nobody",
		"status -o yaml", "status a b",
		"logs indexed", "logs indexed --pod i-1", "logs indexed --index 1 --tail 2", "logs indexed --index 0 -f",
		"logs indexed -c other", "logs indexed -c nobody", "logs indexed -c nobody -f", "logs indexed --index 7",
		"logs indexed --tail -2", "logs indexed --since -1s", "logs indexed --since soon", "logs failed -f",
		"logs indexed --since 2126-01-01", "logs new -f", "logs late -f", "logs berlin",
		"logs failed", "logs indexed --index 1 -f", "logs nobody", "logs nobody -f", "logs", "logs a b",
		"next berlin -n 2", "next suspended -n 1", "next never", "next nobody", "next berlin -n 0",
		"next", "next a b", "trigger berlin", "trigger gone", "trigger nobody", "trigger", "trigger a b", "rm", "rm a b",
	} {
		status, out, errs := call(s, strings.Fields(line)...)
		fmt.Fprintf(&got, "$ batchrun %s\n%s%s", line, out, errs)
		if status != 0 {
			fmt.Fprintf(&got, "(status %d)\n", status)
		}
		got.WriteByte('\n')
	}

	text := random.ReplaceAllString(strings.ReplaceAll(got.String(), s.Dir, "DIR"), "UID")
	if *update {
		testfile.Write(t, text, file)
	}
	if text != testfile.Read(t, file) {
		t.Errorf("%s is not what is printed (-update writes it):\n%s", file, text)
	}
}

// TestList: the table of jobs is there without CronJobs, and the other way around.
func TestList(t *testing.T) {
	s := newFolder(t)
	lines := func() []string {
		status, out, errs := call(s, "status")
		if status != 0 {
			t.Errorf("status %d: %s", status, errs)
		}
		return regexp.MustCompile(`(?m)^(JOB|CRONJOB)?.*`).FindAllString(out, -1)
	}
	titles := func() (found []string) {
		for _, line := range lines() {
			if first, _, _ := strings.Cut(line, " "); first == "JOB" || first == "CRONJOB" {
				found = append(found, first)
			}
		}
		return found
	}
	for _, step := range []struct {
		what func()
		want []string
	}{
		{func() {}, []string{"JOB"}},
		{func() { addCronJob(t, s, "c", `"schedule": "@daily"`, cronjob.Status{}) }, []string{"CRONJOB"}},
		{func() { addJob(t, s, store.Job{Name: "j", Created: now}, job.Status{}) }, []string{"CRONJOB", "JOB"}},
	} {
		step.what()
		if got := titles(); !slices.Equal(got, step.want) {
			t.Errorf("the tables are %q, want %q", got, step.want)
		}
	}
}

// A stored manifest that cannot be read is an error of each command that needs it.
func TestDamagedManifest(t *testing.T) {
	for _, text := range []string{"{", `{"metadata": 1}`, "null"} {
		shows := func(line string) bool { return text == "null" && !strings.HasSuffix(line, "json") }
		s := newFolder(t)
		j := addJob(t, s, store.Job{Name: "j"}, job.Status{})
		must.OK(t, s.SetManifest(j.UID, []byte(text)))
		for _, line := range []string{"status", "status j -o json", "status -o json", "run"} {
			if status, out, _ := call(s, strings.Fields(line)...); status != exitBadInput && !shows(line) {
				t.Errorf("%s of a job: status %d, %s", line, status, out)
			}
		}

		c := addCronJob(t, s, "c", `"schedule": "@daily"`, cronjob.Status{})
		must.OK(t, errors.Join(s.RemoveJob(j.UID), s.SetCronJobManifest(c.UID, []byte(text))))
		for _, line := range []string{"status", "status -o json", "status c", "status c -o json", "next c"} {
			if status, out, _ := call(s, strings.Fields(line)...); status != exitBadInput && !shows(line) {
				t.Errorf("%s of a CronJob: status %d, %s", line, status, out)
			}
		}
	}
}

// A relative path is relative to the folder of the user's shell, or else to the working folder.
func TestPaths(t *testing.T) {
	caller, working := t.TempDir(), t.TempDir()
	t.Chdir(working)
	for _, path := range []string{filepath.Join(caller, "both"), filepath.Join(working, "both"), filepath.Join(working, "here")} {
		must.OK(t, os.WriteFile(path, nil, 0o600))
	}
	p := &program{caller: caller}
	for name, want := range map[string]string{
		"both": filepath.Join(caller, "both"), "here": filepath.Join(working, "here"), "none": filepath.Join(caller, "none"),
		"/none": "/none",
	} {
		if got := p.input(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := p.path("x"); got != filepath.Join(caller, "x") {
		t.Error(got)
	}

	p.state = "state"
	for name, open := range map[string]func() (*store.Store, error){
		"open": func() (*store.Store, error) { return p.open(false) }, "openToLook": p.openToLook,
	} {
		if _, err := open(); err == nil || !strings.HasPrefix(err.Error(), filepath.Join(caller, "state")+" has no jobs: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	s, err := p.open(true)
	must.OK(t, err)
	must.OK(t, s.Close())
	if s, err = p.open(false); err != nil || s.Dir != filepath.Join(caller, "state") {
		t.Errorf("%+v, %v", s, err)
	}
	must.OK(t, s.Close())
}

// A schedule that cannot be read is shown, with the problem, and the spec of a pod that cannot be read
// is an error.
func TestDamagedSpec(t *testing.T) {
	s := newFolder(t)
	addCronJob(t, s, "c", `"schedule": "at noon"`, cronjob.Status{})
	if status, out, _ := call(s, "status", "-o", "wide"); status != 0 || !strings.Contains(out, `-         schedule "at noon": `) {
		t.Errorf("status %d, %s", status, out)
	}
	j := addJob(t, s, store.Job{Name: "j"}, job.Status{})
	must.OK(t, s.AddPod(store.Pod{UID: "p", Job: j.UID, Name: "p", Spec: []byte("{")}))
	for _, args := range [][]string{{"logs", "j"}, {"logs", "j", "-f"}} {
		if status, out, errs := call(s, args...); status != exitBadInput || strings.Contains(errs, "has a container") {
			t.Errorf("%q: status %d, %s%s", args, status, out, errs)
		}
	}
}

// A command that needs a state folder does not create it.
func TestNoFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	for _, line := range []string{"status", "status j", "logs j", "next j", "trigger j", "rm j", "run"} {
		status, _, errs := call(&store.Store{Dir: dir}, strings.Fields(line)...)
		if status != exitBadInput || !strings.Contains(errs, dir+" has no jobs: ") {
			t.Errorf("%s: status %d, %s", line, status, errs)
		}
		if isNext := strings.HasPrefix(errs, "batchrun: j is not a file, and "+dir); isNext != (line == "next j") {
			t.Errorf("%s: %s", line, errs)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Fatalf("%s has created the folder", line)
		}
	}
}

// TestSelected: --since takes a duration before now, or a time.
func TestSelected(t *testing.T) {
	for since, want := range map[string]time.Time{
		"": {}, "10m": now.Add(-10 * time.Minute), "0s": now, "2026-01-31T18:00:00Z": time.Date(2026, 1, 31, 18, 0, 0, 0, time.UTC),
	} {
		o := logOptions{since: since, container: "c", tail: 3}
		got, err := o.selected(now)
		if err != nil || !got.Since.Equal(want) || got.Container != "c" || got.Tail != 3 {
			t.Errorf("%q: %+v, %v", since, got, err)
		}
	}
}
