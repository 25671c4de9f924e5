package world

import (
	"slices"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// Deliver brings the controller's view of one pod up to date, and updates its
// expectations as an informer would (E1, E4).
func (w *Job) Deliver(uid job.UID) {
	w.shown++
	live := w.find(uid)
	seen := slices.IndexFunc(w.View.Pods, func(p job.Pod) bool { return p.UID == uid })
	switch {
	case live == nil && seen < 0:
	case live == nil:
		w.observeGone(&w.View.Pods[seen])
		w.View.Pods = slices.Delete(w.View.Pods, seen, seen+1)
	case seen < 0:
		w.View.Pods = append(w.View.Pods, *live)
		w.observeNew(live)
	default:
		w.observeChange(&w.View.Pods[seen], live)
		w.View.Pods[seen] = *live
	}
}

// DeliverJob brings the controller's view of the job up to date.
func (w *Job) DeliverJob() {
	w.shown++
	w.View.Job, w.View.Version = w.Job, w.version
}

// DeliverAll brings the whole view up to date.
func (w *Job) DeliverAll() {
	seen := make(map[job.UID]bool, len(w.View.Pods))
	for i := range w.View.Pods {
		p := &w.View.Pods[i]
		seen[p.UID] = true
		if live := w.find(p.UID); live != nil {
			w.observeChange(p, live)
		} else {
			w.observeGone(p)
		}
	}
	for _, p := range w.Pods {
		if !seen[p.UID] {
			w.observeNew(p)
		}
	}
	w.relist()
}

// relist shows the controller everything, and leaves its expectations alone.
func (w *Job) relist() {
	w.View.Pods = make([]job.Pod, len(w.Pods))
	for i, p := range w.Pods {
		w.View.Pods[i] = *p
	}
	w.DeliverJob()
	w.DeliverGroups()
}

// DeliverGroups brings the controller's view of the workloads and pod groups up to date.
func (w *Job) DeliverGroups() { w.View.Groups = w.Groups }

func (w *Job) observeNew(p *job.Pod)  { w.observe(p, 1, boolToInt(p.Deletion != nil)) }
func (w *Job) observeGone(p *job.Pod) { w.observe(p, 0, boolToInt(p.Deletion == nil)) }
func (w *Job) observeChange(old, live *job.Pod) {
	w.observe(live, 0, boolToInt(old.Deletion == nil && live.Deletion != nil))
}

// observe updates the expectations from what an informer has seen of the job's own pods.
func (w *Job) observe(p *job.Pod, creations, deletions int) {
	if p.Owner <= jobpod.OwnedUnmatched {
		w.Memory.Expectations = w.Memory.Expectations.Lower(creations, deletions)
	}
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
