package replica

import (
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/backoff"
	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/google/go-cmp/cmp"
)

// TestParsePlanners: a file can set the options of both planners.
func TestParsePlanners(t *testing.T) {
	got, err := ParsePlanners([]byte(`
job:
  backoff: {base: 1s, factor: 3, max: 5m}
  pendingTimeout: 1h30m
  maxPodWrites: 50
cronJob:
  jitter: 90s
`), "")
	want := Planners{
		Job:     job.Options{Backoff: backoff.Policy{Base: time.Second, Factor: 3, Max: 5 * time.Minute}, PendingTimeout: 90 * time.Minute, MaxPodWrites: 50},
		CronJob: cronjob.Options{Jitter: 90 * time.Second},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, options (-want +got):\n%s", err, diff)
	}
}

// TestParsePlanners_Preset: the options of a file override those of its preset.
func TestParsePlanners_Preset(t *testing.T) {
	want := job.Kubernetes(release.V136())
	want.PendingTimeout = time.Minute
	for _, test := range []struct{ file, preset string }{
		{"preset: kubernetes-1.36\njob: {pendingTimeout: 1m}", ""},
		{"job: {pendingTimeout: 1m}", "kubernetes-1.36"},
	} {
		got, err := ParsePlanners([]byte(test.file), test.preset)
		if diff := cmp.Diff(want, got.Job); err != nil || diff != "" {
			t.Errorf("%q, %q: error %v, options (-want +got):\n%s", test.file, test.preset, err, diff)
		}
		if diff := cmp.Diff(cronjob.Kubernetes(release.V136()), got.CronJob); diff != "" {
			t.Errorf("%q, %q: options of CronJobs (-want +got):\n%s", test.file, test.preset, diff)
		}
	}

	older, err := release.Parse("1.33,JobManagedBy=false")
	must.OK(t, err)
	got, err := ParsePlanners(nil, "kubernetes-1.33,JobManagedBy=false")
	if diff := cmp.Diff(job.Kubernetes(older), got.Job) + cmp.Diff(cronjob.Kubernetes(older), got.CronJob); err != nil || diff != "" {
		t.Errorf("an older release: error %v, options (-want +got):\n%s", err, diff)
	}

	got, err = ParsePlanners(nil, "")
	if diff := cmp.Diff(Planners{}, got); err != nil || diff != "" {
		t.Errorf("an empty file: error %v, options (-want +got):\n%s", err, diff)
	}
}

// TestPlanners_Schedules: with a preset, schedules are read as the release of the preset reads
// them.
func TestPlanners_Schedules(t *testing.T) {
	for preset, want := range map[string]release.Release{
		"kubernetes-1.33":   release.V133(),
		"kubernetes-1.35.4": release.V135().At(4),
		"kubernetes-1.37":   release.Newest(),
	} {
		if got, err := releaseOf(preset); err != nil || got != want {
			t.Errorf("%s is the release %v, %v", preset, got, err)
		}
		if got, err := (&Planners{Preset: preset}).schedules(); err != nil || len(got) != 1 {
			t.Errorf("%s: %d options, %v", preset, len(got), err)
		}
	}
	if got, err := new(Planners).schedules(); err != nil || len(got) != 0 {
		t.Errorf("no preset: %d options, %v", len(got), err)
	}
	if got, err := (&Planners{Preset: "kubernetes-1.20"}).schedules(); err == nil {
		t.Errorf("an unknown release: %d options", len(got))
	}
}

// TestParsePlanners_Errors: errors name the field and the problem.
func TestParsePlanners_Errors(t *testing.T) {
	tests := []struct{ file, want string }{
		{"job: {pendingTimeOut: 1m}", "job.pendingTimeOut: unknown; the fields are "},
		{"jobs: {}", "jobs: unknown; the fields are cronJob, job, preset"},
		{"job: {pendingTimeout: 60}", `job.pendingTimeout: 60 is not a duration such as "90s"`},
		{"job: {backoff: {base: fast}}", "job.backoff.base: "},
		{"job: {maxPodWrites: many}", "Options.job.maxPodWrites"},
		{"job: {maxPodWrites: -1}", "maxPodWrites"},
		{"job: {quirks: Everything}", "Everything"},
		{"job: {controllerName: a.b/c}", "-managed-by"},
		{"job: {backoff: {factor: -2}}", "factor"},
		{"cronJob: {jitter: -1s}", "jitter"},
		{"preset: kubernetes-1.20", `preset: release "1.20" is not known: want one of 1.31`},
		{"preset: 1.36", `preset: 1.36 is not "kubernetes-" and a release`},
		{"preset: kubernetes-1.36,JobManagedBy=false", "locked to true"},
		{"job: 1", "job"},
		{"- 1", "want fields"},
		{"job: {}\njob: {}", "already set"},
		{"job: {", "yaml"},
	}

	for _, test := range tests {
		if _, err := ParsePlanners([]byte(test.file), ""); err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(test.want)) {
			t.Errorf("%q: error %v, want one with %q", test.file, err, test.want)
		}
	}
}

// TestConfig_Errors: one error has all problems.
func TestConfig_Errors(t *testing.T) {
	_, err := Config{
		Controllers: []string{"pods"}, Namespaces: []string{"a", ""}, Workers: -1, Election: true, MemoryAnnotation: "a b",
		Lease: Lease{Duration: time.Millisecond}, Planners: Planners{Preset: "1.36"},
	}.withDefaults()
	for _, want := range []string{"managed-by: required", `"pods" is none of jobs`, "a name is empty", "-1 is negative", `memory-annotation: "a b"`,
		"lease-namespace: required", "1ms is less than a second", "planners: preset: 1.36 is not"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := (Config{ManagedBy: "a.b/c", Identity: "not_a_name"}).withDefaults(); err == nil || !strings.Contains(err.Error(), `identity: "not_a_name"`) {
		t.Errorf("error %v", err)
	}
}

// TestConfig_Identity: two processes with the same name are two replicas.
func TestConfig_Identity(t *testing.T) {
	var names []string
	for range 2 {
		c, err := Config{ManagedBy: "a.b/c", Identity: "host"}.withDefaults()
		if err != nil || !strings.HasPrefix(c.Identity, "host-") {
			t.Fatalf("%q, %v", c.Identity, err)
		}
		names = append(names, c.Identity)
	}
	if names[0] == names[1] {
		t.Errorf("both are %s", names[0])
	}
}
