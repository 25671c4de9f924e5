package manifest

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
)

// good is a valid manifest. Each bad one differs from it in one place.
const good = `apiVersion: batch/v1
kind: Job
metadata:
  name: x
spec:
  template:
    spec:
      restartPolicy: Never
      volumes:
      - name: v
        emptyDir: {}
      containers:
      - name: main
        image: busybox
        command: [echo]
        volumeMounts:
        - {name: v, mountPath: /data}
        env:
        - {name: A, value: b}
`

func TestReadGood(t *testing.T) {
	all, err := Read("f.yaml",
		strings.NewReader("# nothing\n---\n"+good+"---\n"+strings.Replace(good, "name: x", "name: z", 1)))
	jobs := all.Jobs
	if err != nil || len(jobs) != 2 || len(all.CronJobs) != 0 {
		t.Fatal(len(jobs), len(all.CronJobs), err)
	}
	if j := jobs[0]; j.Key() != "default/x" || *j.Spec.BackoffLimit != 6 ||
		!slices.Equal(j.Ignored, []string{"image"}) {
		t.Errorf("%s %v %v", j.Key(), *j.Spec.BackoffLimit, j.Ignored)
	}
	// A field that is ignored twice is reported once.
	twice, err := Read("f.yaml", strings.NewReader(good+"      - {name: b, image: b, command: [b], tty: true}\n"))
	if err != nil || !slices.Equal(twice.Jobs[0].Ignored, []string{"image", "tty"}) {
		t.Errorf("%q, %v", twice.Jobs[0].Ignored, err)
	}
	if m := jobs[1].AbsoluteMounts(); len(m) != 1 || m[0].Path != "/data" ||
		m[0].Field != "spec.template.spec.containers[0].volumeMounts[0].mountPath" {
		t.Errorf("%+v", m)
	}
}

