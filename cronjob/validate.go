package cronjob

import (
	"errors"
	"strings"

	"github.com/batchplan/batchplan/schedule"
)

// Validate checks a spec after [Default] (C1). It reports all problems at once:
// the error joins an [*InputError] for each, with the path of its field. Nil means
// that the spec is valid. It looks the time zone up, so it belongs outside the
// rounds.
func Validate(s Spec) error {
	v := &validator{}
	v.schedule(&s)
	v.timeZone(&s)
	switch s.ConcurrencyPolicy {
	case Allow, Forbid, Replace:
	default:
		v.add("concurrencyPolicy", string(s.ConcurrencyPolicy), "must be Allow, Forbid or Replace")
	}
	v.problems = append(v.problems, checkSigns(&s, "spec."))
	return errors.Join(v.problems...)
}

type validator struct{ problems []error }

func (v *validator) add(field string, value any, problem string) {
	v.problems = append(v.problems, invalid("spec."+field, value, problem))
}

func (v *validator) schedule(s *Spec) {
	switch {
	case s.Schedule == "":
		v.add("schedule", s.Schedule, "is required")
	case strings.Contains(s.Schedule, "TZ"):
		v.add("schedule", s.Schedule, "must not name a zone; use timeZone")
	default:
		if _, err := schedule.Parse(s.Schedule); err != nil {
			v.add("schedule", s.Schedule, causeOf(err).Error())
		}
	}
}

func (v *validator) timeZone(s *Spec) {
	switch zone := s.TimeZone; {
	case zone == nil:
	case *zone == "":
		v.add("timeZone", *zone, "must not be empty when it is set")
	case strings.EqualFold(*zone, "Local"):
		v.add("timeZone", *zone, "must name a zone of the zone database")
	default:
		if err := zoneError(*zone); err != nil {
			v.add("timeZone", *zone, causeOf(err).Error())
		}
	}
}

// causeOf is what is wrong with a field of a schedule, with the field's name.
func causeOf(err error) error {
	var parse *schedule.ParseError
	if errors.As(err, &parse) {
		return errors.New(parse.Field + ": " + parse.Err.Error())
	}
	return err // unreachable
}

// checkSigns refuses negative numbers, all at once.
func checkSigns(s *Spec, path string) error {
	var problems []error
	if n := s.StartingDeadlineSeconds; n != nil && *n < 0 {
		problems = append(problems, invalid(path+"startingDeadlineSeconds", *n, "must not be negative"))
	}
	if n := s.SuccessfulJobsHistoryLimit; n != nil && *n < 0 {
		problems = append(problems, invalid(path+"successfulJobsHistoryLimit", *n, "must not be negative"))
	}
	if n := s.FailedJobsHistoryLimit; n != nil && *n < 0 {
		problems = append(problems, invalid(path+"failedJobsHistoryLimit", *n, "must not be negative"))
	}
	return errors.Join(problems...)
}
