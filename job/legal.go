package job

import (
	"fmt"
	"math"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job/release"
)

// Announce returns the status with the condition that tells how the job is going to end,
// SuccessCriteriaMet or FailureTarget. An end that is announced already stays. Servers
// whose gates JobManagedBy and JobPodReplacementPolicy are off know SuccessCriteriaMet with
// a successPolicy only: for them, nothing announces another success. The error says that the
// verdict is neither, or that the status tells the other end.
func Announce(s Status, spec Spec, end Verdict, at time.Time, r release.Release) (Status, error) {
	other := ConditionFailureTarget
	switch end.Type {
	case ConditionSuccessCriteriaMet:
	case ConditionFailureTarget:
		other = ConditionSuccessCriteriaMet
	default:
		return Status{}, invalid("end.type", string(end.Type), "must be SuccessCriteriaMet or FailureTarget")
	}

	if s.isTrue(other) {
		return Status{}, invalid("status."+conditionField(other), "True", fmt.Sprintf("excludes %s", end.Type))
	}
	byPolicy := spec.SuccessPolicy != nil && spec.CompletionMode == Indexed
	if end.Type == ConditionSuccessCriteriaMet && endsWithoutNotice(r.Off()) && !byPolicy {
		return s, nil
	}
	recordVerdict(&s, end, at)
	return s, nil
}

// Finish returns the status of a job that has ended: with the condition that announces
// the end, and with Complete or Failed. It sets completionTime with Complete, and startTime
// if there is none. An API server of the release serves the change, whether the end was
// announced before or not.
//
// The error says what must be over first: pods that are active or terminating, and UIDs
// that are not counted. A status that has ended is returned as it is.
func Finish(s Status, spec Spec, end Verdict, at time.Time, r release.Release) (Status, error) {
	if s.finished() != "" {
		return s, nil
	}

	next, err := Announce(s, spec, end, at, r)
	if err != nil {
		return Status{}, err
	}
	if c := next.find(end.Type); c != nil {
		end.Reason, end.Message = c.Reason, c.Message // as announced (J38)
	}

	if next.StartTime.IsZero() {
		next.StartTime = at
	}

	f := facts{Now: at, Suspend: spec.isSuspended(), Completions: spec.Completions}
	terminating := next.Terminating
	finish(&next, &f, end)
	next.Terminating = terminating
	return next, checkAll(&next, &spec, checkFinished).err("status.")
}

// Suspend returns the status of a job that is suspended: with the condition, and without
// startTime, which releases before 1.36 keep (J39). The error says that
// spec.suspend is not set, or that the end is announced.
func Suspend(s Status, spec Spec, at time.Time, r release.Release) (Status, error) {
	if !spec.isSuspended() {
		return Status{}, invalid("spec.suspend", false,
			"must be true: the server refuses to take the startTime of a job that runs")
	}
	return turn(s, spec, at, r)
}

// Resume returns the status of a job that runs again, with a new startTime. The error says
// that spec.suspend is set, or that the end is announced. In 1.31 with JobManagedBy, the
// server refuses to change a startTime, which stays.
func Resume(s Status, spec Spec, at time.Time, r release.Release) (Status, error) {
	if spec.isSuspended() {
		return Status{}, invalid("spec.suspend", true, "must be false")
	}

	start := s.StartTime
	next, err := turn(s, spec, at, r)
	if !start.IsZero() && r.IsBefore(release.V132) && r.Has(release.JobManagedBy) {
		next.StartTime = start
	}
	return next, err
}

func turn(s Status, spec Spec, at time.Time, r release.Release) (Status, error) {
	for _, t := range [...]ConditionType{ConditionSuccessCriteriaMet, ConditionFailureTarget} {
		if s.isTrue(t) {
			return Status{}, invalid("status."+conditionField(t), "True",
				"a job that is ending is neither suspended nor resumed")
		}
	}

	recordSuspension(&s, &facts{Now: at, Status: s, Suspend: spec.isSuspended(), Without: r.Off()})
	return s, nil
}

// Part is one of the jobs that a job is divided into: the same job in another cluster,
// or a share of its pods.
type Part struct {
	Status Status `json:"status"`
	// First is the index of the whole job that index 0 of the part is, for an Indexed job
	// whose indexes are divided. Parts that run the same index are one for it.
	First int32 `json:"first,omitempty"`
}

