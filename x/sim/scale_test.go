package sim

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
)

// TestScale: when nodes are added and removed, and what they cost. A node costs 1 for each second.
func TestScale(t *testing.T) {
	const sec, min = time.Second, time.Minute
	tasks := func(at time.Duration, pods int32) Job {
		return Job{Name: fmt.Sprint("j", at.Seconds()), Submit: at, Spec: Spec(pods, pods), Pod: Pod{Duration: Constant(min)}}
	}
	gang := func(at time.Duration, pods int32) Job {
		return Job{Name: "g", Submit: at, Spec: ganged(pods, pods, 0), Pod: Pod{Duration: Constant(min)}, Options: gangJob("", ganged(1, 1, 0)).Options}
	}
	large := gang(0, 6)
	large.Name = "large"
	for _, test := range []struct {
		name  string
		nodes int
		scale Scale
		jobs  []Job
		// bound are the times at which the pods of the last job get nodes.
		bound string
		added int64
		// cost is the cost up to the end of the last pod. The controller then needs a few seconds
		// to end the job, in which the nodes also cost something.
		cost float64
	}{
		{"a node is added at the next look, and starts", 2, Scale{Start: Constant(90 * sec), Idle: 10 * min}, []Job{tasks(0, 1)}, "100", 1, 150},
		{"a pod that has waited just long enough", 2, Scale{Wait: 10 * sec}, []Job{tasks(0, 1)}, "10", 1, 60},
		{"a pod that has not waited for long enough", 2, Scale{Wait: 10*sec + 1}, []Job{tasks(0, 1)}, "20", 1, 60},
		{"a pod that comes at a look is seen by the next", 2, Scale{}, []Job{tasks(10*sec, 1)}, "20", 1, 60},
		{"no more nodes than the group has", 2, Scale{Start: Constant(20 * sec)}, []Job{tasks(0, 3)}, "30 30 90", 2, 140 + 90},
		{"no more nodes than pods need", 5, Scale{Start: Constant(20 * sec)}, []Job{tasks(0, 3)}, "30 30 30", 3, 3 * 80},
		{"the least nodes are there from the beginning", 3, Scale{Min: 1, Start: Constant(20 * sec)}, []Job{tasks(0, 2)}, "0 30", 1, 70 + 80},
		{"the least nodes stay", 3, Scale{Min: 1}, []Job{tasks(0, 1), tasks(10*min, 1)}, "600", 0, 660},
		{"pods that come while a node starts", 3, Scale{Start: Constant(30 * sec), Idle: min}, []Job{tasks(0, 1), tasks(15*sec, 1)}, "50", 2, 100 + 90},
		{"a node is idle for less than the limit", 1, Scale{Idle: 50 * sec}, []Job{tasks(0, 1), tasks(119*sec, 1)}, "119", 1, 169},
		{"a node is idle for the limit", 1, Scale{Idle: 50 * sec}, []Job{tasks(0, 1), tasks(121*sec, 1)}, "130", 2, 110 + 60},
		{"a node is removed at the look after the limit", 1, Scale{Idle: 50*sec + 1}, []Job{tasks(0, 1), tasks(129*sec, 1)}, "129", 1, 179},
		{"a gang gets all its nodes", 4, Scale{Start: Constant(20 * sec), Idle: min}, []Job{gang(0, 3)}, "30 30 30", 3, 3 * 80},
		{"nothing is added for a gang that is too large", 2, Scale{}, []Job{gang(0, 3)}, "never never never", 0, 0},
		{"a gang that is too large takes no room from the next", 5, Scale{Min: 2}, []Job{large, gang(0, 4)}, "10 10 10 10", 2, 2*3600 + 2*70},
		{"a gang gets the nodes that its other pods lack", 3, Scale{Min: 1, Start: Constant(20 * sec)}, []Job{gang(0, 3)}, "30 30 30", 2, 90 + 2*80},
		{"a gang waits for pods of others, and for nodes that were removed", 3, Scale{Start: Constant(20 * sec)},
			[]Job{tasks(0, 1), {Name: "long", Spec: Spec(1, 1), Pod: Pod{Duration: Constant(300 * sec)}}, gang(200*sec, 3)}, "360 360 360", 4, 90 + 410 + 2*80},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := World{Until: time.Hour, Nodes: Nodes(test.nodes, Node{Pods: 1, Price: 3600, Scale: &test.scale}), Jobs: Of(test.jobs...)}
			r := play(t, w)
			if got := boundAt(r, test.jobs[len(test.jobs)-1].Name); got != test.bound {
				t.Errorf("the pods get nodes at %s, want %s", got, test.bound)
			}
			if off := r.Cost - test.cost; r.NodesAdded != test.added || off < -0.01 || off > 4*float64(test.nodes) {
				t.Errorf("%d nodes added, cost %v; want %d, %v", r.NodesAdded, r.Cost, test.added, test.cost)
			}
		})
	}
}

