package jobstatus

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
)

// Part is one of the jobs that a job is divided into: the same job in another cluster,
// or a share of its pods.
type Part struct {
	// Name distinguishes the parts in the words of a failure. It can be the name of the cluster.
	Name   string     `json:"name,omitempty"`
	Status job.Status `json:"status"`
	// First is for an Indexed job whose indexes are divided: index 0 of the part is index First of
	// the whole job. If several parts run the same index, the index counts once.
	First int32 `json:"first,omitempty"`
}

// Aggregate returns the next status of a job that runs as parts. old is the status that was written
// last. An API server of the release accepts the change. Counts of ended pods never decrease, even
// if a part is missing for a while. Pass a part that has not reported yet with an empty status;
// otherwise the other parts alone decide the end.
//
//   - The counters are the sums; ready and terminating are nil if no part has them. For an Indexed
//     job, succeeded is the number of completedIndexes.
//   - The job fails when one part has failed. FailureTarget is set then, with the reason and the
//     message of [JoinFailures]. Failed is set, with the same reason and message, once no part has
//     pods left. The caller has to end the other parts.
//   - The job completes when there are parts and all of them have completed.
//   - startTime is the earliest one of the parts, and does not change once it is written.
//     completionTime is the latest one.
//   - Suspended becomes True once all parts are suspended, and False once one is not, if
//     spec.suspend agrees.
//   - After the end nothing changes.
//
// spec is the spec of the whole job, after [job.Default]. The statuses of the parts should be
// valid; invalid values are left out or limited.
func Aggregate(old job.Status, spec job.Spec, parts []Part, at time.Time, r release.Release) job.Status {
	return AggregateFunc(old, spec, parts, JoinFailures, at, r)
}

// Words returns the reason and the message of the failure of a job, from its parts that have
// failed.
type Words func(failed []Part) (reason, message string)

// AggregateFunc is like [Aggregate], but the reason and the message of a failure come from argument
// words, not from [JoinFailures].
func AggregateFunc(
	old job.Status, spec job.Spec, parts []Part, words Words, at time.Time, r release.Release,
) job.Status {
	if old.Finished() != "" {
		return old
	}

	next := old
	end := endOf(&old, parts, words)
	next.StartTime = startOf(&old, parts)
	sumPods(&next, &old, parts)
	if isIndexed(&spec) {
		sumIndexes(&next, &spec, parts)
	}

	if end.Type == "" {
		suspendAs(&next, &spec, parts, at, r)
		return next
	}

	announced, err := Announce(next, spec, end, at, r)
	if err != nil {
		return next // unreachable: endOf follows what is announced
	}

	if end.Type == job.ConditionSuccessCriteriaMet {
		at = lastCompletion(parts, at)
	}
	if finished, err := Finish(announced, spec, end, at, r); err == nil {
		return finished
	}
	return announced // pods are left
}

// JoinFailures joins the messages of parts that have failed: "member1, member3: Job has reached the
// specified backoff limit; member2: ...". The reason is the first one that is not empty.
func JoinFailures(failed []Part) (reason, message string) {
	var messages []string
	names := map[string][]string{}

	for i := range failed {
		c := failed[i].Status.Condition(job.ConditionFailed)
		reason = cmp.Or(reason, c.Reason)
		who, seen := names[c.Message]
		if !seen {
			messages = append(messages, c.Message)
		}
		if name := failed[i].Name; name != "" {
			who = append(who, name)
		}
		names[c.Message] = who
	}

	var texts []string
	for _, m := range messages {
		who := strings.Join(names[m], ", ")
		switch {
		case who != "" && m != "":
			texts = append(texts, who+": "+m)
		case who != "" || m != "":
			texts = append(texts, who+m)
		}
	}
	return reason, strings.Join(texts, "; ")
}

