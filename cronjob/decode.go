package cronjob

import (
	"encoding/json"
	"fmt"
	"time"
)

// DecodeCronJob reads a batch/v1 CronJob object, as `kubectl get -o json` prints
// it. Unknown fields are ignored: objects come from other versions, too.
func DecodeCronJob(data []byte) (CronJob, error) {
	var in struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Namespace         string    `json:"namespace"`
			Name              string    `json:"name"`
			UID               string    `json:"uid"`
			CreationTimestamp time.Time `json:"creationTimestamp"`
			DeletionTimestamp time.Time `json:"deletionTimestamp"`
			ManagedFields     []change  `json:"managedFields"`
		} `json:"metadata"`
		Spec   Spec   `json:"spec"`
		Status Status `json:"status"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return CronJob{}, fmt.Errorf("decode cronjob: %w", err)
	}
	if in.APIVersion != "batch/v1" {
		return CronJob{}, fmt.Errorf("decode cronjob: apiVersion: %q is not batch/v1", in.APIVersion)
	}
	if in.Kind != "CronJob" {
		return CronJob{}, fmt.Errorf("decode cronjob: kind: %q is not CronJob", in.Kind)
	}
	m := in.Metadata
	return CronJob{
		Namespace:         m.Namespace,
		Name:              m.Name,
		UID:               m.UID,
		CreationTimestamp: m.CreationTimestamp,
		DeletionTimestamp: m.DeletionTimestamp,
		SpecChanged:       lastChange(m.ManagedFields),
		Spec:              in.Spec,
		Status:            in.Status,
	}, nil
}

// change is an entry of metadata.managedFields.
type change struct {
	Time        time.Time `json:"time"`
	Subresource string    `json:"subresource"`
}

// lastChange is when something other than the status was last written.
func lastChange(changes []change) (last time.Time) {
	for _, c := range changes {
		if c.Subresource == "" && c.Time.After(last) {
			last = c.Time
		}
	}
	return last
}
