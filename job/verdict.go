package job

import "time"

// decideEnd says how the job is going to end, or that it is not decided. The
// first rule that holds wins: what an earlier round has declared, then failures,
// then the success policy (J19-J25). Reaching completions is decided after the
// pods were managed (J26).
func (p *Planner) decideEnd() Verdict {
	earlier := [...]func(*Planner) Verdict{
		(*Planner).standingSuccess,  // J19
		(*Planner).standingFailure,  // J20
		(*Planner).failJob,          // J21
		(*Planner).pastBackoffLimit, // J22
		(*Planner).pastDeadline,     // J23
	}
	for _, rule := range earlier {
		if v := rule(p); v.decided() {
			return v
		}
	}
	// Until one of the following verdicts is declared, the deadline can still
	// overtake it.
	if due, ok := p.deadline(); ok && p.snap.Now.Before(due) {
		p.wait(Wait{Reason: WaitDeadline, Until: due})
	}
	if v := p.pastIndexLimits(); v.decided() { // J24
		return v
	}
	return p.meetsSuccess() // J25
}

// standingSuccess is a SuccessCriteriaMet of an earlier round (J19).
func (p *Planner) standingSuccess() Verdict { return p.standing(SuccessCriteriaMet) }

// standingFailure is a FailureTarget of an earlier round (J20).
func (p *Planner) standingFailure() Verdict { return p.standing(FailureTarget) }

func (p *Planner) standing(t ConditionType) Verdict {
	c := p.job.Status.Condition(t)
	if c.Status != ConditionTrue {
		return Verdict{}
	}
	return Verdict{Type: t, Reason: c.Reason, Message: c.Message}
}

// pastBackoffLimit compares the failures, and with restartPolicy OnFailure the
// restarts of pods that have not ended, with backoffLimit (J22).
func (p *Planner) pastBackoffLimit() Verdict {
	limit := int64(*p.job.Spec.BackoffLimit)
	past := p.failed > limit
	if p.job.Spec.Template.RestartPolicy == RestartOnFailure {
		// Quirk: restarts reach the limit where failed pods exceed it.
		past = past || p.counts.restarts >= max(limit, 1)
	}
	if !past {
		return Verdict{}
	}
	return Verdict{FailureTarget, "BackoffLimitExceeded", "Job has reached the specified backoff limit"}
}

// restarts sums the restarts of a pod's containers.
func restarts(pod *Pod) int64 {
	if pod.Phase == PodUnknown {
		return 0
	}
	var sum int64
	containers := pod.detail().Containers
	for i := range containers {
		sum += int64(max(containers[i].Restarts, 0))
	}
	return sum
}

// pastDeadline compares the time since startTime with activeDeadlineSeconds (J23).
func (p *Planner) pastDeadline() Verdict {
	due, ok := p.deadline()
	if !ok || p.snap.Now.Before(due) {
		return Verdict{}
	}
	if p.snap.Options.SuccessBeatsDeadline && (p.completionsReached() || p.meetsSuccess().decided()) {
		return Verdict{}
	}
	return Verdict{FailureTarget, "DeadlineExceeded", "Job was active longer than specified deadline"}
}

// deadline returns when activeDeadlineSeconds have passed; a suspended job has
// no deadline. One that is further away than a time.Duration reaches, 292 years,
// never comes.
func (p *Planner) deadline() (time.Time, bool) {
	seconds := p.job.Spec.ActiveDeadlineSeconds
	if seconds == nil || p.job.isSuspended() {
		return time.Time{}, false
	}
	const longest = int64(1<<63-1) / int64(time.Second)
	start := p.plan.Basis.StartTime
	if *seconds > longest || start.IsZero() {
		return time.Time{}, false
	}
	return start.Add(time.Duration(*seconds) * time.Second), true
}

// pastIndexLimits ends the job when too many indexes have failed, or when some
// have failed and none is left to run (J24).
func (p *Planner) pastIndexLimits() Verdict {
	if !p.job.limitsIndexes() {
		return Verdict{}
	}
	failed := p.failedIndexes.Len()
	limit := p.job.Spec.MaxFailedIndexes
	switch {
	case limit != nil && int64(failed) > int64(*limit):
		return Verdict{FailureTarget, "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes"}
	case failed > 0 && int64(failed)+p.succeeded >= int64(*p.job.Spec.Completions):
		return Verdict{FailureTarget, "FailedIndexes", "Job has failed indexes"}
	}
	return Verdict{}
}
