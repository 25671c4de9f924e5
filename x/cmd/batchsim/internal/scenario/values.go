package scenario

import (
	"fmt"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchplan/batchplan/x/sim"
)

// The largest durations, counts, rates and amounts. With larger ones, the simulation would cut them
// off, or would not end.
const (
	maxDuration = 100 * 365 * 24 * time.Hour
	maxCount    = 1_000_000
	maxRate     = 3600                  // per hour, which is once a second
	maxQuantity = 1_000_000_000_000_000 // 1P; thousandths of it still fit
)

// Duration is a duration such as 90s, in the format of Go, from 0 to a hundred years.
type Duration time.Duration

// UnmarshalYAML reads a duration.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	parsed, err := time.ParseDuration(n.Value)
	switch {
	case err != nil || parsed < 0:
		return fmt.Errorf("line %d: %q is not a duration such as 90s or 1h30m", n.Line, n.Value)
	case parsed > maxDuration:
		return fmt.Errorf("line %d: %q: must not be above %v", n.Line, n.Value, maxDuration)
	}
	*d = Duration(parsed)
	return nil
}

// Count is a number of objects, from 0 to a million. The default is 1.
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

// Rate is a number of events per hour, as [sim.ParseRate] reads it.
type Rate float64

// UnmarshalYAML reads a rate.
func (r *Rate) UnmarshalYAML(n *yaml.Node) error {
	rate, err := parseRate(n.Value)
	if err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	*r = Rate(rate)
	return nil
}

func parseRate(text string) (float64, error) {
	rate, err := sim.ParseRate(text)
	if err == nil && rate > maxRate {
		err = fmt.Errorf("%q: must not be above once a second", text)
	}
	return rate, err
}

// Quantity is an amount such as 500m or 2Gi.
type Quantity struct{ resource.Quantity }

// UnmarshalYAML reads an amount.
func (q *Quantity) UnmarshalYAML(n *yaml.Node) (err error) {
	if *q, err = parseQuantity(n.Value); err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	return nil
}

func parseQuantity(text string) (Quantity, error) {
	q, err := resource.ParseQuantity(text)
	switch {
	case err != nil || q.Sign() < 0:
		return Quantity{}, fmt.Errorf("%q is not an amount such as 500m or 2Gi", text)
	case !inBounds(&q):
		return Quantity{}, fmt.Errorf("%q: must not be above 1P", text)
	}
	return Quantity{q}, nil
}

func inBounds(q *resource.Quantity) bool { return q.Sign() >= 0 && q.CmpInt64(maxQuantity) <= 0 }

func (q *Quantity) milli() int64 { return q.MilliValue() }
func (q *Quantity) bytes() int64 { return q.Value() }
