package patience

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
	"time"
)

type coded int

func (c coded) Error() string { return fmt.Sprint("code ", int(c)) }
func (c coded) Code() int     { return int(c) }

func TestIsTransient(t *testing.T) {
	for _, test := range []struct {
		err  error
		want bool
	}{
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, true},
		{errors.Join(errors.New("x"), fmt.Errorf("y: %w", syscall.EMFILE)), true},
		{coded(13), true},          // full
		{coded(10 | 3<<8), true},   // a write that failed
		{coded(5 | 2<<8), true},    // a kind of busy
		{coded(11), false},         // corrupt
		{coded(19 | 13<<8), false}, // a constraint
		{fs.ErrPermission, false},
		{nil, false},
	} {
		if have := IsTransient(test.err); have != test.want {
			t.Errorf("%v: %v", test.err, have)
		}
	}
}

// Delays grow, end at the limit, and start again after a success.
func TestPatience(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := Patience{Limit: 10 * time.Second}
	step := func(want time.Duration) {
		t.Helper()
		have, err := p.Failed(syscall.ENOSPC, now, now)
		if have != want || err != nil {
			t.Errorf("want %v, have %v, %v", want, have, err)
		}
		now = now.Add(have)
	}
	step(time.Second)
	step(2 * time.Second)
	p.Worked()
	step(time.Second)
	step(2 * time.Second)
	step(4 * time.Second)
	step(3 * time.Second) // what is left
	var gaveUp *GaveUp
	if _, err := p.Failed(syscall.ENOSPC, now, now); !errors.As(err, &gaveUp) || gaveUp.Lasted != 10*time.Second ||
		!errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
	p.Worked()
	if _, err := p.Failed(fs.ErrPermission, now, now); !errors.Is(err, fs.ErrPermission) ||
		errors.As(err, &gaveUp) && gaveUp.Lasted == 0 {
		t.Errorf("%v", err)
	}
}

// However long an attempt takes, the last one begins before the limit has passed.
func TestSlowAttempts(t *testing.T) {
	const limit = 3 * time.Second
	for _, took := range []time.Duration{0, time.Millisecond, time.Second, 5 * time.Second} {
		p := Patience{Limit: limit}
		begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for now, err := begin, error(nil); err == nil; {
			began := now
			if lasted := began.Sub(begin); lasted > limit {
				t.Fatalf("%v each: an attempt begins after %v", took, lasted)
			}
			var delay time.Duration
			now = now.Add(took)
			delay, err = p.Failed(syscall.ENOSPC, began, now)
			var gaveUp *GaveUp
			if errors.As(err, &gaveUp) && (gaveUp.Lasted != now.Sub(begin) || gaveUp.Lasted < limit) {
				t.Errorf("%v each: %v", took, gaveUp.Lasted)
			}
			now = now.Add(delay)
		}
	}
}
