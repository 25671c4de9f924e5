package purity

import (
	"cmp"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
)

const cron = "github.com/robfig/cron/v3"

// TestPackagePictureIsTrue compares the picture of the packages in the README with the
// imports of all modules.
func TestPackagePictureIsTrue(t *testing.T) {
	_, section, _ := strings.Cut(testfile.Read(t, root, "README.md"), "\n## Packages\n")
	for _, problem := range readPicture(section).problems(importsOf(t)) {
		t.Error("the picture of the packages in README.md: " + problem)
	}
}

// TestPicture_Wrong: the check finds what is wrong in made-up pictures.
func TestPicture_Wrong(t *testing.T) {
	const right = `
    kit["the kits<br/>internal<br/>x"] --> job
    schedule["<b>schedule</b><br/>robfig/cron/v3"]
    job --> schedule
`
	imports := map[string][]string{"internal/world": {"job", "schedule"}, "x/sim": {"internal/world"}, "job": {"schedule"}, "schedule": {cron}}
	for _, tt := range []struct{ name, old, new, problem string }{
		{name: "right"},
		{"an arrow is missing", "    job --> schedule", "    job", "job --> schedule is missing"},
		{"an arrow is not an import", "    job -->", "    schedule --> job\n    job -->", "schedule --> job is not an import"},
		{"an arrow follows from others", "    job -->", "    kit --> schedule\n    job -->", "kit --> schedule follows from other arrows"},
		{"a package is missing", "<br/>x", "<br/>y", "x/sim is missing"},
		{"a part is empty", "    job -->", "    none\n    job -->", "none has no package"},
		{"an arrow runs up", right, "\n    schedule[\"schedule<br/>robfig/cron/v3\"]\n    kit --> job\n    job --> schedule\n", "job --> schedule runs up"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			problems := readPicture(strings.Replace(right, tt.old, tt.new, 1)).problems(imports)
			if len(problems) > 0 != (tt.problem != "") || tt.problem != "" && !slices.Contains(problems, tt.problem) {
				t.Errorf("problems: %q, want %q", problems, tt.problem)
			}
		})
	}
}

// picture is a flowchart. Each part represents the packages whose folders its label names, and the
// packages below them that no other part names.
type picture struct {
	parts  []string            // in the order in which they first appear
	paths  map[string]string   // from a folder to its part
	arrows map[string][]string // from a part to those below it
}

var node = regexp.MustCompile(`^(\w+)(?:\["([^"]*)"\])?$`)

// readPicture reads the flowchart of a text: each of its lines is a part, or two parts with an
// arrow between them.
func readPicture(text string) picture {
	p := picture{paths: map[string]string{}, arrows: map[string][]string{}}
	for line := range strings.Lines(text) {
		rest, isIndented := strings.CutPrefix(line, "    ")
		from, to, isArrow := strings.Cut(strings.TrimSpace(rest), " --> ")
		if !isIndented || !node.MatchString(from) || isArrow && !node.MatchString(to) {
			continue
		}
		upper := p.add(from)
		if isArrow {
			p.arrows[upper] = append(p.arrows[upper], p.add(to))
		}
	}
	return p
}

// add adds a part, if it is new, and returns its name.
func (p *picture) add(text string) string {
	m := node.FindStringSubmatch(text)
	name := m[1]
	if slices.Contains(p.parts, name) {
		return name
	}
	p.parts = append(p.parts, name)
	for folder := range strings.SplitSeq(cmp.Or(m[2], name), "<br/>") {
		p.paths[strings.TrimSuffix(strings.TrimPrefix(folder, "<b>"), "</b>")] = name
	}
	return name
}

// partOf returns the part of a package: the one that names the longest part of its path.
func (p picture) partOf(pkg string) string {
	if pkg == cron {
		return p.paths["robfig/cron/v3"]
	}
	for ; pkg != "."; pkg = path.Dir(pkg) {
		if part, ok := p.paths[pkg]; ok {
			return part
		}
	}
	return ""
}

// problems compares the picture with the imports. Each import needs a path of arrows. Each arrow
// needs an import, must be the only path between its parts, and must lead down.
func (p picture) problems(imports map[string][]string) (list []string) {
	needed, used := map[string][]string{}, map[string]bool{p.partOf(cron): true}

	for _, pkg := range slices.Sorted(maps.Keys(imports)) {
		upper := p.partOf(pkg)
		if upper == "" {
			list = append(list, pkg+" is missing")
			continue
		}

		used[upper] = true
		for _, path := range imports[pkg] {
			if lower := p.partOf(path); lower != "" && lower != upper && !slices.Contains(needed[upper], lower) {
				needed[upper] = append(needed[upper], lower)
			}
		}
	}

	for _, upper := range p.parts {
		if !used[upper] {
			list = append(list, upper+" has no package")
		}
		for _, lower := range needed[upper] {
			if !leads(p.arrows, upper, lower, "") {
				list = append(list, fmt.Sprintf("%s --> %s is missing", upper, lower))
			}
		}
		for _, lower := range p.arrows[upper] {
			arrow := fmt.Sprintf("%s --> %s", upper, lower)
			switch {
			case !slices.Contains(needed[upper], lower):
				list = append(list, arrow+" is not an import")
			case leads(p.arrows, upper, lower, lower):
				list = append(list, arrow+" follows from other arrows")
			case slices.Index(p.parts, upper) > slices.Index(p.parts, lower):
				list = append(list, arrow+" runs up")
			}
		}
	}

	return list
}

// leads reports whether a path of arrows leads from one part to another. It ignores an arrow from
// the first part to the part that is given as without.
func leads(arrows map[string][]string, from, to, without string) bool {
	seen, open := map[string]bool{}, []string{from}
	for len(open) > 0 {
		part := open[0]
		open = open[1:]
		for _, next := range arrows[part] {
			switch {
			case part == from && next == without || seen[next]:
			case next == to:
				return true
			default:
				seen[next] = true
				open = append(open, next)
			}
		}
	}
	return false
}

// importsOf returns, for each package of all modules, which of these packages and of robfig/cron it
// imports, tests aside.
func importsOf(t *testing.T) map[string][]string {
	t.Helper()
	imports := map[string][]string{}
	for _, file := range sources(t) {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly)
		must.OK(t, err)
		pkg := path.Dir(file)
		list := imports[pkg]
		for _, spec := range parsed.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if ours, ok := strings.CutPrefix(path, module+"/"); ok || path == cron {
				list = append(list, ours)
			}
		}
		imports[pkg] = list
	}
	return imports
}

// sources returns the Go files of all modules that are not tests, as slash-separated
// paths from the root.
func sources(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		switch {
		case entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules"):
			return filepath.SkipDir
		case !entry.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			relative, err := filepath.Rel(root, path)
			files = append(files, filepath.ToSlash(relative))
			return err
		}
		return nil
	})
	must.OK(t, err)
	return files
}
