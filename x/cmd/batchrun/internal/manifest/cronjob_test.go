package manifest

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
)

// goodCron is a valid manifest. Each bad manifest differs from it in one place.
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
	if err != nil || len(all.Jobs) != 1 || len(all.CronJobs) != 1 || all.Len() != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	c := all.CronJobs[0]
	if c.Key() != "default/x" || *c.Spec.SuccessfulJobsHistoryLimit != 3 ||
		!slices.Equal(c.Ignored, []string{"image"}) {
		t.Errorf("%s %+v %v", c.Key(), c.Spec, c.Ignored)
	}
	const at = "spec.jobTemplate.spec.template.spec.containers[0].volumeMounts[0].mountPath"
	if m := c.Template.AbsoluteMounts(); len(m) != 1 || m[0].Path != "/data" || m[0].Field != at {
		t.Errorf("%+v", m)
	}
}

// TestReadCronJobs: only CronJobs are read, even if their jobs cannot run here. Mistakes in the
// CronJobs themselves are reported.
func TestReadCronJobs(t *testing.T) {
	all, err := ReadCronJobs("f.yaml", strings.NewReader(good+"---\n"+strings.Replace(goodCron, "command: [echo]", "ports: []", 1)))
	if err != nil || len(all) != 1 || all[0].Key() != "default/x" {
		t.Errorf("%+v, %v", all, err)
	}
	if all, err := ReadCronJobs("f.yaml", strings.NewReader(strings.Replace(goodCron, "30 9 *", "30 25 *", 1))); err == nil {
		t.Errorf("a schedule that does not parse: %+v", all)
	}
}

// The Job that a CronJob creates for a run is a manifest that can run here. The library takes it
// for a job of this CronJob.
func TestJobOfCronJob(t *testing.T) {
	all, err := Read("f.yaml", strings.NewReader(goodCron))
	must.OK(t, err)
	c, err := LoadCronJob(all.CronJobs[0].Raw)
	must.OK(t, err)
	run := time.Date(2026, 1, 5, 8, 30, 0, 0, time.UTC)
	raw, err := c.Job(&cronjob.Creation{Name: cronjob.Naming{}.JobName("x", run), Labels: c.Spec.JobTemplate.Labels,
		Annotations: map[string]string{"batch.kubernetes.io/cronjob-scheduled-timestamp": run.Format(time.RFC3339)}}, "uid-1")
	must.OK(t, err)
	child, err := cronjob.DecodeChild(&cronjob.CronJob{UID: "uid-1", Namespace: c.Object.Namespace}, raw)
	if err != nil || child.Foreign || !child.ScheduledTime.Equal(run) || child.Name != "x-29460030" {
		t.Errorf("%+v, %v", child, err)
	}
	j, err := Load(raw)
	if err != nil || j.Object.Labels["team"] != "a" || *j.Spec.TTLSecondsAfterFinished != 60 ||
		len(j.AbsoluteMounts()) != 1 {
		t.Errorf("%+v, %v", j, err)
	}
	if again, err := Read("f.json", strings.NewReader(string(raw))); err != nil || len(again.Jobs) != 1 {
		t.Errorf("the job is not a manifest: %v", err)
	}

	controller := true
	owner := metav1.OwnerReference{
		APIVersion: "batch/v1", Kind: "CronJob", Name: "x", UID: "uid-1",
		Controller: &controller, BlockOwnerDeletion: &controller,
	}
	if got := j.Object.OwnerReferences; !reflect.DeepEqual(got, []metav1.OwnerReference{owner}) {
		t.Errorf("owners %+v", got)
	}

	bare, err := c.Job(&cronjob.Creation{Name: "x-1"}, "uid-1")
	if err != nil || strings.Contains(string(bare), `"labels":{}`) || strings.Contains(string(bare), `"labels":null`) {
		t.Errorf("%s, %v", bare, err)
	}
	for _, raw := range []string{`{"metadata": {"name": 5}}`, `{"spec": {"startingDeadlineSeconds": 2.5}}`} {
		if c, err := LoadCronJob([]byte(raw)); err == nil {
			t.Errorf("%s: %+v", raw, c)
		}
	}
}

// Every problem is reported with its file, line, field and value.
func TestReadBadCronJob(t *testing.T) {
	for _, test := range []struct{ name, from, to, want string }{
		{"unparseable schedule", "30 9 *", "30 25 *", `f.yaml:6:3: spec.schedule: "30 25 * * 1-5": `},
		{"unknown zone", "Europe/Berlin", "Europe/Bern", `f.yaml:7:3: spec.timeZone: "Europe/Bern": `},
		{"empty zone", "Europe/Berlin", `""`, `f.yaml:7:3: spec.timeZone: "": must not be empty`},
		{"negative deadline", "concurrencyPolicy: Forbid", "startingDeadlineSeconds: -1", `f.yaml:8:3: spec.startingDeadlineSeconds: -1: must not be negative`},
		{"negative limit", "concurrencyPolicy: Forbid", "failedJobsHistoryLimit: -3", `f.yaml:8:3: spec.failedJobsHistoryLimit: -3: must not be negative`},
		{"long name", "name: x", "name: " + strings.Repeat("x", 53), `": must not be longer than 52 bytes`},
		{"no command", "command: [echo]", "ports: []", "f.yaml:21:13: spec.jobTemplate.spec.template.spec.containers[0].command: is required"},
		{"mount over the system", "/data", "/proc", `f.yaml:25:25: spec.jobTemplate.spec.template.spec.containers[0].volumeMounts[0].mountPath: "/proc": not possible`},
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
