package jobmodel

import (
	"slices"
	"strconv"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobcheck"
	"github.com/batchplan/batchplan/job/jobreason"
)

// checker builds the arguments for the checks of package jobcheck. It reuses its buffers.
type checker struct {
	job     job.Job
	pods    [maxPods]job.Pod
	list    [maxPods]*job.Pod
	history jobcheck.History
}

// names holds the UID and the name of each pod, by its place in the state.
var names = func() (out [maxPods]job.PodRef) {
	for i := range out {
		out[i] = job.PodRef{UID: job.UID("uid-" + strconv.Itoa(i+1)), Name: "p" + strconv.Itoa(i+1)}
	}
	return out
}()

// state returns the true state of the world before a write, for the checks of package jobcheck.
func (k *checker) state(w *worker, s *state) jobcheck.State {
	k.job = job.Job{Namespace: "default", Name: "j", UID: "job-1", Spec: w.rounds.specs.of(s.spec)}
	if s.deletedAt > 0 {
		k.job.DeletionTimestamp = clock(s.deletedAt - 1)
	}

	p := &s.past
	k.history = jobcheck.History{
		Pods: k.history.Pods[:0], MaxParallelism: int32(p.maxParallelism), Late: w.rounds.scope.Late,
		LostCreates: int64(p.lostCreates), LostStatus: p.lostStatus, Restarted: p.restarted, Traveled: p.traveled,
		Edited: p.edited, Lagged: p.lagged,
	}

	for index := range int32(8) {
		if p.succeeded&(1<<index) != 0 {
			k.history.Pods = append(k.history.Pods, jobcheck.Life{UID: "past", Index: index, Ended: job.PodSucceeded})
		}
	}

	live := k.list[:0]
	var lists job.UncountedTerminatedPods
	for i := range s.pods[:s.known()] {
		p := &s.pods[i]
		k.history.Pods = append(k.history.Pods, lifeOf(p, names[i].UID))
		addListed(&lists, p.listed, names[i].UID)
		if p.live == 0 {
			continue
		}

		k.pods[i] = w.rounds.pods.info(p.live).Pod
		k.pods[i].UID, k.pods[i].Name = names[i].UID, names[i].Name
		live = append(live, &k.pods[i])
	}

	k.job.Status = w.rounds.statuses.with(s.status, lists)
	return jobcheck.State{
		Job:     &k.job,
		Pods:    live,
		History: &k.history,
		Groups:  s.groups.all(),
		Options: w.rounds.scope.Options,
	}
}

func addListed(lists *job.UncountedTerminatedPods, in listed, uid job.UID) {
	if in&listedSucceeded != 0 {
		lists.Succeeded = append(lists.Succeeded, uid)
	}
	if in&listedFailed != 0 {
		lists.Failed = append(lists.Failed, uid)
	}
}

func lifeOf(p *pod, uid job.UID) jobcheck.Life {
	l := jobcheck.Life{UID: uid, Index: -1, Removed: p.facts&factRemoved != 0}
	switch {
	case p.facts&factSucceeded != 0:
		l.Ended = job.PodSucceeded
	case p.facts&factFailed != 0:
		l.Ended = job.PodFailed
	}
	switch {
	case p.facts&factCountedSucceeded != 0:
		l.Counted = jobreason.CountedSucceeded
	case p.facts&factCountedFailed != 0:
		l.Counted = jobreason.CountedFailed
	}
	return l
}

// overlapping names the invariants that hold while two controllers overlap (F9). Some hold because
// each pod is still counted once, and the rest because an API server refuses writes that conflict.
var overlapping = []string{"JI1", "JI2", "JI4", "JI14", "JI15", "JI17", "JI20"}

// first returns the first violation of an invariant that must hold in the scope.
func (w *worker) first(found []jobcheck.Violation) error {
	for _, v := range found {
		if w.rounds.scope.Controllers == 1 || slices.Contains(overlapping, v.Rule) {
			return v
		}
	}
	return nil
}

func (k *checker) untrack(w *worker, s *state, i int) error {
	st := k.state(w, s)
	return w.first(st.Untrack(&k.pods[i]))
}

func (k *checker) deleteUntracked(w *worker, s *state, i int) error {
	st := k.state(w, s)
	return w.first(st.DeleteUntracked(&k.pods[i]))
}

func (k *checker) create(w *worker, s *state, write writeStep) error {
	st := k.state(w, s)
	var c job.Creation
	if write.grouped {
		c.Group = groupRef
	}
	return w.first(st.Create(&c, jobcheck.Active(st.Pods)+1))
}

// status checks a status that is to be written, with the uncounted list that each pod is in.
func (k *checker) status(w *worker, s *state, id statusID, in [maxPods]listed) []jobcheck.Violation {
	st := k.state(w, s)
	var lists job.UncountedTerminatedPods
	for i := range s.pods[:s.known()] {
		addListed(&lists, in[i], names[i].UID)
	}
	next := w.rounds.statuses.with(id, lists)
	return st.Status(&next)
}
