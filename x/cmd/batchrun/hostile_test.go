//go:build linux

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store/storetest"
)

// nobody is the ID of a user other than the one who runs the tests.
const nobody = 65534

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
}

// interrupted creates a state folder with three sleepers that have begun and were interrupted.
func (w *world) interrupted() {
	w.t.Helper()
	stop := w.start("run", w.manifest(strings.ReplaceAll(sleepers, "STOP", "exit 143")))
	w.waitFor("lives", "begin", 3)
	if code := stop(syscall.SIGINT); code != 130 {
		w.t.Fatalf("exit status %d", code)
	}
	w.waitFor("lives", "asked", 3)
}

// A state folder is refused if another user owns it or could have written to it, because its jobs
// would run with the caller's rights.
func TestHostileFolder(t *testing.T) {
	for _, test := range []struct {
		name string
		root bool
		harm func(state string) error
		want string
	}{
		{"the folder is another user's", true, func(s string) error { return os.Chown(s, nobody, nobody) }, "/state: belongs to user 65534"},
		{"everybody can write to the folder", false, func(s string) error { return os.Chmod(s, 0o777) }, "/state: has mode 0777"},
		{"the folder is a link of another user's", true, func(s string) error {
			return errors.Join(os.Rename(s, s+"2"), os.Symlink(s+"2", s), os.Lchown(s, nobody, nobody))
		}, "/state: belongs to user 65534"},
		{"the folder is in another user's", true, func(s string) error {
			return os.Chown(filepath.Dir(s), nobody, nobody)
		}, ": belongs to user 65534, who can replace what is in it"},
		{"everybody can write to the folder's parent", false, func(s string) error {
			return os.Chmod(filepath.Dir(s), 0o777)
		}, ": has mode 0777, so other users can replace what is in it"},
		{"a link of the caller's to the folder", false, func(s string) error {
			return errors.Join(os.Rename(s, s+"2"), os.Symlink(s+"2", s))
		}, ""},
		{"the database is a link", false, func(s string) error {
			db := filepath.Join(s, "state.db")
			return errors.Join(os.Rename(db, db+"2"), os.Symlink("state.db2", db))
		}, "/state/state.db: is neither a regular file nor a folder"},
		{"the database is a pipe", false, func(s string) error {
			db := filepath.Join(s, "state.db")
			return errors.Join(os.Remove(db), syscall.Mkfifo(db, 0o600))
		}, "/state/state.db: is neither a regular file nor a folder"},
		{"the runner's lock is a pipe", false, func(s string) error {
			lock := filepath.Join(s, "runner.lock")
			return errors.Join(os.Remove(lock), syscall.Mkfifo(lock, 0o600))
		}, "/state/runner.lock: is neither a regular file nor a folder"},
		{"the pods are a link", false, func(s string) error {
			pods := filepath.Join(s, "pods")
			return errors.Join(os.Rename(pods, pods+"2"), os.Symlink("pods2", pods))
		}, "/state/pods: is neither a regular file nor a folder"},
		{"the database is another user's", true, func(s string) error {
			return os.Chown(filepath.Join(s, "state.db"), nobody, nobody)
		}, "/state/state.db: belongs to user 65534"},
		{"the group can write to the database", false, func(s string) error {
			return os.Chmod(filepath.Join(s, "state.db"), 0o660)
		}, "/state/state.db: has mode 0660"},
		{"everybody can write to the pods", false, func(s string) error {
			return os.Chmod(filepath.Join(s, "pods"), 0o733)
		}, "/state/pods: has mode 0733"},
		{"an empty folder of the caller among the pods", false, func(s string) error {
			return os.Mkdir(filepath.Join(s, "pods", "x"), 0o700)
		}, ""},
		{"a pod's folder is another user's", true, func(s string) error {
			p := filepath.Join(s, "pods", "x")
			return errors.Join(os.Mkdir(p, 0o700), os.Chown(p, nobody, nobody))
		}, "/state/pods/x: belongs to user 65534"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.root {
				needRoot(t)
			}
			w := newWorld(t)
			w.interrupted()
			must.OK(t, test.harm(w.state))
			if test.want == "" {
				w.want(0, "status")
				return
			}
			o := w.want(2, "run")
			if !strings.Contains(o.errOut, test.want) || len(w.trace("lives")) != 6 {
				t.Errorf("no %q in %v\n%v", test.want, o, w.trace("lives"))
			}
		})
	}
}

