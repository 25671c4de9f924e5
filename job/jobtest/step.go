package jobtest

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
)

// steps returns the events of which the program is notified. Likely events are in the list several
// times.
func (e *Env) steps() life.Steps {
	times := []time.Duration{time.Second, 11 * time.Second, time.Minute, 20 * time.Minute}
	drawTime := func(t *rapid.T) time.Duration { return rapid.SampledFrom(times).Draw(t, "time") }
	steps := e.program.Steps(drawTime, time.Second, time.Minute, time.Hour)

	told := e.program.Tells
	steps.Add(5, "a pod", told(func() bool { return e.one().kubelet() }))
	steps.Add(2, "the time asked for", func(*rapid.T) { e.program.WakeUp(24 * time.Hour) })
	steps.Add(1, "user", told(func() bool { return e.one().user() }))
	if _, ok := e.subject.Store.(LabelStore); ok {
		steps.Add(2, "another client", told(e.others))
	}
	return steps
}

// interfere lets a kubelet or a user act before a write of a round. pod is the UID of the pod that
// is written. A pod that is about to be deleted may succeed.
func (e *Env) interfere(verb world.Verb, pod job.UID) {
	if verb == world.Adopt && e.adopting && e.delete() {
		e.adopting, e.edited = false, true
		return
	}

	var user func() bool
	if !e.subject.OneWriter && !e.gone {
		user = func() bool {
			e := e.one()
			was := e.truth.Object
			done := e.user()
			// A store may ignore an edit that changes nothing.
			e.edited = e.edited || done && life.Difference(&was, &e.truth.Object) != ""
			return done
		}
	}

	others := func() bool { return e.one().kubelet() }
	if p := e.pod(pod); verb == world.Delete && p != nil {
		others = func() bool {
			return e.podStep(p, "succeeds", func(p *job.Pod) bool { return world.FinishPod(p, e.life.Now(), 0) })
		}
	}
	e.program.Interfere(others, user)
}

// kubelet makes one step of a pod, and reports whether the program is notified of it. It may also
// purge a pod that has ended, without notifying the program.
func (e *Env) kubelet() bool {
	p := e.truth.Pick(func(p *job.Pod) bool { return isLeft(p) || !p.Untracked && e.isPurgeable(p) })
	switch {
	case p == nil:
		return false
	case e.isPurgeable(p):
		e.purge(p)
		return false
	}

	finish := func(code int32) func(*job.Pod) bool {
		return func(p *job.Pod) bool { return world.FinishPod(p, e.life.Now(), code) }
	}
	remove := func(p *job.Pod) bool { return world.DeletePod(p, e.life.Now()) }
	switch n := e.life.Pick("kubelet", 10); {
	case n < 2 && p.Phase == job.PodPending:
		return e.podStep(p, "runs", func(p *job.Pod) bool { return world.RunPod(p, e.life.Now()) })
	case n < 5:
		return e.podStep(p, "succeeds", finish(0))
	case n < 7:
		return e.podStep(p, "fails with exit code 1", finish(1))
	case n < 8:
		return e.podStep(p, "fails with exit code 42", finish(42))
	case n < 9:
		return e.podStep(p, "is evicted", func(p *job.Pod) bool { return world.DisruptPod(p) && remove(p) })
	default:
		return e.podStep(p, "is deleted", remove)
	}
}

// podStep changes a pod and stores it.
func (e *Env) podStep(p *job.Pod, says string, step func(*job.Pod) bool) bool {
	changed := *p
	if !step(&changed) {
		return false
	}

	if ended := p.Phase < job.PodSucceeded && changed.Phase >= job.PodSucceeded; ended {
		e.history.Ended(&changed)
	} else if says == "succeeds" {
		says = "runs"
	}

	e.life.Tell("%spod %s %s", e.life.Meanwhile, p.Name, says)
	e.does(p, &changed)
	e.life.Must("update pod "+p.Name, e.subject.Store.UpdatePod(changed))
	e.read()

	switch is := e.pod(p.UID); {
	case is == nil && !world.IsCollected(&changed):
		e.life.Breaks("Store", "pod %s was updated, and is gone", p.Name)
	case is != nil && world.IsCollected(&changed):
		e.life.Breaks("Store", "pod %s is being deleted, does not run, has no finalizer, and is still there: "+
			"the store has to remove it when it is updated", p.Name)
	case is != nil && is.Untracked != changed.Untracked:
		e.life.Breaks("Store", "pod %s was updated to %s, and is %s", p.Name, describe(&changed), describe(is))
	case is != nil:
		e.life.Kept("pod "+p.Name+" was updated", e.reported(&changed), e.reported(is))
	}
	e.happened()
	return true
}

