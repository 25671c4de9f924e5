package jobmodel

import (
	"context"
	"time"

	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobpod"
	"github.com/batchplan/batchplan/x/proof/explore"
)

// podID is the number of a pod; 0 is none. Pods that differ only in UID, name and version share a
// number.
type podID uint16

// podInfo is a pod with the facts that are used most often.
type podInfo struct {
	job.Pod
	own      bool // owned by the job, whether or not it matches
	deleting bool
	ended    bool
	active   bool // owned by the job, not ended and not being deleted
}

// act is something that can happen to a pod.
type act uint8

const (
	actRun act = iota
	actFinish
	actRestart
	actRemove
	actEvict
	actStrip
	actAdopt
	actRelease
	actUntrack
	actDelete
)

// podStep is an act on a pod, at a time.
type podStep struct {
	pod  podID
	act  act
	code int32
	now  uint32
}

// podValues holds the pods, and the result of each act on a pod. A [world.Job] carries out each act
// once.
type podValues struct {
	values explore.Interned[string, podInfo]
	steps  explore.Cache[podStep, podID]
}

func (v *podValues) info(id podID) *podInfo { return v.values.At(uint32(id)) }

// number returns the number of a pod.
func (v *podValues) number(p job.Pod) podID {
	p.UID, p.Name = "", ""
	if p.Detail != nil {
		detail := *p.Detail
		detail.ResourceVersion = ""
		p.Detail = &detail
	}
	return explore.Small[podID](v.values.Number(explore.Text(p), func() podInfo {
		own, ended := p.Owner <= jobpod.OwnedUnmatched, p.Phase >= job.PodSucceeded
		return podInfo{p, own, p.Deletion != nil, ended, p.Owner == jobpod.Owned && !ended && p.Deletion == nil}
	}))
}

// created returns a pod as a controller creates it, or an orphan.
func (v *podValues) created(owner jobpod.Ownership, index job.Index, failures, ignored int32, now uint32) podID {
	w := worldAt(now)
	p := w.AddPod(job.Pod{
		Owner:     owner,
		Untracked: owner != jobpod.Owned,
		Index:     index,
		Detail:    &job.PodDetail{FailureCount: failures, IgnoredFailureCount: ignored},
	})
	return v.number(*p)
}

// after returns the pod as it is after a step, or 0 if the pod is gone then.
func (v *podValues) after(step podStep) podID {
	return v.steps.Get(step, func() podID {
		w := worldAt(step.now)
		p := w.AddPod(v.info(step.pod).Pod)
		do(w, p, step)
		if w.Pod(p.Name) == nil {
			return 0
		}
		return v.number(*p)
	})
}

// do carries out the act in a world.
func do(w *world.Job, p *job.Pod, step podStep) {
	ref := job.PodRef{Name: p.Name, UID: p.UID}
	switch step.act {
	case actRun:
		w.Run(p)
	case actFinish:
		w.Finish(p, step.code)
	case actRestart:
		w.RestartContainer(p)
	case actRemove:
		w.Delete(p)
	case actEvict:
		w.Evict(p)
	case actStrip:
		p.Untracked = true
		if p.Deletion != nil {
			w.Delete(p) // no finalizer holds it any more
		}
	default:
		write(w.Backend(), ref, step.act)
	}
}

// write makes a write of a controller. No fault is set, and the pod exists.
func write(b jobapply.Adopter, ref job.PodRef, a act) {
	ctx := context.Background()
	var err error
	switch a {
	case actAdopt:
		err = b.Adopt(ctx, job.Claim{PodRef: ref})
	case actRelease:
		err = b.Release(ctx, job.Claim{PodRef: ref})
	case actUntrack:
		err = b.Untrack(ctx, job.Untracking{PodRef: ref})
	case actDelete:
		err = b.Delete(ctx, job.Deletion{PodRef: ref})
	}
	if err != nil {
		panic(err)
	}
}

// worldAt returns an empty world at a time.
func worldAt(now uint32) *world.Job {
	w := world.NewJob(job.Spec{Template: job.Template{RestartPolicy: job.RestartNever}})
	w.Now = clock(now)
	return w
}

// clock converts a time of the model.
func clock(seconds uint32) time.Time { return world.Start.Add(time.Duration(seconds) * time.Second) }

// seconds returns a time in the model's form, rounded up.
func seconds(t time.Time) uint32 {
	return uint32(max((t.Sub(world.Start)+time.Second-1)/time.Second, 0))
}
