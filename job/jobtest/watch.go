package jobtest

import (
	"slices"

	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/job"
)

// jobKey is the key of the job among the objects that are seen late. Pods have their UIDs.
const jobKey = ""

// newWatch makes the watch of a program that has a cache.
func (e *Env) newWatch() *life.Late {
	return &life.Late{Life: e.life, Objects: e.objects, Show: e.show}
}

func (e *Env) objects() []life.Object {
	all := []life.Object{{Key: jobKey, Value: e.truth.job}}
	for _, p := range e.truth.pods {
		all = append(all, life.Object{Key: string(p.UID), Value: *p})
	}
	return all
}

// show shows the program one object.
func (e *Env) show(key string, was, is any) {
	cache, says := e.subject.Cache, e.life.Meanwhile+"the program sees "
	switch {
	case key == jobKey:
		e.life.Tell("%sthe job", says)
		cache.SetJob(e.truth.job)
	case is == nil:
		p := was.(job.Pod)
		e.life.Tell("%sthat pod %s is gone", says, p.Name)
		cache.RemovePod(p.UID)
	default:
		p := is.(job.Pod)
		e.life.Tell("%spod %s: %s", says, p.Name, describe(&p))
		cache.SetPod(p)
	}
}

// list shows the program everything.
func (e *Env) list() {
	if e.watch == nil || e.truth.job.UID == "" {
		return
	}
	pods := make([]job.Pod, len(e.truth.pods))
	for i, p := range e.truth.pods {
		pods[i] = *p
	}
	e.subject.Cache.Replace(e.truth.job, slices.Clip(pods))
	e.watch.Reset()
}
