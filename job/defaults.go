package job

import (
	"math"

	"github.com/batchplan/batchplan/internal/value"
)

// Default fills the fields that an API server would fill (J1). It changes the
// spec that it is given; pointers in it are replaced, never written through.
func Default(s *Spec) {
	if s.Completions == nil && s.Parallelism == nil {
		s.Completions, s.Parallelism = value.To[int32](1), value.To[int32](1)
	}
	if s.Parallelism == nil {
		s.Parallelism = value.To[int32](1)
	}
	if s.BackoffLimit == nil {
		s.BackoffLimit = value.To[int32](6)
		if s.BackoffLimitPerIndex != nil {
			s.BackoffLimit = value.To[int32](math.MaxInt32)
		}
	}
	if s.CompletionMode == "" {
		s.CompletionMode = NonIndexed
	}
	if s.Suspend == nil {
		s.Suspend = value.To(false)
	}
	if s.PodReplacementPolicy == "" {
		s.PodReplacementPolicy = ReplaceTerminatingOrFailed
		if s.PodFailurePolicy != nil {
			s.PodReplacementPolicy = ReplaceFailed
		}
	}
}
