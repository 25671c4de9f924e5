package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/batchplan/batchplan/job"
)

// A sketch has the same figures as the sorted list of its values, with quantiles within one
// percent, even if it is merged from parts.
func TestSketch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		var all, left, right Sketch
		var list []time.Duration
		var sum time.Duration
		spread := r.Float64() * 6
		for range n {
			d := time.Duration(float64(time.Second) * math.Exp(spread*r.NormFloat64()))
			if r.IntN(8) == 0 {
				d = time.Duration(r.IntN(2)) * time.Millisecond
			}
			list, sum = append(list, d), sum+d
			all.Add(d)
			if r.IntN(1+n%3) == 0 {
				left.Add(d)
			} else {
				right.Add(d)
			}
		}

		slices.Sort(list)
		left.Merge(&right)
		for name, s := range map[string]*Sketch{"added": &all, "merged": &left} {
			want := Sketch{N: int64(n), Sum: sum}
			mean := time.Duration(0)
			if n > 0 {
				want.Min, want.Max, mean = list[0], list[n-1], sum/time.Duration(n)
			}
			if s.N != want.N || s.Sum != want.Sum || s.Min != want.Min || s.Max != want.Max || s.Mean() != mean {
				t.Errorf("%s: %+v, want %+v", name, s, want)
			}

			for _, q := range []float64{0, 0.01, 0.25, 0.5, 0.9, 0.95, 1} {
				exact := time.Duration(0)
				if n > 0 {
					exact = list[max(int(math.Ceil(q*float64(n))), 1)-1]
				}
				most := 0.0101 * float64(exact)
				if exact < time.Millisecond {
					most = 1e6 // there is one bucket below it
				}
				have := s.Quantile(q)
				if off := math.Abs(float64(have - exact)); off > most || have < s.Min || have > s.Max {
					t.Errorf("%s: quantile %g of %d is %v, want %v", name, q, n, have, exact)
				}
			}
		}
	}

	var s Sketch
	if s.Add(-time.Second); s.Sum != 0 || s.Max != 0 || s.N != 1 {
		t.Errorf("a negative duration: %+v", s)
	}
}

// Quantiles agree with Student's table, and numbers have about four digits.
func TestEstimate(t *testing.T) {
	for n, want := range map[int]string{1: "12.706", 2: "4.303", 20: "2.086", 21: "2.079", 30: "2.042", 120: "1.980"} {
		if have := fmt.Sprintf("%.3f", student(n)); have != want {
			t.Errorf("%d: %s, want %s", n, have, want)
		}
	}
	for want, values := range map[string][]float64{
		"NaN": nil, "7": {7}, "3": {3, 3}, "2 ±2.48": {1, 2, 3}, "12.5 ±57.2": {8, 17}, "-0.5 ±6.35": {0, -1},
	} {
		if have := EstimateOf(values).String(); have != want {
			t.Errorf("%v: %s, want %s", values, have, want)
		}
	}
	for x, want := range map[float64]string{
		0: "0", 9.996: "10", 10.04: "10.0", 9999999: "9999999", 1e7: "10000000", 12345678.9: "12345679", 999.96: "1000.0", 1000.5: "1000", 0.12345: "0.123", -12.34: "-12.3", 10: "10",
	} {
		if have := Number(x); have != want {
			t.Errorf("%v: %s, want %s", x, have, want)
		}
	}
}

// A comparison prints as a table.
func TestComparison_String(t *testing.T) {
	c := &Comparison{
		Variants: []string{"few", "many nodes"}, Seeds: []uint64{4, 5, 6},
		Metrics: []Metric{{Name: "makespan", Unit: "s"}, {Name: "failed"}, {Name: "open"}},
		Values:  [][][]float64{{{10, 11, 12}, {1, 2, 0}, {0, 0, 0}}, {{5, 6, 8}, {0, 2, 2}, {0, 0, 0}}},
	}
	const want = `
  3 seeds, mean ±95%       few    many nodes
          makespan s  11 ±2.48    6.33 ±3.79
              failed   1 ±2.48  1.33 ±2.87 ~
~: may be chance: over these seeds, it cannot be told from few (95 percent)
`
	if d := cmp.Diff(want, "\n"+c.String()); d != "" {
		t.Error(d)
	}
	c.Values[1][1] = c.Values[0][1]
	if text := c.String(); strings.Contains(text, "~") {
		t.Error(text)
	}
	if have := c.Difference(1, 0); have != EstimateOf([]float64{-5, -5, -4}) {
		t.Errorf("the difference is %v", have)
	}
}

