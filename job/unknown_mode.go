package job

// hasUnknownMode reports whether this version does not know the job's completion
// mode (J5).
func hasUnknownMode(spec *Spec) bool {
	switch spec.CompletionMode {
	case "", NonIndexed, Indexed:
		return false
	}
	return true
}
