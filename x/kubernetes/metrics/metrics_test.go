package metrics_test

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobreason"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/metrics"
)

// figures returns the series that are not zero, one per line.
func figures(t *testing.T, m *metrics.Metrics) (lines []string) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m)
	families, err := registry.Gather()
	must.OK(t, err)
	for _, family := range families {
		for _, metric := range family.Metric {
			var labels []string
			for _, l := range metric.Label {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			value := metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + float64(metric.GetHistogram().GetSampleCount())
			if value != 0 {
				lines = append(lines, fmt.Sprintf("%s{%s} %v", family.GetName(), strings.Join(labels, ","), value))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func expect(t *testing.T, m *metrics.Metrics, want ...string) {
	t.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, figures(t, m)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestJ42_NegativeFigures: no negative value of a round reaches a counter, which would panic.
func TestJ42_NegativeFigures(t *testing.T) {
	m := metrics.New()
	round := job.Metrics{
		PodsSucceeded: -1, PodsFailed: math.MinInt32, IndexesSucceeded: -1, IndexesFailed: -1, PodsCreated: -1, PodsNotCreated: -1, Untracked: -1,
	}
	round.Policy.FailJob, round.Policy.FailIndex, round.Policy.Ignore, round.Policy.Count = -1, -1, -1, -1
	m.Jobs().Round(controller.JobRound{Metrics: &round, Took: -time.Second})
	m.CronJobs().Round(controller.CronJobRound{Metrics: &cronjob.Metrics{Created: -1, Unstarted: -5}})
	expect(t, m)
}

func TestMetrics(t *testing.T) {
	m := metrics.New()
	round := job.Metrics{
		CompletionMode: job.Indexed, Action: "pods_created", PodsSucceeded: 2, PodsFailed: 1, IndexesSucceeded: 2, IndexesFailed: 1,
		PerIndex: true, PodsCreated: 3, PodsNotCreated: 1, CreateReason: jobreason.CreateReplacementOfFailed,
		Finished: job.ConditionFailed, FinishedReason: "FailedIndexes",
	}
	round.Policy.Ignore = 4
	m.Jobs().Round(controller.JobRound{Metrics: &round, Took: time.Millisecond})

	tracking := job.Metrics{CompletionMode: job.NonIndexed, Action: "tracking", SyncFailed: true}
	m.Jobs().Round(controller.JobRound{Metrics: &tracking, Took: time.Millisecond})

	m.Jobs().Tracking("add")
	m.Jobs().External("example.com/other")
	m.Jobs().Stale(schema.GroupResource{Group: "batch", Resource: "jobs"})
	scheduled := cronjob.Metrics{Created: 2, CreationSkews: []time.Duration{time.Second}, Unstarted: 2} // one of them for a trigger
	m.CronJobs().Round(controller.CronJobRound{Metrics: &scheduled})
	m.TTL().Expired(time.Second)

	expect(t, m,
		"job_controller_job_syncs_total{action=pods_created,completion_mode=Indexed,result=success} 1",
		"job_controller_job_syncs_total{action=tracking,completion_mode=NonIndexed,result=error} 1",
		"job_controller_job_sync_duration_seconds{action=pods_created,completion_mode=Indexed,result=success} 1",
		"job_controller_job_sync_duration_seconds{action=tracking,completion_mode=NonIndexed,result=error} 1",
		"job_controller_job_pods_finished_total{completion_mode=Indexed,result=succeeded} 2",
		"job_controller_job_pods_finished_total{completion_mode=Indexed,result=failed} 1",
		"job_controller_job_finished_indexes_total{backoffLimit=perIndex,status=succeeded} 2",
		"job_controller_job_finished_indexes_total{backoffLimit=perIndex,status=failed} 1",
		"job_controller_job_pods_creation_total{reason=recreate_failed,status=succeeded} 3",
		"job_controller_job_pods_creation_total{reason=recreate_failed,status=failed} 1",
		"job_controller_pod_failures_handled_by_failure_policy_total{action=Ignore} 4",
		"job_controller_jobs_finished_total{completion_mode=Indexed,reason=FailedIndexes,result=failed} 1",
		"job_controller_terminated_pods_tracking_finalizer_total{event=add} 1",
		"job_controller_jobs_by_external_controller_total{controller_name=example.com/other} 1",
		"job_controller_stale_sync_skips_total{group=batch,resource=jobs} 1",
		"cronjob_controller_job_creation_skew_duration_seconds{} 1",
		"cronjob_controller_missed_runs_total{} 2",
		"ttl_after_finished_controller_job_deletion_duration_seconds{} 1",
	)
}

// TestOf: one registry can hold the metrics of several kinds and of jobs.
func TestOf(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	all := map[string]*metrics.Metrics{"": metrics.New(), "Render": metrics.Of("Render"), "Nightly": metrics.Of("Nightly")}
	for kind, m := range all {
		m.Jobs().Tracking("add")
		m.CronJobs().Round(controller.CronJobRound{Metrics: &cronjob.Metrics{Unstarted: 2}})
		if kind == "" {
			registry.MustRegister(m)
		} else {
			registry.MustRegister(m.Controllers())
		}
	}

	families, err := registry.Gather()
	must.OK(t, err)
	var got []string
	for _, family := range families {
		for _, metric := range family.Metric {
			if metric.GetCounter().GetValue() > 0 {
				line := fmt.Sprint(family.GetName(), " ", metric.GetCounter().GetValue())
				for _, l := range metric.Label {
					line += " " + l.GetValue()
				}
				got = append(got, line)
			}
		}
	}

	slices.Sort(got)
	if diff := cmp.Diff([]string{
		"batchplan_cronjob_controller_missed_runs_total 2 Nightly", "batchplan_cronjob_controller_missed_runs_total 2 Render",
		"batchplan_job_controller_terminated_pods_tracking_finalizer_total 1 add Nightly",
		"batchplan_job_controller_terminated_pods_tracking_finalizer_total 1 add Render",
		"cronjob_controller_missed_runs_total 2", "job_controller_terminated_pods_tracking_finalizer_total 1 add",
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRequests: each request is counted once, by its result.
func TestRequests(t *testing.T) {
	m := metrics.New()
	answer := 0
	wrapped := m.Requests(trip(func(*http.Request) (*http.Response, error) {
		if answer == 0 {
			return nil, errors.New("cut")
		}
		return &http.Response{StatusCode: answer}, nil
	}))

	for _, code := range []int{0, http.StatusOK, http.StatusConflict, http.StatusConflict} {
		answer = code
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "https://server/apis/batch/v1/namespaces/ns/jobs/j/status", http.NoBody)
		must.OK(t, err)
		response, err := wrapped.RoundTrip(r)
		if code == 0 != (err != nil) || err == nil && response.StatusCode != code {
			t.Errorf("code %d: %v, %v", code, response, err)
		}
	}

	expect(t, m,
		"rest_client_requests_total{code=<error>,host=server,method=PUT} 1",
		"rest_client_requests_total{code=200,host=server,method=PUT} 1",
		"rest_client_requests_total{code=409,host=server,method=PUT} 2")
}

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestQueues: a queue with these metrics counts added and repeated keys.
func TestQueues(t *testing.T) {
	m := metrics.New()
	q := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.NewTypedItemExponentialFailureRateLimiter[string](1, 1),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: "job", MetricsProvider: m})
	defer q.ShutDown()
	q.Add("a")
	q.AddRateLimited("b")
	got := strings.Join(figures(t, m), "\n")
	for _, want := range []string{"workqueue_adds_total{name=job} ", "workqueue_depth{name=job} ", "workqueue_retries_total{name=job} 1"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}
