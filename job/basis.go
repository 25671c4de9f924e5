package job

import "slices"

// startBasis fills an empty basis with what is known before the pods are looked at.
func startBasis(b *Basis, s *Snapshot) {
	spec := &s.Job.Spec
	recall(&b.Memory, s)
	b.JobUID = s.Job.UID
	b.Now = s.Now
	b.Status = s.Job.Status
	b.Backoff = b.Memory.Backoff
	b.Untracking = b.Memory.Untracking
	b.Handled = b.Memory.Handled
	b.Untimed = b.Memory.Untimed
	b.Completions = spec.Completions
	b.Indexed = spec.isIndexed()
	b.PerIndex = spec.limitsIndexes()
	b.Suspend = spec.isSuspended()
	b.Deleted = s.Job.isDeleted()
	b.Quirks = s.Options.Quirks
	b.Satisfied = isSatisfied(&b.Memory, s.Now, b.Quirks)
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
