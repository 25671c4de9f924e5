package life

import (
	"cmp"
	"iter"
	"slices"

	"github.com/batchplan/batchplan/job"
)

// Traits describe the objects of a family.
type Traits[C any] struct {
	// Object and Child are the words for the objects. Title is printed before a child's name, if it
	// is not empty.
	Object, Child, Title string
	// Key identifies a child among those that exist at the same time. ID is unique among all children of a life.
	Key, ID func(*C) string
	// Name returns the name of a child. Describe describes a child in a few words, and begins with its name.
	Name, Describe func(*C) string
}

// Family is an object, O, and its children, C, as the store of a program held them when the test
// read it last.
type Family[O, C any] struct {
	Object   O
	Children []*C

	life   *Life
	traits *Traits[C]
	order  map[string]int
}

// NewFamily returns the family of a life that has just begun: the store is empty.
func NewFamily[O, C any](l *Life, t *Traits[C]) Family[O, C] {
	return Family[O, C]{life: l, traits: t, order: map[string]int{}}
}

// Child returns the child with this key, or nil.
func (f *Family[O, C]) Child(key string) *C { return f.find(f.Children, key) }

func (f *Family[O, C]) find(children []*C, key string) *C {
	for _, c := range children {
		if f.traits.Key(c) == key {
			return c
		}
	}
	return nil
}

// Those returns the children for which allows is true.
func (f *Family[O, C]) Those(allows func(*C) bool) []*C {
	return slices.DeleteFunc(slices.Clone(f.Children), func(c *C) bool { return !allows(c) })
}

// Pick draws one of the children for which allows is true; nil if there is none.
func (f *Family[O, C]) Pick(allows func(*C) bool) *C {
	some := f.Those(allows)
	if len(some) == 0 {
		return nil
	}
	return some[f.life.Pick(f.traits.Child, len(some))]
}

// Seen returns how many children there have been.
func (f *Family[O, C]) Seen() int { return len(f.order) }

// Number returns the place of a child, from 1, in the order in which the children were first seen.
func (f *Family[O, C]) Number(c *C) int { return f.order[f.traits.ID(c)] }

// Values returns the children.
func (f *Family[O, C]) Values() []C {
	all := make([]C, len(f.Children))
	for i, c := range f.Children {
		all[i] = *c
	}
	return all
}

// Sort sorts children in the order in which they were first seen. New children come last, by their
// IDs. A store may return children in any order, with random UIDs. After Sort, the child at a place
// is the same in each repetition of a life.
func (f *Family[O, C]) Sort(children []C) {
	var fresh []string
	for i := range children {
		if id := f.traits.ID(&children[i]); f.order[id] == 0 {
			fresh = append(fresh, id)
		}
	}

	slices.Sort(fresh)
	for _, id := range fresh {
		f.order[id] = len(f.order) + 1
	}

	slices.SortFunc(children, func(a, b C) int {
		return cmp.Compare(f.order[f.traits.ID(&a)], f.order[f.traits.ID(&b)])
	})
}

// Read reads the objects from the store.
func (f *Family[O, C]) Read(object func() (O, error), children func() ([]C, error)) {
	is, err := object()
	f.life.Must("read the "+f.traits.Object, err)
	all, err := children()
	f.life.Must("read the "+f.traits.Child+"s", err)

	f.Sort(all)
	f.Object, f.Children = is, Pointers(all)
	for _, c := range f.Children {
		f.life.Names(f.traits.Name(c))
	}
}

// Pointers returns the addresses of children.
func Pointers[C any](children []C) []*C {
	all := make([]*C, len(children))
	for i := range children {
		all[i] = &children[i]
	}
	return all
}

// Against pairs the objects of another list with the children that have the same keys. Each pair
// has the object first, and then the child; nil means that there is none. Objects without a child
// come last.
func (f *Family[O, C]) Against(others []*C) iter.Seq2[*C, *C] {
	return func(yield func(other, is *C) bool) {
		for _, is := range f.Children {
			if !yield(f.find(others, f.traits.Key(is)), is) {
				return
			}
		}
		for _, other := range others {
			if f.Child(f.traits.Key(other)) == nil && !yield(other, nil) {
				return
			}
		}
	}
}

// IsNew checks a new object: its UID must be new, argument children must be empty, and the store
// must hold the object as argument want.
func (f *Family[O, C]) IsNew(uid job.UID, children []*C, want *O) {
	f.life.IsNew("the "+f.traits.Object, uid)
	says := "the " + f.traits.Object + " was created"
	for _, c := range children {
		f.life.Breaks("Store", "%s, and has %s %s already", says, f.traits.Child, f.traits.Name(c))
	}
	f.life.Kept(says, want, &f.Object)
	f.life.Stop()
}
