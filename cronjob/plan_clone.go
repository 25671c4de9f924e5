package cronjob

import (
	"maps"
	"slices"
)

// Clone returns a copy that shares no slices or maps with the plan. The next call of a [Planner]
// changes its plan, but not the copy.
func (p *Plan) Clone() Plan {
	c := *p
	c.Verify, c.Unexpected = slices.Clone(p.Verify), slices.Clone(p.Unexpected)
	c.Delete, c.Create = slices.Clone(p.Delete), slices.Clone(p.Create)
	for i := range c.Create {
		creation := &c.Create[i]
		creation.Labels, creation.Annotations = maps.Clone(creation.Labels), maps.Clone(creation.Annotations)
	}
	c.Triggered, c.Unstarted = slices.Clone(p.Triggered), slices.Clone(p.Unstarted)
	c.Missed.Runs = slices.Clone(p.Missed.Runs)
	c.Waits, c.Events, c.Notes = slices.Clone(p.Waits), slices.Clone(p.Events), slices.Clone(p.Notes)

	b := &c.basis
	b.Before.Active, b.Status.Active = slices.Clone(b.Before.Active), slices.Clone(b.Status.Active)
	b.Memory.Started = slices.Clone(b.Memory.Started)
	b.Memory.Replaced, b.Memory.Deleted = slices.Clone(b.Memory.Replaced), slices.Clone(b.Memory.Deleted)
	b.Backfills = slices.Clone(b.Backfills)
	for i := range b.Backfills {
		b.Backfills[i].Except = slices.Clone(b.Backfills[i].Except)
	}
	return c
}
