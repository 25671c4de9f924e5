package cli

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
)

// evil is a message with control sequences for a terminal, and marks that change the direction of
// writing.
const evil = "\x1b[2J\x1b]0;owned\x07\u009b31m\u202egnp\u2066\x7f\r\b"

// hostileJob is a Job with a Pod that cannot start, as kubectl would print it.
func hostileJob(t *testing.T) string {
	t.Helper()
	owner := []map[string]any{{"apiVersion": "batch/v1", "kind": "Job", "name": "a" + evil, "uid": "1", "controller": true}}
	template := map[string]any{"spec": map[string]any{"restartPolicy": "Never", "containers": []map[string]any{{"name": "m" + evil, "image": "i" + evil}}}}
	data, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": []map[string]any{
		{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "a" + evil, "namespace": "n" + evil, "uid": "1", "creationTimestamp": "2026-10-14T09:00:00Z"},
			"spec": map[string]any{"template": template}, "status": map[string]any{"startTime": "2026-10-14T09:00:00Z", "active": 1}},
		{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p" + evil, "namespace": "n" + evil, "uid": "2", "creationTimestamp": "2026-10-14T09:00:00Z",
			"ownerReferences": owner, "finalizers": []string{"batch.kubernetes.io/job-tracking"}},
			"status": map[string]any{"phase": "Pending", "containerStatuses": []map[string]any{{"name": "m" + evil,
				"state": map[string]any{"waiting": map[string]any{"reason": "ErrImagePull" + evil, "message": "no image " + evil}}}}}},
		{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": map[string]any{"name": "c" + evil, "namespace": "n", "uid": "3", "creationTimestamp": "2026-10-14T09:00:00Z"},
			"spec": map[string]any{"schedule": "* * * * *" + evil, "timeZone": "Mars" + evil, "jobTemplate": map[string]any{"spec": map[string]any{"template": template}}}},
	}})
	must.OK(t, err)
	return string(data)
}

var colours = regexp.MustCompile("\x1b\\[(0|1|2|3[1-6])m")

// TestHostile: whatever names and messages contain, no form of output has characters that mislead a
// terminal.
func TestHostile(t *testing.T) {
	in := hostileJob(t)
	file := filepath.Join(t.TempDir(), "plot.svg")
	for name, args := range map[string][]string{
		"text":         {"explain", at, "--plan", "--for=1h"},
		"colours":      {"explain", at, "--plan", "--color=always"},
		"JSON":         {"explain", at, "-o=json", "--for=1h"},
		"follow":       {"explain", "--follow"},
		"follow, JSON": {"explain", "--follow", "-o=json"},
		"plot":         {"explain", at, "--plot", file},
		"a bad flag":   {"explain", "--x" + evil},
		"a bad file":   {"explain", "x" + evil},
		"a bad name":   {"explain", "--only=x" + evil},
		"bad input":    {"explain", "-", "x" + evil},
	} {
		_, out, errOut := run(t, in, args...)
		if name == "colours" {
			if !colours.MatchString(out) {
				t.Errorf("no colours in %q", out)
			}
			out = colours.ReplaceAllString(out, "")
		}
		must.Harmless(t, name, out+errOut)
		if strings.Contains(name, "bad") {
			continue
		}
		if want := `\u001b`; !strings.Contains(out, want) {
			t.Errorf("%s: the message is not shown: %s%s", name, out, errOut)
		}
	}
	_, out, _ := run(t, in, "explain", at, "-o=json")
	var report struct{ Objects []struct{ Name string } }
	if err := json.Unmarshal([]byte(out), &report); err != nil || len(report.Objects) != 2 ||
		report.Objects[1].Name != "a"+evil {
		t.Errorf("the JSON says something else: %v, %q", err, report)
	}
	picture := testfile.Read(t, file)
	must.Harmless(t, "the picture", picture)
	for decoder := xml.NewDecoder(strings.NewReader(picture)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture is not XML: %v", err)
		}
	}
}

// TestCommandLine: the command line follows the same conventions as those of the other commands.
func TestCommandLine(t *testing.T) {
	for _, test := range []struct {
		args   []string
		status int
		out    string
		err    string
	}{
		{[]string{"--version"}, exitFine, "batchwhy version ", ""},
		{[]string{"-h"}, exitFine, "Usage:", ""},
		{[]string{"completion", "bash"}, exitFine, "bash completion", ""},
		{[]string{"--wrong"}, exitBadInput, "", "batchwhy: unknown flag: --wrong; see batchwhy -h\n"},
		{[]string{"page"}, exitBadInput, "", "batchwhy: required flag(s) \"out\" not set\n"},
	} {
		status, out, errOut := run(t, "", append([]string{"batchwhy"}, test.args...)...)
		if status != test.status || !strings.Contains(out, test.out) || errOut != test.err {
			t.Errorf("%v: status %d, %q, %q", test.args, status, out, errOut)
		}
	}
	if status, _, errOut := run(t, "", "kubectl-why", "--wrong"); status != exitBadInput ||
		errOut != "kubectl-why: unknown flag: --wrong; see kubectl-why -h\n" {
		t.Errorf("status %d, %q", status, errOut)
	}
}
