package job

// completionsReached reports whether the successes suffice (J26). The job ends once no
// pod is active. Without completions the first success suffices.
func completionsReached(completions *int32, succeeded int64) bool {
	if completions == nil {
		return succeeded > 0
	}
	return succeeded >= int64(*completions)
}
