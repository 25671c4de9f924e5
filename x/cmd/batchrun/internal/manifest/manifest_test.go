package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/pod"
)

// good is a valid manifest. Each bad manifest differs from it in one place.
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
	if why := jobs[1].Refuse(jobs[1].AbsoluteMounts()[0], errors.New("full")).Error(); !strings.HasPrefix(why, "f.yaml:22: spec.template") {
		t.Errorf("refused: %s", why)
	}
	// If a field is ignored twice, it is reported once. The fields are in the order of their names.
	twice, err := Read("f.yaml", strings.NewReader(strings.Replace(good, "spec:\n", "spec:\n  ttlSecondsAfterFinished: 5\n", 1)+
		"      - {name: b, image: b, command: [b], ports: [{containerPort: 1}]}\n"+
		"      - {name: c, image: c, command: [c]}\n"))
	if err != nil || !slices.Equal(twice.Jobs[0].Ignored, []string{"image", "ports", "ttlSecondsAfterFinished"}) {
		t.Errorf("%q, %v", twice.Jobs[0].Ignored, err)
	}
	if m := jobs[1].AbsoluteMounts(); len(m) != 1 || m[0].Path != "/data" ||
		m[0].Field != "spec.template.spec.containers[0].volumeMounts[0].mountPath" {
		t.Errorf("%+v", m)
	}
}

// Every problem is reported with its file, line, field and value.
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
		{"a ConfigMap", "value: b", "valueFrom: {configMapKeyRef: {name: s, key: k}}", `valueFrom.configMapKeyRef: "s": not supported`},
		{"a mount at the folder", "/data", "./", `mountPath: "./": is not a path inside the container`},
		{"a mount above the folder", "/data", "..", `mountPath: "..": is not a path inside the container`},
		{"NUL in a key", "  name: x", "  name: x\n  annotations: {\"a\\0\": b}", `metadata.annotations: "a\u0000": contains a NUL`},
		{"a policy of a container", "env:", "restartPolicy: Always\n        env:", `containers[0].restartPolicy: "Always": not supported by this runner: only init`},
		{"a policy of an init container", "      containers:", "      initContainers: [{name: i, image: i, command: [i], restartPolicy: Never}]\n      containers:", `initContainers[0].restartPolicy: "Never": not supported by this runner`},
		{"no name of a variable", "name: A,", `name: "A=B",`, `env[0].name: "A=B": is not the name of a variable`},
		{"an empty name of a variable", "name: A,", `name: "",`, `f.yaml:19:12: spec.template.spec.containers[0].env[0].name: "": is not the name of a variable`},
		{"an empty command", "[echo]", `[""]`, `f.yaml:15:19: spec.template.spec.containers[0].command[0]: "": is not a program`},
		{"mounts that spread", "mountPath: /data", "mountPath: /data, mountPropagation: Bidirectional", `mountPropagation: "Bidirectional": cannot be honoured`},
		{"another group of the process", "env:", "securityContext: {runAsGroup: 4711}\n        env:", "containers[0].securityContext.runAsGroup: 4711: not supported"},
		{"a read-only relative mount", "/data", "data, readOnly: true", `volumeMounts[0].readOnly: true: not supported for the relative path "data"`},
		{"privileged and not", "env:", "securityContext: {allowPrivilegeEscalation: false, privileged: true}\n        env:", "allowPrivilegeEscalation: false: contradicts privileged: true"},
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

