package purity

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	arrow = regexp.MustCompile(`(?m)^ +(\S+?)(?:\["([^"]*)"\])? --> (\S+?)(?:\["([^"]*)"\])?$`)
	cron  = "robfig/cron/v3"
)

// TestPackagePictureIsTrue compares the arrows of the README's picture of the packages
// with the imports of the packages that users can import.
func TestPackagePictureIsTrue(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Packages\n")
	section, _, _ = strings.Cut(section, "\n## ")
	drawn, imported := arrows(section), importsOf(t)
	for _, a := range imported {
		if !slices.Contains(drawn, a) {
			t.Errorf("the picture of the packages in README.md lacks %s", a)
		}
	}
	for _, a := range drawn {
		if !slices.Contains(imported, a) {
			t.Errorf("the picture of the packages in README.md shows %s, which is not an import", a)
		}
	}
}

// arrows returns the arrows of a flowchart in the form "a --> b". The first line of a
// node's label, where it is given, is the path of the package.
func arrows(flowchart string) (list []string) {
	paths := map[string]string{}
	pathOf := func(id, label string) string {
		if label != "" {
			paths[id], _, _ = strings.Cut(label, "<br/>")
		}
		if path := paths[id]; path != "" {
			return path
		}
		return id
	}
	for _, m := range arrow.FindAllStringSubmatch(flowchart, -1) {
		list = append(list, pathOf(m[1], m[2])+" --> "+pathOf(m[3], m[4]))
	}
	return list
}

// importsOf returns the imports between the packages of the module, except internal
// ones, examples and commands, and their imports of robfig/cron.
func importsOf(t *testing.T) (list []string) {
	out := goCommand(t, "list", "-f", `{{if ne .Name "main"}}{{.ImportPath}}{{range .Imports}} {{.}}{{end}}{{end}}`, "./...")
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue // a command
		}
		from, ok := public(fields[0])
		for _, path := range fields[1:] {
			to, isPublic := public(path)
			if strings.HasSuffix(path, cron) {
				to, isPublic = cron, true
			}
			if ok && isPublic {
				list = append(list, from+" --> "+to)
			}
		}
	}
	return list
}

// public returns the path of a package inside the module, and whether users can import
// it as a library.
func public(path string) (string, bool) {
	short, ok := strings.CutPrefix(path, module+"/")
	return short, ok && !strings.HasPrefix(short, "internal/") && !strings.HasPrefix(short, "examples/")
}
