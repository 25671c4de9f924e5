package pod

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/private"
)

// cgroup is the path of a cgroup of version 2, with its folder open.
type cgroup struct {
	path   string
	folder *os.File
}

// newCgroup creates a cgroup below the one of this process. It needs no cgroup controller, because
// it only groups processes.
func newCgroup(name string) (*cgroup, error) {
	own, err := ownCgroup()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(own, name)
	if err := os.Mkdir(path, private.DirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make a cgroup: %w", err)
	}
	folder, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &cgroup{path, folder}, nil
}

// ownCgroup returns the folder of this process's cgroup.
func ownCgroup() (string, error) {
	memberships, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	return findCgroup(string(memberships), string(mounts))
}

// findCgroup finds the folder of a cgroup in the contents of /proc/self/cgroup and
// /proc/self/mountinfo, which proc(5) describes.
func findCgroup(memberships, mounts string) (string, error) {
	member, found := "", false
	for line := range strings.Lines(memberships) {
		if rest, ok := strings.CutPrefix(line, "0::"); ok {
			member, found = strings.TrimSpace(rest), true
		}
	}
	if !found {
		return "", errors.New("this process is in no cgroup of version 2")
	}
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if len(fields) < 5 || !strings.HasPrefix(after, "cgroup2 ") {
			continue
		}
		if path, err := filepath.Rel(fields[3], member); err == nil && filepath.IsLocal(path) {
			return filepath.Join(unescapeMount(fields[4]), path), nil
		}
	}
	return "", fmt.Errorf("the cgroup %q of version 2 is not mounted", member)
}

// unescapeMount decodes the kernel's escapes for white space in paths.
func unescapeMount(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

// admit makes the process of a command start in the cgroup.
func (g *cgroup) admit(attr *syscall.SysProcAttr) {
	attr.UseCgroupFD, attr.CgroupFD = true, int(g.folder.Fd())
}

func (g *cgroup) close() { g.folder.Close() }

// kill ends all processes of the cgroup and of the cgroups below it in one step. No process can be
// started meanwhile.
func (g *cgroup) kill() error { return killCgroup(g.path) }

func (g *cgroup) remove() error { return removeCgroup(g.path) }

func killCgroup(path string) error {
	err := os.WriteFile(filepath.Join(path, "cgroup.kill"), []byte("1"), 0)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("this kernel has no cgroup.kill: %w", err)
	}
	return err
}

// isPopulated reports whether a cgroup has processes. A missing cgroup has none.
func isPopulated(path string) (bool, error) {
	data, err := os.ReadFile(filepath.Join(path, "cgroup.events"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV) {
		return false, nil
	}
	return bytes.Contains(data, []byte("populated 1")), err
}

// removeCgroup removes an empty cgroup, and the cgroups that containers created below it.
func removeCgroup(path string) error {
	var below []string
	err := filepath.WalkDir(path, func(dir string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			below = append(below, dir)
		}
		return err
	})
	for i := len(below) - 1; i >= 0 && err == nil; i-- {
		err = os.Remove(below[i])
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