// Each makes one call for every number, runs as many calls concurrently as the limit allows, and
// returns the error of the lowest number.
func TestEach(t *testing.T) {
	for _, limit := range []int{1, 3, 50, 0} {
		cores := limit
		if cores == 0 {
			cores = runtime.GOMAXPROCS(0)
		}
		var running, most, calls atomic.Int64
		var all, one sync.WaitGroup // waits until the allowed number of calls run
		all.Add(min(cores, 20))
		done := make([]int, 20)
		before := runtime.NumGoroutine()
		err := Each(t.Context(), len(done), limit, func(_ context.Context, i int) error {
			n := running.Add(1)
			for was := most.Load(); n > was && !most.CompareAndSwap(was, n); was = most.Load() {
			}
			if i < min(cores, 20) {
				all.Done()
				all.Wait()
				if n := runtime.NumGoroutine() - before; n > min(cores, 20) {
					t.Errorf("%d cores: %d goroutines", cores, n)
				}
			}
			running.Add(-1)
			done[i]++
			return nil
		})
		if err != nil || most.Load() != int64(min(cores, 20)) || slices.Min(done) != 1 || slices.Max(done) != 1 {
			t.Errorf("%d cores: %d at a time, %v, %v", cores, most.Load(), done, err)
		}

		one.Add(min(cores-1, 1))
		err = Each(t.Context(), 1000, limit, func(_ context.Context, i int) error {
			switch calls.Add(1); i {
			case 0:
				one.Wait()
			case 1:
				defer one.Done()
			default:
				return nil
			}
			return fmt.Errorf("failed %d", i)
		})
		if err == nil || err.Error() != "failed 0" || cores == 1 && calls.Load() > 2 {
			t.Errorf("%d cores: %v after %d calls", cores, err, calls.Load())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Each(ctx, 3, 0, func(context.Context, int) error { return errors.New("called") }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// The check of a world reports all of its problems.
func TestWorld_Check(t *testing.T) {
	w := World{
		Until: -1, MaxRecords: -1,
		Nodes: []Node{{Name: "a", Pods: -1}, {Name: "b", Resources: Resources{CPU: -1}}, {Name: "c", Resources: Resources{Memory: -1}},
			{Name: "d", Losses: -1}, {Name: "e", Preemptions: math.NaN()}, {Name: "f", Price: math.Inf(1)}, {Name: "g", Pods: 1, Losses: 1, Preemptions: 1, Price: 1}},
		Disruptions:  []Disruption{{Node: -1}, {Node: 7}, {Node: 6, At: -1}, {Node: 0}},
		ControlPlane: ControlPlane{Fail: -0.1, LoseReply: math.NaN(), QPS: -1},
	}
	const want = `until: -1ns: must not be negative
maxRecords: -1: must not be negative
disruptions[0].node: -1: the world has 7 nodes
disruptions[1].node: 7: the world has 7 nodes
disruptions[2].at: -1ns: must not be negative
nodes[0]: a: has negative resources
nodes[1]: b: has negative resources
nodes[2]: c: has negative resources
nodes[3]: d: losses -1, preemptions 0, price 0: must be finite and not negative
nodes[4]: e: losses 0, preemptions NaN, price 0: must be finite and not negative
nodes[5]: f: losses 0, preemptions 0, price +Inf: must be finite and not negative
controlPlane.fail: -0.1: must be at least 0 and below 1
controlPlane.loseReply: NaN: must be at least 0 and below 1
controlPlane: qps -1, burst 0, workers 0: must not be negative`
	if d := cmp.Diff(want, fmt.Sprint(w.check())); d != "" {
		t.Error(d)
	}
	for _, p := range []ControlPlane{{Burst: -1}, {Workers: -1}, {Fail: 1}} {
		if p.check() == nil {
			t.Errorf("%+v is accepted", p)
		}
	}
	if p := (ControlPlane{Fail: 0.99, QPS: 1, Burst: 1, Workers: 1}); p.check() != nil {
		t.Error(p.check())
	}
	for until, want := range map[time.Duration]time.Duration{0: year, 1: 1, century + 1: century} {
		if have := (&World{Until: until}).end(); have != want {
			t.Errorf("until %v: %v", until, have)
		}
	}
}

// Rounds are repeated after 5 ms, 10 ms and so on, up to 1000 s, and no more than ten a second after the
// first hundred.
func TestController_RetryAt(t *testing.T) {
	e := &engine{now: int64(time.Hour)}
	c := &controller{engine: e}
	var have []time.Duration
	for _, failures := range []int{1, 2, 3, 18, 19, 99} {
		have = append(have, time.Duration(c.retryAt(failures)-e.now))
	}
	ms := time.Millisecond
	if want := []time.Duration{5 * ms, 10 * ms, 20 * ms, 655360 * ms,
		1000 * time.Second, 1000 * time.Second}; !slices.Equal(have, want) {
		t.Errorf("%v, want %v", have, want)
	}
	for range 94 {
		c.retryAt(1)
	}
	for _, want := range []time.Duration{100 * ms, 200 * ms, 300 * ms} {
		if have := time.Duration(c.retryAt(1) - e.now); have != want {
			t.Errorf("%v, want %v", have, want)
		}
	}
}

// The tree finds the same first node with room as a search of all nodes.
func TestNodes_First(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for size := 1; size < 20; size++ {
		specs := make([]Node, size)
		for i := range specs {
			specs[i] = Node{Pods: int32(r.IntN(3)), Resources: Resources{CPU: int64(r.IntN(5)), Memory: int64(r.IntN(5))}}
		}
		var n nodes
		n.init(specs, false)
		could := func(i int, need room) bool {
			s := &specs[i]
			return (s.CPU == 0 || s.CPU >= need.cpu) && (s.Memory == 0 || s.Memory >= need.memory)
		}
		for range 50 {
			i := r.IntN(size)
			n.all[i].room.pods, n.all[i].closed = int64(r.IntN(3)), r.IntN(4)/3
			n.update(i)

			need := room{1, int64(r.IntN(6)), int64(r.IntN(6))}
			want, ever := -1, false
			for i := range n.all {
				if want < 0 && n.all[i].closed == 0 && n.all[i].room.pods >= 1 && could(i, need) {
					want = i
				}
				ever = ever || could(i, need)
			}
			if have, ok := n.first(need); ok != (want >= 0) || ok && int(have) != want {
				t.Fatalf("%d nodes, need %+v: %d, %v, want %d", size, need, have, ok, want)
			}
			if have := n.couldFit(need); have != ever {
				t.Fatalf("%d nodes, need %+v: could fit is %v", size, need, have)
			}
		}
	}
}

// A quota admits the same jobs as a search of the whole line.
func TestQuota(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		q := &Quota{Pods: int32(r.IntN(8)), Backfill: r.IntN(2) == 0}
		var line, held []Request
		used := int32(0)
		for id := range int64(40) {
			switch {
			case len(held) > 0 && r.IntN(3) == 0:
				i := r.IntN(len(held))
				q.Finish(held[i])
				used -= held[i].Pods
				held = slices.Delete(held, i, i+1)
			case len(line) > 0 && r.IntN(6) == 0:
				i := r.IntN(len(line))
				q.Finish(line[i])
				line = slices.Delete(line, i, i+1)
			default:
				line = append(line, Request{ID: id, Pods: int32(r.IntN(10))})
				q.Submit(line[len(line)-1])
			}
			for {
				fits := func(x Request) bool { return used+x.Pods <= q.Pods || used == 0 }
				i := slices.IndexFunc(line, func(x Request) bool { return fits(x) || !q.Backfill })
				ok := i >= 0 && fits(line[i])
				want := Decision{}
				if ok {
					want = Decision{line[i].ID, true}
				}
				if have, has := q.Next(0); has != ok || have != want {
					t.Fatalf("quota of %d, %d used, line %v: %v, %v, want %v", q.Pods, used, line, have, has, want)
				}
				if !ok {
					break
				}
				used += line[i].Pods
				held = append(held, line[i])
				line = slices.Delete(line, i, i+1)
			}
		}
	}
}

// A bucket lets a burst through at once, and then one call at a time. It fills up while it is not
// used.
func TestBucket(t *testing.T) {
	const half = int64(time.Second / 2)
	var b bucket
	for i, step := range []struct{ now, want int64 }{
		{0, 0}, {0, 0}, {0, 0}, {0, half}, {0, 2 * half}, {1, 3 * half}, {100 * half, 100 * half}, {100 * half, 100 * half},
		{100 * half, 100 * half}, {100 * half, 101 * half}, {102 * half, 102 * half}, {102 * half, 103 * half},
	} {
		if got := b.take(step.now, 2, 3); got != step.want {
			t.Errorf("call %d at %v: at %v, want %v", i, time.Duration(step.now), time.Duration(got), time.Duration(step.want))
		}
	}
}

// A queue returns its items in the order in which they were pushed, and knows how many are left.
func TestFIFO(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var q fifo[int]
	var want []int
	for i := range 20_000 {
		if r.IntN(100) < 50+40*(1-i/5000%2*2) || len(want) == 0 {
			q.push(i)
			want = append(want, i)
		} else if have := q.pop(); have != want[0] {
			t.Fatalf("got %d, want %d", have, want[0])
		} else {
			want = want[1:]
		}
		if q.len() != len(want) || len(q.items) > 2*len(want)+130 {
			t.Fatalf("%d of %d places are used, want %d", q.len(), len(q.items), len(want))
		}
	}
}

// A pod is found by its UID as long as it exists, and not once another pod has its place.
func TestPodStore_Find(t *testing.T) {
	var s podStore
	first := s.add("a-")
	uid := s.all[first].UID
	s.all[first].of = &jobState{}
	if id, p := s.find(uid); id != first || p != &s.all[first] || s.all[first].Name != "a-"+string(uid) {
		t.Errorf("%s: %d, %v", uid, id, p)
	}
	s.free = append(s.free, first)
	s.all[s.add("b-")].of = &jobState{}
	for _, uid := range []job.UID{uid, "", "x!", "1", job.UID(strconv.FormatUint(1<<32|1, 36))} {
		if id, p := s.find(uid); id != -1 || p != nil {
			t.Errorf("%q: %d, %v", uid, id, p)
		}
	}
}

// The times of a status are cut to seconds, in a copy of its conditions.
func TestCutTimes(t *testing.T) {
	at := time.Unix(9, 0)
	cut := func(change, probe time.Duration) []job.Condition {
		return []job.Condition{{LastTransitionTime: at}, {LastTransitionTime: at.Add(change), LastProbeTime: at.Add(time.Minute + probe)}}
	}
	for _, by := range [][2]time.Duration{{0, 0}, {1, 0}, {0, 1}, {1, 2}} {
		given := cut(by[0], by[1])
		s := job.Status{Conditions: given, StartTime: at.Add(3), CompletionTime: at.Add(time.Second + 4)}
		cutTimes(&s)
		want := job.Status{Conditions: cut(0, 0), StartTime: at, CompletionTime: at.Add(time.Second)}
		if d := cmp.Diff(want, s); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(cut(by[0], by[1]), given); d != "" {
			t.Error("the status of the caller is written to", d)
		}
	}
}
