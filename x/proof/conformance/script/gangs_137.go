//go:build !before137

package script

import (
	batchv1 "k8s.io/api/batch/v1"
)

func setMinCount(s *batchv1.JobSpec, arg string) {
	if s.Scheduling == nil || s.Scheduling.SchedulingPolicy == nil || s.Scheduling.SchedulingPolicy.Gang == nil {
		return
	}
	s.Scheduling.SchedulingPolicy.Gang.MinCount = int32Of(arg)
}
