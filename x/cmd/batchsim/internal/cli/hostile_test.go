package cli

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/internal/testfile"
	"github.com/batchplan/batchplan/x/cmd/internal/command"
)

const (
	// evil has control sequences for a terminal, and marks that change the direction of writing.
	evil         = "\x1b[2J\x1b]0;owned\x07\u009b31m\u202egnp\u2066\x7f"
	hostileTrace = "submit,duration,name,fails,backoffLimit\n0,60,a" + evil + ",true,3\n"
	everyFive    = `{apiVersion: batch/v1, kind: CronJob, metadata: {name: c}, spec: {schedule: "*/5 * * * *", jobTemplate: {
  spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}}}}}`
)

// TestHostile: whatever names and messages contain, no form of output has characters that mislead a
// terminal.
func TestHostile(t *testing.T) {
	dir := t.TempDir()
	file, cron := filepath.Join(dir, "hostile.csv"), filepath.Join(dir, "cron.yaml")
	testfile.Write(t, hostileTrace, file)
	testfile.Write(t, everyFive, cron)
	for name, args := range map[string][]string{
		"run":            {"run", file, cron, "--until=1h", "--out", dir, "--plans", filepath.Join(dir, "plans.jsonl"), "--trace", filepath.Join(dir, "trace.json")},
		"why, job":       {"why", file, "a" + evil, "30m", "--until=1h"},
		"why, CronJob":   {"why", cron, "c", "30m", "--until=1h"},
		"why, not there": {"why", file, "x" + evil, "30m", "--until=1h"},
		"compare":        {"compare", file, "--until=1h", "--variant", "v" + evil + ":jobs.backoffLimit=1", "--seeds=2"},
		"manifest":       {"manifest", "x" + evil, "--shares=2", "--claim=c", "--image=i" + evil},
		"a bad flag":     {"run", "--x" + evil},
		"a bad file":     {"run", "x" + evil},
	} {
		var out, errs bytes.Buffer
		status := Main(t.Context(), args, &out, &errs)
		must.Harmless(t, name, out.String()+errs.String())
		if strings.HasPrefix(name, "why") && name != "why, CronJob" &&
			!strings.Contains(out.String()+errs.String(), `\u001b`) {
			t.Errorf("%s: the name is not shown: %s%s", name, &out, &errs)
		}
		if bad := strings.Contains(name, "bad") || strings.Contains(name, "not there"); bad != (status != 0) {
			t.Errorf("%s: exit status %d: %s", name, status, &errs)
		}
	}
	pictures, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil || len(pictures) == 0 {
		t.Fatalf("no pictures: %v", err)
	}
	for _, name := range append(pictures, filepath.Join(dir, "report.html")) {
		data := testfile.Read(t, name)
		must.Harmless(t, name, data)
		for decoder := xml.NewDecoder(strings.NewReader(data)); strings.HasSuffix(name, ".svg"); {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s is not XML: %v", name, err)
			}
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
		{[]string{"--version"}, 0, "batchsim version ", ""},
		{[]string{"-h"}, 0, "Usage:", ""},
		{[]string{"completion", "bash"}, 0, "bash completion", ""},
		{[]string{"run", "-h"}, 0, "Examples:", ""},
		{[]string{"compare", "-h"}, 0, "Examples:", ""},
		{[]string{"sweep", "-h"}, 0, "Examples:", ""},
		{[]string{"merge", "-h"}, 0, "Examples:", ""},
		{[]string{"manifest", "-h"}, 0, "Examples:", ""},
		{[]string{"why", "-h"}, 0, "Examples:", ""},
		{[]string{"--wrong"}, command.Usage, "", "batchsim: unknown flag: --wrong; see batchsim -h\n"},
		{[]string{"run"}, command.Usage, "", "batchsim: wrong number of arguments, 0: expected batchsim run FILE... [flags]; see batchsim run -h\n"},
	} {
		var out, errs bytes.Buffer
		if status := Main(t.Context(), test.args, &out, &errs); status != test.status || !strings.Contains(out.String(), test.out) || test.out == "" && out.Len() > 0 || errs.String() != test.err {
			t.Errorf("%v: status %d, %q, %q", test.args, status, &out, &errs)
		}
	}
}
