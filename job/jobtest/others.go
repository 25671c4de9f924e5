package jobtest

import (
	"fmt"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// LabelStore is a Store whose pods belong to a job by their labels. Other clients can create
// pods that the job's selector matches, and change the labels of its pods. The program's backend is
// a [jobapply.Adopter].
type LabelStore interface {
	// AddPod stores a pod without an owner that the selector matches. A pod that a removed job
	// has left behind may have the finalizer.
	AddPod(p job.Pod) error
	// Relabel changes the labels of a pod of the job, so that the selector matches them or no
	// longer does.
	Relabel(pod job.UID, matches bool) error
}

// others lets another client create or relabel a pod. It reports whether it did.
func (e *Env) others() bool {
	s := e.subject.Store.(LabelStore)
	e.life.Abandons() // Kubernetes makes no such pods, and they would shift the numbers of the others
	switch e.life.Pick("client", 5) {
	case 0:
		return e.relabel(s)
	case 1:
		return e.orphan(s, "left of a job that is gone", false)
	case 2, 3:
		e.adopting = !e.subject.OneWriter
		return e.orphan(s, "that nobody owns", true)
	default:
		return e.orphan(s, "that nobody owns", true)
	}
}

func (e *Env) orphan(s LabelStore, what string, untracked bool) bool {
	e.orphans++
	p := job.Pod{
		Name:      fmt.Sprint("orphan-", e.orphans),
		UID:       job.UID(fmt.Sprint("orphan-uid-", e.orphans)),
		Owner:     jobpod.Orphan,
		Untracked: untracked,
		Detail:    &job.PodDetail{CreationTimestamp: e.life.Now()},
	}
	if e.truth.Object.Spec.CompletionMode == job.Indexed {
		p.Index = job.IndexAt(int32(e.life.Pick("index", 8)) - 1)
	}

	e.life.Tell("%sa pod %s matches: %s, %s", e.life.Meanwhile, what, p.Name, describe(&p))
	e.life.Must("add pod "+p.Name, s.AddPod(p))
	e.history.Born(&p)
	e.read()

	if is := e.pod(p.UID); is == nil || is.Owner != jobpod.Orphan {
		e.life.Breaks("Store", "pod %s was added, and is not there as an orphan", p.Name)
	}
	return true
}

func (e *Env) relabel(s LabelStore) bool {
	p := e.truth.Pick(func(p *job.Pod) bool { return p.Owner <= jobpod.OwnedUnmatched && !e.purged[p.UID] })
	if p == nil {
		return false
	}

	matches := p.Owner != jobpod.Owned
	verdict := map[bool]string{true: "matches", false: "does not match"}[matches]
	e.life.Tell("%sa user relabels %s: the selector %s it", e.life.Meanwhile, p.Name, verdict)
	e.life.Must("relabel pod "+p.Name, s.Relabel(p.UID, matches))
	e.read()
	if is := e.pod(p.UID); is == nil || (is.Owner == jobpod.Owned) != matches {
		e.life.Breaks("Store", "%s was relabelled, and the store does not know", p.Name)
	}
	return true
}

// checkAdopted checks that an orphan has become a pod of the job, with the finalizer.
func (e *Env) checkAdopted(was, is *job.Pod) {
	wasOrphan := was != nil && was.Owner == jobpod.Orphan
	isAdopted := is == nil || is.Owner == jobpod.Owned && !is.Untracked
	if wasOrphan && !isAdopted {
		e.life.Breaks("Store", "%s was adopted, and is %s", is.Name, describe(is))
	}
}
