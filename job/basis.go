package job

import "slices"

// basisOf starts the basis of a plan: what is known before the pods are looked at.
func basisOf(s *Snapshot, memory Memory) Basis {
	spec := &s.Job.Spec
	return Basis{
		JobUID:      s.Job.UID,
		Now:         s.Now,
		Status:      s.Job.Status,
		Memory:      memory,
		Backoff:     memory.Backoff,
		Untracking:  memory.Untracking,
		Handled:     memory.Handled,
		Untimed:     memory.Untimed,
		Completions: spec.Completions,
		Indexed:     spec.isIndexed(),
		PerIndex:    spec.limitsIndexes(),
		Suspend:     spec.isSuspended(),
		Deleted:     s.Job.isDeleted(),
		Quirks:      s.Options.Quirks,
		Satisfied:   isSatisfied(&memory, s.Now, s.Options.Quirks),
	}
}

// fillBasis adds what the status is made from.
func fillBasis(b *Basis, s *Snapshot, found *findings) {
	status := &s.Job.Status
	b.StartTime = startTime(&s.Job, s.Now)
	b.Active = clamp32(found.tally.active)
	b.Ready = clamp32(found.tally.ready)
	b.Terminating = clamp32(found.tally.terminating)
	b.Succeeded = clamp32(found.tally.succeeded)
	b.Counted = found.lists.counters(status)
	b.Untracking = stillTracked(b.Memory.Untracking, found.known)
	b.Handled = stillTracked(b.Memory.Handled, found.known)
	if !slices.Equal(found.untimed, b.Memory.Untimed) {
		b.Untimed = slices.Clone(found.untimed)
	}
	if b.Indexed {
		found.indexes.record(b, status, &s.Job.Spec)
	}
}
