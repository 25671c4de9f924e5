package cronjob

import "slices"

// few is the number of comparisons up to which a search is cheaper than a table.
const few = 256

// memberOf tells whether a list names a job, by its UID, or by its name where that is
// not known. It is meant to be asked so many times.
func memberOf(refs []Reference, times int) func(uid, name string) bool {
	if len(refs)*times <= few {
		return func(uid, name string) bool {
			for i := range refs {
				if r := &refs[i]; uid != "" && r.UID == uid || uid == "" && r.Name == name {
					return true
				}
			}
			return false
		}
	}
	uids, names := make(map[string]bool, len(refs)), make(map[string]bool, len(refs))
	for i := range refs {
		uids[refs[i].UID], names[refs[i].Name] = true, true
	}
	return func(uid, name string) bool {
		if uid == "" {
			return names[name]
		}
		return uids[uid]
	}
}

// childNamed finds children by name, ours before others', and returns their places, or
// -1. It is meant to be asked so many times.
func (p *Planner) childNamed(times int) func(name string) int {
	children := p.snap.Children
	if len(children)*times <= few {
		return func(name string) int { return childByName(children, name) }
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

// childByName returns the place of the child of that name, or -1. A source of truth
// holds one at most.
func childByName(children []Child, name string) int {
	for i := range children {
		if children[i].Name == name {
			return i
		}
	}
	return -1
}

// jobNamed tells whether a name is that of a job: of an active one, or of a child,
// whoever owns it. It is meant to be asked so many times.
func (p *Planner) jobNamed(times int) func(name string) bool {
	active, children := p.plan.basis.Status.Active, p.snap.Children
	if (len(active)+len(children))*times <= few {
		return func(name string) bool {
			return slices.ContainsFunc(active, func(r Reference) bool { return r.Name == name }) || childByName(children, name) >= 0
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
