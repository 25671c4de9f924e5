package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/private"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/store/storetest"
)

// write writes a file of a state folder, whose parents it creates.
func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	must.OK(t, os.MkdirAll(filepath.Dir(path), private.DirMode))
	must.OK(t, os.WriteFile(path, []byte(content), private.FileMode))
}

// TestCheckDatabase has state folders that a program may continue, and those whose data SQLite
// would delete.
func TestCheckDatabase(t *testing.T) {
	for name, c := range map[string]struct {
		files   map[string]string
		problem string
	}{
		"no folder":                       {nil, ""},
		"a new folder":                    {map[string]string{"notes": "x"}, ""},
		"an empty log":                    {map[string]string{"state.db-wal": ""}, ""},
		"a log without a database":        {map[string]string{"state.db-wal": "x"}, "state.db is missing, but state.db-wal has data"},
		"a log beside an empty file":      {map[string]string{"state.db": "", "state.db-wal": "x"}, "state.db is empty, but state.db-wal has data"},
		"an empty database":               {map[string]string{"state.db": ""}, ""},
		"a pod without a database":        {map[string]string{"pods/u/spec.json": "{}"}, "state.db is missing: state folder"},
		"a pod beside an empty database":  {map[string]string{"state.db": "", "pods/u/spec.json": "{}"}, "state.db is empty: state folder"},
		"a folder that has become no pod": {map[string]string{"pods/u/guard.json": "{}"}, ""},
		"a database":                      {map[string]string{"state.db": magic + "rest", "state.db-wal": "x"}, ""},
		"the header alone":                {map[string]string{"state.db": magic}, ""},
		"a header cut short":              {map[string]string{"state.db": magic[:len(magic)-1]}, "state.db is damaged"},
		"another header":                  {map[string]string{"state.db": strings.ToLower(magic) + "rest"}, "state.db is damaged"},
	} {
		dir := filepath.Join(t.TempDir(), "state")
		for file, content := range c.files {
			write(t, dir, file, content)
		}
		err := CheckDatabase(dir)
		if c.problem == "" && err != nil || c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem) ||
			!strings.Contains(err.Error(), "state folder "+dir+": ")) {
			t.Errorf("%s: got %v, want %q", name, err, c.problem)
		}

		_, lookErr := OpenToLook(dir)
		if c.problem != "" && (lookErr == nil || lookErr.Error() != err.Error()) {
			t.Errorf("%s: OpenToLook: %v", name, lookErr)
		}
		if _, openErr := Open(dir); (err != nil) != (openErr != nil) && len(c.files["state.db"]) == 0 {
			t.Errorf("%s: Open: %v", name, openErr)
		}
	}
}

// A database that cannot be read is an error, and not a new database.
func TestCheckDatabase_Unreadable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must.OK(t, os.WriteFile(file, nil, private.FileMode))
	if err := CheckDatabase(file); err == nil {
		t.Error("a file is a state folder")
	}

	dir := t.TempDir()
	must.OK(t, os.Symlink("/dev/zero", filepath.Join(dir, "state.db"))) // package private refuses it later
	if err := CheckDatabase(dir); err != nil {
		t.Error(err)
	}
	for name, open := range map[string]func(string) (*Store, error){"Open": Open, "OpenToLook": OpenToLook} {
		if _, err := open(dir); err == nil || !strings.HasPrefix(err.Error(), "state folder: ") {
			t.Errorf("%s follows a link: %v", name, err)
		}
	}
}

// TestCheckPods: folders of pods that the database does not know are counted, and one is named.
func TestCheckPods(t *testing.T) {
	s := open(t)
	must.OK(t, s.CheckPods()) // without pods
	j := addJob(t, s, Job{Name: "j"})
	must.OK(t, s.AddPod(Pod{UID: "known", Job: j.UID}))
	write(t, s.Dir, "pods/known/spec.json", "{}")
	write(t, s.Dir, "pods/begun/guard.json", "{}")
	must.OK(t, s.CheckPods())

	for _, c := range []struct{ name, count string }{{"a", "1 pod"}, {"b", "2 pods"}} {
		write(t, s.Dir, "pods/"+c.name+"/spec.json", "{}")
		err := s.CheckPods()
		if err == nil || !strings.Contains(err.Error(), "state.db does not know "+c.count+" that ran") ||
			!strings.Contains(err.Error(), s.PodFolder("a")) && !strings.Contains(err.Error(), s.PodFolder("b")) {
			t.Errorf("%s: %v", c.count, err)
		}
	}
	if _, err := OpenToLook(s.Dir); err == nil {
		t.Error("OpenToLook shows a database that does not know the pods")
	}
	must.OK(t, errors.Join(os.RemoveAll(s.PodFolder("a")), os.RemoveAll(s.PodFolder("b"))))

	must.OK(t, os.Chmod(s.PodFolder("begun"), 0o770))
	if err := s.CheckPods(); err == nil || !strings.HasPrefix(err.Error(), "state folder: ") {
		t.Errorf("others can write to a pod: %v", err)
	}
	must.OK(t, os.Chmod(s.PodFolder("begun"), 0o700))
	must.OK(t, s.Close())
	if err := s.CheckPods(); err == nil || strings.Contains(err.Error(), "does not know") {
		t.Errorf("the database is closed: %v", err)
	}
}

