package schedule

import (
	"fmt"
	"strings"
)

// fieldNames are the names of the fields by index. The seconds come last, although they are written
// first. So the other fields have the same index with and without seconds.
var fieldNames = [...]string{"minute", "hour", "day-of-month", "month", "day-of-week", "second"}

// The fields that special days can be in, by index.
const dayField, weekdayField = 2, 4

// Parse compiles a schedule: five fields, six if WithSeconds is given, a descriptor such as @daily,
// or "@every 1h30m" (S1). It accepts what robfig/cron's standard parser accepts; anything else is
// an error of type *ParseError. "@every" is rounded to whole seconds, at least one, which Lint
// reports. A schedule that can never run is accepted, but Never and Lint report it.
//
// A leading "TZ=zone " or "CRON_TZ=zone " sets the zone and, as in Kubernetes, overrides an option.
// Without either the zone is UTC. The zone "Local" is an error, because it depends on the machine.
//
// Parse is slow compared with the methods: parse once and keep the Schedule. A zone given by name
// is read from the zone database; nothing else is read.
func Parse(spec string, opts ...Option) (Schedule, error) {
	var set settings
	for _, opt := range opts {
		opt(&set)
	}

	text, err := splitZone(spec, &set)
	if err != nil {
		return Schedule{}, err
	}
	parsed, days, err := set.parseFields(spec, text, set.seconds)
	if err != nil {
		return Schedule{}, err
	}

	z, err := set.resolveZone(spec)
	if err != nil {
		return Schedule{}, err
	}

	p := &plan{spec: text, zone: z}
	p.adopt(parsed, days, &set)
	if err := p.combine(spec, &set); err != nil {
		return Schedule{}, err
	}
	if err := p.bound(spec, &set); err != nil {
		return Schedule{}, err
	}

	p.evenSince = p.table.evenSince()
	if set.afterAnchor {
		p.single, p.hasSingle = set.anchor+1, true
	}
	p.never = p.every.seconds == 0 && p.table.never() || p.boundsAreEmpty()
	p.special = p.never || p.reference != nil || p.hasSingle
	return Schedule{p}, nil
}

// splitZone removes a zone prefix, up to the first space as robfig/cron does, and keeps the name of
// the zone. robfig/cron would load the zone itself.
func splitZone(spec string, set *settings) (string, error) {
	if !hasZone(spec) {
		return spec, nil
	}
	_, rest, _ := strings.Cut(spec, "=")
	name, text, found := strings.Cut(rest, " ")
	if !found {
		return "", &ParseError{spec, "zone", name, fmt.Errorf("no schedule follows the zone")}
	}

	text = strings.TrimSpace(text)
	if hasZone(text) {
		return "", &ParseError{spec, "fields", text, fmt.Errorf("a second zone")}
	}
	set.zone, set.zoneName = nil, name
	return text, nil
}

func (set *settings) resolveZone(spec string) (*zone, error) {
	if set.zone != nil {
		return set.zone, nil
	}
	loc, err := loadZone(set.zoneName)
	if err != nil {
		return nil, &ParseError{spec, "zone", set.zoneName, err}
	}
	return compileZone(loc), nil
}
