//go:build unix

package private

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

func TestCheck(t *testing.T) {
	asRoot := func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("only root can give a file away")
		}
	}
	for _, test := range []struct {
		name string
		make func(t *testing.T, path string) error
		want string // a part of the error; empty for no error
	}{
		{"the caller's folder", func(_ *testing.T, p string) error { return os.Mkdir(p, 0o700) }, ""},
		{"a folder that others can read", func(_ *testing.T, p string) error { return os.Mkdir(p, 0o755) }, ""},
		{"a folder that everybody can write to", func(_ *testing.T, p string) error {
			return makeWith(p, os.ModeDir|0o777)
		}, "has mode 0777"},
		{"a folder that the group can write to", func(_ *testing.T, p string) error {
			return makeWith(p, os.ModeDir|0o720)
		}, "has mode 0720"},
		{"a folder that everybody can write to, sticky", func(_ *testing.T, p string) error {
			return makeWith(p, os.ModeDir|os.ModeSticky|0o777)
		}, "has mode 0777"},
		{"a file that others can write to", func(_ *testing.T, p string) error { return makeWith(p, 0o602) }, "has mode 0602"},
		{"a folder of another user", func(t *testing.T, p string) error {
			asRoot(t)
			if err := os.Mkdir(p, 0o700); err != nil {
				return err
			}
			return os.Chown(p, 65534, 65534)
		}, "belongs to user 65534, not to the current user 0"},
		{"a link", func(_ *testing.T, p string) error { return os.Symlink(filepath.Dir(p), p) }, "is neither a regular file nor a folder"},
		{"a pipe", func(_ *testing.T, p string) error { return syscall.Mkfifo(p, 0o600) }, "is neither a regular file nor a folder"},
		{"nothing", func(*testing.T, string) error { return nil }, "no such file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			must.OK(t, os.Chmod(dir, 0o700))
			path := filepath.Join(dir, "x")
			must.OK(t, test.make(t, path))
			err := Check(path)
			if test.want == "" && err != nil ||
				test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("want %q, have %v", test.want, err)
			}
			if err != nil && !errors.Is(err, os.ErrNotExist) && !strings.HasPrefix(err.Error(), path+": ") {
				t.Errorf("the path is not named first: %v", err)
			}
		})
	}
}

// makeWith creates a file or a folder that has exactly this mode, whatever the umask is.
func makeWith(path string, mode os.FileMode) error {
	var err error
	if mode.IsDir() {
		err = os.Mkdir(path, 0o700)
	} else {
		err = os.WriteFile(path, nil, 0o600)
	}
	if err != nil {
		return err
	}
	return os.Chmod(path, mode)
}

