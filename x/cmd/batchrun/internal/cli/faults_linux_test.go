package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/control"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/logs"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod/podtest"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store/storetest"
)

// TestFaults: if a part of the state folder is damaged, each command either reports that, or prints
// the same as before.
func TestFaults(t *testing.T) {
	inUTC(t)
	lines := []string{
		"status", "status -o json", "status indexed", "status failed -o json", "status berlin", "status berlin -o json",
		"logs indexed", "logs failed", "logs berlin", "logs failed -f", "next berlin", "trigger suspended",
		"rm indexed", "rm berlin",
	}
	const cut = "unexpected end of JSON input"
	faults := map[string]string{
		"UPDATE jobs SET status = '{'":       cut,
		"UPDATE jobs SET manifest = '{'":     cut,
		"UPDATE pods SET state = '{'":        cut,
		"UPDATE pods SET spec = '{'":         cut,
		"UPDATE cronjobs SET status = '{'":   cut,
		"UPDATE cronjobs SET manifest = '{'": cut,
		"UPDATE clock SET real = 'x'":        "converting driver.Value",
		"UPDATE events SET at = 'x'":         "converting driver.Value",
		"UPDATE cronjob_events SET at = 'x'": "converting driver.Value",
		"pods/i-0/logs/main.stdout":          "main.stdout",
		"pods/f-0/logs/main.stdout":          "main.stdout",
	}
	for _, table := range []string{"jobs", "pods", "events", "cronjobs", "cronjob_events", "triggers", "clock"} {
		faults["ALTER TABLE "+table+" RENAME TO lost"] = "no such table: "
	}
	for _, write := range []string{
		"UPDATE OF deleted ON jobs", "UPDATE OF deleted ON cronjobs", "DELETE ON jobs", "DELETE ON cronjobs",
		"INSERT ON triggers",
	} {
		faults[storetest.Refuse(write)] = "fault"
	}

	filled := fill(t)
	run, err := filled.FindJob("berlin-1")
	must.OK(t, err)
	addPod(t, filled, store.Pod{UID: "b-0", Job: run.UID}, container("main"))
	must.OK(t, filled.Close())
	type result struct {
		status    int
		out, errs string
	}
	play := func(fault string) (results []result) {
		s := &store.Store{Dir: filepath.Join(t.TempDir(), "state")}
		must.OK(t, errors.Join(os.CopyFS(s.Dir, os.DirFS(filled.Dir)), os.Chmod(s.Dir, 0o700)))
		if path := filepath.Join(s.Dir, fault); strings.HasPrefix(fault, "pods/") {
			must.OK(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o700)))
		} else {
			storetest.Exec(t, s.Dir, fault)
		}
		for _, line := range lines {
			status, out, errs := call(s, strings.Fields(line)...)
			fds, err := filepath.Glob("/proc/self/fd/*")
			must.OK(t, err)
			for _, fd := range fds {
				if file, _ := os.Readlink(fd); strings.HasPrefix(file, s.Dir) {
					t.Errorf("%s after %s has left %s open", line, fault, file)
				}
			}
			results = append(results, result{status, strings.ReplaceAll(out, s.Dir, "DIR"), errs})
		}
		return results
	}

	whole := play("")
	for fault, text := range faults {
		isFound := false
		for i, got := range play(fault) {
			isSame := got.status == whole[i].status && got.out == whole[i].out
			isFound = isFound || !isSame
			if !isSame && (got.status == 0 || !strings.Contains(got.errs, text)) {
				t.Errorf("%s after %s: status %d\n%s\n%s", lines[i], fault, got.status, got.out, got.errs)
			}
		}
		if !isFound {
			t.Errorf("no command shows %s", fault)
		}
	}
}

// All jobs are suspended, and CronJobs start nothing. Jobs that cannot be suspended are an error.
func TestHold(t *testing.T) {
	r, _ := newTestSession(t, runOptions{}, 1)
	c := addCronJob(t, r.store, "c", `"schedule": "@daily"`, cronjob.Status{})
	cron, err := control.NewCronLoop(r.store, r.clock, &c)
	must.OK(t, err)
	cron.Follow, cron.Busy = func([]store.Job) error { return nil }, func() bool { return false }
	r.crons[c.UID] = cron
	j := addJob(t, r.store, store.Job{Name: "j"}, job.Status{})
	l, err := control.NewLoop(r.store, r.clock, &j)
	must.OK(t, err)
	r.loops[j.UID] = &jobLoop{l, j}
	must.OK(t, r.hold())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := cron.Run(ctx); err != nil {
		t.Errorf("the loop of a CronJob goes on: %v", err)
	}
	if stored, err := r.store.Job(j.UID); err != nil || !stored.Held || !r.held {
		t.Errorf("stored %v, %v; session %v", stored.Held, err, r.held)
	}
	must.OK(t, r.store.Close())
	if r.hold() == nil {
		t.Error("the store is closed, and there is no error")
	}
}

// withFewFiles does something while this process cannot open a file.
func withFewFiles(t *testing.T, do func()) {
	t.Helper()
	var limit unix.Rlimit
	must.OK(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	few := limit
	few.Cur = 3
	must.OK(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &few))
	defer func() { must.OK(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)) }()
	do()
}

// A pod whose processes cannot be looked for may be alive: that is an error.
func TestTailing_Alive(t *testing.T) {
	s, _, _ := newPod(t, container("main"))
	following := &tailing{store: s, open: map[job.UID]*logs.Reader{"p": nil}}
	if alive, err := following.alive(); alive || err != nil {
		t.Errorf("%v, %v", alive, err)
	}

	var err error
	status := 0
	withFewFiles(t, func() {
		_, err = following.alive()
		status, _, _ = call(s, "status")
	})
	if status != exitBroken {
		t.Errorf("too many files are open: status %d", status)
	}
	if !errors.Is(err, unix.EMFILE) {
		t.Errorf("too many files are open: %v", err)
	}
}