// TestScale_AfterTheEnd: a node that would be removed after the last job has ended costs nothing
// from then on, and does not end the world before its last event.
func TestScale_AfterTheEnd(t *testing.T) {
	world := func(disruptions ...Disruption) *Result {
		return play(t, World{
			Until: time.Hour, Nodes: Nodes(2, Node{Pods: 1, Price: 3600, Scale: &Scale{Idle: 10 * time.Second}}),
			Jobs:        Of(Job{Name: "j", Spec: Spec(1, 1), Pod: Pod{Duration: Constant(time.Minute)}}),
			Disruptions: disruptions,
		})
	}
	drain := Disruption{Kind: NodeDrained, Node: 1, At: 30 * time.Minute}
	if got, want := world(drain), world().Cost; got.Cost != want || got.End != drain.At {
		t.Errorf("cost %v until %v, want %v until %v", got.Cost, got.End, want, drain.At)
	}
}

// TestScale_Groups: a pod gets a node of the first group that has room for it, if it has waited long
// enough for that group.
func TestScale_Groups(t *testing.T) {
	small, large := &Scale{Start: Constant(5 * time.Second)}, &Scale{Wait: 30 * time.Second}
	for _, test := range []struct {
		cpu   int64
		bound string
		node  int32
	}{{1000, "15", 0}, {4000, "30", 1}, {9000, "never", -1}} {
		w := World{Until: time.Hour, Nodes: []Node{
			{Name: "small", Resources: Resources{CPU: 2000}, Scale: small}, {Name: "large", Resources: Resources{CPU: 8000}, Scale: large},
		}, Jobs: Of(Job{Name: "j", Spec: Spec(1, 1), Pod: Pod{Duration: Constant(time.Minute), Resources: Resources{CPU: test.cpu}}})}
		if r := play(t, w); boundAt(r, "j") != test.bound || r.Pods[0].Node != test.node {
			t.Errorf("cpu %d: bound at %s on node %d, want %s and %d", test.cpu, boundAt(r, "j"), r.Pods[0].Node, test.bound, test.node)
		}
	}
}

// TestScale_Drawn: with an autoscaler, random worlds always go the same way, and their records add up.
// Nodes cost no more than nodes that are always there, and no less than the time with pods.
func TestScale_Drawn(t *testing.T) {
	added := int64(0)
	for seed := range uint64(150) {
		draw := func() World {
			w := drawWorld(seed)
			w.ControlPlane.Skew = 0 // with a clock that is ahead, a run has a job before it is due
			drawGangs(&w, seed)
			for i, s := 0, (*Scale)(nil); i < len(w.Nodes); i++ {
				if i == 0 || seed%3 == 0 || roomOf(&w.Nodes[i]) != roomOf(&w.Nodes[i-1]) {
					s = &Scale{Wait: time.Duration(seed%4) * 7 * time.Second, Start: Uniform(0, time.Duration(seed%90)*time.Second), Idle: time.Duration(seed%7) * 20 * time.Second}
				}
				n := &w.Nodes[i]
				n.Losses, n.Preemptions, n.Scale = 0, 0, s
			}
			if len(w.Nodes) > 1 && seed%3 > 0 {
				w.Nodes[0].Scale.Min = int(seed % 2)
			}
			return w
		}
		w := draw()
		r, err := Run(t.Context(), draw())
		must.OK(t, err)
		if w.Admission == nil { // an edit may resume a job before it is admitted
			audit(t, &w, r)
		}
		again, err := Run(t.Context(), draw())
		must.OK(t, err)
		if d := gocmp.Diff(r, again, gocmp.AllowUnexported(Sketch{})); d != "" {
			t.Fatalf("world %d:\n%s", seed, d)
		}
		added += r.NodesAdded
	}
	if added < 150 {
		t.Errorf("only %d nodes were added", added)
	}
}

