package publish

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
)

// small has a root, an adapter, a command on both and an example.
func small() map[string]string {
	return map[string]string{
		"LICENSE":          "Apache",
		"go.mod":           "module example.com/lib\n\ngo 1.24.0\n",
		"lib.go":           "package lib\n",
		"adapter/go.mod":   "module example.com/lib/adapter\n\ngo 1.24.0\n\nreplace example.com/lib => ..\n\nrequire example.com/lib v0.0.0\n",
		"adapter/a.go":     "package adapter\n",
		"cmd/tool/go.mod":  "module example.com/lib/cmd/tool\n\ngo 1.24.0\n\nreplace (\n\texample.com/lib => ../..\n\texample.com/lib/adapter => ../../adapter\n)\n\nrequire (\n\texample.com/lib v0.0.0\n\texample.com/lib/adapter v0.0.0\n)\n",
		"cmd/tool/go.sum":  "example.com/z v1.0.0/go.mod h1:x\n",
		"cmd/tool/main.go": "package main\n",
		"examples/go.mod":  "module example.com/lib/examples\n\ngo 1.24.0\n",
		"examples/main.go": "package main\n",
		"x/proof/go.mod":   "module example.com/lib/x/proof\n\ngo 1.24.0\n",
	}
}

// TestTree: each module comes after those that it requires. A module has no replace directives. It
// has the versions and hashes that the go command would find, and an archive that the go command
// can read.
func TestTree(t *testing.T) {
	root := testfile.Folder(t, small())
	modules, err := Tree(root, "v1.2.3")
	must.OK(t, err)

	var paths []string
	for _, m := range modules {
		paths = append(paths, m.Path)
		if strings.Contains(string(m.Mod), "replace") || strings.Contains(string(m.Mod), "v0.0.0") {
			t.Errorf("%s: %s", m.Path, m.Mod)
		}

		name := filepath.Join(t.TempDir(), "m.zip")
		must.OK(t, os.WriteFile(name, m.Zip, 0o666))
		dir := filepath.Join(t.TempDir(), "m")
		if err := zip.Unzip(dir, module.Version{Path: m.Path, Version: "v1.2.3"}, name); err != nil {
			t.Error(err)
		}

		for _, f := range []string{"LICENSE", "go.mod"} {
			if _, err := os.Stat(filepath.Join(dir, f)); err != nil {
				t.Errorf("%s: %v", m.Path, err)
			}
		}
		if got, err := os.ReadFile(filepath.Join(dir, "go.mod")); err != nil || string(got) != string(m.Mod) {
			t.Errorf("%s: the archive has %q, %v", m.Path, got, err)
		}
	}

	if want := []string{"example.com/lib", "example.com/lib/adapter", "example.com/lib/cmd/tool"}; !slices.Equal(paths, want) {
		t.Fatalf("modules %q", paths)
	}

	tool := modules[2]
	if tool.Tag() != "cmd/tool/v1.2.3" || modules[0].Tag() != "v1.2.3" {
		t.Errorf("tags %q, %q", tool.Tag(), modules[0].Tag())
	}

	f, err := modfile.Parse("go.mod", tool.Mod, nil)
	if err != nil || len(f.Require) != 2 || f.Require[0].Mod.Version != "v1.2.3" || f.Require[1].Mod.Version != "v1.2.3" {
		t.Errorf("%v %s", err, tool.Mod)
	}

	want := "example.com/lib v1.2.3 " + modules[0].ZipHash + "\nexample.com/lib v1.2.3/go.mod " + modules[0].ModHash +
		"\nexample.com/lib/adapter v1.2.3 " + modules[1].ZipHash + "\nexample.com/lib/adapter v1.2.3/go.mod " + modules[1].ModHash +
		"\nexample.com/z v1.0.0/go.mod h1:x\n"
	if string(tool.Sum) != want {
		t.Errorf("go.sum %s", tool.Sum)
	}
}

// TestRefused: a module that nobody outside could use is an error.
func TestRefused(t *testing.T) {
	tests := []struct{ name, file, text, want string }{
		{"a replaced module of others", "adapter/go.mod", "module example.com/lib/adapter\n\ngo 1.24.0\n\nreplace example.com/other => ../other\n", "replaces example.com/other"},
		{"a path that is not the folder's", "adapter/go.mod", "module example.com/adapter\n\ngo 1.24.0\n", "must be example.com/lib/adapter"},
		{"a circle", "go.mod", "module example.com/lib\n\ngo 1.24.0\n\nrequire example.com/lib/adapter v0.0.0\n", "requires itself"},
		{"no module", "go.mod", "", "go.mod"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			files := small()
			files[test.file] = test.text
			if test.text == "" {
				delete(files, test.file)
			}
			if _, err := Tree(testfile.Folder(t, files), "v1.2.3"); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestVersionOf: a module that stays at v0 has the root's version before v1. From v1 on, 100 is
// added to the minor version, so v1.2.3 of the root goes with v0.102.3.
func TestVersionOf(t *testing.T) {
	for _, test := range []struct{ dir, version, want string }{
		{"x/kubernetes", "v0.1.0", "v0.1.0"},
		{"x/kubernetes", "v0.99.0", "v0.99.0"},
		{"x/kubernetes", "v1.0.0-rc.1", "v0.100.0-rc.1"},
		{"x/kubernetes", "v1.0.0", "v0.100.0"},
		{"x/kubernetes/convert", "v1.12.3", "v0.112.3"},
		{"x/blackbox", "v1.100.0", "v0.200.0"},
		{"x/cmd", "v1.2.3", "v1.2.3"},
		{".", "v1.2.3", "v1.2.3"},
		{"x/sim", "v1.2.3", "v1.2.3"},
		{"x/kubernetesque", "v1.2.3", "v1.2.3"},
	} {
		if got := VersionOf(test.dir, test.version); got != test.want {
			t.Errorf("%s of %s: got %s, want %s", test.version, test.dir, got, test.want)
		}
	}
}
