package blackbox

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// batchScript plays and watches the life of a parent that runs children until they are done.
type batchScript struct {
	*family
	batch *Batch
	kind  ChildKind

	uid       string // the UID of the parent
	settings  BatchSettings
	most      int32     // limit of running children: the highest that the program may still see
	edited    time.Time // when the settings changed
	suspended time.Time // when the parent was suspended; zero if it is not
	fates     map[string]*fate
	tally     Tally
	endless   bool // it was reported that the parent does not end
}

// fate is what happened to a child.
type fate struct {
	index     string
	succeeded bool
	failed    bool // failed, or was deleted while it ran
	removed   bool // deleted by a user, or after its success
	created   time.Time
	lost      bool // the reply to its creation was lost
}

func (b *batchScript) begin() error {
	if b.place == 0 {
		kind := b.kind
		kind.Ended, kind.End = b.Ended, b.End
		go b.runChildren(map[schema.GroupVersionKind]ChildKind{b.Child: kind})
	}
	return b.create()
}

// create creates the parent, and forgets everything about an earlier one.
func (b *batchScript) create() error {
	parent, err := b.named(b.batch.New(b.settings))
	if err != nil {
		return err
	}
	b.note(func() {
		b.uid, b.fates, b.tally = "", make(map[string]*fate), Tally{}
		b.most, b.edited, b.suspended = b.settings.AtOnce, time.Time{}, time.Time{}
		if b.settings.Suspend {
			b.suspended = time.Now()
		}
		b.tell("a user creates %s %s%s", b.Parent.Kind, b.title(), b.settings)
	})

	created, err := b.api.Create(b.Parent, parent)
	b.note(func() { b.uid = created.UID() })
	return err
}

// recreate deletes the parent, and creates it again once its children are gone.
func (b *batchScript) recreate() error {
	parent := Object(nil)
	if b.note(func() { parent = b.parent() }); parent == nil {
		return nil
	}
	if gone, err := b.remove(); err != nil || !gone {
		return err
	}
	return b.create()
}

// order is the same for all.
func (b *batchScript) order() time.Duration { return 0 }

func (b *batchScript) step(s Step) error {
	next := b.settings
	switch s.Do {
	case Succeed, Fail:
		b.end(s.Do == Succeed)
		return nil
	case Suspend, Resume:
		next.Suspend = s.Do == Suspend
		return b.edit(next)
	case Edit:
		next.AtOnce = s.AtOnce
		return b.edit(next)
	case Remove:
		if children := b.children(); len(children) > 0 {
			b.note(func() { b.removes(children[0].UID()) })
			b.say("a user deletes %s", children[0].Name())
			b.api.Delete(b.Child, children[0].Namespace(), children[0].Name())
		}
		return nil
	case Delete:
		return b.recreate()
	}
	return fmt.Errorf("step: do: unknown action %q", s.Do)
}

// removes notes that a user or the kit deletes a child. The API must be locked.
func (b *batchScript) removes(uid string) {
	if f := b.fates[uid]; f != nil {
		f.removed = true
	}
}

// end ends the oldest running child. It reports whether there was one.
func (b *batchScript) end(succeeded bool) bool {
	for _, child := range b.children() {
		if b.Ended(child) || child.isDeleted() || !b.kind.Runs(child) {
			continue
		}
		b.say("%s ends, succeeded %v", child.Name(), succeeded)
		err := b.api.Change(b.Child, child.Namespace(), child.Name(), func(o Object) { b.End(o, succeeded) })
		b.note(func() { b.refuse("end", child, err) })
		return err == nil
	}
	return false
}

// edit gives the parent other settings, unless it has ended.
func (b *batchScript) edit(next BatchSettings) error {
	if next == b.settings || b.ended() {
		return nil
	}
	b.note(func() {
		if time.Now().After(b.shown(b.edited).Add(time.Minute)) {
			b.most = b.settings.AtOnce
		}
		b.most, b.edited = max(b.most, next.AtOnce), time.Now()
		if next.Suspend && !b.settings.Suspend {
			b.suspended = time.Now()
		}
		if !next.Suspend {
			b.suspended = time.Time{}
		}
		b.settings = next
	})

	b.say("a user edits %s: %s", b.it(), next)
	return b.change(func(o Object) { b.batch.Edit(o, next) })
}

// saw checks a write. The API must be locked.
func (b *batchScript) saw(w write) {
	switch w.Resource.GroupVersionKind {
	case b.Parent:
		if w.New != nil && w.New.UID() == b.uid {
			b.sawParent(w.New)
		}
	case b.Child:
		if w.Old == nil {
			if parent := b.parent(); parent != nil && b.owned(parent, w.New) {
				b.created(w)
			}
		} else if f := b.fates[w.Old.UID()]; f != nil {
			b.changed(f, w)
		}
	}
}

// changed records in f, the fate of a child, what a write did to the child.
func (b *batchScript) changed(f *fate, w write) {
	o := w.New
	if o == nil {
		o = w.Old
	}
	switch {
	case f.succeeded && (w.New == nil || o.isDeleted()):
		f.removed = true // whoever deleted it: the program may not have seen the success
	case f.succeeded || f.failed:
	case b.Ended(o) && b.succeeded(o):
		f.succeeded = true
	case b.Ended(o) || w.New == nil || o.isDeleted():
		f.failed = true
	}
}

