package upgrade

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

const template = `"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i"}]}}`

func objectsOf(t *testing.T, texts ...string) *read.Objects {
	t.Helper()
	o := &read.Objects{}
	for _, text := range texts {
		s := o.Stream("test")
		if _, err := s.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if s.Close(); len(o.Problems) > 0 {
			t.Fatal(o.Problems)
		}
	}
	return o
}

func jobText(spec, status string) string {
	return `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "d", "uid": "u"}, "spec": {` + spec + template + `}, "status": {` + status + `}}`
}

// TestCompare checks which changes are reported for some Jobs and CronJobs and pairs of releases.
func TestCompare(t *testing.T) {
	cronOf := func(schedule, spec string) string {
		return `{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c"}, "spec": {"schedule": "` + schedule + `", "jobTemplate": {"spec": {` + spec + template + `}}}}`
	}
	cron := func(schedule string) string { return cronOf(schedule, "") }
	suspended := jobText(`"suspend": true, "activeDeadlineSeconds": 60,`,
		`"startTime": "2026-01-01T00:00:00Z", "conditions": [{"type": "Suspended", "status": "True"}]`)
	for _, test := range []struct {
		name, object, from, to string
		want                   []string // a part of each change
	}{
		{"nothing", jobText("", ""), "1.34", "1.34", nil},
		{"nothing by default", jobText("", ""), "1.32", "1.33", nil},
		{"startTime", jobText("", ""), "1.35", "1.36", []string{"Suspending clears startTime in 1.36"}},
		{"a backoff", jobText(`"parallelism": 2, "completions": 2,`, ""), "1.35.4", "1.36", []string{"status.active is 0 before 1.34.10, 1.35.8 and 1.36", "Suspending clears startTime in 1.36"}},
		{"a backoff, from patch to patch", jobText(`"parallelism": 2, "completions": 2,`, ""), "1.35.4", "1.35.8", []string{"status.active is 0 before"}},
		{"patches without a change", jobText(`"parallelism": 2, "completions": 2,`, ""), "1.34.4", "1.34.9", nil},
		{"patches with it", jobText(`"parallelism": 2, "completions": 2,`, ""), "1.34.10", "1.35.8", nil},
		{"a gate alone", jobText("", ""), "1.36", "1.36,MutableSchedulingDirectivesForSuspendedJobs=false", []string{"It keeps startTime in 1.36,MutableSchedulingDirectivesForSuspendedJobs=false"}},
		{"managedBy", jobText(`"managedBy": "example.com/x",`, ""), "1.31", "1.32", []string{"spec.managedBy is dropped by 1.31", "The Job controller of 1.32 leaves the Job to the controller that spec.managedBy names; the one of 1.31 runs it."}},
		{"managedBy, back", jobText(`"managedBy": "example.com/x",`, ""), "1.32", "1.31", []string{"dropped by 1.31 when the object is created", "The Job controller of 1.32 leaves the Job"}},
		{"a gate off", jobText(`"podReplacementPolicy": "Failed",`, ""), "1.33", "1.33,JobPodReplacementPolicy=false",
			[]string{"spec.podReplacementPolicy is honoured by 1.33", "status.terminating is written by one"}},
		{"suspended before the upgrade", suspended, "1.34", "1.36", []string{"kept its startTime, 2026-01-01 00:00:00", "Suspending clears startTime in 1.36"}},
		{"suspended, and no upgrade", suspended, "1.33", "1.34", nil},
		{"a status that a mirror has written", jobText("", `"startTime": "2026-01-01T00:00:00Z", "conditions": [{"type": "Failed", "status": "True"}]`), "1.31", "1.32",
			[]string{`1.32 refuses this status: status.conditions[Failed]: "True": needs FailureTarget. If a controller`}},
		{"the same, refused before", jobText("", `"startTime": "2026-01-01T00:00:00Z", "conditions": [{"type": "Failed", "status": "True"}]`), "1.32", "1.33", nil},
		{"a status of the controller", jobText("", `"startTime": "2026-01-01T00:00:00Z", "active": 1, "ready": 1`), "1.31", "1.32", nil},
		{"a CronJob", cron("@daily"), "1.31", "1.35", nil},
		{"the Jobs of a CronJob", cron("@daily"), "1.31", "1.36", []string{"For the Jobs of CronJob c"}},
		{"a field of the Jobs of a CronJob", cronOf("@daily", `"managedBy": "example.com/x",`), "1.31", "1.32",
			[]string{"spec.jobTemplate.spec.managedBy is dropped by 1.31 when the object is created, and honoured by 1.32. (KEP-4368)", "The Job controller of 1.32 leaves the Job"}},
		{"a condition without status in a CronJob", cronOf("@daily", `"podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]},`), "1.33", "1.34",
			[]string{"before 1.34 the API server refuses the CronJob, from 1.34 on it is True"}},
		{"the same in a Job", jobText(`"podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]},`, ""), "1.33", "1.34", nil},
		{"Jobs of a stored object that do not decode", strings.Replace(cronOf("@daily", `"parallelism": "two",`), `"name"`, `"uid": "u", "name"`, 1), "1.31", "1.36", nil},
		{"a CronJob whose schedule panics", cron("TZ=0"), "1.34", "1.35", []string{"makes the parser panic"}},
		{"a CronJob in 1.37", cron("@daily"), "1.36", "1.37", []string{"kubernetes#120181, kubernetes#133313", "kubernetes#136920", "kubernetes#136920"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			from, err := release.Parse(test.from)
			must.OK(t, err)
			to, err := release.Parse(test.to)
			must.OK(t, err)
			r := Compare(objectsOf(t, test.object), from, to)
			changes := r.Objects[0].Changes
			var text strings.Builder
			must.OK(t, r.Write(&text))
			ok := len(changes) == len(test.want) && r.Differs() == (len(changes) > 0)
			for _, want := range test.want {
				ok = ok && strings.Contains(text.String(), want)
			}
			if !ok {
				t.Errorf("want %q:\n%s", test.want, text.String())
			}
		})
	}
}

