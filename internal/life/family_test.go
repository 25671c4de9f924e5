package life

import (
	"fmt"
	"slices"
	"testing"
)

// TestFamily: children stay in the order in which they were first seen, whatever order a store
// returns. Earlier and later children are paired by their keys.
func TestFamily(t *testing.T) {
	name := func(c *string) string { return (*c)[:1] }
	f := NewFamily[int](New(nil), &Traits[string]{Key: name, ID: name, Name: name})
	read := func(children ...string) {
		f.Read(func() (int, error) { return 1, nil }, func() ([]string, error) { return children, nil })
	}
	read("z new", "y new")
	was := f.Children
	read("a new", "z old", "y new")
	if want := []string{"y new", "z old", "a new"}; !slices.Equal(f.Values(), want) {
		t.Errorf("in order are %v, want %v", f.Values(), want)
	}
	read("a new", "z old")
	var pairs []string
	for old, is := range f.Against(was) {
		pairs = append(pairs, fmt.Sprint(old == nil, " ", is == nil))
	}
	if want := []string{"false false", "true false", "false true"}; !slices.Equal(pairs, want) {
		t.Errorf("missing before and now: %v, want %v", pairs, want)
	}
	if c := f.Those(func(c *string) bool { return *c == "a new" }); len(c) != 1 ||
		f.Child("a") != c[0] || f.Child("b") != nil {
		t.Errorf("children: %v", f.Values())
	}
}
