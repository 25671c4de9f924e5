// Package private protects the runner's files from other users. The contents of a
// state folder are run with the rights of its user, so no other user may have
// created it, change it or read it.
package private

import (
	"io/fs"
	"os"
)

// The modes of all files and folders that this program creates.
const (
	DirMode  fs.FileMode = 0o700
	FileMode fs.FileMode = 0o600
)

// Check refuses a path that belongs to another user, or that others can write to.
// Both a symbolic link and its target must belong to the caller.
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

// Restrict checks the paths that exist, and removes other users' right to read
// them.
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

// MkdirAll creates a folder and its missing parents. An existing folder must belong
// to the caller.
func MkdirAll(path string) error {
	if err := os.MkdirAll(path, DirMode); err != nil {
		return err
	}
	return Check(path)
}
