package trace

import (
	"crypto/sha256"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/internal/jobrules"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobstatus"
	"github.com/batchplan/batchplan/job/release"
)

// jobState is a job, and what is known of its pods.
type jobState struct {
	seen
	job    job.Job
	judged bool
	limits limits
	// pods has the pods that the log has shown or that a status has counted.
	pods   map[digest]mark
	roll   roll
	tally  tally
	streak streak
	doom   doom
	// failures has the last failed pod of each index.
	failures map[int32]failure
	// cronJob is the CronJob that has created the job. run is the time of its run.
	cronJob job.UID
	run     time.Time
	byHand  bool
}

// mark is what is known of a pod that may be gone.
type mark uint8

const (
	isShown mark = 1 << iota
	isListed
	isCounted
)

// digest is a short hash of a UID.
type digest [16]byte

func digestOf(uid job.UID) (d digest) {
	sum := sha256.Sum256([]byte(uid))
	copy(d[:], sum[:])
	return d
}

// limits are the widest limits of all specs that the controller may know: the specs since its last
// write of the status. If the job is older than the log, limits are unset until the controller
// writes the status again.
type limits struct {
	set                                   bool
	parallelism, completions, backoff     int32
	isSuspended, waits, perIndex, isQueue bool
}

func (c *checker) limitsOf(j *job.Job) limits {
	s := &j.Spec
	l := limits{
		set:         true,
		parallelism: *s.Parallelism,
		completions: math.MaxInt32,
		backoff:     *s.BackoffLimit,
		isSuspended: value.Of(s.Suspend),
		perIndex:    s.BackoffLimitPerIndex != nil && c.options.Release.Has(release.JobBackoffLimitPerIndex),
		waits: s.PodReplacementPolicy == job.ReplaceFailed &&
			c.options.Release.Has(release.JobPodReplacementPolicy),
	}
	if s.Completions != nil {
		l.completions = *s.Completions
	} else {
		l.isQueue = true
	}
	return l
}

// or returns limits that allow everything that either of the two allows.
func (l limits) or(m limits) limits {
	return limits{
		set:         l.set && m.set,
		parallelism: max(l.parallelism, m.parallelism),
		completions: max(l.completions, m.completions),
		backoff:     max(l.backoff, m.backoff),
		isSuspended: l.isSuspended && m.isSuspended,
		waits:       l.waits && m.waits,
		perIndex:    l.perIndex || m.perIndex,
		isQueue:     l.isQueue && m.isQueue,
	}
}

// jobOf returns the state of a job. Perhaps only pods of the job have been seen so far.
func (c *checker) jobOf(uid job.UID) *jobState {
	s := c.jobs[uid]
	if s == nil {
		s = &jobState{pods: map[digest]mark{}, failures: map[int32]failure{}}
		c.jobs[uid] = s
	}
	return s
}

func (c *checker) jobEvent(e *event) {
	uid := job.UID(e.meta.UID)
	switch e.change {
	case isDeleted:
		c.checkTrimmed(c.jobs[uid], e)
		c.noteGone(c.jobs[uid], e)
		c.jobGone(uid)
		return
	case isLost:
		c.epoch[kindJob]++
		return
	}

	s := c.jobOf(uid)
	before := s.job
	how := c.advance(&s.seen, e)
	if how == isRepeated {
		return
	}

	s.job, s.judged = *e.job, c.judges(&e.job.Spec)
	if how == isFirst {
		c.Jobs++
		c.firstJob(s, e)
	} else {
		c.checkStatus(s, e, &before, how)
		if how == isNext {
			c.checkVerdict(s, e, &before)
		}
		c.checkListed(s, e, &before)
		if how == isNext {
			c.checkActive(s, e, &before)
		}
		now := c.limitsOf(&s.job)
		if reflect.DeepEqual(before.Status, s.job.Status) {
			s.limits = s.limits.or(now)
		} else {
			s.limits = now
		}
	}

	c.noteLists(s, &before.Status)
	c.noteCompletion(s)
	if before.DeletionTimestamp.IsZero() && !s.job.DeletionTimestamp.IsZero() && how == isNext {
		c.checkTrimmed(s, e)
	}
	if isLast(e) {
		c.noteGone(s, e)
		c.jobGone(uid)
	}
}

// firstJob notes the first version of a job in the log.
func (c *checker) firstJob(s *jobState, e *event) {
	isNew := isNewJob(&s.job) && e.change != isModified
	if isNew {
		s.limits = c.limitsOf(&s.job)
		c.opened(s, e)
		c.tick(e)
	}
	if owner := ownerOf(e, kindCronJob); owner != "" {
		c.firstChild(c.cronOf(owner), s, e, isNew)
	}
}

