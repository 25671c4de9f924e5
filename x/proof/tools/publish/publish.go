// Package publish makes a release from a working tree. A release is the modules that users can
// require. Their go.mod files have no replace directives, and require the repository's other
// modules in the version of the release.
package publish

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// Module is a published module.
type Module struct {
	Path    string
	Dir     string // of the repository, "." for the root
	Version string
	// Mod and Sum are go.mod and go.sum as they are published.
	Mod, Sum []byte
	// Zip is the archive that module proxies serve.
	Zip []byte
	// ZipHash and ModHash are the hashes that go.sum files hold.
	ZipHash, ModHash string

	file  *modfile.File
	files []file
}

// Tag returns the tag of the version.
func (m *Module) Tag() string {
	if m.Dir == "." {
		return m.Version
	}
	return m.Dir + "/" + m.Version
}

// atV0 are the modules that stay at v0, since their APIs have types of k8s.io v0.
var atV0 = []string{"x/blackbox", "x/kubernetes"}

// VersionOf returns the version of a folder's module that belongs to a version of the root. Before
// v1, modules that stay at v0 have the root's versions. So from v1 on they continue with v0.100:
// v0.102.3 belongs to v1.2.3.
func VersionOf(dir, version string) string {
	within := func(module string) bool { return strings.HasPrefix(dir+"/", module+"/") }
	minor, isV1 := strings.CutPrefix(version, "v1.")
	if !isV1 || !slices.ContainsFunc(atV0, within) {
		return version
	}
	minor, patch, _ := strings.Cut(minor, ".")
	n, _ := strconv.Atoi(minor)
	return fmt.Sprintf("v0.%d.%s", 100+n, patch)
}

// Tree reads the working tree in a folder. It returns its modules as they are published with a
// version of the root, each after those that it requires.
func Tree(root, version string) ([]*Module, error) {
	names, err := Files(root)
	if err != nil {
		return nil, err
	}
	modules, err := read(root, names)
	if err != nil {
		return nil, err
	}
	sorted, err := order(modules)
	if err != nil {
		return nil, err
	}
	for _, m := range sorted {
		m.Version = VersionOf(m.Dir, version)
		if err := m.publish(root, modules); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Path, err)
		}
	}
	return sorted, nil
}

// Files returns the files of a tree that belong to the repository, including files that are not yet
// added to it.
func Files(root string) ([]string, error) {
	out, err := exec.Command("git", "-C", root, "-c", "safe.directory=*",
		"ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err == nil {
		return strings.Split(strings.TrimRight(string(out), "\x00"), "\x00"), nil
	}
	var names []string // an archive of the sources has no index
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err = filepath.Rel(root, name)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	return names, err
}

// file is a file of a module: it implements File of package zip of golang.org/x/mod.
type file struct {
	name string // in the module
	at   string // on the disk
	data []byte // if not nil, the content, instead of the file's on the disk
}

// isPublished reports whether others can require the module in a folder. They can require neither
// examples, which are copied, nor proofs, which run in the repository.
func isPublished(dir string) bool {
	return !strings.HasPrefix(dir+"/", "examples/") && !strings.HasPrefix(dir+"/", "x/proof/")
}

// read returns the modules of a tree, by path, with their files.
func read(root string, names []string) (map[string]*Module, error) {
	var dirs []string
	for _, n := range names {
		if path.Base(n) == "go.mod" {
			dirs = append(dirs, path.Dir(n))
		}
	}

	modules, byDir := map[string]*Module{}, map[string]*Module{}
	for _, dir := range dirs {
		if !isPublished(dir) {
			continue
		}

		name := filepath.Join(root, dir, "go.mod")
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f, err := modfile.Parse(name, data, nil)
		if err != nil {
			return nil, err
		}

		m := &Module{Path: f.Module.Mod.Path, Dir: dir, file: f}
		modules[m.Path], byDir[dir] = m, m
	}

	if byDir["."] == nil {
		return nil, fmt.Errorf("%s: no go.mod in the root of the repository", root)
	}
	for dir, m := range byDir {
		if want := path.Join(byDir["."].Path, dir); m.Path != want {
			return nil, fmt.Errorf("%s/go.mod: module %s must be %s, or nobody can get it", dir, m.Path, want)
		}
	}

	for _, n := range names {
		dir := moduleOf(n, dirs)
		m := byDir[dir]
		if m == nil {
			continue
		}

		at := filepath.Join(root, filepath.FromSlash(n))
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and not yet in the index
		}
		if err != nil {
			return nil, err
		}

		if info.Mode().IsRegular() { // archives of modules have no links
			m.files = append(m.files, file{name: strings.TrimPrefix(n, dir+"/"), at: at})
		}
	}
	return modules, nil
}

// moduleOf returns the folder of the module that a file belongs to.
func moduleOf(name string, dirs []string) string {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if slices.Contains(dirs, dir) || dir == "." {
			return dir
		}
	}
}

// order returns the modules, each after those that it requires.
func order(modules map[string]*Module) (sorted []*Module, err error) {
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(m *Module) error
	visit = func(m *Module) error {
		switch state[m.Path] {
		case open:
			return fmt.Errorf("%s requires itself", m.Path)
		case done:
			return nil
		}

		state[m.Path] = open
		for _, r := range m.file.Require {
			if need := modules[r.Mod.Path]; need != nil {
				if err := visit(need); err != nil {
					return err
				}
			}
		}

		state[m.Path] = done
		sorted = append(sorted, m)
		return nil
	}

	var paths []string
	for p := range modules {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range paths {
		if err := visit(modules[p]); err != nil {
			return nil, err
		}
	}
	return sorted, nil
}

// publish makes go.mod, go.sum and the archive. The modules that it requires must already have
// theirs.
func (m *Module) publish(root string, modules map[string]*Module) error {
	for _, r := range slices.Clone(m.file.Replace) {
		if modules[r.Old.Path] == nil {
			return fmt.Errorf("go.mod replaces %s, which nobody who requires the module would notice", r.Old.Path)
		}
		if err := m.file.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			return err
		}
	}

	sums, err := m.sums()
	if err != nil {
		return err
	}
	for _, r := range slices.Clone(m.file.Require) {
		need := modules[r.Mod.Path]
		if need == nil {
			continue
		}
		if err := m.file.AddRequire(need.Path, need.Version); err != nil {
			return err
		}
		sums[module.Version{Path: need.Path, Version: need.Version}] = need.ZipHash
		sums[module.Version{Path: need.Path, Version: need.Version + "/go.mod"}] = need.ModHash
	}

	m.file.Cleanup()
	if m.Mod, err = m.file.Format(); err != nil {
		return err
	}
	m.Sum = formatSums(sums)
	return m.pack(root)
}

// sums reads the go.sum of the module.
func (m *Module) sums() (map[module.Version]string, error) {
	sums := map[module.Version]string{}
	i := slices.IndexFunc(m.files, func(f file) bool { return f.name == "go.sum" })
	if i < 0 {
		return sums, nil
	}
	data, err := os.ReadFile(m.files[i].at)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil, fmt.Errorf("go.sum: bad line %q", line)
		}
		sums[module.Version{Path: fields[0], Version: fields[1]}] = fields[2]
	}
	return sums, nil
}

// formatSums writes a go.sum in the order of the go command.
func formatSums(sums map[module.Version]string) []byte {
	var all []module.Version
	for v := range sums {
		all = append(all, v)
	}
	module.Sort(all)
	var b bytes.Buffer
	for _, v := range all {
		fmt.Fprintf(&b, "%s %s %s\n", v.Path, v.Version, sums[v])
	}
	return b.Bytes()
}