// Aggregate returns the next status of a job that runs as parts, from the one that was
// written last. An API server of the release serves the step, and no figure goes back: a
// part that is missing for a while takes nothing with it.
//
//   - The counters are the sums. Of an Indexed job, succeeded is the number of
//     completedIndexes.
//   - The job fails when one part has failed, with its reason. FailureTarget is set
//     then, and Failed once no part has pods left. Ending the others is up to the caller.
//   - It completes when there are parts and all have completed.
//   - startTime is the earliest, and stays; completionTime is the latest.
//   - Suspended is true once all parts are, and false once one is not, as far as
//     spec.suspend says the same.
//   - After the end nothing changes.
//
// The spec is the whole job's, after [Default]. The statuses of the parts should be
// legal; what is not, is left out or bounded.
func Aggregate(spec Spec, old Status, parts []Part, now time.Time, r release.Release) Status {
	if old.finished() != "" {
		return old
	}

	next := old
	end := endOf(&old, parts)
	next.StartTime = startOf(&old, parts)
	sumPods(&next, &old, parts)
	if spec.isIndexed() {
		sumIndexes(&next, &spec, parts)
	}

	if !end.decided() {
		next.suspendAs(&spec, parts, now, r)
		return next
	}

	announced, err := Announce(next, spec, end, now, r)
	if err != nil {
		return next // unreachable: endOf follows what is announced
	}

	at := now
	if !end.failed() {
		at = lastCompletion(parts, now)
	}
	if finished, err := Finish(announced, spec, end, at, r); err == nil {
		return finished
	}
	return announced // pods are left
}

// endOf is how the job is going to end: as announced, in failure with the first part that
// has failed, or in success if all have succeeded.
func endOf(old *Status, parts []Part) Verdict {
	if v := first(declared(old, ConditionSuccessCriteriaMet), declared(old, ConditionFailureTarget)); v.decided() {
		return v
	}

	complete := len(parts) > 0
	var success Condition
	for i := range parts {
		s := &parts[i].Status
		if c := s.Condition(ConditionFailed); c.Status == ConditionTrue {
			return Verdict{ConditionFailureTarget, c.Reason, c.Message}
		}
		c := s.Condition(ConditionComplete)
		if complete = complete && c.Status == ConditionTrue; i == 0 {
			success = c
		}
	}

	if !complete {
		return Verdict{}
	}
	return Verdict{ConditionSuccessCriteriaMet, success.Reason, success.Message}
}

// startOf is the start time to write. One that was written stays, as servers want it.
func startOf(old *Status, parts []Part) time.Time {
	start := old.StartTime
	if !start.IsZero() {
		return start
	}
	for i := range parts {
		start = earliest(start, parts[i].Status.StartTime)
	}
	return start
}

// lastCompletion is when the last part has completed.
func lastCompletion(parts []Part, now time.Time) time.Time {
	var last time.Time
	for i := range parts {
		if at := parts[i].Status.CompletionTime; at.After(last) {
			last = at
		}
	}
	if last.IsZero() {
		return now
	}
	return last
}

// sumPods sums the counts of pods. The counts of ended pods never fall.
func sumPods(next, old *Status, parts []Part) {
	var active, ready, terminating, succeeded, failed int64
	knowsTerminating := old.Terminating != nil

	for i := range parts {
		s := &parts[i].Status
		active += int64(max(s.Active, 0))
		ready += int64(max(value.Of(s.Ready), 0))
		succeeded += int64(max(s.Succeeded, 0))
		failed += int64(max(s.Failed, 0))
		if s.Terminating != nil {
			knowsTerminating = true
			terminating += int64(max(*s.Terminating, 0))
		}
	}

	next.Active, next.Ready = clamp32(active), value.To(clamp32(min(ready, active)))
	next.Succeeded, next.Failed = max(old.Succeeded, clamp32(succeeded)), max(old.Failed, clamp32(failed))
	if next.Terminating = nil; knowsTerminating {
		next.Terminating = value.To(clamp32(terminating))
	}
	next.UncountedTerminatedPods = nil // the parts have them
}

// sumIndexes joins the index lists. An index that was decided stays decided: the first
// verdict counts.
func sumIndexes(next *Status, spec *Spec, parts []Part) {
	completed, _ := ParseIndexes(next.CompletedIndexes)
	failed, _ := ParseIndexes(value.Of(next.FailedIndexes))

	for i := range parts {
		p := &parts[i]
		done, _ := ParseIndexes(p.Status.CompletedIndexes)
		completed = completed.Union(shifted(done, p.First).Minus(failed))
	}

	for i := range parts {
		p := &parts[i]
		lost, _ := ParseIndexes(value.Of(p.Status.FailedIndexes))
		failed = failed.Union(shifted(lost, p.First).Minus(completed))
	}

	completed = completed.Clip(*spec.Completions)
	next.CompletedIndexes = completed.String()
	if spec.limitsIndexes() {
		next.FailedIndexes = value.To(failed.Clip(*spec.Completions).String())
	}
	next.Succeeded = int32(completed.Len())
}

// shifted adds to each index.
func shifted(x Indexes, by int32) (out Indexes) {
	if by <= 0 {
		return x
	}
	for first, last := range x.Ranges() {
		if last <= math.MaxInt32-by {
			out = out.With(first+by, last+by)
		}
	}
	return out
}

// suspendAs turns the condition Suspended with the parts.
func (s *Status) suspendAs(spec *Spec, parts []Part, now time.Time, r release.Release) {
	all := len(parts) > 0
	for i := range parts {
		all = all && parts[i].Status.isTrue(ConditionSuspended)
	}

	to := Resume
	if all {
		to = Suspend
	}
	if turned, err := to(*s, *spec, now, r); err == nil { // the spec says so, and no end is announced
		s.Conditions = turned.Conditions
	}
}
