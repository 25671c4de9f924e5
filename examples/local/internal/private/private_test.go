//go:build unix

package private

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		want string // in the error; empty if there is to be none
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
		{"a link of another user", func(t *testing.T, p string) error {
			asRoot(t)
			if err := os.Symlink(filepath.Dir(p), p); err != nil {
				return err
			}
			return os.Lchown(p, 65534, 65534)
		}, "belongs to user 65534"},
		{"a link to a folder that others can write to", func(_ *testing.T, p string) error {
			if err := makeWith(p+".target", os.ModeDir|0o777); err != nil {
				return err
			}
			return os.Symlink(p+".target", p)
		}, "has mode 0777"},
		{"a link to the caller's folder", func(_ *testing.T, p string) error {
			return os.Symlink(filepath.Dir(p), p)
		}, ""},
		{"nothing", func(*testing.T, string) error { return nil }, "no such file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Chmod(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "x")
			if err := test.make(t, path); err != nil {
				t.Fatal(err)
			}
			err := Check(path)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("want %q, have %v", test.want, err)
			}
		})
	}
}

// makeWith makes a file or folder of exactly that mode, whatever the umask is.
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

// Files that an earlier version left readable for others are restricted.
func TestRestrict(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state.db")
	if err := makeWith(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Restrict(FileMode, path, filepath.Join(dir, "missing")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != FileMode {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
