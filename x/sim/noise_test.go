package sim

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/job"
)

func TestIsNoise(t *testing.T) {
	for _, test := range []struct {
		name string
		a, b []float64
		want bool
	}{
		{"the same", []float64{1, 2, 3}, []float64{1, 2, 3}, false},
		{"always one more", []float64{1, 5, 3}, []float64{2, 6, 4}, false},
		{"more and less", []float64{1, 5, 3}, []float64{2, 4, 3.1}, true},
		{"one seed", []float64{1}, []float64{9}, true},
		{"nothing to compare with", []float64{1, 2}, nil, false},
	} {
		if have := IsNoise(test.a, test.b); have != test.want {
			t.Errorf("%s: %v", test.name, have)
		}
	}
}

// Evictions counts the pods that are disrupted, whatever disrupts them.
func TestEvictions(t *testing.T) {
	completions, parallelism := int32(4), int32(4)
	like := Job{
		Name: "j", Spec: job.Spec{Completions: &completions, Parallelism: &parallelism, PodFailurePolicy: &job.PodFailurePolicy{
			Rules: []job.PodFailurePolicyRule{{Action: job.IgnoreFailure, OnPodConditions: []job.PodCondition{{Type: "DisruptionTarget", Status: "True"}}}},
		}},
		Pod: Pod{Duration: Constant(time.Minute)},
	}
	for _, test := range []struct {
		name  string
		world func(w *World, j *Job)
		want  int64
	}{
		{"a share of the pods", func(_ *World, j *Job) { j.Pod.Disruption = 0.5 }, -1},
		{"a node that is removed", func(w *World, _ *Job) {
			w.Nodes = Nodes(2, Node{Pods: 2})
			w.Disruptions = []Disruption{{Kind: NodeLost, At: 30 * time.Second, Removed: 40 * time.Second}}
		}, 2},
		{"a node that is lost for long", func(w *World, j *Job) {
			j.Pod.Duration = Constant(time.Hour)
			w.Nodes = Nodes(2, Node{Pods: 2})
			w.Disruptions = []Disruption{{Kind: NodeLost, At: 30 * time.Second, Back: 20 * time.Minute, Removed: 30 * time.Minute}}
		}, 2},
		{"a node that is drained", func(w *World, _ *Job) {
			w.Nodes = Nodes(2, Node{Pods: 2})
			w.Disruptions = []Disruption{{Kind: NodeDrained, At: 30 * time.Second}}
		}, 2},
	} {
		w, j := World{Seed: 3, Until: 12 * time.Hour}, like
		j.Spec.Template.RestartPolicy = job.RestartNever
		test.world(&w, &j)
		w.Jobs = Of(j)
		r := play(t, w)
		want := test.want
		if want < 0 {
			want = r.PodsFailed
		}
		if r.Evictions != want || want == 0 || r.JobsComplete != 1 {
			t.Errorf("%s: %d evictions, want %d; %d jobs complete", test.name, r.Evictions, want, r.JobsComplete)
		}
	}
}
