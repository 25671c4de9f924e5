package blackbox

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// How long children take to begin, and to stop.
const (
	beginAfter = 1130 * time.Millisecond
	stopAfter  = 2170 * time.Millisecond
)

// runChildren runs the objects of some kinds, until the life is over.
func (p *player) runChildren(kinds map[schema.GroupVersionKind]ChildKind) {
	for !p.api.isClosed() {
		next, changed := p.moveChildren(kinds)
		select {
		case <-changed:
		case <-time.After(next):
		}
	}
}

// moveChildren begins and stops the children that are due. It returns how long to wait until the
// next one is due, and a channel that is closed at a change.
func (p *player) moveChildren(kinds map[schema.GroupVersionKind]ChildKind) (time.Duration, <-chan struct{}) {
	p.api.mu.Lock()
	defer p.api.mu.Unlock()
	next := time.Hour
	due := func(t time.Time) bool {
		left := time.Until(t)
		if left > 0 {
			next = min(next, left)
		}
		return left <= 0
	}

	for _, r := range p.api.resources {
		kind, runs := kinds[r.GroupVersionKind]
		if !runs {
			continue
		}
		for _, child := range p.api.list(r.GroupVersionKind) {
			k := key{r.Plural, child.Namespace(), child.Name()}
			switch {
			case child.isDeleted() && isGraceful(child):
				if due(p.api.since[child.UID()+"/deleted"].Add(stopAfter)) {
					p.api.finish(r, k, func(o Object) { kind.End(o, false) })
				}
			case child.isDeleted() || kind.Ended(child):
			case kind.Runs(child):
				if kind.Ready != nil && !kind.Ready(child) && due(p.api.since[child.UID()].Add(stopAfter)) {
					p.refuse("stop", child, p.api.change(r, k, kind.Stop))
				}
			case kind.Ready == nil || kind.Ready(child):
				if due(p.api.since[child.UID()].Add(beginAfter)) {
					p.refuse("begin", child, p.api.change(r, k, kind.Begin))
				}
			}
		}
	}
	return next, p.api.changed
}
