package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// This file is the fence around robfig/cron: all calls to it are here, and none of
// its panics leaves this file.

// reference is a schedule as robfig/cron compiled it.
type reference struct {
	cron.Schedule
}

// parseReference asks the reference to parse five fields, six if there may be seconds, or a
// descriptor. The caller has removed a zone prefix: with one, the parser would read the
// disk, and v3.0.1 panics on "TZ=0".
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

// fieldError returns the reference's complaint about one field alone.
func fieldError(index int, value string) error {
	fields := []string{"*", "*", "*", "*", "*", "*"}
	fields[(index+1)%len(fields)] = value // the seconds come first
	// The space keeps a value that looks like a zone prefix from being one.
	_, err := parseReference(" "+strings.Join(fields, " "), true)
	return err
}

// adopt takes over the fields that the reference parsed.
func (p *plan) adopt(parsed cron.Schedule, set *settings) {
	switch s := parsed.(type) {
	case *cron.SpecSchedule:
		p.table = timetable{pattern: patternOf(s), zone: p.zone, gapEnd: set.gapEnd, repeated: set.repeated}
		p.table.addSeconds(s.Second &^ star)
	case cron.ConstantDelaySchedule:
		// The reference has rounded to whole seconds, at least one (S1).
		p.every = interval{seconds: int64(s.Delay / time.Second), anchor: set.anchor}
	}
	if set.kubernetes {
		p.reference = &reference{parsed}
	}
}

// star is how the reference marks a field that was written with a star.
const star = 1 << 63

func patternOf(s *cron.SpecSchedule) pattern {
	p := pattern{
		minutes: s.Minute &^ star,
		hours:   uint32(s.Hour),
		months:  uint32(s.Month),
		doms:    uint32(s.Dom),
		dows:    uint32(s.Dow),
		anyDom:  s.Dom&star != 0,
		anyDow:  s.Dow&star != 0,
	}
	p.compile()
	return p
}

// parsePatterns parses the schedules of Also and Except.
func parsePatterns(specs []string) ([]pattern, error) {
	var all []pattern
	for _, spec := range specs {
		if hasZone(spec) {
			return nil, &ParseError{spec, "zone", spec, errors.New("a combined schedule is in the zone of the main one")}
		}
		parsed, err := parseReference(spec, false)
		if err != nil {
			return nil, explain(spec, spec, err, false)
		}
		fields, ok := parsed.(*cron.SpecSchedule)
		if !ok {
			return nil, &ParseError{spec, "descriptor", spec, errNotCombined}
		}
		all = append(all, patternOf(fields))
	}
	return all, nil
}

// horizon covers the five calendar years that the reference searches.
const horizon = 6 * 366 * secondsPerDay

// referenceNext is Next under Kubernetes136, bounded. The reference's search ends
// unless it steps onto a date that does not exist; from there it steps back
// endlessly. That requires such a date within its horizon. Nothing outside the
// search tells whether it would step there, so before such a date Next gives the
// exact answer.
//
// Quirk: impossible dates (S3) can have runs. Around a month that begins without a
// midnight the reference does not notice that the month has changed, so it can find
// 31 March for 31 February.
func (p *plan) referenceNext(t time.Time) time.Time {
	interval := p.every.seconds > 0
	if !interval && p.table.perDay == 0 {
		return time.Time{} // it would look at each minute of five years
	}
	unix := max(t.Unix(), p.after)
	for _, lost := range p.zone.lost {
		if !interval && unix < lost && lost < unix+horizon {
			return p.exactNext(unix)
		}
	}
	// The parsed schedule has no zone, so it follows its argument's zone.
	run, ok := p.reference.next(time.Unix(unix, 0).In(p.zone.location))
	if !ok {
		return p.exactNext(unix)
	}
	if run.IsZero() || run.Unix() > p.until {
		return time.Time{}
	}
	return run
}

// specialNext is Next for a schedule that never runs, follows the reference or has a single run.
func (p *plan) specialNext(t time.Time) time.Time {
	if p == nil || t.Unix() >= p.until {
		return time.Time{}
	}
	if p.reference == nil {
		return p.exactNext(t.Unix())
	}
	run := p.referenceNext(t)
	if p.hasSingle && !p.never && p.single > max(t.Unix(), p.after) && p.single <= p.until && (run.IsZero() || p.single < run.Unix()) {
		return p.instant(p.single, true)
	}
	return run
}

func (p *plan) exactNext(unix int64) time.Time {
	if p.never {
		return time.Time{}
	}
	return p.instant(p.next(unix))
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
