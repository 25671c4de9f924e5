package cronjob

// fills applies Options.MaxActive to a run, while so many jobs are active.
func fills(limit int32, active int) obstacle {
	if isAtLimit(limit, active) {
		return obstacle{standing: isFull, jobs: active}
	}
	return obstacle{standing: isFree}
}

// isAtLimit reports whether so many jobs are active that no more may start. A limit of
// zero bounds nothing.
func isAtLimit(limit int32, active int) bool { return limit > 0 && active >= int(limit) }

// limitOf returns the number of active jobs from which on a trigger waits, or a backfill
// that has no limit of its own. Zero means no limit.
func limitOf(overlap ConcurrencyPolicy, maxActive int32) int32 {
	if overlap == Forbid {
		return 1
	}
	return maxActive
}
