package world

import (
	"testing"
	"time"

	"github.com/batchplan/batchplan/cronjob"
)

// TestCronJob_BeginRemoval: a second deletion does not change the time of the first.
func TestCronJob_BeginRemoval(t *testing.T) {
	w := NewCronJob(cronjob.CronJob{Name: "c"}, cronjob.Options{})
	w.Jobs["c-1"] = cronjob.Child{Name: "c-1", UID: "1"}
	begun := w.Now
	w.BeginRemoval("c-1")
	w.Now = w.Now.Add(time.Hour)
	w.BeginRemoval("c-1")
	if got := w.Jobs["c-1"].DeletionTimestamp; !got.Equal(begun) {
		t.Errorf("deleted at %v, want %v", got, begun)
	}
}
