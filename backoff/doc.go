// Package backoff computes how long to wait after failures.
//
// A [Policy] turns a number of failures into a delay. A [Record] holds the number of failures since
// the last success and the time of the last one. Together they give the time of the next attempt.
// Nothing here reads a clock or keeps state: the caller keeps the Record from round to round, and
// may store it to survive a restart (B2).
//
//	next := record.Observe(successTimes, failureTimes)
//	if wait := next.Remaining(policy, now); wait > 0 {
//		// nothing is started; look again after wait
//	}
//
// The zero Policy delays the replacement of a Job's failed pods (J31); [Retry] delays the
// repetition of a failed write (J43).
package backoff
