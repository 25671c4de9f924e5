package main

import (
	"slices"
	"testing"

	"github.com/batchplan/batchplan/x/sim"
)

// TestStudy: growing jobs take one and a half times as long, with either backoff. The backoff makes
// no difference if one pod in twenty fails.
func TestStudy(t *testing.T) {
	c, err := study(t.Context(), 100, 3)
	if err != nil {
		t.Fatal(err)
	}

	metric := func(name string) int {
		i := slices.IndexFunc(c.Metrics, func(m sim.Metric) bool { return m.Name == name })
		if i < 0 {
			t.Fatalf("no figure %q in\n%s", name, c)
		}
		return i
	}

	complete, created, turnaround := metric("jobs complete"), metric("pods created"), metric("turnaround mean")
	for v, name := range c.Variants {
		if e := c.Estimate(v, complete); e.Mean != 100 || e.Half != 0 {
			t.Errorf("%s: %v jobs are complete", name, e)
		}
		// 100 jobs of 20 pods, and one more pod for each failure.
		if e := c.Estimate(v, created); e.Mean < 2090 || e.Mean > 2130 {
			t.Errorf("%s: %v pods", name, e)
		}
	}

	if e := c.Estimate(0, turnaround); e.Mean < 980 || e.Mean > 1060 {
		t.Errorf("the turnaround is %v s, want about 1018", e)
	}
	for variant, want := range []float64{0, 504, 0, 504} {
		e := c.Difference(variant, turnaround)
		if e.Mean < want-30 || e.Mean > want+30 || want > 0 && e.Mean-e.Half < 0 {
			t.Errorf("%s: the turnaround differs by %v s, want about %v", c.Variants[variant], e, want)
		}
	}

	again, err := study(t.Context(), 100, 3)
	if err != nil || again.String() != c.String() {
		t.Errorf("the same seeds give other figures (%v):\n%s\n%s", err, c, again)
	}
}
