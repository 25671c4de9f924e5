package cronjob

import (
	"errors"
	"fmt"
	"strings"

	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
)

// Validate checks a spec after [Default] (C1). It reports all problems together:
// the error joins a [*job.InputError] for each, with the path of its field. Nil means
// that the spec is valid. It looks the time zone up, so it belongs outside the
// rounds. [CronJob.Validate] checks the name as well.
func Validate(s Spec) error { return s.validate() }

func (s *Spec) validate(opts ...schedule.Option) error {
	return errors.Join(
		checkSchedule(s, opts...), checkTimeZone(s), checkPolicy(s.ConcurrencyPolicy, "spec."), checkSigns(s, "spec."))
}

// ValidateUpdate returns the errors for which an API server refuses to change the spec of CronJob
// old to spec next. [Default] must have completed both specs. All fields may change, and next is
// checked as by [Validate], with two exceptions: its schedule may name a zone if the old schedule
// does and there is no timeZone, and an unchanged timeZone is not looked up. The release makes no
// difference from 1.31 to 1.37.
func ValidateUpdate(old *CronJob, next Spec, r release.Release) error {
	var problems []error
	if namesZone(next.Schedule) && namesZone(old.Spec.Schedule) && next.TimeZone == nil {
		problems = append(problems, parseSchedule(&next))
	} else {
		problems = append(problems, checkSchedule(&next))
	}
	if !value.Equal(old.Spec.TimeZone, next.TimeZone) {
		problems = append(problems, checkTimeZone(&next))
	}

	problems = append(problems, checkPolicy(next.ConcurrencyPolicy, "spec."), checkSigns(&next, "spec."))
	return errors.Join(problems...)
}

// Validate checks the name and the spec of a CronJob after [Default] (C1). If the name is too long,
// a server refuses the jobs. All problems are reported together, as by the function [Validate].
func (c *CronJob) Validate() error { return errors.Join(c.checkName(), Validate(c.Spec)) }

func (c *CronJob) checkName() error {
	if problem := nameProblem(c.Name); problem != "" {
		return invalid("metadata.name", c.Name, problem)
	}
	return nil
}

// ValidateTrigger checks a trigger of a CronJob. The options determine the name of its job: if that
// is too long, or the ID cannot be part of a name, a server refuses the job.
func (o Options) ValidateTrigger(c *CronJob, t Trigger) error {
	var problems []error
	switch name := o.Naming.TriggerName(c.Name, t); {
	case !isLabel(t.ID):
		problems = append(problems, invalid("triggers["+t.ID+"].id", t.ID, notLabel))
	case len(name) > maxLabel:
		problems = append(problems, invalid("triggers["+t.ID+"].id", t.ID,
			fmt.Sprintf("makes the name %q of its job longer than %d bytes", name, maxLabel)))
	}

	if t.ID != "" {
		problems = append(problems, t.check())
	}
	return errors.Join(problems...)
}

// namesZone reports whether a schedule contains TZ, as in "TZ=UTC 0 * * * *". Servers make the same
// test.
func namesZone(schedule string) bool { return strings.Contains(schedule, "TZ") }

func checkSchedule(s *Spec, opts ...schedule.Option) error {
	problem := ""
	switch {
	case s.Schedule == "":
		problem = "is required"
	case namesZone(s.Schedule):
		problem = "must not name a zone; use timeZone"
	default:
		return parseSchedule(s, opts...)
	}
	return invalid("spec.schedule", s.Schedule, problem)
}

func parseSchedule(s *Spec, opts ...schedule.Option) error {
	if _, err := schedule.Parse(s.Schedule, opts...); err != nil {
		return unparsed("spec.schedule", s.Schedule, err)
	}
	return nil
}

func checkTimeZone(s *Spec) error {
	if s.TimeZone == nil {
		return nil
	}
	zone, problem := *s.TimeZone, ""
	switch {
	case zone == "":
		problem = "must not be empty when it is set"
	case strings.EqualFold(zone, "Local"):
		problem = "must name a zone of the zone database"
	case !isZoneName(zone):
		problem = "must be a name such as Europe/Berlin: parts of 1 to 14 letters, digits, and .-_+ between slashes"
	default:
		if _, err := findZone(s.Schedule, zone); err != nil {
			return unparsed("spec.timeZone", zone, err)
		}
		return nil
	}
	return invalid("spec.timeZone", zone, problem)
}

func checkPolicy(p ConcurrencyPolicy, path string) error {
	switch p {
	case Allow, Forbid, Replace:
		return nil
	}
	return invalid(path+"concurrencyPolicy", string(p), "must be Allow, Forbid or Replace")
}

// unparsed returns the error about a field that package schedule refuses.
func unparsed(field, text string, err error) error {
	problem := err.Error()
	var parse *schedule.ParseError
	if errors.As(err, &parse) { // always
		problem = parse.Field + ": " + parse.Err.Error()
	}
	return &job.InputError{Field: field, Value: value.Text(text), Problem: problem, Err: err}
}

// checkSigns returns an error for each negative number.
func checkSigns(s *Spec, path string) error {
	return noneNegative(path,
		number{"startingDeadlineSeconds", value.Of(s.StartingDeadlineSeconds)},
		number{"successfulJobsHistoryLimit", int64(value.Of(s.SuccessfulJobsHistoryLimit))},
		number{"failedJobsHistoryLimit", int64(value.Of(s.FailedJobsHistoryLimit))},
	)
}

// number is a field that must not be negative.
type number struct {
	field string
	value int64
}

func noneNegative(path string, numbers ...number) error {
	var problems []error
	for _, n := range numbers {
		if n.value < 0 {
			problems = append(problems, invalid(path+n.field, n.value, "must not be negative"))
		}
	}
	return errors.Join(problems...)
}

// invalid returns the error about a field that breaks the contract.
func invalid(field string, v any, problem string) error {
	return &job.InputError{Field: field, Value: value.Text(v), Problem: problem}
}
