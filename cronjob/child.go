package cronjob

import (
	"fmt"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/internal/jobrules"
	"github.com/batchplan/batchplan/internal/object"
	"github.com/batchplan/batchplan/job"
)

// Child is a job that could be the CronJob's, as a flat value.
type Child struct {
	Name string  `json:"name"`
	UID  job.UID `json:"uid"`
	// Foreign is true for a job that the CronJob does not control (C1). Such a job is
	// never touched, but it can hold the name of a run.
	Foreign bool `json:"foreign,omitempty"`
	// Misnamed is true if the name of the job's controller says the opposite: a Foreign job whose
	// controller has the CronJob's name, whatever its kind and UID, or a job of the CronJob whose
	// reference has another name. It matters only with cronjobquirk.ByName.
	Misnamed          bool      `json:"misnamed,omitempty"`
	CreationTimestamp time.Time `json:"creationTimestamp,omitzero"`
	DeletionTimestamp time.Time `json:"deletionTimestamp,omitzero"`
	// StartTime is status.startTime; zero for a job that has not started.
	StartTime time.Time `json:"startTime,omitzero"`
	// Finished is how the job has ended, and empty before: Complete, Failed or, for children of another
	// kind, a word of that kind, such as Aborted. Such a child has neither succeeded nor failed.
	Finished Ending `json:"finished,omitempty"`
	// KeptAs says whose limits count a child with such a word (C2): those of successful jobs if it is Complete, and of
	// failed ones if it is Failed or empty. With any other word no limit counts it, and the history leaves it alone.
	KeptAs Ending `json:"keptAs,omitempty"`
	// FinishTime is when that condition turned True.
	FinishTime time.Time `json:"finishTime,omitzero"`
	// CompletionTime is status.completionTime; zero for a job that has not succeeded.
	CompletionTime time.Time `json:"completionTime,omitzero"`
	// ScheduledTime is the run that the job belongs to, from the annotation
	// batch.kubernetes.io/cronjob-scheduled-timestamp; zero for a job created by hand.
	ScheduledTime time.Time `json:"scheduledTime,omitzero"`
	// Backfilled marks the job of a backfill, whose annotation
	// cronjob.kubernetes.io/instantiate is "backfill": it does not move lastScheduleTime.
	Backfilled bool `json:"backfilled,omitempty"`
}

func (c *Child) isFinished() bool { return c.Finished != "" }
func (c *Child) isDeleted() bool  { return !c.DeletionTimestamp.IsZero() }
func (c *Child) isOfRun() bool    { return !c.ScheduledTime.IsZero() }

// isRunning reports whether a job is the CronJob's and has not ended.
func (c *Child) isRunning() bool { return !c.Foreign && !c.isFinished() }

// isOwnSuccess reports whether a job is the CronJob's and has succeeded.
func (c *Child) isOwnSuccess() bool { return c.Finished == Complete && !c.Foreign }

// keptAs returns whose limits are about a job: Complete or Failed, empty for one that runs, and another word for one
// that no limit counts.
func (c *Child) keptAs() Ending { return jobrules.KeptAs(c.Finished, c.KeptAs) }

// isKeptAs reports whether the limits of such jobs are about a job of the CronJob.
func (c *Child) isKeptAs(ending Ending) bool { return !c.Foreign && c.keptAs() == ending }

// ChildOf makes a child of a job's values. What it is to the CronJob follows from the job's
// namespace and the UID of its controller, which is empty if it has none (C1): anybody can name
// that UID elsewhere. Its run, and whether a backfill asked for it, follow from the job's
// annotations. The job's spec is not needed. Misnamed is left to the caller.
func ChildOf(c *CronJob, j *job.Job, controllerUID job.UID, annotations map[string]string) Child {
	child := Child{
		Name:              j.Name,
		UID:               j.UID,
		Foreign:           controllerUID == "" || controllerUID != c.UID || j.Namespace != c.Namespace,
		CreationTimestamp: j.CreationTimestamp,
		DeletionTimestamp: j.DeletionTimestamp,
		StartTime:         j.Status.StartTime,
		Finished:          j.Status.Finished(),
		CompletionTime:    j.Status.CompletionTime,
		Backfilled:        annotations[instantiateAnnotation] == backfilled,
	}

	if child.isFinished() {
		child.FinishTime = j.Status.Condition(child.Finished).LastTransitionTime
	}
	if t, err := time.Parse(time.RFC3339, annotations[timestampAnnotation]); err == nil {
		child.ScheduledTime = t
	}
	return child
}

// DecodeChild is [ChildOf] for a batch/v1 Job object. Unknown fields are ignored; a
// scheduled time that does not parse reads as none.
func DecodeChild(c *CronJob, data []byte) (Child, error) {
	var in struct {
		object.Head
		Status job.Status `json:"status"`
	}
	if err := object.Decode(data, &in, "batch/v1", "Job"); err != nil {
		return Child{}, fmt.Errorf("decode child: %w", err)
	}

	m := &in.Metadata
	child := ChildOf(c, &job.Job{
		Namespace:         m.Namespace,
		Name:              m.Name,
		UID:               job.UID(m.UID),
		CreationTimestamp: m.CreationTimestamp,
		DeletionTimestamp: m.DeletionTimestamp,
		Status:            in.Status,
	}, job.UID(m.Controller()), m.Annotations)

	hasName := m.Controller() != "" && m.ControllerName() == c.Name && m.Namespace == c.Namespace
	child.Misnamed = hasName == child.Foreign
	return child, nil
}

// byName returns the snapshot with the children that have the CronJob's name in place of its UID
// (cronjobquirk.ByName).
func byName(s *Snapshot) *Snapshot {
	isMisnamed := func(c Child) bool { return c.Misnamed }
	if !s.Options.Quirks.Has(cronjobquirk.ByName) || !slices.ContainsFunc(s.Children, isMisnamed) {
		return s
	}

	named := *s
	named.Children = slices.Clone(s.Children)
	for i := range named.Children {
		c := &named.Children[i]
		c.Foreign, c.Misnamed = c.Foreign != c.Misnamed, false
	}
	return &named
}
