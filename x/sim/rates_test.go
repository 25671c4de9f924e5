package sim

import (
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/batchplan/batchplan/job"
)

func TestParseRate(t *testing.T) {
	for text, want := range map[string]float64{"2/h": 2, "12/d": 0.5, "16.8/w": 0.1, "50%/h": math.Ln2, "0%/d": 0, "0/h": 0} {
		if have, err := ParseRate(text); err != nil || math.Abs(have-want) > 1e-12 {
			t.Errorf("%s: %v, %v", text, have, err)
		}
	}
	for _, text := range []string{"", "5", "5%", "5/m", "x/h", "-1/h", "100%/h", "NaN/h", "Inf/h", "1/h/h"} {
		if have, err := ParseRate(text); err == nil || !strings.HasPrefix(err.Error(), strconv.Quote(text)) {
			t.Errorf("%q: %v, %v", text, have, err)
		}
	}
}

// spot is a world of one long job on nodes that are preempted twice an hour each.
func spot(seed uint64) World {
	completions, parallelism := int32(400), int32(20)
	spec := job.Spec{Completions: &completions, Parallelism: &parallelism, PodFailurePolicy: &job.PodFailurePolicy{
		Rules: []job.PodFailurePolicyRule{{Action: job.IgnoreFailure, OnPodConditions: []job.PodCondition{{Type: "DisruptionTarget", Status: "True"}}}},
	}}
	spec.Template.RestartPolicy = job.RestartNever
	return World{
		Seed: seed, Nodes: append(Nodes(10, Node{Pods: 2, Preemptions: 2, Away: Constant(10 * time.Minute), Price: 0.1}), Node{Name: "safe", Pods: 2, Price: 1}),
		Jobs: Of(Job{Name: "j", Spec: spec, Pod: Pod{Duration: Constant(5 * time.Minute)}}),
	}
}

// Nodes are preempted as often as their rate demands, and the simulation ends with the job.
func TestRates(t *testing.T) {
	lost, hours := 0.0, 0.0
	for seed := range uint64(20) {
		w := spot(seed)
		r := play(t, w)
		if r.JobsComplete != 1 || r.End > 24*time.Hour || r.Evictions == 0 || len(w.Disruptions) != 0 {
			t.Fatalf("seed %d: %d jobs complete at %v, %d evictions", seed, r.JobsComplete, r.End, r.Evictions)
		}
		lost += float64(r.NodesLost)
		hours += (r.Cost - r.LastEnd.Hours()) / 0.1 // hours in which nodes existed
		if r.CostBusy <= 0 || r.CostBusy > r.Cost {
			t.Errorf("seed %d: cost %v, of busy nodes %v", seed, r.Cost, r.CostBusy)
		}
	}
	if rate := lost / hours; rate < 1.7 || rate > 2.3 {
		t.Errorf("%.0f preemptions in %.0f hours of nodes: %.2f an hour", lost, hours, rate)
	}
}

// The same seed gives the same disruptions, another seed gives others.
func TestRates_Seed(t *testing.T) {
	run := func(seed uint64) (time.Duration, float64) {
		r := play(t, spot(seed))
		return r.LastEnd, r.Cost
	}
	endA, costA := run(1)
	endB, costB := run(1)
	endC, _ := run(2)
	if endA != endB || costA != costB || endA == endC {
		t.Error(endA, endB, endC, costA, costB)
	}
}