// If another user can lead a path elsewhere, the path is refused. Otherwise it is returned without
// its links.
func TestResolve(t *testing.T) {
	const other = 65534
	give := func(path string) error { return os.Lchown(path, other, other) }
	for _, test := range []struct {
		name string
		root bool // the test needs root
		make func(dir string) error
		path string
		real string // the resolved path, if it differs
		want string // in the error
	}{
		{"nothing exists", false, func(string) error { return nil }, "a/b", "a/b", ""},
		{"folders of the caller", false, func(d string) error { return os.MkdirAll(d+"/a/b", 0o755) }, "a/b", "a/b", ""},
		{"the last part is not checked", false, func(d string) error { return makeWith(d+"/a", os.ModeDir|0o777) }, "a", "a", ""},
		{"everybody can write to a parent", false, func(d string) error { return makeWith(d+"/a", os.ModeDir|0o777) }, "a/b", "", "/a: has mode 0777"},
		{"the group can write to a parent's parent", false, func(d string) error {
			return errors.Join(os.MkdirAll(d+"/a/b", 0o755), os.Chmod(d+"/a", 0o775))
		}, "a/b/c", "", "/a: has mode 0775"},
		{"everybody can write to a parent, sticky", false, func(d string) error {
			return makeWith(d+"/a", os.ModeDir|os.ModeSticky|0o777)
		}, "a/b", "a/b", ""},
		{"a parent of another user", true, func(d string) error {
			return errors.Join(os.Mkdir(d+"/a", 0o755), give(d+"/a"))
		}, "a/b", "", "/a: belongs to user 65534"},
		{"a parent of another user, sticky", true, func(d string) error {
			return errors.Join(makeWith(d+"/a", os.ModeDir|os.ModeSticky|0o777), give(d+"/a"))
		}, "a/b", "", "/a: belongs to user 65534"},
		{"links of the caller", false, func(d string) error {
			return errors.Join(os.MkdirAll(d+"/a/b", 0o755), os.Symlink("a/../a/b", d+"/l"), os.Symlink(d+"/l", d+"/m"))
		}, "m/c", "a/b/c", ""},
		{"a link of another user", true, func(d string) error {
			return errors.Join(os.Mkdir(d+"/a", 0o755), os.Symlink("a", d+"/l"), give(d+"/l"))
		}, "l", "", "/l: belongs to user 65534"},
		{"a link into a folder of another user", true, func(d string) error {
			return errors.Join(os.MkdirAll(d+"/a/b", 0o755), os.Symlink("a/b", d+"/l"), give(d+"/a"))
		}, "l", "", "/a: belongs to user 65534"},
		{"as many links as may be followed", false, func(d string) error { return chain(d, maxLinks) }, "l", "end", ""},
		{"one link more", false, func(d string) error { return chain(d, maxLinks+1) }, "l", "", "leads through more than 40 symbolic links"},
		{"a file on the way", false, func(d string) error { return makeWith(d+"/a", 0o600) }, "a/b/c", "", "not a directory"},
		{"links in a circle", false, func(d string) error {
			return errors.Join(os.Symlink("m", d+"/l"), os.Symlink("l", d+"/m"))
		}, "l", "", "leads through more than 40 symbolic links"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.root && os.Geteuid() != 0 {
				t.Skip("only root can give a file away")
			}
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err == nil {
				err = errors.Join(os.Chmod(dir, 0o700), test.make(dir))
			}
			must.OK(t, err)
			real, err := Resolve(filepath.Join(dir, test.path))
			if test.want == "" && (err != nil || real != filepath.Join(dir, test.real)) {
				t.Errorf("want %s, have %s, %v", test.real, real, err)
			}
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("want %q, have %v", test.want, err)
			}
		})
	}
}

// chain makes a path that leads through n links to the name "end".
func chain(dir string, n int) (err error) {
	for i := range n {
		from, to := fmt.Sprint("l", i), fmt.Sprint("l", i+1)
		if i == 0 {
			from = "l"
		}
		if i == n-1 {
			to = "end"
		}
		err = errors.Join(err, os.Symlink(to, filepath.Join(dir, from)))
	}
	return err
}

// A file is opened only if it is regular, has one name, and is not outside of the root.
func TestOpen(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	root, err := os.OpenRoot(dir)
	must.OK(t, err)
	defer root.Close()
	err = errors.Join(
		os.WriteFile(filepath.Join(dir, "file"), nil, 0o600), os.WriteFile(filepath.Join(dir, "two"), nil, 0o600),
		os.WriteFile(filepath.Join(outside, "file"), nil, 0o600),
		os.Link(filepath.Join(dir, "two"), filepath.Join(dir, "names")),
		os.Symlink("file", filepath.Join(dir, "link")), os.Symlink(filepath.Join(outside, "file"),
			filepath.Join(dir, "away")),
		os.Symlink(outside, filepath.Join(dir, "folder")), syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600),
		makeWith(filepath.Join(dir, "loose"), 0o622))
	must.OK(t, err)
	for _, name := range []string{"two", "names", "link", "away", "folder/file", "folder", "pipe", ".", "../x", "loose"} {
		for _, flag := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR | os.O_CREATE} {
			if file, err := Open(root, name, flag); err == nil {
				t.Errorf("%s was opened with %#x", name, flag)
				file.Close()
			}
		}
	}
	for _, name := range []string{"two", "names", "link", "loose"} {
		if _, err := Open(root, name, os.O_RDONLY); !strings.HasPrefix(err.Error(), filepath.Join(dir, name)+": ") {
			t.Errorf("the path of %s is not named first: %v", name, err)
		}
		if _, err := ReadFile(root, name); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	if _, err := Open(root, "none", os.O_RDONLY); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	for _, name := range []string{"file", "new"} {
		file, err := Open(root, name, os.O_RDWR|os.O_CREATE)
		must.OK(t, err)
		if info, err := file.Stat(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		file.Close()
	}
}

// If a file is replaced while it is opened, as supervisors replace their records, either the old or
// the new file is opened.
func TestOpenReplaced(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	must.OK(t, err)
	defer root.Close()
	replace := func() error {
		return errors.Join(os.WriteFile(filepath.Join(dir, "next"), []byte("whole"), 0o600),
			root.Rename("next", "file"))
	}
	must.OK(t, replace())
	stop, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				failed <- nil
				return
			default:
			}
			if err := replace(); err != nil {
				failed <- err
				return
			}
		}
	}()
	for range 5000 {
		if data, err := ReadFile(root, "file"); err != nil || string(data) != "whole" {
			t.Errorf("read %q, %v", data, err)
			break
		}
	}
	close(stop)
	if err := <-failed; err != nil {
		t.Error(err)
	}
}

