// Package backoff decides how long to wait after failures, as values.
//
// A [Policy] turns a number of failures into a delay. A [Record] holds the number
// of failures since the last success and the time of the last one. Together they
// give the time of the next attempt. Nothing here reads a clock or keeps state: a
// Record goes in with a snapshot and the next one comes out. It can be stored, so
// that a restart does not forget it (B2).
//
//	next := record.Observe(successTimes, failureTimes)
//	if wait := next.Remaining(policy, now); wait > 0 {
//		// nothing is started; look again after wait
//	}
//
// The zero Policy is the one with which a Job replaces failed pods (J31); [Retry]
// is the one with which a failed write is repeated (J43).
package backoff
