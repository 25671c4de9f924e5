package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/job"
)

// buffers are what a Planner keeps from one round to the next: no round reads what another
// has left in them.
type buffers struct {
	census     census
	triggers   []Trigger
	active     []Reference
	finished   []int32
	runs       []time.Time
	byUID      map[job.UID]int32
	verify     []Reference
	unexpected []Reference
	waits      []Wait
	events     []job.Event
}
