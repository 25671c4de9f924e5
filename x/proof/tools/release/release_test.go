package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const lib = "github.com/batchplan/small"

// repository returns a repository with a library, an adapter on it, and a changelog.
func repository(t *testing.T) release {
	t.Helper()
	r := release{root: t.TempDir(), version: "v0.1.0"}
	r.write(t, map[string]string{
		"LICENSE":        "Apache",
		"CHANGELOG.md":   "# Changelog\n\n## v0.1.0\n\n### API\n\n- all\n\n### Semantics\n\n- all\n",
		"go.mod":         "module " + lib + "\n\ngo 1.24.0\n",
		"plan/plan.go":   "package plan\n\nfunc Old() int { return 1 }\n",
		"adapter/go.mod": "module " + lib + "/adapter\n\ngo 1.24.0\n\nreplace " + lib + " => ..\n\nrequire " + lib + " v0.0.0\n",
		"adapter/a.go":   "package adapter\n\nimport \"" + lib + "/plan\"\n\nvar A = plan.Old\n",
	})
	if _, err := r.git("init", "-q"); err != nil {
		t.Fatal(err)
	}
	r.commitAll(t)
	return r
}

func (r release) write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(r.root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func (r release) commitAll(t *testing.T) {
	t.Helper()
	if _, err := r.git("add", "-A"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.git("commit", "-q", "-m", "all"); err != nil {
		t.Fatal(err)
	}
}

// changelog returns a changelog with a section for a version, whose API part has this text.
func changelog(version, api string) map[string]string {
	return map[string]string{"CHANGELOG.md": "# Changelog\n\n## " + version + "\n\n### API\n\n" + api + "\n\n### Semantics\n\n- nothing\n\n## v0.1.0\n"}
}

// TestRelease: the first version, and a second one whose changelog must name what is gone.
func TestRelease(t *testing.T) {
	r := repository(t)
	if err := r.tags(); err != nil {
		t.Fatal(err)
	}
	for _, tag := range []string{"v0.1.0", "adapter/v0.1.0"} {
		mod, err := r.git("show", tag+":adapter/go.mod")
		if err != nil || strings.Contains(mod, "replace") || !strings.Contains(mod, lib+" v0.1.0") {
			t.Errorf("%s: %v, %s", tag, err, mod)
		}
	}
	if out, err := r.git("status", "--porcelain"); err != nil || out != "" {
		t.Errorf("after a release the tree has %q, %v", out, err)
	}
	if err := r.tags(); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("a second time: %v", err)
	}

	r.write(t, map[string]string{"plan/plan.go": "package plan\n\nfunc New() int { return 1 }\n", "adapter/a.go": "package adapter\n\nimport \"" + lib + "/plan\"\n\nvar A = plan.New\n"})
	r.commitAll(t)
	for _, step := range []struct{ version, api, want string }{
		{"v0.2.0", "", "needs the parts"},
		{"v0.2.0", "- `plan`: more.", `names "Old" nowhere`},
		{"v0.2.0", "- `plan.Old` is gone.", "names neither it nor"},
		{"v0.1.1", "- `plan.Old` is `plan.New`.", "needs a minor version"},
		{"v0.2.0", "- `plan.Old` is `plan.New`.", ""},
	} {
		r.version = step.version
		r.write(t, changelog(step.version, step.api))
		r.commitAll(t)
		err := r.tags()
		if step.want == "" && err != nil || step.want != "" && (err == nil || !strings.Contains(err.Error(), step.want)) {
			t.Errorf("%s, %q: %v", step.version, step.api, err)
		}
	}
}

// TestNotReleased: nothing is tagged when something is missing.
func TestNotReleased(t *testing.T) {
	tests := []struct {
		name, want string
		change     func(r *release)
	}{
		{"a file that is not committed", "not clean", func(r *release) { r.write(t, map[string]string{"x.go": "package x\n"}) }},
		{"no section", "no section", func(r *release) { r.version = "v0.3.0" }},
		{"no version", "not one such as", func(r *release) { r.version = "0.1.0" }},
		{"a check that fails", "exit status 3", func(r *release) { r.check = "exit 3" }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := repository(t)
			test.change(&r)
			if err := r.run(false, false); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
			if out, err := r.git("tag"); err != nil || out != "" {
				t.Errorf("tags %q, %v", out, err)
			}
		})
	}
}

// TestDry: a dry run releases uncommitted work as well, and leaves nothing here.
func TestDry(t *testing.T) {
	r := repository(t)
	r.write(t, map[string]string{"plan/more.go": "package plan\n"})
	r.version = ""
	if err := r.run(true, false); err != nil {
		t.Fatal(err)
	}
	if out, err := r.git("tag"); err != nil || out != "" {
		t.Errorf("tags %q, %v", out, err)
	}
}
