package trace

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

type cronState struct {
	seen
	cronJob cronjob.CronJob
	// specs are the specs that the controller may know, the latest first. isOlder means that the
	// controller may also know a spec from before the log.
	specs   []cronjob.Spec
	isOlder bool
	// editedBy is a time after the last edit, zero if no such time is known.
	editedBy time.Time
	// children are the jobs of the CronJob that exist. row is what is known of all its jobs.
	children map[job.UID]*jobState
	row      row
}

// maxSpecs is how many specs are kept. A CronJob that is edited more often is not judged.
const maxSpecs = 16

func (c *checker) cronEvent(e *event) {
	uid := job.UID(e.meta.UID)
	if e.change == isDeleted {
		delete(c.cronJobs, uid)
		return
	}
	if e.change == isLost {
		c.epoch[kindCronJob]++
		return
	}

	s := c.cronOf(uid)
	before := s.cronJob
	how := c.advance(&s.seen, e)
	if how == isRepeated {
		return
	}

	s.cronJob = *e.cronJob
	c.checkRow(s, e, &before, how)
	switch {
	case how == isFirst:
		c.CronJobs++
		s.specs = []cronjob.Spec{s.cronJob.Spec}
		s.editedBy = s.cronJob.CreationTimestamp.Add(skew)
		if e.meta.Generation != 1 { // it was edited since its creation
			s.isOlder = true
			c.editedNow(s)
		}
	case !equalSpecs(before.Spec, s.cronJob.Spec):
		s.specs = append([]cronjob.Spec{s.cronJob.Spec}, s.specs[:min(len(s.specs), maxSpecs-1)]...)
		c.editedNow(s)
	}

	if how != isFirst {
		checkBack := func(rule, field string, was, is time.Time) {
			if is.Before(was) {
				c.found(finding(e, rule, "", "status.%s: goes back from %s to %s",
					field, value.Time(was), value.Time(is)))
			}
		}
		checkBack("CI4", "lastScheduleTime", before.Status.LastScheduleTime, s.cronJob.Status.LastScheduleTime)
		checkBack("CI12", "lastSuccessfulTime", before.Status.LastSuccessfulTime, s.cronJob.Status.LastSuccessfulTime)
	}
}

func (c *checker) editedNow(s *cronState) {
	s.editedBy = time.Time{}
	c.edited = append(c.edited, s)
}

func (c *checker) cronOf(uid job.UID) *cronState {
	s := c.cronJobs[uid]
	if s == nil {
		s = &cronState{children: map[job.UID]*jobState{}, row: row{jobs: map[digest]bool{}}}
		c.cronJobs[uid] = s
	}
	return s
}

// equalSpecs compares specs with their defaults. Templates do not count.
func equalSpecs(a, b cronjob.Spec) bool {
	a.JobTemplate = b.JobTemplate
	return reflect.DeepEqual(a, b)
}

// inForce returns the specs that the controller may have known when it started this run. It returns
// none if the log does not have all of them.
func (s *cronState) inForce(run time.Time) []cronjob.Spec {
	if !s.editedBy.IsZero() && run.After(s.editedBy.Add(lag)) {
		return s.specs[:1]
	}
	if s.isOlder || len(s.specs) == maxSpecs {
		return nil
	}
	return s.specs
}

// all reports whether something is true of all specs.
func all(specs []cronjob.Spec, is func(*cronjob.Spec) bool) bool {
	return !slices.ContainsFunc(specs, func(x cronjob.Spec) bool { return !is(&x) })
}

// The annotations of a CronJob's job.
const (
	timeAnnotation    = "batch.kubernetes.io/cronjob-scheduled-timestamp"
	requestAnnotation = "cronjob.kubernetes.io/instantiate"
)

// firstChild notes a job of a CronJob, and checks a new job that the schedule has started.
func (c *checker) firstChild(cron *cronState, s *jobState, e *event, isNew bool) {
	s.cronJob = ownerOf(e, kindCronJob)
	defer func() { cron.children[s.uid] = s }()
	c.rowed(cron, s, e, isNew)

	text := e.meta.Annotations[timeAnnotation]
	run, err := time.Parse(time.RFC3339, text)
	named := err == nil
	if text == "" {
		run, named = cronjob.Naming{}.RunNamed(cron.name, e.meta.Name)
	}
	s.run, s.byHand = run, !named || e.meta.Annotations[requestAnnotation] != ""

	switch {
	case !isNew:
	case !cron.known || !cron.precedes(e):
		c.Unjudged++
	case text != "" && err != nil:
		c.found(finding(e, "CI2", "", "annotation %s: %q is not a time", timeAnnotation, text))
	case !s.byHand:
		c.checkOnce(cron, s, e, run)
		if c.isCertain(&cron.seen) {
			c.checkRun(cron, s, e, run)
			c.checkBeside(cron, e, run)
			c.checkHistory(cron, e)
		}
	}
}

// checkOnce checks that a run has only one job, whose name is derived from the time of the run.
func (c *checker) checkOnce(cron *cronState, s *jobState, e *event, run time.Time) {
	if want := (cronjob.Naming{}).JobName(cron.name, run); want != e.meta.Name {
		c.found(finding(e, "CI2", "", "is of the run of %s, whose job is named %s", value.Time(run), want))
	}

	twin := ""
	for _, other := range cron.children {
		isTwin := other.uid != s.uid && !other.byHand && other.run.Equal(run)
		if isTwin && (twin == "" || other.name < twin) {
			twin = other.name
		}
	}
	if twin != "" {
		c.found(finding(e, "CI1", "", "is of the run of %s, which job %s is of as well", value.Time(run), twin))
	}

	if last := cron.cronJob.Status.LastScheduleTime; !run.After(last) {
		c.found(finding(e, "CI1", unlessLate, "is of the run of %s, and lastScheduleTime is %s",
			value.Time(run), value.Time(last)))
	}
}

