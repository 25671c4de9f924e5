package blackbox

import (
	"time"
)

// calm plays the end of a life, without faults. If enough children have succeeded, the parent must
// end. Otherwise the kit suspends the parent for a while, resumes it, and lets all its children
// succeed, so that the parent must end. At last it deletes the parent.
func (b *batchScript) calm() error {
	if b.allSucceeded() { // before any edit, which would wake a sleeping program
		if err := b.awaitEnd(); err != nil || !b.isUp() {
			return err
		}
	}
	if err := b.calmSuspend(); err != nil || !b.isUp() {
		return err
	}

	next := b.settings
	next.Suspend, next.AtOnce = false, max(next.AtOnce, 1)
	if err := b.edit(next); err != nil {
		return err
	}
	if err := b.awaitEnd(); err != nil || !b.isUp() {
		return err
	}

	if err := b.pass(5*time.Minute + 2*b.lag); err != nil || !b.isUp() {
		return err
	}

	before := 0
	b.note(func() {
		before = b.writes
		if !b.tally.Ended {
			return
		}
		for _, child := range b.childrenOf(b.parent()) {
			switch {
			case b.active(child):
				b.fail(NothingLeft, "%s runs, and the %s has ended", child.Name(), b.Parent.Kind)
			case len(finalizers(child)) > 0:
				b.fail(NothingLeft, "%s has the finalizers %v, and the %s has ended",
					child.Name(), finalizers(child), b.Parent.Kind)
			}
		}
	})

	if err := b.pass(time.Hour); err != nil || !b.isUp() {
		return err
	}
	b.note(func() {
		if n := b.writes - before; n > 20*len(b.scripts) {
			b.fail(Bounded, "%d writes in an hour, after the end", n)
		}
	})
	_, err := b.remove()
	return err
}

// allSucceeded reports whether enough children have succeeded for the parent to end.
func (b *batchScript) allSucceeded() (all bool) {
	b.note(func() { all = !b.settings.Suspend && b.successes() >= b.settings.Wanted })
	return all
}

// awaitEnd makes all children succeed until the parent ends. It reports once that a parent does not end.
func (b *batchScript) awaitEnd() error {
	for end := time.Now().Add(4 * time.Hour); time.Now().Before(end) && !b.ended(); {
		for b.end(true) {
		}
		if err := b.pass(10 * time.Second); err != nil || !b.isUp() {
			return err
		}
	}

	b.note(func() {
		if !b.tally.Ended && !b.endless {
			b.endless = true
			b.fail(Ends, "it has not ended by %s, and %d of %d children have succeeded",
				clock(time.Now()), b.successes(), b.settings.Wanted)
		}
	})
	return nil
}

// ended reports whether the parent has ended.
func (b *batchScript) ended() (ended bool) {
	b.note(func() { ended = b.tally.Ended })
	return ended
}

// calmSuspend suspends the parent, and checks whether anything runs.
func (b *batchScript) calmSuspend() error {
	if b.ended() || !b.has(Suspend) {
		return nil
	}

	next := b.settings
	next.Suspend = true
	if err := b.edit(next); err != nil {
		return err
	}
	if err := b.pass(5*time.Minute + 2*b.lag); err != nil || !b.isUp() {
		return err
	}

	b.note(func() {
		for _, child := range b.childrenOf(b.parent()) {
			if b.active(child) {
				b.fail(NothingRuns, "%s runs, and the %s is suspended since %s",
					child.Name(), b.Parent.Kind, time.Since(b.suspended))
			}
		}
	})
	return nil
}

// remove deletes the parent. It reports whether the parent is gone some minutes later. It fails if the parent or
// a child is still there.
func (b *batchScript) remove() (gone bool, err error) {
	b.delete()
	for range 3 {
		if err := b.pass(time.Minute + b.lag); err != nil || !b.isUp() {
			return false, err
		}
	}

	b.note(func() {
		parent := b.parent()
		if gone = parent == nil; !gone {
			b.fail(NothingLeft, "it was deleted, and is still there with the finalizers %v", finalizers(parent))
		}
		for _, child := range b.api.list(b.Child) {
			if b.fates[child.UID()] != nil {
				b.fail(NothingLeft, "%s is still there with the finalizers %v, and its %s was deleted",
					child.Name(), finalizers(child), b.Parent.Kind)
			}
		}
	})
	return gone, nil
}
