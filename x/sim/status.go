package sim

import (
	"slices"
	"time"

	"github.com/batchplan/batchplan/job"
)

// writeStatus replaces the status of a job, whose times are cut to seconds.
func (e *engine) writeStatus(js *jobState, s job.Status) {
	cutTimes(&s)
	js.truth.Status = s
	js.truth.Version++
	e.record.statusWritten(e.now, js)

	if end := s.Finished(); end != "" && !js.finished {
		e.finishJob(js, end)
	}
	if adjust := js.of.Adjust; adjust != nil && !js.finished {
		if adjust(time.Duration(e.now), &js.truth.Spec, &js.truth.Status) {
			e.specChanged(js)
			return
		}
	}
	e.jobChanged(js, wakeLater)
}

// cutTimes cuts the times of a status to whole seconds, as the API does.
func cutTimes(s *job.Status) {
	s.StartTime, s.CompletionTime = cutTime(s.StartTime), cutTime(s.CompletionTime)
	for i := range s.Conditions {
		c := &s.Conditions[i]
		if c.LastTransitionTime.Nanosecond() == 0 && c.LastProbeTime.Nanosecond() == 0 {
			continue
		}
		s.Conditions = slices.Clone(s.Conditions)
		for i := range s.Conditions {
			c := &s.Conditions[i]
			c.LastTransitionTime, c.LastProbeTime = cutTime(c.LastTransitionTime), cutTime(c.LastProbeTime)
		}
		return
	}
}

// cutTime cuts a time to whole seconds. It is faster than Truncate, which divides.
func cutTime(t time.Time) time.Time { return t.Add(-time.Duration(t.Nanosecond())) }

// finishJob is called when a job gets its final condition.
func (e *engine) finishJob(js *jobState, end job.ConditionType) {
	js.finished, js.wake = true, 0
	e.record.jobFinished(e.now, js, end)
	e.admission.finish(js)
	e.scheduleExpiry(js)
	if js.tracked > 0 {
		e.eachPod(js, func(id int32, p *pod) { e.untrackPod(id, p) }) // J36
	}
}