// TestReadBad_Limits: there is a limit for the words of a process, and one for the values that an
// error quotes in full. The test has a case on each side of both limits.
func TestReadBad_Limits(t *testing.T) {
	read := func(from, to string) string {
		all, err := Read("f.yaml", strings.NewReader(strings.Replace(good, from, to, 1)))
		if err == nil && all.Len() != 1 {
			t.Errorf("%.80s: %d objects", to, all.Len())
		}
		return fmt.Sprint(err)
	}
	hook := func(n int) string { // a field that has n bytes as JSON
		return "lifecycle: {preStop: {exec: {command: [" + strings.Repeat("b", n-37) + "]}}}\n        env:"
	}
	for _, test := range []struct{ from, to, want string }{
		{"[echo]", "[echo, " + strings.Repeat("b", 131071) + "]", "<nil>"},
		{"[echo]", "[echo, " + strings.Repeat("b", 131072) + "]", `bbb...: has 131072 bytes; the limit of the system is 131071`},
		{"value: b", "value: " + strings.Repeat("b", 131069), "<nil>"},
		{"value: b", "value: " + strings.Repeat("b", 131070), `bbb...: has 131072 bytes; the limit of the system is 131071`},
		{"env:", hook(60), `bbb"]}}}: not supported`},
		{"env:", hook(61), `bbb"...: not supported`},
		{"env:", "lifecycle: null\n        env:", "<nil>"},
		{"env:", "lifecycle: {}\n        env:", "<nil>"},
		{"command", "workingDir: /\n        command", "<nil>"},
		{"command", "workingDir: a/b\n        command", "<nil>"},
		{"/data", "data", "<nil>"},
		{"/data", "/data, readOnly: true", "<nil>"},
		{"command", "workingDir: /data/new/folder\n        command", "<nil>"},
		{"command", "workingDir: /database/new/folder\n        command", "is not a folder on this machine"},
	} {
		if got := read(test.from, test.to); !strings.Contains(got, test.want) {
			t.Errorf("%.80s: want %s\nhave %.300s", test.to, test.want, got)
		}
	}

	// A mount without a path is reported as one mistake, not two.
	if got := read("/data", `""`); !strings.Contains(got, "mountPath: is required") || strings.Count(got, "mountPath") != 1 {
		t.Error(got)
	}
}

// TestReadGood_Numbers: a large number is not rounded.
func TestReadGood_Numbers(t *testing.T) {
	all, err := Read("f.yaml", strings.NewReader(strings.Replace(good, "spec:\n", "spec:\n  activeDeadlineSeconds: 9007199254740993\n", 1)))
	must.OK(t, err)
	if got := *all.Jobs[0].Spec.ActiveDeadlineSeconds; got != 9007199254740993 {
		t.Error(got)
	}
}

// TestReadGood_GenerateName: if an object has generateName and no name, it gets a name with this
// prefix.
func TestReadGood_GenerateName(t *testing.T) {
	for to, want := range map[string]string{"generateName: y-": "^y-[a-z0-9]{5}$", "generateName: y-\n  name: x": "^x$"} {
		all, err := Read("f.yaml", strings.NewReader(strings.Replace(good, "name: x", to, 1)))
		must.OK(t, err)
		if name := all.Jobs[0].Object.Name; !regexp.MustCompile(want).MatchString(name) {
			t.Errorf("%q: the name is %q", to, name)
		}
	}
}

func TestHides(t *testing.T) {
	for _, test := range []struct {
		path, dir string
		want      bool
	}{
		{"/", "/proc", true},
		{"/a", "/a", true},
		{"/a/", "/a", true},
		{"/a", "/a/b", true},
		{"/a", "/ab", false},
		{"/a/b", "/a", false},
	} {
		if got := hides(test.path, test.dir); got != test.want {
			t.Errorf("a mount at %s hides %s: %v", test.path, test.dir, got)
		}
	}
}

// TestGraceSeconds: the grace period of a pod has a lower and an upper limit.
func TestGraceSeconds(t *testing.T) {
	var j batchv1.Job
	if got := GraceSeconds(&j); got != 30 {
		t.Errorf("none: %d", got)
	}
	for set, want := range map[int64]int64{-1: 0, 0: 0, 1: 1, 1 << 30: 1 << 30, 1<<30 + 1: 1 << 30} {
		j.Spec.Template.Spec.TerminationGracePeriodSeconds = &set
		if got := GraceSeconds(&j); got != want {
			t.Errorf("%d: %d, want %d", set, got, want)
		}
	}
}

