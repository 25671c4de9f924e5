package manifest

import (
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
)

// goodCron is a valid manifest. Each bad one differs from it in one place.
const goodCron = `apiVersion: batch/v1
kind: CronJob
metadata:
  name: x
spec:
  schedule: "30 9 * * 1-5"
  timeZone: Europe/Berlin
  concurrencyPolicy: Forbid
  jobTemplate:
    metadata:
      labels: {team: a}
    spec:
      ttlSecondsAfterFinished: 60
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
`

func TestReadGoodCronJob(t *testing.T) {
	all, err := Read("f.yaml", strings.NewReader(good+"---\n"+goodCron))
	if err != nil || len(all.Jobs) != 1 || len(all.CronJobs) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	c := all.CronJobs[0]
	if c.Key() != "default/x" || *c.Spec.SuccessfulJobsHistoryLimit != 3 || !slices.Equal(c.Ignored, []string{"image"}) {
		t.Errorf("%s %+v %v", c.Key(), c.Spec, c.Ignored)
	}
	const at = "spec.jobTemplate.spec.template.spec.containers[0].volumeMounts[0].mountPath"
	if m := c.Template.AbsoluteMounts(); len(m) != 1 || m[0].Path != "/data" || m[0].Field != at {
		t.Errorf("%+v", m)
	}
}

// The library recognises the job of a run as the CronJob's, and the job can run here.
func TestJobOfCronJob(t *testing.T) {
	all, err := Read("f.yaml", strings.NewReader(goodCron))
	must.OK(t, err)
	c, err := LoadCronJob(all.CronJobs[0].Raw)
	must.OK(t, err)
	run := time.Date(2026, 1, 5, 8, 30, 0, 0, time.UTC)
	raw, err := c.Job(&cronjob.Creation{Name: cronjob.JobName("x", run), Labels: c.Spec.JobTemplate.Labels,
		Annotations: map[string]string{"batch.kubernetes.io/cronjob-scheduled-timestamp": run.Format(time.RFC3339)}}, "uid-1")
	must.OK(t, err)
	child, err := cronjob.DecodeChild(&cronjob.CronJob{UID: "uid-1", Namespace: c.Object.Namespace}, raw)
	if err != nil || child.Foreign || !child.ScheduledTime.Equal(run) || child.Name != "x-29460030" {
		t.Errorf("%+v, %v", child, err)
	}
	j, err := Load(raw)
	if err != nil || j.Object.Labels["team"] != "a" || *j.Spec.TTLSecondsAfterFinished != 60 || len(j.AbsoluteMounts()) != 1 {
		t.Errorf("%+v, %v", j, err)
	}
	if again, err := Read("f.json", strings.NewReader(string(raw))); err != nil || len(again.Jobs) != 1 {
		t.Errorf("the job is not a manifest: %v", err)
	}
}

// Every problem is reported with file, line, field and value.
func TestReadBadCronJob(t *testing.T) {
	for _, test := range []struct{ name, from, to, want string }{
		{"no schedule", `schedule: "30 9 * * 1-5"`, "suspend: true", `f.yaml:5: spec.schedule: "": is required`},
		{"unparseable schedule", "30 9 *", "30 25 *", `f.yaml:6: spec.schedule: "30 25 * * 1-5": `},
		{"zone in the schedule", "30 9 *", "TZ=UTC 30 9 *", `f.yaml:6: spec.schedule: "TZ=UTC 30 9 * * 1-5": must not name a zone`},
		{"unknown zone", "Europe/Berlin", "Europe/Bern", `f.yaml:7: spec.timeZone: "Europe/Bern": `},
		{"empty zone", "Europe/Berlin", `""`, `f.yaml:7: spec.timeZone: "": must not be empty`},
		{"unknown policy", "Forbid", "Never", `f.yaml:8: spec.concurrencyPolicy: "Never": must be Allow, Forbid or Replace`},
		{"negative deadline", "concurrencyPolicy: Forbid", "startingDeadlineSeconds: -1", `f.yaml:8: spec.startingDeadlineSeconds: -1: must not be negative`},
		{"negative limit", "concurrencyPolicy: Forbid", "failedJobsHistoryLimit: -3", `f.yaml:8: spec.failedJobsHistoryLimit: -3: must not be negative`},
		{"wrong type", `"30 9 * * 1-5"`, "30", `f.yaml:6: spec.schedule: is the number "30", expected a string`},
		{"unknown field", "concurrencyPolicy", "concurencyPolicy", "f.yaml:8: spec.concurencyPolicy: no such field; did you mean concurrencyPolicy?"},
		{"long name", "name: x", "name: " + strings.Repeat("x", 53), `": must not be longer than 52 bytes`},
		{"name with an empty part", "name: x", "name: x..y", `f.yaml:4: metadata.name: "x..y": each part between dots must`},
		{"no name", "name: x", "labels: {}", "f.yaml:3: metadata.name: is required"},
		{"field of the template", "image: busybox", "imag: busybox", "f.yaml:22: spec.jobTemplate.spec.template.spec.containers[0].imag: no such field"},
		{"no command", "command: [echo]", "ports: []", "f.yaml:21: spec.jobTemplate.spec.template.spec.containers[0].command: is required"},
		{"negative number in the template", "ttlSecondsAfterFinished: 60", "completions: -1", "f.yaml:13: spec.jobTemplate.spec.completions: -1: must not be negative"},
		{"no template", "jobTemplate:", "jobTemplat:", "f.yaml:9: spec.jobTemplat: no such field"},
		{"mount over the system", "/data", "/proc", `f.yaml:25: spec.jobTemplate.spec.template.spec.containers[0].volumeMounts[0].mountPath: "/proc": not possible`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !strings.Contains(goodCron, test.from) {
				t.Fatalf("%q is not in the good manifest", test.from)
			}
			_, err := Read("f.yaml", strings.NewReader(strings.Replace(goodCron, test.from, test.to, 1)))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("want %q\nhave %v", test.want, err)
			}
		})
	}
}
