package upgrade

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/job/release"
)

var update = flag.Bool("update", false, "write the stored reports again")

// TestStored compares reports with stored ones. The reports have the changes for some manifests:
// for each upgrade to the next release, and for one upgrade from 1.31 to 1.36.
func TestStored(t *testing.T) {
	var steps strings.Builder
	neighbours(func(from, to release.Release) {
		steps.WriteString(reportOf(t, from, to))
		steps.WriteString("\n")
	})
	for name, got := range map[string]string{
		"neighbours.txt": steps.String(),
		"manifests.txt":  reportOf(t, release.V131(), release.V136()),
	} {
		file := filepath.Join("testdata", name)
		if *update {
			testfile.Write(t, got, file)
		}
		if got != testfile.Read(t, file) {
			t.Errorf("%s is not what is reported (-update writes it):\n%s", file, got)
		}
	}
}

func reportOf(t *testing.T, from, to release.Release) string {
	var b strings.Builder
	must.OK(t, compared(t, from, to).Write(&b))
	return b.String()
}

// reports keeps the reports, since playing their lives takes time.
var reports = map[[2]release.Release]*Report{}

func compared(t *testing.T, from, to release.Release) *Report {
	key := [...]release.Release{from, to}
	if r := reports[key]; r != nil {
		return r
	}
	var texts []string
	for _, name := range [...]string{"manifests.yaml", "more.yaml"} {
		texts = append(texts, testfile.Read(t, "testdata", name))
	}
	reports[key] = Compare(objectsOf(t, texts...), from, to)
	return reports[key]
}

// TestDocumented compares the table of docs/releases.md with the changes that each upgrade to the
// next release makes to the stored manifests and to any cluster.
func TestDocumented(t *testing.T) {
	const file, head = "../../../../../docs/releases.md", "| To | What changes | Found by | See |\n"
	var table strings.Builder
	table.WriteString(head + "|----|--------------|----------|-----|\n")
	neighbours(func(from, r release.Release) {
		report := compared(t, from, r)
		for _, c := range append(report.byChange(), alone(report.Cluster)...) {
			if c.FoundBy == foundStatus {
				continue // the change is about the past of one Job
			}
			what := strings.TrimPrefix(c.What, "From "+r.String()+" on, ")
			if what = strings.TrimSuffix(what, "."); !strings.HasPrefix(what, "spec.") {
				what = strings.ToUpper(what[:1]) + what[1:]
			}
			if c.Rule != "" {
				what += " (" + c.Rule + ")"
			}
			fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", r, what, c.FoundBy, c.See)
		}
	})
	page := testfile.Read(t, file)
	before, rest, _ := strings.Cut(page, "| To |")
	_, after, more := strings.Cut(rest, "\n\n")
	want := before + table.String()
	if more {
		want += "\n" + after
	}
	if *update {
		testfile.Write(t, want, file)
	} else if page != want {
		t.Errorf("%s: the table is not what is found (-update writes it):\n%s", file, table.String())
	}
}
