package citations

import (
	"regexp"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/testfile"
)

// TestBadges: the badges of the README are about this module, its license, and a workflow that runs for
// each push.
func TestBadges(t *testing.T) {
	module := regexp.MustCompile(`(?m)^module (\S+)$`).FindStringSubmatch(testfile.Read(t, root, "go.mod"))[1]
	head, _, _ := strings.Cut(testfile.Read(t, root, "README.md"), "\n\nThe Kubernetes")
	workflow := regexp.MustCompile(`/actions/workflows/([\w.]+)/badge\.svg`).FindStringSubmatch(head)
	if workflow == nil {
		t.Fatalf("no badge of a workflow: %s", head)
	}
	for _, want := range []string{
		"(https://pkg.go.dev/badge/" + module + ".svg)](https://pkg.go.dev/" + module + ")",
		"(https://" + module + "/actions/workflows/" + workflow[1] + "/badge.svg)](https://" + module + "/actions/workflows/" + workflow[1] + ")",
		"license-Apache--2.0-blue.svg)](LICENSE)",
	} {
		if !strings.Contains(head, want) {
			t.Errorf("no badge %s", want)
		}
	}
	if n := strings.Count(head, "\n[![") + strings.Count(head, " [!["); n != 3 {
		t.Errorf("%d badges", n)
	}

	if text := testfile.Read(t, root, ".github/workflows", workflow[1]); !strings.Contains(text, "  push:\n    branches: [main]\n") {
		t.Errorf("%s does not run for a push to main", workflow[1])
	}
	if text := testfile.Read(t, root, "LICENSE"); !strings.Contains(text, "Apache License\n") || !strings.Contains(text, "Version 2.0") {
		t.Error("LICENSE is another one")
	}
}
