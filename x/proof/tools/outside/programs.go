package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// importsRoot is a program that plans a round of a job, and computes the next run of a schedule.
const importsRoot = `package main

import (
	"fmt"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/schedule"
)

func main() {
	var spec job.Spec
	job.Default(&spec)
	spec.Selector = nil
	j := job.Job{Name: "j", UID: "u", Spec: spec}
	plan, err := job.Reconcile(job.Snapshot{Job: j, Now: time.Unix(0, 0), Consistent: true})
	if err != nil {
		panic(err)
	}
	s, err := schedule.Parse("@hourly")
	if err != nil {
		panic(err)
	}
	fmt.Println(len(plan.Create), s.Next(time.Unix(0, 0)).Unix())
}
`

// imports builds a program on the root alone. The modules that the root's tests need are in the
// module graph of an importer, but must not be compiled.
func (o *outside) imports() error {
	dir, err := o.program("imports", map[string]string{"main.go": importsRoot})
	if err != nil {
		return err
	}
	return o.prints(dir, "", "1 3600\n", cron)
}

const cron = "github.com/robfig/cron/v3"

const importsConvert = `package main

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

func main() {
	j := &batchv1.Job{}
	j.Name = "j"
	fmt.Println(convert.Job(j).Name)
}
`

// types are the modules that the types of Kubernetes need.
var types = []string{
	"github.com/fxamacker/cbor/v2", "github.com/go-logr/logr", "github.com/gogo/protobuf", "github.com/google/gofuzz",
	"github.com/json-iterator/go", "github.com/modern-go/concurrent", "github.com/modern-go/reflect2",
	"github.com/x448/float16", "golang.org/x/net", "golang.org/x/text", "google.golang.org/protobuf", "gopkg.in/inf.v0",
	"k8s.io/api", "k8s.io/apimachinery", "k8s.io/klog/v2", "k8s.io/utils", "sigs.k8s.io/json",
	"sigs.k8s.io/structured-merge-diff/v4", "sigs.k8s.io/yaml",
}

// converts builds a program on convert, which needs the types of Kubernetes but no client.
func (o *outside) converts() error {
	dir, err := o.program("converts", map[string]string{"main.go": importsConvert})
	if err != nil {
		return err
	}
	return o.prints(dir, "x/kubernetes", "j\n", append(types, cron)...)
}

// mirrors builds a program that joins the statuses of jobs of member clusters. It does not compile
// the CronJob planner.
func (o *outside) mirrors() error {
	dir, err := o.copied("mirror", "x/proof/tools/outside/testdata/mirror", false)
	if err != nil {
		return err
	}
	return o.prints(dir, "x/kubernetes", mirrored, types...)
}

// mirrored is the output of the mirror: each release accepts each step, and the end names the
// cluster that has failed.
const mirrored = `one cluster fails, and the other is stopped: ` +
	`Failed, BackoffLimitExceeded, "member1: Job has reached the specified backoff limit"; ` +
	`7 failed, 0 succeeded (7 releases)
both fail, and one is out of reach meanwhile: ` +
	`Failed, BackoffLimitExceeded, "member1: Job has reached the specified backoff limit; ` +
	`member2: Job was active longer than specified deadline"; 8 failed, 0 succeeded (7 releases)
both complete, one after the other: Complete, , ""; 0 failed, 4 succeeded (7 releases)
`

// spot runs a study by simulation.
func (o *outside) spot() error {
	dir, err := o.copied("spot", "x/proof/tools/outside/testdata/spot", false)
	if err != nil {
		return err
	}
	return o.prints(dir, "", `jobs complete, on demand: 100.0
jobs complete, spot: 65.2
jobs complete, spot, evictions ignored: 100.0
jobs failed, on demand: 0.0
jobs failed, spot: 34.8
jobs failed, spot, evictions ignored: 0.0
cost of busy nodes, on demand: 65.6
cost of busy nodes, spot: 17.2
cost of busy nodes, spot, evictions ignored: 20.3
`, cron)
}

// whatif runs a program that reads a job and its pods as JSON, and plans variants.
func (o *outside) whatif() error {
	dir, err := o.copied("whatif", "x/proof/tools/outside/testdata/whatif", false)
	if err != nil {
		return err
	}
	return o.prints(dir, "", `as it is: 0 to create, 2 to delete, then FailureTarget: BackoffLimitExceeded
with a higher limit: 1 to create, 0 to delete
with a higher limit, and ten minutes to start: 0 to create, 1 to delete
suspended: 0 to create, 2 to delete, then FailureTarget: BackoffLimitExceeded
in Kubernetes 1.31: 0 to create, 2 to delete, then FailureTarget: BackoffLimitExceeded
`)
}

// operator builds a cron controller for two kinds of its own. To run it would need a server.
func (o *outside) operator() error {
	adapter, err := o.module("x/kubernetes")
	if err != nil {
		return err
	}
	dir, err := o.copied("operator", "x/proof/tools/outside/testdata/operator", false)
	if err != nil {
		return err
	}
	return o.steps(dir, []string{"mod", "init", "example.com/operator"},
		[]string{"get", adapter.Path + "@" + o.version}, []string{"mod", "tidy"}, []string{"vet", "."},
		[]string{"build", "-o", os.DevNull, "."})
}