// If a container has replaced a log, the command logs does not print it, and does not wait for it.
func TestHostileLog(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(log, secret string) error{
		"link": func(log, secret string) error { return os.Symlink(secret, log) },
		"pipe": func(log, _ string) error { return syscall.Mkfifo(log, 0o600) },
	} {
		w := newWorld(t)
		w.want(0, "run", "testdata/good.json")
		secret := filepath.Join(w.traces, "secret")
		must.OK(t, os.WriteFile(secret, []byte("secret"), 0o600))
		logs, err := filepath.Glob(filepath.Join(w.state, "pods", "*", "logs", "*.stdout"))
		if err != nil || len(logs) == 0 {
			t.Fatal(logs, err)
		}
		must.OK(t, errors.Join(os.Remove(logs[0]), replace(logs[0], secret)))
		jobs := strings.Fields(strings.Split(w.want(0, "status").out, "\n")[1])
		if o := w.want(2, "logs", jobs[0]); strings.Contains(o.out, "secret") ||
			!strings.Contains(o.errOut, ".stdout: ") {
			t.Errorf("%s: %v", name, o)
		}
	}
}

// A supervisor starts nothing from a spec that another user may have written.
func TestHostileSpec(t *testing.T) {
	w := newWorld(t)
	folder := pod.Folder(filepath.Join(w.state, "pods", "x"))
	must.OK(t, os.MkdirAll(filepath.Dir(string(folder)), 0o700))
	trace := filepath.Join(w.traces, "ran")
	must.OK(t, folder.Prepare([]byte(`{"uid": "x", "restartPolicy": "Never", "containers": [{"name": "a", "argv": ["/bin/touch", "`+trace+`"]}]}`)))
	must.OK(t, os.Chmod(filepath.Join(string(folder), "spec.json"), 0o666))
	c, err := pod.ChooseContainment("auto", pod.ProbeContainment)
	must.OK(t, err)
	cmd, err := pod.Command(folder, c)
	must.OK(t, err)
	if err := cmd.Run(); err == nil {
		t.Error("the supervisor has run it")
	}
	if _, err := os.Stat(trace); !os.IsNotExist(err) {
		t.Errorf("the container has run: %v", err)
	}
	if log, _ := os.ReadFile(folder.SupervisorLog()); !strings.Contains(string(log), "spec.json: has mode 0666") {
		t.Errorf("the log says %q", log)
	}
}

// No other user can read what the runner stores, whatever files an earlier runner has left. If pods
// outlive the runner, they hold none of the locks of its caller.
func TestNothingIsReadable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must.OK(t, os.MkdirAll(filepath.Join(w.state, "pods"), 0o755))
	w.interrupted()
	err := filepath.WalkDir(w.state, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		// The folder itself existed before; the runner has created the rest.
		if err == nil && path != w.state && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	fresh := newWorld(t)
	fresh.want(0, "run", "testdata/good.json")
	if info, err := os.Stat(fresh.state); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the state folder has mode %v, %v", info.Mode(), err)
	}
}

// If the database is missing, empty or damaged, but a write-ahead log or a pod is left, the state
// folder does not count as new. Every command refuses it and says what to restore, before SQLite
// could delete the log. Once the database is restored, the job continues.
func TestLostDatabase(t *testing.T) {
	tidy := func(db string) error { return errors.Join(os.Remove(db+"-wal"), os.Remove(db+"-shm")) }
	for name, lose := range map[string]func(db string) error{
		"truncated":                   func(db string) error { return errors.Join(tidy(db), os.Truncate(db, 0)) },
		"truncated, its log is there": func(db string) error { return os.Truncate(db, 0) },
		"removed":                     func(db string) error { return errors.Join(tidy(db), os.Remove(db)) },
		"removed, its log is there":   os.Remove,
		"without its log":             tidy,
		"damaged": func(db string) error {
			data, err := os.ReadFile(db)
			must.OK(t, err)
			data[3] ^= 1
			return os.WriteFile(db, data, 0o600)
		},
		"cut in its header": func(db string) error { return os.Truncate(db, 15) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			file := w.manifest(strings.ReplaceAll(sleepers, "STOP", "exit 143"))
			stop := w.start("run", file)
			w.waitFor("lives", "begin", 3)
			stop(syscall.SIGKILL) // the pods continue

			backup := w.files()
			must.OK(t, lose(filepath.Join(w.state, "state.db")))
			lost := w.files()
			for _, args := range [][]string{{"run", file}, {"run"}, {"status"}, {"status", "sleepers"}, {"logs", "sleepers"},
				{"next", "sleepers"}, {"rm", "sleepers"}, {"trigger", "sleepers"}} {
				if o := w.want(2, args...); !strings.Contains(o.errOut, "restore ") {
					t.Errorf("%v: %v", args, o)
				}
			}
			if name != "without its log" { // SQLite makes a new log, and nothing is lost
				w.wantFiles(lost)
			}

			for path, content := range backup {
				if strings.HasPrefix(path, "state.db") {
					must.OK(t, os.WriteFile(filepath.Join(w.state, path), []byte(content), 0o600))
				}
			}
			must.OK(t, os.WriteFile(filepath.Join(w.traces, "finish"), nil, 0o644))
			w.want(0, "run", file)
			if lives := w.trace("lives"); len(lives) != 3 {
				t.Errorf("work has begun anew: %v", lives)
			}
		})
	}
}

