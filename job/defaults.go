package job

import "math"

// Default fills the fields that an API server would fill (J1). It changes the
// spec that it is given; pointers in it are replaced, never written through.
func Default(s *Spec) {
	if s.Completions == nil && s.Parallelism == nil {
		s.Completions, s.Parallelism = pointTo[int32](1), pointTo[int32](1)
	}
	if s.Parallelism == nil {
		s.Parallelism = pointTo[int32](1)
	}
	if s.BackoffLimit == nil {
		s.BackoffLimit = pointTo[int32](6)
		if s.BackoffLimitPerIndex != nil {
			s.BackoffLimit = pointTo[int32](math.MaxInt32)
		}
	}
	if s.CompletionMode == "" {
		s.CompletionMode = NonIndexed
	}
	if s.Suspend == nil {
		s.Suspend = pointTo(false)
	}
	if s.PodReplacementPolicy == "" {
		s.PodReplacementPolicy = ReplaceTerminatingOrFailed
		if s.PodFailurePolicy != nil {
			s.PodReplacementPolicy = ReplaceFailed
		}
	}
}

func pointTo[T any](v T) *T { return &v }
