package sim

import (
	"iter"
	"math"
	"math/rand/v2"
	"time"

	"github.com/batchplan/batchplan/job"
)

// Arrivals returns the time at which the next job is submitted, given the time of the previous job.
type Arrivals func(before time.Duration, r *rand.Rand) time.Duration

// AllAtOnce submits all jobs at the beginning.
func AllAtOnce() Arrivals {
	return func(before time.Duration, _ *rand.Rand) time.Duration { return before }
}

// Every submits a job in each interval.
func Every(interval time.Duration) Arrivals {
	return func(before time.Duration, _ *rand.Rand) time.Duration { return before + interval }
}

// Between submits jobs at random distances. [Exponential] distances make the jobs independent of
// each other, a Poisson process.
func Between(distance Dist) Arrivals {
	return func(before time.Duration, r *rand.Rand) time.Duration { return before + distance.Draw(r) }
}

// Diurnal submits jobs independently of each other, at a rate that changes over the day. Argument
// mean is the mean time between two jobs. Argument peak is a time of day: at that time the rate is
// 1+swing times the mean rate, and twelve hours later it is 1-swing times the mean rate. Argument
// swing is at most 1.
func Diurnal(mean time.Duration, swing float64, peak time.Duration) Arrivals {
	swing = min(max(swing, 0), 1)
	return func(before time.Duration, r *rand.Rand) time.Duration {
		at := before

		for { // thinning: candidates at the highest rate, of which some are kept
			at += seconds(mean.Seconds() / (1 + swing) * r.ExpFloat64())
			day := 2 * math.Pi * (at - peak).Hours() / 24
			if r.Float64()*(1+swing) <= 1+swing*math.Cos(day) || at >= century {
				return at
			}
		}
	}
}

// Jobs returns n jobs like the given one, named after it with a number. The seed decides the
// arrivals.
func Jobs(n int, seed uint64, arrivals Arrivals, like Job) iter.Seq2[Job, error] {
	return func(yield func(Job, error) bool) {
		r := rand.New(rand.NewPCG(seed, hashText("arrivals "+like.Name)))
		at := like.Submit
		for i := range n {
			if i > 0 {
				at = arrivals(at, r)
			}
			j := like
			j.Name, j.Submit = like.Name+"-"+itoa(i), at
			if !yield(j, nil) {
				return
			}
		}
	}
}

// Of returns the jobs of a list, which must be in the order of their submit times.
func Of(jobs ...Job) iter.Seq2[Job, error] {
	return func(yield func(Job, error) bool) {
		for _, j := range jobs {
			if !yield(j, nil) {
				return
			}
		}
	}
}

// Merge joins streams of jobs into one, in the order of their submit times.
func Merge(streams ...iter.Seq2[Job, error]) iter.Seq2[Job, error] {
	if len(streams) == 1 {
		return streams[0]
	}

	return func(yield func(Job, error) bool) {
		type source struct {
			next func() (Job, error, bool)
			job  Job
		}
		var open []*source
		for _, s := range streams {
			next, stop := iter.Pull2(s)
			defer stop()
			j, err, ok := next()
			if err != nil {
				yield(j, err)
				return
			}
			if ok {
				open = append(open, &source{next, j})
			}
		}

		for len(open) > 0 {
			first := 0
			for i := range open {
				if open[i].job.Submit < open[first].job.Submit {
					first = i
				}
			}

			s := open[first]
			if !yield(s.job, nil) {
				return
			}

			j, err, ok := s.next()
			if err != nil {
				yield(j, err)
				return
			}
			if s.job = j; !ok {
				open = append(open[:first], open[first+1:]...)
			}
		}
	}
}

// Spec returns the spec of a job that needs so many successful pods, and runs so many concurrently.
func Spec(completions, parallelism int32) job.Spec {
	return job.Spec{
		Completions: &completions,
		Parallelism: &parallelism,
		Template:    job.Template{RestartPolicy: job.RestartNever, Containers: []string{"main"}},
	}
}
