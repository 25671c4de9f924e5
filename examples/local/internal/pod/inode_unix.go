//go:build unix

package pod

import (
	"os"
	"syscall"
)

// inode tells one file from another that has taken its name.
func inode(info os.FileInfo) uint64 { return uint64(info.Sys().(*syscall.Stat_t).Ino) }
