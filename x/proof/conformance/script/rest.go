package script

import (
	"sync"
	"time"
)

// rest detects controllers that never come to rest: they write again and again, and virtual time
// hardly moves. An example is a CronJob that keeps no finished job and cannot write its status. The
// controller deletes the job of a run, which finishes immediately, and then believes that the run
// has not started.
type rest struct {
	mu     sync.Mutex
	at     time.Time
	writes int
	never  bool
}

// mostWrites is the greatest acceptable number of writes in one minute.
const mostWrites = 5000

// isOver counts a write and reports whether it exceeds the limit. After that no
// write succeeds, and the controllers back off.
func (r *rest) isOver(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now = now.Truncate(time.Minute); !now.Equal(r.at) {
		r.at, r.writes = now, 0
	}
	r.writes++
	r.never = r.never || r.writes > mostWrites
	return r.never
}

// IsRestless reports whether the controllers have exceeded the limit. What they do
// after that cannot be compared.
func (w *World) IsRestless() bool {
	w.rest.mu.Lock()
	defer w.rest.mu.Unlock()
	return w.rest.never
}
