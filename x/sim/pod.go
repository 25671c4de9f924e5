package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Pod describes how the pods of a job behave.
type Pod struct {
	Resources
	// Schedule is how long the scheduler takes before it looks at the pod for the first time.
	Schedule Dist
	// Pull and Init are the times between the binding to a node and the start of the containers.
	Pull, Init Dist
	// Ready is the time from the start of the containers to readiness.
	Ready Dist
	// Duration is the time from the start of the containers to their end.
	Duration Dist
	// Quorum is the number of pods of the job that must run before the work of any of them begins, as
	// in a training that synchronizes its workers. Until then the pods only occupy their nodes.
	// Duration and the times of failures and evictions count from the beginning of the work. While one
	// pod works, a new pod begins its work immediately. A pod that starts when too few others are left
	// never works: with 3 completions and 2 pods at a time, the last pod is alone. Zero means that
	// each pod works on its own.
	Quorum int32
	// Failure is the probability that a pod fails. Disruption is the probability that it is evicted
	// while it runs.
	Failure, Disruption float64
	// DisruptionRate is the average number of evictions of a running pod per hour.
	DisruptionRate float64
	// FailAfter is when failing pods fail; zero means after a uniformly distributed part of the duration.
	FailAfter Dist
	// ExitCode is the exit code of failed pods; zero means 1.
	ExitCode int32
	// FailIn are times in which every running pod fails, for example since a service that the pods
	// need is down. A pod fails a time FailAfter after the window begins, or after its own start if
	// that is later.
	FailIn []Window
	// Stop is how long a running pod takes to end once it is deleted. After its grace period it is
	// killed.
	Stop Dist
	// Grace is the termination grace period; zero means 30 seconds, and a negative value none.
	Grace time.Duration
	// Behave, if set, may change the drawn Life at each start of a container. It must not depend on
	// anything but its arguments.
	Behave func(Start, *Life, *rand.Rand)
}

// Start is the start of a pod's container.
type Start struct {
	Job string
	// Number is the number of the pod in its job, from 0, and Index its completion index, or
	// -1.
	Number, Index int32
	// Restart counts the restarts of the container, with restartPolicy OnFailure.
	Restart int32
	At      time.Duration
	// Node is the place of the pod's node in World.Nodes, or -1.
	Node int32
}

// Life is what a container does once it has started.
type Life struct {
	For      time.Duration
	ExitCode int32
	// Disrupted pods are evicted by their node and get the condition DisruptionTarget.
	Disrupted bool
}

// validate refuses numbers that mean nothing, NaN among them.
func (p *Pod) validate() error {
	switch rate := p.DisruptionRate; {
	case p.Quorum < 0:
		return fmt.Errorf("quorum: %d: must not be negative", p.Quorum)
	case !(p.Failure >= 0 && p.Failure <= 1):
		return fmt.Errorf("failure: %v: must be from 0 to 1", p.Failure)
	case !(p.Disruption >= 0 && p.Disruption <= 1):
		return fmt.Errorf("disruption: %v: must be from 0 to 1", p.Disruption)
	case !(rate >= 0) || math.IsInf(rate, 0):
		return fmt.Errorf("disruptionRate: %v: must not be negative or infinite", rate)
	}
	return nil
}

// run draws what the container does.
func (p *Pod) run(s Start, r *rand.Rand) Life {
	run := Life{For: p.Duration.Draw(r)}
	failure, disruption, part := r.Float64(), r.Float64(), r.Float64()
	burst, inBurst := p.burst(s.At, run.For)

	switch {
	case inBurst:
		run.ExitCode, run.For = p.failureCode(), burst+p.failsAfter(run.For, part, r)
	case failure < p.Failure:
		run.ExitCode, run.For = p.failureCode(), p.failsAfter(run.For, part, r)
	case disruption < p.Disruption:
		run.Disrupted, run.ExitCode, run.For = true, exitKilled, time.Duration(part*float64(run.For))
	}

	if p.DisruptionRate > 0 {
		if at := eachHour(p.DisruptionRate, r); at < run.For {
			run = Life{For: at, ExitCode: exitKilled, Disrupted: true}
		}
	}

	if p.Behave != nil {
		return p.behave(s, run, r)
	}
	return run
}

// behave calls Behave. It is a function of its own, because the call moves the Life to the heap.
func (p *Pod) behave(s Start, life Life, r *rand.Rand) Life {
	p.Behave(s, &life, r)
	return life
}

func (p *Pod) failureCode() int32 {
	if p.ExitCode != 0 {
		return p.ExitCode
	}
	return 1
}

func (p *Pod) failsAfter(duration time.Duration, part float64, r *rand.Rand) time.Duration {
	if p.FailAfter.IsZero() {
		return time.Duration(part * float64(duration))
	}
	return p.FailAfter.Draw(r)
}

// burst returns how long a pod that starts at the given time runs until the next moment in FailIn.
// It returns false if the pod ends before that moment.
func (p *Pod) burst(at, duration time.Duration) (after time.Duration, meets bool) {
	for _, w := range p.FailIn {
		if begin := max(w.From, at); begin < w.From+w.For && begin <= at+duration {
			return begin - at, true
		}
	}
	return 0, false
}

// The exit codes of stopped containers: after SIGTERM within the grace period, and killed after it.
const (
	exitStopped = 143
	exitKilled  = 137
)

// defaultGrace is the termination grace period of a pod that names none.
const defaultGrace = 30 * time.Second
