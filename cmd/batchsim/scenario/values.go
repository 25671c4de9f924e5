package scenario

import (
	"fmt"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchplan/batchplan/kit/sim"
)

// Duration is a duration such as 90s, written as in Go. It is not negative.
type Duration time.Duration

// UnmarshalYAML reads a duration.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	parsed, err := time.ParseDuration(n.Value)
	if err == nil && parsed < 0 {
		err = fmt.Errorf("%q: must not be negative", n.Value)
	}
	if n.Value == "0" {
		parsed, err = 0, nil
	}
	if err != nil {
		return fmt.Errorf("line %d: %q is not a duration such as 90s or 1h30m", n.Line, n.Value)
	}
	*d = Duration(parsed)
	return nil
}

// maxCount is the largest count.
const maxCount = 1_000_000

// Count is how many there are of something: from 0 to a million. Without a value there is one.
type Count struct{ n *int }

// UnmarshalYAML reads a count.
func (c *Count) UnmarshalYAML(n *yaml.Node) error {
	count, err := strconv.Atoi(n.Value)
	if err != nil || count < 0 || count > maxCount {
		return fmt.Errorf("line %d: %q is not a count from 0 to %d", n.Line, n.Value, maxCount)
	}
	c.n = &count
	return nil
}

func (c Count) or1() int {
	if c.n == nil {
		return 1
	}
	return *c.n
}

// Dist is a distribution of durations, as [sim.ParseDist] reads it.
type Dist struct{ sim.Dist }

// UnmarshalYAML reads a distribution.
func (d *Dist) UnmarshalYAML(n *yaml.Node) (err error) {
	if d.Dist, err = sim.ParseDist(n.Value); err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	return nil
}

// Rate is how many times an hour something happens, as [sim.ParseRate] reads it.
type Rate float64

// UnmarshalYAML reads a rate.
func (r *Rate) UnmarshalYAML(n *yaml.Node) error {
	rate, err := sim.ParseRate(n.Value)
	if err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	*r = Rate(rate)
	return nil
}

// Quantity is an amount such as 500m or 2Gi.
type Quantity struct{ resource.Quantity }

// UnmarshalYAML reads an amount.
func (q *Quantity) UnmarshalYAML(n *yaml.Node) (err error) {
	if q.Quantity, err = resource.ParseQuantity(n.Value); err != nil {
		return fmt.Errorf("line %d: %q is not an amount such as 500m or 2Gi", n.Line, n.Value)
	}
	return nil
}

func (q *Quantity) milli() int64 { return q.MilliValue() }
func (q *Quantity) bytes() int64 { return q.Value() }
