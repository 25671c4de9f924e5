package cronjob

// fills applies Options.MaxActive to a run, given the number of active jobs.
func fills(limit int32, active int) obstacle {
	if isAtLimit(limit, active) {
		return obstacle{standing: isFull, jobs: active}
	}
	return obstacle{standing: isFree}
}

// isAtLimit reports whether no more jobs may start, given the number of active jobs. A limit of
// zero means no limit.
func isAtLimit(limit int32, active int) bool { return limit > 0 && active >= int(limit) }

// limitOf returns the number of active jobs at which a trigger waits. Zero means no limit.
func limitOf(overlap ConcurrencyPolicy, maxActive int32) int32 {
	if overlap == Forbid {
		return 1
	}
	return maxActive
}
