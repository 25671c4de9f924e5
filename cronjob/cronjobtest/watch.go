package cronjobtest

import (
	"slices"
	"time"

	"pgregory.net/rapid"

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
func (e *Env) start(forget bool) {
	e.program = e.subject.Start(forget)
	if e.watch != nil {
		e.subject.Cache.Replace(e.truth.cronJob, slices.Clone(e.truth.jobs))
		e.watch.Reset()
	}
}

// deliver shows the program one object or all, and calls it.
func (e *Env) deliver(t *rapid.T) {
	shown := false
	if rapid.IntRange(0, 2).Draw(t, "all") == 2 {
		shown = e.watch.All()
	} else {
		shown = e.watch.One()
	}
	if shown {
		e.happened()
	}
}

// setNow moves the clock. It reports whether the program was shown something before.
func (e *Env) setNow(now time.Time) (shown bool) { return e.watch.SetNow(e.life, now) }