// files returns the names and contents of the files in a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.OK(t, err)
	out := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err == nil {
			out[e.Name()] = string(data)
		}
	}
	return out
}

// TestLook: a look shows what a runner has stored, wherever SQLite keeps it, and changes no file.
func TestLook(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := open(t)
	addJob(t, s, Job{Name: "j"})
	crashed := filepath.Join(t.TempDir(), "crashed") // the runner was killed, and its index is lost
	for name, data := range files(t, s.Dir) {
		if name == database || name == database+walSuffix {
			write(t, crashed, name, data)
		}
	}
	if len(files(t, crashed)[database+walSuffix]) == 0 {
		t.Fatal("all data are in the database")
	}

	closed := filepath.Join(t.TempDir(), "closed")
	other, err := Open(closed)
	must.OK(t, err)
	addJob(t, other, Job{Name: "j"})
	must.OK(t, other.Close())

	for name, dir := range map[string]string{"a runner is there": s.Dir, "killed": crashed, "closed": closed} {
		before := files(t, dir)
		look, err := OpenToLook(dir)
		must.OK(t, err)
		if got, err := names(look.Jobs()); err != nil || len(got) != 1 || got[0] != "j" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if _, err := look.AddJob(Job{Name: "k", Manifest: []byte("{}")}); err == nil {
			t.Errorf("%s: a look has written", name)
		}
		if isCopy := look.copy != ""; isCopy != (name == "killed") {
			t.Errorf("%s: the copy is %q", name, look.copy)
		}
		must.OK(t, look.Close())

		after := files(t, dir)
		for file := range before {
			if file != database+shmSuffix && before[file] != after[file] {
				t.Errorf("%s: %s has changed", name, file)
			}
		}
		if len(before) != len(after) {
			t.Errorf("%s: %d files have become %d", name, len(before), len(after))
		}
	}
	if left := files(t, os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("copies are left: %v", left)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("copies are left: %v, %v", left, err)
	}
}

