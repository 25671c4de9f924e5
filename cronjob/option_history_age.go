package cronjob

import (
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobreason"
)

// expireFinished deletes finished jobs that are older than argument keep. It adds a wait for the
// time at which the next job reaches this age.
func expireFinished(s *Snapshot, c *census, places []int32, keep time.Duration, out trimming) trimming {
	var next time.Time
	for _, i := range places {
		child := &s.Children[i]
		expires := child.FinishTime.Add(keep)
		switch {
		case child.FinishTime.IsZero(), child.isDeleted():
		case expires.After(s.Now):
			next = sooner(next, expires)
		default:
			out = deleteFinished(s, c, int(i), cronjobreason.DeleteExpired, out)
		}
	}
	if !next.IsZero() {
		out.waits = append(out.waits, Wait{Reason: cronjobreason.WaitHistory, Until: next})
	}
	return out
}
