// Package private protects the runner's files from other users. The contents of a state folder run
// with the rights of its user. So no other user may have created the folder, change it, read it, or
// put another one in its place.
//
// Containers run as the same user, possibly with fewer rights. They may replace what is in the
// state folder. So files are opened below a root that no link leads out of, and only if they are
// regular files.
package private

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// The modes of all files and folders that this program creates.
const (
	DirMode  fs.FileMode = 0o700
	FileMode fs.FileMode = 0o600
)

// Check refuses a path that belongs to another user, that others can write to, or that is neither a
// regular file nor a folder.
func Check(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return check(path, info)
}

func check(path string, info fs.FileInfo) error {
	if err := checkOwner(path, info); err != nil {
		return err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: is neither a regular file nor a folder", path)
	}
	return checkMode(path, info)
}

// errReplaced is the error for a file that was replaced while it was opened.
var errReplaced = errors.New("is replaced again and again")

// maxReplaced is the maximum number of attempts of Open. A supervisor replaces its files a few
// times a second. Only a malicious container replaces them more often.
const maxReplaced = 100

// Open opens a regular file of the caller below a root. It refuses links and special files, and
// does not wait for the other end of a pipe. With os.O_CREATE a new file gets FileMode. If the file
// is replaced meanwhile, Open opens the new one.
func Open(root *os.Root, name string, flag int) (file *os.File, err error) {
	for range maxReplaced {
		file, err = open(root, name, flag)
		if !errors.Is(err, errReplaced) {
			break
		}
	}
	return file, err
}

func open(root *os.Root, name string, flag int) (*os.File, error) {
	file, err := root.OpenFile(name, flag|nonBlocking, FileMode)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = checkRegular(root, name, info)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// checkRegular checks an open file. It also checks that the name of the file is not a link.
func checkRegular(root *os.Root, name string, info fs.FileInfo) error {
	path := filepath.Join(root.Name(), name)
	named, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if err := check(path, named); err != nil {
		return err
	}
	switch {
	case !named.Mode().IsRegular(), links(named) > 1, !info.Mode().IsRegular(), links(info) > 1:
		return fmt.Errorf("%s: is not a regular file with one name", path)
	}
	if !os.SameFile(named, info) {
		return fmt.Errorf("%s: %w", path, errReplaced)
	}
	return nil
}

// ReadFile reads a file that Open can open.
func ReadFile(root *os.Root, name string) ([]byte, error) {
	file, err := Open(root, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

// Restrict checks the named files and folders below a root, and removes other users' right to read
// them. It skips those that do not exist. It does not open the files, since a process that closes a
// file loses its locks.
func Restrict(root *os.Root, mode fs.FileMode, names ...string) error {
	for _, name := range names {
		info, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = check(filepath.Join(root.Name(), name), info)
		}
		if err == nil {
			err = root.Chmod(name, mode)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// MkdirAll creates a folder below a root, with its missing parents. If the folder exists, it must
// belong to the caller.
func MkdirAll(root *os.Root, name string) error {
	if err := root.MkdirAll(name, DirMode); err != nil {
		return err
	}
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	return check(filepath.Join(root.Name(), name), info)
}

// MakeRoot creates a folder with its missing parents, and opens it. It refuses a folder
// that Check refuses. The path must come from Resolve.
func MakeRoot(path string) (*os.Root, error) {
	if err := os.MkdirAll(path, DirMode); err != nil {
		return nil, err
	}
	if err := Check(path); err != nil {
		return nil, err
	}
	return os.OpenRoot(path)
}
