// Whatif reads a job and its pods, as an API server has them, and prints what the next round would
// decide if something were different.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

const object = `{"apiVersion":"batch/v1","kind":"Job",
"metadata":{"name":"import","namespace":"etl","uid":"j-1","creationTimestamp":"2026-01-01T11:00:00Z"},
"spec":{"completions":3,"parallelism":3,"backoffLimit":2,"selector":{"matchLabels":{"job":"import"}},
	"template":{"metadata":{"labels":{"job":"import"}},"spec":{"restartPolicy":"Never"}}},
"status":{"startTime":"2026-01-01T11:00:00Z","active":2,"ready":1,"failed":2}}`

// pod returns what an API server has of a pod of the job.
func pod(name, status string) string {
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `","namespace":"etl","uid":"` + name + `",
"creationTimestamp":"2026-01-01T11:00:00Z","labels":{"job":"import"},"finalizers":["batch.kubernetes.io/job-tracking"],
"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"import","uid":"j-1","controller":true}]},
"status":` + status + `}`
}

var pods = []string{
	pod("import-a", `{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}`),
	pod("import-b", `{"phase":"Pending"}`),
	pod("import-c", `{"phase":"Failed","containerStatuses":[{"name":"main","state":{"terminated":{"exitCode":1,
"finishedAt":"2026-01-01T11:59:30Z"}}}]}`),
}

func main() {
	s, err := read()
	if err != nil {
		fail(err)
	}

	for _, question := range []struct {
		name   string
		change func(*job.Snapshot)
	}{
		{"as it is", func(*job.Snapshot) {}},
		{"with a higher limit", func(s *job.Snapshot) { s.Job.Spec.BackoffLimit = to(int32(6)) }},
		{"with a higher limit, and ten minutes to start", func(s *job.Snapshot) {
			s.Job.Spec.BackoffLimit, s.Options.PendingTimeout = to(int32(6)), 10*time.Minute
		}},
		{"suspended", func(s *job.Snapshot) { s.Job.Spec.Suspend = to(true) }},
		{"in Kubernetes 1.31", func(s *job.Snapshot) { s.Options = job.Kubernetes(release.V131()) }},
	} {
		changed := s
		question.change(&changed)
		plan, err := job.Reconcile(changed)
		if err != nil {
			fail(err)
		}
		fmt.Printf("%s: %d to create, %d to delete", question.name, len(plan.Create), len(plan.Delete))
		if end := plan.Verdict; end.Type != "" {
			fmt.Printf(", then %s: %s", end.Type, end.Reason)
		}
		fmt.Println()
	}
}

// read returns the snapshot of the job at noon.
func read() (job.Snapshot, error) {
	j, err := job.DecodeJob([]byte(object))
	if err != nil {
		return job.Snapshot{}, err
	}
	s := job.Snapshot{Job: j, Now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), Consistent: true}
	for _, text := range pods {
		p, err := job.DecodePod(&j, []byte(text))
		if err != nil {
			return s, err
		}
		s.Pods = append(s.Pods, p)
	}
	return s, nil
}

func to[T any](v T) *T { return &v }

func fail(err error) {
	fmt.Fprintln(os.Stderr, "whatif:", err)
	os.Exit(1)
}
