package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

// TestLicenses: the table names all linked modules, and no more. The library and the adapter link
// nothing under MPL-2.0.
func TestLicenses(t *testing.T) {
	const root = "../../../.."
	linked, err := read(root)
	must.OK(t, err)
	for path, m := range linked {
		for _, name := range []string{"library", "kubernetes"} {
			if m.license == "MPL-2.0" && slices.Contains(m.linkedBy, name) {
				t.Errorf("%s links %s, which is MPL-2.0", name, path)
			}
		}
	}
	if len(linked) < 10 || linked["github.com/robfig/cron/v3"].license != "MIT" {
		t.Fatalf("only %v", linked)
	}
	data, err := os.ReadFile(root + "/docs/results/licenses.txt")
	if _, printed, _ := strings.Cut(string(data), "\n\n"); err != nil || printed != table(linked) {
		t.Errorf("docs/results/licenses.txt is not what is linked (%v): make result NAME=licenses", err)
	}
}
