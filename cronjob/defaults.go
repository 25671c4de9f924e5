package cronjob

import "github.com/batchplan/batchplan/internal/value"

// Default sets the fields that an API server would set (C1). It changes s itself; it replaces
// pointers in s and never writes through them.
func Default(s *Spec) {
	if s.ConcurrencyPolicy == "" {
		s.ConcurrencyPolicy = Allow
	}
	if s.Suspend == nil {
		s.Suspend = value.To(false)
	}
	if s.SuccessfulJobsHistoryLimit == nil {
		s.SuccessfulJobsHistoryLimit = value.To[int32](3)
	}
	if s.FailedJobsHistoryLimit == nil {
		s.FailedJobsHistoryLimit = value.To[int32](1)
	}
}
