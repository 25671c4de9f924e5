package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// This file isolates robfig/cron: all calls to it are here, and all its panics are recovered here.

// reference is a schedule as robfig/cron compiled it.
type reference struct {
	cron.Schedule
}

// parseFields parses a schedule without a zone. It takes out the special days, and robfig/cron
// parses the rest.
func (set *settings) parseFields(spec, text string, seconds bool) (cron.Schedule, specialDays, error) {
	var days specialDays
	if set.specialDays {
		var err error
		if text, err = days.take(spec, text, seconds); err != nil {
			return nil, days, err
		}
	}

	parsed, err := parseReference(text, seconds)
	if err != nil {
		return nil, days, explain(spec, text, err, seconds)
	}
	return parsed, days, nil
}

// parseReference parses five fields, six if seconds are allowed, or a descriptor, with the parser
// of robfig/cron. The caller must remove a zone prefix: to look up its zone, the parser would read
// the disk, and v3.0.1 panics on "TZ=0".
func parseReference(spec string, seconds bool) (s cron.Schedule, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, fmt.Errorf("parser panicked: %v", r)
		}
	}()
	if seconds {
		standard := cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor
		return cron.NewParser(cron.SecondOptional | standard).Parse(spec)
	}
	return cron.ParseStandard(spec)
}

// fieldError returns the error of robfig/cron for one field, or nil.
func fieldError(index int, value string) error {
	fields := []string{"*", "*", "*", "*", "*", "*"}
	fields[(index+1)%len(fields)] = value // the seconds come first
	// Because of the space, a value that looks like a zone prefix is not read as one.
	_, err := parseReference(" "+strings.Join(fields, " "), true)
	return err
}

// adopt copies the fields that robfig/cron parsed.
func (p *plan) adopt(parsed cron.Schedule, days specialDays, set *settings) {
	switch s := parsed.(type) {
	case *cron.SpecSchedule:
		p.table = timetable{pattern: patternOf(s, days), zone: p.zone, gapEnd: set.gapEnd, repeated: set.repeated}
		p.table.addSeconds(s.Second &^ star)
	case cron.ConstantDelaySchedule:
		// robfig/cron has rounded to whole seconds, at least one (S1).
		p.every = interval{seconds: int64(s.Delay / time.Second), anchor: set.anchor}
	}

	if set.kubernetes && !days.any() {
		p.reference = &reference{parsed}
	}
}

// star is the bit with which robfig/cron marks a field that was written with a star.
const star = 1 << 63

// fieldsOf returns the fields that robfig/cron parsed, and false if it parsed an interval.
func fieldsOf(parsed cron.Schedule, days specialDays) (pattern, bool) {
	s, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return pattern{}, false
	}
	return patternOf(s, days), true
}

func patternOf(s *cron.SpecSchedule, days specialDays) pattern {
	p := pattern{
		minutes: s.Minute &^ star,
		hours:   uint32(s.Hour),
		months:  uint32(s.Month),
		doms:    uint32(s.Dom),
		dows:    uint32(s.Dow),
		anyDom:  s.Dom&star != 0,
		anyDow:  s.Dow&star != 0,
		special: days,
	}
	p.compile()
	return p
}

func (r *reference) next(t time.Time) (run time.Time, ok bool) {
	defer func() {
		if recover() != nil {
			run, ok = time.Time{}, false
		}
	}()
	run = r.Next(t)
	return run, run.IsZero() || run.After(t)
}
