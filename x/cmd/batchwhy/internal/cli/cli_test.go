package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/x/cmd/internal/manifest/mistakes"
)

const situations = "../explain/testdata/situations/"

// run runs the command with some input, at 09:14 UTC on the day of the situations.
func run(t *testing.T, in string, args ...string) (status int, out, errOut string) {
	t.Helper()
	t.Setenv("PWD", "") // a user starts the command in another folder than the test
	var o, e bytes.Buffer
	now := func() time.Time { return time.Date(2026, 10, 14, 9, 14, 0, 0, time.UTC) }
	status = Main(context.Background(), args, strings.NewReader(in), &o, &e, now)
	return status, o.String(), e.String()
}

const at = "--at=2026-10-14T09:14:00Z"

// TestMistakes: the command reports the same mistakes in manifests as the other commands.
func TestMistakes(t *testing.T) {
	mistakes.Check(t, func() string {
		_, out, errOut := run(t, "", "explain", "f.yaml")
		return out + errOut
	})
}

func TestExitStatus(t *testing.T) {
	bundle := t.TempDir()
	for name, text := range map[string]string{
		"version.json": `{"gitVersion": "v1.36.3"}`, "cluster/jobs.yaml": "kind: List\nitems: []\n", "cluster/log.txt": "no JSON", "cluster/values.yml": "- 1\n",
		"README.TXT": "{ no JSON\n", "cluster/1_2_3.LOG": "{ no JSON\n",
	} {
		testfile.Write(t, text, bundle, name)
	}
	texts, logs := t.TempDir(), t.TempDir()
	testfile.Write(t, "a note\n", texts, "notes.txt")
	testfile.Write(t, "started\n", logs, "a-x.log")
	fine := `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}`
	tests := []struct {
		name, in string
		args     []string
		status   int
		out, err string
	}{
		{"nothing is wrong", fine, []string{"-"}, exitFine, "Job a  starting", ""},
		{"without arguments", fine, nil, exitFine, "Job a  starting", ""},
		{"findings", "", []string{at, situations + "image_pull/input"}, exitFindings, "error ImagePull", ""},
		{"truncated", "{\"items\": [" + fine + ", {", nil, exitBadInput, "Job a  starting", "batchwhy: standard input:1: the input ends inside item 2"},
		{"no such file", "", []string{"nowhere.json"}, exitBadInput, "", "nowhere.json"},
		{"an empty folder", "", []string{t.TempDir()}, exitBadInput, "", "contains no .json, .yaml or .yml file and no log"},
		{"a folder with only a text", fine, []string{"-", texts}, exitBadInput, "", "contains no .json, .yaml or .yml file and no log"},
		{"a folder with only a log", fine, []string{"-", logs}, exitFine, "Job a  starting", ""},
		{"a folder", "", []string{at, situations + "quota/input"}, exitFindings, "error FailedCreate", ""},
		{"a bundle with files of other kinds", fine, []string{"-", bundle}, exitFine, "Job a  starting", ""},
		{"only pods", `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}`, nil, exitBadInput, "", "the input contains pods (1) and no Job or CronJob"},
		{"only others", `{"apiVersion": "v1", "kind": "Secret"}`, nil, exitBadInput, "", "such as 1 of kind Secret"},
		{"an empty list", `{"apiVersion": "v1", "items": [], "kind": "List"}`, nil, exitBadInput, "", "the input contains no Job or CronJob"},
		{"too many objects", fine + strings.Replace(fine, `"a"`, `"b"`, 1), []string{"--max-objects=1"}, exitBadInput, "Job a  starting", "more than 1 Jobs, CronJobs and Pods; the rest is not read"},
		{"a wrong time", fine, []string{"--at=noon"}, exitBadInput, "", `--at: "noon": must be a time`},
		{"a wrong duration", fine, []string{"--for=-1h"}, exitBadInput, "", `--for: "-1h": must be a duration`},
		{"a wrong output", fine, []string{"-o=xml"}, exitBadInput, "", `--output: "xml": must be text or json`},
		{"a wrong colour", fine, []string{"--color=blue"}, exitBadInput, "", `--color: "blue"`},
		{"a name", "", []string{at, "--only=cronjob/backup", situations + "forbid/input"}, exitFindings, "CronJob default/backup  held", ""},
		{"a name that is not there", "", []string{at, "--only=nobody", situations + "forbid/input"}, exitBadInput, "", `no Job or CronJob has the name "nobody"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			status, out, errOut := run(t, test.in, append([]string{"explain"}, test.args...)...)
			if status != test.status || !strings.Contains(out, test.out) || !strings.Contains(errOut, test.err) {
				t.Errorf("status %d, want %d\nout: %s\nerr: %s", status, test.status, out, errOut)
			}
			if test.err == "" && errOut != "" {
				t.Errorf("unexpected error: %s", errOut)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	_, out, _ := run(t, "", "explain", at, "-o", "json", "--for", "1h", situations+"forbid/input")
	var report struct {
		SchemaVersion int
		Objects       []struct{ Kind, Name, State string }
	}
	must.OK(t, json.Unmarshal([]byte(out), &report))
	if report.SchemaVersion != 1 || len(report.Objects) != 3 || report.Objects[0].State != "held" {
		t.Errorf("got %+v", report)
	}
}

func TestColour(t *testing.T) {
	args := []string{"explain", at, situations + "image_pull/input"}
	_, plain, _ := run(t, "", args...)
	_, coloured, _ := run(t, "", append(args, "--color=always")...)
	if strings.Contains(plain, "\x1b") || !strings.Contains(coloured, "\x1b[31merror ImagePull\x1b[0m") {
		t.Errorf("plain %q\ncoloured %q", plain, coloured)
	}
}

// TestPlot writes a drawing that is well formed, whatever the names contain.
func TestPlot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plot.svg")
	if _, _, errOut := run(t, "", "explain", at, "--for=1h", "--plot="+file, situations+"forbid/input"); errOut != "" {
		t.Fatal(errOut)
	}
	f, err := os.Open(file)
	must.OK(t, err)
	defer f.Close()
	d, bars := xml.NewDecoder(f), 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		must.OK(t, err)
		if s, ok := token.(xml.StartElement); ok && s.Name.Local == "title" {
			bars++
		}
	}
	if bars < 20 {
		t.Errorf("%d titles", bars)
	}
}

// TestPlugin: as a plugin the command reads objects with kubectl, and its arguments are names.
func TestPlugin(t *testing.T) {
	bin := t.TempDir()
	input, err := filepath.Abs(situations + "forbid/input/input.json")
	must.OK(t, err)
	script := "#!/bin/sh\necho \"$@\" >> " + bin + "/args\ncase $2 in\njobs) cat " + input + " ;;\nevents) echo 'Error from server (Forbidden): events is forbidden' >&2; exit 1 ;;\n" +
		"*) echo '{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": []}' ;;\nesac\n"
	must.OK(t, os.WriteFile(filepath.Join(bin, "kubectl"), []byte(script), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	status, out, errOut := run(t, "", "/usr/bin/kubectl-why", "-n", "default", "cronjob/backup")
	if status != exitFindings || strings.Contains(out, "\nJob ") || !strings.Contains(out, "CronJob default/backup") {
		t.Errorf("status %d: %s%s", status, out, errOut)
	}
	if !strings.Contains(errOut, "warning: explained without events: Error from server (Forbidden)") {
		t.Errorf("errors %q", errOut)
	}
	args, _ := os.ReadFile(filepath.Join(bin, "args"))
	// All pods were read, so the Job certainly has none.
	alone := `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "backup-29866090", "namespace": "default", "uid": "u"}, "spec": {"template": {"spec": {"restartPolicy": "Never"}}}, "status": {"active": 1}}`
	must.OK(t, os.WriteFile(filepath.Join(bin, "kubectl"), []byte(strings.Replace(script, "cat "+input, "echo '"+alone+"'", 1)), 0o755))
	if _, out, _ = run(t, "", "/usr/bin/kubectl-why", "-n", "default", "job/backup-29866090"); !strings.Contains(out, "Job default/backup-29866090") || strings.Contains(out, "PodsNotRead") {
		t.Errorf("%s", out)
	}
	must.OK(t, os.WriteFile(filepath.Join(bin, "kubectl"), []byte("#!/bin/sh\necho 'Error from server (Forbidden): no' >&2; exit 1\n"), 0o755))
	if status, _, errOut = run(t, "", "/usr/bin/kubectl-why"); status != exitBadInput ||
		!strings.Contains(errOut, "kubectl may read nothing here: it needs the verb list for ") {
		t.Errorf("status %d: %s", status, errOut)
	}
	calls := strings.Split(strings.TrimSpace(string(args)), "\n")
	slices.Sort(calls)
	want := []string{"get cronjobs -o json --namespace default", "get events -o json --namespace default", "get jobs -o json --namespace default", "get pods -o json --namespace default"}
	if !slices.Equal(calls, want) {
		t.Errorf("kubectl was called with %q, want %q", calls, want)
	}
}

// TestFileTime: without --at, files are explained for the newest time in their objects.
func TestFileTime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "input.json")
	testfile.Write(t, testfile.Read(t, situations+"backoff/input/input.json"), file)
	for written, warns := range map[time.Time]bool{
		time.Date(2026, 10, 14, 9, 1, 0, 0, time.UTC):  false,
		time.Date(2026, 10, 14, 13, 1, 0, 0, time.UTC): true, // a copy, for example
	} {
		must.OK(t, os.Chtimes(file, written, written))
		_, out, errOut := run(t, "", "explain", file)
		if !strings.Contains(out, "As of 2026-10-14 09:00:48, the newest time in the objects.") ||
			!strings.Contains(out, "At 09:01:28 (in 40s)") {
			t.Errorf("got %s", out)
		}
		if strings.Contains(errOut, "although the file was written 4h0m0s later") != warns {
			t.Errorf("written at %s: %q", written, errOut)
		}
	}
}

func TestProgress(t *testing.T) {
	in := strings.Repeat(" ", 9<<20)
	_, _, errOut := run(t, in+`{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}}`, "explain",
		"--progress")
	if !strings.Contains(errOut, "\rread 4 MB") || !strings.HasSuffix(errOut, "\r\x1b[K") {
		t.Errorf("got %q", errOut)
	}
}

// TestSummary: the output for hundreds of objects, most of them healthy, fits on one screen, and
// what is wrong comes first.
func TestSummary(t *testing.T) {
	var b strings.Builder
	for i := range 600 {
		fmt.Fprintf(&b, `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job-%d", "namespace": "n", "uid": "u%d", "ownerReferences": [{"kind": "CronJob", "name": "c", "uid": "c", "controller": true}]},
			"spec": {"template": {"spec": {"restartPolicy": "Never"}}}, "status": {"succeeded": 1, "startTime": "2026-10-14T08:00:00Z", "completionTime": "2026-10-14T08:01:00Z",
			"conditions": [{"type": "SuccessCriteriaMet", "status": "True", "lastTransitionTime": "2026-10-14T08:01:00Z"}, {"type": "Complete", "status": "True", "lastTransitionTime": "2026-10-14T08:01:00Z"}]}}`+"\n", i, i)
	}
	data := testfile.Read(t, situations+"image_pull/input/input.json")
	status, out, errOut := run(t, b.String()+data, "explain", at)
	if lines := strings.Count(out, "\n"); lines > 24 || status != exitFindings {
		t.Errorf("status %d, %d lines:\n%s%s", status, lines, out, errOut)
	}
	for _, want := range []string{"601 objects: 600 Jobs complete, 1 Job stuck.", "error ImagePull  Job default/job-pod-failure-policy-config-issue  stuck", "do: If the name is misspelled", "600 objects are well."} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if _, out, _ = run(t, b.String()+data, "explain", at, "--details"); strings.Count(out, "\nJob ") != 601 {
		t.Error("--details does not explain each")
	}
}
