package life

import (
	"reflect"
	"slices"
	"time"
)

// MaxLag is the longest time for which a change stays unseen. It is shorter than the time for which
// planners wait for their own writes. After a longer delay, planners promise nothing.
const MaxLag = 2 * time.Minute

// again is the distance between the objects that are shown twice, since events may be duplicates
// (F10).
const again = 5

// Cache is the program's view of a family.
type Cache[O, C any] struct {
	// Replace shows everything. Object, Child and Remove show one change.
	Replace func(O, []C)
	Object  func(O)
	Child   func(C)
	Remove  func(key string)
	// Hides, if not nil, reports whether the cache does not show a child that the store has.
	Hides func(*C) bool
	// Beside, if it has a name, is one more object that the program sees.
	Beside Beside
}

// Beside is one more object that a program sees besides a family, such as the pod groups of a job.
type Beside struct {
	// Name is the object's key, and its name in a story.
	Name string
	// Value returns the object as it is now, and Show shows it to the program.
	Value func() any
	Show  func()
}

// ObjectKey is the key of the object that has the children.
const ObjectKey = ""

// object is an object that a program sees late, under a key of its own.
type object struct {
	key   string
	value any
}

// Late is the watch of a program that sees its objects late. It shows each object some time after a
// change. It shows objects in any order, and several changes of an object as one change. A nil Late
// belongs to a program that sees everything immediately.
type Late struct {
	life    *Life
	objects func() []object // empty until the first object is created
	// show shows the program one object, given its key, the value that was last shown, and the
	// present value. Nil means that there is none.
	show    func(key string, was, is any)
	replace func()

	shown []object
	shows int       // how often something was shown
	since time.Time // since when something is unseen; zero if nothing is
}

// Watch returns a watch that fills the program's cache with the family's objects.
func (f *Family[O, C]) Watch(cache Cache[O, C]) *Late {
	l, traits := f.life, f.traits
	hidden := func(c C) bool { return cache.Hides != nil && cache.Hides(&c) }
	shown := func() []C { return slices.DeleteFunc(f.Values(), hidden) }

	beside := &cache.Beside
	late := &Late{life: l, replace: func() {
		cache.Replace(f.Object, shown())
		if beside.Name != "" {
			beside.Show()
		}
	}}

	late.objects = func() (all []object) {
		if reflect.ValueOf(f.Object).IsZero() {
			return nil
		}
		all = append(all, object{ObjectKey, f.Object})
		for _, c := range shown() {
			all = append(all, object{traits.Key(&c), c})
		}
		if beside.Name != "" {
			all = append(all, object{beside.Name, beside.Value()})
		}
		return all
	}

	late.show = func(key string, was, is any) {
		says := l.Meanwhile + "the program sees "
		switch {
		case key == ObjectKey:
			l.TellRoutine("%sthe %s", says, traits.Object)
			cache.Object(f.Object)
		case key == beside.Name:
			l.Tell("%sthe %s", says, key)
			beside.Show()
		case is == nil:
			c := was.(C)
			l.Tell("%sthat %s%s is gone", says, traits.Title, traits.Name(&c))
			cache.Remove(key)
		default:
			c := is.(C)
			l.Tell("%s%s%s", says, traits.Title, traits.Describe(&c))
			cache.Child(c)
		}
	}

	return late
}

// List shows the program all objects in a fresh list, if there are any.
func (l *Late) List() {
	if l == nil || len(l.objects()) == 0 {
		return
	}
	l.replace()
	l.shows++
	l.shown, l.since = l.objects(), time.Time{}
}

// Unseen returns the keys of the objects that have changed since they were last shown: first the
// removed ones, then new and changed ones.
func (l *Late) Unseen() (keys []string) {
	if l == nil {
		return nil
	}

	is := l.objects()
	for _, o := range l.shown {
		if find(is, o.key) == nil {
			keys = append(keys, o.key)
		}
	}

	for _, o := range is {
		if !reflect.DeepEqual(find(l.shown, o.key), o.value) {
			keys = append(keys, o.key)
		}
	}
	return keys
}

// find returns the value of an object, or nil.
func find(objects []object, key string) any {
	if i := slices.IndexFunc(objects, func(o object) bool { return o.key == key }); i >= 0 {
		return objects[i].value
	}
	return nil
}

// HasSeen reports whether the program has seen the present value of an object.
func (l *Late) HasSeen(key string) bool { return !slices.Contains(l.Unseen(), key) }

// HasSeenAll reports whether the program has seen the present value of every object.
func (l *Late) HasSeenAll() bool { return len(l.Unseen()) == 0 }

// Shown returns an object as the program has last seen it; nil if it has not seen the object, or
// has seen that it is gone.
func (l *Late) Shown(key string) any { return find(l.shown, key) }

// Shows returns how often the program was shown something.
func (l *Late) Shows() int {
	if l == nil {
		return 0
	}
	return l.shows
}

// Note stores the time since which the program has not seen everything, and clears it once the
// program has seen everything. It is called after each change.
func (l *Late) Note() {
	switch {
	case l == nil:
	case l.HasSeenAll():
		l.since = time.Time{}
	case l.since.IsZero():
		l.since = l.life.Now()
	}
}

// One shows one of the objects that have changed. It reports whether there was one.
func (l *Late) One() bool {
	keys := l.Unseen()
	if len(keys) == 0 {
		return false
	}
	l.present(keys[l.life.Pick("object", len(keys))])
	return true
}

// All shows all objects that have changed. It reports whether there was one.
func (l *Late) All() bool {
	keys := l.Unseen()
	for _, key := range keys {
		l.present(key)
	}
	return len(keys) > 0
}

func (l *Late) present(key string) {
	was, is := find(l.shown, key), find(l.objects(), key)
	l.shown = slices.DeleteFunc(l.shown, func(o object) bool { return o.key == key })
	if is != nil {
		l.shown = append(l.shown, object{key, is})
	}

	l.show(key, was, is)
	if l.shows++; l.shows%again == 0 && is != nil {
		l.show(key, is, is)
	}
	l.Note()
}

// SetNow moves the clock. Before that, it shows everything that would be unseen for too long. It
// reports whether it has shown something.
func (l *Late) SetNow(life *Life, now time.Time) (shown bool) {
	if l != nil && !l.since.IsZero() {
		isTooLong := now.Sub(l.since) > MaxLag
		if isTooLong || now.Before(life.Now()) {
			shown = l.All()
		}
	}
	life.SetNow(now)
	return shown
}
