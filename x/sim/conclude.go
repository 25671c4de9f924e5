package sim

import (
	"fmt"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// conclude fills in the figures of the end, such as open jobs and the costs of nodes.
func (e *engine) conclude() {
	r := e.result
	r.Start, r.End = e.start, time.Duration(e.now)
	e.record.join()

	for _, o := range e.world.ControlPlane.Outages {
		if o.From <= r.End {
			r.Outages = append(r.Outages, o)
		}
	}
	for _, d := range e.world.Disruptions {
		if d.At <= r.End {
			r.Disruptions = append(r.Disruptions, d)
		}
	}

	for _, js := range e.jobs {
		if js.gone || js.finished {
			continue
		}
		r.Open.Jobs++
		if s := js.spec().Suspend; s != nil && *s {
			r.Open.Suspended++
		}
		if len(r.Open.Names) < 3 {
			r.Open.Names = append(r.Open.Names, js.truth.Name)
		}
		if r.Open.Jobs == 1 {
			r.Open.Why = e.why(js)
		}
	}

	for i := range e.pods.all {
		switch p := &e.pods.all[i]; {
		case p.of == nil:
		case p.state == podRunning:
			r.Open.Running++
		case p.state != podEnded:
			r.Open.Pending++
		}
	}

	for _, cs := range e.crons {
		if !cs.ran {
			r.Open.Idle = append(r.Open.Idle, cs.of.Name)
		}
	}

	end := r.End
	switch {
	case r.Open.Jobs == 0 && r.JobsSubmitted > 0 && len(e.crons) == 0:
		end = r.LastEnd
	case r.Stopped == "" && (e.world.Until > 0 || r.Open.Events > 0):
		end = e.world.end() // the nodes are there after the last event as well
	}
	r.Cost, r.CostBusy = e.nodes.costs(int64(end))
}

// why explains what an open job waits for.
func (e *engine) why(js *jobState) string {
	s := js.snap
	s.Now = e.clock()
	for id := js.pods; id >= 0; id = e.pods.all[id].next {
		if p := &e.pods.all[id]; p.state == podPending {
			need := needOf(p)
			if !e.nodes.couldFit(need) {
				return fmt.Sprintf("has a pod that fits on no node: it needs cpu %dm, memory %d", need.cpu, need.memory)
			}
		}
	}

	if why := js.gang.why(e); why != "" {
		return why
	}
	if idle := e.idlePods(js); idle > 0 {
		return fmt.Sprintf("has %s that cannot begin before %d run", value.Count(idle, "pod"), js.of.Pod.Quorum)
	}

	w := worker{}
	plan, err := w.planner.Reconcile(&s)
	if err != nil || len(plan.Waits) == 0 {
		return ""
	}
	return "waits: " + plan.Waits[0].String()
}
