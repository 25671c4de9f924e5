package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/testfile"
)

// TestUpgrade checks the exit status and both formats of the output, and that bad input is refused.
func TestUpgrade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "job.yaml")
	const manifest = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: j\nspec:\n  template:\n    spec:\n      restartPolicy: Never\n      containers: [{name: main, image: i}]\n"
	testfile.Write(t, manifest, file)
	for _, test := range []struct {
		args   string
		status int
		want   string
	}{
		{"--from 1.35 --to 1.36", exitFindings, "    For Job j.\n    Shown by Job j, "},
		{"--from 1.32 --to 1.33", exitFine, "Nothing changes for 1 of 1 object."},
		{"--from 1.36 --to 1.37", exitFine, "From Kubernetes 1.36 to 1.37\n"},
		{"--to 1.36", exitBadInput, "--from is required"},
		{"--from 1.35 --to 1.50", exitBadInput, `--to: release "1.50" is not known: want one of 1.31`},
		{"--from 1.35,JobManagedBy=false --to 1.36", exitBadInput, `--from: gate "JobManagedBy" of Kubernetes 1.35 is locked to true`},
		{"--from 1.35 --to 1.36 -o yaml", exitBadInput, `--output: "yaml": must be text or json`},
	} {
		var out bytes.Buffer
		args := append([]string{"batchwhy", "upgrade", file}, strings.Fields(test.args)...)
		status := Main(context.Background(), args, strings.NewReader(""), &out, &out, time.Now)
		if status != test.status || !strings.Contains(out.String(), test.want) {
			t.Errorf("%s: status %d, want %d and %q:\n%s", test.args, status, test.status, test.want, out.String())
		}
	}
	var out bytes.Buffer
	Main(context.Background(), []string{"batchwhy", "upgrade", "--from=1.35", "--to=1.36", "-o=json", file},
		strings.NewReader(""), &out, &out, time.Now)
	var report struct {
		From, To string
		Objects  []struct{ Changes []struct{ What, Rule string } }
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil || report.To != "1.36" || len(report.Objects) != 1 ||
		report.Objects[0].Changes[0].Rule != "J39" {
		t.Errorf("%v: %s", err, out.String())
	}
	out.Reset()
	Main(context.Background(), []string{"batchwhy", "upgrade", "--from=1.32", "--to=1.33", "-o=json", file},
		strings.NewReader(""), &out, &out, time.Now)
	if !strings.Contains(out.String(), `"changes": []`) {
		t.Errorf("no changes are no list: %s", out.String())
	}
}