// A look at an earlier version upgrades a copy. A later version is refused, and no copy is left.
func TestLook_Versions(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for version, text := range map[int]string{
		1:                firstSchema + "INSERT INTO jobs (uid, namespace, name, created, manifest) VALUES ('u', 'default', 'old', 1, '{}'); PRAGMA user_version = 1",
		len(schemas) + 1: firstSchema + cronSchema + "PRAGMA user_version = 3",
	} {
		dir := t.TempDir()
		must.OK(t, os.Chmod(dir, private.DirMode))
		storetest.Exec(t, dir, text)
		must.OK(t, os.Chmod(filepath.Join(dir, "state.db"), private.FileMode))
		before := files(t, dir)

		s, err := OpenToLook(dir)
		if version > len(schemas) {
			if err == nil || !strings.Contains(err.Error(), "has schema version 3, this program knows versions up to 2") {
				t.Errorf("version %d: %v", version, err)
			}
		} else {
			must.OK(t, err)
			if got, err := names(s.Jobs()); err != nil || len(got) != 1 || s.Dir == s.copy {
				t.Errorf("version %d: %q, %v", version, got, err)
			}
			must.OK(t, s.Close())
		}
		if after := files(t, dir); len(after) != len(before) || after[database] != before[database] {
			t.Errorf("version %d: the folder has changed", version)
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("copies are left: %v, %v", left, err)
	}
}

// A folder that is not there is not looked at. One that others can write to is not opened either.
func TestOpen_Refused(t *testing.T) {
	empty := t.TempDir()
	must.OK(t, os.Chmod(empty, private.DirMode))
	for _, dir := range []string{empty, filepath.Join(empty, "none")} {
		if _, err := OpenToLook(dir); err == nil || !strings.HasPrefix(err.Error(), "state folder: ") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	for _, path := range []string{"", "state.db", "state.db-wal", "state.db-shm"} {
		s := open(t)
		must.OK(t, os.Chmod(filepath.Join(s.Dir, path), 0o722))
		for name, open := range map[string]func(string) (*Store, error){"Open": Open, "OpenToLook": OpenToLook} {
			if _, err := open(s.Dir); err == nil || !strings.HasPrefix(err.Error(), "state folder: ") {
				t.Errorf("%s: others can write to %q: %v", name, path, err)
			}
		}
	}

	s := open(t)
	must.OK(t, os.Chmod(filepath.Dir(s.Dir), 0o777))
	for name, open := range map[string]func(string) (*Store, error){"Open": Open, "OpenToLook": OpenToLook} {
		if _, err := open(s.Dir); err == nil || !strings.HasPrefix(err.Error(), "state folder: ") {
			t.Errorf("%s: others can replace the folder: %v", name, err)
		}
	}
}

// A copy that cannot be upgraded says why.
func TestLook_NotUpgraded(t *testing.T) {
	dir := t.TempDir()
	must.OK(t, os.Chmod(dir, private.DirMode))
	storetest.Exec(t, dir, "CREATE TABLE other (id INTEGER)") // its version is 0, as that of a new database
	must.OK(t, os.Chmod(filepath.Join(dir, "state.db"), private.FileMode))
	write(t, dir, "pods/u/spec.json", "{}")
	for name, open := range map[string]func(string) (*Store, error){"Open": Open, "OpenToLook": OpenToLook} {
		if _, err := open(dir); err == nil || !strings.Contains(err.Error(), "does not know 1 pod") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOpen_Modes: other users can read nothing in a state folder, also if they could before.
func TestOpen_Modes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "state")
	for range 2 {
		s, err := Open(dir)
		must.OK(t, err)
		must.OK(t, os.MkdirAll(s.PodFolder("u"), private.DirMode))
		for path, want := range map[string]os.FileMode{
			"": private.DirMode, "pods": private.DirMode, "state.db": private.FileMode, "state.db-wal": private.FileMode,
			"state.db-shm": private.FileMode,
		} {
			info, err := os.Stat(filepath.Join(dir, path))
			must.OK(t, err)
			if info.Mode().Perm() != want {
				t.Errorf("%q has mode %o, want %o", path, info.Mode().Perm(), want)
			}
		}
		must.OK(t, s.Close())
		must.OK(t, errors.Join(os.Chmod(filepath.Join(dir, "pods"), 0o755), os.Chmod(filepath.Join(dir, "state.db"), 0o644)))
	}
}

// Any name can be that of a state folder.
func TestOpen_Names(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a?b#c%41 ü")
	s, err := Open(dir)
	must.OK(t, err)
	addJob(t, s, Job{Name: "j"})
	if _, err := os.Stat(filepath.Join(dir, "state.db")); err != nil {
		t.Error(err)
	}
	look, err := OpenToLook(dir)
	must.OK(t, err)
	if got, err := names(look.Jobs()); err != nil || len(got) != 1 {
		t.Errorf("%q, %v", got, err)
	}
	must.OK(t, errors.Join(look.Close(), s.Close()))
	if got := escape("a?b#c%d"); got != "a%3fb%23c%25d" {
		t.Error(got)
	}
}

// TestRoom: the check for room leaves no file, also if a killed runner has left one.
func TestRoom(t *testing.T) {
	s := open(t)
	write(t, s.Dir, roomFile, "x")
	must.OK(t, s.Room())
	must.OK(t, s.Room())
	if left, found := files(t, s.Dir)[roomFile]; found {
		t.Errorf("a file is left: %q", left)
	}

	must.OK(t, os.MkdirAll(filepath.Join(s.Dir, roomFile, "x"), private.DirMode))
	if err := s.Room(); err == nil {
		t.Error("a file could not be written")
	}
	must.OK(t, os.RemoveAll(s.Dir))
	if err := s.Room(); err == nil {
		t.Error("the folder is gone")
	}
}

// After Hurry, a write waits a second for another process, and not ten.
func TestHurry(t *testing.T) {
	s := open(t)
	for _, want := range []int{10000, 1000} {
		var got int
		must.OK(t, s.db.QueryRow("PRAGMA busy_timeout").Scan(&got))
		if got != want {
			t.Errorf("waits %d ms, want %d", got, want)
		}
		must.OK(t, s.Hurry())
	}
	var durable int
	must.OK(t, s.db.QueryRow("PRAGMA synchronous").Scan(&durable))
	if durable != 2 {
		t.Errorf("synchronous is %d, not FULL", durable)
	}
	if n := s.db.Stats().MaxOpenConnections; n != 1 { // another would not have these settings
		t.Errorf("%d connections", n)
	}
}

// Version changes with the write of another process, and not with an own one.
func TestVersion(t *testing.T) {
	s := open(t)
	other, err := Open(s.Dir)
	must.OK(t, err)
	defer other.Close()
	version := func() int64 {
		v, err := s.Version()
		must.OK(t, err)
		return v
	}

	first := version()
	addJob(t, s, Job{Name: "own"})
	if again := version(); again != first {
		t.Errorf("an own write: %d, %d", first, again)
	}
	addJob(t, other, Job{Name: "other"})
	if again := version(); again == first {
		t.Error("the write of another is not seen")
	}
}
