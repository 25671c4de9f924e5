package manifest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/x/cmd/internal/manifest"
	"github.com/batchplan/batchplan/x/cmd/internal/manifest/mistakes"
)

// ownMistakes are those that a command may report in another way, or not at all.
var ownMistakes = []struct{ Name, Text, From, To, Want string }{
	{"another kind", mistakes.JobText, "batch/v1\nkind: Job", "v1\nkind: Pod", `f.yaml:2:1: kind: "Pod" is not supported; expected "Job" or "CronJob"`},
	{"a version that does not exist", mistakes.JobText, "batch/v1", "batch/v2", `f.yaml:1: apiVersion: "batch/v2" of Job x is not supported; expected "batch/v1"`},
	{"a version of an object without a name", mistakes.JobText, "batch/v1\nkind: Job\nmetadata:\n  name: x", "batch/v2\nkind: Job\nmetadata:\n  generateName: y-", `f.yaml:1: apiVersion: "batch/v2" of Job y- is not supported; expected "batch/v1"`},
	{"two problems of a spec", mistakes.JobText, "parallelism: 2", "parallelism: -1\n  completions: -2", "f.yaml:6:3: spec.parallelism: -1: must not be negative\nf.yaml:7:3: spec.completions: -2: must not be negative"},
	{"neither a name nor a schedule", mistakes.CronText, "  name: x\nspec:\n  schedule: \"* * * * *\"\n", "  labels: {}\nspec:\n", "f.yaml:3:1: metadata.name: is required\nf.yaml:5:1: spec.schedule: \"\": is required"},
	{"a long name of an Indexed Job without indexes", mistakes.JobText, "name: x\nspec:\n", "name: " + strings.Repeat("x", 63) + "\nspec:\n  completionMode: Indexed\n  completions: 0\n", ""},
	{"a name with a dot of an Indexed Job with one index", mistakes.JobText, "name: x\nspec:\n  parallelism: 2", "name: x.y\nspec:\n  completionMode: Indexed", `f.yaml:4:3: metadata.name: "x.y": the host name "x.y-0" of its last index must consist of at most 63 lower case letters, digits and '-', and begin and end with a letter or digit`},
	{"amounts", mistakes.JobText, "command: [echo]", "resources: {limits: {cpu: 1, memory: 1Gi}}", ""},
	{"an amount that is a truth value", mistakes.JobText, "command: [echo]", "resources: {limits: {cpu: yes}}", `f.yaml:13:35: spec.template.spec.containers[0].resources.limits.cpu: is the truth value "true", expected an amount such as 500m or 2Gi`},
	{"a port with a name", mistakes.JobText, "command: [echo]", "readinessProbe: {tcpSocket: {port: http}}", ""},
	{"a time", mistakes.JobText, "name: x", "name: x\n  creationTimestamp: 2026-01-31T08:00:00Z", ""},
	{"a date for a time", mistakes.JobText, "name: x", "name: x\n  creationTimestamp: 2026-01-31", `f.yaml:5:22: metadata.creationTimestamp: is the string "2026-01-31", expected a time such as 2026-01-31T08:00:00Z`},
}

// TestRefusal: a server does not look at the metadata of a CronJob's template.
func TestRefusal(t *testing.T) {
	for text, want := range map[string]string{
		"spec.jobTemplate.metadata.labels: x": "an API server takes the CronJob and refuses its Jobs: f:1: spec.jobTemplate.metadata.labels: x",
		"spec.jobTemplate.spec: x":            "an API server refuses the manifest: f:1: spec.jobTemplate.spec: x",
	} {
		p := manifest.Problem{Position: manifest.Position{File: "f", Line: 1}, Text: text}
		if got := p.Refusal(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestMistakes: each mistake has its sentence, with its position. A good object beside it is read.
func TestMistakes(t *testing.T) {
	all := slices.Clone(mistakes.All)
	for _, m := range ownMistakes {
		all = append(all, mistakes.Mistake(m))
	}
	for _, test := range all {
		t.Run(test.Name, func(t *testing.T) {
			if !strings.Contains(test.Text, test.From) {
				t.Fatalf("%q is not in the good text", test.From)
			}
			text, read := test.Manifest(), 0
			take := func(o *manifest.Object) error {
				if wrong := o.Judge(); len(wrong) > 0 {
					return wrong
				}
				read++
				return nil
			}
			got := ""
			if err := manifest.Read("f.yaml", strings.NewReader(text), take); err != nil {
				got = err.Error()
			}
			if got != test.Want {
				t.Errorf("got  %s\nwant %s", got, test.Want)
			}
			if want := test.Want == ""; want != (read == 1) {
				t.Errorf("%d objects", read)
			}

			// The good documents before and after are read.
			if test.Text == mistakes.JobText || test.Text == mistakes.CronText {
				read = 0
				_ = manifest.Read("f.yaml", strings.NewReader(mistakes.JobText+"---\n"+text+"---\n"+mistakes.CronText), take)
				if read < 2 {
					t.Errorf("%d objects", read)
				}
			}
		})
	}
}
