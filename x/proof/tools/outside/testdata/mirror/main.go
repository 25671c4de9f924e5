// Mirror joins what member clusters report of a job, as a control plane for many clusters does, and
// plays histories that went wrong there. Its types are those of such a control plane.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchplan/batchplan/job/jobstatus"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/kubernetes/mirror"
)

// binding names the clusters in which a resource runs, and holds what they have reported.
type binding struct {
	Clusters         []string           `json:"clusters"`
	AggregatedStatus []aggregatedStatus `json:"aggregatedStatus,omitempty"`
}

// aggregatedStatus is the last report of a cluster: the status of any resource.
type aggregatedStatus struct {
	ClusterName string          `json:"clusterName"`
	Status      json.RawMessage `json:"status,omitempty"`
}

// aggregate returns the status of the job that follows from the reports, unless the server refuses
// it.
func aggregate(old *batchv1.Job, b *binding, at time.Time, server release.Release) (batchv1.JobStatus, error) {
	reports := map[string]json.RawMessage{}
	for _, item := range b.AggregatedStatus {
		reports[item.ClusterName] = item.Status
	}

	var parts []jobstatus.Part
	for _, cluster := range b.Clusters {
		var s batchv1.JobStatus
		if report := reports[cluster]; report != nil {
			if err := json.Unmarshal(report, &s); err != nil {
				return s, fmt.Errorf("cluster %s: %w", cluster, err)
			}
		}
		parts = append(parts, mirror.Part(cluster, &s))
	}

	next := mirror.Aggregate(old, parts, at, server)
	return next, mirror.CheckServed(old, &next, server)
}

// The reports of a cluster, as JSON.
const (
	none    = ``
	first   = `{"startTime":"2026-01-01T12:00:00Z","active":1,"ready":1}`
	earlier = `{"startTime":"2026-01-01T11:59:00Z","active":1}`
	ending  = `{"startTime":"2026-01-01T12:00:00Z","terminating":1}`
	stopped = `{"startTime":"2026-01-01T12:00:00Z"}`
	// From a cluster that knows neither FailureTarget nor SuccessCriteriaMet.
	failed = `{"startTime":"2026-01-01T11:59:00Z","failed":7,"conditions":[{"type":"Failed","status":"True",
		"reason":"BackoffLimitExceeded","message":"Job has reached the specified backoff limit"}]}`
	late = `{"startTime":"2026-01-01T12:00:00Z","failed":1,"conditions":[{"type":"FailureTarget","status":"True"},
		{"type":"Failed","status":"True","reason":"DeadlineExceeded","message":"Job was active longer than specified deadline"}]}`
	complete = `{"startTime":"2026-01-01T11:59:00Z","completionTime":"2026-01-01T12:03:00Z","succeeded":2,
		"conditions":[{"type":"Complete","status":"True"}]}`
	completes = `{"startTime":"2026-01-01T12:00:00Z","completionTime":"2026-01-01T12:04:00Z","succeeded":2,
		"conditions":[{"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}]}`
)

// A course has the reports of two clusters, step by step.
var courses = []struct {
	name  string
	steps [][2]string
}{
	{"one cluster fails, and the other is stopped", [][2]string{
		{none, first}, {earlier, first}, {failed, first}, {failed, ending}, {failed, stopped},
	}},
	{"both fail, and one is out of reach meanwhile", [][2]string{{earlier, first}, {none, first}, {failed, late}, {failed, late}}},
	{"both complete, one after the other", [][2]string{
		{complete, none}, {complete, first}, {complete, completes}, {failed, completes},
	}},
}

func main() {
	for _, course := range courses {
		ends := map[string]int{}
		for _, server := range release.All() {
			end, err := play(course.steps, server)
			if err != nil {
				fmt.Fprintf(os.Stderr, "%s, Kubernetes %v: %v\n", course.name, server, err)
				os.Exit(1)
			}
			ends[end]++
		}
		for end, servers := range ends {
			fmt.Printf("%s: %s (%d releases)\n", course.name, end, servers)
		}
	}
}

// play writes what follows from each step, and returns the last condition.
func play(steps [][2]string, server release.Release) (end string, err error) {
	job, at := &batchv1.Job{}, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for i, step := range steps {
		b := binding{Clusters: []string{"member1", "member2"}}
		for n, report := range step {
			if report != none {
				item := aggregatedStatus{ClusterName: b.Clusters[n], Status: json.RawMessage(report)}
				b.AggregatedStatus = append(b.AggregatedStatus, item)
			}
		}

		at = at.Add(time.Minute)
		if job.Status, err = aggregate(job, &b, at, server); err != nil {
			return "", fmt.Errorf("step %d: %w", i, err)
		}
	}

	last := job.Status.Conditions[len(job.Status.Conditions)-1]
	return fmt.Sprintf("%s, %s, %q; %d failed, %d succeeded",
		last.Type, last.Reason, last.Message, job.Status.Failed, job.Status.Succeeded), nil
}
