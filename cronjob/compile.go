package cronjob

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/batchplan/batchplan/cronjob/cronjobreason"
	"github.com/batchplan/batchplan/internal/value"
	"github.com/batchplan/batchplan/schedule"
)

// Compiled is the schedule of a spec, or the reason why there is none. Keep it with the CronJob as
// long as [Compiled.IsFor] returns true.
type Compiled struct {
	// Schedule is the schedule in its zone.
	Schedule schedule.Schedule `json:"schedule,omitzero"`
	// Problem is the reason why there is no schedule, also used as the reason of an event (C6). It is
	// zero if there is a schedule. Message explains the problem in a sentence.
	Problem cronjobreason.Problem `json:"problem,omitempty"`
	Message string                `json:"message,omitempty"`
	// Location is the spec's timeZone, in which the annotations of runs are written; nil means the
	// zone of the schedule. The two differ only if the schedule names a zone, which servers refuse now.
	Location *time.Location `json:"-"`
	// Source and Zone are schedule and timeZone of the spec that was compiled. A round refuses a
	// schedule that was compiled from another spec; if Source is empty, this is not checked.
	Source string `json:"source,omitempty"`
	Zone   string `json:"zone,omitempty"`
	// Created is the creation time of the CronJob, from which "@every d" counts.
	Created time.Time `json:"created,omitzero"`
}

// IsFor reports whether Compile with the same options would return the same for the CronJob: its
// schedule, timeZone and creation time have not changed. The zero Compiled is for no CronJob. A
// Compiled that was filled in by hand needs Source, Zone, Created and Location.
func (c *Compiled) IsFor(of *CronJob) bool {
	hasZone := c.Location != nil || c.Problem == cronjobreason.ProblemUnknownTimeZone
	switch {
	case c.isEmpty(),
		!c.isOf(&of.Spec),
		hasZone != (of.Spec.TimeZone != nil):
		return false
	}
	return c.Created.Equal(of.CreationTimestamp)
}

// isEmpty reports whether nothing was compiled.
func (c *Compiled) isEmpty() bool { return c.Problem == 0 && c.Schedule.Equal(schedule.Schedule{}) }

// isOf reports whether c was compiled from schedule and timeZone of a spec.
func (c *Compiled) isOf(spec *Spec) bool {
	return c.Source == spec.Schedule && c.Zone == value.Of(spec.TimeZone)
}

// openCompiled is Compiled without its methods. compiledJSON is its JSON, with the zone's name.
type (
	openCompiled Compiled
	compiledJSON struct {
		openCompiled
		Location string `json:"location,omitempty"`
	}
)

// MarshalJSON writes the schedule so that it can be read without the CronJob and the options. A zone
// that [schedule.Schedule.MarshalJSON] refuses is an error.
func (c Compiled) MarshalJSON() ([]byte, error) {
	out := compiledJSON{openCompiled: openCompiled(c)}
	if c.Location != nil {
		out.Location = c.Location.String()
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes, and looks zones up as Compile does.
func (c *Compiled) UnmarshalJSON(data []byte) error {
	var in compiledJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("compiled schedule: %w", err)
	}

	out := Compiled(in.openCompiled)
	if name := in.Location; name != "" {
		// Nearly always the location is the zone of the schedule. Then no look-up in the zone
		// database is needed.
		if out.Location = out.Schedule.Location(); out.Location.String() != name {
			location, err := findZone(out.Source, name)
			if err != nil {
				return fmt.Errorf("compiled schedule: location: %w", err)
			}
			out.Location = location
		}
	}
	*c = out
	return nil
}

// Compile compiles schedule and timeZone of a CronJob. Call it outside the rounds: only Compile and
// [Validate] look up zones in the machine's database. "@every d" counts from the CronJob's
// creation, as it does in Kubernetes when no run is missed. The options give daylight saving
// policies, the preset [schedule.Kubernetes], another zone for specs without one, or more schedules
// beside the spec's ([schedule.Also], [schedule.Except]). A time that several schedules share is
// one run. If one of the schedules does not parse, the problem is UnparseableSchedule. Compile
// again after a change of schedule, timeZone or the options (C17).
//
// For many CronJobs in one zone, parse the schedules with [schedule.WithLocation], which shares the
// compiled zone, and fill in Compiled by hand.
func Compile(c *CronJob, opts ...schedule.Option) Compiled {
	out := Compiled{Source: c.Spec.Schedule, Created: c.CreationTimestamp}
	all := make([]schedule.Option, 0, len(opts)+2)
	if !c.CreationTimestamp.IsZero() {
		all = append(all, schedule.WithAnchor(c.CreationTimestamp))
	}
	all = append(all, opts...)

	if zone := c.Spec.TimeZone; zone != nil {
		out.Zone = *zone

		// An unknown zone is reported before a schedule that does not parse (C6).
		location, err := findZone(c.Spec.Schedule, *zone)
		if err != nil {
			return out.without(cronjobreason.ProblemUnknownTimeZone, err)
		}
		out.Location = location
		all = append(all, schedule.WithTimeZone(*zone))
	}

	s, err := schedule.Parse(c.Spec.Schedule, all...)
	if err != nil {
		return out.without(cronjobreason.ProblemUnparseableSchedule, err)
	}
	out.Schedule = s
	return out
}

// check returns an error if nothing was compiled, or if c was compiled from another spec.
func (c *Compiled) check(spec *Spec) error {
	switch {
	case c.isEmpty():
		return invalid("schedule", "", "is not compiled: fill it with cronjob.Compile")
	case c.Source != "" && !c.isOf(spec):
		return invalid("schedule", c.Source+" "+c.Zone, "was compiled from another spec")
	}
	return nil
}

func (c Compiled) without(problem cronjobreason.Problem, err error) Compiled {
	c.Problem, c.Message = problem, err.Error()
	return c
}

// findZone looks up a zone. It does not parse spec, which may be wrong as well. The error quotes
// spec.
func findZone(spec, zone string) (*time.Location, error) {
	s, err := schedule.Parse("@daily", schedule.WithTimeZone(zone))
	var parse *schedule.ParseError
	if errors.As(err, &parse) && parse.Field == "zone" {
		return nil, &schedule.ParseError{Spec: spec, Field: parse.Field, Value: parse.Value, Err: parse.Err}
	}
	return s.Location(), nil
}
