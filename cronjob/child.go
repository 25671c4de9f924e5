package cronjob

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/batchplan/batchplan/internal/enum"
	"github.com/batchplan/batchplan/job"
)

// Child is a job that could be the CronJob's, as a flat value.
type Child struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
	// Owner says whether the CronJob is the job's controller (C1). The zero value
	// is Owned.
	Owner             Ownership `json:"owner,omitempty"`
	CreationTimestamp time.Time `json:"creationTimestamp,omitzero"`
	DeletionTimestamp time.Time `json:"deletionTimestamp,omitzero"`
	// StartTime is status.startTime; zero for a job that has not started.
	StartTime time.Time `json:"startTime,omitzero"`
	// Finished is job.Complete or job.Failed, and empty before.
	Finished job.ConditionType `json:"finished,omitempty"`
	// FinishTime is when that condition turned True.
	FinishTime time.Time `json:"finishTime,omitzero"`
	// CompletionTime is status.completionTime; zero for a job that has not succeeded.
	CompletionTime time.Time `json:"completionTime,omitzero"`
	// ScheduledTime is the run that the job belongs to, from [TimestampAnnotation];
	// zero for a job that somebody created by hand.
	ScheduledTime time.Time `json:"scheduledTime,omitzero"`
	// Backfilled marks the job of a backfill ([InstantiateAnnotation]): it does not
	// move lastScheduleTime.
	Backfilled bool `json:"backfilled,omitempty"`
}

func (c *Child) isFinished() bool { return c.Finished != "" }

// Ownership is what a job is to the CronJob (C1).
type Ownership uint8

const (
	// Owned: the job's controller is this CronJob.
	Owned Ownership = iota
	// Foreign: it is not, so the job is never touched. It can still hold the name
	// of a run.
	Foreign
)

const ownerships = "owned|foreign"

// String returns the ownership in a word.
func (o Ownership) String() string { return enum.String(ownerships, int(o), "Ownership") }

type childJSON struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Namespace         string            `json:"namespace"`
		Name              string            `json:"name"`
		UID               string            `json:"uid"`
		CreationTimestamp time.Time         `json:"creationTimestamp"`
		DeletionTimestamp time.Time         `json:"deletionTimestamp"`
		Annotations       map[string]string `json:"annotations"`
		OwnerReferences   []struct {
			UID        string `json:"uid"`
			Controller bool   `json:"controller"`
		} `json:"ownerReferences"`
	} `json:"metadata"`
	Status job.Status `json:"status"`
}

// DecodeChild reads a batch/v1 Job object and decides what it is to the CronJob
// (C1). Unknown fields are ignored; a scheduled time that does not parse reads
// as none.
func DecodeChild(of *CronJob, data []byte) (Child, error) {
	var in childJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return Child{}, fmt.Errorf("decode child: %w", err)
	}
	if in.Kind != "Job" && in.Kind != "" { // the items of a list carry no kind
		return Child{}, fmt.Errorf("decode child: kind: %q is not Job", in.Kind)
	}
	m := &in.Metadata
	c := Child{
		Name:              m.Name,
		UID:               m.UID,
		Owner:             Foreign,
		CreationTimestamp: m.CreationTimestamp,
		DeletionTimestamp: m.DeletionTimestamp,
		StartTime:         in.Status.StartTime,
		Finished:          in.Status.Finished(),
		CompletionTime:    in.Status.CompletionTime,
		Backfilled:        m.Annotations[InstantiateAnnotation] == backfilled,
	}
	if c.isFinished() {
		c.FinishTime = in.Status.Condition(c.Finished).LastTransitionTime
	}
	for _, o := range m.OwnerReferences {
		if o.Controller && o.UID == of.UID {
			c.Owner = Owned
		}
	}
	if t, err := time.Parse(time.RFC3339, m.Annotations[TimestampAnnotation]); err == nil {
		c.ScheduledTime = t
	}
	return c, nil
}
