//go:build unix

package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const nonBlocking = syscall.O_NONBLOCK

// maxLinks is how many symbolic links may be followed in a path, as in the kernel.
const maxLinks = 40

func owner(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }

func links(info fs.FileInfo) uint64 { return uint64(info.Sys().(*syscall.Stat_t).Nlink) }

func checkOwner(path string, info fs.FileInfo) error {
	if owner, own := owner(info), os.Geteuid(); owner != own {
		return fmt.Errorf("%s: belongs to user %d, not to the current user %d", path, owner, own)
	}
	return nil
}

func checkMode(path string, info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("%s: has mode %04o, so other users can write to it; if you trust its contents, run chmod "+
			"go-w", path, mode)
	}
	return nil
}

// Resolve returns an absolute path without its symbolic links. It refuses a path that other users
// can lead elsewhere: each folder and link on the way must belong to root or to the caller, and if
// others may write to such a folder, it must be sticky. The last part of the path is not checked.
// Parts that do not exist are kept.
func Resolve(path string) (string, error) {
	real, rest := "/", split(path)
	for followed := 0; len(rest) > 0; {
		if err := checkParent(real); err != nil {
			return "", err
		}

		next := filepath.Join(real, rest[0])
		info, err := os.Lstat(next)
		if errors.Is(err, fs.ErrNotExist) {
			return filepath.Join(next, filepath.Join(rest[1:]...)), nil
		}
		if err != nil {
			return "", err
		}

		rest = rest[1:]
		if info.Mode()&fs.ModeSymlink == 0 {
			real = next
			continue
		}

		if followed++; followed > maxLinks {
			return "", fmt.Errorf("%s: leads through more than %d symbolic links", path, maxLinks)
		}
		if err := checkTrusted(next, info); err != nil {
			return "", err
		}

		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			real = "/"
		}
		rest = append(split(target), rest...)
	}
	return real, nil
}

// split returns the names in a path. In the target of a link it keeps dots, which are relative to
// the folder of the link.
func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator })
}

// checkParent refuses a folder in which other users can replace the caller's files.
func checkParent(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if err := checkTrusted(dir, info); err != nil {
		return err
	}
	if mode := info.Mode(); mode.Perm()&0o022 != 0 && mode&fs.ModeSticky == 0 {
		return fmt.Errorf("%s: has mode %04o, so other users can replace what is in it; run chmod go-w, or use a "+
			"folder elsewhere", dir, mode.Perm())
	}
	return nil
}

// checkTrusted refuses a file that belongs neither to root nor to the caller.
func checkTrusted(path string, info fs.FileInfo) error {
	if owner := owner(info); owner != 0 && owner != os.Geteuid() {
		return fmt.Errorf("%s: belongs to user %d, who can replace what is in it", path, owner)
	}
	return nil
}
