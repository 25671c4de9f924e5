//go:build linux

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
)

// Names and messages lose their control characters before they reach a terminal or a JSON object.
func TestHostileText(t *testing.T) {
	t.Parallel()
	const evil = "\x1b[2J\x1b]0;owned\x07\u009b31m\u202egnp\u2066\x7f\r\b\n"
	w := newWorld(t)
	text := strings.ReplaceAll(manyJob, "completions: 40", "completions: 1")
	text = strings.ReplaceAll(text, "backoffLimit:", "backoffLimit: 0 #")
	i := strings.Index(text, "command:")
	text = text[:i] + `command: ["/nowhere/\e[2J\e]0;owned\a\x9b31m\u202egnp\u2066\x7f\r\b\n"]` + "\n"
	o := w.call("run", w.manifest(text))
	if o.code != 1 {
		t.Fatal(o)
	}
	outputs := map[string]output{
		"run": o, "run JSON": w.call("run", "-o=json"), "status": w.call("status"), "status of one": w.call("status", "many"),
		"status JSON": w.call("status", "-o=json"), "status of one, JSON": w.call("status", "many", "-o=json"), "logs": w.call("logs", "many"),
		"a bad name": w.call("status", "x"+evil), "bad logs": w.call("logs", "many", "--pod", evil), "a bad flag": w.call("run", "--x"+evil),
		"a bad file": w.call("run", "x"+evil), "a bad CronJob": w.call("next", "x"+evil), "a bad trigger": w.call("trigger", "x"+evil), "rm": w.call("rm", "x"+evil),
	}
	for name, o := range outputs {
		must.Harmless(t, name, o.out+o.errOut)
	}
	if one := outputs["status of one"]; one.code != 0 ||
		!strings.Contains(one.out, `(start "/nowhere/`) && !strings.Contains(one.out, `/nowhere/\u001b[2J`) {
		t.Errorf("the message is not shown: %v", one)
	}
	var object struct {
		Spec struct {
			Template struct {
				Spec struct{ Containers []struct{ Command []string } }
			}
		}
	}
	if err := json.Unmarshal([]byte(outputs["status of one, JSON"].out), &object); err != nil ||
		object.Spec.Template.Spec.Containers[0].Command[0] != "/nowhere/"+evil {
		t.Errorf("the JSON says something else: %v, %v", err, outputs["status of one, JSON"])
	}
}

// The command line follows the same conventions as the other commands of this project.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, test := range []struct {
		args     []string
		code     int
		out, err string
	}{
		{[]string{"--version"}, 0, "batchrun version ", ""},
		{[]string{"-h"}, 0, "Usage:", ""},
		{[]string{"completion", "bash"}, 0, "bash completion", ""},
		{[]string{"--wrong"}, 2, "", "batchrun: unknown flag: --wrong; see batchrun -h\n"},
		{[]string{"status", "a", "b"}, 2, "", "batchrun: wrong number of arguments, 2: expected batchrun status [JOB|CRONJOB] [flags]; see batchrun status -h\n"},
		{[]string{"run", "-h"}, 0, "Examples:", ""},
		{[]string{"next", "-h"}, 0, "Examples:", ""},
		{[]string{"trigger", "-h"}, 0, "Examples:", ""},
		{[]string{"status", "-h"}, 0, "Examples:", ""},
		{[]string{"logs", "-h"}, 0, "Examples:", ""},
		{[]string{"rm", "-h"}, 0, "Examples:", ""},
	} {
		if o := w.want(test.code, test.args...); !strings.Contains(o.out, test.out) || o.errOut != test.err {
			t.Errorf("%v: %v", test.args, o)
		}
	}
}
