// Package backoff decides how long to wait after failures, as values.
//
// A [Policy] turns a number of failures into a delay. A [Record] holds how many
// failures there were since the last success, and when the last one happened;
// from both follows the time at which the next attempt is due. Nothing here
// reads a clock or keeps state: a Record goes in with a snapshot, the next one
// comes out, and it can be stored, so that a restart does not forget it (B2).
//
//	next := record.Observe(successTimes, failureTimes)
//	if wait := next.Remaining(policy, now); wait > 0 {
//		// nothing is started; look again after wait
//	}
//
// The zero Policy is the one with which a Job replaces failed pods (J31);
// [Retry] is the one with which a failed write is tried again (J43).
package backoff