// TestScale_Drained: a node that is drained while it is not there cannot be added, not even for a
// gang, until it may be used again. For a node that is drained while it starts, the next look adds
// another one.
func TestScale_Drained(t *testing.T) {
	const sec = time.Second
	for _, test := range []struct {
		spec            job.Spec
		start, at, back time.Duration
		added           int64
		bound           string
	}{
		{Spec(1, 1), 0, 1, 0, 1, "10"},
		{ganged(2, 2, 0), 0, 1, 0, 0, "never never"},
		{ganged(2, 2, 0), 0, 1, 5 * time.Minute, 2, "310 310"},
		{Spec(1, 1), time.Minute, 15 * sec, 0, 2, "80"},
		{Spec(1, 1), time.Minute, 15 * sec, 20*sec + 1, 2, "70"},
		{Spec(1, 1), time.Minute, 15 * sec, 20*sec - 1, 1, "70"},
		{ganged(2, 2, 0), time.Minute, 15 * sec, 0, 2, "never never"},
	} {
		r := play(t, World{
			Until: time.Hour, Nodes: Nodes(2, Node{Pods: 1, Scale: &Scale{Start: Constant(test.start)}}),
			Disruptions: []Disruption{{Kind: NodeDrained, At: test.at, Back: test.back}},
			Jobs:        Of(Job{Name: "j", Submit: sec, Spec: test.spec, Pod: Pod{Duration: Constant(time.Minute)}, Options: gangJob("", test.spec).Options}),
		})
		if got := boundAt(r, "j"); r.NodesAdded != test.added || got != test.bound {
			t.Errorf("start %s, drained from %s to %s: %d nodes added, bound at %s; want %d, %s",
				test.start, test.at, test.back, r.NodesAdded, got, test.added, test.bound)
		}
	}
}

// TestScale_Refused: a Scale that makes no sense for an autoscaler is an error that names the node.
func TestScale_Refused(t *testing.T) {
	s := &Scale{}
	for want, nodes := range map[string][]Node{
		"scale.min: 2: must be from 0 to the 1 node of the group":               {{Name: "a", Scale: &Scale{Min: 2}}},
		"must be from 0 to 876000h0m0s":                                         {{Name: "a", Scale: &Scale{Idle: math.MaxInt64}}},
		"wait -1ns":                                                             {{Name: "a", Scale: &Scale{Wait: -1}}},
		"nodes[1]: b: scale: the nodes of a group must have the same room":      {{Name: "a", Scale: s}, {Name: "b", Pods: 3, Scale: s}},
		"nodes[0]: a: scale: such a node cannot be lost or preempted by chance": {{Name: "a", Losses: 1, Scale: &Scale{Min: 2}}},
	} {
		_, err := Run(t.Context(), World{Until: time.Hour, Nodes: nodes})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestScale_Bounds: both sides of the bounds of a group.
func TestScale_Bounds(t *testing.T) {
	for _, c := range []struct {
		scale   Scale
		node    Node
		refused bool
	}{
		{Scale{}, Node{}, false},
		{Scale{Min: 2}, Node{}, false},
		{Scale{Min: 3}, Node{}, true},
		{Scale{Min: -1}, Node{}, true},
		{Scale{Wait: century, Idle: century}, Node{}, false},
		{Scale{Wait: century + 1}, Node{}, true},
		{Scale{Idle: century + 1}, Node{}, true},
		{Scale{Wait: -1, Idle: 1}, Node{}, true},
		{Scale{Wait: 1, Idle: -1}, Node{}, true},
		{Scale{}, Node{Losses: 0.1}, true},
		{Scale{}, Node{Preemptions: 0.1}, true},
		{Scale{}, Node{Price: 1, Pods: 3}, false},
	} {
		other := Node{Name: "other", Losses: 1} // of no group
		c.node.Scale = &c.scale
		w := World{Until: time.Hour, Nodes: []Node{other, c.node, c.node}}
		if err := w.check(); (err != nil) != c.refused {
			t.Errorf("%+v, %+v: %v", c.scale, c.node, err)
		}
	}
}
