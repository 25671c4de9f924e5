package rounds

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// cronExplanations holds all known differences for CronJobs.
var cronExplanations = []struct {
	row     string
	applies func(s *CronSnapshot, theirs, ours *Result) bool
}{
	{"Another job now has the name of an active job (C5)", func(s *CronSnapshot, _, _ *Result) bool {
		return hasActive(s, func(r corev1.ObjectReference) bool {
			return slices.ContainsFunc(slices.Concat(s.Jobs, s.Hidden),
				func(j *batchv1.Job) bool { return j.Name == r.Name && j.UID != r.UID })
		})
	}},
	{"A write of the status that changes nothing, and fails", func(s *CronSnapshot, theirs, ours *Result) bool {
		unchanged := "status " + describeCronStatus(&s.CronJob.Status) + ": " + s.Status
		return s.Status != "" && slices.Contains(theirs.Writes, unchanged) && !slices.Contains(ours.Writes, unchanged)
	}},
	{"The first job that cannot be deleted or read ends the round", func(s *CronSnapshot, _, _ *Result) bool {
		return hasActive(s, func(r corev1.ObjectReference) bool {
			if s.Look[r.Name] != "" {
				return true
			}
			isUndeletable := s.Delete[r.Name] != "" || slices.Contains(s.Gone, r.Name)
			return isUndeletable && s.CronJob.Spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent
		})
	}},
	{"A status cannot be written, and an active job is gone (C5, C11)", func(s *CronSnapshot, _, _ *Result) bool {
		there := newCronServer(s).jobs
		return s.Status != "" && hasActive(s, func(r corev1.ObjectReference) bool {
			return !slices.ContainsFunc(there, func(j *batchv1.Job) bool { return j.UID == r.UID })
		})
	}},
}

func hasActive(s *CronSnapshot, is func(corev1.ObjectReference) bool) bool {
	return slices.ContainsFunc(s.CronJob.Status.Active, is)
}

func (s *CronSnapshot) explain(theirs, ours *Result) string {
	for _, e := range cronExplanations {
		if e.applies(s, theirs, ours) {
			return e.row
		}
	}
	return ""
}
