package trace

import (
	"cmp"
	"time"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
)

// isNewPod reports whether nothing has happened to a pod since its creation.
func isNewPod(e *event) bool {
	p := e.pod
	isFresh := e.change == isAdded || e.change == isThere
	isPending := p.Phase == job.PodPending && !p.Assigned && p.Deletion == nil
	isBare := !p.Untracked && len(p.Detail.Conditions) == 0 && len(p.Detail.Containers) == 0
	return isFresh && isPending && isBare
}

// firstPod checks the creation of a pod.
func (c *checker) firstPod(s *jobState, p *podState, e *event) {
	if !isNewPod(e) {
		return
	}

	c.tick(e)
	switch {
	case !s.known || !s.precedes(e):
		c.checkOwner(e)
		c.Unjudged++
		return
	case !s.judged:
		return
	case !s.job.DeletionTimestamp.IsZero():
		c.checkDeleted(s, e)
		return
	}

	hold := c.holding(e)
	mayCreate := c.checkQuiet(s, hold)
	isKnown := c.isCertain(&s.seen) && s.limits.set
	if mayCreate && isKnown && e.change != isThere {
		c.checkNumbers(s, hold)
		c.checkIndex(s, p, hold)
		c.checkBackoff(s, p, e, hold)
	}
}

// hold holds back a finding until [checker.confirm].
type hold func(rule, unless, format string, args ...any)

func (c *checker) holding(e *event) hold {
	return func(rule, unless, format string, args ...any) {
		c.held = append(c.held, finding(e, rule, unless, format, args...))
		if e.audited {
			c.confirm()
		}
	}
}

// checkDeleted checks that no pod is created for a job whose deletion the controller must know.
func (c *checker) checkDeleted(s *jobState, e *event) {
	since := e.meta.CreationTimestamp.Sub(s.job.DeletionTimestamp)
	if since > lag+skew {
		c.holding(e)("J30", unlessLate, "is created %v after the deletion of job %s", since, s.name)
	}
}

// checkOwner checks that no pod is created for a job that the controller must know to be gone.
func (c *checker) checkOwner(e *event) {
	for i := range c.goneJobs {
		g := &c.goneJobs[i]
		isLate := !g.by.IsZero() && e.meta.CreationTimestamp.After(g.by.Add(lag))
		if g.uid == ownerOf(e, kindJob) && g.precedes(e) && isLate {
			c.holding(e)("J30", cmp.Or(g.unless, unlessLate), "is created after job %s is gone", g.name)
		}
	}
}

// checkQuiet checks that the job may have new pods at all.
func (c *checker) checkQuiet(s *jobState, found hold) (ok bool) {
	st := &s.job.Status
	isSuspended := c.isCertain(&s.seen) && s.limits.set && s.limits.isSuspended
	switch {
	case st.Finished() != "":
		found("JI16", unlessLate, "is created after the end of job %s (%s)", s.name, st.Finished())
	case isTrue(st, job.ConditionFailureTarget):
		found("J20", unlessLate, "is created after job %s has FailureTarget", s.name)
	case isTrue(st, job.ConditionSuccessCriteriaMet):
		found("J19", unlessLate, "is created after job %s has SuccessCriteriaMet", s.name)
	case isTrue(st, job.ConditionSuspended) && isSuspended:
		found("JI18", "", "is created while job %s is suspended", s.name)
	default:
		return true
	}
	return false
}

// checkNumbers checks that a new pod does not exceed the limits of its job.
func (c *checker) checkNumbers(s *jobState, found hold) {
	t, l := &s.tally, &s.limits
	t.reset(c.epoch[kindPod])
	if t.adopted {
		return
	}

	active, words := t.active, "active"
	if active+1 <= int(l.parallelism) && l.waits {
		active, words = t.active+t.terminating, "active or terminating"
	}
	rule := "JI10"
	if words != "active" {
		rule = "JI11"
	}

	lists := value.Of(s.job.Status.UncountedTerminatedPods)
	succeeded := int(s.job.Status.Succeeded) + len(lists.Succeeded)
	failed := int(s.job.Status.Failed) + len(lists.Failed)
	isIndexed := s.job.Spec.CompletionMode == job.Indexed

	switch {
	case active+1 > int(l.parallelism):
		found(rule, unlessLost, "is pod %d that is %s, parallelism of job %s is %d",
			active+1, words, s.name, l.parallelism)
	case l.isQueue && succeeded > 0:
		found("J29", unlessLate, "is created after %d successes of job %s, which has no completions", succeeded, s.name)
	case !isIndexed && !l.isQueue && active+1+succeeded+t.succeeded > int(l.completions):
		found(rule, unlessLost, "is pod %d that is %s beside %d successes, completions of job %s are %d",
			active+1, words, succeeded+t.succeeded, s.name, l.completions)
	}

	if s.doom.uid != "" && s.doom.active >= int(l.parallelism) {
		found("J21", unlessLate, "is created after the failure of pod %s, which ends job %s by its podFailurePolicy",
			s.doom.name, s.name)
	}
	if !l.perIndex && failed > int(l.backoff) {
		found("JI21", unlessLost, "is created after %s of job %s, whose backoffLimit is %d",
			value.Count(failed, "failure"), s.name, l.backoff)
	}
}

