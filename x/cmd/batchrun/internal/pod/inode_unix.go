//go:build unix

package pod

import (
	"os"
	"syscall"
)

// inode distinguishes a file from another one of the same name.
func inode(info os.FileInfo) uint64 { return uint64(info.Sys().(*syscall.Stat_t).Ino) }
