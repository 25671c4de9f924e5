package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const situations = "../../explain/testdata/situations/"

// run runs the command with some input, at noon of the day of the situations.
func run(t *testing.T, in string, args ...string) (status int, out, errOut string) {
	t.Helper()
	t.Setenv("PWD", "") // a user has another folder than the test
	var o, e bytes.Buffer
	now := func() time.Time { return time.Date(2026, 10, 14, 9, 14, 0, 0, time.UTC) }
	status = Main(context.Background(), args, strings.NewReader(in), &o, &e, now)
	return status, o.String(), e.String()
}

const at = "--at=2026-10-14T09:14:00Z"

func TestExitStatus(t *testing.T) {
	bundle := t.TempDir()
	for name, text := range map[string]string{
		"version.json": `{"gitVersion": "v1.36.3"}`, "cluster/jobs.yaml": "kind: List\nitems: []\n", "cluster/log.txt": "no JSON", "cluster/values.yml": "- 1\n",
	} {
		file := filepath.Join(bundle, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fine := `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": {"spec": {"restartPolicy": "Never"}}}}`
	tests := []struct {
		name, in string
		args     []string
		status   int
		out, err string
	}{
		{"nothing is wrong", fine, []string{"-"}, exitFine, "Job a  starting", ""},
		{"without arguments", fine, nil, exitFine, "Job a  starting", ""},
		{"findings", "", []string{at, situations + "image_pull/input"}, exitFindings, "warning PodPending", ""},
		{"truncated", "{\"items\": [" + fine + ", {", nil, exitBadInput, "Job a  starting", "error: standard input:1: the input ends inside item 2"},
		{"no such file", "", []string{"nowhere.json"}, exitBadInput, "", "nowhere.json"},
		{"an empty folder", "", []string{t.TempDir()}, exitBadInput, "", "contains no .json, .yaml or .yml file"},
		{"a folder", "", []string{at, situations + "quota/input"}, exitFindings, "error FailedCreate", ""},
		{"a bundle with files of other kinds", fine, []string{"-", bundle}, exitFine, "Job a  starting", ""},
		{"only pods", `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}`, nil, exitBadInput, "", "the input contains 1 Pods and no Job or CronJob"},
		{"only others", `{"apiVersion": "v1", "kind": "Secret"}`, nil, exitBadInput, "", "such as 1 of kind Secret"},
		{"an empty list", `{"apiVersion": "v1", "items": [], "kind": "List"}`, nil, exitBadInput, "", "the input contains no Job or CronJob"},
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
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if report.SchemaVersion != 1 || len(report.Objects) != 3 || report.Objects[0].State != "held" {
		t.Errorf("got %+v", report)
	}
}

func TestColour(t *testing.T) {
	args := []string{"explain", at, situations + "image_pull/input"}
	_, plain, _ := run(t, "", args...)
	_, coloured, _ := run(t, "", append(args, "--color=always")...)
	if strings.Contains(plain, "\x1b") || !strings.Contains(coloured, "\x1b[33mwarning PodPending\x1b[0m") {
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
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, bars := xml.NewDecoder(f), 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := token.(xml.StartElement); ok && s.Name.Local == "title" {
			bars++
		}
	}
	if bars < 20 {
		t.Errorf("%d titles", bars)
	}
}

// TestPlugin: as a plugin the command asks kubectl, and its arguments are names.
func TestPlugin(t *testing.T) {
	bin := t.TempDir()
	input, err := filepath.Abs(situations + "forbid/input/input.json")
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho \"$@\" > " + bin + "/args\ncat " + input + "\n"
	if err := os.WriteFile(filepath.Join(bin, "kubectl"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	status, out, errOut := run(t, "", "/usr/bin/kubectl-why", "-n", "default", "cronjob/backup")
	if status != exitFindings || strings.Contains(out, "\nJob ") || !strings.Contains(out, "CronJob default/backup") {
		t.Errorf("status %d: %s%s", status, out, errOut)
	}
	args, _ := os.ReadFile(filepath.Join(bin, "args"))
	if want := "get jobs,cronjobs,pods,events -o json --namespace default\n"; string(args) != want {
		t.Errorf("kubectl was called with %q, want %q", args, want)
	}
}

// TestFileTime: without --at, the time is that at which the newest file was written.
func TestFileTime(t *testing.T) {
	data, err := os.ReadFile(situations + "backoff/input/input.json")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "input.json")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	written := time.Date(2026, 10, 14, 9, 1, 0, 0, time.UTC)
	if err := os.Chtimes(file, written, written); err != nil {
		t.Fatal(err)
	}
	_, out, _ := run(t, "", "explain", file)
	if !strings.Contains(out, "As of 2026-10-14 09:01:00, when the newest file was written.") || !strings.Contains(out, "At 09:01:28 (in 28s)") {
		t.Errorf("got %s", out)
	}
}

func TestProgress(t *testing.T) {
	in := strings.Repeat(" ", 9<<20)
	_, _, errOut := run(t, in+`{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}}`, "explain", "--progress")
	if !strings.Contains(errOut, "\rread 4 MB") || !strings.HasSuffix(errOut, "\r\x1b[K") {
		t.Errorf("got %q", errOut)
	}
}
