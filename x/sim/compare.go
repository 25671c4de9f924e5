package sim

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/batchplan/batchplan/internal/value"
)

// Variant is one of several worlds that are compared. World is called for each seed, by
// several goroutines concurrently; the worlds must share nothing that changes.
type Variant struct {
	Name  string
	World func(seed uint64) World
}

// Comparison has the figures of several variants over the same seeds.
type Comparison struct {
	Variants []string
	Seeds    []uint64
	// Metrics has the names and units. Values has the figures by variant, metric and seed.
	Metrics []Metric
	Values  [][][]float64
}

// Compare plays every variant with the seeds from first to first+n-1, on the given number of cores;
// 0 means all. The figures do not depend on that number. Progress, if not nil, is called after each
// run, one call at a time; the result is valid only during the call.
func Compare(
	ctx context.Context, variants []Variant, first uint64, n, cores int,
	progress func(variant, seed int, r *Result),
) (*Comparison, error) {
	c := &Comparison{}
	for i := range n {
		c.Seeds = append(c.Seeds, first+uint64(i))
	}
	for _, v := range variants {
		c.Variants = append(c.Variants, v.Name)
		c.Values = append(c.Values, nil)
	}

	results := make([][]Metric, len(variants)*n)
	var mu sync.Mutex
	err := Each(ctx, len(results), cores, func(ctx context.Context, i int) error {
		variant, seed := i%len(variants), i/len(variants)
		r, err := Run(ctx, variants[variant].World(c.Seeds[seed]))
		if err != nil {
			return fmt.Errorf("%s, seed %d: %w", variants[variant].Name, c.Seeds[seed], err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}

		results[i] = r.Metrics()
		if progress != nil {
			mu.Lock()
			defer mu.Unlock()
			progress(variant, seed, r)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}

	c.fill(results)
	return c, nil
}

// fill sorts the figures into the table.
func (c *Comparison) fill(results [][]Metric) {
	for i, metrics := range results {
		if i == 0 {
			c.Metrics = metrics
			for v := range c.Values {
				c.Values[v] = make([][]float64, len(metrics))
			}
		}

		v := i % len(c.Variants)
		for m := range metrics {
			c.Values[v][m] = append(c.Values[v][m], metrics[m].Value)
		}
	}
}

// Each makes a call for each number from 0 to n-1, at most cores of them concurrently; 0 means all
// cores. After an error no more calls begin. Once all have returned, Each returns the error of the
// lowest number.
func Each(ctx context.Context, n, cores int, call func(context.Context, int) error) error {
	if cores <= 0 {
		cores = runtime.GOMAXPROCS(0)
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()

	var wg sync.WaitGroup
	errs := make([]error, n)
	next := make(chan int)
	for range min(cores, n) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				if errs[i] = call(inner, i); errs[i] != nil {
					cancel()
				}
			}
		}()
	}

	for i := 0; i < n && inner.Err() == nil; i++ {
		select {
		case next <- i:
		case <-inner.Done():
		}
	}

	close(next)
	wg.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Estimate is a mean with a confidence interval of 95 percent: in 19 of 20 samples, the true mean
// lies within Mean±Half. Half is infinite for a single value.
type Estimate struct{ Mean, Half float64 }

// EstimateOf returns the mean of a sample, with Student's interval.
func EstimateOf(values []float64) Estimate {
	n := float64(len(values))
	if n == 0 {
		return Estimate{math.NaN(), math.Inf(1)}
	}

	mean := 0.0
	for _, v := range values {
		mean += v / n
	}
	if n == 1 {
		return Estimate{mean, math.Inf(1)}
	}

	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return Estimate{mean, student(len(values)-1) * math.Sqrt(squares/(n-1)/n)}
}

// student returns the 97.5 percent quantile of Student's distribution.
func student(freedom int) float64 {
	table := [...]float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
		2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086}
	if freedom <= len(table) {
		return table[freedom-1]
	}
	const z = 1.959964
	f := float64(freedom)
	return z + (z*z*z+z)/(4*f) + (5*math.Pow(z, 5)+16*z*z*z+3*z)/(96*f*f) // Cornish and Fisher
}

// Estimate returns the estimate of a metric of a variant.
func (c *Comparison) Estimate(variant, metric int) Estimate {
	return EstimateOf(c.Values[variant][metric])
}

// Difference returns the estimate of a variant's increase over the first variant, seed by seed.
// With the same seed both have the same draws, so this is more precise than the difference of the
// means.
func (c *Comparison) Difference(variant, metric int) Estimate {
	differences := make([]float64, len(c.Seeds))
	for i := range differences {
		differences[i] = c.Values[variant][metric][i] - c.Values[0][metric][i]
	}
	return EstimateOf(differences)
}

// IsNoise reports whether the difference between two samples may be chance: zero lies within its
// confidence interval. The samples must have the same seeds in the same order. Equal samples are
// not noise. With a single seed, any difference is noise.
func IsNoise(a, b []float64) bool {
	if len(a) != len(b) || slices.Equal(a, b) {
		return false
	}

	differences := make([]float64, len(a))
	for i := range a {
		differences[i] = b[i] - a[i]
	}
	d := EstimateOf(differences)
	return math.Abs(d.Mean) <= d.Half
}

// String returns a table: a line for each metric, a column for each variant. Metrics that are zero
// everywhere are left out. A mark shows which differences from the first variant may be chance.
func (c *Comparison) String() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%s, mean ±95%%\t", value.Count(len(c.Seeds), "seed"))
	for _, name := range c.Variants {
		fmt.Fprintf(t, "%s\t", name)
	}
	fmt.Fprintln(t)

	noise := false
	for m, metric := range c.Metrics {
		if c.isZero(m) {
			continue
		}
		fmt.Fprintf(t, "%s\t", strings.TrimSpace(metric.Name+" "+metric.Unit))
		for v := range c.Variants {
			mark := ""
			if v > 0 && IsNoise(c.Values[0][m], c.Values[v][m]) {
				mark, noise = " ~", true
			}
			fmt.Fprintf(t, "%s%s\t", c.Estimate(v, m), mark)
		}
		fmt.Fprintln(t)
	}

	t.Flush()
	if noise {
		fmt.Fprintf(&b, "~: may be chance: over these seeds, it cannot be told from %s (95 percent)\n", c.Variants[0])
	}
	return b.String()
}

func (c *Comparison) isZero(metric int) bool {
	for v := range c.Variants {
		for _, value := range c.Values[v][metric] {
			if value != 0 {
				return false
			}
		}
	}
	return true
}

// String returns the mean and, if it is known, half of the interval.
func (e Estimate) String() string {
	if math.IsInf(e.Half, 0) || e.Half == 0 {
		return Number(e.Mean)
	}
	return Number(e.Mean) + " ±" + Number(e.Half)
}

// Number writes a number with about four digits.
func Number(x float64) string {
	switch a := math.Abs(x); {
	case x == math.Trunc(x) && a < 1e7, a >= 1000:
		return fmt.Sprintf("%.0f", x)
	case a >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.3g", x)
}
