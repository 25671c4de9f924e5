//go:build go1.25

package step

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var errDown = errors.New("down")

// At most the given number of calls run concurrently.
func TestEach_AtMostSoManyAtOnce(t *testing.T) {
	for parallel, want := range map[int]int64{0: 5, 1: 1, 3: 3, 9: 5} {
		synctest.Test(t, func(t *testing.T) {
			var running, most atomic.Int64
			s := New[int](5)
			s.Each(t.Context(), parallel, func(i int) (int, error) {
				for n := running.Add(1); n > most.Load(); {
					most.Store(n)
				}
				time.Sleep(time.Second)
				running.Add(-1)
				return i * i, nil
			})
			if !slices.Equal(s.Effects, []int{0, 1, 4, 9, 16}) || most.Load() != want ||
				s.Err(t.Context(), "count") != nil {
				t.Errorf("parallel %d: %v, %d at once, error %v",
					parallel, s.Effects, most.Load(), s.Err(t.Context(), "count"))
			}
		})
	}
}

// Running calls end, no more calls start, and the rest are not tried.
func TestEach_Cancelled(t *testing.T) {
	for _, parallel := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(1500*time.Millisecond, cancel)
			s := New[int](9)
			s.Each(ctx, parallel, func(int) (int, error) {
				time.Sleep(time.Second)
				return 1, nil
			})
			sum := 0
			for _, n := range s.Effects {
				sum += n
			}
			if sum != 2*parallel || fmt.Sprint(s.Err(ctx, "count")) != "count: context canceled" ||
				!errors.Is(s.Err(ctx, "count"), context.Canceled) {
				t.Errorf("parallel %d: %v, error %v", parallel, s.Effects, s.Err(ctx, "count"))
			}
		})
	}
}

func TestErr(t *testing.T) {
	other := errors.New("other")
	for _, tc := range []struct {
		causes []error
		want   string
	}{
		{[]error{nil, nil, nil}, "<nil>"},
		{[]error{nil, errDown, nil}, "write: down"},
		{[]error{nil, errDown, other}, "write: down (and 1 more of 3)"},
		{[]error{other, errDown, other}, "write: other (and 2 more of 3)"},
	} {
		s := New[bool](3)
		s.Each(t.Context(), 3, func(i int) (bool, error) { return true, tc.causes[i] })
		if got := fmt.Sprint(s.Err(t.Context(), "write")); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}

// A step that stops by itself has no error, even if its context ends afterwards.
func TestRest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := New[string](3)
	s.Set(0, "done", nil)
	s.Rest("refused")
	cancel()
	if !slices.Equal(s.Effects, []string{"done", "refused", "refused"}) ||
		s.Err(ctx, "count") != nil || s.Failed() != 0 {
		t.Errorf("%v, error %v", s.Effects, s.Err(ctx, "count"))
	}
}

type plain interface{ Plain() }
type able interface{ Able() }

type wrapped struct{ of plain }

func (wrapped) Plain()          {}
func (w wrapped) Unwrap() plain { return w.of }

type basis struct{}

func (basis) Plain() {}

type gifted struct{ basis }

func (gifted) Able() {}

// TestAs: further methods of a backend are found through all wrappers.
func TestAs(t *testing.T) {
	for _, test := range []struct {
		of   plain
		want bool
	}{{basis{}, false}, {gifted{}, true}, {wrapped{gifted{}}, true}, {wrapped{wrapped{gifted{}}}, true}, {wrapped{basis{}}, false}} {
		if as, ok := As[able](test.of); ok != test.want || ok != (as != nil) {
			t.Errorf("%T: %v, %t", test.of, as, ok)
		}
	}
}