func (c *checker) checkIndex(s *jobState, p *podState, found hold) {
	if s.job.Spec.CompletionMode != job.Indexed {
		return
	}
	switch i := p.index; {
	case i < 0:
		found("J33", "", "has no completion index, job %s is Indexed", s.name)
	case i >= s.limits.completions:
		found("J33", "", "has index %d, completions of job %s are %d", i, s.name, s.limits.completions)
	case hasEnded(&s.job.Status, i):
		found("JI7", unlessLate, "has index %d, which job %s has completed or given up", i, s.name)
	case s.tally.indexes[i] > 0 && !s.tally.adopted:
		found("JI13", unlessLost, "has index %d, of which job %s has an active pod", i, s.name)
	}
}

// streak counts the failures since the last success of a job. It counts only failures that a status
// has recorded; there may be more.
type streak struct {
	failures int
	last     time.Time
	// success is the finish time of the last success, and since is the version that showed it.
	success time.Time
	since   uint64
}

func (k *streak) succeeded(p *podState) {
	*k = streak{success: k.success, since: max(k.since, p.ended)}
	if p.finished.After(k.success) {
		k.success = p.finished
	}
	if p.finished.IsZero() || p.ended == 0 {
		k.success = time.Unix(1<<40, 0) // unknown: no failure may count as later than the success
	}
}

// failed notes a failure that a status has recorded.
func (k *streak) failed(p *podState) {
	isDated := !p.finished.IsZero() && p.finished.After(k.success.Add(time.Second))
	if p.phase != job.PodFailed || !isDated || p.ended <= k.since {
		return
	}

	k.failures++
	if p.finished.After(k.last) {
		k.last = p.finished
	}
}

// failure is the last failed pod of an index.
type failure struct {
	at     time.Time
	before int
	uid    job.UID
}

// checkBackoff checks that a new pod has waited for the backoff after the last failure.
func (c *checker) checkBackoff(s *jobState, p *podState, e *event, found hold) {
	created := e.meta.CreationTimestamp
	if s.limits.perIndex {
		if last, ok := s.failures[p.index]; ok && s.job.Spec.CompletionMode == job.Indexed {
			c.checkIndexBackoff(s, p, last, created, found)
		}
		return
	}

	if s.streak.failures == 0 || ignoresFailures(&s.job.Spec) {
		return
	}
	delay := c.options.Jobs.Backoff.Delay(s.streak.failures)
	if due := s.streak.last.Add(delay); created.Add(skew).Before(due) {
		found("JI21", unlessRestarted, "is created %v after failure %d in a row of job %s, the backoff is %v",
			created.Sub(s.streak.last), s.streak.failures, s.name, delay)
	}
}

func (c *checker) checkIndexBackoff(s *jobState, p *podState, last failure, created time.Time, found hold) {
	failed := c.pods[last.uid]
	if failed == nil || !c.isCertainPod(failed) || !failed.tracked {
		return // the controller may not know the failure
	}

	if p.before < last.before+1 {
		found("JI21", "", "has %d failures of its index before it, pod %s had %d and has failed",
			p.before, failed.name, last.before)
		return
	}

	delay := c.options.Jobs.Backoff.Delay(last.before + 1)
	if due := last.at.Add(delay); created.Add(skew).Before(due) {
		found("JI21", "", "is created %v after failure %d of its index, the backoff is %v",
			created.Sub(last.at), last.before+1, delay)
	}
}

// ignoresFailures reports whether the job may have failures that do not lengthen the backoff.
func ignoresFailures(s *job.Spec) bool {
	for _, r := range value.Of(s.PodFailurePolicy).Rules {
		if r.Action == job.IgnoreFailure {
			return true
		}
	}
	return false
}
