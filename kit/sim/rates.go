package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// ParseRate reads how often something happens, as times an hour: "5%/h" happens within an hour in 5 of
// 100 cases, "2/d" twice a day on average. Units are h, d and w.
func ParseRate(text string) (float64, error) {
	amount, unit, ok := strings.Cut(text, "/")
	hours, known := map[string]float64{"h": 1, "d": 24, "w": 168}[unit]
	number, share := strings.CutSuffix(amount, "%")
	x, err := strconv.ParseFloat(number, 64)
	switch {
	case !ok || !known || err != nil || math.IsNaN(x) || math.IsInf(x, 0):
		return 0, fmt.Errorf("%q is not a rate such as 5%%/h or 2/d", text)
	case x < 0:
		return 0, fmt.Errorf("%q: must not be negative", text)
	case share && x >= 100:
		return 0, fmt.Errorf("%q: must be below 100%%", text)
	case share:
		x = -math.Log1p(-x / 100)
	}
	return x / hours, nil
}

// eachHour draws the time until something happens that happens so many times an hour.
func eachHour(rate float64, r *rand.Rand) time.Duration {
	return max(seconds(3600/rate*r.ExpFloat64()), 1)
}

// forNodes tells the draws about nodes from those about pods.
const forNodes = 0x6e6f6465732d6279

// fate is what is going to happen to a node by chance.
type fate struct {
	drawn int // how often it was drawn
	kind  DisruptionKind
	away  time.Duration
	// since is when the node has gone, or -1, and gone for how long it was gone before.
	since, gone int64
}

// hasRates reports whether nodes are disrupted by chance.
func hasRates(nodes []Node) bool {
	for i := range nodes {
		if nodes[i].Losses+nodes[i].Preemptions > 0 {
			return true
		}
	}
	return false
}

// hasWork reports whether a job is open or may come.
func (e *engine) hasWork() bool {
	r := e.result
	return e.arrivals != nil || len(e.crons) > 0 || r.JobsSubmitted > r.JobsComplete+r.JobsFailed
}

// drawFate plans the next disruption of a node.
func (e *engine) drawFate(node int32) {
	n := &e.nodes.all[node]
	rate := n.spec.Losses + n.spec.Preemptions
	if rate <= 0 {
		return
	}
	f := &n.fate
	f.drawn++
	r := e.chance.of(forNodes, node, purpose(f.drawn))
	at := e.now + int64(eachHour(rate, r))
	f.kind = NodeDrained
	if r.Float64()*rate < n.spec.Losses {
		f.kind = NodeLost
	}
	if f.away = n.spec.Away.Draw(r); at <= e.until {
		e.idle++
		e.at(at, evFate, node, 0)
	}
}

// meetFate disrupts a node by chance. Once all jobs have ended nothing more happens to nodes.
func (e *engine) meetFate(node int32) {
	if e.idle--; !e.hasWork() {
		return
	}
	f := &e.nodes.all[node].fate
	f.since = e.now
	d := Disruption{Kind: f.kind, Node: int(node), At: time.Duration(e.now)}
	if f.away > 0 {
		if d.Back = d.At + f.away; int64(d.Back) <= e.until {
			e.idle++
		}
	}
	e.world.Disruptions = append(e.world.Disruptions, d)
	e.result.NodesLost++
	e.disrupt(int32(len(e.world.Disruptions) - 1))
}

// isBack ends what chance has done to a node.
func (e *engine) isBack(node int32) {
	f := &e.nodes.all[node].fate
	e.idle--
	until := e.now
	if !e.hasWork() {
		until = max(int64(e.result.LastEnd), f.since) // what is counted ends there
	}
	f.gone += until - f.since
	f.since = -1
	e.drawFate(node)
}

// costs sums what the nodes cost until a time: all the time that they are there, and while they have pods.
func (n *nodes) costs(end int64) (all, busy float64) {
	const hour = float64(time.Hour)
	for i := range n.all {
		m := &n.all[i]
		there, used := end-m.fate.gone, m.busy
		if m.fate.since >= 0 {
			there -= max(end-m.fate.since, 0)
		}
		if m.count > 0 {
			used += max(end-m.busySince, 0)
		}
		all += m.spec.Price * float64(max(there, 0)) / hour
		busy += m.spec.Price * float64(used) / hour
	}
	return all, busy
}