// Every problem is reported with file, line, field and value.
func TestReadBad(t *testing.T) {
	for _, test := range []struct{ name, from, to, want string }{
		{"other kind", "kind: Job", "kind: Pod", `f.yaml:1: kind: "Pod": no such kind in batch/v1; expected "Job" or "CronJob"`},
		{"not an object", good, "- 1", "f.yaml:1: is not an object"},
		{"nothing", good, "# nothing", "f.yaml: contains no object"},
		{"no command", "command: [echo]", "ports: []", `f.yaml:13:9: spec.template.spec.containers[0].command: is required: the entry point of image "busybox"`},
		{"args alone", "command: [echo]", "args: [x]", "containers[0].command: is required: args need"},
		{"secret", "value: b", "valueFrom: {secretKeyRef: {name: s, key: k}}", `f.yaml:19:33: spec.template.spec.containers[0].env[0].valueFrom.secretKeyRef: "s": not supported`},
		{"unknown downward field", "value: b", "valueFrom: {fieldRef: {fieldPath: status.podIP}}", `fieldPath: "status.podIP": not supported`},
		{"envFrom", "env:", "envFrom: [{secretRef: {name: s}}]\n        env:", "f.yaml:18:9: spec.template.spec.containers[0].envFrom: [{"},
		{"lifecycle", "env:", "lifecycle: {preStop: {exec: {command: [x]}}}\n        env:", "containers[0].lifecycle: "},
		{"liveness", "env:", "livenessProbe: {exec: {command: [x]}}\n        env:", "containers[0].livenessProbe: "},
		{"pod deadline", "      volumes:", "      activeDeadlineSeconds: 3\n      volumes:", "f.yaml:9:7: spec.template.spec.activeDeadlineSeconds: 3: not supported"},
		{"other volume", "emptyDir: {}", "hostPath: {path: /}", "f.yaml:11:9: spec.template.spec.volumes[0].hostPath: not supported"},
		{"mount over the system", "/data", "/proc", `f.yaml:17:21: spec.template.spec.containers[0].volumeMounts[0].mountPath: "/proc": not possible`},
		{"mount outside", "/data", "../x", `mountPath: "../x": is not a path inside`},
		{"folder", "env:", "workingDir: /no/such/folder\n        env:", `workingDir: "/no/such/folder": is not a folder`},
		{"folder outside", "env:", "workingDir: a/../../../x\n        env:", `workingDir: "a/../../../x": is not a path inside the pod's folder`},
		{"sub-path outside", "mountPath: /data", "mountPath: /data, subPath: ../x", `subPath: "../x": is not a path inside the volume`},
		{"NUL in a value", "value: b", `value: "b\0c"`, `f.yaml:19:21: spec.template.spec.containers[0].env[0].value: "b\u0000c": contains a NUL`},
		{"NUL in an argument", "[echo]", `["echo", "\0"]`, "containers[0].command[1]: "},
		{"NUL in an annotation", "  name: x", "  name: x\n  annotations: {a: \"\\0\"}", "metadata.annotations.a: "},
		{"an endless value", "value: b", "value: " + strings.Repeat("b", maxWord-1), "env[0].value: \"A=bbb"},
		{"an endless argument", "[echo]", "[echo, " + strings.Repeat("b", maxWord+1) + "]", "command[1]: \"bbb"},
		{"read-only root", "env:", "securityContext: {readOnlyRootFilesystem: true}\n        env:", "f.yaml:18:27: spec.template.spec.containers[0].securityContext.readOnlyRootFilesystem: true: not supported"},
		{"another user", "env:", "securityContext: {runAsUser: 4711}\n        env:", "containers[0].securityContext.runAsUser: 4711: not supported"},
		{"another group for volumes", "      volumes:", "      securityContext: {fsGroup: 4711}\n      volumes:", "f.yaml:9:25: spec.template.spec.securityContext.fsGroup: 4711: not supported"},
		{"another group", "      volumes:", "      securityContext: {supplementalGroups: [4711]}\n      volumes:", "securityContext.supplementalGroups[0]: 4711: not supported"},
		{"sysctls", "      volumes:", "      securityContext: {sysctls: [{name: a, value: b}]}\n      volumes:", "securityContext.sysctls: [{"},
		{"no capability", "env:", "securityContext: {capabilities: {drop: [ALL, SUPER]}}\n        env:", `capabilities.drop[1]: "SUPER": is not a capability`},
		{"a custom profile", "env:", "securityContext: {seccompProfile: {type: Localhost, localhostProfile: x}}\n        env:", `seccompProfile.type: "Localhost": not supported`},
		{"SELinux", "env:", "securityContext: {seLinuxOptions: {level: x}}\n        env:", "securityContext.seLinuxOptions: {"},
		{"managed by another", "  template:", "  managedBy: example.com/x\n  template:", `spec.managedBy: "example.com/x": another controller`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !strings.Contains(good, test.from) {
				t.Fatalf("%q is not in the good manifest", test.from)
			}
			_, err := Read("f.yaml", strings.NewReader(strings.Replace(good, test.from, test.to, 1)))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("want %q\nhave %v", test.want, err)
			}
		})
	}
}

// The process drops the rights that a securityContext drops. Fields without effect
// are reported.
func TestSecurityContext(t *testing.T) {
	text := strings.Replace(good, "env:", `securityContext:
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: false
          runAsNonRoot: false
          capabilities: {drop: [ALL], add: []}
          seccompProfile: {type: RuntimeDefault}
        env:`, 1)
	all, err := Read("f.yaml", strings.NewReader(text))
	must.OK(t, err)
	if ignored := all.Jobs[0].Ignored; !slices.Equal(ignored, []string{"image", "securityContext.seccompProfile"}) {
		t.Errorf("ignored: %q", ignored)
	}
	c := all.Jobs[0].Pod(&job.Creation{}, "j", "p", "u", Settings{}).Containers[0]
	if !c.NoNewPrivileges || len(c.Drop) != 41 || c.Drop[13] != 13 {
		t.Errorf("%+v", c)
	}
	if os.Geteuid() != 0 {
		return // others cannot add what was dropped
	}
	all, err = Read("f.yaml", strings.NewReader(strings.Replace(text, "add: []", "add: [NET_RAW]", 1)))
	must.OK(t, err)
	if c := all.Jobs[0].Pod(&job.Creation{}, "j", "p", "u", Settings{}).Containers[0]; len(c.Drop) != 40 ||
		slices.Contains(c.Drop, 13) {
		t.Errorf("%+v", c)
	}
}

