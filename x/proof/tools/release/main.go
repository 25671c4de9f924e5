// Release makes the tags of a version, locally: one for each published module. It pushes nothing.
// Some modules stay at v0. docs/compatibility.md lists these modules, and tells which of their
// versions belongs to a version v1.N.P of the root.
//
//	go run ./release -root ../.. -version v0.1.0 -check 'make check'
//
// It needs a clean tree and a section of CHANGELOG.md for the version. The section's API part must
// mention how the exported API, listed in api.txt, differs from the API of the last tag.
// The tags name a new commit whose parent is HEAD: in it, the go.mod files have no replace
// directives and require this release's version of each other. The branch stays where it is.
//
// With -dry it does the same, except the checks, in a copy of the working tree, and makes no tag
// here. With -notes it prints the text for the page of a release. Both use the newest version in
// CHANGELOG.md if there is no -version.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/batchplan/batchplan/x/proof/tools/publish"
)

func main() {
	r := release{}
	flag.StringVar(&r.root, "root", ".", "the repository")
	flag.StringVar(&r.version, "version", "", "the version, as v0.1.0")
	flag.StringVar(&r.check, "check", "", "a command that must succeed before the tags are made")
	dry := flag.Bool("dry", false, "release a copy")
	notes := flag.Bool("notes", false, "print the notes of the release")
	flag.Parse()
	if err := r.run(*dry, *notes); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

type release struct {
	root, version, check string
}

func (r release) run(dry, notes bool) error {
	if (dry || notes) && r.version == "" {
		text, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
		if err != nil {
			return err
		}
		if r.version, err = newestVersion(string(text)); err != nil {
			return err
		}
	}
	switch {
	case semver.Canonical(r.version) != r.version || semver.Build(r.version) != "":
		return fmt.Errorf("version %q is not one such as v0.1.0", r.version)
	case notes:
		return r.notes()
	case dry:
		return r.dry()
	}
	return r.tags()
}

// dry releases a copy of the working tree.
func (r release) dry() error {
	dir, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	files, err := publish.Files(r.root)
	if err != nil {
		return err
	}

	copied := release{root: dir, version: r.version}
	source, err := filepath.Abs(r.root)
	if err != nil {
		return err
	}
	if _, err := copied.git("init", "-q"); err != nil {
		return err
	}
	// Without the history, as in an archive of the sources, there is no tag to compare with.
	if _, err := copied.git("fetch", "-q", "--tags", source, "HEAD"); err != nil {
		fmt.Println("no history:", err)
	} else if _, err := copied.git("update-ref", "HEAD", "FETCH_HEAD"); err != nil {
		return err
	}

	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(r.root, f))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}

		at := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(at, data, 0o666); err != nil {
			return err
		}
	}

	if _, err := copied.git("add", "-A"); err != nil {
		return err
	}
	if _, err := copied.git("commit", "-q", "--allow-empty", "-m", "The working tree"); err != nil {
		return err
	}
	return copied.tags()
}

// tags checks everything and makes the tags.
func (r release) tags() error {
	if out, err := r.git("status", "--porcelain"); err != nil || out != "" {
		return errors.Join(err, fmt.Errorf("the tree is not clean:\n%s", out))
	}
	if out, err := r.git("tag", "--list", r.version); err != nil || out != "" {
		return errors.Join(err, fmt.Errorf("the tag %s exists", r.version))
	}

	text, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	section, err := sectionOf(string(text), r.version)
	if err != nil {
		return err
	}

	modules, err := publish.Tree(r.root, r.version)
	if err != nil {
		return err
	}
	if err := r.compare(modules, section); err != nil {
		return err
	}

	if r.check != "" {
		cmd := exec.Command("sh", "-c", r.check)
		cmd.Dir, cmd.Stdout, cmd.Stderr = r.root, os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", r.check, err)
		}
	}

	commit, err := r.commit(modules)
	if err != nil {
		return err
	}
	for _, m := range modules {
		if _, err := r.git("tag", m.Tag(), commit); err != nil {
			return err
		}
		fmt.Printf("tag %s: %s %s\n", m.Tag(), m.Path, m.ZipHash)
	}

	if err := r.verify(modules); err != nil {
		for _, m := range modules {
			_, undo := r.git("tag", "-d", m.Tag())
			err = errors.Join(err, undo)
		}
		return err
	}

	fmt.Printf("%d tags of %s name %s; push them with: git push origin", len(modules), r.version, commit)
	for _, m := range modules {
		fmt.Print(" ", m.Tag())
	}
	fmt.Println()
	return nil
}

// commit makes the commit of the tags: HEAD with the go.mod and go.sum files of the modules.
func (r release) commit(modules []*publish.Module) (string, error) {
	dir, err := os.MkdirTemp("", "release-index-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)

	r.index(filepath.Join(dir, "index"))
	defer r.index("")
	if _, err := r.git("read-tree", "HEAD"); err != nil {
		return "", err
	}

	for _, m := range modules {
		for name, data := range map[string][]byte{"go.mod": m.Mod, "go.sum": m.Sum} {
			if len(data) == 0 {
				continue // it requires nothing
			}

			file := filepath.Join(dir, name)
			if err := os.WriteFile(file, data, 0o666); err != nil {
				return "", err
			}
			blob, err := r.git("hash-object", "-w", "--no-filters", file)
			if err != nil {
				return "", err
			}
			path := strings.TrimPrefix(m.Dir+"/"+name, "./")
			if _, err := r.git("update-index", "--add", "--cacheinfo", "100644,"+blob+","+path); err != nil {
				return "", err
			}
		}
	}

	tree, err := r.git("write-tree")
	if err != nil {
		return "", err
	}
	return r.git("commit-tree", tree, "-p", "HEAD", "-m", r.version)
}

// index makes git use another index.
func (r release) index(name string) {
	if name == "" {
		os.Unsetenv("GIT_INDEX_FILE")
		return
	}
	os.Setenv("GIT_INDEX_FILE", name)
}

// git runs git in the repository and returns what it prints. If git has no name for the user, the
// release gets a neutral name.
func (r release) git(args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", r.root}, args...)...)
	cmd.Env = append([]string{
		"GIT_AUTHOR_NAME=release", "GIT_AUTHOR_EMAIL=release@localhost",
		"GIT_COMMITTER_NAME=release", "GIT_COMMITTER_EMAIL=release@localhost",
	}, os.Environ()...)
	cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimRight(out.String(), "\n"), nil
}