// files returns the contents of the files in the state folder. It leaves out the files of pods, and
// the index of SQLite's log, which readers use for their locks.
func (w *world) files() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	must.OK(w.t, filepath.WalkDir(w.state, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(w.state, path)
		if err != nil || e.IsDir() || strings.HasSuffix(name, "-shm") || strings.HasPrefix(name, "pods") {
			return err
		}
		data, err := os.ReadFile(path)
		all[name] = string(data)
		return err
	}))
	return all
}

func (w *world) wantFiles(want map[string]string) {
	w.t.Helper()
	have := w.files()
	for name := range have {
		if have[name] != want[name] {
			w.t.Errorf("%s was written", name)
		}
	}
	if len(have) != len(want) {
		w.t.Errorf("%d files, want %d", len(have), len(want))
	}
}

// Commands that only read write nothing, even where SQLite would clean up: when the log of the
// database has data, with the index of the log or without it; after the runner has ended; and in a
// database of an earlier version.
func TestLooksWriteNothing(t *testing.T) {
	for name, prepare := range map[string]func(w *world, db string){
		"the runner was killed": func(*world, string) {},
		"without the index":     func(_ *world, db string) { must.OK(t, os.Remove(db+"-shm")) },
		"after the end": func(w *world, db string) {
			w.want(0, "run")
			if _, err := os.Lstat(db + "-wal"); err == nil {
				t.Error("the log is there")
			}
		},
		"an earlier version": func(w *world, db string) {
			w.want(0, "run")
			storetest.Exec(t, filepath.Dir(db), `DROP INDEX jobs_of_cronjob; DROP TABLE cronjobs; DROP TABLE triggers;
				DROP TABLE cronjob_events; DROP TABLE clock;
				ALTER TABLE jobs DROP COLUMN cronjob; ALTER TABLE jobs DROP COLUMN scheduled; ALTER TABLE jobs DROP COLUMN deleted;
				PRAGMA user_version = 1`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			stop := w.start("run", w.manifest(strings.ReplaceAll(sleepers, "STOP", "exit 143")))
			w.waitFor("lives", "begin", 3)
			stop(syscall.SIGKILL)
			must.OK(t, os.WriteFile(filepath.Join(w.traces, "finish"), nil, 0o644))
			prepare(w, filepath.Join(w.state, "state.db"))

			before := w.files()
			for _, args := range [][]string{{"status"}, {"status", "sleepers"}, {"status", "-o", "json"}, {"logs", "sleepers"}} {
				w.want(0, args...)
			}
			w.want(2, "next", "sleepers") // sleepers is not a CronJob
			w.wantFiles(before)
		})
	}
}

// A command that cannot read an object in the database reports an error, and does not treat it as
// missing.
func TestBrokenDatabase(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ damage, args, want string }{
		{"UPDATE cronjobs SET manifest = 'x'", "run", "batchrun: CronJob tick: invalid"},
		{"UPDATE jobs SET manifest = 'x'", "run", "batchrun: job talker: invalid"},
		{"ALTER TABLE pods RENAME TO others", "logs talker", "no such table: pods"},
		{"ALTER TABLE jobs RENAME TO others", "logs tick", "no such table: jobs"},
		{"ALTER TABLE pods RENAME TO others", "logs talker -f", "no such table: pods"},
	} {
		w := newWorld(t)
		w.want(1, "run", "-q", "--until", "1s", w.manifest(strings.Replace(talker, "backoffLimit: 0", "suspend: true", 1)+"---"+tickWith("suspend: true", "0")))
		storetest.Exec(t, w.state, test.damage)
		if o := w.call(strings.Fields(test.args)...); o.code == 0 || !strings.Contains(o.errOut, test.want) {
			t.Errorf("%s: no %q: %v", test.damage, test.want, o)
		}
	}
}

