package sim

import (
	"math/rand/v2"
	"time"
)

// plane plays the control plane.
type plane struct {
	spec    *ControlPlane
	skew    time.Duration
	workers int
	latency Dist
	// waits is true if calls take time or are limited.
	waits bool
	rand  *rand.Rand
	// downs counts the outages of the controllers that are under way.
	downs int
}

func (p *plane) init(w *World) {
	p.spec = &w.ControlPlane
	p.skew = p.spec.Skew
	p.latency = p.spec.Latency
	p.waits = !p.latency.IsZero() || p.spec.QPS > 0
	p.rand = rand.New(rand.NewPCG(w.Seed, 1))

	p.workers = 1
	if p.waits {
		p.workers = 5
		if p.spec.Workers > 0 {
			p.workers = p.spec.Workers
		}
	}
}

// isDirect reports whether calls take no time and never fail.
func (p *plane) isDirect() bool {
	isReliable := p.spec.Fail == 0 && p.spec.LoseReply == 0 && len(p.spec.Outages) == 0
	return !p.waits && isReliable
}

// isServerDown reports whether the API server refuses calls.
func (p *plane) isServerDown(at time.Duration) bool {
	for _, o := range p.spec.Outages {
		if o.Of == APIServer && o.contains(at) {
			return true
		}
	}
	return false
}

// call makes a write of a round, after its delay. Concurrent calls wait for the latency together:
// it is added only for the first one, and for calls that the rate limit delays.
func (p *plane) call(w *worker, first bool, write func() error) error {
	e := w.of.engine
	if p.waits && !w.pause(p.delay(w.of, first)) {
		return errDown
	}

	e.result.Writes++
	if p.isServerDown(time.Duration(e.now)) {
		e.result.Faults++
		return errDown
	}

	if p.spec.Fail == 0 && p.spec.LoseReply == 0 {
		return write()
	}

	fate := p.rand.Float64()
	if fate < p.spec.Fail {
		e.result.Faults++
		return errFault
	}

	err := write()
	if fate < p.spec.Fail+p.spec.LoseReply {
		e.result.Faults++
		return errFault
	}
	return err
}

// delay returns how long a call takes if it is made now.
func (p *plane) delay(c *controller, first bool) int64 {
	now := c.engine.now
	at := now
	if p.spec.QPS > 0 {
		at = c.calls.take(now, p.spec.QPS, max(p.spec.Burst, 1))
	}

	if first || at > now {
		at += int64(p.latency.Draw(p.rand))
	}
	return at - now
}
