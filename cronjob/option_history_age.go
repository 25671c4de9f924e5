package cronjob

import "time"

// expireFinished deletes finished jobs that are older than the options keep them, and
// notes when the next one will be.
func expireFinished(s *Snapshot, c *census, places []int32, keep time.Duration, out trimming) trimming {
	var next time.Time
	for _, i := range places {
		child := &s.Children[i]
		if child.FinishTime.IsZero() || !child.DeletionTimestamp.IsZero() {
			continue
		}
		expires := child.FinishTime.Add(keep)
		if !expires.After(s.Now) {
			out = deleteFinished(s, c, int(i), DeleteExpired, out)
			continue
		}
		if next.IsZero() || expires.Before(next) {
			next = expires
		}
	}
	if !next.IsZero() {
		out.waits = append(out.waits, Wait{Reason: WaitHistory, Until: next})
	}
	return out
}
