package jobtest

import (
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/kit/internal/life"
)

// newWatch makes the watch of a program that has a cache.
func (e *Env) newWatch() *life.Late {
	cache := e.subject.Cache
	return life.Watch(e.life, life.Watched[job.Pod]{
		Kind: "job", Object: func() any { return e.truth.job }, Children: e.pods,
		Key:       uidOf,
		Name:      func(p *job.Pod) string { return "pod " + p.Name },
		Describe:  func(p *job.Pod) string { return "pod " + p.Name + ": " + describe(p) },
		Replace:   func() { cache.Replace(e.truth.job, e.pods()) },
		SetObject: func() { cache.SetJob(e.truth.job) },
		Set:       cache.SetPod,
		Remove:    func(p job.Pod) { cache.RemovePod(p.UID) },
	})
}

// pods are the pods in the store.
func (e *Env) pods() []job.Pod {
	pods := make([]job.Pod, len(e.truth.pods))
	for i, p := range e.truth.pods {
		pods[i] = *p
	}
	return pods
}

// list shows the program everything.
func (e *Env) list() {
	if e.truth.job.UID != "" {
		e.watch.List()
	}
}
