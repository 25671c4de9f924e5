package explain

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// With backoffLimitPerIndex, the default of backoffLimit is the largest number. Such a limit is
// neither doubled nor named, and nothing is computed from it.
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
		if c.spec.Template.RestartPolicy = job.RestartNever; c.spec.BackoffLimitPerIndex != nil {
			c.spec.CompletionMode, c.spec.Completions = job.Indexed, &few
		}
		job.Default(&c.spec)
		l := &look{job: &read.Job{}, spec: &c.spec, status: &job.Status{}, snapshot: job.Snapshot{Job: job.Job{Spec: c.spec}}}
		if got := l.moreFailures("allow more"); !strings.Contains(got.Command, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got.Command, c.want)
		}
		if got := l.failureLimit(); got != c.limit {
			t.Errorf("%s: pods count against %q", c.name, got)
		}
	}
}

// A sidecar is also stopped when the work is done, so its stop does not mean a deletion.
func TestStopsWork(t *testing.T) {
	l := &look{spec: &job.Spec{Template: job.Template{Containers: []string{"main"}}}}
	for message, want := range map[string]bool{"Stopping container main": true, "Stopping container proxy": false, "Killing": false} {
		if got := l.stopsWork(message); got != want {
			t.Errorf("%q: %t", message, got)
		}
	}
}

// A limit is not reported if it gives each container the default number of restarts, or if it is
// below 2.
func TestSharedRestarts(t *testing.T) {
	one, many := int32(1), int32(math.MaxInt32)
	for limit, want := range map[int32]string{1: "", 2: "12", 11: "22", 12: "", many: ""} {
		s := job.Spec{BackoffLimit: &limit, Parallelism: &one, Template: job.Template{RestartPolicy: job.RestartOnFailure, Containers: []string{"a", "b"}}}
		text, enough := sharedRestarts(&s)
		if got := strings.TrimPrefix(fmt.Sprint(enough), "0"); got != want || (text == "") != (want == "") {
			t.Errorf("%d: raise it to %q, want %q: %s", limit, got, want, text)
		}
	}
}