// The method does adds a step to the life: what has happened to a pod.
func (e *Env) does(old, is *job.Pod) {
	pod := fmt.Sprint("#", e.truth.Number(old)-e.before)
	code := int32(0)
	if is.Detail != nil && len(is.Detail.Containers) > 0 {
		code = is.Detail.Containers[0].ExitCode
	}
	isEvicted := func(c job.PodCondition) bool { return c.Type == "DisruptionTarget" }
	switch {
	case old.Deletion == nil && is.Deletion != nil && slices.ContainsFunc(is.Detail.Conditions, isEvicted):
		e.life.Does("evict", pod)
	case old.Deletion == nil && is.Deletion != nil:
		e.life.Does("delete", pod)
	case old.Phase == is.Phase:
	case is.Phase == job.PodRunning:
		e.life.Does("run", pod)
	case code == 0:
		e.life.Does("succeed", pod)
	default:
		e.life.Does("fail", pod, fmt.Sprint("code=", code))
	}
}

// user edits the job, or deletes it. It reports whether the job has changed.
func (e *Env) user() bool {
	spec := e.truth.Object.Spec
	switch n := e.life.Pick("user", 10); {
	case n < 4:
		suspend := !*spec.Suspend
		spec.Suspend = &suspend
		return e.edit(map[bool]string{true: "suspends ", false: "resumes "}[suspend]+e.the(), spec)
	case n < 8:
		parallelism := int32(e.life.Pick("parallelism", 6))
		spec.Parallelism = &parallelism
		return e.edit(fmt.Sprintf("sets parallelism%s to %d", e.of(), parallelism), spec)
	case n < 9:
		if spec.CompletionMode != job.Indexed || spec.SuccessPolicy != nil || spec.MaxFailedIndexes != nil {
			return false
		}
		completions := int32(1 + e.life.Pick("completions", 5))
		parallelism := completions
		spec.Completions, spec.Parallelism = &completions, &parallelism
		return e.edit(fmt.Sprintf("sets completions and parallelism%s to %d", e.of(), completions), spec)
	default:
		return e.delete()
	}
}

// delete lets a user delete the job. It reports whether the job was deleted.
func (e *Env) delete() bool {
	d, ok := e.subject.Store.(JobDeleter)
	if !ok || !e.truth.Object.DeletionTimestamp.IsZero() {
		return false
	}

	e.life.Tell("%sa user deletes %s", e.life.Meanwhile, e.the())
	e.life.Does("delete-job")
	e.life.Must("delete the job", d.DeleteJob(e.life.Now()))
	e.read()
	e.happened()
	return true
}

func (e *Env) edit(says string, spec job.Spec) bool {
	e.life.Tell("%sa user %s", e.life.Meanwhile, says)
	e.life.Edits(&e.truth.Object.Spec, &spec)
	e.life.Must("update the spec", e.subject.Store.UpdateSpec(spec))

	e.history.Edited = true
	e.history.MaxParallelism = max(e.history.MaxParallelism, *spec.Parallelism)

	e.read()
	e.life.Kept("the spec was updated", &spec, &e.truth.Object.Spec)
	e.happened()
	return true
}

// specText describes a spec in one line: the fields that matter and are not the default.
func specText(s *job.Spec) string {
	var w life.Words
	w.Add(s.CompletionMode == job.Indexed, "Indexed")
	w.Add(s.Completions != nil, "completions %d", value.Of(s.Completions))
	w.Add(true, "parallelism %d, backoffLimit %d", *s.Parallelism, *s.BackoffLimit)
	w.Add(s.BackoffLimitPerIndex != nil, "backoffLimitPerIndex %d", value.Of(s.BackoffLimitPerIndex))
	w.Add(s.MaxFailedIndexes != nil, "maxFailedIndexes %d", value.Of(s.MaxFailedIndexes))
	w.Add(s.ActiveDeadlineSeconds != nil, "activeDeadlineSeconds %d", value.Of(s.ActiveDeadlineSeconds))
	w.Add(s.Template.RestartPolicy != "", "%s", s.Template.RestartPolicy)
	w.Add(value.Of(s.Suspend), "suspended")
	w.Add(s.PodFailurePolicy != nil, "with a podFailurePolicy")
	w.Add(s.SuccessPolicy != nil, "with a successPolicy")
	w.Add(isGang(s), "a gang%s", gangSize(s))
	w.Add(s.ManagedBy != nil, "managedBy %s", value.Of(s.ManagedBy))
	w.Add(s.PodReplacementPolicy == job.ReplaceFailed, "replaces failed pods only")
	return w.String()
}

func isGang(s *job.Spec) bool {
	return s.Scheduling != nil && s.Scheduling.SchedulingPolicy != nil && s.Scheduling.SchedulingPolicy.Gang != nil
}

func gangSize(s *job.Spec) string {
	if !isGang(s) || s.Scheduling.SchedulingPolicy.Gang.MinCount == nil {
		return ""
	}
	return fmt.Sprintf(" of %d", *s.Scheduling.SchedulingPolicy.Gang.MinCount)
}
