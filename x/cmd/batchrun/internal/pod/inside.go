package pod

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/private"
)

// inside creates the folder for a path of a manifest below a root, and returns the path without
// links. All relative paths of a manifest are resolved here, so that neither dots nor the links of
// a container lead out of the root.
func inside(r *os.Root, path string) (string, error) {
	if path = filepath.Clean(path); path != "." {
		if err := r.MkdirAll(path, private.DirMode); err != nil {
			return "", err
		}
	}
	if _, err := r.Stat(path); err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(filepath.Join(r.Name(), path))
	if err != nil {
		return "", err
	}
	root, err := filepath.EvalSymlinks(r.Name())
	if err != nil {
		return "", err
	}
	if real != root && !strings.HasPrefix(real, root+string(filepath.Separator)) {
		return "", fmt.Errorf("%q: leads out of %s", path, root)
	}
	return real, nil
}

// link creates a link below a root to a target. The same link may already exist.
func link(r *os.Root, path, target string) error {
	if _, err := inside(r, filepath.Dir(path)); err != nil {
		return err
	}
	if have, err := r.Readlink(filepath.Clean(path)); err == nil && have == target {
		return nil
	}
	return r.Symlink(target, filepath.Clean(path))
}