// isNewJob reports whether no controller has written the status yet.
func isNewJob(j *job.Job) bool {
	return reflect.DeepEqual(j.Status, job.Status{}) && j.DeletionTimestamp.IsZero()
}

// goneJob is a job that is gone. by is a time after the deletion; zero if no such time is known.
type goneJob struct {
	seen
	by     time.Time
	unless string
}

// maxGone is how many goneJobs are kept.
const maxGone = 64

// noteGone notes that a job is gone. A watch with a selector also shows a deletion if the object no
// longer matches.
func (c *checker) noteGone(s *jobState, e *event) {
	if s == nil || !s.known || !s.judged {
		return
	}
	g := goneJob{seen: s.seen}
	g.version = max(g.version, e.version)
	if s.job.DeletionTimestamp.IsZero() {
		g.unless = unlessChosen
	}
	if len(c.goneJobs) == maxGone {
		c.goneJobs = slices.Delete(c.goneJobs, 0, 1)
	}
	c.goneJobs = append(c.goneJobs, g)
}

func (c *checker) jobGone(uid job.UID) {
	s := c.jobs[uid]
	if s == nil {
		return
	}
	c.childGone(s)
	if s.tally.pods == 0 {
		delete(c.jobs, uid)
		return
	}
	*s = jobState{tally: s.tally, pods: map[digest]mark{}, failures: map[int32]failure{}}
}

// checkStatus checks the step from the status before to the new one.
func (c *checker) checkStatus(s *jobState, e *event, before *job.Job, how step) {
	old, next := before.Status, s.job.Status
	if reflect.DeepEqual(old, next) {
		return
	}

	r := c.options.Release
	if jobrules.EndsWithoutNotice(r.Off()) {
		old, next = announced(old), announced(next)
	}

	isNext := how == isNext && s.judged
	if !isNext {
		old = overGap(old, next, &s.job.Spec)
	}

	all := job.InputErrors(jobstatus.CheckTransition(old, next, s.job.Spec, release.Newest()))
	if isNext {
		all = append(all, job.InputErrors(jobstatus.CheckServed(before.Status, s.job.Status, s.job.Spec, r))...)
	}

	told := map[string]bool{}
	for _, p := range all {
		if !told[p.Field] {
			told[p.Field] = true
			c.found(finding(e, ruleOf(p), "", "%v", p))
		}
	}
}

// announced adds the interim condition of a final condition. Servers do not write interim
// conditions if both feature gates are off.
func announced(s job.Status) job.Status {
	for _, end := range [...]struct{ final, interim job.ConditionType }{
		{job.ConditionComplete, job.ConditionSuccessCriteriaMet},
		{job.ConditionFailed, job.ConditionFailureTarget},
	} {
		if c := s.Condition(end.final); c.Status == job.ConditionTrue && !isTrue(&s, end.interim) {
			c.Type = end.interim
			s.Conditions = append(s.Conditions[:len(s.Conditions):len(s.Conditions)], c)
		}
	}
	return s
}

// overGap changes the old status as the missing versions may have changed it, so that checks of a
// single step do not fail. Rules that hold between any two versions are still checked.
func overGap(old, next job.Status, spec *job.Spec) job.Status {
	if old.Finished() != "" {
		return old
	}
	old.StartTime, old.UncountedTerminatedPods = next.StartTime, next.UncountedTerminatedPods
	old.Failed = max(old.Failed, next.Failed)
	if spec.CompletionMode != job.Indexed {
		old.Succeeded = max(old.Succeeded, next.Succeeded)
	}

	conditions := make([]job.Condition, 0, len(old.Conditions)+1)
	for _, c := range old.Conditions {
		if c.Type != job.ConditionSuspended {
			conditions = append(conditions, c)
		}
	}
	if c := next.Condition(job.ConditionSuspended); c.Type != "" {
		conditions = append(conditions, c)
	}
	old.Conditions = conditions
	return old
}

// ruleOf names the invariant that a problem of a status breaks.
func ruleOf(p *job.InputError) string {
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(p.Field, part) || strings.Contains(p.Problem, part) {
				return true
			}
		}
		return false
	}

	switch {
	case has("after the end"):
		return "JI16"
	case has("when finished"):
		return "JI8"
	case has("decrease"):
		return "JI4"
	case has("must rise", "must not move"):
		return "JI1"
	case has("uncountedTerminatedPods"):
		return "JI2"
	case has("Indexes"):
		return "JI6"
	case has("Time"):
		return "JI17"
	case has("Suspended"):
		return "J39"
	case has("must stay True"):
		return "JI14"
	case has("negative", "at most active"):
		return "JI20"
	}
	return "JI15"
}

func isTrue(s *job.Status, t job.ConditionType) bool {
	return s.Condition(t).Status == job.ConditionTrue
}

