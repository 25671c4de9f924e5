package cronjob

import (
	"slices"

	"github.com/batchplan/batchplan/job"
)

// few is the number of comparisons up to which a search is cheaper than a table.
const few = 256

// indexChildren returns a table of the places of the owned children by UID, for placeOf.
// It is empty if a search is cheaper.
func (p *Planner) indexChildren(s *Snapshot, m *memory) map[job.UID]int32 {
	clear(p.byUID)
	n := len(s.Children)
	if n*(len(s.CronJob.Status.Active)+len(m.Started)+len(m.Replaced)) <= few {
		return nil
	}
	if p.byUID == nil {
		p.byUID = make(map[job.UID]int32, n)
	}
	for i := range s.Children {
		if c := &s.Children[i]; !c.Foreign {
			p.byUID[c.UID] = int32(i)
		}
	}
	return p.byUID
}

// placeOf returns the place of an owned child, or -1.
func (c *census) placeOf(uid job.UID) int {
	if len(c.byUID) > 0 {
		if i, ok := c.byUID[uid]; ok {
			return int(i)
		}
		return -1
	}
	for i := range c.children {
		if child := &c.children[i]; child.UID == uid && !child.Foreign {
			return i
		}
	}
	return -1
}

// memberOf returns a function that reports whether a list names a job: by its UID, or by
// its name if the UID is not known. It is meant to be called so many times.
func memberOf(refs []Reference, times int) func(uid job.UID, name string) bool {
	if len(refs)*times <= few {
		return func(uid job.UID, name string) bool {
			for i := range refs {
				if r := &refs[i]; uid != "" && r.UID == uid || uid == "" && r.Name == name {
					return true
				}
			}
			return false
		}
	}
	uids, names := make(map[job.UID]bool, len(refs)), make(map[string]bool, len(refs))
	for i := range refs {
		uids[refs[i].UID], names[refs[i].Name] = true, true
	}
	return func(uid job.UID, name string) bool {
		if uid == "" {
			return names[name]
		}
		return uids[uid]
	}
}

// childNamed returns a function that finds the place of the first child of a name,
// whoever owns it, or -1. It is meant to be called so many times.
func childNamed(children []Child, times int) func(name string) int {
	if len(children)*times <= few {
		return func(name string) int {
			return slices.IndexFunc(children, func(c Child) bool { return c.Name == name })
		}
	}
	places := make(map[string]int, len(children))
	for i := range children {
		if _, ok := places[children[i].Name]; !ok {
			places[children[i].Name] = i
		}
	}
	return func(name string) int {
		if place, ok := places[name]; ok {
			return place
		}
		return -1
	}
}

// jobNamed returns a function that reports whether a job has a name: an active one, or a
// child, whoever owns it. It is meant to be called so many times.
func (c *census) jobNamed(times int) func(name string) bool {
	active, children := c.active, c.children
	if (len(active)+len(children))*times <= few {
		return func(name string) bool {
			return slices.ContainsFunc(active, func(r Reference) bool { return r.Name == name }) ||
				slices.ContainsFunc(children, func(c Child) bool { return c.Name == name })
		}
	}
	names := make(map[string]bool, len(active)+len(children))
	for i := range active {
		names[active[i].Name] = true
	}
	for i := range children {
		names[children[i].Name] = true
	}
	return func(name string) bool { return names[name] }
}
