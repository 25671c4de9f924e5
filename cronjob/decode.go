package cronjob

import (
	"fmt"
	"strconv"

	"github.com/batchplan/batchplan/internal/object"
	"github.com/batchplan/batchplan/job"
)

// DecodeCronJob reads a batch/v1 CronJob object in JSON, as `kubectl get -o json` prints it or as a
// typed client marshals it, without apiVersion and kind. Unknown fields are ignored, so objects of
// other releases can be read. Version is the resourceVersion if that is a number, otherwise 0.
func DecodeCronJob(data []byte) (CronJob, error) {
	var in struct {
		object.Head
		Spec   Spec   `json:"spec"`
		Status Status `json:"status"`
	}
	if err := object.Decode(data, &in, "batch/v1", "CronJob"); err != nil {
		return CronJob{}, fmt.Errorf("decode cronjob: %w", err)
	}

	m := &in.Metadata
	version, _ := strconv.ParseInt(m.ResourceVersion, 10, 64) // 0 if it is not a number
	return CronJob{
		Version:           version,
		Namespace:         m.Namespace,
		Name:              m.Name,
		UID:               job.UID(m.UID),
		CreationTimestamp: m.CreationTimestamp,
		DeletionTimestamp: m.DeletionTimestamp,
		SpecChanged:       m.SpecChanged(),
		Spec:              in.Spec,
		Status:            in.Status,
	}, nil
}
