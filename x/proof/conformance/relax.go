package conformance

import (
	"regexp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/proof/conformance/script"
	"github.com/batchplan/batchplan/x/proof/conformance/server"
)

// Random behaviour of the real controllers cannot be compared word for word. Each
// relaxation here has a line in the package comment.

// relax changes the views of both sides in the same way.
func (g *game) relax(a, b *view) {
	if g.manyFailed {
		for _, lines := range [...][]string{a.Jobs, a.Events, b.Jobs, b.Events} {
			for i := range lines {
				lines[i] = failJobMessage.ReplaceAllString(lines[i], "some pod matching FailJob rule")
			}
		}
	}
}

// relaxJob drops the start time of a job that ends suspended, if the server accepts a status
// without it. If such a job never started, the real controller sets no start time. Our controller
// sets one, since later servers require it (J38). A user may set the condition Suspended to False
// afterwards: then it is a start at the time of the end.
func (g *game) relaxJob(s *batchv1.JobStatus) {
	has := func(is func(c *batchv1.JobCondition) bool, kinds ...batchv1.JobConditionType) bool {
		return slices.ContainsFunc(s.Conditions, func(c batchv1.JobCondition) bool {
			return slices.Contains(kinds, c.Type) && is(&c)
		})
	}
	isTrue := func(c *batchv1.JobCondition) bool { return c.Status == corev1.ConditionTrue }
	isFalse := func(c *batchv1.JobCondition) bool { return c.Status == corev1.ConditionFalse }
	isStart := func(c *batchv1.JobCondition) bool { return c.LastTransitionTime.Equal(s.StartTime) }

	isSuspended := has(isTrue, batchv1.JobSuspended) ||
		has(isFalse, batchv1.JobSuspended) && has(isStart, batchv1.JobComplete, batchv1.JobFailed)
	if !g.release.Has(release.JobManagedBy) && isSuspended && has(isTrue, batchv1.JobComplete, batchv1.JobFailed) {
		s.StartTime = nil
	}
}

// failJobMessage matches the name of the pod for which the podFailurePolicy fails the job. If
// several pods match, the real controller names the one that its cache happens to list first.
var failJobMessage = regexp.MustCompile(
	`(Container \S+ for pod|Pod) \S+ (failed with exit code \d+|has condition \S+) matching FailJob rule at index \d+`)

func (g *game) hasManyFailed() bool {
	for _, w := range [...]*script.World{g.theirs, g.ours} {
		var failed int32
		for _, j := range server.List[*batchv1.Job](w.Server) {
			failed += j.Status.Failed
		}
		var pods int
		for _, p := range server.List[*corev1.Pod](w.Server) {
			if p.Status.Phase == corev1.PodFailed {
				pods++
			}
		}
		if failed > 1 || pods > 1 {
			return true
		}
	}
	return false
}
