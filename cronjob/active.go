package cronjob

import (
	"cmp"
	"slices"

	"github.com/batchplan/batchplan/job"
)

// matchActive compares the active list of the status with the children: finished
// jobs leave it (C4), those without a child are to be looked up and stay until
// the answer is known (C5), and running children that it does not name are
// left to reportUnexpected (C3).
func (p *Planner) matchActive() {
	children, listed := p.snap.Children, p.cj.Status.Active
	p.indexChildren()
	left := 0
	for i := range listed {
		place := p.childOf(listed[i].UID)
		if place < 0 {
			p.plan.Verify = append(p.plan.Verify, listed[i])
			continue
		}
		p.listed[place] = true
		if c := &children[place]; c.isFinished() {
			left++
			p.event(job.Normal, "SawCompletedJob", sawCompleted(listed[i].Name)+", condition: "+string(c.Finished))
		}
	}
	if left > 0 {
		p.dropFinished()
	}
	p.kept = len(listed) - left
	for i := range children {
		c := &children[i]
		switch {
		case c.Owner != Owned:
		case !c.isFinished():
			p.unlisted = p.unlisted || !p.listed[i]
		case c.Finished == job.Complete:
			p.sawSuccess(c)
		}
	}
}

func sawCompleted(name string) string { return "Saw completed job: " + name }

// dropFinished makes the active list anew: that of the snapshot is not ours to change.
func (p *Planner) dropFinished() {
	p.active = p.active[:0]
	for _, ref := range p.cj.Status.Active {
		if place := p.childOf(ref.UID); place < 0 || !p.snap.Children[place].isFinished() {
			p.active = append(p.active, ref)
		}
	}
	p.plan.basis.Status.Active = p.active
}

// sawSuccess moves lastSuccessfulTime forward, never back (C4, CI12).
func (p *Planner) sawSuccess(c *Child) {
	if status := &p.plan.basis.Status; c.CompletionTime.After(status.LastSuccessfulTime) {
		status.LastSuccessfulTime = c.CompletionTime
	}
}

// reportUnexpected tells of running jobs that are the CronJob's and that it did
// not record, in the order of their names.
func (p *Planner) reportUnexpected() {
	if !p.unlisted {
		return
	}
	refs := p.plan.Unexpected
	for i := range p.snap.Children {
		if c := &p.snap.Children[i]; c.Owner == Owned && !c.isFinished() && !p.listed[i] {
			refs = append(refs, p.reference(c))
		}
	}
	p.plan.Unexpected = refs
	slices.SortFunc(refs, func(a, b Reference) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	for i := range refs {
		p.event(job.Warning, "UnexpectedJob", "Saw a job that the controller did not create or forgot: "+refs[i].Name)
	}
}

// indexChildren prepares childOf.
func (p *Planner) indexChildren() {
	n := len(p.snap.Children)
	p.listed = slices.Grow(p.listed[:0], n)[:n]
	clear(p.listed)
	clear(p.byUID)
	m := &p.plan.basis.Memory
	if n*(len(p.cj.Status.Active)+len(m.Started)+len(m.Replaced)) <= few {
		return
	}
	if p.byUID == nil {
		p.byUID = make(map[string]int32, n)
	}
	for i := range p.snap.Children {
		if c := &p.snap.Children[i]; c.Owner == Owned {
			p.byUID[c.UID] = int32(i)
		}
	}
}

// childOf returns the place of an owned child, or -1.
func (p *Planner) childOf(uid string) int {
	if len(p.byUID) > 0 {
		if i, ok := p.byUID[uid]; ok {
			return int(i)
		}
		return -1
	}
	for i := range p.snap.Children {
		if c := &p.snap.Children[i]; c.UID == uid && c.Owner == Owned {
			return i
		}
	}
	return -1
}

// reference is how the active list names a child.
func (p *Planner) reference(c *Child) Reference {
	return Reference{
		Kind:       "Job",
		APIVersion: "batch/v1",
		Namespace:  p.cj.Namespace,
		Name:       c.Name,
		UID:        c.UID,
	}
}
