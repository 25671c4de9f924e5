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

// so many calls run at once, and no more.
func TestEach_AtMostSoManyAtOnce(t *testing.T) {
	for parallel, want := range map[int]int64{0: 1, 1: 1, 3: 3, 9: 5} {
		synctest.Test(t, func(t *testing.T) {
			var running, most atomic.Int64
			s := New[int]("count", 5)
			s.Each(t.Context(), parallel, 0, 5, func(i int) (int, error) {
				for n := running.Add(1); n > most.Load(); {
					most.Store(n)
				}
				time.Sleep(time.Second)
				running.Add(-1)
				return i * i, nil
			})
			if !slices.Equal(s.Effects, []int{0, 1, 4, 9, 16}) || most.Load() != want || s.Err(t.Context()) != nil {
				t.Errorf("parallel %d: %v, %d at once, error %v", parallel, s.Effects, most.Load(), s.Err(t.Context()))
			}
		})
	}
}

// What was started ends, nothing more starts, and the rest was not tried.
func TestEach_Cancelled(t *testing.T) {
	for _, parallel := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(1500*time.Millisecond, cancel)
			s := New[int]("count", 9)
			s.Each(ctx, parallel, 0, 9, func(int) (int, error) {
				time.Sleep(time.Second)
				return 1, nil
			})
			sum := 0
			for _, n := range s.Effects {
				sum += n
			}
			if sum != 2*parallel || fmt.Sprint(s.Err(ctx)) != "count: context canceled" || !errors.Is(s.Err(ctx), context.Canceled) {
				t.Errorf("parallel %d: %v, error %v", parallel, s.Effects, s.Err(ctx))
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
		s := New[bool]("write", 3)
		s.Each(t.Context(), 3, 0, 3, func(i int) (bool, error) { return true, tc.causes[i] })
		if got := fmt.Sprint(s.Err(t.Context())); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}

// A step that stops by itself has no error, also if its context has ended since.
func TestRest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := New[string]("write", 3)
	s.Each(ctx, 1, 0, 1, func(int) (string, error) { return "done", nil })
	s.Rest("refused")
	cancel()
	if !slices.Equal(s.Effects, []string{"done", "refused", "refused"}) || s.Err(ctx) != nil || s.Failed() != 0 {
		t.Errorf("%v, error %v", s.Effects, s.Err(ctx))
	}
}
