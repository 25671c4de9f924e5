package job

import (
	"errors"
	"testing"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// TestSnapshot_Refusals: Reconcile refuses these snapshots, and the error names the field.
func TestSnapshot_Refusals(t *testing.T) {
	indexed := `{"completions": 2, "completionMode": "Indexed", "backoffLimitPerIndex": 1}`
	for _, test := range []struct {
		name   string
		spec   string
		change func(*Snapshot)
		field  string
	}{
		{"a job without a UID", `{}`, func(s *Snapshot) { s.Job.UID = "" }, "job.uid"},
		{"a job without a name", `{}`, func(s *Snapshot) { s.Job.Name = "" }, "job.name"},
		{"no time", `{}`, func(s *Snapshot) { s.Now = time.Time{} }, "now"},
		{"no parallelism", `{}`, func(s *Snapshot) { s.Job.Spec.Parallelism = nil }, "job.spec.parallelism"},
		{"no backoff limit", `{}`, func(s *Snapshot) { s.Job.Spec.BackoffLimit = nil }, "job.spec.backoffLimit"},
		{"no completions of an Indexed job", indexed, func(s *Snapshot) { s.Job.Spec.Completions = nil }, "job.spec.completions"},
		{"a negative parallelism", `{"parallelism": -1}`, nil, "job.spec.parallelism"},
		{"negative completions", `{"completions": -1}`, nil, "job.spec.completions"},
		{"a negative backoff limit", `{"backoffLimit": -1}`, nil, "job.spec.backoffLimit"},
		{"a negative deadline", `{"activeDeadlineSeconds": -1}`, nil, "job.spec.activeDeadlineSeconds"},
		{"a negative limit for each index", indexed, func(s *Snapshot) { *s.Job.Spec.BackoffLimitPerIndex = -1 }, "job.spec.backoffLimitPerIndex"},
		{"a negative limit of failed indexes", indexed, func(s *Snapshot) { s.Job.Spec.MaxFailedIndexes = value.To[int32](-1) }, "job.spec.maxFailedIndexes"},
		{"negative active", `{}`, func(s *Snapshot) { s.Job.Status.Active = -1 }, "job.status.active"},
		{"negative ready", `{}`, func(s *Snapshot) { s.Job.Status.Ready = value.To[int32](-1) }, "job.status.ready"},
		{"negative terminating", `{}`, func(s *Snapshot) { s.Job.Status.Terminating = value.To[int32](-1) }, "job.status.terminating"},
		{"negative succeeded", `{}`, func(s *Snapshot) { s.Job.Status.Succeeded = -1 }, "job.status.succeeded"},
		{"negative failed", `{}`, func(s *Snapshot) { s.Job.Status.Failed = -1 }, "job.status.failed"},
		{"a pod without a UID", `{}`, func(s *Snapshot) { s.Pods = []Pod{{Name: "p"}} }, "pods[p].uid"},
		{"a pod in no phase", `{}`, func(s *Snapshot) { s.Pods = []Pod{{Name: "p", UID: "1", Phase: PodFailed + 1}} }, "pods[p].phase"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := snapshotOf(t, test.spec)
			if test.change != nil {
				test.change(&s)
			}

			plan, err := Reconcile(s)
			var input *InputError
			if !errors.As(err, &input) || input.Field != test.field {
				t.Fatalf("got %v, want an error about %s", err, test.field)
			}
			if plan.basis.Facts.JobUID != "" || plan.Record(Writes{}).Write {
				t.Error("there is a plan despite the error")
			}
		})
	}
}