func TestExpand(t *testing.T) {
	vars := map[string]string{"A": "1", "B": "$(A)"}
	for in, want := range map[string]string{
		"":             "",
		"$(A)":         "1",
		"x$(A)y$(A)":   "x1y1",
		"$(B)":         "$(A)",
		"$$(A)":        "$(A)",
		"$$$(A)":       "$1",
		"$(NONE)$(A)":  "$(NONE)1",
		"$A $( $(A":    "$A $( $(A",
		"cost: 5$":     "cost: 5$",
		"$(A)$":        "1$",
		"$((A)) $$$$x": "$((A)) $$x",
	} {
		if have := expand(in, vars); have != want {
			t.Errorf("expand(%q): want %q, have %q", in, want, have)
		}
	}
}

func TestPod(t *testing.T) {
	t.Setenv("SECRET_OF_THE_RUNNER", "x")
	text := strings.Replace(good, "- {name: A, value: b}", `- {name: A, value: b}
        - {name: A, value: c$(A)}
        - {name: "N", valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        - {name: I, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}}
        - {name: DATE, value: 2024-01-02}
        args: ["$(A)-$(JOB_COMPLETION_INDEX)"]`, 1)
	all, err := Read("f.yaml", strings.NewReader(text))
	must.OK(t, err)
	j, err := Load(all.Jobs[0].Raw)
	must.OK(t, err)
	spec := j.Pod(&job.Creation{Index: job.IndexAt(4), Hostname: "x-4"}, "juid", "x-4-abcde", "puid", Settings{})
	if spec.Namespace != "default" || spec.Job != "x" || spec.Name != "x-4-abcde" || spec.UID != "puid" {
		t.Errorf("%+v", spec)
	}
	c := spec.Containers[0]
	if len(c.Mounts) != 1 || c.Mounts[0].Volume != "v" || c.Mounts[0].Path != "/data" {
		t.Errorf("%+v", c.Mounts)
	}
	if !slices.Equal(c.Argv, []string{"echo", "cb-4"}) {
		t.Errorf("argv %q", c.Argv)
	}
	for _, want := range []string{"A=cb", "N=x-4-abcde", "I=4", "JOB_COMPLETION_INDEX=4", "HOSTNAME=x-4", "DATE=2024-01-02"} {
		if !slices.Contains(c.Env, want) {
			t.Errorf("no %s in %q", want, c.Env)
		}
	}
	if slices.ContainsFunc(c.Env, func(e string) bool { return strings.HasPrefix(e, "SECRET") || e == "A=b" }) {
		t.Errorf("too much in %q", c.Env)
	}
}

// Problems come in the order of the file, so that they can be worked off from its end.
func TestReadBad_Order(t *testing.T) {
	_, err := Read("f.yaml", strings.NewReader(strings.Replace(good, "batch/v1\nkind: Job", "v1\nkind: Pod", 1)+"---\n"+strings.Replace(good, "name: x", "name: X_y", 1)))
	if first, second, _ := strings.Cut(fmt.Sprint(err), "\n"); !strings.Contains(first, `kind: "Pod"`) ||
		!strings.Contains(second, `"X_y"`) {
		t.Error(err)
	}
}

// FuzzRead: any input gives an error, or objects that can be loaded again.
func FuzzRead(f *testing.F) {
	f.Add(good)
	f.Add(goodCron)
	f.Add("{apiVersion: batch/v1, kind: Job, metadata: {name: x}, spec: {template: {spec: {containers: [{}]}}}}")
	f.Add("{apiVersion: batch/v1, kind: CronJob, metadata: {name: x}, spec: {schedule: '@daily', jobTemplate: null}}")
	f.Add("a: &a [*a]")
	f.Add("--- !!binary x\n---\n? [a]: b")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Read("f", strings.NewReader(text))
		if err == nil && all.Len() == 0 {
			t.Fatal("neither objects nor an error")
		}
		for _, j := range all.Jobs {
			if _, err := Load(j.Raw); err != nil || !json.Valid(j.Raw) {
				t.Fatal(err)
			}
		}
		for _, c := range all.CronJobs {
			if _, err := LoadCronJob(c.Raw); err != nil || !json.Valid(c.Raw) {
				t.Fatal(err)
			}
		}
	})
}