func (b *batchScript) succeeded(o Object) bool { return b.kind.Succeeded(o) }

// active reports whether a child counts as running.
func (b *batchScript) active(o Object) bool {
	isReady := b.kind.Ready == nil || b.kind.Ready(o)
	return !b.Ended(o) && !o.isDeleted() && isReady
}

// created checks a new child.
func (b *batchScript) created(w write) {
	f := &fate{created: time.Now(), lost: w.Lost}
	if b.batch.Index != nil {
		f.index = b.batch.Index(w.New)
	}
	b.fates[w.New.UID()] = f
	if !w.BySubject {
		return
	}

	if b.tally.Ended {
		b.fail(EndsOnce, "%s is created, and the %s has ended", w.New.Name(), b.Parent.Kind)
	}
	if !b.active(w.New) {
		return
	}
	if !b.suspended.IsZero() && time.Now().After(b.shown(b.suspended).Add(5*time.Second)) {
		b.fail(NothingStarts, "%s is created, and the %s is suspended since %s",
			w.New.Name(), b.Parent.Kind, time.Since(b.suspended))
	}
	b.checkNumber(w.New)
}

// checkNumber checks that a new child exceeds no limit.
func (b *batchScript) checkNumber(child Object) {
	active := int32(0)
	index := b.fates[child.UID()].index
	for _, o := range b.childrenOf(b.parent()) {
		isOther := o.UID() != child.UID()
		isHidden := isOther && b.mayMiss(b.fates[o.UID()])
		if !b.active(o) || isHidden {
			continue
		}
		active++
		if isOther && index != "" && b.fates[o.UID()].index == index {
			b.fail(OneEach, "%s is created, and %s runs too, both for %q", child.Name(), o.Name(), index)
		}
	}

	most := b.most
	if time.Now().After(b.shown(b.edited).Add(time.Minute)) {
		most = b.settings.AtOnce
	}
	done := b.successes()
	if _, off := b.off[CountedOnce]; !off { // else the status may still count a child that a user has deleted
		done = max(done, b.tally.Succeeded)
	}
	left := max(b.settings.Wanted-done, 0)

	switch {
	case active > most:
		b.fail(NoMoreThanWanted, "%s is created, and now %d run; at most %d may", child.Name(), active, most)
	case active > left:
		b.fail(NoMoreThanWanted, "%s is created, and now %d run; %d more successes are wanted",
			child.Name(), active, left)
	}
}

// mayMiss reports whether the program may not know of a child that it has created.
func (b *batchScript) mayMiss(f *fate) bool {
	if !b.batch.RandomNames {
		return false
	}
	return f.lost || f.created.Before(b.began) && b.shown(f.created).After(b.began)
}

// successes counts the children that have succeeded; children with the same index count once. It
// leaves out children that are gone or that the program may not know, since they may be run again.
func (b *batchScript) successes() int32 {
	n, indexes := int32(0), make(map[string]bool)
	for _, f := range b.fates {
		switch {
		case !f.succeeded || f.removed || b.mayMiss(f):
		case f.index == "":
			n++
		case !indexes[f.index]:
			indexes[f.index] = true
			n++
		}
	}
	return n
}

// sawParent checks the status of the parent.
func (b *batchScript) sawParent(parent Object) {
	was, is := b.tally, b.batch.Tally(parent)
	b.tally = is
	succeeded, failed := int32(0), int32(0)
	distinct, indexes := int32(0), make(map[string]bool) // successes of the same index count once
	for _, f := range b.fates {
		if f.succeeded {
			succeeded++
			if f.index == "" || !indexes[f.index] {
				distinct++
			}
			indexes[f.index] = true
		}
		if f.failed || f.removed {
			failed++
		}
	}

	switch {
	case is.Succeeded > succeeded:
		b.fail(CountedOnce, "it counts %d children that succeeded, %d have", is.Succeeded, succeeded)
	case is.Failed > failed:
		b.fail(CountedOnce, "it counts %d children that failed, %d have", is.Failed, failed)
	case is.Succeeded < was.Succeeded:
		b.fail(CountedOnce, "it counted %d children that succeeded, and now %d", was.Succeeded, is.Succeeded)
	case is.Failed < was.Failed:
		b.fail(CountedOnce, "it counted %d children that failed, and now %d", was.Failed, is.Failed)
	}

	switch {
	case was.Ended && (!is.Ended || is.Success != was.Success):
		b.fail(EndsOnce, "it had ended (success %v), and now it has not (success %v)", was.Success, is.Success)
	case !is.Ended || was.Ended:
	case is.Success && distinct < b.settings.Wanted:
		b.fail(EndsRightly, "it succeeds, and %d of %d children have", distinct, b.settings.Wanted)
	case is.Success && is.Succeeded != b.settings.Wanted:
		b.fail(CountedOnce, "it succeeds, and counts %d of %d", is.Succeeded, b.settings.Wanted)
	case !is.Success && failed <= b.settings.Retries:
		b.fail(EndsRightly, "it fails, and %d children have; %d may", failed, b.settings.Retries)
	}
}
