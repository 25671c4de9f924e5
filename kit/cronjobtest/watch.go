package cronjobtest

import (
	"context"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/kit/internal/life"
)

// newWatch makes the watch of a program that has a cache.
func (e *Env) newWatch() *life.Late {
	cache, name := e.subject.Cache, func(c *cronjob.Child) string { return c.Name }
	return life.Watch(e.life, life.Watched[cronjob.Child]{
		Kind: "CronJob", Object: func() any { return e.truth.cronJob }, Children: func() []cronjob.Child { return e.truth.jobs },
		Key: name, Name: name, Describe: describe,
		Replace:   func() { cache.Replace(e.truth.cronJob, slices.Clone(e.truth.jobs)) },
		SetObject: func() { cache.SetCronJob(e.truth.cronJob) },
		Set:       cache.SetJob,
		Remove:    func(c cronjob.Child) { cache.RemoveJob(c.Name) },
	})
}

// start starts the program. One with a cache lists everything anew.
func (e *Env) start(forget bool) func(context.Context) (time.Time, error) {
	program := e.subject.Start(forget)
	if forget {
		e.aside = aside{most: e.aside.most}
		e.before = e.aside
	}
	e.list()
	return program
}

// list shows the program everything.
func (e *Env) list() {
	if e.truth.cronJob.UID != "" {
		e.watch.List()
	}
}
