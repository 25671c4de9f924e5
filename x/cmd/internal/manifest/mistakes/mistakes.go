// Package mistakes has a manifest for each usual mistake, and the sentence that every command prints
// for it.
package mistakes

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/x/cmd/internal/manifest"
)

// JobText and CronText are good manifests. Most mistakes differ from one of them in one place.
const JobText = `apiVersion: batch/v1
kind: Job
metadata:
  name: x
spec:
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: busybox
        command: [echo]
        env:
        - {name: A, value: b}
`

const CronText = `apiVersion: batch/v1
kind: CronJob
metadata:
  name: x
spec:
  schedule: "* * * * *"
  jobTemplate:
    spec:
      backoffLimit: 1
      template:
        spec:
          restartPolicy: Never
          containers:
          - {name: main, image: busybox}
`

// Mistake replaces a part of a manifest. Want is the sentence that describes the mistake, with its
// position in f.yaml, or "" if the manifest is still good.
type Mistake struct{ Name, Text, From, To, Want string }

// Manifest returns the text with the mistake.
func (m *Mistake) Manifest() string { return strings.Replace(m.Text, m.From, m.To, 1) }

// All has the usual mistakes.
var All = []Mistake{
	{"a tab", JobText, "  parallelism", "\tparallelism", "f.yaml:6:1: indented with a tab; YAML requires spaces"},
	{"a wrong type", JobText, "parallelism: 2", "parallelism: two", `f.yaml:6:16: spec.parallelism: is the string "two", expected a whole number`},
	{"a fraction", JobText, "parallelism: 2", "parallelism: 2.5", `f.yaml:6:16: spec.parallelism: is the number "2.5", expected a whole number`},
	{"a whole number with a point", JobText, "parallelism: 2", "parallelism: 2.0", ""},
	{"more than fits", JobText, "parallelism: 2", "parallelism: 2147483648", `f.yaml:6:16: spec.parallelism: 2147483648: is too large; expected at most 2147483647`},
	{"the most that fits", JobText, "parallelism: 2", "parallelism: 2147483647", ""},
	{"a number for a text", JobText, "value: b", "value: 1", `f.yaml:15:28: spec.template.spec.containers[0].env[0].value: is the number "1", expected a string; write it in quotes`},
	{"a yes for a text", JobText, "value: b", "value: yes", `f.yaml:15:28: spec.template.spec.containers[0].env[0].value: is the truth value "true", expected a string; write it in quotes`},
	{"a yes in quotes", JobText, "value: b", "value: 'yes'", ""},
	{"a yes for a truth value", JobText, "parallelism: 2", "suspend: yes", ""},
	{"nothing", JobText, "parallelism: 2", "parallelism:", ""},
	{"a list for an object", JobText, "template:\n    spec:", "template:\n  -", "f.yaml:8:3: spec.template: is a list, expected an object"},
	{"an object for a list", JobText, "[echo]", "{a: b}", "f.yaml:13:18: spec.template.spec.containers[0].command: is an object, expected a list"},
	{"a double key", JobText, "  template:", "  parallelism: 3\n  template:", "f.yaml:7:3: spec.parallelism: is given twice, first at line 6"},
	{"a misspelt field", JobText, "parallelism", "paralelism", "f.yaml:6:3: spec.paralelism: no such field; did you mean parallelism?"},
	{"a misspelt field of the metadata", JobText, "  name: x", "  name: x\n  label: {}", "f.yaml:5:3: metadata.label: no such field; did you mean labels?"},
	{"a field of nobody", JobText, "parallelism", "zzz", "f.yaml:6:3: spec.zzz: no such field"},
	{"a field of the pod in the Job", JobText, "parallelism: 2", "restartPolicy: Never", "f.yaml:6:3: spec.restartPolicy: no such field; it belongs into spec.template.spec"},
	{"a field of the Job in the pod", JobText, "      restartPolicy", "      backoffLimit: 2\n      restartPolicy", "f.yaml:9:7: spec.template.spec.backoffLimit: no such field; it belongs into spec"},
	{"a field of the pod in a container", JobText, "command: [echo]", "volumes: []", "f.yaml:13:9: spec.template.spec.containers[0].volumes: no such field; it belongs into spec.template.spec"},
	{"a field of the Job in the CronJob", CronText, "  jobTemplate", "  activeDeadlineSeconds: 9\n  jobTemplate", "f.yaml:7:3: spec.activeDeadlineSeconds: no such field; it belongs into spec.jobTemplate.spec"},
	{"a field of the CronJob in the Job", CronText, "backoffLimit: 1", "concurrencyPolicy: Forbid", "f.yaml:9:7: spec.jobTemplate.spec.concurrencyPolicy: no such field; it belongs into spec"},
	{"a Job called a CronJob", JobText, "kind: Job", "kind: CronJob", "f.yaml:6:3: spec.parallelism: no such field; it belongs into spec.jobTemplate.spec\nf.yaml:7:3: spec.template: no such field; it belongs into spec.jobTemplate.spec"},
	{"a schedule without quotes", CronText, `"* * * * *"`, "* * * * *", `f.yaml:6:13: schedule: begins with "*", which has a meaning of its own in YAML; write the schedule in quotes`},
	{"another schedule without quotes", CronText, `"* * * * *"`, "*/5 * * * *", `f.yaml:6:13: schedule: begins with "*", which has a meaning of its own in YAML; write the schedule in quotes`},
	{"a descriptor without quotes", CronText, `"* * * * *"`, "@daily", `f.yaml:6:13: schedule: begins with "@", which has a meaning of its own in YAML; write the schedule in quotes`},
	{"a template of Helm", JobText, "name: x", "name: {{ .Release.Name }}", "f.yaml:4: is a template with {{ }}, as those of Helm; expected objects: render it first, as with helm template"},
	{"a control line of Helm", JobText, "spec:\n  p", "{{- if .Values.x }}\nspec:\n  p", "f.yaml:5: is a template with {{ }}, as those of Helm; expected objects: render it first, as with helm template"},
	{"braces in a text", JobText, "value: b", `value: "{{ .b }}"`, ""},
	{"a table of kubectl", "NAME  STATUS   COMPLETIONS\nx     Running  0/1\n", "", "", "f.yaml:1: is a table of kubectl get; expected objects: add -o yaml to the command"},
	{"a describe text", "Name:         x\nNamespace:    default\nSelector:     a=b\nStart Time:   Mon, 05 Jan 2026 09:00:00 +0000\n", "", "", "f.yaml:1: is a text of kubectl describe; expected objects, as kubectl get -o yaml prints them"},
	{"a List", "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(JobText, "\n", "\n  "), "  parallelism", "  paralelism", "f.yaml:9:5: spec.paralelism: no such field; did you mean parallelism?"},
	{"empty", "\n", "", "", "f.yaml: is empty"},
	{"comments", "# nothing\n---\n", "", "", "f.yaml: contains no object"},
	{"a misspelt kind", JobText, "kind: Job", "kind: job", `f.yaml:1: kind: "job": no such kind in batch/v1; expected "Job" or "CronJob"`},
	{"no kind", JobText, "kind: Job", "", "f.yaml:1: " + manifest.ErrNoKind.Error()},
	{"no version", JobText, "apiVersion: batch/v1", "", `f.yaml:1: apiVersion: is required; expected "batch/v1"`},
	{"an old version", CronText, "batch/v1", "batch/v1beta1", `f.yaml:1: apiVersion: "batch/v1beta1" of CronJob x is not supported; expected "batch/v1", which has served CronJobs since Kubernetes 1.21`},
	{"generateName", JobText, "name: x", "generateName: x-", ""},
	{"a merge", "apiVersion: batch/v1\nkind: Job\nmetadata: &m {name: x}\nspec:\n  template:\n    metadata: {<<: *m, lables: {}}\n", "", "", "f.yaml:6:24: spec.template.metadata.lables: no such field; did you mean labels?"},
	{"JSON", `{"apiVersion": "batch/v1", "kind": "Job",` + "\n\t" + `"metadata": {"name": "\ud83d\ude00", "nam": "b"}}`, "", "", "f.yaml:1: metadata.nam: no such field; did you mean name?"},
	{"a double key in JSON", `{"apiVersion": "batch/v1", "kind": "Job",` + "\n\t" + `"metadata": {"name": "a", "name": "b"}}`, "", "", "f.yaml:2:28: metadata.name: is given twice, first at line 2"},
	{"no restart policy", JobText, "      restartPolicy: Never\n", "", `f.yaml:8:5: spec.template.spec.restartPolicy: "": must be Never or OnFailure`},
	{"a restart policy of another kind", CronText, "Never", "Always", `f.yaml:12:11: spec.jobTemplate.spec.template.spec.restartPolicy: "Always": must be Never or OnFailure`},
	{"no container", JobText, "containers:", "initContainers:", "f.yaml:8:5: spec.template.spec.containers: at least one is required"},
	{"no image", CronText, ", image: busybox", "", "f.yaml:14:13: spec.jobTemplate.spec.template.spec.containers[0].image: is required"},
	{"no name of a container", JobText, "name: main", "tty: true", "f.yaml:11:9: spec.template.spec.containers[0].name: is required"},
	{"a container twice", JobText, "      containers:", "      initContainers:\n      - {name: main, image: x, command: [x]}\n      containers:", `f.yaml:13:9: spec.template.spec.containers[0].name: "main": must be unique`},
	{"a mount without a volume", JobText, "        env:", "        volumeMounts: [{name: v, mountPath: /v}]\n        env:", `f.yaml:14:25: spec.template.spec.containers[0].volumeMounts[0].name: "v": the pod has no volume of this name`},
	{"a negative number", JobText, "parallelism: 2", "parallelism: -1", "f.yaml:6:3: spec.parallelism: -1: must not be negative"},
	{"a negative number in the template", CronText, "backoffLimit: 1", "backoffLimit: -1", "f.yaml:9:7: spec.jobTemplate.spec.backoffLimit: -1: must not be negative"},
	{"a policy in small letters", CronText, "  jobTemplate", "  concurrencyPolicy: forbid\n  jobTemplate", `f.yaml:7:3: spec.concurrencyPolicy: "forbid": must be Allow, Forbid or Replace`},
	{"no schedule", CronText, `  schedule: "* * * * *"` + "\n", "", `f.yaml:5:1: spec.schedule: "": is required`},
	{"a zone in the schedule", CronText, `"*`, `"TZ=UTC *`, `f.yaml:6:3: spec.schedule: "TZ=UTC * * * * *": must not name a zone; use timeZone`},
	{"no name", JobText, "name: x", "labels: {}", "f.yaml:3:1: metadata.name: is required"},
	{"a name with a capital", JobText, "name: x", "name: X", `f.yaml:4:3: metadata.name: "X": each part between dots ` + notPart},
	{"the longest name", JobText, "name: x", "name: " + strings.Repeat("x", 63), ""},
	{"a name that is too long", JobText, "name: x", "name: " + strings.Repeat("x", 64), `f.yaml:4:3: metadata.name: "` + strings.Repeat("x", 64) + `": must not be longer than 63 bytes`},
	{"the longest name of a CronJob", CronText, "name: x", "name: " + strings.Repeat("x", 52), ""},
	{"a name of a CronJob that is too long", CronText, "name: x", "name: " + strings.Repeat("x", 53), `f.yaml:4:3: metadata.name: "` + strings.Repeat("x", 53) + `": must not be longer than 52 bytes, or its jobs' names are too long`},
	{"the longest name of an Indexed Job", JobText, "name: x\nspec:\n", "name: " + strings.Repeat("x", 61) + "\nspec:\n  completionMode: Indexed\n  completions: 10\n", ""},
	{"a host name that is too long", JobText, "name: x\nspec:\n", "name: " + strings.Repeat("x", 61) + "\nspec:\n  completionMode: Indexed\n  completions: 11\n", `f.yaml:4:3: metadata.name: "` + strings.Repeat("x", 61) + `": the host name "` + strings.Repeat("x", 61) + `-10" of its last index ` + notLabel},
	{"a generateName with a capital", JobText, "name: x", "generateName: X-", `f.yaml:4:3: metadata.generateName: "X-x7k2p": each part between dots ` + notPart},
	{"a long generateName", JobText, "name: x", "generateName: " + strings.Repeat("x", 100), ""},
	{"a generateName of a CronJob that is too long", CronText, "name: x", "generateName: " + strings.Repeat("x", 48), `f.yaml:4:3: metadata.generateName: "` + strings.Repeat("x", 48) + `x7k2p": must not be longer than 52 bytes, or its jobs' names are too long`},
	{"a template with a namespace", JobText, "template:", "template:\n    metadata: {namespace: a.b, name: A}", ""},
	{"a manual selector", JobText, "template:", "manualSelector: true\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}", ""},
	{"a manual selector of other pods", JobText, "template:", "manualSelector: true\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: c}}", "f.yaml:10:16: spec.template.metadata.labels: the selector does not match them"},
	{"a manual selector that is missing", JobText, "template:", "manualSelector: true\n  template:", "f.yaml:5:1: spec.selector: is required with manualSelector"},
	{"a long name beside a manual selector", JobText, "name: x\nspec:\n", "name: " + strings.Repeat("x", 64) + "\nspec:\n  manualSelector: true\n  selector: {}\n", ""},
	{"an empty mode", JobText, "parallelism: 2", `completionMode: ""`, "f.yaml:6:3: spec.completionMode: must not be empty when it is set"},
	{"a restart policy of an init container", JobText, "      containers:", "      initContainers:\n      - {name: i, image: x, command: [x], restartPolicy: Once}\n      containers:", `f.yaml:11:43: spec.template.spec.initContainers[0].restartPolicy: "Once": must be Always, Never or OnFailure`},
	{"a selector of a server", JobText, "template:", "selector: {matchLabels: {controller-uid: u}}\n  template:", "f.yaml:7:3: spec.selector: " + madeByServer},
	{"a selector of the template's labels", JobText, "template:", "selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}", "f.yaml:7:3: spec.selector: " + madeByServer},
	{"a label of a server", JobText, "template:", "template:\n    metadata: {labels: {controller-uid: u}}", "f.yaml:8:25: spec.template.metadata.labels.controller-uid: " + madeByServer},
	{"a job-name of another Job", JobText, "template:", "template:\n    metadata: {labels: {job-name: other}}", `f.yaml:8:25: spec.template.metadata.labels.job-name: "other": must be the name of the Job`},
	{"its own job-name", JobText, "template:", "template:\n    metadata: {labels: {job-name: x}}", ""},
	{"a manual selector in a CronJob", CronText, "backoffLimit: 1", "manualSelector: true", "f.yaml:9:7: spec.jobTemplate.spec.manualSelector: must not be true in a CronJob: all its Jobs would have one selector"},
	{"a namespace with a dot", JobText, "name: x", "name: x\n  namespace: a.b", `f.yaml:5:3: metadata.namespace: "a.b": ` + notLabel},
	{"a label with a space", JobText, "name: x", "name: x\n  labels: {a.b/c: d e}", `f.yaml:5:12: metadata.labels.a.b/c: "d e": must consist of at most 63 letters, digits, '-', '_' and '.', and begin and end with a letter or digit`},
	{"a key with two slashes", CronText, "    spec:\n      backoff", "    metadata: {annotations: {a/b/c: d}}\n    spec:\n      backoff", "f.yaml:8:30: spec.jobTemplate.metadata.annotations.a/b/c: the key must be a name of at most 63 letters, digits, '-', '_' and '.', which may have a domain and '/' before it"},
}

const madeByServer = "is made by the server; leave it out, or set manualSelector"

const notPart = "must consist of lower case letters, digits and '-', and begin and end with a letter or digit"

const notLabel = "must consist of at most 63 lower case letters, digits and '-', and begin and end with a letter or digit"

// Check compares the output of a command for each mistake with its sentence. The command reads f.yaml.
func Check(t *testing.T, run func() string, except ...string) {
	t.Chdir(t.TempDir())
	for _, m := range All {
		if m.Want == "" || slices.Contains(except, m.Name) {
			continue
		}
		must.OK(t, os.WriteFile("f.yaml", []byte(m.Manifest()), 0o644))
		got := run()
		for line := range strings.Lines(m.Want) {
			if !strings.Contains(words(got), words(line)) {
				t.Errorf("%s: got %s\nwant %s", m.Name, got, line)
			}
		}
	}
}

// words undoes the wrapping of lines.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }
