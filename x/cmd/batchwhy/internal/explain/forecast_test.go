package explain

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

// eventsOf returns the events of a forecast, one a line, with their times after the variable midnight.
func eventsOf(f *Forecast) string {
	var lines []string
	for _, e := range f.Events {
		lines = append(lines, fmt.Sprintf("%s %s %s", e.At.Sub(midnight), e.Reason, e.Text))
	}
	return strings.Join(lines, "\n")
}

func pointer[T any](v T) *T { return &v }

// TestForecast_Job: each event has its time. A pod runs as long as the last one did, and the TTL
// begins with the end of the Job. What happens at the end of the forecast belongs to it.
func TestForecast_Job(t *testing.T) {
	for _, test := range []struct {
		name  string
		spec  job.Spec
		habit habit
		until time.Duration
		want  string
	}{
		{"until the TTL", job.Spec{Completions: pointer[int32](2), TTLSecondsAfterFinished: pointer[int32](60)}, habit{known: true, took: 30 * time.Second}, 2 * time.Minute,
			"0s Create The controller creates 1 pod (0 failed so far).\n30s PodEnds 1 pod ends with exit code 0.\n" +
				"30s Create The controller creates 1 pod (0 failed so far).\n1m0s PodEnds 1 pod ends with exit code 0.\n" +
				"1m0s End The Job ends: Complete, CompletionsReached: reached expected number of succeeded pods.\n" +
				"2m0s Expiry The TTL controller deletes the Job and its pods."},
		{"until just before it", job.Spec{TTLSecondsAfterFinished: pointer[int32](60)}, habit{known: true, took: 30 * time.Second}, 90*time.Second - 1,
			"0s Create The controller creates 1 pod (0 failed so far).\n30s PodEnds 1 pod ends with exit code 0.\n" +
				"30s End The Job ends: Complete, CompletionsReached: reached expected number of succeeded pods."},
		{"failures", job.Spec{BackoffLimit: pointer[int32](1)}, habit{known: true, took: 30 * time.Second, code: 3, failed: true}, time.Hour,
			"0s Create The controller creates 1 pod (0 failed so far).\n30s PodEnds 1 pod ends with exit code 3.\n" +
				"40s Create The controller creates 1 pod (1 failed so far).\n1m10s PodEnds 1 pod ends with exit code 3.\n" +
				"1m10s End The Job ends: Failed, BackoffLimitExceeded: job has reached the specified backoff limit."},
		{"pods that run on", job.Spec{ActiveDeadlineSeconds: pointer[int64](60)}, habit{}, time.Minute,
			"0s Create The controller creates 1 pod (0 failed so far).\n1m0s Delete The controller deletes 1 pod: the job is ending.\n" +
				"1m0s Verdict It is decided how the Job ends: DeadlineExceeded, job was active longer than specified deadline.\n" +
				"1m0s End The Job ends: Failed, DeadlineExceeded: job was active longer than specified deadline."},
		{"pods that run on for less", job.Spec{ActiveDeadlineSeconds: pointer[int64](60)}, habit{}, time.Minute - 1,
			"0s Create The controller creates 1 pod (0 failed so far)."},
	} {
		f := &future{
			Forecast: &Forecast{Until: midnight.Add(test.until)},
			snapshot: job.Snapshot{Job: job.Job{Name: "j", UID: "j", Spec: test.spec, CreationTimestamp: midnight}, Now: midnight, Consistent: true},
			habit:    test.habit, ends: map[job.UID]time.Time{},
		}
		f.snapshot.Job.Spec.Template.RestartPolicy = job.RestartNever
		job.Default(&f.snapshot.Job.Spec)
		for f.round() {
		}
		if got := eventsOf(f.Forecast); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// TestForecast_Limit: a forecast lists 200 events, and says if there are more.
func TestForecast_Limit(t *testing.T) {
	var f Forecast
	for n := range maxForecast + 1 {
		if len(f.Events) != n || f.Cut {
			t.Fatalf("%d events after %d, cut %t", len(f.Events), n, f.Cut)
		}
		f.add("X", midnight, "x")
	}
	if len(f.Events) != maxForecast || !f.Cut {
		t.Errorf("%d events, cut %t", len(f.Events), f.Cut)
	}
}

// TestForecast_CronJob: Jobs run as long as the last one did, here 70 minutes.
func TestForecast_CronJob(t *testing.T) {
	at := func(minutes int) time.Time { return midnight.Add(time.Second + time.Duration(minutes)*time.Minute) }
	c := cronjob.CronJob{Namespace: "n", Name: "c", UID: "c", CreationTimestamp: at(-90), Spec: cronjob.Spec{
		Schedule: "@hourly", ConcurrencyPolicy: cronjob.Forbid, SuccessfulJobsHistoryLimit: pointer[int32](1),
	}}
	cronjob.Default(&c.Spec)
	c.Status.LastScheduleTime, c.Status.LastSuccessfulTime = at(-60), at(10)
	last := cronjob.Child{
		Name: "c-old", UID: "old", CreationTimestamp: at(-60), StartTime: at(-60), ScheduledTime: at(-60),
		Finished: job.ConditionComplete, FinishTime: at(10), CompletionTime: at(10),
	}
	l := &cronLook{words: words{at(12)}, children: []cronjob.Child{last}, theirSnapshot: cronjob.Snapshot{
		CronJob: c, Children: []cronjob.Child{last}, Schedule: cronjob.Compile(&c), Now: at(12), Consistent: true,
		Options: cronjob.Kubernetes(release.Newest()),
	}}

	const want = `12m1s Create The run of 00:00 starts as Job c-29544480.
1h0m1.1s Held The run of 01:00 does not start: concurrencyPolicy is Forbid, and 1 Job is active.
1h22m1s Delete Job c-old is deleted: more successful jobs than successfulJobsHistoryLimit.
1h22m1s Create The run of 01:00 starts as Job c-29544540.
2h0m1.1s Held The run of 02:00 does not start: concurrencyPolicy is Forbid, and 1 Job is active.`
	f := l.forecast(2*time.Hour + 8*time.Minute)
	if got := eventsOf(f); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestQuantity: the suffixes of Kubernetes, and texts that are no quantities.
func TestQuantity(t *testing.T) {
	factor := 1e-9
	for _, suffix := range []string{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"} {
		if got, ok := quantity("2.5" + suffix); !ok || math.Abs(got/factor-2.5) > 1e-9 {
			t.Errorf("2.5%s is %v, %t", suffix, got, ok)
		}
		factor *= 1000
	}
	factor = 1024
	for _, suffix := range []string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"} {
		if got, ok := quantity("2" + suffix); !ok || got != 2*factor {
			t.Errorf("2%s is %v, %t", suffix, got, ok)
		}
		factor *= 1024
	}
	for _, text := range []any{"", "x", "2x", "2mm", "Ki", nil, true} {
		if got, ok := quantity(text); ok {
			t.Errorf("%v is %v", text, got)
		}
	}
}

// TestActs: each act names its verb and its object, and its command names the object and the namespace.
func TestActs(t *testing.T) {
	for verb, a := range map[Verb]*Act{
		Patches: patch("ns", "job", "x", "spec.suspend", true), Deletes: remove("ns", "job", "x"),
		Applies: apply("ns", "job", "x"), Edits: edit("ns", "job", "x"), Starts: start("ns", "c", "x"),
	} {
		if a.Verb != verb || a.Kind != "job" || a.Namespace != "ns" || a.Name != "x" || !strings.Contains(a.Command, " -n ns ") {
			t.Errorf("%s: %+v", verb, a)
		}
	}
}