// prints makes a module for a program. The module requires one of our modules by version. Then
// prints tidies the module and runs the program. It fails if the output differs from want, or if
// the build needs packages of other modules than ours and those in takes.
func (o *outside) prints(dir, module, want string, takes ...string) error {
	required := o.modules[0]
	if module != "" {
		m, err := o.module(module)
		if err != nil {
			return err
		}
		required, takes = m, append(slices.Clip(takes), m.Path)
	}

	name := "example.com/" + filepath.Base(dir)
	err := o.steps(dir,
		[]string{"mod", "init", name},
		[]string{"get", required.Path + "@" + o.version},
		[]string{"mod", "tidy"})
	if err != nil {
		return err
	}
	if out, err := o.output(dir, "go", "run", "."); err != nil || out != want {
		return fmt.Errorf("it printed %q: %w", out, err)
	}
	return o.takes(dir, append(slices.Clip(takes), o.modules[0].Path)...)
}

// tasks tests the program of examples/tasks with the published kit.
func (o *outside) tasks() error {
	dir, err := o.copied("tasks", "examples/tasks", true)
	if err != nil {
		return err
	}
	get := []string{"get", o.modules[0].Path + "@" + o.version}
	return o.steps(dir, []string{"mod", "init", "example.com/tasks"}, get, []string{"mod", "tidy"},
		[]string{"test", "."})
}

// takes fails unless a program compiles packages of exactly these modules, and can be vendored.
func (o *outside) takes(dir string, want ...string) error {
	versions, err := o.compiled(dir)
	if err != nil {
		return err
	}
	linked := slices.Sorted(maps.Keys(versions))
	fmt.Printf("modules that are compiled: %s\n", strings.Join(linked, " "))

	if extra := minus(linked, want); len(extra) > 0 {
		return fmt.Errorf("it compiles packages of %s", strings.Join(extra, ", "))
	}
	return o.steps(dir, []string{"mod", "vendor"}, []string{"build", "-o", os.DevNull, "."})
}

// compiled returns the modules whose packages a program compiles, with their versions.
func (o *outside) compiled(dir string) (versions map[string]string, err error) {
	out, err := o.output(dir, "go", "list", "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", ".")
	versions = map[string]string{}
	for line := range strings.Lines(out) {
		if path, version, found := strings.Cut(strings.TrimSpace(line), " "); found {
			versions[path] = version
		}
	}
	return versions, err
}

func minus(a, b []string) (left []string) {
	for _, s := range a {
		if !slices.Contains(b, s) {
			left = append(left, s)
		}
	}
	return left
}

// libraries are the libraries of Kubernetes whose versions importers choose.
var libraries = []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/client-go", "sigs.k8s.io/controller-runtime"}

// oldest builds the controller with the versions that the adapter requires.
func (o *outside) oldest() error { return o.controller("oldest", "go.mod", false) }

// newest builds the controller with the newest libraries that the adapter is tested with, and runs
// its tests.
func (o *outside) newest() error { return o.controller("newest", "newest.mod", true) }

// controller builds the controller of examples/kubernetes/render with the versions of a go.mod of
// the adapter.
func (o *outside) controller(name, file string, tests bool) error {
	adapter, err := o.module("x/kubernetes")
	if err != nil {
		return err
	}

	versions, err := versionsOf(filepath.Join(o.repository, "x/kubernetes", file))
	if err != nil {
		return err
	}

	dir, err := o.copied(name, "examples/kubernetes/render", tests)
	if err != nil {
		return err
	}

	get := []string{"get", adapter.Path + "@" + o.version, o.modules[0].Path + "@" + o.version}

	for _, l := range libraries {
		get = append(get, l+"@"+versions[l])
	}
	err = o.steps(dir,
		[]string{"mod", "init", "example.com/" + name},
		[]string{"mod", "edit", "-go=" + versions["go"]},
		get,
		[]string{"mod", "tidy"})
	if err != nil {
		return err
	}

	for _, l := range libraries {
		out, err := o.output(dir, "go", "list", "-m", "-f", "{{.Version}}", l)
		if err != nil {
			return err
		}
		if got := strings.TrimSpace(out); got != versions[l] {
			return fmt.Errorf("%s is %s, not %s as x/kubernetes/%s says", l, got, versions[l], file)
		}
		fmt.Println(l, versions[l])
	}

	if !tests {
		return o.steps(dir, []string{"build", "-o", os.DevNull, "."})
	}
	return o.steps(dir, []string{"test", "."})
}

// versionsOf returns the versions that a go.mod file requires; "go" is the version of Go.
func versionsOf(name string) (map[string]string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	f, err := modfile.Parse(name, data, nil)
	if err != nil {
		return nil, err
	}
	versions := map[string]string{"go": f.Go.Version}
	for _, r := range f.Require {
		versions[r.Mod.Path] = r.Mod.Version
	}
	return versions, nil
}

// copied copies the files of a folder of the repository.
func (o *outside) copied(name, from string, tests bool) (dir string, err error) {
	entries, err := os.ReadDir(filepath.Join(o.repository, from))
	if err != nil {
		return "", err
	}
	files := map[string]string{}
	for _, e := range entries {
		isUnwanted := !tests && strings.HasSuffix(e.Name(), "_test.go")
		if e.IsDir() || strings.HasPrefix(e.Name(), "go.") || isUnwanted {
			continue
		}
		data, err := os.ReadFile(filepath.Join(o.repository, from, e.Name()))
		if err != nil {
			return "", err
		}
		files[e.Name()] = string(data)
	}
	return o.program(name, files)
}
