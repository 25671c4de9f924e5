// Package comments compiles the Go in the comments of packages, of all modules.
package comments

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

const root = "../../../.."

// given holds the variables that a comment may use without declaring them, with their types. In the
// packages for CronJobs, cronjob's types replace those of job.
var given = map[string]string{
	"backend":      "jobapply.Backend",
	"children":     "[]cronjob.Child",
	"client":       "kubernetes.Interface",
	"clock":        "func() time.Time",
	"config":       "*rest.Config",
	"create":       "func([]cronjob.Creation) []cronjob.Effect",
	"claimed":      "job.Reply",
	"created":      "[]job.Effect",
	"cronJob":      "cronjob.CronJob",
	"ctx":          "context.Context",
	"deleted":      "[]job.Effect",
	"executor":     "jobapply.Executor",
	"factory":      "informers.SharedInformerFactory",
	"failureTimes": "[]time.Time",
	"jobs":         "io.Reader",
	"lastRun":      "time.Time",
	"grouped":      "[]jobgroup.Effect",
	"lookUp":       "func([]cronjob.Reference) []cronjob.Reply",
	"memory":       "job.Memory",
	"mgr":          "ctrl.Manager",
	"name":         "string",
	"newStore":     "func(*jobtest.Env) interface { jobtest.Store; Look(context.Context) (job.Snapshot, jobapply.Backend, error) }",
	"now":          "time.Time",
	"object":       "*batchv1.Job",
	"parent":       "schema.GroupVersionKind",
	"plan":         "*job.Plan",
	"planner":      "*job.Planner",
	"pods":         "io.Reader",
	"policy":       "backoff.Policy",
	"record":       "backoff.Record",
	"recorded":     "job.Reply",
	"remove":       "func([]cronjob.Deletion) []cronjob.Effect",
	"report":       "func(trace.Finding)",
	"restConfig":   "*rest.Config",
	"run":          "func(context.Context, *rest.Config) error",
	"settled":      "job.Reply",
	"snapshot":     "job.Snapshot",
	"successTimes": "[]time.Time",
	"t":            "*testing.T",
	"untrack":      "func([]job.Untracking) []job.Reply",
	"untracked":    "[]job.Reply",
	"write":        "func(job.Status) job.Reply",
}

// likeGo matches blocks of code in Go: those with a declaration, or a call with a package or a
// receiver.
var likeGo = regexp.MustCompile(`:=|\bfunc\b|\w\.\w+\(`)

// TestPackageComments compiles the Go in each package comment, all blocks as one function. A line
// "..." marks left out code, and a variable need not be used.
func TestPackageComments(t *testing.T) {
	all, imports := documented(t)
	if len(all) < 10 {
		t.Errorf("only %d packages were found: something is not read", len(all))
	}

	for name := range given {
		word := regexp.MustCompile(`\b` + name + `\b`)
		if !slices.ContainsFunc(all, func(p pkg) bool { return word.MatchString(p.code) }) {
			t.Errorf("no comment uses %s", name)
		}
	}

	sources := map[string]map[string]string{} // by module and folder
	for _, p := range all {
		source, err := p.source(imports)
		if err != nil {
			t.Errorf("%s: %v\n%s", p.dir, err, p.code)
			continue
		}
		if sources[p.module] == nil {
			sources[p.module] = map[string]string{}
		}
		sources[p.module][p.dir] = source
	}
	for module, sources := range sources {
		if errors := compile(t, module, sources); errors != "" {
			t.Errorf("module %s: the comments do not compile:\n%s", module, errors)
		}
	}
}

// TestPackageComments_Wrong: code that does not compile is found.
func TestPackageComments_Wrong(t *testing.T) {
	imports := map[string]string{"backoff": "github.com/batchplan/batchplan/backoff", "time": "time"}
	for code, want := range map[string]string{
		"next := record.Observe(nil, nil)\n...\n":  "",
		"next := record.Observe(successTimes)\n":   "not enough arguments in call to record.Observe",
		"next := backoff.Policy{Bases: 1}\n":       "unknown field Bases in struct literal",
		"next := backoff.Records{}\n":              "undefined: backoff.Records",
		"next := unknown.Observe()\n":              "unknown is neither given nor imported",
		"next := backoff.Record{LastFailure: ...}": "expected operand, found '...'",
	} {
		source, err := pkg{dir: "backoff", code: code}.source(imports)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = compile(t, ".", map[string]string{"backoff": source})
		}
		if !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%q: got %q, want %q", code, got, want)
		}
	}
}

