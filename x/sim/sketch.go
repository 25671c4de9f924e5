package sim

import (
	"math"
	"time"
)

// Sketch is the distribution of durations: exact sums, and quantiles that are off by at
// most one percent.
type Sketch struct {
	N        int64
	Sum      time.Duration
	Min, Max time.Duration
	buckets  []int64
	zero     int64
}

// growth is the ratio of the bounds of a bucket.
const growth = 1.02

// Add adds a duration.
func (s *Sketch) Add(d time.Duration) {
	d = max(d, 0)
	if s.N == 0 || d < s.Min {
		s.Min = d
	}
	s.Max = max(s.Max, d)
	s.N++
	s.Sum += d

	if d < time.Millisecond {
		s.zero++
		return
	}

	bucket := int(math.Log(float64(d)/float64(time.Millisecond)) / math.Log(growth))
	for len(s.buckets) <= bucket {
		s.buckets = append(s.buckets, make([]int64, bucket+1-len(s.buckets))...)
	}
	s.buckets[bucket]++
}

// Mean returns the mean, 0 without durations.
func (s *Sketch) Mean() time.Duration {
	if s.N == 0 {
		return 0
	}
	return s.Sum / time.Duration(s.N)
}

// Quantile returns a duration such that a share q of all durations is not longer.
func (s *Sketch) Quantile(q float64) time.Duration {
	left := int64(math.Ceil(q*float64(s.N))) - s.zero
	if left <= 0 {
		return s.Min
	}
	for i, n := range s.buckets {
		if left -= n; left <= 0 {
			middle := math.Pow(growth, float64(i)+0.5) * float64(time.Millisecond)
			return min(max(time.Duration(middle), s.Min), s.Max)
		}
	}
	return s.Max
}

// Merge adds all durations of another distribution.
func (s *Sketch) Merge(o *Sketch) {
	if o.N == 0 {
		return
	}
	if s.N == 0 || o.Min < s.Min {
		s.Min = o.Min
	}
	s.Max = max(s.Max, o.Max)
	s.N += o.N
	s.Sum += o.Sum
	s.zero += o.zero

	if len(s.buckets) < len(o.buckets) {
		s.buckets = append(s.buckets, make([]int64, len(o.buckets)-len(s.buckets))...)
	}
	for i, n := range o.buckets {
		s.buckets[i] += n
	}
}
