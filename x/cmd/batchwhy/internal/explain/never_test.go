package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/explain"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// TestNeverRuns: if a schedule never runs, a sentence says so.
func TestNeverRuns(t *testing.T) {
	objects := &read.Objects{}
	stream := objects.Stream("cron.yaml")
	_, _ = stream.Write([]byte(`{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c"}, "spec": {
		"schedule": "0 0 31 2 *", "jobTemplate": {"spec": {"template": {"spec": {
		"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}}}}}`))
	_ = stream.Close()
	report := explain.All(objects, explain.Options{At: time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)})
	if text := string(text(t, report)); !strings.Contains(text, "Never runs (no such date)") {
		t.Error(text)
	}
}

// TestRefusedSchedule: the problem of a schedule is reported once, however often the CronJob is explained.
func TestRefusedSchedule(t *testing.T) {
	objects := &read.Objects{}
	stream := objects.Stream("cron.yaml")
	_, _ = stream.Write([]byte(`{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c"}, "spec": {
		"schedule": "61 * * * *", "concurrencyPolicy": "forbid", "jobTemplate": {"spec": {"template": {"spec": {
		"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}}}}}`))
	_ = stream.Close()
	o := explain.Options{At: time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)}
	first := string(text(t, explain.All(objects, o)))
	if again := string(text(t, explain.All(objects, o))); again != first || strings.Count(first, "2:3: spec.schedule: ") != 1 {
		t.Errorf("first\n%s\nthen\n%s", first, again)
	}
}
