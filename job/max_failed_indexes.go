package job

// pastIndexLimits ends the job when more indexes have failed than maxFailedIndexes, or
// when some have failed and none is left to run (J24).
func pastIndexLimits(spec *Spec, t tally) Verdict {
	limit := spec.MaxFailedIndexes
	switch {
	case !spec.limitsIndexes():
		return Verdict{}
	case limit != nil && t.failedIndexes > int64(*limit):
		return Verdict{ConditionFailureTarget, "MaxFailedIndexesExceeded",
			"Job has exceeded the specified maximal number of failed indexes"}
	case t.failedIndexes > 0 && t.failedIndexes+t.succeeded >= int64(*spec.Completions):
		return Verdict{ConditionFailureTarget, "FailedIndexes", "Job has failed indexes"}
	}
	return Verdict{}
}