// A job that cannot be read is not left out.
func TestReadKnown_Fails(t *testing.T) {
	s := newFolder(t)
	c := addCronJob(t, s, "c", `"schedule": "@daily"`, cronjob.Status{})
	addJob(t, s, store.Job{Name: "j", CronJob: c.UID}, job.Status{})
	storetest.Exec(t, s.Dir, "UPDATE jobs SET status = '{'")
	if _, err := readKnown(s); err == nil {
		t.Error("no error")
	}
	if _, _, err := (&logOptions{}).pods(s, "c"); err == nil {
		t.Error("no error, and no pods")
	}
}

// TestNext_File: the CronJobs of a file or of the standard input need no state folder.
func TestNext_File(t *testing.T) {
	cron := `{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c", "namespace": "ns"}, "spec": {"schedule": "@daily",
"jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "command": ["true"]}]}}}}}}`
	for in, want := range map[string]string{cron: `ns/c: "@daily", UTC: `, manifestOf("j", ""): "contains no CronJob"} {
		var out strings.Builder
		status := Main([]string{"next", "-", "--state", t.TempDir()}, strings.NewReader(in), &out, &out)
		if (status == 0) != (in == cron) || !strings.Contains(out.String(), want) {
			t.Errorf("%q: status %d, %s, want %s", in, status, &out, want)
		}
	}

	shell := t.TempDir()
	t.Setenv("PWD", shell) // as with "go run -C"
	must.OK(t, os.WriteFile(filepath.Join(shell, "cron.json"), []byte(cron), 0o600))
	var out strings.Builder
	if status := Main([]string{"next", "cron.json", "--state", t.TempDir()}, nil, &out, &out); status != 0 {
		t.Errorf("a file in the folder of the shell: status %d, %s", status, &out)
	}
}

// A job that was requested starts later if no runner is there to start it.
func TestTrigger(t *testing.T) {
	s := newFolder(t)
	addCronJob(t, s, "c", `"schedule": "@daily"`, cronjob.Status{})
	for _, isUsed := range []bool{false, true} {
		if isUsed {
			podtest.HoldFile(t, filepath.Join(s.Dir, "runner.lock"))
		}
		status, out, errs := call(s, "trigger", "c")
		isLater := strings.Contains(out+errs, "no runner uses the state folder")
		if status != 0 || !strings.Contains(out, "requested job c-manual-") || isLater == isUsed {
			t.Errorf("in use %v: status %d, %s%s", isUsed, status, out, errs)
		}
	}
}

// A supervisor that hangs is killed when its time is over, and not before. Then the job is removed.
func TestRemove(t *testing.T) {
	for end, want := range map[time.Duration]bool{podtest.Overtime - 1: false, podtest.Overtime + time.Second: true} {
		synctest.Test(t, func(t *testing.T) {
			s, j, f := newPod(t)
			podtest.AskedToStop(t, f, time.Now())
			isKilled := podtest.Hold(t, f)
			time.AfterFunc(end, func() { isKilled() })
			status, out, _ := call(s, "rm", j.Name)
			_, err := os.Stat(string(f))
			isRemoved := out == "job j removed\n" && errors.Is(err, fs.ErrNotExist)
			if status != 0 || !isRemoved || isKilled() != want {
				t.Errorf("%v: status %d, %q, killed %v, the folder: %v", end, status, out, isKilled(), err)
			}
		})
	}
}

// A job stays as long as something of its pods cannot be ended or removed.
func TestRemove_Fails(t *testing.T) {
	for want, damage := range map[string]func(s *store.Store, f pod.Folder){
		"is a directory":      func(_ *store.Store, f pod.Folder) { podtest.BadCgroup(t, f, true) },
		"directory not empty": func(_ *store.Store, f pod.Folder) { podtest.BadCgroup(t, f, false) },
		"not a directory": func(s *store.Store, _ pod.Folder) {
			pods := filepath.Join(s.Dir, "pods")
			must.OK(t, errors.Join(os.Rename(pods, pods+"2"), os.WriteFile(pods, nil, 0o600)))
		},
		"fault": func(s *store.Store, _ pod.Folder) { storetest.Exec(t, s.Dir, storetest.Refuse("DELETE ON jobs")) },
	} {
		s, j, f := newPod(t)
		damage(s, f)
		var out strings.Builder
		err := (&program{out: &out}).remove(s, &j)
		if err == nil || !strings.Contains(err.Error(), want) || out.Len() > 0 {
			t.Errorf("%v, want %s; %q", err, want, &out)
		}
		if _, err := s.Job(j.UID); err != nil {
			t.Errorf("%s: the job: %v", want, err)
		}
	}
}

// What cannot be printed is an error, as is a clock that cannot be read.
func TestStatus_Fails(t *testing.T) {
	s := fill(t)
	for _, line := range []string{"status", "status indexed", "status berlin", "status -o json", "logs indexed"} {
		if Main(append(strings.Fields(line), "--state", s.Dir), nil, refusing{}, io.Discard) == 0 {
			t.Errorf("%s: nobody reads, and the status is 0", line)
		}
	}
	s = newFolder(t)
	addJob(t, s, store.Job{Name: "j"}, job.Status{})
	storetest.Exec(t, s.Dir, "UPDATE clock SET real = 'x'")
	if status, out, _ := call(s, "status"); status != exitBadInput {
		t.Errorf("status %d, %s", status, out)
	}
}