// TestWrite: a change that concerns several objects is written once, followed by the names of the
// first mostNames of them.
func TestWrite(t *testing.T) {
	r := &Report{From: release.V135(), To: release.V136()}
	shared := Change{What: "It changes.", Shown: &Parting{After: "6s", Once: "it began", Before: "a", Behind: "b"}}
	for i := range mostNames + 1 {
		r.Objects = append(r.Objects,
			Object{Kind: "Job", Namespace: "n", Name: fmt.Sprint("j", i), Changes: []Change{shared}})
	}
	shared.What, shared.Shown = ofItsJobs+shared.What, nil
	another, third := []Change{{What: "Another."}, {What: "All CronJobs change."}}, Change{What: ofItsJobs + "Their Jobs change."}
	r.Objects = append(r.Objects, Object{Kind: "CronJob", Name: "c", Changes: append(another, shared, third)})
	for range 2 {
		r.Objects = append(r.Objects, Object{Kind: "CronJob", Name: "d", Changes: append(another, third)})
	}
	r.Objects = append(r.Objects, Object{Kind: "Job", Name: "k", Changes: another[:1]})
	var b strings.Builder
	must.OK(t, r.Write(&b))
	const want = `From Kubernetes 1.35 to 1.36

  - It changes.
    For Job n/j0, n/j1, n/j2, n/j3, n/j4, n/j5, n/j6, n/j7, n/j8, n/j9, n/j10, n/j11, n/j12, n/j13, n/j14, n/j15, n/j16, n/j17, n/j18, n/j19 and 2 more.
    Shown by Job n/j0, 6s after the start, once it began:
      1.35: a
      1.36: b
  - Another.
    For CronJob c, d (2); Job k.
  - All CronJobs change.
    For all 3 CronJobs.
  - Their Jobs change.
    For the Jobs of all 3 CronJobs.
`
	if b.String() != want {
		t.Error(b.String())
	}
}

// TestCluster checks the changes that do not depend on an object, for an upgrade and a downgrade.
func TestCluster(t *testing.T) {
	up, down := clusterChanges(release.V131(), release.V137()), clusterChanges(release.V137(), release.V131())
	lasting := len(cluster) - 1 // one row is only for 1.32 to 1.36
	if len(up) != lasting || len(down) != lasting ||
		len(clusterChanges(release.V132(), release.V133())) != 0 {
		t.Errorf("%v\n%v", up, down)
	}
	if !strings.HasPrefix(up[0].What, "From 1.32 on, API servers") ||
		!strings.HasPrefix(down[0].What, "Before 1.32, API servers") {
		t.Errorf("%q, %q", up[0].What, down[0].What)
	}
	const once = "The finalizer of a pod whose job has ended or is gone is removed once by 1.32 to 1.36.4 and by 1.37.0"
	for _, pair := range [][2]release.Release{
		{release.V131(), release.V136().At(4)}, {release.V136().At(4), release.V136()}, {release.V137().At(0), release.V137()},
	} {
		is := func(c Change) bool { return strings.HasPrefix(c.What, once) }
		if !slices.ContainsFunc(clusterChanges(pair[0], pair[1]), is) {
			t.Errorf("%v: no change of finalizers", pair)
		}
	}

	strict, err := release.Parse("1.31,JobManagedBy=true")
	must.OK(t, err)
	gate := clusterChanges(release.V131(), strict)
	if len(gate) != 2 || !strings.HasPrefix(gate[0].What, "In 1.31,JobManagedBy=true, API servers check") {
		t.Errorf("a gate alone: %+v", gate)
	}
}
