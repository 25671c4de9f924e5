package sim

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// year is the length of a simulation without an end.
const year = 365 * 24 * time.Hour

// end returns when the simulation ends.
func (w *World) end() time.Duration {
	if w.Until > 0 {
		return min(w.Until, century)
	}
	return year
}

// check refuses a world that cannot be simulated.
func (w *World) check() error {
	var problems []error
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	switch {
	case w.Until < 0:
		add("until: %v: must not be negative", w.Until)
	case w.Until == 0 && len(w.CronJobs) > 0:
		add("until: is required with CronJobs, which never end")
	}
	if w.MaxRecords < 0 {
		add("maxRecords: %d: must not be negative", w.MaxRecords)
	}

	for i, d := range w.Disruptions {
		if d.Node < 0 || d.Node >= len(w.Nodes) {
			add("disruptions[%d].node: %d: the world has %s", i, d.Node, value.Count(len(w.Nodes), "node"))
		}
		if d.At < 0 {
			add("disruptions[%d].at: %v: must not be negative", i, d.At)
		}
	}

	for i, n := range w.Nodes {
		if n.Pods < 0 || n.CPU < 0 || n.Memory < 0 {
			add("nodes[%d]: %s: has negative resources", i, n.Name)
		}
		rates := n.Losses + n.Preemptions + n.Price
		if !(n.Losses >= 0 && n.Preemptions >= 0 && n.Price >= 0) || math.IsInf(rates, 0) {
			add("nodes[%d]: %s: losses %v, preemptions %v, price %v: must be finite and not negative",
				i, n.Name, n.Losses, n.Preemptions, n.Price)
		}
	}
	w.checkScales(add)
	return errors.Join(append(problems, w.ControlPlane.check())...)
}

// checkScales refuses groups of an autoscaler that make no sense.
func (w *World) checkScales(add func(format string, args ...any)) {
	sizes, rooms := make(map[*Scale]int), make(map[*Scale]room)
	for i := range w.Nodes {
		n := &w.Nodes[i]
		if sizes[n.Scale]++; sizes[n.Scale] == 1 {
			rooms[n.Scale] = roomOf(n)
		}
	}
	for i, n := range w.Nodes {
		s := n.Scale
		if s != nil && n.Losses+n.Preemptions > 0 {
			add("nodes[%d]: %s: scale: such a node cannot be lost or preempted by chance", i, n.Name)
		}
		switch {
		case s == nil:
		case roomOf(&n) != rooms[s]:
			add("nodes[%d]: %s: scale: the nodes of a group must have the same room", i, n.Name)
		case sizes[s] == 0: // checked with the first node of the group
		case s.Min < 0 || s.Min > sizes[s]:
			add("nodes[%d]: %s: scale.min: %d: must be from 0 to the %s of the group", i, n.Name, s.Min,
				value.Count(sizes[s], "node"))
		case min(s.Wait, s.Idle) < 0 || max(s.Wait, s.Idle) > century:
			add("nodes[%d]: %s: scale: wait %v, idle %v: must be from 0 to %v", i, n.Name, s.Wait, s.Idle, century)
		}
		sizes[s] = 0
	}
}

func (p *ControlPlane) check() error {
	var problems []error
	for _, share := range []struct {
		name string
		of   float64
	}{{"fail", p.Fail}, {"loseReply", p.LoseReply}} {
		if !(share.of >= 0 && share.of < 1) {
			problems = append(problems, fmt.Errorf("controlPlane.%s: %v: must be at least 0 and below 1",
				share.name, share.of))
		}
	}

	if p.QPS < 0 || p.Burst < 0 || p.Workers < 0 {
		problems = append(problems, fmt.Errorf("controlPlane: qps %v, burst %d, workers %d: must not be negative",
			p.QPS, p.Burst, p.Workers))
	}
	return errors.Join(problems...)
}

// problem returns an error about a job or CronJob.
func problem(source, name, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if source == "" {
		return fmt.Errorf("%s: %s", name, text)
	}
	return fmt.Errorf("%s: %s: %s", source, name, text)
}
