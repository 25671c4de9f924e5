package cronjob_test

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
)

// CI9: how long to wait is never 0 with ok, which several work queues read as "never".
func TestCI9_RequeueAfter(t *testing.T) {
	for _, tc := range []struct {
		name string
		at   time.Time
		want time.Duration
		ok   bool
	}{
		{"never", time.Time{}, 0, false},
		{"later", hours(1), time.Hour, true},
		{"at once", hours(0), 1, true},
		{"the time has passed", hours(-1), 1, true},
	} {
		if d, ok := (cronjob.Requeue{At: tc.at}).After(start); d != tc.want || ok != tc.ok {
			t.Errorf("%s: got %d, %t", tc.name, d, ok)
		}
	}
}