// The process drops the rights that a securityContext drops. The fields that have no effect are
// reported.
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

	for _, test := range []struct {
		at, field string
		ignored   bool
	}{
		{"        env:", "appArmorProfile: {type: Unconfined}", true},
		{"        env:", "seccompProfile: {type: Unconfined}", true},
		{"        env:", "procMount: Default", true},
		{"      volumes:", "fsGroupChangePolicy: Always", true},
		{"      volumes:", "supplementalGroupsPolicy: Merge", true},
		{"      volumes:", "seLinuxChangePolicy: Recursive", true},
		{"        env:", "allowPrivilegeEscalation: false, privileged: false", false},
		{"        env:", "allowPrivilegeEscalation: true", false},
		{"        env:", fmt.Sprint("runAsGroup: ", os.Getgid()), false},
	} {
		context := strings.Replace(test.at, strings.TrimSpace(test.at), "securityContext: {"+test.field+"}", 1)
		all, err := Read("f.yaml", strings.NewReader(strings.Replace(good, test.at, context+"\n"+test.at, 1)))
		must.OK(t, err)
		name, _, _ := strings.Cut(test.field, ":")
		if ignored := all.Jobs[0].Ignored; slices.Contains(ignored, "securityContext."+name) != test.ignored {
			t.Errorf("%s: ignored %q", test.field, ignored)
		}
	}

	// Only root can keep or add rights, and only root violates runAsNonRoot.
	for field, ofRoot := range map[string]bool{"privileged: true": true, "capabilities: {add: [NET_RAW]}": true, "runAsNonRoot: true": false} {
		_, err := Read("f.yaml", strings.NewReader(strings.Replace(good, "env:", "securityContext: {"+field+"}\n        env:", 1)))
		if allowed := ofRoot == (os.Geteuid() == 0); (err == nil) != allowed {
			t.Errorf("%s: %v", field, err)
		}
	}
	if os.Geteuid() != 0 {
		return // other users cannot add what was dropped
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
		"$A)":          "$A)",
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
        - {name: SPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
        - {name: OWNER, valueFrom: {fieldRef: {fieldPath: "metadata.labels['controller-uid']"}}}
        args: ["$(A)-$(JOB_COMPLETION_INDEX)"]`, 1)
	text = strings.Replace(text, "  template:\n", "  template:\n    metadata: {labels: {team: a}, annotations: {note: b}}\n", 1)
	all, err := Read("f.yaml", strings.NewReader(text))
	must.OK(t, err)
	j, err := Load(all.Jobs[0].Raw)
	must.OK(t, err)
	spec := j.Pod(&job.Creation{Index: job.IndexAt(4), Hostname: "x-4"}, "juid", "x-4-abcde", "puid", Settings{})
	if spec.Namespace != "default" || spec.Job != "x" || spec.Name != "x-4-abcde" || spec.UID != "puid" || spec.GracePeriod != 30*time.Second {
		t.Errorf("%+v", spec)
	}
	c := spec.Containers[0]
	if len(c.Mounts) != 1 || c.Mounts[0].Volume != "v" || c.Mounts[0].Path != "/data" {
		t.Errorf("%+v", c.Mounts)
	}
	if !slices.Equal(c.Argv, []string{"echo", "cb-4"}) {
		t.Errorf("argv %q", c.Argv)
	}
	for _, want := range []string{"A=cb", "N=x-4-abcde", "I=4", "JOB_COMPLETION_INDEX=4", "HOSTNAME=x-4", "DATE=2024-01-02", "SPACE=default", "OWNER=juid"} {
		if !slices.Contains(c.Env, want) {
			t.Errorf("no %s in %q", want, c.Env)
		}
	}
	if slices.ContainsFunc(c.Env, func(e string) bool { return strings.HasPrefix(e, "SECRET") || e == "A=b" }) {
		t.Errorf("too much in %q", c.Env)
	}

	if n := strings.Count("\n"+strings.Join(c.Env, "\n"), "\nA="); n != 1 {
		t.Errorf("A is set %d times in %q", n, c.Env)
	}

	for index, want := range map[job.Index]bool{{}: false, job.IndexAt(0): true} {
		c := j.Pod(&job.Creation{Index: index}, "juid", "x-abcde", "puid", Settings{}).Containers[0]
		if slices.Contains(c.Env, "JOB_COMPLETION_INDEX=0") != want {
			t.Errorf("index %v: %q", index, c.Env)
		}
	}
	if template := j.Object.Spec.Template; !maps.Equal(template.Labels, map[string]string{"team": "a"}) ||
		!maps.Equal(template.Annotations, map[string]string{"note": "b"}) {
		t.Errorf("a pod was written into the template: %v, %v", template.Labels, template.Annotations)
	}
}

// TestPod_Whole: each field of a pod comes from the template, the plan, the store or the settings.
func TestPod_Whole(t *testing.T) {
	for _, name := range inherited {
		t.Setenv(name, "")
		must.OK(t, os.Unsetenv(name))
	}

	text := strings.Replace(good, "      restartPolicy: Never\n", `      restartPolicy: OnFailure
      terminationGracePeriodSeconds: 5
      hostname: h
      initContainers:
      - {name: init, command: [i], volumeMounts: [{name: v, mountPath: /i}]}
      - name: sidecar
        command: [s]
        restartPolicy: Always
        workingDir: w$(OWN)
        env:
        - {name: OWN, valueFrom: {fieldRef: {fieldPath: "metadata.labels['job-name']"}}}
        - {name: ADDED, valueFrom: {fieldRef: {fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']"}}}
        - {name: TEAM, valueFrom: {fieldRef: {fieldPath: "metadata.labels['team']"}}}
        - {name: NOTE, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['note']"}}}
        volumeMounts: [{name: v, mountPath: /s, subPath: sub, readOnly: true, mountPropagation: None}]
`, 1)
	text = strings.Replace(text, "  template:\n", "  template:\n    metadata: {labels: {team: a}, annotations: {note: b}}\n", 1)
	all, err := Read("f.yaml", strings.NewReader(text))
	must.OK(t, err)
	j := all.Jobs[0]

	settings := Settings{RestartDelay: 1, RestartDelayMax: 2, Isolation: "i", MaxLog: 3}
	got := j.Pod(&job.Creation{Index: job.IndexAt(4)}, "juid", "x-4-abcde", "puid", settings)
	want := pod.Spec{
		UID: "puid", Name: "x-4-abcde", Namespace: "default", Job: "x", RestartPolicy: job.RestartOnFailure,
		GracePeriod: 5 * time.Second, RestartDelay: 1, RestartDelayMax: 2, Isolation: "i", MaxLog: 3,
		Containers: []pod.ContainerSpec{
			{
				Name: "init", Kind: jobpod.Init, Argv: []string{"i"}, Env: []string{"HOSTNAME=h", "JOB_COMPLETION_INDEX=4"},
				Mounts: []pod.Mount{{Volume: "v", Path: "/i"}},
			},
			{
				Name: "sidecar", Kind: jobpod.RestartableInit, Argv: []string{"s"}, Dir: "wx",
				Env:    []string{"HOSTNAME=h", "OWN=x", "ADDED=4", "TEAM=a", "NOTE=b", "JOB_COMPLETION_INDEX=4"},
				Mounts: []pod.Mount{{Volume: "v", SubPath: "sub", Path: "/s", ReadOnly: true}},
			},
			{
				Name: "main", Kind: jobpod.App, Argv: []string{"echo"}, Env: []string{"HOSTNAME=h", "A=b", "JOB_COMPLETION_INDEX=4"},
				Mounts: []pod.Mount{{Volume: "v", Path: "/data"}},
			},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}

	var fields []string
	for _, m := range j.AbsoluteMounts() {
		fields = append(fields, strings.TrimPrefix(m.Field, "spec.template.spec.")+" "+m.Path)
	}
	if want := []string{
		"initContainers[0].volumeMounts[0].mountPath /i", "initContainers[1].volumeMounts[0].mountPath /s",
		"containers[0].volumeMounts[0].mountPath /data",
	}; !slices.Equal(fields, want) {
		t.Errorf("mounts %q", fields)
	}

	// Without a host name, a pod has its own name.
	j.Object.Spec.Template.Spec.Hostname = ""
	if c := j.Pod(&job.Creation{}, "juid", "x-abcde", "puid", settings).Containers[0]; !slices.Equal(c.Env, []string{"HOSTNAME=x-abcde"}) {
		t.Errorf("%q", c.Env)
	}
}

// TestLoad_Bad: an object that batch/v1 or the library cannot hold is not loaded.
func TestLoad_Bad(t *testing.T) {
	for _, raw := range []string{`{"metadata": {"name": 5}}`, `{"spec": {"parallelism": 2.5}}`, `{"spec": {"podFailurePolicy": 1}}`} {
		if j, err := Load([]byte(raw)); err == nil {
			t.Errorf("%s: %+v", raw, j)
		}
	}
}

// Problems are in the order of the file, so that a user can start with the last one.
func TestReadBad_Order(t *testing.T) {
	_, err := Read("f.yaml", strings.NewReader(strings.Replace(good, "batch/v1\nkind: Job", "v1\nkind: Pod", 1)+"---\n"+strings.Replace(good, "name: x", "name: X_y", 1)))
	if first, second, _ := strings.Cut(fmt.Sprint(err), "\n"); !strings.Contains(first, `kind: "Pod"`) ||
		!strings.Contains(second, `"X_y"`) {
		t.Error(err)
	}
}

// FuzzRead: any input gives an error, or objects that Load and LoadCronJob accept.
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
