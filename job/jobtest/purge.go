package jobtest

import (
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobpod"
)

// Purger is a Store of a backend that removes pods by itself some time after they have ended,
// whether they were counted or not.
type Purger interface {
	// Purge removes a pod that has ended. A Cache sees that the pod is gone. Until the program
	// removes the finalizer, Pods and all snapshots must show the pod as it was, so the program has
	// to keep it in a ledger. A pod is purged only after a plan was made from a snapshot that shows
	// the end of the pod.
	Purge(pod job.UID) error
}

// noteEnds notes the pods that have ended in a snapshot.
func (e *Env) noteEnds(s *job.Snapshot) {
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Phase >= job.PodSucceeded {
			e.ended[p.UID] = true
		}
	}
}

// isPurgeable reports whether the backend can remove the pod by itself now.
func (e *Env) isPurgeable(p *job.Pod) bool {
	if _, ok := e.subject.Store.(Purger); !ok || e.purged[p.UID] {
		return false
	}
	return p.Phase >= job.PodSucceeded && p.Owner == jobpod.Owned && e.ended[p.UID]
}

// purge lets the backend remove a pod by itself. A pod with its finalizer must stay as it is (JI9).
func (e *Env) purge(p *job.Pod) {
	e.life.Tell("%spod %s is purged", e.life.Meanwhile, p.Name)
	e.life.Abandons() // a story has no such backend
	e.purged[p.UID] = true
	e.life.Must("purge pod "+p.Name, e.subject.Store.(Purger).Purge(p.UID))
	e.read()
	if p.Untracked {
		return
	}

	is := e.pod(p.UID)
	switch {
	case is == nil:
		e.life.Breaks("JI9", "%s was purged, and it had its finalizer: it is never counted", p.Name)
	case !samePod(p, is) || p.Index != is.Index:
		e.life.Breaks("Store", "%s was %s, was purged, and is %s", p.Name, describe(p), describe(is))
	default:
		e.life.Kept("pod "+p.Name+" was purged", e.reported(p), e.reported(is))
	}
}

// purgeAfter lets the program be down for a while after a failed round. Meanwhile the backend
// purges its pods.
func (e *Env) purgeAfter(failed bool) {
	ended := e.truth.Those(e.isPurgeable)
	mayPurge := failed && !e.life.Quiet && len(ended) > 0
	if !mayPurge || !rapid.Bool().Draw(e.life.T, "purged") {
		return
	}

	e.life.Tell("the next round is 20 minutes later")
	e.program.MoveClock(e.life.Now().Add(20 * time.Minute))
	for _, p := range ended {
		e.purge(p)
	}
}

// checkPurged checks the purged pods that still have their finalizer: the snapshot must show each
// of them as it was before the purge (JI9).
func (e *Env) checkPurged(s *job.Snapshot) {
	shown := make(map[job.UID]*job.Pod, len(s.Pods))
	for i := range s.Pods {
		shown[s.Pods[i].UID] = &s.Pods[i]
	}

	for _, p := range e.truth.Those(func(p *job.Pod) bool { return e.purged[p.UID] && !p.Untracked }) {
		if seen := shown[p.UID]; seen == nil {
			e.life.Breaks("JI9", "the snapshot lacks %s, which was purged before it was counted", p.Name)
		} else if text := life.Difference(e.reported(p), e.reported(seen)); text != "" {
			e.life.Breaks("Store", "%s was purged, and the snapshot shows it otherwise: %s", p.Name, text)
		}
	}
}
