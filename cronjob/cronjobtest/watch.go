package cronjobtest

import (
	"context"
	"slices"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/life"
)

// cronJobKey is the key of the CronJob among the objects that are seen late. Jobs have their
// names.
const cronJobKey = ""

// newWatch makes the watch of a program that has a cache.
func (e *Env) newWatch() *life.Late {
	return &life.Late{Life: e.life, Objects: e.objects, Show: e.show}
}

func (e *Env) objects() []life.Object {
	all := []life.Object{{Key: cronJobKey, Value: e.truth.cronJob}}
	for _, c := range e.truth.jobs {
		all = append(all, life.Object{Key: c.Name, Value: c})
	}
	return all
}

// show shows the program one object.
func (e *Env) show(key string, _, is any) {
	cache, says := e.subject.Cache, e.life.Meanwhile+"the program sees "
	switch {
	case key == cronJobKey:
		e.life.Tell("%sthe CronJob", says)
		cache.SetCronJob(e.truth.cronJob)
	case is == nil:
		e.life.Tell("%sthat %s is gone", says, key)
		cache.RemoveJob(key)
	default:
		c := is.(cronjob.Child)
		e.life.Tell("%s%s", says, describe(&c))
		cache.SetJob(c)
	}
}

// start starts the program. One with a cache lists everything anew.
func (e *Env) start(forget bool) func(context.Context) (time.Time, error) {
	program := e.subject.Start(forget)
	if forget {
		e.aside = aside{most: e.aside.most}
		e.before = e.aside
	}
	if e.watch != nil {
		e.subject.Cache.Replace(e.truth.cronJob, slices.Clone(e.truth.jobs))
		e.watch.Reset()
	}
	return program
}
