package cronjob

import "time"

// expire deletes finished jobs that are older than the options keep them, beside
// those beyond the limits, and notes when the next one gets there.
func (p *Planner) expire(places []int32, keep time.Duration) {
	if keep == 0 {
		return
	}
	var next time.Time
	for _, i := range places {
		c := &p.snap.Children[i]
		if c.FinishTime.IsZero() || !c.DeletionTimestamp.IsZero() {
			continue
		}
		expires := c.FinishTime.Add(keep)
		if !expires.After(p.snap.Now) {
			p.deleteFinished(i, DeleteExpired)
			continue
		}
		if next.IsZero() || expires.Before(next) {
			next = expires
		}
	}
	if !next.IsZero() {
		p.wait(Wait{Reason: WaitHistory, Until: next})
	}
}
