package citations

import (
	"regexp"
	"strings"
	"testing"
)

// TestCompatibility: the table of docs/compatibility.md has the versions that the adapter requires, and
// those of its newest.mod.
func TestCompatibility(t *testing.T) {
	version := func(mod, of string) string {
		found := regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(of) + ` v?(\S+)`).FindStringSubmatch(read(t, mod))
		if found == nil {
			t.Fatalf("%s does not name %s", mod, of)
		}
		return found[1]
	}
	minor := func(v string) string { return strings.Join(strings.Split(v, ".")[:2], ".") }
	table := read(t, "docs/compatibility.md")
	for _, row := range []string{
		"| Go, library and adapter | " + minor(version("go.mod", "go")) + " | ",
		"| Go, library and adapter | " + minor(version("x/kubernetes/go.mod", "go")) + " | ",
		"| k8s.io/api, apimachinery, client-go | " + version("x/kubernetes/go.mod", "k8s.io/client-go") + " | " + version("x/kubernetes/newest.mod", "k8s.io/client-go") + " |",
		"| sigs.k8s.io/controller-runtime | " + version("x/kubernetes/go.mod", "sigs.k8s.io/controller-runtime") + " | " + version("x/kubernetes/newest.mod", "sigs.k8s.io/controller-runtime") + " |",
	} {
		if !strings.Contains(table, row) {
			t.Errorf("docs/compatibility.md has no row %q", row)
		}
	}
}
