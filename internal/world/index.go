package world

import (
	"slices"

	"github.com/batchplan/batchplan/job"
)

// index finds pods by UID. A short list is searched, and keeps its order; a long one has a map, and
// the last pod takes the place of a removed pod.
type index struct{ at map[job.UID]int }

const short = 32

// of returns where the pod is in the list, or -1.
func (x *index) of(pods []*job.Pod, uid job.UID) int {
	if x.at == nil && len(pods) > short {
		x.at = make(map[job.UID]int, 2*len(pods))
		for i, p := range pods {
			x.at[p.UID] = i
		}
	}

	if x.at != nil {
		if i, ok := x.at[uid]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(pods, func(p *job.Pod) bool { return p.UID == uid })
}

// added notes that the last pod of the list is new.
func (x *index) added(pods []*job.Pod) {
	if x.at != nil {
		x.at[pods[len(pods)-1].UID] = len(pods) - 1
	}
}

// remove returns the list without the pod. The old list can still be ranged over.
func (x *index) remove(pods []*job.Pod, p *job.Pod) []*job.Pod {
	i := x.of(pods, p.UID)
	switch {
	case i < 0 || pods[i] != p:
		return pods
	case x.at == nil:
		return slices.Concat(pods[:i], pods[i+1:])
	}

	last := len(pods) - 1
	pods[i] = pods[last]
	x.at[pods[i].UID] = i
	delete(x.at, p.UID)
	if last <= short {
		x.at = nil
	}
	return pods[:last]
}
