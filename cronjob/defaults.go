package cronjob

import "github.com/batchplan/batchplan/internal/value"

// Default fills the fields that an API server would fill (C1). It changes the
// spec that it is given; pointers in it are replaced, never written through.
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
