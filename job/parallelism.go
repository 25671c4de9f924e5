package job

// wantedActive is how many pods are to be active (J29).
func wantedActive(spec *Spec, t tally) int64 {
	parallelism := int64(*spec.Parallelism)
	switch {
	case spec.Completions != nil:
		return max(min(parallelism, int64(*spec.Completions)-t.succeeded), 0)
	case t.succeeded > 0:
		return t.active // a work queue that has had its success drains
	}
	return parallelism
}