// pkg is a package with Go in its comment.
type pkg struct {
	module, dir string // from the root
	code        string
	imports     map[string]string // of the files in the folder, by name
}

// documented returns the packages with Go in their comments, and the imports of all files by their
// names.
func documented(t *testing.T) (all []pkg, imports map[string]string) {
	t.Helper()
	imports = map[string]string{}
	err := filepath.WalkDir(root, func(dir string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir():
			return nil
		case dir != root && strings.HasPrefix(entry.Name(), "."), entry.Name() == "testdata":
			return fs.SkipDir
		}

		p := read(t, dir)
		maps.Copy(imports, p.imports)
		if p.code != "" {
			all = append(all, p)
		}
		return nil
	})
	must.OK(t, err)
	return all, imports
}

// read reads the comments and imports of a folder.
func read(t *testing.T, dir string) pkg {
	t.Helper()
	relative, err := filepath.Rel(root, dir)
	must.OK(t, err)
	p := pkg{dir: filepath.ToSlash(relative), imports: map[string]string{}}
	for p.module = p.dir; ; p.module = path.Dir(p.module) {
		if _, err := os.Stat(filepath.Join(root, p.module, "go.mod")); err == nil {
			break
		}
	}

	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	must.OK(t, err)
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.ImportsOnly)
		must.OK(t, err)
		for _, spec := range f.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			name := path.Base(imported)
			if spec.Name != nil {
				name = spec.Name.Name
			}
			p.imports[name] = imported
		}
		if f.Doc == nil || strings.HasSuffix(file, "_test.go") {
			continue
		}

		p.imports[f.Name.Name] = "github.com/batchplan/batchplan/" + p.dir
		for _, block := range new(comment.Parser).Parse(f.Doc.Text()).Content {
			if code, ok := block.(*comment.Code); ok && likeGo.MatchString(code.Text) {
				p.code += code.Text
			}
		}
	}
	return p
}

var (
	leftOut = regexp.MustCompile(`(?m)^\s*\.\.\.$`)
	ofJobs  = regexp.MustCompile(`\bjob`)
	unused  = regexp.MustCompile(`(?m)^(#.*|.*declared and not used: .*)\n`)
)

// source returns a file that compiles if the code in the comment does. It looks up the paths of
// packages in imports, which may be the imports of other folders.
func (p pkg) source(imports map[string]string) (string, error) {
	body := leftOut.ReplaceAllString(p.code, "") + "panic(0)\n}\n"
	free, err := unresolved("func _() error {\n" + body)
	if err != nil {
		return "", err
	}

	// The variables that the code uses, with their types.
	var parameters []string
	for _, name := range free {
		kind, ok := given[name]
		if !ok || name == path.Base(p.dir) {
			continue
		}
		if strings.Contains(p.dir, "cronjob") {
			kind = ofJobs.ReplaceAllString(kind, "cronjob")
		}
		parameters = append(parameters, name+" "+kind)
	}

	// The packages that the parameters and the code use.
	text := "func _(" + strings.Join(parameters, ", ") + ") error {\n" + body
	if free, err = unresolved(text); err != nil {
		return "", err
	}
	header := "package p\n"
	for _, name := range free {
		from := cmp.Or(p.imports[name], imports[name])
		if from == "" {
			return "", fmt.Errorf("%s is neither given nor imported", name)
		}
		header += fmt.Sprintf("import %s %q\n", name, from)
	}
	return header + text, nil
}

// unresolved returns the names that a function uses and does not declare, sorted.
func unresolved(text string) ([]string, error) {
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+text, 0)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range f.Unresolved {
		if types.Universe.Lookup(name.Name) == nil {
			names = append(names, name.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// compile compiles sources in a module, each as a package of its own, and returns the errors.
func compile(t *testing.T, module string, sources map[string]string) string {
	t.Helper()
	base, err := filepath.Abs(filepath.Join(root, module))
	must.OK(t, err)

	tmp, replace := t.TempDir(), map[string]string{}
	for dir, source := range sources {
		name := strings.ReplaceAll(dir, "/", "_")
		file := filepath.Join(tmp, name+".go")
		must.OK(t, os.WriteFile(file, []byte(source), 0o600))
		replace[filepath.Join(base, "comments", name, "comment.go")] = file
	}

	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	must.OK(t, err)
	name := filepath.Join(tmp, "overlay.json")
	must.OK(t, os.WriteFile(name, overlay, 0o600))

	cmd := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-e", "-overlay="+name, "./comments/...")
	cmd.Dir = base
	out, err := cmd.CombinedOutput()
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		t.Fatal(err)
	}
	return unused.ReplaceAllString(string(out), "")
}
