package cronjob

// Default fills the fields that an API server would fill (C1). It changes the
// spec that it is given; pointers in it are replaced, never written through.
func Default(s *Spec) {
	if s.ConcurrencyPolicy == "" {
		s.ConcurrencyPolicy = Allow
	}
	if s.Suspend == nil {
		s.Suspend = pointTo(false)
	}
	if s.SuccessfulJobsHistoryLimit == nil {
		s.SuccessfulJobsHistoryLimit = pointTo[int32](3)
	}
	if s.FailedJobsHistoryLimit == nil {
		s.FailedJobsHistoryLimit = pointTo[int32](1)
	}
}

func pointTo[T any](v T) *T { return &v }
