package life

import (
	"reflect"
	"slices"
	"time"
)

// MaxLag is the longest time for which a change stays unseen. It is below the time for which
// planners wait for their own writes: beyond that, nothing could be promised.
const MaxLag = 2 * time.Minute

// again is how many objects are shown until one is shown a second time: events may come twice (F10).
const again = 5

// Object is an object that a program sees late, under a key of its own.
type Object struct {
	Key   string
	Value any
}

// Late is the watch of a program that sees its objects late: it shows each some time after it
// has changed, in any order, and several changes at once as one. A nil Late belongs to a
// program that sees everything at once.
type Late struct {
	Life *Life
	// Objects are the objects as they are.
	Objects func() []Object
	// Show shows the program one of them: as it was shown before and as it is. Nil stands for
	// one that is not there.
	Show func(key string, was, is any)

	shown []Object
	shows int       // how often something was shown
	since time.Time // since when something is unseen; zero if nothing is
}

// Reset says that everything has been shown, by a fresh list.
func (l *Late) Reset() { l.shown, l.since = l.Objects(), time.Time{} }

// Unseen returns the keys of the objects that are not as they were shown: first of those that
// are gone, then of those that are new or have changed.
func (l *Late) Unseen() (keys []string) {
	if l == nil {
		return nil
	}
	is := l.Objects()
	for _, o := range l.shown {
		if find(is, o.Key) == nil {
			keys = append(keys, o.Key)
		}
	}
	for _, o := range is {
		if !reflect.DeepEqual(find(l.shown, o.Key), o.Value) {
			keys = append(keys, o.Key)
		}
	}
	return keys
}

// find returns the value of an object, or nil.
func find(objects []Object, key string) any {
	if i := slices.IndexFunc(objects, func(o Object) bool { return o.Key == key }); i >= 0 {
		return objects[i].Value
	}
	return nil
}

// HasSeen reports whether the object is as it was shown.
func (l *Late) HasSeen(key string) bool { return !slices.Contains(l.Unseen(), key) }

// HasSeenAll reports whether everything is as it was shown.
func (l *Late) HasSeenAll() bool { return len(l.Unseen()) == 0 }

// Note notes the time since when something is unseen. It is called after each change.
func (l *Late) Note() {
	switch {
	case l == nil:
	case l.HasSeenAll():
		l.since = time.Time{}
	case l.since.IsZero():
		l.since = l.Life.Now()
	}
}

// One shows one of the objects that have changed. It reports whether there was one.
func (l *Late) One() bool {
	keys := l.Unseen()
	if len(keys) == 0 {
		return false
	}
	l.show(keys[l.Life.Pick("object", len(keys))])
	return true
}

// All shows all objects that have changed. It reports whether there was one.
func (l *Late) All() bool {
	keys := l.Unseen()
	for _, key := range keys {
		l.show(key)
	}
	return len(keys) > 0
}

func (l *Late) show(key string) {
	was, is := find(l.shown, key), find(l.Objects(), key)
	l.shown = slices.DeleteFunc(l.shown, func(o Object) bool { return o.Key == key })
	if is != nil {
		l.shown = append(l.shown, Object{key, is})
	}
	l.Show(key, was, is)
	if l.shows++; l.shows%again == 0 && is != nil {
		l.Show(key, is, is)
	}
	l.Note()
}

// SetNow moves the clock. What would be unseen for too long is shown before. It reports whether
// there was something.
func (l *Late) SetNow(life *Life, now time.Time) (shown bool) {
	if l != nil && !l.since.IsZero() && (now.Sub(l.since) > MaxLag || now.Before(life.Now())) {
		shown = l.All()
	}
	life.SetNow(now)
	return shown
}