// If a file was replaced after it was opened, it is not mistaken for a link. Open tries again.
func TestReplacedIsNoLink(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	must.OK(t, err)
	defer root.Close()
	err = errors.Join(os.WriteFile(filepath.Join(dir, "file"), nil, 0o600),
		os.WriteFile(filepath.Join(dir, "other"), nil, 0o600))
	must.OK(t, err)
	info, err := root.Stat("other")
	must.OK(t, err)
	if err := checkRegular(root, "file", info); !errors.Is(err, errReplaced) {
		t.Errorf("a file that was replaced since it was opened: %v", err)
	}
}

// A file that is not regular, or has several names, is refused, whichever of the two looks at it
// shows so. It is not taken for a file that was replaced.
func TestCheckRegular(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	must.OK(t, err)
	defer root.Close()
	must.OK(t, errors.Join(os.Mkdir(filepath.Join(dir, "folder"), 0o700), os.WriteFile(filepath.Join(dir, "file"), nil, 0o600),
		os.WriteFile(filepath.Join(dir, "two"), nil, 0o600), os.Link(filepath.Join(dir, "two"), filepath.Join(dir, "names"))))
	for _, c := range []struct{ named, opened string }{
		{"folder", "file"}, {"file", "folder"}, {"two", "file"}, {"file", "two"},
	} {
		info, err := root.Stat(c.opened)
		must.OK(t, err)
		err = checkRegular(root, c.named, info)
		if want := filepath.Join(dir, c.named) + ": is not a regular file with one name"; err == nil || err.Error() != want {
			t.Errorf("%s is named, %s was opened: %v", c.named, c.opened, err)
		}
		if err := checkRegular(root, "none", info); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was opened, and its name is gone: %v", c.opened, err)
		}
	}
}

// TestMakeRoot: a folder and its parents are made for the caller alone. One that others can write to
// is refused, and so is a file.
func TestMakeRoot(t *testing.T) {
	dir := t.TempDir()
	root, err := MakeRoot(filepath.Join(dir, "a", "b"))
	must.OK(t, err)
	defer root.Close()
	must.OK(t, MkdirAll(root, "c/d"))
	must.OK(t, MkdirAll(root, "c/d"))
	for _, path := range []string{"a", "a/b", "a/b/c", "a/b/c/d"} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode() != os.ModeDir|0o700 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}

	must.OK(t, errors.Join(os.Chmod(filepath.Join(dir, "a/b/c"), 0o777), makeWith(filepath.Join(dir, "a/b/file"), 0o600)))
	for _, name := range []string{"c", "file", "file/x"} {
		_, err := MakeRoot(filepath.Join(dir, "a/b", name))
		if below := MkdirAll(root, name); err == nil || below == nil {
			t.Errorf("%s: %v; below a root: %v", name, err, below)
		} else if name == "c" && !strings.HasPrefix(below.Error(), filepath.Join(dir, "a/b/c")+": has mode 0777") {
			t.Errorf("%s: %v", name, below)
		}
	}
}

// Restrict goes no further than a file that it must refuse, and does not change it.
func TestRestrict_Refused(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	must.OK(t, err)
	defer root.Close()
	modes := map[string]os.FileMode{"first": FileMode, "loose": 0o622, "last": 0o644}
	for name := range modes {
		must.OK(t, makeWith(filepath.Join(dir, name), 0o644))
	}
	must.OK(t, os.Chmod(filepath.Join(dir, "loose"), 0o622))
	err = Restrict(root, FileMode, "first", "loose", "last")
	if err == nil || !strings.HasPrefix(err.Error(), filepath.Join(dir, "loose")+": has mode 0622") {
		t.Error(err)
	}
	for name, want := range modes {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o, %v", name, info.Mode().Perm(), want, err)
		}
	}
}

// An earlier version left files readable for others. Restrict makes them private.
func TestRestrict(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state.db")
	must.OK(t, makeWith(path, 0o644))
	root, err := os.OpenRoot(dir)
	must.OK(t, err)
	defer root.Close()
	must.OK(t, Restrict(root, FileMode, "state.db", "missing"))
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != FileMode {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
