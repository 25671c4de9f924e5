package manifest

import (
	"fmt"
	"strings"
	"testing"
)

// jobText and cronText are good manifests. Each mistake differs from one in one place.
const jobText = `apiVersion: batch/v1
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

const cronText = `apiVersion: batch/v1
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

// TestMistakes: each mistake has its sentence, at its place. A good object beside it is read.
func TestMistakes(t *testing.T) {
	for _, test := range []struct{ name, text, from, to, want string }{
		{"a tab", jobText, "  parallelism", "\tparallelism", "f.yaml:6:1: indented with a tab; YAML requires spaces"},
		{"a wrong type", jobText, "parallelism: 2", "parallelism: two", `f.yaml:6:16: spec.parallelism: is the string "two", expected a whole number`},
		{"a fraction", jobText, "parallelism: 2", "parallelism: 2.5", `f.yaml:6:16: spec.parallelism: is the number "2.5", expected a whole number`},
		{"a whole number with a point", jobText, "parallelism: 2", "parallelism: 2.0", ""},
		{"more than fits", jobText, "parallelism: 2", "parallelism: 2147483648", `f.yaml:6:16: spec.parallelism: 2147483648: is too large; expected at most 2147483647`},
		{"the most that fits", jobText, "parallelism: 2", "parallelism: 2147483647", ""},
		{"a number for a text", jobText, "value: b", "value: 1", `f.yaml:15:28: spec.template.spec.containers[0].env[0].value: is the number "1", expected a string; write it in quotes`},
		{"a yes for a text", jobText, "value: b", "value: yes", `f.yaml:15:28: spec.template.spec.containers[0].env[0].value: is the truth value "true", expected a string; write it in quotes`},
		{"a yes in quotes", jobText, "value: b", "value: 'yes'", ""},
		{"a yes for a truth value", jobText, "parallelism: 2", "suspend: yes", ""},
		{"nothing", jobText, "parallelism: 2", "parallelism:", ""},
		{"a list for an object", jobText, "template:\n    spec:", "template:\n  -", "f.yaml:8:3: spec.template: is a list, expected an object"},
		{"an object for a list", jobText, "[echo]", "{a: b}", "f.yaml:13:18: spec.template.spec.containers[0].command: is an object, expected a list"},
		{"a double key", jobText, "  template:", "  parallelism: 3\n  template:", "f.yaml:7:3: spec.parallelism: is given twice, first at line 6"},
		{"a misspelt field", jobText, "parallelism", "paralelism", "f.yaml:6:3: spec.paralelism: no such field; did you mean parallelism?"},
		{"a misspelt field of the metadata", jobText, "  name: x", "  name: x\n  label: {}", "f.yaml:5:3: metadata.label: no such field; did you mean labels?"},
		{"a field of nobody", jobText, "parallelism", "zzz", "f.yaml:6:3: spec.zzz: no such field"},
		{"a field of the pod in the Job", jobText, "parallelism: 2", "restartPolicy: Never", "f.yaml:6:3: spec.restartPolicy: no such field; it belongs into spec.template.spec"},
		{"a field of the Job in the pod", jobText, "      restartPolicy", "      backoffLimit: 2\n      restartPolicy", "f.yaml:9:7: spec.template.spec.backoffLimit: no such field; it belongs into spec"},
		{"a field of the pod in a container", jobText, "command: [echo]", "volumes: []", "f.yaml:13:9: spec.template.spec.containers[0].volumes: no such field; it belongs into spec.template.spec"},
		{"a field of the Job in the CronJob", cronText, "  jobTemplate", "  activeDeadlineSeconds: 9\n  jobTemplate", "f.yaml:7:3: spec.activeDeadlineSeconds: no such field; it belongs into spec.jobTemplate.spec"},
		{"a field of the CronJob in the Job", cronText, "backoffLimit: 1", "concurrencyPolicy: Forbid", "f.yaml:9:7: spec.jobTemplate.spec.concurrencyPolicy: no such field; it belongs into spec"},
		{"a Job called a CronJob", jobText, "kind: Job", "kind: CronJob", "f.yaml:6:3: spec.parallelism: no such field; it belongs into spec.jobTemplate.spec\nf.yaml:7:3: spec.template: no such field; it belongs into spec.jobTemplate.spec"},
		{"a schedule without quotes", cronText, `"* * * * *"`, "* * * * *", `f.yaml:6:13: schedule: begins with "*", which has a meaning of its own in YAML; write the schedule in quotes`},
		{"another schedule without quotes", cronText, `"* * * * *"`, "*/5 * * * *", `f.yaml:6:13: schedule: begins with "*", which has a meaning of its own in YAML; write the schedule in quotes`},
		{"a descriptor without quotes", cronText, `"* * * * *"`, "@daily", `f.yaml:6:13: schedule: begins with "@", which has a meaning of its own in YAML; write the schedule in quotes`},
		{"a template of Helm", jobText, "name: x", "name: {{ .Release.Name }}", "f.yaml:4: is a template with {{ }}, as those of Helm; expected objects: render it first, as with helm template"},
		{"a control line of Helm", jobText, "spec:\n  p", "{{- if .Values.x }}\nspec:\n  p", "f.yaml:5: is a template with {{ }}, as those of Helm; expected objects: render it first, as with helm template"},
		{"braces in a text", jobText, "value: b", `value: "{{ .b }}"`, ""},
		{"a table of kubectl", "NAME  STATUS   COMPLETIONS\nx     Running  0/1\n", "", "", "f.yaml:1: is a table of kubectl get; expected objects: add -o yaml to the command"},
		{"a describe text", "Name:         x\nNamespace:    default\nSelector:     a=b\nStart Time:   Mon, 05 Jan 2026 09:00:00 +0000\n", "", "", "f.yaml:1: is a text of kubectl describe; expected objects, as kubectl get -o yaml prints them"},
		{"a List", "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(jobText, "\n", "\n  "), "  parallelism", "  paralelism", "f.yaml:9:5: spec.paralelism: no such field; did you mean parallelism?"},
		{"empty", "\n", "", "", "f.yaml: is empty"},
		{"comments", "# nothing\n---\n", "", "", "f.yaml: contains no object"},
		{"a misspelt kind", jobText, "kind: Job", "kind: job", `f.yaml:1: kind: "job": no such kind in batch/v1; expected "Job" or "CronJob"`},
		{"no kind", jobText, "kind: Job", "", "f.yaml:1: " + ErrNoKind.Error()},
		{"no version", jobText, "apiVersion: batch/v1", "", `f.yaml:1: apiVersion: is required; expected "batch/v1"`},
		{"an old version", cronText, "batch/v1", "batch/v1beta1", `f.yaml:1: apiVersion: "batch/v1beta1" of CronJob x is not supported; expected "batch/v1", which has served CronJobs since Kubernetes 1.21`},
		{"generateName", jobText, "name: x", "generateName: x-", ""},
		{"a merge", "apiVersion: batch/v1\nkind: Job\nmetadata: &m {name: x}\nspec:\n  template:\n    metadata: {<<: *m, lables: {}}\n", "", "", "f.yaml:6:24: spec.template.metadata.lables: no such field; did you mean labels?"},
		{"JSON", `{"apiVersion": "batch/v1", "kind": "Job",` + "\n\t" + `"metadata": {"name": "\ud83d\ude00", "nam": "b"}}`, "", "", "f.yaml:1: metadata.nam: no such field; did you mean name?"},
		{"a double key in JSON", `{"apiVersion": "batch/v1", "kind": "Job",` + "\n\t" + `"metadata": {"name": "a", "name": "b"}}`, "", "", "f.yaml:2:28: metadata.name: is given twice, first at line 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !strings.Contains(test.text, test.from) {
				t.Fatalf("%q is not in the good text", test.from)
			}
			text, read := strings.Replace(test.text, test.from, test.to, 1), 0
			err := Read("f.yaml", strings.NewReader(text), func(*Object) error { read++; return nil })
			var got []string
			if problems, ok := err.(Problems); ok {
				for _, p := range problems {
					at := p.Position.String()
					if p.Column > 0 {
						at += fmt.Sprintf(":%d", p.Column)
					}
					got = append(got, at+": "+p.Text)
				}
			}
			if got := strings.Join(got, "\n"); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if want := test.want == ""; want != (read == 1) {
				t.Errorf("%d objects", read)
			}

			// The good documents before and after are read.
			if test.text == jobText || test.text == cronText {
				read = 0
				_ = Read("f.yaml", strings.NewReader(jobText+"---\n"+text+"---\n"+cronText), func(*Object) error { read++; return nil })
				if read < 2 {
					t.Errorf("%d objects", read)
				}
			}
		})
	}
}
