package trace

import "github.com/batchplan/batchplan/job"

// roll counts the pods of a job, including those that are gone.
type roll struct {
	// source is the log that has shown the job's creation, nil if none has.
	source *source
	epoch  int
	// isWhole is true once the log surely shows the pods of the job. isSpoilt is true once the log may
	// lack some of them.
	isWhole, isSpoilt bool
	// shown counts the pods that the log has shown. recorded counts those of them that a status has
	// listed in uncountedTerminatedPods. For an Indexed job, recorded leaves out the pods that have
	// succeeded, since the status counts them as indexes.
	shown, recorded int
}

// opened begins the roll of a new job. If the log has shown pods before, a watch of pods has begun,
// and it will show all pods of the job.
func (c *checker) opened(s *jobState, e *event) {
	s.roll.source, s.roll.epoch = e.source, c.epoch[kindPod]
	s.roll.isWhole = c.owner[kindPod] != nil
	s.roll.isSpoilt = s.roll.shown > 0 || e.audited || c.options.Incomplete
}

// enrolled notes the first version of a pod. If the pod is not new, the log may lack other pods of
// the job.
func (c *checker) enrolled(s *jobState, e *event) {
	d := digestOf(job.UID(e.meta.UID))
	if s.pods[d]&isShown == 0 {
		s.pods[d] |= isShown
		s.roll.shown++
	}
	s.roll.isSpoilt = s.roll.isSpoilt || e.audited || !isNewPod(e)
	s.roll.isWhole = s.roll.isWhole || s.roll.source == e.source
}

// recorded notes that a status has listed a pod in uncountedTerminatedPods. p is nil if the pod is
// unknown.
func (s *jobState) recorded(uid job.UID, p *podState) {
	d := digestOf(uid)
	if s.pods[d]&(isShown|isListed) != isShown {
		return
	}
	s.pods[d] |= isListed
	isCompleted := p != nil && p.phase == job.PodSucceeded
	if !isCompleted || s.job.Spec.CompletionMode != job.Indexed {
		s.roll.recorded++
	}
}

// completed notes the success of a pod. A status may have listed the pod as failed before.
func (s *jobState) completed(p *podState) {
	wasListed := s.pods[digestOf(p.uid)]&isListed != 0
	if wasListed && s.job.Spec.CompletionMode == job.Indexed {
		s.roll.recorded--
	}
}

// hasAll reports whether the log has shown all pods of a job.
func (c *checker) hasAll(s *jobState) bool {
	r := &s.roll
	isOpen := r.source != nil && r.epoch == c.epoch[kindPod]
	isEvident := r.isWhole && !r.isSpoilt
	return isOpen && isEvident && r.shown > 0
}

// checkActive checks that a status counts at most as many active pods as there can be. A pod that
// any status has listed in uncountedTerminatedPods is no longer active. While the namespace ends,
// active may also count pods whose creation was refused.
func (c *checker) checkActive(s *jobState, e *event, before *job.Job) {
	if !s.judged || c.ending[e.meta.Namespace] {
		return
	}
	r, active := &s.roll, int(s.job.Status.Active)
	most := r.shown - r.recorded
	if s.job.Spec.CompletionMode == job.Indexed {
		most -= int(before.Status.Succeeded) // the lists of an Indexed job have no successes
	}

	switch {
	case !r.isWhole && r.recorded == 0 && active == r.shown:
		r.isWhole = r.shown > 0
	case c.hasAll(s) && active > most:
		c.found(finding(e, "J11", unlessRefused, "active is %d, and %d of its %d pods have not been counted",
			active, max(most, 0), r.shown))
	}
}
