package cronjob

import "time"

// expireFinished deletes finished jobs that are older than the options keep them, and
// notes when the next one will be.
func expireFinished(plan *Plan, s *Snapshot, c *census, places []int32, keep time.Duration) {
	var next time.Time
	for _, i := range places {
		child := &s.Children[i]
		if child.FinishTime.IsZero() || !child.DeletionTimestamp.IsZero() {
			continue
		}
		expires := child.FinishTime.Add(keep)
		if !expires.After(s.Now) {
			deleteFinished(plan, s, c, int(i), DeleteExpired)
			continue
		}
		if next.IsZero() || expires.Before(next) {
			next = expires
		}
	}
	if !next.IsZero() {
		plan.wait(Wait{Reason: WaitHistory, Until: next})
	}
}