// checkListed checks the pods that a status lists, and those that it counts.
func (c *checker) checkListed(s *jobState, e *event, before *job.Job) {
	if !s.judged {
		return
	}
	listed, left := changedLists(&before.Status, &s.job.Status)
	for _, l := range listed {
		if s.pods[digestOf(l.uid)]&isCounted != 0 {
			c.found(finding(e, "JI1", "", "pod %s was counted already and is listed again as %s",
				c.podName(l.uid), l.as))
			continue
		}
		c.checkListing(s, e, before, l)
	}

	for _, uid := range left {
		p := c.pods[uid]
		isSeen := p != nil && c.isCertainPod(p) && p.precedes(e)
		if isSeen && p.tracked {
			c.found(finding(e, "JI3", "", "pod %s is counted and still has the finalizer", p.name))
		}
	}
	c.checkLost(s, e)
}

// listing is a UID in a list of a status.
type listing struct {
	uid job.UID
	as  string
}

// changedLists returns the pods that were added to the lists of a status, and the pods that were
// removed.
func changedLists(old, next *job.Status) (listed []listing, left []job.UID) {
	was, is := listings(old), listings(next)
	before, after := make(map[job.UID]string, len(was)), make(map[job.UID]bool, len(is))
	for _, l := range was {
		before[l.uid] = l.as
	}

	for _, l := range is {
		after[l.uid] = true
		if before[l.uid] != l.as {
			listed = append(listed, l)
		}
	}
	for _, l := range was {
		if !after[l.uid] {
			left = append(left, l.uid)
		}
	}
	return listed, left
}

func listings(s *job.Status) (all []listing) {
	l := value.Of(s.UncountedTerminatedPods)
	for _, uid := range l.Succeeded {
		all = append(all, listing{uid, "succeeded"})
	}
	for _, uid := range l.Failed {
		all = append(all, listing{uid, "failed"})
	}
	return all
}

// podName returns the name of a pod, or its UID if the pod is unknown.
func (c *checker) podName(uid job.UID) string {
	if p := c.pods[uid]; p != nil {
		return p.name
	}
	return string(uid)
}

// checkListing checks one pod that a status lists. The log has shown every version of the pod that
// the controller can have seen, since these versions precede the status.
func (c *checker) checkListing(s *jobState, e *event, before *job.Job, l listing) {
	p, as := c.pods[l.uid], l.as
	if p == nil && c.hasAll(s) && s.pods[digestOf(l.uid)]&isShown == 0 {
		c.found(finding(e, "JI22", unlessChosen, "%s is listed as %s, and no pod of the job has had this UID",
			l.uid, as))
	}
	if p == nil || !c.isCertainPod(p) || !p.precedes(e) {
		return
	}

	switch {
	case p.owner != s.uid:
		c.found(finding(e, "JI22", "", "pod %s is listed as %s and belongs to another owner", p.name, as))
	case as == "succeeded" && p.phase != job.PodSucceeded:
		c.found(finding(e, "JI1", "", "pod %s is listed as succeeded and has phase %s", p.name, p.phase))
	case as == "failed" && p.phase < job.PodSucceeded && !p.isDeleting:
		if !isTrue(&s.job.Status, job.ConditionFailureTarget) {
			c.found(finding(e, "J27", "", "pod %s is listed as failed, has phase %s and is not being deleted",
				p.name, p.phase))
		}
	default:
		c.checkCounted(s, e, before, p, as)
	}
}

// checkLost reports the pods that lost their finalizers before this version of the job, and whose
// success no status has recorded. It leaves out pods that are being deleted.
func (c *checker) checkLost(s *jobState, e *event) {
	for _, uid := range s.tally.lost {
		p := c.pods[uid]
		isSeen := p != nil && c.isCertainPod(p) && p.precedes(e)
		if !isSeen || p.isDeleting || p.isRecorded {
			continue
		}
		if s.job.Status.Finished() == "" {
			c.found(finding(e, "JI3", unlessRemoved, "the finalizer of pod %s was removed, "+
				"and its success is not recorded", p.name))
		}
	}
	s.tally.lost = nil
}

// noteLists notes which pods are recorded and which are counted.
func (c *checker) noteLists(s *jobState, before *job.Status) {
	listed, left := changedLists(before, &s.job.Status)
	for _, l := range listed {
		p := c.pods[l.uid]
		s.recorded(l.uid, p)
		if p == nil || p.owner != s.uid {
			continue
		}
		s.tally.remove(p, c)
		p.isRecorded, p.ending.versions = true, nil
		s.tally.add(p, c)
		if l.as == "failed" {
			s.streak.failed(p)
		}
	}
	for _, uid := range left {
		s.pods[digestOf(uid)] |= isCounted
	}
}
