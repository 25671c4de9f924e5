//go:build unix

package pod

import (
	"os"
	"syscall"
)

// inode returns a number that tells a file from another file of the same name.
func inode(info os.FileInfo) uint64 { return uint64(info.Sys().(*syscall.Stat_t).Ino) }
