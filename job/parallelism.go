package job

// wantedActive returns the number of pods that should be active (J29).
func wantedActive(spec *Spec, t tally) int64 {
	parallelism := int64(*spec.Parallelism)
	switch {
	case spec.Completions != nil:
		return max(min(parallelism, int64(*spec.Completions)-t.succeeded), 0)
	case t.succeeded > 0:
		return t.active // after its first success, a work queue starts no more pods
	}
	return parallelism
}
