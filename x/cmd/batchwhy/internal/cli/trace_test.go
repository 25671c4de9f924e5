package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/x/trace"
)

// TestTrace checks the exit status and both formats of the output. Some logs have lines that are
// not judged, and some input is refused.
func TestTrace(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		testfile.Write(t, text, dir, name)
	}
	job := func(version, manager, status string) string {
		return `{"apiVersion":"batch/v1","kind":"Job","metadata":{"namespace":"n","name":"j","uid":"u","resourceVersion":"` + version + `"},"spec":{"parallelism":1,"completions":2` + manager + `},"status":{` + status + `}}`
	}
	log := func(manager, end string) string {
		return `{"type":"ADDED","object":` + job("1", manager,
			`"failed":2`) + "}\n" + `{"type":"MODIFIED","object":` + job("2", manager, end) + "}\n"
	}
	write("right", log("", `"failed":2,"active":1`))
	write("wrong", log("", `"failed":1`))
	write("uncounted", log(`,"managedBy":"example.com/c"`, `"failed":3`))
	write("garbage", "garbage\n"+log("", `"failed":1`))
	write("plain", job("1", "", `"failed":2`)+job("2", "", `"failed":1`))
	for _, test := range []struct {
		args   string
		status int
		want   string
	}{
		{"right", exitFine, "0 findings in 1 step of 1 Job, 0 Pods and 0 CronJobs\n"},
		{"wrong", exitFindings, "wrong:2: JI4: Job n/j: status.failed: 1: must not decrease from 2\n1 finding "},
		{"wrong --max-findings 0", exitFindings, "and 1 more finding: --max-findings shows all\n"},
		{"uncounted", exitFine, "0 findings"},
		{"uncounted --controller example.com/c", exitFindings, "uncounted:2: JI1: "},
		{"uncounted --controller example.com/c --incomplete", exitFine, "1 step may lack versions in between"},
		{"garbage", exitBadInput, `garbage:1: expected a JSON object, found "garbage"`},
		{"plain", exitFindings, "  2 objects came without an event type, so versions may be missing: kubectl get needs --output-watch-events\n"},
		{"missing", exitBadInput, "no such file"},
		{".", exitBadInput, "batchwhy: " + dir + ": is a folder: name the logs in it"},
		{"right --release 1.20", exitBadInput, `--release: release "1.20" is not known`},
		{"right -o yaml", exitBadInput, `--output: "yaml": must be text or json`},
	} {
		var out bytes.Buffer
		args := strings.Fields(test.args)
		args[0] = filepath.Join(dir, args[0])
		status := Main(context.Background(), append([]string{"batchwhy", "trace"}, args...), strings.NewReader(""),
			&out, &out, time.Now)
		if status != test.status || !strings.Contains(out.String(), test.want) {
			t.Errorf("%s: status %d, want %d and %q:\n%s", test.args, status, test.status, test.want, out.String())
		}
	}
	// A failed write is an error, even if later writes succeed.
	if status := Main(context.Background(), []string{"batchwhy", "trace"}, strings.NewReader(log("", `"failed":1`)+`{"type":"MODIFIED","object":`+job("3", "", `"failed":0`)+"}"), &failsOnce{}, io.Discard, time.Now); status != exitBadInput {
		t.Errorf("a full disk: status %d", status)
	}
	var out bytes.Buffer
	Main(context.Background(), []string{"batchwhy", "trace", "-o=json"}, strings.NewReader(log("", `"failed":1`)),
		&out, &out, time.Now)
	var f trace.Finding
	var s trace.Summary
	decoder := json.NewDecoder(&out)
	if err := decoder.Decode(&f); err != nil || f.Rule != "JI4" || f.File != "<stdin>" || f.Line != 2 ||
		f.ResourceVersion != "2" {
		t.Errorf("%v %+v", err, f)
	}
	if err := decoder.Decode(&s); err != nil || s.Findings != 1 || s.Jobs != 1 {
		t.Errorf("%v %+v", err, s)
	}
}

// failsOnce refuses the first write.
type failsOnce struct{ tried bool }

func (w *failsOnce) Write(p []byte) (int, error) {
	if !w.tried {
		w.tried = true
		return 0, errors.New("no space left on device")
	}
	return len(p), nil
}