// checkRun checks the time of a run.
func (c *checker) checkRun(cron *cronState, s *jobState, e *event, run time.Time) {
	created, specs := s.job.CreationTimestamp, cron.inForce(run)
	switch {
	case len(specs) == 0:
		c.Unjudged++
		return
	case run.After(created.Add(skew)):
		c.found(finding(e, "CI2", "", "is of the run of %s and was created %v before it",
			value.Time(run), run.Sub(created)))
	case !matchesAny(cron, specs, run, c.options.Release):
		c.found(finding(e, "CI2", "", "is of the run of %s, which schedule %q does not have",
			value.Time(run), specs[0].Schedule))
	case all(specs, func(x *cronjob.Spec) bool { return value.Of(x.Suspend) }):
		if created.After(cron.editedBy.Add(lag)) && !cron.editedBy.IsZero() {
			c.found(finding(e, "CI10", "", "is created while CronJob %s is suspended", cron.name))
		}
	}

	late := created.Sub(run)
	if all(specs, func(x *cronjob.Spec) bool { return isLate(x, late) }) {
		c.found(finding(e, "CI7", "", "is created %v after its run, startingDeadlineSeconds of CronJob %s is %d",
			late, cron.name, *specs[0].StartingDeadlineSeconds))
	}
}

// isLate reports whether a run starts after its deadline. The creation itself may take up to lag.
func isLate(s *cronjob.Spec, late time.Duration) bool {
	return s.StartingDeadlineSeconds != nil && late > time.Duration(*s.StartingDeadlineSeconds)*time.Second+lag
}

// matchesAny reports whether a run is a time of one of the schedules.
func matchesAny(cron *cronState, specs []cronjob.Spec, run time.Time, r release.Release) bool {
	for i := range specs {
		if matches(cron, &specs[i], run, r) {
			return true
		}
	}
	return false
}

// matches reports whether the schedule has a run at this time, by the default rules or by those of
// Kubernetes. If the spec has no time zone, the zone of argument run applies, which is the
// controller's.
func matches(cron *cronState, spec *cronjob.Spec, run time.Time, r release.Release) bool {
	if strings.HasPrefix(strings.TrimSpace(spec.Schedule), "@every") {
		return true // each run depends on the run before it
	}

	of := cronjob.CronJob{Spec: *spec, CreationTimestamp: cron.cronJob.CreationTimestamp}
	for _, o := range [][]schedule.Option{nil, {schedule.Kubernetes(r)}} {
		if spec.TimeZone == nil {
			o = append(o, schedule.WithLocation(run.Location()))
		}
		s := cronjob.Compile(&of, o...)
		if s.Problem == 0 && s.Schedule.Next(run.Add(-time.Second)).Equal(run) {
			return true
		}
	}
	return false
}

// checkBeside checks that a run does not start while another job is active, unless the policy is
// Allow. A job counts only if the last status of the CronJob names it: then the controller knows
// the job.
func (c *checker) checkBeside(cron *cronState, e *event, run time.Time) {
	specs := cron.inForce(run)
	policy := value.At(specs, 0).ConcurrencyPolicy
	isPolicy := func(x *cronjob.Spec) bool { return x.ConcurrencyPolicy == policy }
	if policy == "" || policy == cronjob.Allow || !all(specs, isPolicy) {
		return
	}

	for _, ref := range cron.cronJob.Status.Active {
		other := cron.children[ref.UID]
		if other == nil || !c.isCertain(&other.seen) || !other.precedes(e) {
			continue
		}
		if other.job.Status.Finished() != "" || !other.job.DeletionTimestamp.IsZero() {
			continue
		}
		c.found(finding(e, "CI8", unlessLate, "is created while job %s is active, "+
			"concurrencyPolicy of CronJob %s is %s", other.name, cron.name, policy))
		return
	}
}

// settled is how long ago a job must have ended to be old enough for the history limits.
const settled = 2 * time.Minute

// checkHistory checks that old jobs are gone when a run starts.
func (c *checker) checkHistory(cron *cronState, e *event) {
	now := e.job.CreationTimestamp
	if cron.editedBy.IsZero() || now.Before(cron.editedBy.Add(settled)) {
		return
	}

	active := map[job.UID]bool{}
	for _, ref := range cron.cronJob.Status.Active {
		active[ref.UID] = true
	}

	kept := map[job.ConditionType]int{}
	for _, j := range cron.children {
		end := j.job.Status.Condition(j.job.Status.Finished())
		isSettled := end.Type != "" && end.LastTransitionTime.Add(settled).Before(now)
		isThere := c.isCertain(&j.seen) && j.job.DeletionTimestamp.IsZero()
		if isSettled && isThere && !active[j.uid] {
			kept[end.Type]++
		}
	}

	check := func(field string, end job.ConditionType, limit *int32) {
		if limit != nil && kept[end] > int(*limit) {
			c.found(finding(e, "CI11", unlessLate, "%d jobs of CronJob %s are %s since %v or longer, %s is %d",
				kept[end], cron.name, end, settled, field, *limit))
		}
	}
	spec := &cron.specs[0]
	check("successfulJobsHistoryLimit", job.ConditionComplete, spec.SuccessfulJobsHistoryLimit)
	check("failedJobsHistoryLimit", job.ConditionFailed, spec.FailedJobsHistoryLimit)
}

func (c *checker) childGone(s *jobState) {
	if cron := c.cronJobs[s.cronJob]; cron != nil {
		cron.row.left(s, c.clock)
		delete(cron.children, s.uid)
		if len(cron.children) == 0 && !cron.known {
			delete(c.cronJobs, s.cronJob)
		}
	}
}
