package cronjob

import "github.com/batchplan/batchplan/job"

// tooMany is the number of missed runs above which a warning is due (C8).
const tooMany = 100

// tooManyMissed warns of so many missed runs; the latest of them starts all the same (C8).
func tooManyMissed(t *timing) (out moves) {
	if t.overdue > tooMany && !t.due.IsZero() {
		out = says(job.EventWarning, "TooManyMissedTimes",
			"too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew")
	}
	return out
}
