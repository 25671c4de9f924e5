package job

import (
	"slices"

	"github.com/batchplan/batchplan/internal/value"
)

// Clone returns a copy that shares no writable memory with the plan. The plan of a [Planner]
// changes with its next call; the copy does not.
func (p *Plan) Clone() Plan {
	c := *p
	c.Adopt, c.Release = slices.Clone(p.Adopt), slices.Clone(p.Release)
	c.Groups = slices.Clone(p.Groups)
	c.Delete, c.Create, c.Untrack = slices.Clone(p.Delete), slices.Clone(p.Create), slices.Clone(p.Untrack)
	c.Waits, c.Events, c.Notes = slices.Clone(p.Waits), slices.Clone(p.Events), slices.Clone(p.Notes)

	b := &c.basis
	b.Facts.Status = b.Facts.Status.clone()
	b.Facts.Completions = value.Clone(b.Facts.Completions)
	b.Counts.Uncounted = b.Counts.Uncounted.clone()
	b.Progress.Failed = value.Clone(b.Progress.Failed)
	b.Carried.Untimed = slices.Clone(b.Carried.Untimed)
	rest := &b.Carried.Memory.rest
	rest.Untimed, rest.Reported.Uncounted = slices.Clone(rest.Untimed), slices.Clone(rest.Reported.Uncounted)
	return c
}

func (s Status) clone() Status {
	s.Conditions = slices.Clone(s.Conditions)
	s.Terminating, s.Ready = value.Clone(s.Terminating), value.Clone(s.Ready)
	s.FailedIndexes = value.Clone(s.FailedIndexes)
	if s.UncountedTerminatedPods != nil {
		s.UncountedTerminatedPods = value.To(s.UncountedTerminatedPods.clone())
	}
	return s
}

func (u UncountedTerminatedPods) clone() UncountedTerminatedPods {
	return UncountedTerminatedPods{Succeeded: slices.Clone(u.Succeeded), Failed: slices.Clone(u.Failed)}
}