// endOf decides how the job is going to end: as announced, in failure if a part has failed, or in
// success if all parts have completed.
func endOf(old *job.Status, parts []Part, words Words) job.Verdict {
	for _, t := range [...]job.ConditionType{job.ConditionSuccessCriteriaMet, job.ConditionFailureTarget} {
		if c := old.Condition(t); c.Status == job.ConditionTrue {
			return job.Verdict{Type: t, Reason: c.Reason, Message: c.Message}
		}
	}

	var failed []Part
	completed := 0
	for i := range parts {
		switch s := &parts[i].Status; {
		case isTrue(s, job.ConditionFailed):
			failed = append(failed, parts[i])
		case isTrue(s, job.ConditionComplete):
			completed++
		}
	}

	switch {
	case len(failed) > 0:
		reason, message := words(failed)
		return job.Verdict{Type: job.ConditionFailureTarget, Reason: reason, Message: message}
	case completed > 0 && completed == len(parts):
		c := parts[0].Status.Condition(job.ConditionComplete)
		return job.Verdict{Type: job.ConditionSuccessCriteriaMet, Reason: c.Reason, Message: c.Message}
	}
	return job.Verdict{}
}

// startOf returns the start time to write. A start time that was written stays, because servers
// refuse changes.
func startOf(old *job.Status, parts []Part) time.Time {
	start := old.StartTime
	if !start.IsZero() {
		return start
	}
	for i := range parts {
		at := parts[i].Status.StartTime
		if earlier := start.IsZero() || at.Before(start); earlier && !at.IsZero() {
			start = at
		}
	}
	return start
}

// lastCompletion returns the time at which the last part has completed, or now if that is unknown.
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
func sumPods(next, old *job.Status, parts []Part) {
	var active, succeeded, failed int64
	var ready, terminating known

	for i := range parts {
		s := &parts[i].Status
		active += int64(max(s.Active, 0))
		succeeded += int64(max(s.Succeeded, 0))
		failed += int64(max(s.Failed, 0))
		ready.add(s.Ready)
		terminating.add(s.Terminating)
	}

	next.Active = limited(active)
	next.Ready, next.Terminating = ready.atMost(active), terminating.atMost(math.MaxInt32)
	next.Succeeded, next.Failed = max(old.Succeeded, limited(succeeded)), max(old.Failed, limited(failed))
	next.UncountedTerminatedPods = nil // the parts keep them
}

// known is a sum over the parts; any is true if at least one part has the count.
type known struct {
	sum int64
	any bool
}

func (k *known) add(count *int32) {
	if count != nil {
		k.sum, k.any = k.sum+int64(max(*count, 0)), true
	}
}

func (k *known) atMost(most int64) *int32 {
	if !k.any {
		return nil
	}
	return value.To(limited(min(k.sum, most)))
}

// limited returns a sum, limited to the range of a counter.
func limited(sum int64) int32 { return int32(min(sum, math.MaxInt32)) }

// sumIndexes joins the index lists. An index that has succeeded or failed keeps its first verdict.
func sumIndexes(next *job.Status, spec *job.Spec, parts []Part) {
	completed, _ := job.ParseIndexes(next.CompletedIndexes)
	failed, _ := job.ParseIndexes(value.Of(next.FailedIndexes))

	for i := range parts {
		p := &parts[i]
		done, _ := job.ParseIndexes(p.Status.CompletedIndexes)
		completed = completed.Union(shifted(done, p.First).Minus(failed))
	}

	for i := range parts {
		p := &parts[i]
		lost, _ := job.ParseIndexes(value.Of(p.Status.FailedIndexes))
		failed = failed.Union(shifted(lost, p.First).Minus(completed))
	}

	completed = completed.Clip(*spec.Completions)
	next.CompletedIndexes = completed.String()
	if spec.BackoffLimitPerIndex != nil {
		next.FailedIndexes = value.To(failed.Clip(*spec.Completions).String())
	}
	next.Succeeded = int32(completed.Len())
}

// shifted adds an offset to each index. It leaves out ranges that would exceed an int32.
func shifted(x job.Indexes, by int32) (out job.Indexes) {
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

// suspendAs sets the condition Suspended if all parts have it, and withdraws it otherwise.
func suspendAs(s *job.Status, spec *job.Spec, parts []Part, now time.Time, r release.Release) {
	all := len(parts) > 0
	for i := range parts {
		all = all && isTrue(&parts[i].Status, job.ConditionSuspended)
	}

	to := Resume
	if all {
		to = Suspend
	}
	if turned, err := to(*s, *spec, now, r); err == nil { // spec.suspend agrees, and no end is announced
		s.Conditions = turned.Conditions
	}
}