// The cost is that of two nodes for the whole time. One node is busy for half an hour.
func TestCost(t *testing.T) {
	one := int32(1)
	spec := job.Spec{Completions: &one, Parallelism: &one}
	spec.Template.RestartPolicy = job.RestartNever
	r := play(t, World{Nodes: Nodes(2, Node{Price: 4}), Jobs: Of(Job{Name: "j", Spec: spec, Pod: Pod{Duration: Constant(30 * time.Minute)}})})
	if hours := r.LastEnd.Hours(); math.Abs(r.Cost-8*hours) > 1e-9 || math.Abs(r.CostBusy-2) > 1e-9 {
		t.Errorf("cost %v and %v in %v", r.Cost, r.CostBusy, r.LastEnd)
	}

	// While a job is open, the cost counts until the end that is set, even if nothing more happens. In a
	// simulation that is stopped early it counts until then.
	const hours = 3
	for name, w := range map[string]World{
		"a pod runs":       {Until: hours * time.Hour, Jobs: Of(Job{Name: "j", Spec: spec, Pod: Pod{Duration: Constant(5 * time.Hour)}})},
		"a pod never fits": {Until: hours * time.Hour, Jobs: Of(Job{Name: "j", Spec: spec, Pod: Pod{Resources: Resources{CPU: 9000}}})},
		"stopped":          {Until: hours * time.Hour, MaxEvents: 3, Jobs: Of(Job{Name: "j", Spec: spec, Pod: Pod{Duration: Constant(time.Hour)}})},
	} {
		w.Nodes = Nodes(2, Node{Price: 4, Resources: Resources{CPU: 1000}})
		r := play(t, w)
		want := 2 * 4 * float64(hours)
		if name == "stopped" {
			want = 2 * 4 * r.End.Hours()
		}
		if r.Open.Jobs != 1 || math.Abs(r.Cost-want) > 1e-9 {
			t.Errorf("%s: %d jobs open, cost %v, want %v", name, r.Open.Jobs, r.Cost, want)
		}
		isSoFar := func(m Metric) bool { return m.Name == "cost so far" && m.Value == r.Cost }
		if r.Cost > 0 && !slices.ContainsFunc(r.Figures(), isSoFar) {
			t.Errorf("%s: the figures are %v", name, r.Figures())
		}
	}

	// The cost counts until the last job ends, even if it ends immediately; its TTL does not count.
	// Without jobs, the cost counts until the last event.
	zero, ttl := int32(0), int32(3600)
	empty := job.Spec{Completions: &zero, Parallelism: &one, TTLSecondsAfterFinished: &ttl, Template: spec.Template}
	for want, jobs := range map[float64]iter.Seq2[Job, error]{0: Of(Job{Name: "j", Spec: empty}), 2: nil} {
		w := World{Nodes: Nodes(1, Node{Price: 4}), Jobs: jobs, Disruptions: []Disruption{{At: 30 * time.Minute, Kind: NodeDrained}}}
		if r := play(t, w); r.Cost != want || r.JobsComplete != r.JobsSubmitted {
			t.Errorf("cost %v, want %v", r.Cost, want)
		}
	}
}

// A lost node takes its pods with it. Pods are also evicted at a rate of their own.
func TestRates_LossesAndPods(t *testing.T) {
	w := spot(3)
	w.Nodes = Nodes(10, Node{Pods: 2, Losses: 1, Away: Constant(30 * time.Minute)})
	if lost := play(t, w); lost.JobsComplete != 1 || lost.Evictions == 0 {
		t.Fatalf("%+v", lost)
	}
	w = spot(3)
	w.Nodes = append(Nodes(3, Node{Pods: 2, Losses: 1, Preemptions: 1, Price: 1}), Node{Pods: 2})
	if r := play(t, w); r.NodesLost != 3 {
		t.Errorf("%d of 3 nodes are lost for good", r.NodesLost)
	}

	// A job waits for its only node, and no disruption is written to the world of the caller.
	w = spot(3)
	w.Nodes = Nodes(1, Node{Pods: 20, Losses: 1, Preemptions: 3, Away: Constant(10 * time.Minute), Price: 1})
	w.Disruptions = make([]Disruption, 0, 1000)
	only := play(t, w)
	kinds := map[DisruptionKind]float64{}
	for _, d := range only.Disruptions {
		kinds[d.Kind]++
	}
	if share := kinds[NodeLost] / (kinds[NodeLost] + kinds[NodeDrained]); only.JobsComplete != 1 ||
		share == 0 || share > 0.5 ||
		w.Disruptions[:1][0] != (Disruption{}) {
		t.Errorf("%d jobs complete, disrupted %v, %+v", only.JobsComplete, kinds, w.Disruptions[:1])
	}
	w = spot(3)

	w.Nodes = nil
	inner := w.Jobs
	w.Jobs = func(yield func(Job, error) bool) {
		for j, err := range inner {
			j.Pod.DisruptionRate = 6
			yield(j, err)
		}
	}
	evicted := play(t, w)
	if evicted.JobsComplete != 1 {
		t.Fatalf("%+v", evicted)
	}
	// Of pods that run for 5 minutes at 6 evictions an hour, 1-exp(-1/2) are evicted.
	if share := float64(evicted.Evictions) / float64(evicted.PodsCreated); math.Abs(share-0.393) > 0.07 {
		t.Errorf("%.3f of the pods are evicted", share)
	}
}
