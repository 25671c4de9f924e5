package job

// appendEnding adds the deletions of all active pods of a job that ends. They keep their
// finalizer until they are accounted for (J27). They are not limited to 500.
func appendEnding(deletions []Deletion, s *Snapshot, buf *scratch) []Deletion {
	buf.active = activePods(buf.active[:0], s)
	return appendAll(deletions, s, buf.active, DeleteEnding)
}
