package rounds

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
)

// CronSnapshot is the input of both planners of CronJobs.
type CronSnapshot struct {
	Number int
	// CronJob and Jobs are the contents of the caches.
	CronJob *batchv1.CronJob
	Jobs    []*batchv1.Job
	// Hidden holds existing jobs that are not yet in the cache; Gone names jobs
	// that are only in the cache.
	Hidden []*batchv1.Job
	Gone   []string
	Now    time.Time
	CronFaults
}

// CronFaults holds the failing answers of the server.
type CronFaults struct {
	// Create and Status are the answers to a creation and to the write of the status.
	Create, Status string
	// Delete and Look are the answers to a deletion and a read, by the job's name.
	Delete, Look map[string]string
}

func (s *CronSnapshot) class() string  { return "CronJob" }
func (s *CronSnapshot) theirs() Result { return playTheirsCron(s) }
func (s *CronSnapshot) ours() Result   { return playOursCron(s) }

// String returns the snapshot as text: the objects as JSON, a line each.
func (s *CronSnapshot) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "now %s\ncronjob %s\n", s.Now.Format(time.RFC3339Nano), encode(s.CronJob))
	for _, j := range s.Jobs {
		fmt.Fprintf(&b, "job %s\n", encode(j))
	}
	for _, j := range s.Hidden {
		fmt.Fprintf(&b, "hidden job %s\n", encode(j))
	}
	fmt.Fprintf(&b, "gone %v\nfaults %+v\n", s.Gone, s.CronFaults)
	return b.String()
}

// orders yields the snapshot with its jobs in other orders.
func (s *CronSnapshot) orders() iter.Seq[subject] {
	return func(yield func(subject) bool) {
		d := rand.New(rand.NewPCG(1, 1))
		for range 10 {
			other := *s
			other.Jobs = slices.Clone(s.Jobs)
			d.Shuffle(len(other.Jobs), func(i, j int) { other.Jobs[i], other.Jobs[j] = other.Jobs[j], other.Jobs[i] })
			if !yield(&other) {
				return
			}
		}
	}
}

// smaller yields the snapshot without one of its jobs, and then with less of everything
// else.
func (s *CronSnapshot) smaller() iter.Seq[subject] {
	return func(yield func(subject) bool) {
		for i := range s.Jobs {
			out := *s
			out.Jobs = slices.Delete(slices.Clone(s.Jobs), i, i+1)
			if !yield(&out) {
				return
			}
		}

		for i := range s.CronJob.Status.Active {
			out := *s
			out.CronJob = s.CronJob.DeepCopy()
			out.CronJob.Status.Active = slices.Delete(out.CronJob.Status.Active, i, i+1)
			if !yield(&out) {
				return
			}
		}

		before := s.String()
		for _, change := range simplerCron {
			out := *s
			out.CronJob = s.CronJob.DeepCopy()
			change(&out)
			if out.String() != before && !yield(&out) {
				return
			}
		}
	}
}

// simplerCron are changes that make a snapshot simpler.
var simplerCron = []func(*CronSnapshot){
	func(s *CronSnapshot) { s.CronFaults = CronFaults{} },
	func(s *CronSnapshot) { s.Delete, s.Look = nil, nil },
	func(s *CronSnapshot) { s.Create = "" },
	func(s *CronSnapshot) { s.Status = "" },
	func(s *CronSnapshot) { s.Hidden = nil },
	func(s *CronSnapshot) { s.Gone = nil },
	func(s *CronSnapshot) { s.CronJob.Spec.TimeZone = nil },
	func(s *CronSnapshot) { s.CronJob.Spec.StartingDeadlineSeconds = nil },
	func(s *CronSnapshot) { s.CronJob.Spec.SuccessfulJobsHistoryLimit = nil },
	func(s *CronSnapshot) { s.CronJob.Spec.FailedJobsHistoryLimit = nil },
	func(s *CronSnapshot) { s.CronJob.Spec.ConcurrencyPolicy = "" },
	func(s *CronSnapshot) { s.CronJob.Status.LastScheduleTime = nil },
	func(s *CronSnapshot) { s.CronJob.Status.LastSuccessfulTime = nil },
}
