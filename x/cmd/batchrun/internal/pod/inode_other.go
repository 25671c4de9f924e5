//go:build !unix

package pod

import "os"

// inode is not available here; the time and the size of a file must suffice.
func inode(os.FileInfo) uint64 { return 0 }
