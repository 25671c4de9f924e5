package explain

import (
	"math"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// A limit of failures for each index makes backoffLimit the greatest number there is, which is neither
// doubled nor counted with nor named.
func TestMoreFailures(t *testing.T) {
	few, all, perIndex := int32(2), int32(math.MaxInt32), int32(1)
	for _, c := range []struct {
		name        string
		spec        job.Spec
		want, limit string
	}{
		{"a limit", job.Spec{BackoffLimit: &few}, `"backoffLimit":6`, "backoffLimit 2"},
		{"the greatest", job.Spec{BackoffLimit: &all}, `"backoffLimit":2147483647`, "backoffLimit 2147483647"},
		{"for each index", job.Spec{BackoffLimit: &all, BackoffLimitPerIndex: &perIndex}, "delete job", "backoffLimitPerIndex 1"},
	} {
		l := &look{job: &read.Job{}, spec: &c.spec, status: &job.Status{}}
		if got := l.moreFailures("allow more"); !strings.Contains(got.Command, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got.Command, c.want)
		}
		if got := l.failureLimit(); got != c.limit {
			t.Errorf("%s: pods count against %q", c.name, got)
		}
	}
}

// A sidecar is stopped when the work is done, and says nothing about a deletion.
func TestStopsWork(t *testing.T) {
	l := &look{spec: &job.Spec{Template: job.Template{Containers: []string{"main"}}}}
	for message, want := range map[string]bool{"Stopping container main": true, "Stopping container proxy": false, "Killing": false} {
		if got := l.stopsWork(message); got != want {
			t.Errorf("%q: %t", message, got)
		}
	}
}