// When the supervisor of a container is killed, the container's grandchildren end. They do not run
// beside the replacement of the container.
func TestGrandchildrenEnd(t *testing.T) {
	for _, c := range pod.Containments {
		t.Run(string(c), func(t *testing.T) {
			t.Parallel()
			if err := pod.ProbeContainment(c); err != nil {
				t.Skipf("not possible here: %v", err)
			}
			w := newWorld(t)
			text := strings.ReplaceAll(sleepers, "backoffLimit: 0", "backoffLimit: 5")
			text = strings.ReplaceAll(text, "completions: 3\n  parallelism: 3", "completions: 1\n  parallelism: 1")
			i, j := strings.Index(text, "'\n          trap"), strings.Index(text, "']")
			text = text[:i] + `'sh -c "trap true TERM; echo begin $UID_OF_POD >> TRACES/lives;
				while [ ! -e TRACES/finish ]; do echo beat $UID_OF_POD >> TRACES/lives; sleep 0.01; done"; exit $?` + text[j:]
			text = strings.ReplaceAll(text, "command:", "env:\n        - {name: UID_OF_POD, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}\n        command:")
			stop := w.start("run", "--contain", string(c), "--backoff", "10ms", w.manifest(text))
			w.waitFor("lives", "beat", 1)
			pid, err := w.folders()[0].Supervisor()
			if err != nil || pid == 0 {
				t.Fatal(pid, err)
			}
			_ = syscall.Kill(pid, syscall.SIGKILL)
			w.waitFor("lives", "begin", 2)
			beats := len(w.trace("lives"))
			w.waitFor("lives", "beat", beats+20)
			must.OK(t, os.WriteFile(filepath.Join(w.traces, "finish"), nil, 0o644))
			if code := stop(nil); code != 0 {
				t.Errorf("exit status %d", code)
			}
			current := ""
			for i, words := range w.trace("lives") {
				if words[0] == "begin" {
					current = words[1]
				} else if words[1] != current {
					t.Fatalf("line %d: %s works beside %s", i, words[1], current)
				}
			}
		})
	}
}

// Hostile manifests are refused before anything runs. The error names file, line, field and value.
// If a log was cut, the commands run, status and logs report that.
func TestHostileManifest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, test := range []struct{ field, want string }{
		{"workingDir: ../../../x", `workingDir: "../../../x": is not a path inside the pod's folder`},
		{"volumeMounts: [{name: v, mountPath: ../x}]", `mountPath: "../x": is not a path inside the container`},
		{"volumeMounts: [{name: v, mountPath: x, subPath: ../../x}]", `subPath: "../../x": is not a path inside the volume`},
		{`env: [{name: A, value: "\0"}]`, `env[0].value: "\u0000": contains a NUL`},
		{"securityContext: {readOnlyRootFilesystem: true}", "readOnlyRootFilesystem: true: not supported"},
		{"securityContext: {capabilities: {add: [NOTHING]}}", `capabilities.add[0]: "NOTHING": is not a capability`},
	} {
		text := strings.ReplaceAll(sleepers, "command: [", test.field+"\n        command: [")
		text = strings.ReplaceAll(text, "restartPolicy:", "volumes: [{name: v, emptyDir: {}}]\n      restartPolicy:")
		if o := w.want(2, "run", w.manifest(text)); !strings.Contains(o.errOut, test.want) ||
			!strings.Contains(o.errOut, "manifest.yaml:1") {
			t.Errorf("no %q in %v", test.want, o)
		}
	}
	if _, err := os.Stat(w.state); !os.IsNotExist(err) {
		t.Errorf("a state folder was made: %v", err)
	}
	text := strings.ReplaceAll(manyJob, "completions: 40", "completions: 1")
	i, j := strings.Index(text, "command:"), strings.Index(text, "exit $code']")
	text = text[:i] + "command: [sh, -c, 'yes | head -c 200000; sleep 0.3" + text[j+len("exit $code"):]
	o := w.want(0, "run", "--max-log", "1k", w.manifest(text))
	if !strings.Contains(o.errOut, "container main has written more than --max-log") {
		t.Error(o)
	}
	if o := w.want(0, "status", "many"); !strings.Contains(o.out, "(log cut at --max-log)") {
		t.Error(o)
	}
	if o := w.want(0, "logs", "many"); !strings.HasSuffix(o.out, "[cut here: --max-log is 1000 bytes]\n") ||
		len(o.out) > 1100 {
		t.Errorf("%d bytes: %.50q", len(o.out), o.out)
	}
	w.want(2, "run", "--max-log", "much")
	w.want(2, "run", "--max-log=-1")
}
