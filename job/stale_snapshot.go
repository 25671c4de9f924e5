package job

// isStale reports whether the snapshot is older than a status that was written.
// Planning from it could start pods of a job that has ended (E5, M2), or run an
// index again that has succeeded (E6).
func isStale(j *Job, memory *Memory) bool {
	return memory.Finished || j.Version < memory.Written
}
