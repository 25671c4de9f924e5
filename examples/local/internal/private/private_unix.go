//go:build unix

package private

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

func checkOwner(path string, info fs.FileInfo) error {
	owner, own := int(info.Sys().(*syscall.Stat_t).Uid), os.Geteuid()
	if owner != own {
		return fmt.Errorf("%s: belongs to user %d, not to the current user %d", path, owner, own)
	}
	return nil
}

func checkMode(path string, info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("%s: has mode %04o, so other users can write to it; if you trust its contents, run chmod go-w", path, mode)
	}
	return nil
}
