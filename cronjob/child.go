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

// Child is a job that the CronJob may control, reduced to what the planner needs.
type Child struct {
	Name string  `json:"name"`
	UID  job.UID `json:"uid"`
	// Foreign is true for a job that the CronJob does not control (C1). Such a job is
	// never touched, but it can hold the name of a run.
	Foreign bool `json:"foreign,omitempty"`
	// Misnamed is true if the name of the job's controller contradicts Foreign: the job is foreign
	// but its controller has the CronJob's name, or the job is the CronJob's but its owner
	// reference has another name. It matters only with cronjobquirk.ByName.
	Misnamed          bool      `json:"misnamed,omitempty"`
	CreationTimestamp time.Time `json:"creationTimestamp,omitzero"`
	DeletionTimestamp time.Time `json:"deletionTimestamp,omitzero"`
	// StartTime is status.startTime; zero for a job that has not started.
	StartTime time.Time `json:"startTime,omitzero"`
	// Finished is how the job ended: Complete, Failed or, for children of another kind, that kind's
	// own word such as Aborted. A child with such a word has neither succeeded nor failed. Finished
	// is empty while the job runs.
	Finished Ending `json:"finished,omitempty"`
	// KeptAs selects the history limit for a child whose Finished is set but is neither Complete
	// nor Failed (C2): Complete means the limit of successful jobs, and Failed or empty the limit
	// of failed jobs. With any other value no limit applies, and the child is kept.
	KeptAs Ending `json:"keptAs,omitempty"`
	// FinishTime is the time at which the child ended. A job ends when its condition Complete or
	// Failed becomes True.
	FinishTime time.Time `json:"finishTime,omitzero"`
	// CompletionTime is status.completionTime; zero for a job that has not succeeded.
	CompletionTime time.Time `json:"completionTime,omitzero"`
	// ScheduledTime is the run that the job belongs to, from the annotation
	// batch.kubernetes.io/cronjob-scheduled-timestamp; zero for a job created by hand.
	ScheduledTime time.Time `json:"scheduledTime,omitzero"`
	// Backfilled marks the job of a backfill, whose annotation cronjob.kubernetes.io/instantiate is
	// "backfill". Such a job does not move lastScheduleTime.
	Backfilled bool `json:"backfilled,omitempty"`
}

func (c *Child) isFinished() bool { return c.Finished != "" }
func (c *Child) isDeleted() bool  { return !c.DeletionTimestamp.IsZero() }
func (c *Child) isOfRun() bool    { return !c.ScheduledTime.IsZero() }

// isRunning reports whether the CronJob controls the job and the job has not ended.
func (c *Child) isRunning() bool { return !c.Foreign && !c.isFinished() }

// isOwnSuccess reports whether the CronJob controls the job and the job has succeeded.
func (c *Child) isOwnSuccess() bool { return c.Finished == Complete && !c.Foreign }

// keptAs returns the ending whose history limit applies to a job: Complete or Failed. It is empty
// for a job that runs. Any other word means that no limit applies.
func (c *Child) keptAs() Ending { return jobrules.KeptAs(c.Finished, c.KeptAs) }

// isKeptAs reports whether the CronJob controls the job and the given history limit applies to it.
func (c *Child) isKeptAs(ending Ending) bool { return !c.Foreign && c.keptAs() == ending }

// ChildOf returns the child for a job. The CronJob controls it if the job is in the CronJob's
// namespace and controllerUID is the CronJob's UID (C1). controllerUID is empty if the job has no
// controller. A job of another namespace never counts, since it can name any UID. The job's
// annotations give its run and whether a backfill requested it. The job's spec is not needed.
// ChildOf does not set Misnamed.
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
	}
	if child.isFinished() {
		child.FinishTime = j.Status.Condition(child.Finished).LastTransitionTime
	}
	child.ScheduledTime, child.Backfilled = new(Options).ReadMarks(c.Name, j.Name, nil, annotations)
	return child
}

// DecodeChild is [ChildOf] for a batch/v1 Job object in JSON, and also sets Misnamed. Unknown
// fields are ignored, and so is a scheduled time that does not parse.
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

// byName returns a snapshot in which the name of a job's controller, and not its UID, decides
// whether the job is foreign (cronjobquirk.ByName).
func byName(s *Snapshot) *Snapshot {
	isMisnamed := func(c Child) bool { return c.Misnamed }
	if !s.Options.Quirks.Has(cronjobquirk.ByName) || !slices.ContainsFunc(s.Children, isMisnamed) {
		return s
	}

	named := *s
	named.Children = slices.Clone(s.Children)
	for i := range named.Children {
		c := &named.Children[i]
		c.Foreign = c.Foreign != c.Misnamed
	}
	return &named
}
