package patience

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
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

// Among the codes of the database, 5, 6, 7, 10, 13 and 14 are temporary failures.
func TestIsTransient_Codes(t *testing.T) {
	var got []int
	for code := range 64 {
		if IsTransient(coded(code)) {
			got = append(got, code)
		}
	}
	if want := []int{5, 6, 7, 10, 13, 14}; !slices.Equal(got, want) {
		t.Errorf("temporary are %v, want %v", got, want)
	}
}

// The result of each pass decides how long to wait before the next pass, and what the user is told.
func TestTry(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now, p := began, Patience{Limit: 30 * time.Second}
	for _, test := range []struct {
		err        error
		took       time.Duration
		delay      time.Duration
		said, ends string
	}{
		{syscall.ENOSPC, 0, time.Second, "no space left on device; trying again in 1s", ""},
		{syscall.ENOSPC, 0, 2 * time.Second, "no space left on device; trying again in 2s", ""},
		{nil, 0, 0, "", ""},
		{syscall.ENOSPC, 0, time.Second, "no space left on device; trying again in 1s", ""},
		{syscall.ENOSPC, 0, 2 * time.Second, "no space left on device; trying again in 2s", ""},
		{syscall.ENOSPC, 0, 4 * time.Second, "no space left on device; trying again in 4s", ""},
		{syscall.ENOSPC, 0, 5 * time.Second, "no space left on device; trying again in 5s", ""}, // the maximum
		{syscall.ENOSPC, 17600 * time.Millisecond, 400 * time.Millisecond, "no space left on device; trying again in 400ms", ""},
		{syscall.ENOSPC, 0, 0, "", "no space left on device; gave up after 30s"},
		{nil, 0, 0, "", ""},
		{syscall.ENOSPC, 29 * time.Second, time.Second, "no space left on device; trying again in 1s", ""}, // the limit counts from the beginning of the pass
		{fs.ErrPermission, 0, 0, "", "permission denied"},
	} {
		said, start := "", now
		now = now.Add(test.took)
		delay, err := p.Try(test.err, start, now, func(text string) { said = text })
		ends := ""
		if err != nil {
			ends = err.Error()
		}
		if delay != test.delay || said != test.said || !strings.HasPrefix(ends, test.ends) || (ends == "") != (test.ends == "") {
			t.Errorf("%v after %v: wait %v, say %q, end %q; want %+v", test.err, now.Sub(began), delay, said, ends, test)
		}
		now = now.Add(delay)
	}
}

// Delays grow until the limit. After a success they start again.
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
	step(3 * time.Second) // the rest of the limit
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

// TestRepeat: each pass rests as long as it asks for, or until it is woken. After a temporary failure
// the next pass comes after the delay, and not earlier.
func TestRepeat(t *testing.T) {
	const s = time.Second
	type pass struct {
		took, rest time.Duration
		err        error
	}
	full := syscall.ENOSPC
	for _, test := range []struct {
		name   string
		passes []pass // the last one is repeated
		wakes  []time.Duration
		want   []time.Duration // when the passes begin
		ends   string
	}{
		{"rests", []pass{{0, 5 * s, nil}, {2 * s, s, nil}}, nil, []time.Duration{0, 5 * s, 8 * s, 11 * s, 14 * s, 17 * s}, ""},
		{"no rest", []pass{{}}, nil, []time.Duration{0}, ""},
		{"woken", []pass{{}}, []time.Duration{3 * s, 7 * s}, []time.Duration{0, 3 * s, 7 * s}, ""},
		{"woken from a rest", []pass{{0, 15 * s, nil}}, []time.Duration{3 * s}, []time.Duration{0, 3 * s, 18 * s}, ""},
		{"failures", []pass{{0, 0, full}, {0, 0, full}, {}}, nil, []time.Duration{0, s, 3 * s}, ""},
		{"a wake-up waits for a delay", []pass{{0, 0, full}, {}}, []time.Duration{s / 2}, []time.Duration{0, s, s}, ""},
		{"a longer rest than the delay", []pass{{0, 4 * s, full}, {}}, nil, []time.Duration{0, 4 * s}, ""},
		{"a shorter rest than the delay", []pass{{0, 1, full}, {}}, nil, []time.Duration{0, s}, ""},
		{"the shortest rest", []pass{{0, 1, nil}, {}}, nil, []time.Duration{0, 1}, ""},
		{"the shortest delay", []pass{{9*s - 1, 0, full}, {}}, []time.Duration{s}, []time.Duration{0, 9 * s, 9 * s}, ""},
		{"lasting failures", []pass{{4 * s, 0, full}}, nil, []time.Duration{0, 5 * s}, "no space left on device; gave up after 9s"},
		{"another failure", []pass{{0, s, fs.ErrPermission}}, nil, []time.Duration{0}, "permission denied"},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*s-1)
			defer cancel()
			wake := make(chan struct{}, 1)
			for _, at := range test.wakes {
				time.AfterFunc(at, func() { wake <- struct{}{} })
			}

			p, begin := Patience{Limit: 9 * s}, time.Now()
			var got []time.Duration
			tell := func(text string) {
				if !strings.HasPrefix(text, "no space left on device; trying again in ") {
					t.Errorf("%s: %s", test.name, text)
				}
			}
			err := p.Repeat(ctx, wake, tell, func() (time.Duration, error) {
				now := test.passes[min(len(got), len(test.passes)-1)]
				got = append(got, time.Since(begin))
				time.Sleep(now.took)
				return now.rest, now.err
			})
			ends := ""
			if err != nil {
				ends = err.Error()
			}
			if !slices.Equal(got, test.want) || ends != test.ends {
				t.Errorf("%s: passes at %v, end %q", test.name, got, ends)
			}
		})
	}
}
