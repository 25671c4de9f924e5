package jobtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/batchplan/batchplan/internal/indexset"
	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobcheck"
	"github.com/batchplan/batchplan/job/jobpod"
)

// traits name a job and its pods in a story, and tell the pods apart.
var traits = life.Traits[job.Pod]{
	Object:   "job",
	Child:    "pod",
	Title:    "pod ",
	Key:      uidOf,
	ID:       uidOf,
	Name:     func(p *job.Pod) string { return p.Name },
	Describe: func(p *job.Pod) string { return p.Name + ": " + describe(p) },
}

func uidOf(p *job.Pod) string { return string(p.UID) }

// pod returns the pod of that UID, or nil.
func (e *Env) pod(uid job.UID) *job.Pod { return e.truth.Child(string(uid)) }

// state returns the input of the checks of a write.
func (e *Env) state() *jobcheck.State {
	return &jobcheck.State{
		Job:     &e.truth.Object,
		Pods:    e.truth.Children,
		History: &e.history,
		Groups:  e.groups,
		Options: e.options,
	}
}

// plannedState returns the state with the spec for which the plan was made. A status and its
// indexes are checked against that spec.
func (e *Env) plannedState() *jobcheck.State {
	st, seen := e.state(), e.truth.Object
	seen.Spec = e.seen
	st.Job = &seen
	return st
}

// look reads the store again, and compares it with what the store held before write w. Argument pod
// is the pod that w writes. If w is zero, nothing may have changed.
func (e *Env) look(w world.Write, pod job.UID) {
	e.was = e.truth
	groups := e.groups
	e.read()
	e.checkGroups(groups, w)
	switch old, is := &e.was.Object.Status, &e.truth.Object.Status; {
	case sameStatus(old, is):
	case w.Verb == world.WriteStatus:
		e.history.Recorded(old, is)
	default:
		e.life.Breaks("Store", "the status has changed%s: %s, it was %s", life.By(w), is, old)
	}

	was, is := e.was.Object, e.truth.Object
	was.Status, is.Status, was.Version, is.Version = job.Status{}, job.Status{}, 0, 0
	if text := life.Difference(&was, &is); text != "" {
		e.life.Breaks("Store", "the job has changed%s: %s", life.By(w), text)
	}

	var born, gone []*job.Pod
	for old, p := range e.truth.Against(e.was.Children) {
		switch {
		case p == nil:
			gone = append(gone, old)
		case old != nil:
			if pod != p.UID && !samePod(old, p) {
				e.life.Breaks("Store", "%s has changed%s: %s, it was %s",
					p.Name, life.By(w), describe(p), describe(old))
			}
		case e.history.Of(p.UID) != nil:
			e.life.Breaks("Store", "%s with UID %s was gone, and is back%s: "+
				"a UID must be new in the whole life, also after a start", p.Name, p.UID, life.By(w))
		default:
			born = append(born, p)
			e.life.IsNew(p.Name, p.UID)
			e.history.Born(p)
		}
	}

	if w.Verb != world.Create && len(born) > 0 || len(born) > 1 {
		e.life.Breaks("Store", "%d new pods%s", len(born), life.By(w))
	}
	for _, p := range gone {
		e.checkGone(p, w, pod)
	}
}

func (e *Env) read() {
	readJob := e.subject.Store.Job
	if e.gone {
		readJob = func() (job.Job, error) { return e.truth.Object, nil }
	}
	e.truth.Read(readJob, e.subject.Store.Pods)
	e.readGroups()
	e.watch.Note()

	// On the page, a kubelet kills a pod when its grace period is over. Here it may be late.
	isLate := func(p *job.Pod) bool {
		return p.Deletion != nil && p.Phase == job.PodRunning && !e.life.Now().Before(p.Deletion.Timestamp)
	}
	if slices.ContainsFunc(e.truth.Children, isLate) {
		e.life.Abandons()
	}
}

// checkGone checks that a pod did not vanish while it had its finalizer, or without a reason.
func (e *Env) checkGone(p *job.Pod, w world.Write, pod job.UID) {
	removed := false
	if l := e.history.Of(p.UID); l != nil {
		removed = l.Removed
	}
	isCounted := p.Untracked || removed
	isUntracked := w.Verb == world.Untrack || w.Verb == world.Release
	switch {
	case !isCounted && !isUntracked:
		e.life.Breaks("JI9", "%s is gone%s, and it had its finalizer: it is never counted", p.Name, life.By(w))
	case pod != p.UID && !world.IsCollected(p):
		e.life.Breaks("Store", "%s is gone%s", p.Name, life.By(w))
	}
}

// indexTwice checks that no other pod has the index, and that it is not completed (JI7).
func (e *Env) indexTwice(index int32) (wrong []jobcheck.Violation) {
	j := &e.truth.Object
	if j.Spec.CompletionMode != job.Indexed || e.subject.Late {
		return nil
	}

	for _, p := range e.truth.Children {
		if p.Owner == jobpod.Owned && p.Index.Int32() == index {
			runs := p.Phase < job.PodSucceeded && p.Deletion == nil
			wrong = append(wrong, life.Wrong(runs, "JI7", "index %d is created again, beside %s", index, p.Name)...)
		}
	}

	var done indexset.Set
	done.AddText(j.Status.CompletedIndexes, *j.Spec.Completions)
	return append(wrong, life.Wrong(done.Has(index), "JI7", "index %d is created again, and is completed", index)...)
}

