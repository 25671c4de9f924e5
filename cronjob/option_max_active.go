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

// limitOf returns the number of active jobs at which a trigger or a backfill waits: the smallest of
// the limits. Zero means no limit.
func limitOf(overlap ConcurrencyPolicy, limits ...int32) (smallest int32) {
	if overlap == Forbid {
		return 1
	}
	for _, limit := range limits {
		if smallest == 0 || limit > 0 && limit < smallest {
			smallest = limit
		}
	}
	return smallest
}
