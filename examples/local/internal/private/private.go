// Package private keeps what the runner stores to the user who runs it. What a
// state folder holds is run with the rights of whoever uses the folder, so nobody
// else may have made it or be able to change it, and nobody else may read it.
package private

import (
	"io/fs"
	"os"
)

// The modes of everything that this program makes.
const (
	DirMode  fs.FileMode = 0o700
	FileMode fs.FileMode = 0o600
)

// Check refuses a path that belongs to another user, or that others can write to.
// A symbolic link has to be the caller's own as well as what it leads to.
func Check(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if err := checkOwner(path, info); err != nil {
			return err
		}
		if info, err = os.Stat(path); err != nil {
			return err
		}
	}
	if err := checkOwner(path, info); err != nil {
		return err
	}
	return checkMode(path, info)
}

// Restrict checks a path that exists, and takes from others the right to read it.
// Paths that do not exist are left out.
func Restrict(mode fs.FileMode, paths ...string) error {
	for _, path := range paths {
		err := Check(path)
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = os.Chmod(path, mode)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// MkdirAll makes a folder and what is missing above it. A folder that exists has to
// be the caller's own.
func MkdirAll(path string) error {
	if err := os.MkdirAll(path, DirMode); err != nil {
		return err
	}
	return Check(path)
}
