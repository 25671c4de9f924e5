package scenario

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/batchplan/batchplan/x/sim"
)

// Prefix is the beginning of the annotations that define how the pods of a manifest behave, as in
// batchsim.batchplan/duration.
const Prefix = "batchsim.batchplan/"

// Behaviour defines how the pods of some jobs behave. One of its keys is match, a pattern for the
// names of jobs and CronJobs. The other keys are names of annotations without Prefix. Their values
// have the same form as in annotations.
type Behaviour struct {
	match  string
	values []setting
}

type setting struct {
	key, value string
	line       int
}

// UnmarshalYAML reads a behaviour.
func (b *Behaviour) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: is not a map of a match and values", n.Line)
	}
	var probe sim.Pod
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Value == "match" {
			if _, err := path.Match(value.Value, ""); err != nil {
				return fmt.Errorf("line %d: match: %q is not a pattern such as \"render-*\"", value.Line, value.Value)
			}
			b.match = value.Value
			continue
		}
		if err := apply(&probe, key.Value, value.Value); err != nil {
			return fmt.Errorf("line %d: %w", key.Line, err)
		}
		b.values = append(b.values, setting{key.Value, value.Value, key.Line})
	}
	return nil
}

// shape applies the behaviour to the pods of a job, if its name matches.
func (b *Behaviour) shape(p *sim.Pod, name string) {
	if ok, _ := path.Match(b.match, name); b.match != "" && !ok {
		return
	}
	for _, s := range b.values {
		_ = apply(p, s.key, s.value) // UnmarshalYAML has checked the value
	}
}

// keys has the name of each value, and a function that sets it.
var keys = []struct {
	name  string
	apply func(p *sim.Pod, value string) error
}{
	{"duration", dist(func(p *sim.Pod) *sim.Dist { return &p.Duration })},
	{"schedule", dist(func(p *sim.Pod) *sim.Dist { return &p.Schedule })},
	{"pull", dist(func(p *sim.Pod) *sim.Dist { return &p.Pull })},
	{"init", dist(func(p *sim.Pod) *sim.Dist { return &p.Init })},
	{"ready", dist(func(p *sim.Pod) *sim.Dist { return &p.Ready })},
	{"stop", dist(func(p *sim.Pod) *sim.Dist { return &p.Stop })},
	{"failAfter", func(p *sim.Pod, value string) error {
		d, err := sim.ParseDist(value)
		failAfter(p, d)
		return err
	}},
	{"failure", share(func(p *sim.Pod) *float64 { return &p.Failure })},
	{"disruption", func(p *sim.Pod, value string) (err error) {
		if strings.Contains(value, "/") {
			p.DisruptionRate, err = parseRate(value)
			return err
		}
		return share(func(p *sim.Pod) *float64 { return &p.Disruption })(p, value)
	}},
	{"quorum", func(p *sim.Pod, value string) error {
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || n < 1 || n > maxCount {
			return fmt.Errorf("%q is not a number from 1 to %d", value, maxCount)
		}
		p.Quorum = int32(n)
		return nil
	}},
	{"exitCode", func(p *sim.Pod, value string) error {
		code, err := strconv.ParseInt(value, 10, 32)
		if err != nil || code < 1 || code > 255 {
			return fmt.Errorf("%q is not a number from 1 to 255", value)
		}
		p.ExitCode = int32(code)
		return nil
	}},
	{"failIn", func(p *sim.Pod, value string) (err error) {
		p.FailIn, err = windows(value)
		return err
	}},
	{"grace", func(p *sim.Pod, value string) error {
		var d time.Duration
		if err := duration(&d, value); err != nil {
			return err
		}
		if d > maxGrace*time.Second {
			return fmt.Errorf("%v: must be from 0 to %d seconds", d, maxGrace)
		}
		grace(p, d)
		return nil
	}},
	{"cpu", amount(func(p *sim.Pod, q *Quantity) { p.CPU = q.milli() })},
	{"memory", amount(func(p *sim.Pod, q *Quantity) { p.Memory = q.bytes() })},
}

// apply sets one value.
func apply(p *sim.Pod, key, value string) error {
	var names []string
	for _, k := range keys {
		if k.name == key {
			if err := k.apply(p, value); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			return nil
		}
		names = append(names, k.name)
	}
	return fmt.Errorf("%s: %w", key, noSuch("value", key, names))
}

// failAfter sets when failing pods fail. It replaces 0 by a nanosecond, because in a simulation 0
// means that a pod fails after a part of its duration.
func failAfter(p *sim.Pod, d sim.Dist) {
	if p.FailAfter = d; d.IsZero() {
		p.FailAfter = sim.Constant(1)
	}
}

// maxGrace is the longest grace period, in seconds.
const maxGrace = math.MaxInt32

// grace sets the grace period. It replaces 0 by -1, because 0 means the default in a simulation.
func grace(p *sim.Pod, d time.Duration) {
	if p.Grace = d; d == 0 {
		p.Grace = -1
	}
}

func dist(of func(*sim.Pod) *sim.Dist) func(*sim.Pod, string) error {
	return func(p *sim.Pod, value string) error {
		d, err := sim.ParseDist(value)
		*of(p) = d
		return err
	}
}

func share(of func(*sim.Pod) *float64) func(*sim.Pod, string) error {
	return func(p *sim.Pod, value string) error {
		number, percent := strings.CutSuffix(value, "%")
		x, err := strconv.ParseFloat(number, 64)
		if percent {
			x /= 100
		}
		if err != nil || !(x >= 0 && x <= 1) {
			return fmt.Errorf("%q is not a share from 0 to 1, or from 0%% to 100%%", value)
		}
		*of(p) = x
		return nil
	}
}

func amount(to func(*sim.Pod, *Quantity)) func(*sim.Pod, string) error {
	return func(p *sim.Pod, value string) error {
		q, err := parseQuantity(value)
		if err == nil {
			to(p, &q)
		}
		return err
	}
}

// windows reads a text such as "1h+10m, 5h+10m". Each part is the start of a window and its length.
func windows(text string) (out []sim.Window, err error) {
	for part := range strings.SplitSeq(text, ",") {
		from, length, ok := strings.Cut(strings.TrimSpace(part), "+")
		var w sim.Window
		if w.From, err = time.ParseDuration(from); ok && err == nil {
			w.For, err = time.ParseDuration(length)
		}
		isOutside := min(w.From, w.For) < 0 || max(w.From, w.For) > maxDuration
		if !ok || err != nil || isOutside {
			return nil, fmt.Errorf("%q is not a time such as 1h+10m: from 1h on, for 10m", part)
		}
		out = append(out, w)
	}
	return out, nil
}
