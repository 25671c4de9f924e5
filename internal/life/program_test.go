package life

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestCL5_IdleRounds: three times in a row, a program may get nothing done and ask for another
// round within a second. For each taken name it may do so once more.
func TestCL5_IdleRounds(t *testing.T) {
	for _, test := range []struct {
		idle, taken int
		after       time.Duration
		want        string
	}{
		{3, 0, 0, ""},
		{4, 0, 0, "4 in a row get nothing done"},
		{3, 0, time.Second - 1, ""},
		{4, 0, time.Second - 1, "4 in a row get nothing done"},
		{4, 0, time.Second, ""},
		{5, 2, 0, ""},
		{6, 2, 0, "6 in a row get nothing done"},
	} {
		l := New(nil)
		l.Quiet = true
		left := test.idle
		round := func(context.Context) (again time.Time, err error) {
			if left--; left < 0 {
				return time.Time{}, nil
			}
			return l.Now().Add(test.after), nil
		}
		p := &Program{
			Life:       l,
			Start:      func(bool) func(context.Context) (time.Time, error) { return round },
			Before:     func() {},
			After:      func(bool) {},
			CheckStall: func() {},
			Busy:       "CL5",
			Taken:      test.taken,
		}
		p.Run(false)
		func() {
			defer func() { _ = recover() }() // a violation ends the life, whose T is nil
			p.Happened()
		}()

		if got := fmt.Sprint(l.Broken); (test.want == "") != (len(l.Broken) == 0) || !strings.Contains(got, test.want) {
			t.Errorf("%+v: %s", test, got)
		}
	}
}
