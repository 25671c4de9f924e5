package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/batchplan/batchplan/x/proof/tools/publish"
)

// verify lets the go command get each module from the tags, as a module proxy does, and compares
// the modules with the hashes in the go.sum files.
func (r release) verify(modules []*publish.Module) error {
	cache, err := os.MkdirTemp("", "release-cache-")
	if err != nil {
		return err
	}
	defer remove(cache)

	root, err := filepath.Abs(r.root)
	if err != nil {
		return err
	}

	for _, m := range modules {
		cmd := exec.Command("go", "mod", "download", "-json", m.Path+"@"+m.Version)
		cmd.Dir = cache
		cmd.Env = append(
			os.Environ(),
			"GOMODCACHE="+filepath.Join(cache, "mod"),
			"GOPROXY=direct",
			"GONOSUMDB="+modules[0].Path,
			"GOFLAGS=",
			"GOWORK=off",
			"GIT_CONFIG_COUNT=2",
			"GIT_CONFIG_KEY_0=url."+root+".insteadOf",
			"GIT_CONFIG_VALUE_0=https://"+modules[0].Path,
			"GIT_CONFIG_KEY_1=safe.directory",
			"GIT_CONFIG_VALUE_1=*",
			"GIT_ALLOW_PROTOCOL=file:https",
		)

		out, err := cmd.Output()
		var got struct{ Sum, GoModSum, Error string }
		if jsonErr := json.Unmarshal(out, &got); jsonErr != nil {
			return fmt.Errorf("%s: %w", m.Tag(), errors.Join(err, jsonErr))
		}

		if got.Error != "" {
			return fmt.Errorf("%s: %s", m.Tag(), got.Error)
		}
		if got.Sum != m.ZipHash || got.GoModSum != m.ModHash {
			return fmt.Errorf("%s: the go command gets %s, and others require %s", m.Tag(), got.Sum, m.ZipHash)
		}
	}
	return nil
}

// remove removes a module cache, which the go command has made read-only.
func remove(dir string) {
	filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(name, 0o777)
		}
		return err
	})
	os.RemoveAll(dir)
}
