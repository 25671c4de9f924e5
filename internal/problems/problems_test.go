package problems

import (
	"errors"
	"testing"
)

// inputErr is an error like job.InputError.
type inputErr Problem

func (e *inputErr) Error() string { return e.Field + ": " + e.Value + ": " + e.Problem }

func TestList(t *testing.T) {
	var inner, all List
	inner.Add(".name", "a\"b", "is bad")
	all.Add("n", 7, "is much")
	all.AddIn("spec.pod", inner)
	all.AddAt("spec.pods", 3, inner)
	all.AddAt("spec.pods", 4, nil)

	const want = "job.n: 7: is much\njob.spec.pod.name: \"a\\\"b\": is bad\njob.spec.pods[3].name: \"a\\\"b\": is bad"
	err := Join[inputErr]("job.", all)
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if e := (*inputErr)(nil); !errors.As(err, &e) || e.Field != "job.n" || all[0].Field != "n" {
		t.Errorf("the first is %v, and the list begins with %v", e, all[0])
	}
	if err := Join[inputErr]("job.", nil); err != nil {
		t.Error(err)
	}
}

// TestConcat: Concat puts the parts of several joined errors into one list, as if a single call had
// joined them.
func TestConcat(t *testing.T) {
	one, two := New[inputErr]("a", nil, "is one"), New[inputErr]("b", "x", "is two")
	err := Concat(errors.Join(one, two), nil, errors.Join(two))
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 3 || err.Error() != "a: <nil>: is one\nb: \"x\": is two\nb: \"x\": is two" {
		t.Errorf("%v", err)
	}
	if err := Concat(nil, nil); err != nil {
		t.Error(err)
	}
}
