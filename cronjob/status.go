package cronjob

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/job"
)

// Status is a batch/v1 CronJobStatus with the same JSON. Times are not rounded: whole seconds are
// encoded exactly as in Kubernetes.
type Status struct {
	// Active lists started jobs that are not known to have finished, in the order of their start.
	Active []Reference `json:"active,omitempty"`
	// LastScheduleTime is the time of the latest run whose job was created or found:
	// its time in the schedule, not the time of the creation.
	LastScheduleTime time.Time `json:"lastScheduleTime,omitzero"`
	// LastSuccessfulTime is the latest completion of a job that succeeded.
	LastSuccessfulTime time.Time `json:"lastSuccessfulTime,omitzero"`
}

// Reference names a job, as a v1 ObjectReference. References can be compared with ==.
type Reference struct {
	Kind            string  `json:"kind,omitempty"`
	Namespace       string  `json:"namespace,omitempty"`
	Name            string  `json:"name,omitempty"`
	UID             job.UID `json:"uid,omitempty"`
	APIVersion      string  `json:"apiVersion,omitempty"`
	ResourceVersion string  `json:"resourceVersion,omitempty"`
	FieldPath       string  `json:"fieldPath,omitempty"`
}

func equalStatus(a, b *Status) bool {
	return a.LastScheduleTime.Equal(b.LastScheduleTime) &&
		a.LastSuccessfulTime.Equal(b.LastSuccessfulTime) &&
		slices.Equal(a.Active, b.Active)
}

// startedAt returns the status after a run has started: lastScheduleTime never goes back (CI4).
func (s Status) startedAt(run time.Time) Status {
	s.LastScheduleTime = later(s.LastScheduleTime, run)
	return s
}