// checkCreated checks that the store has made the pod that was requested.
func (e *Env) checkCreated(p *job.Pod, ref job.PodRef, c *job.Creation) {
	switch {
	case p == nil:
		e.life.Breaks("Store", "%s was created with UID %q, and there is no such pod", ref.Name, ref.UID)
	case p.Name != ref.Name:
		e.life.Breaks("Store", "%s was created, and its name is %s", ref.Name, p.Name)
	case p.Untracked || p.Owner != jobpod.Owned:
		e.life.Breaks("Store", "%s was created without the finalizer or the owner: %s", p.Name, describe(p))
	case p.Detail == nil || p.Detail.CreationTimestamp.IsZero():
		e.life.Breaks("Store", "%s was created, and has no creationTimestamp: "+
			"it decides which pods are deleted first (J29)", p.Name)
	case p.Detail.CreationTimestamp.Sub(e.life.Now()).Abs() > time.Second:
		e.life.Breaks("Store", "%s was created at %s, and its creationTimestamp is %s: "+
			"the clock of the life is Env.Now", p.Name, e.life.Now(), p.Detail.CreationTimestamp)
	case e.truth.Object.Spec.CompletionMode == job.Indexed && p.Index != c.Index:
		e.life.Breaks("Store", "%s was created with index %s, want %s", p.Name, p.Index, c.Index)
	case c.PerIndex && !hasFailures(p.Detail, c):
		e.life.Breaks("Store", "%s was created without the failures of its index, %d and %d ignored (J18)",
			p.Name, c.FailureCount, c.IgnoredFailureCount)
	}
}

// hasFailures reports whether a pod starts with the failure counts that were requested.
func hasFailures(d *job.PodDetail, c *job.Creation) bool {
	return d.FailureCount == c.FailureCount && d.IgnoredFailureCount == c.IgnoredFailureCount
}

// checkDeleted checks that a pod is being deleted. Its finalizer must have been removed if and only
// if UntrackFirst is set and the deletion names the pod's version. The arguments was and is are the
// pod before and after the write; nil means that there was none.
func (e *Env) checkDeleted(was, is *job.Pod, d *job.Deletion) {
	hadFinalizer := was != nil && !was.Untracked
	isVersioned := was != nil && was.Detail != nil && !e.subject.Unconditional
	switch {
	case d.UntrackFirst && isVersioned && was.Detail.ResourceVersion != d.ResourceVersion:
		e.life.Breaks("Store", "%s was deleted with UntrackFirst as of version %q, and was at version %q: "+
			"the finalizer may only go on that condition", d.Name, d.ResourceVersion, was.Detail.ResourceVersion)
	case is == nil:
	case is.Deletion == nil:
		e.life.Breaks("Store", "%s was deleted, and is there as before", d.Name)
	case d.UntrackFirst && !is.Untracked:
		e.life.Breaks("Store", "%s was deleted with UntrackFirst, and has its finalizer", d.Name)
	case !d.UntrackFirst && hadFinalizer && is.Untracked:
		e.life.Breaks("Store", "%s was deleted without UntrackFirst, and has lost its finalizer", d.Name)
	}
}

// checkNotDeleted checks a deletion that has failed: it must not remove the finalizer of a pod that
// has succeeded (JI9). Arguments was and is are the pod before and after the write; nil means that
// there is none.
func (e *Env) checkNotDeleted(was, is *job.Pod) {
	hadSuccess := was != nil && !was.Untracked && was.Phase == job.PodSucceeded
	if hadSuccess && is != nil && is.Untracked {
		e.life.Breaks("JI9", "the success of %s is lost: its deletion has failed, and its finalizer is gone", is.Name)
	}
}

// samePod compares the fields that the rules of a job read.
func samePod(a, b *job.Pod) bool {
	switch {
	case a.Name != b.Name,
		a.Phase != b.Phase,
		a.Owner != b.Owner,
		a.Untracked != b.Untracked,
		a.Ready != b.Ready:
		return false
	}
	return (a.Deletion == nil) == (b.Deletion == nil)
}

// sameStatus compares statuses, with times in whole seconds.
func sameStatus(a, b *job.Status) bool { return life.Difference(a, b) == "" }

// describe describes a pod in a few words.
func describe(p *job.Pod) string {
	text := p.Phase.String()
	if p.Index.Int32() >= 0 {
		text += fmt.Sprintf(" index=%d", p.Index.Int32())
	}
	if p.Owner != jobpod.Owned {
		text += " " + p.Owner.String()
	}
	if !p.Untracked {
		text += " tracked"
	}
	if p.Deletion != nil {
		text += " deleted"
	}
	return text
}

// reported returns the part of a pod that a kubelet reports and that the rules of this job read. It
// has the pod's conditions only if the job has a podFailurePolicy.
func (e *Env) reported(p *job.Pod) job.Pod {
	is := job.Pod{UID: p.UID, Phase: p.Phase, Assigned: p.Assigned, Ready: p.Ready, Deletion: p.Deletion}
	if p.Detail != nil {
		detail := *p.Detail
		detail.ResourceVersion = ""
		if e.truth.Object.Spec.PodFailurePolicy == nil {
			detail.Conditions = nil
		}
		is.Detail = &detail
	}
	return is
}
