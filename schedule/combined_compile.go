package schedule

import (
	"errors"
	"math/bits"
	"slices"
	"strings"
)

// combine adds the schedules of Also and Except.
func (p *plan) combine(spec string, set *settings) error {
	if len(set.also)+len(set.except) == 0 {
		return nil
	}
	if p.every.seconds > 0 {
		return &ParseError{spec, "descriptor", p.spec, errNotCombined}
	}
	if p.table.seconds != 0 {
		return &ParseError{spec, "second", strings.Fields(p.spec)[0], errSecondsNotCombined}
	}

	also, err := set.parsePatterns(set.also)
	if err != nil {
		return err
	}
	except, err := set.parsePatterns(set.except)
	if err != nil {
		return err
	}

	p.also, p.except = set.also, set.except
	p.table.combined = newCombined(&p.table.pattern, also, except)
	p.reference, p.table.daily = nil, false
	return nil
}

// parsePatterns parses the schedules of Also and Except.
func (set *settings) parsePatterns(specs []string) ([]pattern, error) {
	var all []pattern
	for _, spec := range specs {
		if hasZone(spec) {
			err := errors.New("a combined schedule is in the zone of the main one")
			return nil, &ParseError{spec, "zone", spec, err}
		}
		parsed, days, err := set.parseFields(spec, spec, false)
		if err != nil {
			return nil, err
		}

		fields, ok := fieldsOf(parsed, days)
		if !ok {
			return nil, &ParseError{spec, "descriptor", spec, errNotCombined}
		}
		all = append(all, fields)
	}
	return all, nil
}

// newCombined compiles the times of a pattern and of others together.
func newCombined(main *pattern, also, except []pattern) *combined {
	c := &combined{also: also, except: except, times: make([]dayTimes, 1)}
	for kind := range yearKinds {
		day, n := 0, uint32(0)
		for month := 1; month <= 12; month++ {
			shape := calendar.month[kind][month]
			for dom := 1; dom <= bits.OnesCount32(shape.days); dom++ {
				day++
				times := timesOn(main, also, except, kind, month, dom)

				place := c.placeOf(times)
				c.on[kind][day], c.before[kind][day] = place, n
				if place > 0 {
					c.days[kind][day/64] |= 1 << (day % 64)
				}
				n += uint32(times.count())
			}
		}
		c.perYear[kind] = n
	}

	c.perCycle = c.yearsBefore(400)
	return c
}

// placeOf returns the index of a set of times in c.times, and adds it if it is new. Most schedules
// have only a few sets, so it searches linearly.
func (c *combined) placeOf(times dayTimes) uint16 {
	i := slices.Index(c.times, times)
	if i < 0 {
		i = len(c.times)
		c.times = append(c.times, times)
	}
	return uint16(i)
}

// timesOn returns the times of the patterns on one day.
func timesOn(main *pattern, also, except []pattern, kind, month, dom int) (times dayTimes) {
	times.add(main, kind, month, dom)
	for i := range also {
		times.add(&also[i], kind, month, dom)
	}

	var without dayTimes
	for i := range except {
		without.add(&except[i], kind, month, dom)
	}

	for hour := range times {
		times[hour] &^= without[hour]
	}
	return times
}

// add adds the times of a pattern, if the day matches it.
func (d *dayTimes) add(p *pattern, kind, month, dom int) {
	if p.matching(kind, month)>>dom&1 == 0 {
		return
	}
	for hour := range d {
		if p.hours>>hour&1 == 1 {
			d[hour] |= p.minutes
		}
	}
}

// errNotCombined is the error for "@every" together with other schedules.
var errNotCombined = errors.New("an interval is not on the wall clock, so it cannot be combined " +
	"with other schedules")

// errSecondsNotCombined is the error for a field of seconds together with other schedules: the
// tables are in minutes, and it would be ambiguous whether Except("* * 25 12 *") means whole
// minutes.
var errSecondsNotCombined = errors.New("seconds cannot be combined with other schedules")
