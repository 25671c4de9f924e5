package main

import (
	"flag"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/x/proof/tools/publish"
)

const lib = "github.com/batchplan/small"

// repository returns a repository with a library, an adapter on it, and a changelog.
func repository(t *testing.T) release {
	t.Helper()
	r := release{root: t.TempDir(), version: "v0.1.0"}
	r.write(t, map[string]string{
		"LICENSE":      "Apache",
		"CHANGELOG.md": "# Changelog\n\n## v0.1.0\n\n### API\n\n- all\n\n### Semantics\n\n- all\n",
		"go.mod":       "module " + lib + "\n\ngo 1.24.0\n",
		"plan/plan.go": "package plan\n\nfunc Old() int { return 1 }\n",
		"x/sim/sim.go": "package sim\n\nfunc Run() {}\n",
		"x/kubernetes/go.mod": "module " + lib + "/x/kubernetes\n\ngo 1.24.0\n\nreplace " + lib + " => ../..\n\n" +
			"require " + lib + " v0.0.0\n",
		"x/kubernetes/a.go": "package kubernetes\n\nimport \"" + lib + "/plan\"\n\nvar A = plan.Old\n",
		apiFile:             "plan\n  Old func() int\nx/kubernetes\n  A var func() int\nx/sim\n  Run func()\n",
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
		testfile.Write(t, text, r.root, name)
	}
}

func (r release) commitAll(t *testing.T) {
	t.Helper()
	_, err := r.git("add", "-A")
	must.OK(t, err)
	_, err = r.git("commit", "-q", "-m", "all")
	must.OK(t, err)
}

// changelog returns a changelog with a section for a version, whose API part has this text.
func changelog(version, api string) map[string]string {
	return map[string]string{"CHANGELOG.md": "# Changelog\n\n## " + version + "\n\n### API\n\n" + api + "\n\n### Semantics\n\n- nothing\n\n## v0.1.0\n"}
}

// TestRelease makes three releases: the first version; a second version, whose changelog has to
// name what is gone; and v1. After v1, only packages below x/ may lose something.
func TestRelease(t *testing.T) {
	r := repository(t)
	must.OK(t, r.tags())
	tagged := func(version string, tags ...string) {
		t.Helper()
		for _, tag := range tags {
			mod, err := r.git("show", tag+":x/kubernetes/go.mod")
			if err != nil || strings.Contains(mod, "replace") || !strings.Contains(mod, lib+" "+version) {
				t.Errorf("%s: %v, %s", tag, err, mod)
			}
		}
	}
	tagged("v0.1.0", "v0.1.0", "x/kubernetes/v0.1.0")
	if out, err := r.git("status", "--porcelain"); err != nil || out != "" {
		t.Errorf("after a release the tree has %q, %v", out, err)
	}
	if err := r.tags(); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("a second time: %v", err)
	}

	r.write(t, map[string]string{
		"plan/plan.go":      "package plan\n\nfunc New() int { return 1 }\n",
		"x/kubernetes/a.go": "package kubernetes\n\nimport \"" + lib + "/plan\"\n\nvar A = plan.New\n",
	})
	type step struct{ version, api, want string }
	play := func(steps ...step) {
		t.Helper()
		for _, s := range steps {
			r.version = s.version
			r.write(t, changelog(s.version, s.api))
			r.commitAll(t)
			err := r.tags()
			if s.want == "" && err != nil || s.want != "" && (err == nil || !strings.Contains(err.Error(), s.want)) {
				t.Errorf("%s, %q: %v", s.version, s.api, err)
			}
		}
	}
	play(step{"v0.2.0", "- `plan.Old` is gone.", "api.txt is out of date: plan.Old is gone"})
	r.write(t, map[string]string{apiFile: "plan\n  New func() int\nx/kubernetes\n  A var func() int\nx/sim\n  Run func()\n"})
	play(
		step{"v0.2.0", "", "needs the parts"},
		step{"v0.2.0", "- `plan`: more.", `names "Old" nowhere`},
		step{"v0.2.0", "- `plan.Old` is gone.", "names neither it nor"},
		step{"v0.1.1", "- `plan.Old` is `plan.New`.", "needs a minor version"},
		step{"v0.2.0", "- `plan.Old` is `plan.New`.", ""},
		step{"v1.0.0", "- nothing", ""},
	)
	tagged("v1.0.0", "v1.0.0", "x/kubernetes/v0.100.0")

	r.write(t, map[string]string{
		"plan/plan.go":      "package plan\n",
		"x/kubernetes/a.go": "package kubernetes\n",
		"x/sim/sim.go":      "package sim\n",
		apiFile:             "plan\nx/kubernetes\nx/sim\n",
	})
	play(step{"v1.1.0", "- `plan.New`, `kubernetes.A` and `sim.Run` are gone.", "plan.New is gone: that needs a major version"})
	r.write(t, map[string]string{
		"plan/plan.go": "package plan\n\nfunc New() int { return 1 }\n",
		apiFile:        "plan\n  New func() int\nx/kubernetes\nx/sim\n",
	})
	play(
		step{"v1.0.1", "- `kubernetes.A` and `sim.Run` are gone.",
			"x/kubernetes.A is gone: that needs a minor version\nx/sim.Run is gone: that needs a minor version"},
		step{"v1.1.0", "- `kubernetes.A` is gone.", `x/sim.Run is gone: CHANGELOG.md names "Run" nowhere under API`},
		step{"v1.1.0", "- `kubernetes.A` and `sim.Run` are gone.", ""},
	)
	tagged("v1.1.0", "x/kubernetes/v0.101.0")
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

// TestDry: a dry run releases uncommitted work as well, and makes no tag in the repository.
func TestDry(t *testing.T) {
	r := repository(t)
	r.write(t, map[string]string{"plan/more.go": "package plan\n"})
	r.version = ""
	must.OK(t, r.run(true, false))
	if out, err := r.git("tag"); err != nil || out != "" {
		t.Errorf("tags %q, %v", out, err)
	}
}

var update = flag.Bool("update", false, "rewrite "+apiFile)

// TestAPI: the stored listing of the exported API matches the code. So the commit that changes what
// programs can compile also changes the listing.
func TestAPI(t *testing.T) {
	const root = "../../../.."
	modules, err := publish.Tree(root, "v0.0.0")
	must.OK(t, err)
	now, err := list(root, modules)
	must.OK(t, err)
	stored := testfile.Read(t, root, apiFile)
	switch {
	case stored == now.String():
	case *update:
		testfile.Write(t, now.String(), root, apiFile)
	default:
		for _, d := range differences(parse(stored), now) {
			t.Error(d)
		}
		t.Errorf("%s is out of date. If docs/compatibility.md lets the API change so, write it under API in CHANGELOG.md, "+
			"then: go -C x/proof test ./tools/release -update", apiFile)
	}
}

// TestDifferences: what is new, gone or changed is named once, and not for each member of a type.
func TestDifferences(t *testing.T) {
	before := parse("a\n  F func()\n  S[N any] []N\n  S.N method()\n  T struct\n  T.X field int\n  U struct\n  U.Y field int\n  U.Z method()\nb\n  G func()\n")
	now := parse("a\n  F func(int)\n  S[N any] []N\n  T struct\n  T.V field int\n  W struct\n  W.Y field int\nc\n  G func()\n")
	var got []string
	for _, d := range differences(before, now) {
		got = append(got, d.String())
	}
	want := []string{
		"b is gone", `a.F was "F func()" and is "F func(int)"`, "a.S.N is gone", "a.T.X is gone", "a.U is gone", "a.T.V is new", "a.W is new", "c is new",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestList: a line for each name that a program can compile.
func TestList(t *testing.T) {
	r := repository(t)
	r.write(t, map[string]string{"internal/in/in.go": "package in\n\ntype In struct{ A int }\n\nfunc (*In) B() {}\n", "plan/plan.go": `package plan

import (
	"time"

	"` + lib + `/internal/in"
)

type hidden struct{ Seen []string }

type Struct struct {
	hidden
	Sibling
	Tagged  time.Duration ` + "`json:\"tagged\"`" + `
	Hook    func(name string) (n int, err error)
	private int
}

func (Struct) Value(name string, more ...int)  {}
func (*Struct) Pointer() (a, b int) { return 0, 0 }

// A Sibling has a number. Siblings can be
// compared with ==.
type Sibling struct{ x int }

func (Sibling) Promoted() {}

type Iface interface {
	One(at time.Time) error
	hide()
}

type Number interface{ ~int | ~uint }

type Set[N Number] map[N]Sibling

func (s Set[N]) Has(n N) bool { return false }

func Sum[N Number](all ...N) N { return all[0] }

type Alias = in.In

type Few = Set[int]

type Word uint8

const First Word = 1

var Old = Sum[int]
`})
	modules, err := publish.Tree(r.root, "v0.0.0")
	must.OK(t, err)
	got, err := list(r.root, modules)
	must.OK(t, err)
	want := `plan
  Alias = internal/in.In struct
  Alias.A field int
  Alias.B pointer method()
  Few = Set[int]
  First const Word = 1
  Iface interface{One(time.Time) error; hide()}
  Number interface{~int | ~uint}
  Old var func(...int) int
  Set.Has method(N) bool
  Set[N Number] map[N]Sibling
  Sibling struct, comparable
  Sibling.Promoted method()
  Struct struct
  Struct.Hook field func(string) (int, error)
  Struct.Pointer pointer method() (int, int)
  Struct.Promoted method()
  Struct.Seen field []string
  Struct.Sibling embeds Sibling
  Struct.Tagged field time.Duration json:"tagged"
  Struct.Value method(string, ...int)
  Sum func[N Number](...N) N
  Word uint8
x/kubernetes
  A var func(...int) int
x/sim
  Run func()
`
	if got.String() != want {
		t.Errorf("got:\n%s", got)
	}
}

// TestDurations: the JSON of a duration is the number of its nanoseconds. The fields name that
// format, since encoding/json/v2 has no default for durations.
func TestDurations(t *testing.T) {
	listing := testfile.Read(t, "../../../..", apiFile)
	for _, field := range regexp.MustCompile(`.* time\.Duration json:.*`).FindAllString(listing, -1) {
		isList := strings.Contains(field, "[]time.Duration") // v2 takes the format only of a duration itself
		if !isList && !strings.Contains(field, ",format:nano") {
			t.Errorf("%s has no format:nano", field)
		}
	}
}

// TestModules: the modules that docs/compatibility.md keeps at v0 get versions of v0, and no others
// do.
func TestModules(t *testing.T) {
	const root = "../../../.."
	modules, err := publish.Tree(root, "v1.2.3")
	must.OK(t, err)
	page := testfile.Read(t, root, "docs/compatibility.md")
	for _, m := range modules {
		name, want := "`"+m.Dir+"`", "v1.2.3"
		if m.Dir == "." {
			name = "The root"
		}
		row := regexp.MustCompile(`(?m)^\|.*` + regexp.QuoteMeta(name) + `.*\| (v\S+) \|`).FindStringSubmatch(page)
		switch {
		case row == nil:
			t.Fatalf("docs/compatibility.md has no version of %s", name)
		case row[1] == "v0.(100+N).P":
			want = "v0.102.3"
		case row[1] != "v1.N.P":
			t.Errorf("%s: what is %s?", name, row[1])
		}
		if m.Version != want {
			t.Errorf("%s has the version %s in v1.2.3, and %s in docs/compatibility.md", name, m.Version, want)
		}
	}
}
